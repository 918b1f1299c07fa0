/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether what Landlock denies comes to the journal. */

#include "plan/host-facts.h"

/* *ret NULL: it does, as far as can be seen from here; else what is needed for it, all of it in one line. -ENOMEM. */
int audit_needs(const LandlockFacts *landlock, char **ret);
