/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The system call filter: chosen by the plan, loaded by the child with one call. */

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "basic/string-util.h"
#include "sandbox/apply-internal.h"
#include "sandbox/filter-build.h"

#if HAVE_COMPILED_FILTERS
typedef struct CompiledFilter {
        const struct sock_filter *filter;
        unsigned short length;
} CompiledFilter;

#        include <filters.inc>

static const FilterVariant variants[] = { FILTER_VARIANTS };
_Static_assert(ELEMENTSOF(variants) == ELEMENTSOF(compiled_filters), "a filter for each variant");

static int choose_filter(const FilterVariant *wanted, SandboxProgram *program) {
        for (size_t i = 0; i < ELEMENTSOF(variants); i++) {
                const FilterVariant *v = variants + i;

                if (v->no_unix != wanted->no_unix || v->network != wanted->network ||
                    v->may_listen != wanted->may_listen)
                        continue;
                program->filter = compiled_filters[i].filter;
                program->length = compiled_filters[i].length;
                return 0;
        }
        return -EINVAL;
}
#else
static int choose_filter(const FilterVariant *wanted, SandboxProgram *program) {
        int r;

        r = filter_build(wanted, &program->built, &program->length);
        if (r >= 0)
                program->filter = program->built;
        return r;
}
#endif

int sandbox_prepare(const Plan *plan, SandboxProgram **ret) {
        const FilterVariant wanted = {
                .no_unix = plan->unix_sockets == UNIX_NONE,
                .network = plan->network,
                .may_listen = plan->network == NETWORK_MODE_PORTS && plan->bind_ports.n_ports > 0,
        };
        _cleanup_(sandbox_program_freep) SandboxProgram *program = NULL;
        int r;

        /* What the host lacks was decided by the plan. */
        if (!plan->syscall_floor || plan->protections[PROTECTION_SYSCALLS].state != PROTECTION_ENFORCED) {
                *ret = NULL;
                return 0;
        }
        program = calloc(1, sizeof(SandboxProgram));
        if (!program)
                return -ENOMEM;
        r = choose_filter(&wanted, program);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(program);
        return 0;
}

SandboxProgram *sandbox_program_free(SandboxProgram *p) {
        if (!p)
                return NULL;
        free(p->built);
        free(p);
        return NULL;
}

int seccomp_enforce(const SandboxProgram *program, SandboxFailure *failure) {
        /* The kernel copies it: its field is not const for C's sake only. */
        const struct sock_fprog prog = {
                .len = program->length,
                .filter = (struct sock_filter *) (uintptr_t) program->filter,
        };

        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0)
                return sandbox_fail(failure, SANDBOX_STAGE_SECCOMP, -errno, -1, NULL);
        return 0;
}
