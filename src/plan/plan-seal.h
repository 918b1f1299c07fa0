/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A copy of what a child applies of a Plan, in read-only pages of its own.
 *
 * Whoever makes many children writes to its heap between them, and each page of it that a child shares has to be copied
 * then. A child that is given this copy can do without the heap. */

#include "plan/plan.h"

typedef struct SealedPlan {
        Plan *plan; /* without texts for people: sources, notes, what protections need; NULL: none */
        size_t size;
} SealedPlan;

/* env: instead of the plan's own; NULL: the plan's own. -ENOMEM. */
int plan_seal(const Plan *p, char *const *env, SealedPlan *ret);
void sealed_plan_done(SealedPlan *s);
