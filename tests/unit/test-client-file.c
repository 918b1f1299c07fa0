/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whole files of clients, as they are. */

#include "config/client-file.h"
#include "test.h"

typedef struct Read {
        ClientFile file;
        Definition *d;
        ProblemList problems; /* of the entry that was asked for */
} Read;

static void read_done(Read *r) {
        client_file_done(&r->file);
        definition_free(r->d);
        problem_list_done(&r->problems);
}
#define _cleanup_read_ _cleanup_(read_done)

static Read read_client(const char *text, const char *name) {
        Read r = {};
        const ClientEntry *e;

        ASSERT_OK(client_file_parse(text, strlen(text), "mcp.json", &r.file));
        e = name ? client_file_find(&r.file, name) : NULL;
        if (e)
                ASSERT_OK(client_entry_read(&r.file, e, &r.d, &r.problems));
        else if (name)
                test_fail(__FILE__, __LINE__, "no entry \"%s\"", name);
        return r;
}

static const Problem *find_problem(const ProblemList *problems, const char *code) {
        for (size_t i = 0; i < problems->n_items; i++)
                if (streq(problems->items[i].code, code))
                        return problems->items + i;
        return NULL;
}

TEST(mcpproxy_array) {
        _cleanup_read_ Read r = read_client(
                        "{ \"listen\": \":8080\", \"docker_isolation\": { \"mode\": \"sandbox\", "
                        "\"enabled\": true },\n"
                        "  \"mcpServers\": [ { \"name\": \"notes\", \"protocol\": \"stdio\", \"command\": "
                        "\"uvx\",\n"
                        "    \"args\": [\"notes-mcp==1.4.2\"], \"working_dir\": \"\", \"quarantined\": "
                        "null,\n"
                        "    \"env\": { \"T\": \"${env:T}\" }, \"init_timeout\": \"90s\",\n"
                        "    \"isolation\": { \"mode\": \"\", \"enabled\": null, \"extra_args\": [] } } ] }",
                        "notes");
        _cleanup_free_ char *pointer = NULL;

        ASSERT_EQ(r.file.dialect, DIALECT_MCPPROXY);
        ASSERT_TRUE(r.file.global.present);
        ASSERT_STREQ(r.file.global.mode, "sandbox");
        ASSERT_EQ(r.file.global.enabled, TRISTATE_YES);
        ASSERT_STREQ(r.file.global.file, "mcp.json");
        ASSERT_EQ(r.d->dialect, DIALECT_MCPPROXY);
        ASSERT_EQ(r.d->start_timeout_usec, 90 * USEC_PER_SEC);
        ASSERT_NULL(r.d->working_dir.value);
        ASSERT_NULL(r.d->isolation.mode.value);
        pointer = json_pointer(r.d->args.items[0].at);
        ASSERT_STREQ(pointer, "/mcpServers/0/args/0");
        ASSERT_EQ(r.d->args.items[0].at->line, 3);
        /* Enabled, and told so: MCPProxy itself would not have. */
        ASSERT_TRUE(r.d->enabled);
        ASSERT_EQ(find_problem(&r.problems, "MCP-C-ENABLED")->level, PROBLEM_NOTE);
        ASSERT_TRUE(strv_contains(r.d->ignored, "/mcpServers/0/isolation/extra_args"));
        ASSERT_FALSE(problem_list_has_errors(&r.problems));
}

TEST(mcpproxy_remote_and_disabled) {
        static const char text[] = "{ \"mcpServers\": [ { \"name\": \"a\", \"url\": "
                                   "\"https://example.org\", \"enabled\": false },"
                                   " { \"name\": \"b\", \"command\": \"x\", \"protocol\": "
                                   "\"streamable-http\", \"enabled\": true },"
                                   " { \"name\": \"c\", \"command\": \"x\", \"url\": "
                                   "\"https://example.org\", \"enabled\": true } ] }";
        _cleanup_read_ Read a = read_client(text, "a"), b = read_client(text, "b"),
                            c = read_client(text, "c");

        ASSERT_TRUE(a.d->remote);
        ASSERT_FALSE(a.d->enabled);
        ASSERT_EQ(find_problem(&a.problems, "MCP-C-REMOTE")->level, PROBLEM_NOTE);
        ASSERT_FALSE(problem_list_has_errors(&a.problems));
        ASSERT_TRUE(b.d->remote);
        ASSERT_FALSE(c.d->remote); /* it has a command, and no word against it */
}

TEST(mcpproxy_needs_names) {
        _cleanup_read_ Read r = read_client(
                        "{ \"mcpServers\": [ { \"command\": \"x\" }, 5, { \"name\": \"\" },"
                        " { \"name\": \"q\", \"command\": \"x\" }, { \"name\": \"q\", \"command\": \"y\" },"
                        " { \"name\": \"ok\", \"command\": \"z\" } ] }",
                        "ok");
        _cleanup_definition_ Definition *q = NULL;
        _cleanup_problems_ ProblemList problems = {};

        ASSERT_EQ(r.file.n_entries, 3);
        for (size_t i = 0; i < r.file.n_entries; i++)
                ASSERT_EQ(r.file.entries[i].twice, streq(r.file.entries[i].name, "q"));
        ASSERT_NOT_NULL(find_problem(&r.file.problems, "MCP-C-NAME"));
        ASSERT_NOT_NULL(find_problem(&r.file.problems, "MCP-C-COLLISION"));
        ASSERT_FALSE(problem_list_has_errors(&r.problems));
        ASSERT_OK(client_entry_read(&r.file, client_file_find(&r.file, "q"), &q, &problems));
        ASSERT_NOT_NULL(find_problem(&problems, "MCP-C-COLLISION"));
        ASSERT_TRUE(problem_list_has_errors(&problems));
}

TEST(claude_desktop_object) {
        static const char text[] = "{ \"globalShortcut\": \"\", \"mcpServers\": { \"City Weather\": { "
                                   "\"command\": \"uvx\","
                                   " \"args\": [\"weather-mcp\"], \"env\": { \"UNITS\": \"metric\" } }, "
                                   "\"off\": { \"command\": \"x\","
                                   " \"disabled\": true } } }";
        _cleanup_read_ Read r = read_client(text, "City Weather"), off = read_client(text, "off");

        ASSERT_EQ(r.file.dialect, DIALECT_CLIENT);
        ASSERT_FALSE(r.file.global.present);
        ASSERT_STREQ(r.d->name, "City Weather");
        ASSERT_STREQ(r.d->instance, "City\\x20Weather");
        ASSERT_TRUE(r.d->enabled);
        ASSERT_EQ(r.problems.n_items, 0);
        ASSERT_EQ(r.file.problems.n_items, 0);
        ASSERT_FALSE(off.d->enabled);
        ASSERT_EQ(off.problems.n_items, 0);
}

TEST(other_clients_keys) {
        _cleanup_read_ Read r = read_client(
                        "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"timeout\": 60000, \"trust\": "
                        "true,"
                        " \"alwaysAllow\": [], \"includeTools\": [\"t\"], \"cwd\": \"${workspaceFolder}\","
                        " \"transportType\": \"stdio\", \"env\": null } } }",
                        "a");

        ASSERT_FALSE(problem_list_has_errors(&r.problems));
        ASSERT_EQ(strv_length(r.d->ignored), 4);
        ASSERT_STREQ(r.d->working_dir.value, "${workspaceFolder}");
        ASSERT_EQ(r.d->start_timeout_usec, 60 * USEC_PER_SEC); /* timeout is a tool call's */
        ASSERT_EQ(r.d->n_env, 0);
}

TEST(an_unknown_key_inside_isolation_is_an_error_there_too) {
        _cleanup_read_ Read r =
                        read_client("{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"isolation\": { "
                                    "\"netwrk\": \"blocked\" } } } }",
                                    "a");

        ASSERT_TRUE(problem_list_has_errors(&r.problems));
}

TEST(vscode) {
        _cleanup_read_ Read r =
                        read_client("{\n // asked once\n \"inputs\": [ { \"id\": \"t\" } ],\n \"servers\": "
                                    "{ \"tracker\": {\n"
                                    "  \"type\": \"stdio\", \"command\": \"node\", \"args\": [\"t.js\"],\n"
                                    "  \"env\": { \"TOKEN\": \"${input:t}\", \"DEBUG\": null, \"PORT\": "
                                    "8123, \"RATIO\": 0.1 },\n"
                                    "  \"envFile\": \"${workspaceFolder}/.env\", \"sandboxEnabled\": true, "
                                    "\"dev\": {} }, }, }",
                                    "tracker");
        _cleanup_free_ char *pointer = NULL;

        ASSERT_EQ(r.file.dialect, DIALECT_VSCODE);
        ASSERT_EQ(r.d->n_env, 4);
        ASSERT_STREQ(r.d->env[0].value.value, "${input:t}");
        ASSERT_NULL(r.d->env[1].value.value);
        pointer = json_pointer(r.d->env[1].value.at);
        ASSERT_STREQ(pointer, "/servers/tracker/env/DEBUG");
        ASSERT_STREQ(r.d->env[2].value.value, "8123");
        ASSERT_STREQ(r.d->env[3].value.value, "0.1");
        ASSERT_STREQ(r.d->env_file.value, "${workspaceFolder}/.env");
        ASSERT_FALSE(problem_list_has_errors(&r.problems));
        ASSERT_EQ(find_problem(&r.problems, "MCP-C-IGNORED")->level, PROBLEM_WARNING); /* sandboxEnabled */
}

TEST(only_vscode_has_numbers_in_env) {
        _cleanup_read_ Read r = read_client(
                        "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"env\": { \"PORT\": 8123 } } } }",
                        "a");

        ASSERT_NOT_NULL(find_problem(&r.problems, "MCP-C-TYPE"));
}

TEST(nothing_is_a_file_without_servers) {
        static const char *const texts[] = {
                "", " \n", "{}", "{ \"mcpServers\": null }", "{ \"mcpServers\": [] }", "{ \"servers\": {} }"
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_read_ Read r = read_client(texts[i], NULL);

                ASSERT_EQ(r.file.n_entries, 0);
                ASSERT_EQ(r.file.problems.n_items, 0);
        }
}

TEST(broken_files_say_so) {
        static const struct {
                const char *text, *code;
        } table[] = {
                { "{", "MCP-C-JSON" },
                { "[]", "MCP-C-TYPE" },
                { "{ \"mcpServers\": 5 }", "MCP-C-TYPE" },
                { "{ \"servers\": [] }", "MCP-C-TYPE" },
                { "{ \"mcpServers\": {}, \"servers\": {} }", "MCP-C-TWICE" },
                { "{ \"mcpServer\": {} }", "MCP-C-UNKNOWN-KEY" },
                { "{ \"docker_isolatoin\": {} }", "MCP-C-UNKNOWN-KEY" },
                { "{ \"context_servers\": {} }", "MCP-C-SHAPE" },
                { "{ \"mcp\": { \"servers\": {} } }", "MCP-C-SHAPE" },
                { "{ \"command\": \"x\" }", "MCP-C-SHAPE" },
                { "{ \"theme\": \"dark\" }", "MCP-C-SHAPE" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_read_ Read r = read_client(table[i].text, NULL);

                if (!find_problem(&r.file.problems, table[i].code))
                        test_fail(__FILE__, __LINE__, "%s: no %s", table[i].text, table[i].code);
        }
}

TEST(the_global_block_is_checked) {
        static const struct {
                const char *block, *code;
                ProblemLevel level;
        } table[] = {
                { "5", "MCP-C-TYPE", PROBLEM_ERROR },
                { "{ \"mode\": \"Sandbox\" }", "MCP-C-VALUE", PROBLEM_ERROR },
                { "{ \"mode\": 1 }", "MCP-C-TYPE", PROBLEM_ERROR },
                { "{ \"enabled\": \"yes\" }", "MCP-C-TYPE", PROBLEM_ERROR },
                { "{ \"moed\": \"none\" }", "MCP-C-UNKNOWN-KEY", PROBLEM_ERROR },
                { "{ \"memory_limit\": \"1g\" }", "MCP-C-IGNORED", PROBLEM_WARNING },
                { "{ \"registry\": \"docker.io\" }", "MCP-C-IGNORED", PROBLEM_NOTE },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *text = strformat("{ \"docker_isolation\": %s }", table[i].block);
                _cleanup_read_ Read r = read_client(text, NULL);
                const Problem *p = find_problem(&r.file.global_problems, table[i].code);

                if (!p || p->level != table[i].level)
                        test_fail(__FILE__, __LINE__, "%s", text);
        }
}

TEST(an_absent_block_is_not_an_empty_one) {
        _cleanup_read_ Read absent = read_client("{}", NULL),
                            empty = read_client("{ \"docker_isolation\": {} }", NULL),
                            null = read_client("{ \"docker_isolation\": null }", NULL);

        ASSERT_FALSE(absent.file.global.present);
        ASSERT_TRUE(empty.file.global.present);
        ASSERT_EQ(empty.file.global.enabled, TRISTATE_UNSET);
        ASSERT_NULL(empty.file.global.mode);
        ASSERT_FALSE(null.file.global.present);
}
