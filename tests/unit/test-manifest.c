/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest-test.h"

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
                { "{\"version\": \"0.1.0\", \"network\": {}, \"network\": {}}",
                  "MCP-M-DUPLICATE-KEY",
                  1,
                  37 },
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
                { PORTS("\"bind\": [0]"), "MCP-M-RANGE", "/network/ports/bind/0" },
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
