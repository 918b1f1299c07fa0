/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a child sees of a plan: all that is applied, and nothing of the memory that the plan is in. */

#include "test.h"

#include <sys/wait.h>

#include "plan/plan-seal.h"

/* As plan_free() wants it: everything allocated. */
static Plan *example(void) {
        Plan *p = calloc(1, sizeof(*p));

        ASSERT_NOT_NULL(p);
        p->name = strdup("ex ample");
        p->instance = strdup("ex\\x20ample");
        p->isolation_mode = strdup("sandbox");
        p->isolation.mode = p->isolation_mode;
        p->command = strdup("/usr/bin/example");
        ASSERT_OK(strv_extend(&p->argv, "example"));
        ASSERT_OK(strv_extend(&p->argv, ""));
        ASSERT_OK(strv_extend(&p->env, "A=1"));
        p->rules = calloc(2, sizeof(PathRule));
        ASSERT_NOT_NULL(p->rules);
        p->rules[0] = (PathRule){ .path = strdup("/a"),
                                  .resolved = strdup("/b"),
                                  .access = ACCESS_READ,
                                  .flags = RULE_CREATE,
                                  .source = strdup("isolation.write[0]"),
                                  .note = strdup("a note") };
        p->rules[1] = (PathRule){ .path = strdup("/c"), .access = ACCESS_WRITE };
        p->n_rules = 2;
        p->bind_ports.ports = calloc(1, sizeof(uint16_t));
        ASSERT_NOT_NULL(p->bind_ports.ports);
        p->bind_ports.ports[0] = 8080;
        p->bind_ports.n_ports = 1;
        p->rlimits = calloc(1, sizeof(RlimitEntry));
        ASSERT_NOT_NULL(p->rlimits);
        p->rlimits[0] = (RlimitEntry){ .resource = 7, .name = "nofile", .value = 4096 };
        p->n_rlimits = 1;
        p->protections[PROTECTION_SYSCALLS].state = PROTECTION_ENFORCED;
        p->protections[PROTECTION_CPU].needs = strdup("a controller");
        p->uid = 1234;
        p->confined = p->no_new_privs = true;
        return p;
}

static bool is_within(const SealedPlan *s, const void *p) {
        const char *start = (const char *) s->plan;

        return (const char *) p >= start && (const char *) p < start + s->size;
}

TEST(all_that_is_applied_is_there_without_the_plan) {
        _cleanup_(sealed_plan_done) SealedPlan sealed = {};
        Plan *original = example();
        const Plan *p;

        ASSERT_OK(plan_seal(original, NULL, &sealed));
        (void) plan_free(original);
        p = sealed.plan;
        ASSERT_STREQ(p->name, "ex ample");
        ASSERT_STREQ(p->command, "/usr/bin/example");
        ASSERT_STREQ(p->argv[0], "example");
        ASSERT_STREQ(p->argv[1], "");
        ASSERT_NULL(p->argv[2]);
        ASSERT_STREQ(p->env[0], "A=1");
        ASSERT_NULL(p->env[1]);
        ASSERT_NULL(p->working_dir);
        ASSERT_EQ(p->n_rules, 2U);
        ASSERT_STREQ(p->rules[0].path, "/a");
        ASSERT_STREQ(p->rules[0].resolved, "/b");
        ASSERT_EQ(p->rules[0].flags, (unsigned) RULE_CREATE);
        ASSERT_STREQ(p->rules[1].path, "/c");
        ASSERT_NULL(p->rules[1].resolved);
        ASSERT_EQ(p->rules[1].access, (unsigned) ACCESS_WRITE);
        ASSERT_NULL(p->connect_ports.ports);
        ASSERT_EQ(p->bind_ports.ports[0], 8080);
        ASSERT_STREQ(p->rlimits[0].name, "nofile");
        ASSERT_EQ(p->rlimits[0].value, 4096U);
        ASSERT_EQ(p->protections[PROTECTION_SYSCALLS].state, PROTECTION_ENFORCED);
        ASSERT_EQ(p->uid, 1234U);
        ASSERT_TRUE(p->confined && p->no_new_privs);
}

TEST(nothing_in_it_points_out_of_it) {
        _cleanup_(sealed_plan_done) SealedPlan sealed = {};
        _cleanup_plan_ Plan *original = example();
        const Plan *p;

        ASSERT_OK(plan_seal(original, NULL, &sealed));
        p = sealed.plan;
        for (size_t i = 0; i < p->n_rules; i++) {
                ASSERT_TRUE(is_within(&sealed, p->rules + i) && is_within(&sealed, p->rules[i].path));
                ASSERT_NULL(p->rules[i].source);
                ASSERT_NULL(p->rules[i].note);
        }
        ASSERT_TRUE(is_within(&sealed, p->argv) && is_within(&sealed, p->argv[1]));
        ASSERT_TRUE(is_within(&sealed, p->env) && is_within(&sealed, p->env[0]));
        ASSERT_TRUE(is_within(&sealed, p->bind_ports.ports) && is_within(&sealed, p->rlimits));
        ASSERT_NULL(p->isolation_mode);
        ASSERT_NULL(p->isolation.mode);
        ASSERT_NULL(p->protections[PROTECTION_CPU].needs);
        ASSERT_NULL(p->denies);
        ASSERT_NULL(p->notes);
}

TEST(another_environment_replaces_the_plans) {
        _cleanup_(sealed_plan_done) SealedPlan sealed = {};
        _cleanup_plan_ Plan *original = example();
        char *env[] = { (char *) "B=2", (char *) "C=", NULL };

        ASSERT_OK(plan_seal(original, env, &sealed));
        ASSERT_STREQ(sealed.plan->env[0], "B=2");
        ASSERT_STREQ(sealed.plan->env[1], "C=");
        ASSERT_NULL(sealed.plan->env[2]);
        ASSERT_STREQ(original->env[0], "A=1");
}

TEST(nobody_changes_it) {
        _cleanup_(sealed_plan_done) SealedPlan sealed = {};
        _cleanup_plan_ Plan *original = example();
        int status;
        pid_t pid;

        ASSERT_OK(plan_seal(original, NULL, &sealed));
        pid = fork();
        ASSERT_OK(pid);
        if (pid == 0) {
                (void) signal(SIGSEGV, SIG_DFL);
                sealed.plan->confined = false;
                _exit(EXIT_SUCCESS);
        }
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
