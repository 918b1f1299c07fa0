/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzz.h"

#include "basic/string-util.h"
#include "control/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(control_hello_done) ControlHello hello = {};
        _cleanup_(control_status_done) ControlStatus status = {};
        _cleanup_free_ char *text = NULL;
        int64_t version = CONTROL_VERSION;
        size_t n;
        int r;

        r = control_hello_decode((const char *) data, size, &hello, &version);
        FUZZ_ASSERT(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT || r == -ENOMEM);
        FUZZ_ASSERT(r != -EPROTONOSUPPORT || version != CONTROL_VERSION);
        STRV_FOREACH (e, hello.env)
                FUZZ_ASSERT(strchr(*e, '='));
        /* What was understood can be said again. */
        if (r == 0) {
                r = control_hello_encode(&hello, &text, &n);
                FUZZ_ASSERT(r == 0 || r == -E2BIG || r == -ENOMEM);
                free(TAKE_PTR(text));
        }
        r = control_status_decode((const char *) data, size, &status, NULL);
        FUZZ_ASSERT(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT || r == -ENOMEM);
        if (r == 0) {
                FUZZ_ASSERT(control_state_to_string(status.state));
                r = control_status_encode(&status, &text, &n);
                FUZZ_ASSERT(r == 0 || r == -E2BIG || r == -ENOMEM);
        }
        return 0;
}
