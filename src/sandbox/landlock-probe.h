/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What this kernel's Landlock really takes: the ABI number is not believed blindly. RHEL 9 says ABI 6 and refuses
 * SCOPE_SIGNAL, and a container's seccomp profile may forbid the calls. */

#include "plan/host-facts.h"
#include "sandbox/landlock-uapi.h"

/* landlock_create_ruleset(), or what a test puts in its place. */
typedef int (*landlock_create_ruleset_t)(const LandlockRulesetAttr *attr, size_t size, uint32_t flags);

/* forced_abi < 0: not forced; else at most that much is used. Where a ruleset of the whole ABI is refused with EINVAL,
 * features are taken off newest first until it is accepted. Landlock that is not there is a fact (abi 0, unavailable),
 * no error. */
int landlock_probe_with(landlock_create_ruleset_t create_ruleset, int forced_abi, LandlockFacts *ret);
