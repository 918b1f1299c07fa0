/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader of envFile: names that are taken are names, lines that are refused are in the text. */

#include "basic/string-util.h"
#include "fuzz.h"
#include "plan/dotenv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = malloc(size + 1);
        _cleanup_free_ unsigned *bad = NULL;
        _cleanup_strv_free_ char **env = NULL;
        unsigned lines = 1;
        size_t n_bad = 0;

        if (!text)
                return 0;
        memcpy(text, data, size);
        text[size] = 0;
        for (const char *s = text; *s; s++)
                lines += *s == '\n';
        if (dotenv_parse(text, &env, &bad, &n_bad) < 0)
                return 0;
        for (size_t i = 0; i < n_bad; i++)
                FUZZ_ASSERT(bad[i] >= 1 && bad[i] <= lines && (i == 0 || bad[i] > bad[i - 1]));
        FUZZ_ASSERT(strv_length(env) + n_bad <= lines);
        STRV_FOREACH (e, env) {
                _cleanup_free_ char *name = strndup(*e, strcspn(*e, "="));

                FUZZ_ASSERT(!name || (env_name_is_valid(name) && strchr(*e, '=')));
        }
        return 0;
}
