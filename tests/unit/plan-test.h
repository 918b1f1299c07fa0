/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* plan_make() of a definition on a made-up host, and what tests ask of the plan. */

#include "config/definition-read.h"
#include "fake-host.h"

typedef struct Made {
        int result;
        Plan *plan;
        ProblemList problems;
        Definition *definition;
} Made;

static Made made;

/* Makes the plan of a definition; what the last call made is freed. */
static int make(const HostFacts *host,
                const GlobalIsolation *global,
                const ManifestGrants *manifest,
                const char *json) {
        plan_free(made.plan);
        problem_list_done(&made.problems);
        definition_free(made.definition);
        made = (Made){};
        if (!fake_files)
                fake_files = usual_files;
        ASSERT_OK(definition_read_text(
                        json, strlen(json), "test", "/etc/x/test.json", &made.definition, &made.problems));
        made.result = plan_make(made.definition, global, manifest, host, &made.plan, &made.problems);
        return made.result;
}

static _unused_ int make7(const char *json) {
        HostFacts host = fake_host(7);

        return make(&host, NULL, NULL, json);
}

static _unused_ const Problem *problem(const char *code) {
        for (size_t i = 0; i < made.problems.n_items; i++)
                if (streq(made.problems.items[i].code, code))
                        return made.problems.items + i;
        return NULL;
}

static _unused_ const char *message(const char *code) {
        const Problem *p = problem(code);

        return p ? p->message : NULL;
}

/* The union of what the rules grant on exactly that path. */
static _unused_ unsigned granted(const char *path) {
        unsigned access = 0;

        for (size_t i = 0; i < made.plan->n_rules; i++)
                if (path_equal(made.plan->rules[i].path, path) && made.plan->rules[i].resolved)
                        access |= made.plan->rules[i].access;
        return access;
}

static _unused_ ProtectionState state(ProtectionId id) {
        return made.plan->protections[id].state;
}
