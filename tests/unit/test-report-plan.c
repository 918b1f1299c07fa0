/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report/report-plan.h"
#include "report/report-problems.h"
#include "test.h"

/* A plan that was never made for anyone: every kind of value, secrets where secrets are. */
static PathRule rules[] = {
        { .path = (char *) "/srv/link",
          .resolved = (char *) "/srv/data",
          .access = ACCESS_READ | ACCESS_WRITE,
          .source = (char *) "isolation.write[0]" },
        { .path = (char *) "/dev/tty",
          .access = ACCESS_READ | ACCESS_WRITE | ACCESS_IOCTL,
          .flags = RULE_OPTIONAL,
          .source = (char *) "baseline: terminal",
          .note = (char *) "skipped: not there" },
};
static RlimitEntry rlimits[] = { { .name = "nofile", .value = 4096 },
                                 { .name = "core", .value = LIMIT_INFINITY } };
static uint16_t ports[] = { 443, 8080 };
static char *argv_of_plan[] = { (char *) "server", (char *) "--token=s3cret-argument", (char *) "x", NULL };
static char *env_of_plan[] = { (char *) "HOME=/home/x", (char *) "API_KEY=s3cret-value", NULL };
static char *notes[] = { (char *) "/mnt/c is a 9p file system.", NULL };

static Plan make_plan(void) {
        Plan p = {
                .name = (char *) "my server",
                .instance = (char *) "my\\x20server",
                .scope = RUNTIME_SCOPE_USER,
                .isolation = { .mode = "sandbox",
                               .global_mode = "none",
                               .isolated = true,
                               .source = ISOLATION_SOURCE_SERVER_MODE },
                .strict = true,
                .confined = true,
                .command = (char *) "/usr/bin/server",
                .argv = argv_of_plan,
                .env = env_of_plan,
                .working_dir = (char *) "/home/x",
                .rules = rules,
                .n_rules = ELEMENTSOF(rules),
                .network = NETWORK_MODE_PORTS,
                .connect_ports = { ports, ELEMENTSOF(ports) },
                .unix_sockets = UNIX_LIST,
                .no_new_privs = true,
                .rlimits = rlimits,
                .n_rlimits = ELEMENTSOF(rlimits),
                .uid = (uid_t) -1,
                .gid = (gid_t) -1,
                .memory_max = 512ULL << 20,
                .swap_max = LIMIT_UNSET,
                .tasks_max = 64,
                .cpu_quota_permille = 1500,
                .runtime_max_usec = LIMIT_UNSET,
                .eof_grace_usec = 5 * USEC_PER_SEC,
                .kill_after_usec = 10 * USEC_PER_SEC,
                .notes = notes,
        };

        for (ProtectionId id = 0; id < _PROTECTION_MAX; id++)
                p.protections[id] = (Protection){ .id = id, .mechanism = "some mechanism" };
        p.protections[PROTECTION_FS_WRITE] = (Protection){
                .id = PROTECTION_FS_WRITE,
                .state = PROTECTION_ENFORCED,
                .wanted_by = "sandbox mode",
                .mechanism = "Landlock WRITE_FILE",
                .consequence = "Only the listed paths can be written.",
        };
        p.protections[PROTECTION_FS_TRUNCATE] = (Protection){
                .id = PROTECTION_FS_TRUNCATE,
                .state = PROTECTION_MISSING,
                .wanted_by = "sandbox mode",
                .mechanism = "Landlock TRUNCATE",
                .needs = (char *) "Landlock ABI 3 (Linux 6.2); found 2",
                .consequence = "Any file can be emptied.",
        };
        return p;
}

static char *plan_text(const Plan *plan, ReportTense tense, const ReportStyle *style) {
        char *text = NULL;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        ASSERT_NOT_NULL(f);
        ASSERT_OK(report_plan_text(f, plan, tense, style));
        ASSERT_EQ(fclose(f), 0);
        return text;
}

TEST(text_names_what_will_be_done) {
        static const char *const parts[] = {
                "Server: my server",
                "sandbox (isolated: yes, source: server-mode, global mode: none, inherited: no)",
                "Enforcement: strict",
                "Directory: /home/x",
                "UNIX sockets: list",
                "Command: /usr/bin/server (and 2 arguments, not shown",
                "Environment: HOME API_KEY\n",
                "Network: only TCP ports (connect: 443 8080; bind: none)",
                "Limits: memory 512M, tasks 64, cpu 150%",
                "Rlimits: nofile 4096, core infinity",
                "Stop: end of input, after 5s SIGTERM, after 10s more SIGKILL",
                "reads will not be confined but for devices",
                "/srv/link -> /srv/data",
                "isolation.write[0]",
                "baseline: terminal (skipped: not there)",
                "fs-truncate: Any file can be emptied. It needs Landlock ABI 3 (Linux 6.2); found 2.",
                "fs-write: Only the listed paths can be written.",
                "/mnt/c is a 9p file system.",
        };
        Plan plan = make_plan();
        ReportStyle style = {};
        _cleanup_free_ char *text = plan_text(&plan, REPORT_PLANNED, &style);

        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                ASSERT_CONTAINS(text, parts[i]);
        for (ProtectionId id = 0; id < _PROTECTION_MAX; id++)
                ASSERT_CONTAINS(text, protection_to_string(id));
}

TEST(a_wish_that_nothing_enforces_is_told_as_one) {
        static const struct {
                ProtectionId id;
                const char *line;
        } cases[] = {
                { PROTECTION_UNIX_PATH, "UNIX sockets: list (not enforced)\n" },
                { PROTECTION_TCP_CONNECT, "(connect: 443 8080 (not enforced); bind: none)\n" },
                { PROTECTION_TCP_BIND, "(connect: 443 8080; bind: none (not enforced))\n" },
                { PROTECTION_NETWORK, "only TCP (not enforced) ports (connect: 443 8080; bind: none)\n" },
                { PROTECTION_MEMORY, "memory 512M (not enforced), tasks 64, cpu 150%\n" },
                { PROTECTION_TASKS, "memory 512M, tasks 64 (not enforced), cpu 150%\n" },
                { PROTECTION_CPU, "memory 512M, tasks 64, cpu 150% (not enforced)\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Plan plan = make_plan();
                ReportStyle style = {};
                _cleanup_free_ char *text = NULL;

                plan.protections[cases[i].id].state = PROTECTION_MISSING;
                text = plan_text(&plan, REPORT_PLANNED, &style);
                ASSERT_CONTAINS(text, cases[i].line);
        }
}

TEST(json_has_no_consequence_of_what_nobody_wants) {
        Plan plan = make_plan();
        _cleanup_jsonc_ json_object *json = NULL;

        plan.protections[PROTECTION_SIGNAL].consequence = "No signal gets out.";
        ASSERT_OK(report_plan_json(&plan, REPORT_PLANNED, &json));
        ASSERT_LACKS(jsonc_to_text(json, NULL), "No signal gets out.");
        ASSERT_CONTAINS(jsonc_to_text(json, NULL), "Only the listed paths can be written.");
}

TEST(secrets_are_in_neither_form) {
        Plan plan = make_plan();
        ReportStyle style = {};
        _cleanup_free_ char *text = plan_text(&plan, REPORT_PLANNED, &style);
        _cleanup_jsonc_ json_object *json = NULL;

        ASSERT_OK(report_plan_json(&plan, REPORT_PLANNED, &json));
        ASSERT_LACKS(text, "s3cret");
        ASSERT_LACKS(jsonc_to_text(json, NULL), "s3cret");
        ASSERT_LACKS(jsonc_to_text(json, NULL), "/home/x\",\"API");
}

TEST(plan_claims_nothing_that_is_not_enforced_yet) {
        Plan plan = make_plan();
        ReportStyle style = {};
        _cleanup_free_ char *planned = plan_text(&plan, REPORT_PLANNED, &style);
        _cleanup_free_ char *running = plan_text(&plan, REPORT_RUNNING, &style);

        ASSERT_CONTAINS(planned, "will be enforced");
        ASSERT_LACKS(planned, "fs-write      enforced");
        ASSERT_CONTAINS(planned, "What will hold");
        ASSERT_LACKS(running, "will be enforced");
        ASSERT_CONTAINS(running, "fs-write      enforced");
        ASSERT_CONTAINS(running, "What holds");
}

TEST(plan_that_is_refused_claims_nothing) {
        Plan plan = make_plan();
        ReportStyle style = {};
        _cleanup_free_ char *text = plan_text(&plan, REPORT_REFUSED, &style);

        ASSERT_CONTAINS(text, "Start: it will not");
        ASSERT_CONTAINS(text, "would be enforced");
        ASSERT_CONTAINS(text, "What would hold");
        ASSERT_LACKS(text, "will be enforced");
        ASSERT_LACKS(text, "will hold");
        ASSERT_LACKS(text, "will be readable");
}

TEST(unconfined_is_said) {
        Plan plan = make_plan();
        ReportStyle style = {};
        _cleanup_free_ char *text = NULL;

        plan.confined = false;
        plan.isolation.isolated = false;
        text = plan_text(&plan, REPORT_RUNNING, &style);
        ASSERT_CONTAINS(text, "isolated: no");
        ASSERT_CONTAINS(text, "Files: not confined");
        ASSERT_LACKS(text, "reachable");
}

TEST(terminal_of_80_columns_is_enough) {
        Plan plan = make_plan();
        ReportStyle style = { .columns = 80 };
        _cleanup_free_ char *text = plan_text(&plan, REPORT_PLANNED, &style);

        for (const char *p = text; *p;) {
                size_t n = strcspn(p, "\n");

                ASSERT_LE(n, 80);
                p += n;
                p += *p == '\n';
        }
}

static json_object *get(json_object *o, const char *key) {
        json_object *v = NULL;

        if (!json_object_object_get_ex(o, key, &v))
                test_fail(__FILE__, __LINE__, "no member %s", key);
        return v;
}

TEST(json_has_the_documented_shape) {
        static const char *const members[] = {
                "name",    "instance",     "scope",   "running",  "isolation",         "enforcement",
                "command", "arguments",    "files",   "network",  "working_directory", "environment",
                "limits",  "unix_sockets", "rlimits", "stop",     "no_new_privileges", "syscall_floor",
                "missing", "protections",  "notes",   "identity",
        };
        Plan plan = make_plan();
        _cleanup_jsonc_ json_object *json = NULL;
        json_object *rule, *protection;

        ASSERT_OK(report_plan_json(&plan, REPORT_PLANNED, &json));
        for (size_t i = 0; i < ELEMENTSOF(members); i++)
                (void) get(json, members[i]);
        ASSERT_EQ(json_object_object_length(json), ELEMENTSOF(members));
        ASSERT_STREQ(jsonc_to_text(get(json, "isolation"), NULL),
                     "{\"mode\":\"sandbox\",\"isolated\":true,\"global_mode\":\"none\",\"inherited\":false,"
                     "\"source\":\"server-mode\"}");
        ASSERT_EQ(json_object_get_int64(get(json, "arguments")), 2);
        ASSERT_STREQ(jsonc_to_text(get(json, "environment"), NULL), "[\"HOME\",\"API_KEY\"]");
        ASSERT_STREQ(jsonc_to_text(get(json, "missing"), NULL), "[\"fs-truncate\"]");
        ASSERT_STREQ(jsonc_to_text(get(json, "rlimits"), NULL), "{\"nofile\":4096,\"core\":\"infinity\"}");
        ASSERT_NULL(get(json, "identity"));
        ASSERT_NULL(get(get(json, "limits"), "swap_max"));
        ASSERT_EQ(json_object_get_int64(get(get(json, "limits"), "memory_max")), 512 << 20);
        rule = json_object_array_get_idx(get(get(json, "files"), "rules"), 0);
        ASSERT_STREQ(jsonc_get_string(rule, "resolved"), "/srv/data");
        ASSERT_STREQ(jsonc_to_text(get(rule, "access"), NULL), "[\"read\",\"write\"]");
        ASSERT_EQ(json_object_array_length(get(json, "protections")), _PROTECTION_MAX);
        protection = json_object_array_get_idx(get(json, "protections"), PROTECTION_FS_WRITE);
        ASSERT_STREQ(jsonc_get_string(protection, "state"), "planned");
}

TEST(json_of_a_running_session_says_enforced) {
        Plan plan = make_plan();
        _cleanup_jsonc_ json_object *json = NULL;
        json_object *protection;

        ASSERT_OK(report_plan_json(&plan, REPORT_RUNNING, &json));
        protection = json_object_array_get_idx(get(json, "protections"), PROTECTION_FS_WRITE);
        ASSERT_STREQ(jsonc_get_string(protection, "state"), "enforced");
        ASSERT_TRUE(json_object_get_boolean(get(json, "running")));
}

static void add_problems(ProblemList *list) {
        problem_add_at(list,
                       PROBLEM_ERROR,
                       "MCP-C-UNKNOWN-KEY",
                       "/etc/mcp/a.json",
                       3,
                       7,
                       "/isolation/wirte",
                       "Did you mean \"write\"?",
                       "\"wirte\" is no key of \"isolation\".");
        problem_add(list, PROBLEM_WARNING, "MCP-C-OTHER", NULL, NULL, NULL, "Evil \033[2J text.");
}

TEST(problems_as_text) {
        _cleanup_problems_ ProblemList list = {};
        ReportStyle style = {};
        _cleanup_free_ char *text = NULL, *summary = NULL;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        ASSERT_NOT_NULL(f);
        add_problems(&list);
        ASSERT_OK(report_problems_text(f, &list, &style));
        ASSERT_EQ(fclose(f), 0);
        ASSERT_CONTAINS(text,
                        "/etc/mcp/a.json:3:7: error:\n  \"wirte\" is no key of \"isolation\".\n"
                        "  Did you mean \"write\"?\n  [MCP-C-UNKNOWN-KEY at /isolation/wirte]\n");
        ASSERT_CONTAINS(text, "warning:\n  Evil ");
        ASSERT_LACKS(text, "\033");
        summary = report_problems_summary(&list);
        ASSERT_STREQ(summary, "1 error, 1 warning");
}

TEST(problems_as_json) {
        _cleanup_problems_ ProblemList list = {};
        _cleanup_jsonc_ json_object *json = NULL;

        add_problems(&list);
        ASSERT_OK(report_problems_json(&list, &json));
        ASSERT_EQ(json_object_array_length(json), 2);
        ASSERT_STREQ(jsonc_to_text(json_object_array_get_idx(json, 0), NULL),
                     "{\"level\":\"error\",\"code\":\"MCP-C-UNKNOWN-KEY\",\"file\":\"/etc/mcp/"
                     "a.json\",\"line\":3,"
                     "\"column\":7,\"pointer\":\"/isolation/wirte\",\"message\":\"\\\"wirte\\\" is no key "
                     "of "
                     "\\\"isolation\\\".\",\"remedy\":\"Did you mean \\\"write\\\"?\"}");
        ASSERT_NULL(get(json_object_array_get_idx(json, 1), "file"));
        ASSERT_NULL(get(json_object_array_get_idx(json, 1), "line"));
}

TEST(incomplete_list_is_not_passed_off_as_whole) {
        ProblemList list = { .failed = true };
        json_object *json = NULL;

        ASSERT_ERROR(report_problems_json(&list, &json), ENOMEM);
}

TEST(no_problems) {
        ProblemList list = {};
        _cleanup_free_ char *summary = report_problems_summary(&list);

        ASSERT_STREQ(summary, "no problems");
}
