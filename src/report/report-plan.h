/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The Plan, for people and for programs. Never prints a secret: of the environment only the names, of the arguments
 * only their number. Never claims more than there is: what a plan says "will be enforced", what a running session was
 * started under is "enforced", and of a plan that is refused nothing comes about: it "would be enforced". */

#include "plan/plan.h"
#include "report/json-out.h"
#include "report/style.h"

typedef enum ReportTense {
        REPORT_PLANNED, /* a start would do this */
        REPORT_RUNNING, /* a process runs under it */
        REPORT_REFUSED, /* a start would fail, or be refused */
} ReportTense;

/* -ENOMEM. */
int report_plan_text(FILE *f, const Plan *plan, ReportTense tense, const ReportStyle *style);

/* The object that mcpctl(1) documents under "plan". -ENOMEM. */
int report_plan_json(const Plan *plan, ReportTense tense, json_object **ret);

/* MCPProxy's isolation_effective: {mode, isolated, global_mode, inherited, source}. NULL: out of memory. */
json_object *report_isolation_json(const Isolation *isolation);

/* Words that the surfaces share. */
const char *report_protection_state(ProtectionState state, ReportTense tense); /* for people */
const char *report_network_mode(NetworkMode mode);                             /* "unrestricted" … */
const char *report_unix_wish(UnixWish wish);                                   /* "none", "any", "list" */

/* "512M", "infinity"; "2min 30s". NULL: out of memory. */
char *report_format_bytes(uint64_t bytes);
char *report_format_usec(uint64_t usec);
