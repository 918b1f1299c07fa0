/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest/reporter.h"

#include <stdarg.h>

#include "basic/string-util.h"

#define QUOTE_MAX 60U

typedef void (*Adder)(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                const JsonValue *at,
                const char *remedy,
                const char *message,
                ...);

_printf_(7, 0) static void reportv(
                Reporter *r,
                Adder add,
                ProblemLevel level,
                const char *code,
                const JsonValue *at,
                const char *remedy,
                const char *message,
                va_list args) {
        size_t *count = level == PROBLEM_ERROR ? &r->n_errors : &r->n_others;
        _cleanup_free_ char *text = NULL;

        if (++*count > MANIFEST_PROBLEMS_MAX) {
                if (*count == MANIFEST_PROBLEMS_MAX + 1)
                        add(r->problems,
                            level,
                            "MCP-M-TOO-MANY",
                            r->file,
                            at,
                            "Mend those that are listed first.",
                            "There is more to say about this manifest; it is left out here.");
                return;
        }
        if (vasprintf(&text, message, args) < 0) {
                text = NULL;
                r->problems->failed = true;
                return;
        }
        add(r->problems, level, code, r->file, at, remedy, "%s", text);
}

void report(Reporter *r,
            ProblemLevel level,
            const char *code,
            const JsonValue *at,
            const char *remedy,
            const char *message,
            ...) {
        va_list args;

        va_start(args, message);
        reportv(r, problem_add, level, code, at, remedy, message, args);
        va_end(args);
}

void report_key(Reporter *r,
                ProblemLevel level,
                const char *code,
                const JsonValue *member,
                const char *remedy,
                const char *message,
                ...) {
        va_list args;

        va_start(args, message);
        reportv(r, problem_add_key, level, code, member, remedy, message, args);
        va_end(args);
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
