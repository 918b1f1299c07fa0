/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tests of manifests share: reading one, and tables of cases with the problem that each has to give. */

#include "basic/string-util.h"
#include "manifest/manifest.h"

#include "test.h"

/* ---- reading one manifest ---- */

static const char *const test_env[] = {
        "HOME=/home/alice",          "TMPDIR=/var/tmp/alice//",
        "XDG_CACHE_HOME=/srv/cache", "XDG_RUNTIME_DIR=/run/user/1000",
        "XDG_STATE_HOME=",           NULL,
};

static const ManifestContext test_context = {
        .file = "m.json",
        .env = (char *const *) test_env,
        .working_dir = "/srv/project",
        .uid = 1000,
};

typedef struct Reading {
        int r;
        ManifestGrants *m;
        ProblemList problems;
} Reading;

static _unused_ void reading_done(Reading *x) {
        x->m = manifest_grants_free(x->m);
        problem_list_done(&x->problems);
}
#define _cleanup_reading_ _cleanup_(reading_done)

static _unused_ void read_with(const char *text, const ManifestContext *context, Reading *ret) {
        *ret = (Reading){};
        ret->r = manifest_read_text(text, strlen(text), context, &ret->m, &ret->problems);
}

/* The manifest with these members behind its version. */
static _unused_ void read_members(const char *members, Reading *ret) {
        _cleanup_free_ char *text =
                        strformat("{\"version\": \"0.1.0\"%s%s}", isempty(members) ? "" : ", ", members);

        ASSERT_NOT_NULL(text);
        read_with(text, &test_context, ret);
}

static _unused_ const Problem *find_problem(const Reading *x, const char *code, const char *pointer) {
        for (size_t i = 0; i < x->problems.n_items; i++)
                if (streq(x->problems.items[i].code, code) &&
                    streq_ptr(x->problems.items[i].pointer, pointer))
                        return x->problems.items + i;
        return NULL;
}

static _unused_ void print_problems(const Reading *x) {
        for (size_t i = 0; i < x->problems.n_items; i++) {
                _cleanup_free_ char *line = problem_format(x->problems.items + i);

                printf("#   %s\n", strempty(line));
        }
}

typedef struct Case {
        const char *members;
        const char *code, *pointer; /* code NULL: accepted without a word */
        ProblemLevel level;
} Case;

static _unused_ void run_cases(const Case *cases, size_t n_cases) {
        for (size_t i = 0; i < n_cases; i++) {
                const Case *c = cases + i;
                _cleanup_reading_ Reading x;
                const Problem *p;
                bool good;

                read_members(c->members, &x);
                if (c->code) {
                        p = find_problem(&x, c->code, c->pointer);
                        good = p && p->level == c->level && x.r == (c->level == PROBLEM_ERROR ? -EINVAL : 0);
                } else
                        good = x.r == 0 && x.problems.n_items == 0;
                if (good)
                        continue;
                print_problems(&x);
                test_fail(__FILE__,
                          __LINE__,
                          "%s: %d, expected %s at %s",
                          c->members,
                          x.r,
                          c->code ?: "no problem",
                          strempty(c->pointer));
        }
}
#define RUN(cases) run_cases(cases, ELEMENTSOF(cases))

#define GRANT(members)     "\"filesystem\": {\"grants\": [{" members "}]}"
#define DENY(members)      "\"filesystem\": {\"deny\": [{" members "}]}"
#define NETWORK(members)   "\"network\": {" members "}"
#define PORTS(members)     NETWORK("\"mode\": \"blocked\", \"ports\": {" members "}")
#define PROCESS(members)   "\"process\": {" members "}"
#define ROLLBACK(members)  "\"rollback\": {" members "}"
#define SUPERVISED         "\"process\": {\"exec_strategy\": \"supervised\"}, "
#define RESOURCES(members) SUPERVISED "\"resources\": {" members "}"
#define CREDENTIAL(members)                                                                                \
        "\"credentials\": [{\"name\": \"n\", \"upstream\": \"https://u\", \"source\": \"env://S\"" members \
        "}]"
