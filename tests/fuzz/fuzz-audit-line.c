/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader of the kernel's audit records: what it takes has what it promises. */

#include "basic/string-util.h"
#include "fuzz.h"
#include "report/audit-line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = malloc(size + 1);
        _cleanup_audit_line_ AuditLine l = {};

        if (!text)
                return 0;
        memcpy(text, data, size);
        text[size] = 0;
        if (audit_line_parse(text, &l) < 0)
                return 0;
        FUZZ_ASSERT(strstr(text, "domain="));
        FUZZ_ASSERT(l.pid >= 0);
        FUZZ_ASSERT(!audit_line_access(&l) || (l.path && l.blockers));
        return 0;
}
