/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/resource.h>

#include "sandbox/apply-internal.h"

int rlimits_apply(const Plan *plan, SandboxFailure *failure) {
        for (size_t i = 0; i < plan->n_rlimits; i++) {
                const RlimitEntry *entry = plan->rlimits + i;
                rlim_t value = entry->value == LIMIT_INFINITY ? RLIM_INFINITY : (rlim_t) entry->value;
                struct rlimit limit = { .rlim_cur = value, .rlim_max = value }, now;

                /* Without privilege a limit can only be lowered; one that is lower already is kept. */
                if (getrlimit((__rlimit_resource_t) entry->resource, &now) < 0)
                        return sandbox_fail(failure, SANDBOX_STAGE_RLIMITS, -errno, -1, entry->name);
                if (geteuid() != 0 && limit.rlim_max > now.rlim_max)
                        limit.rlim_cur = limit.rlim_max = now.rlim_max;
                if (setrlimit((__rlimit_resource_t) entry->resource, &limit) < 0)
                        return sandbox_fail(failure, SANDBOX_STAGE_RLIMITS, -errno, -1, entry->name);
        }
        return 0;
}
