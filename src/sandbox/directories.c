/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caches and temp directories that a first run expects. They are made as the plan's user, so that a link planted by an
 * earlier session cannot have root make anything where that user could not. */

#include <sys/fsuid.h>

#include "basic/fd-util.h"
#include "sandbox/apply-internal.h"

/* setfsuid() reports the value before the call, whatever it did: only asking again tells. */
static int become_fs_user(uid_t uid, gid_t gid) {
        (void) setfsgid(gid);
        (void) setfsuid(uid);
        return (gid_t) setfsgid((gid_t) -1) == gid && (uid_t) setfsuid((uid_t) -1) == uid ? 0 : -EPERM;
}

int directories_make(const Plan *plan, SandboxFailure *failure) {
        bool other_user = plan->uid != (uid_t) -1 && plan->uid != geteuid();
        int r = 0, failed = -1;

        if (other_user) {
                r = become_fs_user(plan->uid, plan->gid);
                if (r < 0)
                        return sandbox_fail(failure, SANDBOX_STAGE_DIRECTORIES, r, -1, NULL);
        }
        for (size_t i = 0; i < plan->n_rules && failed < 0; i++) {
                const PathRule *rule = plan->rules + i;

                if (!(rule->flags & RULE_CREATE))
                        continue;
                r = mkdir_parents(rule->path, 0700);
                /* What is optional may be missing, for instance in a home that is read-only. */
                if (r < 0 && !(rule->flags & RULE_OPTIONAL))
                        failed = (int) i;
        }
        if (other_user) {
                int q = become_fs_user(geteuid(), getegid());

                if (q < 0)
                        return sandbox_fail(failure, SANDBOX_STAGE_DIRECTORIES, q, -1, NULL);
        }
        if (failed >= 0)
                return sandbox_fail(failure, SANDBOX_STAGE_DIRECTORIES, r, failed, plan->rules[failed].path);
        return 0;
}
