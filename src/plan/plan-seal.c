/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdalign.h>
#include <sys/mman.h>

#include "basic/string-util.h"
#include "plan/plan-seal.h"

/* Where the next copy goes. Without pages it only counts, so that the same walk finds out how many are needed. */
typedef struct Pages {
        char *base;
        size_t used;
} Pages;

static void *put(Pages *pages, const void *data, size_t size) {
        void *at = pages->base ? pages->base + pages->used : NULL;

        if (!data)
                return NULL;
        if (at && size > 0)
                memcpy(at, data, size);
        pages->used += (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
        return at;
}

static char *put_string(Pages *pages, const char *s) {
        return put(pages, s, s ? strlen(s) + 1 : 0);
}

static char **put_strv(Pages *pages, char *const *l) {
        size_t n = strv_length(l);
        char **copy = put(pages, l, (n + 1) * sizeof(char *));

        for (size_t i = 0; i < n; i++) {
                char *s = put_string(pages, l[i]);

                if (copy)
                        copy[i] = s;
        }
        return copy;
}

static PathRule *put_rules(Pages *pages, const PathRule *rules, size_t n) {
        PathRule *copy = put(pages, rules, n * sizeof(PathRule));

        for (size_t i = 0; i < n; i++) {
                char *path = put_string(pages, rules[i].path),
                     *resolved = put_string(pages, rules[i].resolved);

                if (!copy)
                        continue;
                copy[i].path = path;
                copy[i].resolved = resolved;
                copy[i].source = copy[i].note = NULL;
        }
        return copy;
}

static PortList put_ports(Pages *pages, const PortList *list) {
        return (PortList){ put(pages, list->ports, list->n_ports * sizeof(uint16_t)), list->n_ports };
}

static Plan *put_plan(Pages *pages, const Plan *p, char *const *env) {
        Plan copy = *p, *at = put(pages, &copy, sizeof(copy));

        copy.name = put_string(pages, p->name);
        copy.instance = put_string(pages, p->instance);
        copy.isolation_mode = copy.isolation_global_mode = NULL;
        copy.isolation.mode = copy.isolation.global_mode = NULL;
        copy.command = put_string(pages, p->command);
        copy.argv = put_strv(pages, p->argv);
        copy.env = put_strv(pages, env);
        copy.working_dir = put_string(pages, p->working_dir);
        copy.rules = put_rules(pages, p->rules, p->n_rules);
        copy.connect_ports = put_ports(pages, &p->connect_ports);
        copy.bind_ports = put_ports(pages, &p->bind_ports);
        copy.rlimits = put(pages, p->rlimits, p->n_rlimits * sizeof(RlimitEntry));
        for (size_t i = 0; i < _PROTECTION_MAX; i++)
                copy.protections[i].needs = NULL;
        copy.denies = copy.notes = NULL;
        if (at)
                *at = copy;
        return at;
}

int plan_seal(const Plan *p, char *const *env, SealedPlan *ret) {
        Pages pages = {};
        void *memory;
        Plan *plan;

        (void) put_plan(&pages, p, env ?: p->env);
        memory = mmap(NULL, pages.used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return -ENOMEM;
        pages = (Pages){ .base = memory };
        plan = put_plan(&pages, p, env ?: p->env);
        if (mprotect(memory, pages.used, PROT_READ) < 0) {
                int r = -errno;

                (void) munmap(memory, pages.used);
                return r;
        }
        *ret = (SealedPlan){ plan, pages.used };
        return 0;
}

void sealed_plan_done(SealedPlan *s) {
        if (s->plan)
                (void) munmap(s->plan, s->size);
        *s = (SealedPlan){};
}
