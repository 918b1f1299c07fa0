/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where this room puts what is wrong: a problem list, with a bound, so that a hostile manifest of a hundred thousand
 * mistakes costs no more than its first few. */

#include "config/problem.h"

#define MANIFEST_PROBLEMS_MAX 200U /* errors, and as many warnings and notes */

typedef struct Reporter {
        const char *file;
        ProblemList *problems;
        size_t n_errors, n_others;
} Reporter;

/* problem_add(), until the bound; what comes then is counted, and the first of it says that the list ends here. */
void report(Reporter *r,
            ProblemLevel level,
            const char *code,
            const JsonValue *at,
            const char *remedy,
            const char *message,
            ...) _printf_(6, 7);

/* The same at a member's key instead of its value: for keys that are themselves the mistake. */
void report_key(Reporter *r,
                ProblemLevel level,
                const char *code,
                const JsonValue *member,
                const char *remedy,
                const char *message,
                ...) _printf_(6, 7);

/* A string value as messages quote it: cut where it is long. NULL: out of memory. */
char *report_quote(const JsonValue *v);
