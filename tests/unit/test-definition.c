/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a file of our own may say: every key, good and bad. */

#include <sys/resource.h>

#include "config/definition-read.h"
#include "config/env-policy.h"
#include "test.h"

static Definition *read_own(const char *text, ProblemList *problems) {
        Definition *d = NULL;

        (void) definition_read_text(text, strlen(text), "test", "test.json", &d, problems);
        return d;
}

static const Problem *find_problem(const ProblemList *problems, const char *code, const char *pointer) {
        for (size_t i = 0; i < problems->n_items; i++)
                if (streq(problems->items[i].code, code) && streq_ptr(problems->items[i].pointer, pointer))
                        return problems->items + i;
        return NULL;
}

static _noreturn_ void show_and_fail(const char *text, const ProblemList *problems) {
        for (size_t i = 0; i < problems->n_items; i++) {
                _cleanup_free_ char *s = problem_format(problems->items + i);

                printf("# %s\n", strempty(s));
        }
        test_fail(__FILE__, __LINE__, "%s", text);
}

/* Reads { "command": "x", REST }, which must be fine. */
static Definition *good(const char *rest) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *text = strformat("{ \"command\": \"x\"%s%s }", *rest ? ", " : "", rest);
        Definition *d = read_own(text, &problems);

        if (!d || problems.n_items > 0)
                show_and_fail(text, &problems);
        return d;
}

TEST(defaults) {
        _cleanup_definition_ Definition *d = good("");
        _cleanup_free_ char *pointer = json_pointer(d->command.at);

        ASSERT_STREQ(d->name, "test");
        ASSERT_STREQ(d->instance, "test");
        ASSERT_STREQ(d->file, "test.json");
        ASSERT_STREQ(d->command.value, "x");
        ASSERT_STREQ(pointer, "/command");
        ASSERT_EQ(d->command.at->column, 14);
        ASSERT_TRUE(d->enabled);
        ASSERT_FALSE(d->quarantined);
        ASSERT_FALSE(d->remote);
        ASSERT_NULL(d->isolation.mode.value);
        ASSERT_EQ(d->isolation.enabled, TRISTATE_UNSET);
        ASSERT_EQ(d->isolation.enforcement, ENFORCEMENT_UNSET);
        ASSERT_EQ(d->isolation.network, NETWORK_UNSET);
        ASSERT_EQ(d->isolation.unix_sockets, UNIX_NONE);
        ASSERT_EQ(d->isolation.home, HOME_UNSET);
        ASSERT_TRUE(d->limits.memory == LIMIT_UNSET && d->limits.swap == LIMIT_UNSET);
        ASSERT_TRUE(d->limits.cpu == LIMIT_UNSET && d->limits.runtime_usec == LIMIT_UNSET);
        ASSERT_EQ(d->limits.tasks, 512);
        ASSERT_EQ(d->limits.n_rlimits, 2);
        ASSERT_EQ(d->sessions.max, 8);
        ASSERT_EQ(d->sessions.idle_timeout_usec, 300 * USEC_PER_SEC);
        ASSERT_EQ(d->stop.eof_grace_usec, 5 * USEC_PER_SEC);
        ASSERT_EQ(d->stop.kill_after_usec, 10 * USEC_PER_SEC);
        ASSERT_EQ(d->start_timeout_usec, 60 * USEC_PER_SEC);
        ASSERT_NULL(d->user);
        ASSERT_EQ(d->stderr_to, STDERR_JOURNAL);
        ASSERT_EQ(d->protocol, PROTOCOL_AUTO);
}

TEST(the_top_is_read) {
        _cleanup_definition_ Definition *d =
                        good("\"args\": [\"-a\", \"\"], \"env\": {\"B\": \"2\", \"A\": \"\"}, \"envFile\": "
                             "\"~/e\", "
                             "\"working_dir\": \"/srv\", \"enabled\": false, \"quarantined\": true, "
                             "\"user\": \"bob\", "
                             "\"stderr\": \"client\", \"protocol\": \"modern\", \"type\": \"stdio\", "
                             "\"init_timeout\": \"2m\", \"name\": \"test\", \"$schema\": \"x\"");

        ASSERT_EQ(d->args.n_items, 2);
        ASSERT_STREQ(d->args.items[0].value, "-a");
        ASSERT_TRUE(d->args.items[0].at == json_get(d->entry, "args")->items[0]);
        ASSERT_EQ(d->n_env, 2);
        ASSERT_STREQ(d->env[0].name, "B");
        ASSERT_STREQ(d->env[1].value.value, "");
        ASSERT_STREQ(d->env_file.value, "~/e");
        ASSERT_STREQ(d->working_dir.value, "/srv");
        ASSERT_FALSE(d->enabled);
        ASSERT_TRUE(d->quarantined);
        ASSERT_STREQ(d->user, "bob");
        ASSERT_EQ(d->stderr_to, STDERR_CLIENT);
        ASSERT_EQ(d->protocol, PROTOCOL_MODERN);
        ASSERT_EQ(d->start_timeout_usec, 120 * USEC_PER_SEC);
}

TEST(groups_are_read) {
        _cleanup_definition_ Definition *d =
                        good("\"isolation\": {\"mode\": \"none\", \"enabled\": false, \"enforcement\": "
                             "\"strict\", "
                             "\"write\": [\"/a\", \"~/b\", \"${C}/d\"], \"network\": \"blocked\", "
                             "\"unix_sockets\": [\"/run/s\"], \"home\": \"private\"}, "
                             "\"sessions\": {\"max\": 20, \"idle_timeout\": \"infinity\", \"accept_env\": "
                             "[\"LANG\", \"LANG\"]}, "
                             "\"stop\": {\"eof_grace\": 0, \"kill_after\": 1.5}, "
                             "\"access\": {\"users\": [\"a\"], \"groups\": [\"b\", \"c\"]}");

        ASSERT_STREQ(d->isolation.mode.value, "none");
        ASSERT_EQ(d->isolation.enabled, TRISTATE_NO);
        ASSERT_EQ(d->isolation.enforcement, ENFORCEMENT_STRICT);
        ASSERT_EQ(d->isolation.write.n_items, 3);
        ASSERT_EQ(d->isolation.network, NETWORK_BLOCKED);
        ASSERT_EQ(d->isolation.unix_sockets, UNIX_LIST);
        ASSERT_STREQ(d->isolation.unix_paths.items[0].value, "/run/s");
        ASSERT_EQ(d->isolation.home, HOME_PRIVATE);
        ASSERT_EQ(d->sessions.max, 20);
        ASSERT_TRUE(d->sessions.idle_timeout_usec == USEC_INFINITY);
        ASSERT_EQ(strv_length(d->sessions.accept_env), 1);
        ASSERT_EQ(d->stop.eof_grace_usec, 0);
        ASSERT_EQ(d->stop.kill_after_usec, 3 * USEC_PER_SEC / 2);
        ASSERT_EQ(strv_length(d->access.users), 1);
        ASSERT_EQ(strv_length(d->access.groups), 2);
}

static uint64_t rlimit(const Definition *d, int resource) {
        for (size_t i = 0; i < d->limits.n_rlimits; i++)
                if (d->limits.rlimits[i].resource == resource)
                        return d->limits.rlimits[i].value;
        return LIMIT_UNSET;
}

TEST(limits_are_read) {
        _cleanup_definition_ Definition *d = good(
                        "\"limits\": {\"memory\": \"1.5G\", \"swap\": 0, \"tasks\": \"infinity\", \"cpu\": "
                        "\"150%\", "
                        "\"runtime\": \"1h\", \"nofile\": 10, \"core\": \"unlimited\", \"fsize\": \"1M\", "
                        "\"nproc\": 5, \"as\": \"4G\", \"data\": 1, \"stack\": \"8M\", \"memlock\": 0, "
                        "\"cpu_time\": 60}");
        _cleanup_definition_ Definition *number = good("\"limits\": {\"cpu\": 1.5, \"memory\": 1048576}");

        ASSERT_EQ(d->limits.memory, UINT64_C(1536) << 20);
        ASSERT_EQ(d->limits.swap, 0);
        ASSERT_TRUE(d->limits.tasks == LIMIT_INFINITY);
        ASSERT_EQ(d->limits.cpu, 1500);
        ASSERT_EQ(d->limits.runtime_usec, 3600 * USEC_PER_SEC);
        ASSERT_EQ(rlimit(d, RLIMIT_NOFILE), 10);
        ASSERT_TRUE(rlimit(d, RLIMIT_CORE) == LIMIT_INFINITY);
        ASSERT_EQ(rlimit(d, RLIMIT_FSIZE), 1 << 20);
        ASSERT_EQ(rlimit(d, RLIMIT_NPROC), 5);
        ASSERT_EQ(rlimit(d, RLIMIT_AS), UINT64_C(4) << 30);
        ASSERT_EQ(rlimit(d, RLIMIT_DATA), 1);
        ASSERT_EQ(rlimit(d, RLIMIT_STACK), 8 << 20);
        ASSERT_EQ(rlimit(d, RLIMIT_MEMLOCK), 0);
        ASSERT_EQ(rlimit(d, RLIMIT_CPU), 60);
        ASSERT_EQ(d->limits.n_rlimits, 9);
        ASSERT_EQ(number->limits.cpu, 1500);
        ASSERT_EQ(number->limits.memory, 1 << 20);
}

TEST(null_is_nothing_where_mcpproxy_writes_it) {
        _cleanup_definition_ Definition *d =
                        good("\"quarantined\": null, \"isolation\": {\"enabled\": null, \"mode\": null}");
        _cleanup_definition_ _unused_ Definition *e = good("\"isolation\": null");
        _cleanup_definition_ Definition *f =
                        good("\"isolation\": {\"mode\": \"\"}, \"init_timeout\": \"0\"");

        ASSERT_EQ(d->isolation.enabled, TRISTATE_UNSET);
        ASSERT_NULL(d->isolation.mode.value);
        ASSERT_NULL(f->isolation.mode.value);
        ASSERT_EQ(f->start_timeout_usec, 60 * USEC_PER_SEC);
}

/* Each file has this one problem among its own, at that place, and the remedy says that. */
static const struct {
        const char *text, *code, *pointer, *remedy;
        ProblemLevel level;
} bad_table[] = {
        /* shape */
        { "", "MCP-C-JSON", NULL, NULL },
        { "{", "MCP-C-JSON", NULL, NULL },
        { "[]", "MCP-C-TYPE", "", "command" },
        { "{}", "MCP-C-NO-COMMAND", "", "Add \"command\"" },
        { "{ \"mcpServers\": {} }", "MCP-C-CLIENT-FILE", "", "mcp.json" },
        { "{ \"command\": \"x\", \"command\": \"y\" }", "MCP-C-JSON", NULL, NULL },
        { "{ \"command\": \"x\" } // c", "MCP-C-JSON", NULL, NULL },
        /* unknown keys */
        { "{ \"command\": \"x\", \"comand\": \"x\" }", "MCP-C-UNKNOWN-KEY", "/comand", "\"command\"" },
        { "{ \"command\": \"x\", \"isolatoin\": {} }", "MCP-C-UNKNOWN-KEY", "/isolatoin", "\"isolation\"" },
        { "{ \"command\": \"x\", \"colour\": 1 }",
          "MCP-C-UNKNOWN-KEY",
          "/colour",
          "Remove",
          PROBLEM_WARNING },
        { "{ \"command\": \"x\", \"isolation\": {\"netwrk\": 1} }",
          "MCP-C-UNKNOWN-KEY",
          "/isolation/netwrk",
          "\"network\"" },
        { "{ \"command\": \"x\", \"isolation\": {\"colour\": 1} }",
          "MCP-C-UNKNOWN-KEY",
          "/isolation/colour",
          NULL },
        { "{ \"command\": \"x\", \"limits\": {\"memroy\": 1} }",
          "MCP-C-UNKNOWN-KEY",
          "/limits/memroy",
          "\"memory\"" },
        { "{ \"command\": \"x\", \"stop\": {\"x\": 1} }", "MCP-C-UNKNOWN-KEY", "/stop/x", NULL },
        { "{ \"command\": \"x\", \"access\": {\"user\": []} }",
          "MCP-C-UNKNOWN-KEY",
          "/access/user",
          "\"users\"" },
        { "{ \"command\": \"x\", \"sessions\": {\"x\": 1} }", "MCP-C-UNKNOWN-KEY", "/sessions/x", NULL },
        /* other programs' keys */
        { "{ \"command\": \"x\", \"trust\": true }", "MCP-C-IGNORED", "/trust", NULL, PROBLEM_NOTE },
        { "{ \"command\": \"x\", \"timeout\": 5 }", "MCP-C-IGNORED", "/timeout", NULL, PROBLEM_NOTE },
        { "{ \"command\": \"x\", \"disabled_tools\": [] }",
          "MCP-C-IGNORED",
          "/disabled_tools",
          "Tools",
          PROBLEM_WARNING },
        { "{ \"command\": \"x\", \"sandbox\": {} }",
          "MCP-C-IGNORED",
          "/sandbox",
          "isolation.write",
          PROBLEM_WARNING },
        { "{ \"command\": \"x\", \"isolation\": {\"image\": \"i\"} }",
          "MCP-C-IGNORED",
          "/isolation/image",
          NULL,
          PROBLEM_NOTE },
        { "{ \"command\": \"x\", \"isolation\": {\"network_mode\": \"none\"} }",
          "MCP-C-NETWORK-MODE",
          "/isolation/network_mode",
          "\"blocked\"" },
        { "{ \"command\": \"x\", \"credentials\": [] }", "MCP-C-TYPE", "/credentials", NULL },
        { "{ \"command\": \"x\", \"credentials\": {\"A\": 1} }", "MCP-C-TYPE", "/credentials/A", NULL },
        { "{ \"command\": \"x\", \"env\": {\"A\": \"1\"}, \"credentials\": {\"B\": \"b\", \"A\": \"a\"} }",
          "MCP-C-CREDENTIAL",
          "/credentials/A",
          "\"env\"" },
        { "{ \"command\": \"x\", \"credentials\": {\"1\": \"a\"} }",
          "MCP-C-VARIABLE",
          "/credentials/1",
          "Names" },
        { "{ \"command\": \"x\", \"credentials\": {\"A\": \"../a\"} }",
          "MCP-C-CREDENTIAL",
          "/credentials/A",
          "secret" },
        { "{ \"command\": \"x\", \"isolation\": {\"manifest\": 1} }",
          "MCP-C-TYPE",
          "/isolation/manifest",
          NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"manifest\": {}, \"write\": []} }",
          "MCP-C-MANIFEST",
          "/isolation/write",
          "manifest" },
        { "{ \"command\": \"x\", \"isolation\": {\"manifest\": \"m\", \"network\": \"blocked\"} }",
          "MCP-C-MANIFEST",
          "/isolation/network",
          "manifest" },
        /* the program */
        { "{ \"command\": 1 }", "MCP-C-TYPE", "/command", NULL },
        { "{ \"command\": \"\" }", "MCP-C-EMPTY", "/command", NULL },
        { "{ \"command\": [\"x\"] }", "MCP-C-TYPE", "/command", NULL },
        { "{ \"command\": \"npx -y x\" }", "MCP-C-COMMAND-LINE", "/command", "args" },
        { "{ \"command\": \"./x\" }", "MCP-C-RELATIVE-PATH", "/command", "${HOME}" },
        { "{ \"command\": \"a\\u0000b\" }", "MCP-C-NUL", "/command", NULL },
        { "{ \"command\": \"npx\" }", "MCP-C-NO-ARGS", "/command", "args" },
        { "{ \"command\": \"/usr/bin/uvx\", \"args\": [] }", "MCP-C-NO-ARGS", "/command", "args" },
        { "{ \"command\": \"pipx\" }", "MCP-C-NO-ARGS", "/command", "args" },
        { "{ \"command\": \"x\", \"args\": \"y\" }", "MCP-C-TYPE", "/args", NULL },
        { "{ \"command\": \"x\", \"args\": [1] }", "MCP-C-TYPE", "/args/0", "quotes" },
        { "{ \"command\": \"x\", \"args\": [\"\\u0000\"] }", "MCP-C-NUL", "/args/0", NULL },
        { "{ \"command\": \"x\", \"env\": [] }", "MCP-C-TYPE", "/env", NULL },
        { "{ \"command\": \"x\", \"env\": {\"A\": 1} }", "MCP-C-TYPE", "/env/A", "quotes" },
        { "{ \"command\": \"x\", \"env\": {\"A\": null} }", "MCP-C-TYPE", "/env/A", "quotes" },
        { "{ \"command\": \"x\", \"env\": {\"A=B\": \"\"} }", "MCP-C-VARIABLE", "/env/A=B", "Names" },
        { "{ \"command\": \"x\", \"env\": {\"A\": \"\\u0000\"} }", "MCP-C-NUL", "/env/A", NULL },
        { "{ \"command\": \"x\", \"envFile\": \".env\" }", "MCP-C-RELATIVE-PATH", "/envFile", "${HOME}" },
        { "{ \"command\": \"x\", \"working_dir\": \"a\" }",
          "MCP-C-RELATIVE-PATH",
          "/working_dir",
          "${HOME}" },
        { "{ \"command\": \"x\", \"working_dir\": \"\" }", "MCP-C-EMPTY", "/working_dir", NULL },
        { "{ \"command\": \"x\", \"working_dir\": \"/a\", \"cwd\": \"/b\" }", "MCP-C-TWICE", "/cwd", "one" },
        /* words */
        { "{ \"command\": \"x\", \"enabled\": \"yes\" }", "MCP-C-TYPE", "/enabled", NULL },
        { "{ \"command\": \"x\", \"enabled\": true, \"disabled\": true }",
          "MCP-C-TWICE",
          "/disabled",
          "enabled",
          PROBLEM_WARNING },
        { "{ \"command\": \"x\", \"quarantined\": 1 }", "MCP-C-TYPE", "/quarantined", NULL },
        { "{ \"command\": \"x\", \"user\": \"0\" }", "MCP-C-USER", "/user", "name" },
        { "{ \"command\": \"x\", \"user\": \"a b\" }", "MCP-C-USER", "/user", "name" },
        { "{ \"command\": \"x\", \"stderr\": \"jurnal\" }", "MCP-C-VALUE", "/stderr", "\"journal\"" },
        { "{ \"command\": \"x\", \"protocol\": \"modren\" }", "MCP-C-VALUE", "/protocol", "\"modern\"" },
        { "{ \"command\": \"x\", \"protocol\": \"sse\" }", "MCP-C-REMOTE", "/protocol", "command" },
        { "{ \"command\": \"x\", \"type\": \"http\" }", "MCP-C-REMOTE", "/type", "command" },
        { "{ \"url\": \"https://example.org\" }", "MCP-C-REMOTE", "/url", "command" },
        { "{ \"command\": \"x\", \"type\": \"pigeon\" }", "MCP-C-VALUE", "/type", "stdio" },
        { "{ \"command\": \"x\", \"name\": \"other\" }", "MCP-C-NAME", "/name", "name" },
        { "{ \"command\": \"x\", \"init_timeout\": \"500ms\" }", "MCP-C-RANGE", "/init_timeout", "\"1s\"" },
        { "{ \"command\": \"x\", \"init_timeout\": \"31m\" }", "MCP-C-RANGE", "/init_timeout", "\"30m\"" },
        /* isolation */
        { "{ \"command\": \"x\", \"isolation\": [] }", "MCP-C-TYPE", "/isolation", NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"mode\": \"Sandbox\"} }",
          "MCP-C-VALUE",
          "/isolation/mode",
          "\"sandbox\"" },
        { "{ \"command\": \"x\", \"isolation\": {\"enabled\": 1} }",
          "MCP-C-TYPE",
          "/isolation/enabled",
          NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"enforcement\": \"best_effort\"} }",
          "MCP-C-VALUE",
          "/isolation/enforcement",
          "\"best-effort\"" },
        { "{ \"command\": \"x\", \"isolation\": {\"write\": \"/a\"} }",
          "MCP-C-TYPE",
          "/isolation/write",
          NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"write\": [\"a\"]} }",
          "MCP-C-RELATIVE-PATH",
          "/isolation/write/0",
          "${HOME}" },
        { "{ \"command\": \"x\", \"isolation\": {\"network\": \"none\"} }",
          "MCP-C-VALUE",
          "/isolation/network",
          NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"unix_sockets\": \"all\"} }",
          "MCP-C-VALUE",
          "/isolation/unix_sockets",
          NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"unix_sockets\": [\"@a\"]} }",
          "MCP-C-RELATIVE-PATH",
          "/isolation/unix_sockets/0",
          NULL },
        { "{ \"command\": \"x\", \"isolation\": {\"home\": true} }", "MCP-C-TYPE", "/isolation/home", NULL },
        /* numbers */
        { "{ \"command\": \"x\", \"limits\": null }", "MCP-C-TYPE", "/limits", NULL },
        { "{ \"command\": \"x\", \"limits\": {\"memory\": 512} }",
          "MCP-C-RANGE",
          "/limits/memory",
          "\"512M\"" },
        { "{ \"command\": \"x\", \"limits\": {\"memory\": -1} }",
          "MCP-C-RANGE",
          "/limits/memory",
          "\"512M\"" },
        { "{ \"command\": \"x\", \"limits\": {\"memory\": true} }",
          "MCP-C-TYPE",
          "/limits/memory",
          "\"512M\"" },
        { "{ \"command\": \"x\", \"limits\": {\"memory\": \"50%\"} }",
          "MCP-C-VALUE",
          "/limits/memory",
          "\"512M\"" },
        { "{ \"command\": \"x\", \"limits\": {\"swap\": \"x\"} }",
          "MCP-C-VALUE",
          "/limits/swap",
          "\"512M\"" },
        { "{ \"command\": \"x\", \"limits\": {\"tasks\": 0} }", "MCP-C-RANGE", "/limits/tasks", "whole" },
        { "{ \"command\": \"x\", \"limits\": {\"tasks\": \"1k\"} }",
          "MCP-C-VALUE",
          "/limits/tasks",
          "whole" },
        { "{ \"command\": \"x\", \"limits\": {\"tasks\": 1.5} }", "MCP-C-RANGE", "/limits/tasks", "whole" },
        { "{ \"command\": \"x\", \"limits\": {\"cpu\": 0} }", "MCP-C-RANGE", "/limits/cpu", "\"150%\"" },
        { "{ \"command\": \"x\", \"limits\": {\"cpu\": 150} }",
          "MCP-C-CPU",
          "/limits/cpu",
          "\"150%\"",
          PROBLEM_WARNING },
        { "{ \"command\": \"x\", \"limits\": {\"cpu\": \"lots\"} }",
          "MCP-C-VALUE",
          "/limits/cpu",
          "\"150%\"" },
        { "{ \"command\": \"x\", \"limits\": {\"runtime\": \"5 parsecs\"} }",
          "MCP-C-VALUE",
          "/limits/runtime",
          "\"30s\"" },
        { "{ \"command\": \"x\", \"limits\": {\"nofile\": \"4K\"} }",
          "MCP-C-VALUE",
          "/limits/nofile",
          "whole" },
        { "{ \"command\": \"x\", \"limits\": {\"core\": []} }", "MCP-C-TYPE", "/limits/core", "\"512M\"" },
        { "{ \"command\": \"x\", \"sessions\": {\"max\": 0} }", "MCP-C-RANGE", "/sessions/max", NULL },
        { "{ \"command\": \"x\", \"sessions\": {\"max\": \"8\"} }", "MCP-C-TYPE", "/sessions/max", NULL },
        { "{ \"command\": \"x\", \"sessions\": {\"idle_timeout\": 0} }",
          "MCP-C-RANGE",
          "/sessions/idle_timeout",
          "infinity" },
        { "{ \"command\": \"x\", \"stop\": {\"eof_grace\": \"infinity\"} }",
          "MCP-C-RANGE",
          "/stop/eof_grace",
          "\"30s\"" },
        { "{ \"command\": \"x\", \"stop\": {\"kill_after\": \"2h\"} }",
          "MCP-C-RANGE",
          "/stop/kill_after",
          "\"30s\"" },
        /* names */
        { "{ \"command\": \"x\", \"sessions\": {\"accept_env\": [\"LD_PRELOAD\"]} }",
          "MCP-C-ACCEPT-ENV",
          "/sessions/accept_env/0",
          "\"env\"" },
        { "{ \"command\": \"x\", \"sessions\": {\"accept_env\": [\"A*\"]} }",
          "MCP-C-VARIABLE",
          "/sessions/accept_env/0",
          "patterns" },
        { "{ \"command\": \"x\", \"access\": {\"users\": []} }", "MCP-C-EMPTY", "/access/users", "enabled" },
        { "{ \"command\": \"x\", \"access\": {\"users\": [\"-a\"]} }",
          "MCP-C-USER",
          "/access/users/0",
          "name" },
        { "{ \"command\": \"x\", \"access\": {\"groups\": [5]} }", "MCP-C-TYPE", "/access/groups/0", NULL },
};

TEST(what_is_wrong_is_named_with_place_and_remedy) {
        for (size_t i = 0; i < ELEMENTSOF(bad_table); i++) {
                _cleanup_problems_ ProblemList problems = {};
                _cleanup_definition_ _unused_ Definition *d = read_own(bad_table[i].text, &problems);
                const Problem *p = find_problem(&problems, bad_table[i].code, bad_table[i].pointer);

                if (!p || p->level != bad_table[i].level || p->line != 1 || p->column == 0)
                        show_and_fail(bad_table[i].text, &problems);
                if (bad_table[i].remedy)
                        ASSERT_CONTAINS(p->remedy, bad_table[i].remedy);
                ASSERT_STREQ(p->file, "test.json");
                ASSERT_TRUE(endswith(p->message, "."));
        }
}

TEST(a_wrong_entry_is_told_from_a_wrong_list) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ _unused_ Definition *d =
                        read_own("{ \"command\": \"x\", \"sessions\": {\"accept_env\": [5]} }", &problems);
        const Problem *p = find_problem(&problems, "MCP-C-TYPE", "/sessions/accept_env/0");

        ASSERT_TRUE(p);
        ASSERT_CONTAINS(p->message, "Every entry of \"accept_env\" must be a string");
}

TEST(all_problems_come_at_once) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d =
                        read_own("{ \"comand\": 1, \"args\": 2,\n \"limits\": {\"tasks\": 0, \"x\": 1},\n "
                                 "\"stderr\": \"\" }",
                                 &problems);

        ASSERT_NOT_NULL(d);
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-UNKNOWN-KEY", "/comand"));
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-TYPE", "/args"));
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-RANGE", "/limits/tasks"));
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-UNKNOWN-KEY", "/limits/x"));
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-VALUE", "/stderr"));
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-NO-COMMAND", ""));
        ASSERT_EQ(problems.n_items, 6);
        ASSERT_EQ(find_problem(&problems, "MCP-C-RANGE", "/limits/tasks")->line, 2);
}

TEST(a_strange_file_holds_nobody_up) {
        static const char entry[] = "\"a\",";
        _cleanup_free_ char *text = malloc(JSON_SIZE_MAX);
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d = NULL;
        char *end = text;

        ASSERT_NOT_NULL(text);
        end = stpcpy(end, "{ \"command\": \"x\", \"access\": { \"users\": [");
        while (end + 64 < text + JSON_SIZE_MAX)
                end = stpcpy(end, entry);
        (void) stpcpy(end, "\"a\"] } }");
        d = read_own(text, &problems);
        ASSERT_NOT_NULL(d);
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-MANY", "/access/users"));
        ASSERT_NULL(d->access.users);
}

TEST(a_mode_that_is_unknown_is_kept_as_written) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d = read_own(
                        "{ \"command\": \"x\", \"isolation\": {\"mode\": \"Sandbox\"} }", &problems);

        ASSERT_STREQ(d->isolation.mode.value, "Sandbox");
}

TEST(what_is_ignored_is_listed) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d =
                        read_own("{ \"command\": \"x\", \"trust\": 1, \"colour\": 2, \"isolation\": "
                                 "{\"image\": \"i\"} }",
                                 &problems);

        ASSERT_EQ(strv_length(d->ignored), 3);
        ASSERT_TRUE(strv_contains(d->ignored, "/trust"));
        ASSERT_TRUE(strv_contains(d->ignored, "/colour"));
        ASSERT_TRUE(strv_contains(d->ignored, "/isolation/image"));
        ASSERT_FALSE(problem_list_has_errors(&problems));
}

TEST(network_mode_none_agrees_with_blocked) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d =
                        read_own("{ \"command\": \"x\", \"isolation\": {\"network_mode\": \"none\", "
                                 "\"network\": \"blocked\"} }",
                                 &problems);

        ASSERT_NOT_NULL(d);
        ASSERT_FALSE(problem_list_has_errors(&problems));
}

TEST(an_inline_manifest_lives_as_long_as_its_definition) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d = read_own(
                        "{ \"command\": \"x\", \"isolation\": {\"manifest\": {\"version\": \"0.1.0\"}} }",
                        &problems);
        _cleanup_free_ char *pointer = json_pointer(json_get(d->isolation.manifest, "version"));

        ASSERT_STREQ(json_get(d->isolation.manifest, "version")->string, "0.1.0");
        ASSERT_STREQ(pointer, "/isolation/manifest/version");
}

TEST(a_secret_is_in_no_message) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_definition_ Definition *d =
                        read_own("{ \"command\": \"/bin/hunter2 x\", \"args\": [\"hunter2\", 5], \"env\": "
                                 "{\"A B\": \"hunter2\", "
                                 "\"C\": {\"x\": \"hunter2\"}}, \"credentials\": {\"T\": \"hunter2:x/\"} }",
                                 &problems);

        ASSERT_NOT_NULL(d);
        ASSERT_GE(problems.n_items, 4);
        for (size_t i = 0; i < problems.n_items; i++) {
                _cleanup_free_ char *s = problem_format(problems.items + i);

                ASSERT_LACKS(s, "hunter2");
        }
}

TEST(clients_bring_in_no_code) {
        static const char *const refused[] = { "PATH",
                                               "HOME",
                                               "LD_PRELOAD",
                                               "LD_AUDIT",
                                               "NODE_OPTIONS",
                                               "ENV",
                                               "BASH_ENV",
                                               "PYTHONPATH",
                                               "TMPDIR",
                                               "PYTHONSTARTUP",
                                               "NPM_CONFIG_PREFIX",
                                               "npm_config_x",
                                               "GIT_SSH_COMMAND",
                                               "DBUS_SESSION_BUS_ADDRESS",
                                               "SSH_AUTH_SOCK",
                                               "XDG_RUNTIME_DIR",
                                               "NOTIFY_SOCKET",
                                               "LISTEN_FDS" };
        static const char *const fine[] = { "LANG",   "LC_ALL",    "TZ",    "GITHUB_TOKEN",
                                            "EDITOR", "LDAP_HOST", "PATHS", "TERM" };

        for (size_t i = 0; i < ELEMENTSOF(refused); i++)
                if (!env_refusal(refused[i]))
                        test_fail(__FILE__, __LINE__, "%s", refused[i]);
        for (size_t i = 0; i < ELEMENTSOF(fine); i++)
                ASSERT_NULL(env_refusal(fine[i]));
}
