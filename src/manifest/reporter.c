/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest/reporter.h"

#include <stdarg.h>

#include "basic/string-util.h"

#define QUOTE_MAX 60U

void report(Reporter *r,
            ProblemLevel level,
            const char *code,
            const JsonValue *at,
            const char *remedy,
            const char *message,
            ...) {
        size_t *count = level == PROBLEM_ERROR ? &r->n_errors : &r->n_others;
        _cleanup_free_ char *text = NULL;
        va_list args;
        int n;

        if (++*count > MANIFEST_PROBLEMS_MAX) {
                if (*count == MANIFEST_PROBLEMS_MAX + 1)
                        problem_add(r->problems,
                                    level,
                                    "MCP-M-TOO-MANY",
                                    r->file,
                                    at,
                                    "Mend those that are listed first.",
                                    "There is more to say about this manifest; it is left out here.");
                return;
        }
        va_start(args, message);
        n = vasprintf(&text, message, args);
        va_end(args);
        if (n < 0) {
                text = NULL;
                r->problems->failed = true;
                return;
        }
        problem_add(r->problems, level, code, r->file, at, remedy, "%s", text);
}

char *report_quote(const JsonValue *v) {
        size_t n = QUOTE_MAX;

        if (v->string_length <= QUOTE_MAX)
                return strdup(v->string);
        /* Not in the middle of a character. */
        while (n > 0 && ((unsigned char) v->string[n] & 0xc0) == 0x80)
                n--;
        return strformat("%.*s…", (int) n, v->string);
}
