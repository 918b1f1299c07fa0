/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The plan of a server as its supervisor would make it: same definition, same host facts, same function. */

#include "ctl/ctl.h"
#include "plan/why.h"
#include "sandbox/host-probe.h"

/* What a start would say. */
typedef struct Verdict {
        Plan *plan;           /* NULL: none could be made */
        ProblemList problems; /* of the plan, without those of reading the definition */
        CtlExit status;       /* CTL_OK: it would start */
} Verdict;

void verdict_done(Verdict *v);
#define _cleanup_verdict_ _cleanup_(verdict_done)

/* instance: of the server, for its state directory. Negative errno only where something failed on our side. */
int server_plan(Ctl *ctl, const Definition *d, const GlobalIsolation *global, Verdict *ret);

/* The same as if the server were neither disabled nor quarantined: switched off on purpose is no problem, and must not
 * hide one. */
int server_plan_of_enabled(Ctl *ctl, const Definition *d, const GlobalIsolation *global, Verdict *ret);

/* The plan of an enabled server, and what it says to a question. ret->plan NULL: there is no answer. -EINVAL: no question.
 * The rule in *ret_why is ret->plan's. */
int server_why(Ctl *ctl,
               const Definition *d,
               const GlobalIsolation *global,
               const WhyQuestion *q,
               Verdict *ret,
               Why *ret_why);

/* What is wrong with the manifest of a definition that is wrong itself: plan_check_manifest() as on a start. */
int server_check_manifest(Ctl *ctl, const Definition *d, ProblemList *problems);
