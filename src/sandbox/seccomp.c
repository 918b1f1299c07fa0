/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The system call filter: chosen by the plan, loaded by the child with one call. */

#include <linux/seccomp.h>
#include <sys/mman.h>
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

static int choose_filter(const FilterVariant *wanted, SandboxProgram **ret) {
        static SandboxProgram programs[ELEMENTSOF(variants)];

        for (size_t i = 0; i < ELEMENTSOF(variants); i++) {
                const FilterVariant *v = variants + i;

                if (v->no_unix != wanted->no_unix || v->network != wanted->network ||
                    v->may_listen != wanted->may_listen)
                        continue;
                programs[i] = (SandboxProgram){ .filter = compiled_filters[i].filter,
                                                .length = compiled_filters[i].length };
                *ret = programs + i;
                return 0;
        }
        return -EINVAL;
}
#else
static int choose_filter(const FilterVariant *wanted, SandboxProgram **ret) {
        _cleanup_free_ struct sock_filter *built = NULL;
        unsigned short length;
        SandboxProgram *p;
        size_t size;
        int r;

        r = filter_build(wanted, &built, &length);
        if (r < 0)
                return r;
        size = sizeof(*p) + length * sizeof(*built);
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
                return -ENOMEM;
        *p = (SandboxProgram){ .filter = memcpy(p + 1, built, length * sizeof(*built)),
                               .length = length,
                               .size = size };
        *ret = p;
        return 0;
}
#endif

int sandbox_prepare(const Plan *plan, SandboxProgram **ret) {
        const FilterVariant wanted = {
                .no_unix = plan->unix_sockets == UNIX_NONE,
                .network = plan->network,
                .may_listen = plan->network == NETWORK_MODE_PORTS && plan->bind_ports.n_ports > 0,
        };

        session_learn_signals();
        /* What the host lacks was decided by the plan. */
        if (!plan->syscall_floor || plan->protections[PROTECTION_SYSCALLS].state != PROTECTION_ENFORCED) {
                *ret = NULL;
                return 0;
        }
        return choose_filter(&wanted, ret);
}

SandboxProgram *sandbox_program_free(SandboxProgram *p) {
        if (p && p->size > 0)
                (void) munmap(p, p->size);
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
