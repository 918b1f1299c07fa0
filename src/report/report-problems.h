/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Problems, for people and for programs: the same list on every surface. */

#include "config/problem.h"
#include "report/json-out.h"
#include "report/style.h"

/* One paragraph per problem: place and level, the sentence, the remedy, the code. -ENOMEM. */
int report_problems_text(FILE *f, const ProblemList *problems, const ReportStyle *style);

/* An array of {level, code, file, line, column, pointer, message, remedy}; what a problem has not is null. -ENOMEM. */
int report_problems_json(const ProblemList *problems, json_object **ret);

/* How many of a level. */
size_t report_problems_count(const ProblemList *problems, ProblemLevel level);

/* "2 errors, 1 warning"; "no problems". NULL: out of memory. */
char *report_problems_summary(const ProblemList *problems);
