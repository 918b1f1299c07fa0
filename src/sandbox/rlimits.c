/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/resource.h>

#include "sandbox/apply-internal.h"

/* Without privilege a limit can only be lowered; one that is lower already is kept. */
static int set_or_lower(__rlimit_resource_t resource, rlim_t value) {
        struct rlimit now;

        if (setrlimit(resource, &(struct rlimit){ value, value }) >= 0)
                return 0;
        if (errno != EPERM)
                return -errno;
        if (getrlimit(resource, &now) < 0)
                return -errno;
        value = MIN(value, now.rlim_max);
        return RET_NERRNO(setrlimit(resource, &(struct rlimit){ value, value }));
}

int rlimits_apply(const Plan *plan, SandboxFailure *failure) {
        for (size_t i = 0; i < plan->n_rlimits; i++) {
                const RlimitEntry *entry = plan->rlimits + i;
                rlim_t value = entry->value == LIMIT_INFINITY ? RLIM_INFINITY : (rlim_t) entry->value;
                int r = set_or_lower((__rlimit_resource_t) entry->resource, value);

                if (r < 0)
                        return sandbox_fail(failure, SANDBOX_STAGE_RLIMITS, r, -1, entry->name);
        }
        return 0;
}
