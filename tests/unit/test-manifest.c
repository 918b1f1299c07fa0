/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test.h"

#include "basic/string-util.h"
#include "manifest/manifest.h"

/* ---- reading one manifest ---- */

static const char *const test_env[] = {
        "HOME=/home/alice",          "TMPDIR=/var/tmp/alice//",
        "XDG_CACHE_HOME=/srv/cache", "XDG_RUNTIME_DIR=/run/user/1000",
        "XDG_STATE_HOME=",           NULL,
};

static const ManifestContext test_context = {
        .file = "m.json",
        .env = (char *const *) test_env,
        .working_dir = "/srv/work",
        .uid = 1000,
};

typedef struct Reading {
        int r;
        ManifestGrants *m;
        ProblemList problems;
} Reading;

static void reading_done(Reading *x) {
        x->m = manifest_grants_free(x->m);
        problem_list_done(&x->problems);
}
#define _cleanup_reading_ _cleanup_(reading_done)

static void read_with(const char *text, const ManifestContext *context, Reading *ret) {
        *ret = (Reading){};
        ret->r = manifest_read_text(text, strlen(text), context, &ret->m, &ret->problems);
}

/* The manifest with these members behind its version. */
static void read_members(const char *members, Reading *ret) {
        _cleanup_free_ char *text =
                        strformat("{\"version\": \"0.1.0\"%s%s}", isempty(members) ? "" : ", ", members);

        ASSERT_NOT_NULL(text);
        read_with(text, &test_context, ret);
}

static const Problem *find_problem(const Reading *x, const char *code, const char *pointer) {
        for (size_t i = 0; i < x->problems.n_items; i++)
                if (streq(x->problems.items[i].code, code) &&
                    streq_ptr(x->problems.items[i].pointer, pointer))
                        return x->problems.items + i;
        return NULL;
}

static void print_problems(const Reading *x) {
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

static void run_cases(const Case *cases, size_t n_cases) {
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

/* ---- JSON itself ---- */

TEST(text_that_is_no_manifest) {
        static const struct {
                const char *text, *code;
                unsigned line, column;
        } cases[] = {
                { "", "MCP-M-JSON", 1, 1 },
                { "{\"version\": \"0.1.0\"} x", "MCP-M-JSON", 1, 22 },
                { "{\"version\": \"0.1.0\",\n}", "MCP-M-JSON", 2, 1 },
                { "{\n // no comments\n}", "MCP-M-JSON", 2, 2 },
                { "\xef\xbb\xbf{\"version\": \"0.1.0\"}", "MCP-M-JSON", 1, 1 },
                { "{\"version\": \"0.1.0\", \"network\": {}, \"network\": {}}", "MCP-M-JSON", 1, 37 },
                { "[]", "MCP-M-TYPE", 1, 1 },
                { "\"0.1.0\"", "MCP-M-TYPE", 1, 1 },
                { "{}", "MCP-M-REQUIRED", 1, 1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_reading_ Reading x;

                read_with(cases[i].text, &test_context, &x);
                ASSERT_ERROR(x.r, EINVAL);
                ASSERT_EQ(x.problems.n_items, 1);
                ASSERT_STREQ(x.problems.items[0].code, cases[i].code);
                ASSERT_STREQ(x.problems.items[0].file, "m.json");
                ASSERT_EQ(x.problems.items[0].line, cases[i].line);
                ASSERT_EQ(x.problems.items[0].column, cases[i].column);
        }
}

TEST(nested_too_deep) {
        _cleanup_reading_ Reading x;
        char text[101] = {};

        memset(text, '[', 100);
        read_with(text, &test_context, &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-LIMIT", ""));
}

TEST(text_too_large) {
        _cleanup_free_ char *text = calloc(1, JSON_SIZE_MAX + 2);
        _cleanup_reading_ Reading x;

        ASSERT_NOT_NULL(text);
        memset(text, ' ', JSON_SIZE_MAX + 1);
        read_with(text, &test_context, &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-LIMIT", ""));
}

/* ---- every key ---- */

TEST(top_level) {
        static const Case cases[] = {
                { "" },
                { "\"$schema\": \"https://nono.sh/schemas/capability-manifest.schema.json\"" },
                { "\"$schema\": null" },
                { "\"$schema\": 1", "MCP-M-TYPE", "/$schema" },
                { "\"filesystem\": {}, \"network\": {}, \"process\": {}, \"rollback\": {}, \"resources\": "
                  "{}" },
                { "\"filesystem\": null, \"network\": null, \"process\": null, \"rollback\": null, "
                  "\"resources\": null" },
                { "\"credentials\": []" },
                { "\"credentials\": null", "MCP-M-TYPE", "/credentials" },
                { "\"filesystem\": []", "MCP-M-TYPE", "/filesystem" },
                { "\"network\": \"blocked\"", "MCP-M-TYPE", "/network" },
                { "\"process\": true", "MCP-M-TYPE", "/process" },
                { "\"rollback\": []", "MCP-M-TYPE", "/rollback" },
                { "\"resources\": [1, 2]", "MCP-M-TYPE", "/resources" },
        };

        RUN(cases);
}

TEST(version) {
        static const struct {
                const char *version, *code;
        } cases[] = {
                { "\"0.1.0\"", NULL },
                { "\"0.1.1\"", "MCP-M-VERSION" },
                { "\"1.0.0\"", "MCP-M-VERSION" },
                { "\"0.1\"", "MCP-M-VERSION" },
                { "\"\"", "MCP-M-VERSION" },
                { "\"0.1.0 \"", "MCP-M-VERSION" },
                { "1", "MCP-M-TYPE" },
                { "null", "MCP-M-TYPE" },
                { "\"0.1.0\\u0000\"", "MCP-M-NUL" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = strformat("{\"version\": %s}", cases[i].version);
                _cleanup_reading_ Reading x;

                read_with(text, &test_context, &x);
                ASSERT_EQ(x.r, cases[i].code ? -EINVAL : 0);
                ASSERT_TRUE(!cases[i].code || find_problem(&x, cases[i].code, "/version"));
        }
}

TEST(grants) {
        static const Case cases[] = {
                { "\"filesystem\": {\"grants\": [], \"deny\": []}" },
                { GRANT("\"path\": \"/a\", \"access\": \"read\"") },
                { GRANT("\"path\": \"/a\", \"access\": \"write\", \"type\": \"file\"") },
                { GRANT("\"path\": \"/a\", \"access\": \"readwrite\", \"type\": \"directory\"") },
                { GRANT("\"path\": \"/\", \"access\": \"read\"") },
                { GRANT("\"access\": \"read\""), "MCP-M-REQUIRED", "/filesystem/grants/0" },
                { GRANT("\"path\": \"/a\""), "MCP-M-REQUIRED", "/filesystem/grants/0" },
                { GRANT("\"path\": \"\", \"access\": \"read\""),
                  "MCP-M-EMPTY",
                  "/filesystem/grants/0/path" },
                { GRANT("\"path\": \"/a\\u0000b\", \"access\": \"read\""),
                  "MCP-M-NUL",
                  "/filesystem/grants/0/path" },
                { GRANT("\"path\": null, \"access\": \"read\""), "MCP-M-TYPE", "/filesystem/grants/0/path" },
                { GRANT("\"path\": \"/a\", \"access\": \"rw\""),
                  "MCP-M-VALUE",
                  "/filesystem/grants/0/access" },
                { GRANT("\"path\": \"/a\", \"access\": \"Read\""),
                  "MCP-M-VALUE",
                  "/filesystem/grants/0/access" },
                { GRANT("\"path\": \"/a\", \"access\": {\"read\": null}"),
                  "MCP-M-TYPE",
                  "/filesystem/grants/0/access" },
                { GRANT("\"path\": \"/a\", \"access\": null"), "MCP-M-TYPE", "/filesystem/grants/0/access" },
                { GRANT("\"path\": \"/a\", \"access\": \"read\", \"type\": \"dir\""),
                  "MCP-M-VALUE",
                  "/filesystem/grants/0/type" },
                { GRANT("\"path\": \"/a\", \"access\": \"read\", \"type\": null"),
                  "MCP-M-TYPE",
                  "/filesystem/grants/0/type" },
                { "\"filesystem\": {\"grants\": [\"/a\"]}", "MCP-M-TYPE", "/filesystem/grants/0" },
                { "\"filesystem\": {\"grants\": [[\"/a\", \"read\"]]}",
                  "MCP-M-TYPE",
                  "/filesystem/grants/0" },
                { "\"filesystem\": {\"grants\": null}", "MCP-M-TYPE", "/filesystem/grants" },
                { "\"filesystem\": {\"grants\": {}}", "MCP-M-TYPE", "/filesystem/grants" },
        };

        RUN(cases);
}

TEST(denies) {
        static const Case cases[] = {
                { DENY("\"path\": \"/a\"") },
                { DENY(""), "MCP-M-REQUIRED", "/filesystem/deny/0" },
                { DENY("\"path\": \"\""), "MCP-M-EMPTY", "/filesystem/deny/0/path" },
                { DENY("\"path\": 5"), "MCP-M-TYPE", "/filesystem/deny/0/path" },
                { "\"filesystem\": {\"deny\": [\"/a\"]}", "MCP-M-TYPE", "/filesystem/deny/0" },
                { "\"filesystem\": {\"deny\": null}", "MCP-M-TYPE", "/filesystem/deny" },
        };

        RUN(cases);
}

TEST(network) {
        static const Case cases[] = {
                { NETWORK("\"mode\": \"blocked\"") },
                { NETWORK("\"mode\": \"unrestricted\", \"dns\": true, \"allow_domains\": [], \"endpoints\": "
                          "[]") },
                { NETWORK("\"ports\": null") },
                { NETWORK("\"mode\": \"Blocked\""), "MCP-M-VALUE", "/network/mode" },
                { NETWORK("\"mode\": null"), "MCP-M-TYPE", "/network/mode" },
                { NETWORK("\"dns\": null"), "MCP-M-TYPE", "/network/dns" },
                { NETWORK("\"dns\": \"false\""), "MCP-M-TYPE", "/network/dns" },
                { NETWORK("\"allow_domains\": null"), "MCP-M-TYPE", "/network/allow_domains" },
                { NETWORK("\"allow_domains\": [1]"), "MCP-M-TYPE", "/network/allow_domains/0" },
                { NETWORK("\"endpoints\": [{}]"), "MCP-M-REQUIRED", "/network/endpoints/0" },
                { NETWORK("\"endpoints\": [{\"host\": \"\"}]"), "MCP-M-EMPTY", "/network/endpoints/0/host" },
                { NETWORK("\"endpoints\": [{\"host\": \"h\", \"rules\": [{\"path\": \"/\"}]}]"),
                  "MCP-M-REQUIRED",
                  "/network/endpoints/0/rules/0" },
                { NETWORK("\"endpoints\": [{\"host\": \"h\", \"rules\": [{\"path\": \"/\", \"method\": "
                          "\"\"}]}]"),
                  "MCP-M-EMPTY",
                  "/network/endpoints/0/rules/0/method" },
                { NETWORK("\"ports\": []"), "MCP-M-TYPE", "/network/ports" },
        };

        RUN(cases);
}

TEST(ports) {
        static const Case cases[] = {
                { PORTS("\"connect\": [1, 443, 65535], \"bind\": [8080], \"localhost\": [5432]") },
                { PORTS("\"localhost_range\": [[1, 1], [8000, 8010]]") },
                { PORTS("\"connect\": [0]"), "MCP-M-RANGE", "/network/ports/connect/0" },
                { PORTS("\"connect\": [65536]"), "MCP-M-RANGE", "/network/ports/connect/0" },
                { PORTS("\"connect\": [-1]"), "MCP-M-RANGE", "/network/ports/connect/0" },
                { PORTS("\"connect\": [443.0]"), "MCP-M-INTEGER", "/network/ports/connect/0" },
                { PORTS("\"connect\": [4.43e2]"), "MCP-M-INTEGER", "/network/ports/connect/0" },
                { PORTS("\"connect\": [\"443\"]"), "MCP-M-TYPE", "/network/ports/connect/0" },
                { PORTS("\"bind\": [99999999999999999999999]"), "MCP-M-INTEGER", "/network/ports/bind/0" },
                { PORTS("\"localhost\": null"), "MCP-M-TYPE", "/network/ports/localhost" },
                { PORTS("\"localhost_range\": [8000, 8010]"),
                  "MCP-M-TYPE",
                  "/network/ports/localhost_range/0" },
                { PORTS("\"localhost_range\": [[8000]]"),
                  "MCP-M-COUNT",
                  "/network/ports/localhost_range/0" },
                { PORTS("\"localhost_range\": [[1, 2, 3]]"),
                  "MCP-M-COUNT",
                  "/network/ports/localhost_range/0" },
                { PORTS("\"localhost_range\": [[9, 8]]"),
                  "MCP-M-PORT-RANGE",
                  "/network/ports/localhost_range/0" },
                { PORTS("\"localhost_range\": [[0, 8]]"),
                  "MCP-M-RANGE",
                  "/network/ports/localhost_range/0/0" },
        };

        RUN(cases);
}

TEST(process) {
        static const Case cases[] = {
                { PROCESS("\"signal_mode\": \"isolated\", \"ipc_mode\": \"shared_memory_only\"") },
                { PROCESS("\"signal_mode\": \"allow_same_sandbox\", \"ipc_mode\": \"full\"") },
                { PROCESS("\"signal_mode\": \"allow_all\", \"process_info_mode\": \"allow_all\"") },
                { PROCESS("\"exec_strategy\": \"direct\"") },
                { PROCESS("\"exec_strategy\": \"monitor\"") },
                { PROCESS("\"exec_strategy\": \"supervised\"") },
                { PROCESS("\"allowed_commands\": [], \"blocked_commands\": []") },
                { PROCESS("\"signal_mode\": \"none\""), "MCP-M-VALUE", "/process/signal_mode" },
                { PROCESS("\"signal_mode\": null"), "MCP-M-TYPE", "/process/signal_mode" },
                { PROCESS("\"process_info_mode\": \"full\""), "MCP-M-VALUE", "/process/process_info_mode" },
                { PROCESS("\"ipc_mode\": \"isolated\""), "MCP-M-VALUE", "/process/ipc_mode" },
                { PROCESS("\"exec_strategy\": \"Supervised\""), "MCP-M-VALUE", "/process/exec_strategy" },
                { PROCESS("\"exec_strategy\": null"), "MCP-M-TYPE", "/process/exec_strategy" },
                { PROCESS("\"allowed_commands\": null"), "MCP-M-TYPE", "/process/allowed_commands" },
                { PROCESS("\"blocked_commands\": [null]"), "MCP-M-TYPE", "/process/blocked_commands/0" },
                { PROCESS("\"blocked_commands\": [\"rm\"]"),
                  "MCP-M-DEPRECATED",
                  "/process/blocked_commands",
                  PROBLEM_WARNING },
                { PROCESS("\"allowed_commands\": [\"rm\"]"),
                  "MCP-M-DEPRECATED",
                  "/process/allowed_commands",
                  PROBLEM_WARNING },
                { PROCESS("\"process_info_mode\": \"isolated\""),
                  "MCP-M-NO-EFFECT",
                  "/process/process_info_mode",
                  PROBLEM_WARNING },
        };

        RUN(cases);
}

TEST(rollback) {
        static const Case cases[] = {
                { ROLLBACK("\"enabled\": false, \"exclude_patterns\": [], \"exclude_globs\": []") },
                { ROLLBACK("\"enabled\": null"), "MCP-M-TYPE", "/rollback/enabled" },
                { ROLLBACK("\"enabled\": 0"), "MCP-M-TYPE", "/rollback/enabled" },
                { ROLLBACK("\"exclude_patterns\": [1]"), "MCP-M-TYPE", "/rollback/exclude_patterns/0" },
                { ROLLBACK("\"exclude_globs\": null"), "MCP-M-TYPE", "/rollback/exclude_globs" },
                { ROLLBACK("\"exclude_patterns\": [\"a\"]"),
                  "MCP-M-NO-EFFECT",
                  "/rollback/exclude_patterns",
                  PROBLEM_WARNING },
                { ROLLBACK("\"exclude_globs\": [\"*\"]"),
                  "MCP-M-NO-EFFECT",
                  "/rollback/exclude_globs",
                  PROBLEM_WARNING },
        };

        RUN(cases);
}

TEST(resources) {
        static const Case cases[] = {
                { RESOURCES("") },
                { RESOURCES("\"memory_bytes\": 1, \"max_processes\": 1") },
                { RESOURCES("\"memory_bytes\": null, \"max_processes\": null") },
                { RESOURCES("\"memory_bytes\": 18446744073709551615") },
                { RESOURCES("\"memory_bytes\": 18446744073709551616"),
                  "MCP-M-INTEGER",
                  "/resources/memory_bytes" },
                { RESOURCES("\"memory_bytes\": 0"), "MCP-M-RANGE", "/resources/memory_bytes" },
                { RESOURCES("\"memory_bytes\": \"1G\""), "MCP-M-TYPE", "/resources/memory_bytes" },
                { RESOURCES("\"max_processes\": -5"), "MCP-M-RANGE", "/resources/max_processes" },
                { RESOURCES("\"max_processes\": 1.5"), "MCP-M-INTEGER", "/resources/max_processes" },
                { RESOURCES("\"cpu_max_percent\": 50"), "MCP-M-UNKNOWN-KEY", "/resources/cpu_max_percent" },
                { RESOURCES("\"max_procs\": 50"), "MCP-M-UNKNOWN-KEY", "/resources/max_procs" },
                { RESOURCES("\"max_process\": 50"), "MCP-M-NEAR-MISS", "/resources/max_process" },
        };

        RUN(cases);
}

TEST(credentials_are_checked_all_the_same) {
        static const Case cases[] = {
                { CREDENTIAL(", \"env_var\": \"\""), "MCP-M-EMPTY", "/credentials/0/env_var" },
                { CREDENTIAL(", \"env_var\": 1"), "MCP-M-TYPE", "/credentials/0/env_var" },
                { CREDENTIAL(", \"inject\": []"), "MCP-M-TYPE", "/credentials/0/inject" },
                { CREDENTIAL(", \"inject\": {\"mode\": \"cookie\"}"),
                  "MCP-M-VALUE",
                  "/credentials/0/inject/mode" },
                { CREDENTIAL(", \"inject\": {\"header\": null}"),
                  "MCP-M-TYPE",
                  "/credentials/0/inject/header" },
                { CREDENTIAL(", \"inject\": {\"format\": 1}"),
                  "MCP-M-TYPE",
                  "/credentials/0/inject/format" },
                { CREDENTIAL(", \"inject\": {\"path_pattern\": 1}"),
                  "MCP-M-TYPE",
                  "/credentials/0/inject/path_pattern" },
                { CREDENTIAL(", \"inject\": {\"path_replacement\": 1}"),
                  "MCP-M-TYPE",
                  "/credentials/0/inject/path_replacement" },
                { CREDENTIAL(", \"inject\": {\"query_param_name\": 1}"),
                  "MCP-M-TYPE",
                  "/credentials/0/inject/query_param_name" },
                { CREDENTIAL(", \"endpoint_rules\": [{\"method\": \"GET\"}]"),
                  "MCP-M-REQUIRED",
                  "/credentials/0/endpoint_rules/0" },
                { "\"credentials\": [{}]", "MCP-M-REQUIRED", "/credentials/0" },
                { "\"credentials\": [{\"name\": \"\"}]", "MCP-M-EMPTY", "/credentials/0/name" },
        };

        RUN(cases);
}

/* ---- unknown keys ---- */

TEST(unknown_keys) {
        static const Case cases[] = {
                { "\"x-owner\": {\"anything\": [null]}", "MCP-M-UNKNOWN-KEY", "/x-owner", PROBLEM_WARNING },
                { GRANT("\"path\": \"/a\", \"access\": \"read\", \"comment\": 1"),
                  "MCP-M-UNKNOWN-KEY",
                  "/filesystem/grants/0/comment",
                  PROBLEM_WARNING },
                { NETWORK("\"a~b/c\": 1"), "MCP-M-UNKNOWN-KEY", "/network/a~0b~1c", PROBLEM_WARNING },
                { NETWORK("\"moed\": \"blocked\""), "MCP-M-NEAR-MISS", "/network/moed" },
                { NETWORK("\"MODE\": \"blocked\""), "MCP-M-NEAR-MISS", "/network/MODE" },
                { NETWORK("\"allowDomains\": []"), "MCP-M-NEAR-MISS", "/network/allowDomains" },
                { "\"Network\": {}", "MCP-M-NEAR-MISS", "/Network" },
                { "\"filesytem\": {}", "MCP-M-NEAR-MISS", "/filesytem" },
                { "\"schema\": \"x\"", "MCP-M-NEAR-MISS", "/schema" },
                { PROCESS("\"exec-strategy\": \"direct\""), "MCP-M-NEAR-MISS", "/process/exec-strategy" },
                { PORTS("\"localhost_ranges\": []"), "MCP-M-NEAR-MISS", "/network/ports/localhost_ranges" },
                { "\"filesystem\": {\"dney\": []}", "MCP-M-NEAR-MISS", "/filesystem/dney" },
        };

        RUN(cases);
}

TEST(misplaced_key_says_where_it_belongs) {
        _cleanup_reading_ Reading x;
        const Problem *p;

        read_members("\"mode\": \"blocked\", \"localhost_range\": []", &x);
        ASSERT_OK(x.r);
        p = find_problem(&x, "MCP-M-UNKNOWN-KEY", "/mode");
        ASSERT_NOT_NULL(p);
        ASSERT_CONTAINS(p->remedy, "belongs to /network");
        p = find_problem(&x, "MCP-M-UNKNOWN-KEY", "/localhost_range");
        ASSERT_NOT_NULL(p);
        ASSERT_CONTAINS(p->remedy, "/network/ports");
}

/* ---- cross-field checks ---- */

TEST(cross_checks) {
        static const Case cases[] = {
                { ROLLBACK("\"enabled\": true"), "MCP-M-ROLLBACK", "/rollback/enabled" },
                { PROCESS("\"exec_strategy\": \"direct\"") ", " ROLLBACK("\"enabled\": true"),
                  "MCP-M-ROLLBACK",
                  "/rollback/enabled" },
                { "\"resources\": {\"memory_bytes\": 5}", "MCP-M-RESOURCES", "/resources" },
                { PROCESS("\"exec_strategy\": \"monitor\"") ", \"resources\": {\"max_processes\": 5}",
                  "MCP-M-RESOURCES",
                  "/resources" },
                { "\"resources\": {}" },
                { "\"resources\": {\"memory_bytes\": null}" },
                { "\"credentials\": [{\"name\": \"n\", \"upstream\": \"u\", \"source\": \"op://v/i\"}]",
                  "MCP-M-CREDENTIAL",
                  "/credentials/0/source" },
                { "\"credentials\": [{\"name\": \"n\", \"upstream\": \"u\", \"source\": "
                  "\"apple-password://v\"}]",
                  "MCP-M-CREDENTIAL",
                  "/credentials/0/source" },
                { "\"credentials\": [{\"name\": \"n\", \"upstream\": \"u\", \"source\": "
                  "\"apple-passwords://v\"}]",
                  "MCP-M-CREDENTIAL",
                  "/credentials/0/source" },
                { "\"credentials\": [{\"name\": \"n\", \"upstream\": \"u\", \"source\": \"file:///f\", "
                  "\"env_var\": null}]",
                  "MCP-M-CREDENTIAL",
                  "/credentials/0/source" },
                { CREDENTIAL(", \"inject\": {\"mode\": \"url_path\"}"),
                  "MCP-M-CREDENTIAL",
                  "/credentials/0/inject" },
                { CREDENTIAL(", \"inject\": {\"mode\": \"query_param\"}"),
                  "MCP-M-CREDENTIAL",
                  "/credentials/0/inject" },
                { NETWORK("\"ports\": {\"localhost\": [1], \"connect\": [2]}"),
                  "MCP-M-LOCALHOST",
                  "/network/ports/localhost" },
                { NETWORK("\"mode\": \"unrestricted\", \"ports\": {\"localhost_range\": [[1, 2]], \"bind\": "
                          "[2]}"),
                  "MCP-M-LOCALHOST",
                  "/network/ports/localhost_range" },
                { NETWORK("\"ports\": {\"localhost\": [1]}"),
                  "MCP-M-NO-EFFECT",
                  "/network/ports/localhost",
                  PROBLEM_WARNING },
                { NETWORK("\"ports\": {\"connect\": [443]}") },
        };

        RUN(cases);
}

TEST(credentials_that_pass_nono_are_not_blamed_twice) {
        static const char *const members[] = {
                CREDENTIAL(""),
                CREDENTIAL(", \"inject\": {\"mode\": \"url_path\", \"path_pattern\": \"/x\"}"),
                CREDENTIAL(", \"inject\": {\"mode\": \"query_param\", \"query_param_name\": \"k\"}, "
                           "\"env_var\": \"A\""),
                CREDENTIAL(", \"inject\": null, \"env_var\": null"),
        };

        for (size_t i = 0; i < ELEMENTSOF(members); i++) {
                _cleanup_reading_ Reading x;

                read_members(members[i], &x);
                ASSERT_ERROR(x.r, EINVAL);
                ASSERT_EQ(x.problems.n_items, 1);
                ASSERT_STREQ(x.problems.items[0].code, "MCP-M-UNSUPPORTED");
        }
}

TEST(unsupported_options_are_listed_all_at_once) {
        static const char *const pointers[] = {
                "/network/mode", "/network/allow_domains", "/network/endpoints",
                "/network/dns",  "/credentials",           "/rollback/enabled",
        };
        _cleanup_reading_ Reading x;

        read_members(SUPERVISED NETWORK(
                                     "\"mode\": \"proxy\", \"allow_domains\": [\"a.org\"], \"endpoints\": "
                                     "[{\"host\": \"h\"}], \"dns\": false") ", " CREDENTIAL("") ","
                                                                                                " " ROLLBACK("\"enabled\": true"),
                     &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_NULL(x.m);
        ASSERT_EQ(x.problems.n_items, ELEMENTSOF(pointers));
        for (size_t i = 0; i < ELEMENTSOF(pointers); i++) {
                const Problem *p = find_problem(&x, "MCP-M-UNSUPPORTED", pointers[i]);

                ASSERT_NOT_NULL(p);
                ASSERT_NOT_NULL(p->remedy);
                ASSERT_GT(p->line, 0);
        }
}

TEST(all_problems_at_once) {
        _cleanup_reading_ Reading x;

        read_with("{\n"
                  "  \"version\": \"0.2.0\",\n"
                  "  \"filesystem\": { \"grants\": [ { \"path\": \"$NONO_CONFIG\", \"access\": \"rw\" } ] "
                  "},\n"
                  "  \"network\": { \"mode\": \"proxy\", \"ports\": { \"connect\": [0] } },\n"
                  "  \"resources\": { \"memory_bytes\": 5 }\n"
                  "}\n",
                  &test_context,
                  &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_EQ(x.problems.n_items, 6);
        ASSERT_EQ(find_problem(&x, "MCP-M-VERSION", "/version")->line, 2);
        ASSERT_EQ(find_problem(&x, "MCP-M-VALUE", "/filesystem/grants/0/access")->column, 67);
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-VARIABLE", "/filesystem/grants/0/path"));
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-UNSUPPORTED", "/network/mode"));
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-RANGE", "/network/ports/connect/0"));
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-RESOURCES", "/resources"));
}

/* ---- what comes out ---- */

TEST(sample) {
        _cleanup_reading_ Reading x;

        read_with("{ \"version\": \"0.1.0\",\n"
                  "  \"filesystem\": { \"grants\": [\n"
                  "    { \"path\": \"/srv/notes\", \"access\": \"read\" },\n"
                  "    { \"path\": \"/srv/notes-out\", \"access\": \"readwrite\" },\n"
                  "    { \"path\": \"/srv/token.txt\", \"access\": \"read\", \"type\": \"file\" } ] },\n"
                  "  \"network\": { \"mode\": \"blocked\", \"ports\": { \"connect\": [443] } } }\n",
                  &test_context,
                  &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.problems.n_items, 0);
        ASSERT_STREQ(x.m->file, "m.json");
        ASSERT_EQ(x.m->n_grants, 3);
        ASSERT_STREQ(x.m->grants[1].path, "/srv/notes-out");
        ASSERT_STREQ(x.m->grants[1].pointer, "/filesystem/grants/1");
        ASSERT_EQ(x.m->grants[1].access, GRANT_READWRITE);
        ASSERT_EQ(x.m->grants[1].line, 4);
        ASSERT_EQ(x.m->grants[1].column, 5);
        ASSERT_FALSE(x.m->grants[1].is_file);
        ASSERT_TRUE(x.m->grants[2].is_file);
        ASSERT_EQ(x.m->n_denies, 0);
        ASSERT_TRUE(x.m->network_blocked);
        ASSERT_EQ(x.m->n_connect, 1);
        ASSERT_EQ(x.m->connect[0], 443);
        ASSERT_EQ(x.m->n_bind + x.m->n_localhost, 0);
        ASSERT_TRUE(x.m->scope_signals);
        ASSERT_FALSE(x.m->require_signals);
        ASSERT_TRUE(x.m->scope_abstract);
        ASSERT_EQ(x.m->memory_bytes, 0);
        ASSERT_EQ(x.m->max_processes, 0);
}

TEST(exported_manifest) {
        _cleanup_reading_ Reading x;

        read_members("\"$schema\": \"https://nono.sh/schemas/capability-manifest.schema.json\", "
                     "\"filesystem\": "
                     "{\"grants\": [{\"path\": \"/usr\", \"access\": \"read\", \"type\": \"directory\"}], "
                     "\"deny\": "
                     "[{\"path\": \"/home/alice/.ssh\"}, {\"path\": \"~/.aws\"}]}, \"network\": {\"mode\": "
                     "\"blocked\", \"dns\": true}, \"process\": {\"exec_strategy\": \"monitor\", "
                     "\"blocked_commands\": [\"rm\", \"dd\"]}",
                     &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->n_denies, 2);
        ASSERT_STREQ(x.m->denies[1].path, "/home/alice/.aws");
        ASSERT_STREQ(x.m->denies[1].original, "~/.aws");
        ASSERT_STREQ(x.m->denies[1].pointer, "/filesystem/deny/1");
        ASSERT_EQ(strv_length(x.m->blocked_commands), 2);
        ASSERT_FALSE(manifest_allows_command(x.m, "/bin/dd"));
        ASSERT_TRUE(manifest_allows_command(x.m, "/bin/rm/node"));
}

TEST(allowed_commands_lift_blocked_ones_alone) {
        _cleanup_reading_ Reading x;

        read_members(PROCESS("\"allowed_commands\": [\"rm\"], \"blocked_commands\": [\"rm\", \"dd\"]"), &x);
        ASSERT_OK(x.r);
        ASSERT_TRUE(manifest_allows_command(x.m, "rm"));
        ASSERT_TRUE(manifest_allows_command(x.m, "node"));
        ASSERT_FALSE(manifest_allows_command(x.m, "dd"));
}

TEST(port_lists_are_sorted_and_unique) {
        static const uint16_t localhost[] = { 8000, 8001, 8002, 9000, 65535 };
        _cleanup_reading_ Reading x;

        read_members(PORTS("\"connect\": [443, 80, 443], \"localhost\": [9000, 8001], \"localhost_range\": "
                           "[[65535, "
                           "65535], [8000, 8002]]"),
                     &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->n_connect, 2);
        ASSERT_EQ(x.m->connect[0], 80);
        ASSERT_EQ(x.m->n_localhost, ELEMENTSOF(localhost));
        ASSERT_EQ(memcmp(x.m->localhost, localhost, sizeof(localhost)), 0);
        ASSERT_NULL(x.m->bind);
}

TEST(localhost_means_nothing_while_unrestricted) {
        _cleanup_reading_ Reading x;

        read_members(NETWORK("\"ports\": {\"localhost\": [1], \"localhost_range\": [[5, 6]]}"), &x);
        ASSERT_OK(x.r);
        ASSERT_FALSE(x.m->network_blocked);
        ASSERT_EQ(x.m->n_localhost, 0);
}

TEST(process_modes) {
        static const struct {
                const char *members;
                bool scope_signals, require_signals, scope_abstract;
        } cases[] = {
                { "", true, false, true },
                { "\"process\": null", true, false, true },
                { PROCESS("\"signal_mode\": \"isolated\""), true, false, true },
                { PROCESS("\"signal_mode\": \"allow_same_sandbox\""), true, true, true },
                { PROCESS("\"signal_mode\": \"allow_all\""), false, false, true },
                { PROCESS("\"ipc_mode\": \"full\""), true, false, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_reading_ Reading x;

                read_members(cases[i].members, &x);
                ASSERT_OK(x.r);
                ASSERT_EQ(x.m->scope_signals, cases[i].scope_signals);
                ASSERT_EQ(x.m->require_signals, cases[i].require_signals);
                ASSERT_EQ(x.m->scope_abstract, cases[i].scope_abstract);
        }
}

TEST(limits_stay_within_the_kernels) {
        _cleanup_reading_ Reading x, y;

        read_members(RESOURCES("\"memory_bytes\": 268435456, \"max_processes\": 64"), &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->memory_bytes, 268435456);
        ASSERT_EQ(x.m->max_processes, 64);
        read_members(RESOURCES("\"memory_bytes\": 18446744073709551615, \"max_processes\": 4194305"), &y);
        ASSERT_OK(y.r);
        ASSERT_EQ(y.m->memory_bytes, INT64_MAX);
        ASSERT_EQ(y.m->max_processes, 4194304);
}

TEST(inline_manifest_keeps_the_definitions_places) {
        static const char text[] =
                        "{\"isolation\": {\n  \"manifest\": {\"version\": \"0.1.0\", \"filesystem\": "
                        "{\"grants\": [{\"path\": \"/a\", \"access\": \"read\"}]}, \"x\": 1}}}";
        _cleanup_json_ JsonValue *root = NULL;
        _cleanup_reading_ Reading x = {};

        ASSERT_OK(json_parse(text, strlen(text), JSON_STRICT, &root, NULL));
        x.r = manifest_read(
                        json_get(json_get(root, "isolation"), "manifest"), &test_context, &x.m, &x.problems);
        ASSERT_OK(x.r);
        ASSERT_STREQ(x.m->grants[0].pointer, "/isolation/manifest/filesystem/grants/0");
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-UNKNOWN-KEY", "/isolation/manifest/x"));
}

/* ---- paths ---- */

TEST(paths) {
        static const struct {
                const char *path, *expanded;
        } cases[] = {
                { "/a//b/./c/", "/a/b/c" },
                { "/", "/" },
                { "~", "/home/alice" },
                { "~/x", "/home/alice/x" },
                { "/a/~/x", "/a/~/x" },
                { "notes", "/srv/work/notes" },
                { "./notes/../x", "/srv/work/notes/../x" },
                { ".", "/srv/work" },
                { "$WORKDIR/x", "/srv/work/x" },
                { "$HOME/x", "/home/alice/x" },
                { "$HOMEX", "/home/aliceX" },
                { "/mnt$HOME", "/mnt/home/alice" },
                { "$TMPDIR/x", "/var/tmp/alice/x" },
                { "$TMPDIRx", "/var/tmp/alicex" },
                { "/run/user/$UID/x", "/run/user/1000/x" },
                { "$UID", "/srv/work/1000" },
                { "$XDG_CONFIG_HOME/x", "/home/alice/.config/x" },
                { "$XDG_STATE_HOME/x", "/home/alice/.local/state/x" },
                { "$XDG_CACHE_HOME/x", "/srv/cache/x" },
                { "$XDG_DATA_HOME/x", "/home/alice/.local/share/x" },
                { "$XDG_RUNTIME_DIR/x", "/run/user/1000/x" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *members =
                                strformat(GRANT("\"path\": \"%s\", \"access\": \"read\""), cases[i].path);
                _cleanup_reading_ Reading x;

                read_members(members, &x);
                ASSERT_OK(x.r);
                ASSERT_EQ(x.problems.n_items, 0);
                ASSERT_STREQ(x.m->grants[0].path, cases[i].expanded);
                ASSERT_STREQ(x.m->grants[0].original, cases[i].path);
        }
}

TEST(paths_with_text_that_only_looks_like_a_variable) {
        static const struct {
                const char *path, *expanded;
        } cases[] = {
                { "~bob/x", "/srv/work/~bob/x" },
                { "/a/${HOME}", "/a/${HOME}" },
                { "/a/$NOPE$NOPE", "/a/$NOPE$NOPE" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *members =
                                strformat(GRANT("\"path\": \"%s\", \"access\": \"read\""), cases[i].path);
                _cleanup_reading_ Reading x;

                read_members(members, &x);
                ASSERT_OK(x.r);
                ASSERT_EQ(x.problems.n_items, 1);
                ASSERT_STREQ(x.problems.items[0].code, "MCP-M-LITERAL");
                ASSERT_STREQ(x.m->grants[0].path, cases[i].expanded);
        }
}

TEST(paths_that_cannot_be_expanded) {
        static const char *const bare_env[] = { "HOME=alice", "TMPDIR=tmp", "XDG_DATA_HOME=data", NULL };
        static const ManifestContext bare = { .env = (char *const *) bare_env, .uid = (uid_t) -1 };
        static const char *const paths[] = {
                "~/x",      "$HOME/x",          "$TMPDIR/x", "$XDG_CONFIG_HOME/x", "$XDG_DATA_HOME/x",
                "$WORKDIR", "$XDG_RUNTIME_DIR", "$UID",      "relative",           "$NONO_CONFIG/x",
                "/x$UID",   "$NONO_PACKAGES",
        };

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                _cleanup_free_ char *text =
                                strformat("{\"version\": \"0.1.0\", " GRANT(
                                                          "\"path\": \"%s\", \"access\": \"read\"") "}",
                                          paths[i]);
                _cleanup_reading_ Reading x;

                read_with(text, &bare, &x);
                ASSERT_ERROR(x.r, EINVAL);
                ASSERT_EQ(x.problems.n_items, 1);
                ASSERT_STREQ(x.problems.items[0].code, "MCP-M-VARIABLE");
                ASSERT_NOT_NULL(x.problems.items[0].remedy);
                ASSERT_STREQ(x.problems.items[0].pointer, "/filesystem/grants/0/path");
        }
}

TEST(empty_environment_has_the_usual_defaults) {
        static const ManifestContext bare = { .working_dir = "/w" };
        _cleanup_reading_ Reading x;

        read_with("{\"version\": \"0.1.0\", " GRANT("\"path\": \"$TMPDIR\", \"access\": \"read\"") "}",
                  &bare,
                  &x);
        ASSERT_OK(x.r);
        ASSERT_STREQ(x.m->grants[0].path, "/tmp");
        ASSERT_NULL(x.m->file);
}

TEST(path_too_long) {
        _cleanup_free_ char *many = NULL, *members = NULL;
        _cleanup_reading_ Reading x;

        many = malloc(5 * 1000 + 1);
        ASSERT_NOT_NULL(many);
        for (size_t i = 0; i < 1000; i++)
                memcpy(many + 5 * i, "$HOME", 6);
        members = strformat(GRANT("\"path\": \"%s\", \"access\": \"read\""), many);
        read_members(members, &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-PATH", "/filesystem/grants/0/path"));
}

/* ---- bounds ---- */

static char *repeat(const char *before, const char *item, size_t n, const char *after) {
        size_t length = strlen(item) + 1;
        char *s = malloc(strlen(before) + n * length + strlen(after) + 1), *p = s;

        if (!s)
                return NULL;
        p = stpcpy(p, before);
        for (size_t i = 0; i < n; i++) {
                p = stpcpy(p, item);
                if (i + 1 < n)
                        *p++ = ',';
        }
        stpcpy(p, after);
        return s;
}

TEST(number_of_grants) {
        static const char item[] = "{\"path\": \"/a\", \"access\": \"read\"}";
        _cleanup_free_ char *most =
                        repeat("\"filesystem\": {\"grants\": [", item, MANIFEST_GRANTS_MAX, "]}");
        _cleanup_free_ char *more =
                        repeat("\"filesystem\": {\"grants\": [", item, MANIFEST_GRANTS_MAX + 1, "]}");
        _cleanup_reading_ Reading x, y;

        read_members(most, &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->n_grants, MANIFEST_GRANTS_MAX);
        read_members(more, &y);
        ASSERT_ERROR(y.r, EINVAL);
        ASSERT_NOT_NULL(find_problem(&y, "MCP-M-LIMIT", "/filesystem/grants"));
}

TEST(number_of_ports) {
        static const Case cases[] = {
                { PORTS("\"localhost_range\": [[1, 16384]]") },
                { PORTS("\"localhost_range\": [[1, 16385]]"), "MCP-M-LIMIT", "/network/ports" },
                { PORTS("\"localhost_range\": [[1, 16384]], \"connect\": [1]"),
                  "MCP-M-LIMIT",
                  "/network/ports" },
                { PORTS("\"localhost_range\": [[1, 65535], [1, 65535]]"), "MCP-M-LIMIT", "/network/ports" },
        };

        RUN(cases);
}

TEST(number_of_problems) {
        _cleanup_free_ char *bad = repeat("\"network\": {\"ports\": {\"connect\": [", "0", 20000, "]}}");
        _cleanup_reading_ Reading x;

        read_members(bad, &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_EQ(x.problems.n_items, 201);
        ASSERT_STREQ(x.problems.items[200].code, "MCP-M-TOO-MANY");
}

TEST(messages_do_not_repeat_secrets) {
        _cleanup_reading_ Reading x;

        read_members("\"credentials\": [{\"name\": \"n\", \"upstream\": \"u\", \"source\": \"op://SECRET\", "
                     "\"inject\": "
                     "{\"mode\": \"url_path\", \"format\": \"SECRET\"}}]",
                     &x);
        ASSERT_ERROR(x.r, EINVAL);
        for (size_t i = 0; i < x.problems.n_items; i++) {
                _cleanup_free_ char *line = problem_format(x.problems.items + i);

                ASSERT_LACKS(line, "SECRET");
        }
}
