/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is made of clients' files: definitions, snippets for every client, and the files themselves, changed. */

#include "clients/definition-out.h"
#include "clients/export.h"
#include "clients/placeholder.h"
#include "clients/rewrite.h"
#include "clients/secret.h"
#include "clients/text-edit.h"
#include "config/definition-read.h"
#include "config/expand.h"
#include "test.h"

static ClientImport read_text(const char *text, Client client) {
        ClientImport import = {};
        _cleanup_strv_free_ char **taken = NULL;

        ASSERT_OK(client_import_parse(text, strlen(text), "/x/client.conf", client, NULL, &import));
        for (size_t i = 0; i < import.n_servers; i++)
                ASSERT_OK(client_server_find_secrets(import.servers + i, &taken));
        return import;
}

/* One server with everything that each client can say. */
static const struct {
        Client client;
        const char *text;
} files[] = {
        { CLIENT_CLAUDE_DESKTOP,
          "{ \"mcpServers\": { \"My notes\": { \"command\": \"uvx\", \"args\": [\"n\", \"${X}\"], "
          "\"env\": { \"A\": \"1\", \"API_TOKEN\": \"t0ps3cret\" } } } }" },
        { CLIENT_CLAUDE_CODE,
          "{ \"mcpServers\": { \"My notes\": { \"type\": \"stdio\", \"command\": \"uvx\", \"args\": [\"n\", "
          "\"$${X}\"], "
          "\"env\": { \"A\": \"${A:-1}\", \"API_TOKEN\": \"t0ps3cret\" } } } }" },
        { CLIENT_CURSOR,
          "{ \"mcpServers\": { \"My notes\": { \"command\": \"uvx\", \"args\": [\"n\"], \"envFile\": "
          "\"/e\", "
          "\"env\": { \"A\": \"${env:A}\", \"API_TOKEN\": \"t0ps3cret\" } } } }" },
        { CLIENT_VSCODE,
          "{ \"servers\": { \"My notes\": { \"command\": \"uvx\", \"args\": [\"n\", \"${userHome}\"], "
          "\"cwd\": \"/d\", "
          "\"env\": { \"A\": 1, \"B\": null, \"API_TOKEN\": \"t0ps3cret\" } }, } }" },
        { CLIENT_ZED,
          "{ \"context_servers\": { \"My notes\": { \"command\": { \"path\": \"uvx\", \"args\": [\"n\"], "
          "\"env\": { \"A\": \"1\", \"API_TOKEN\": \"t0ps3cret\" } } } } }" },
        { CLIENT_WINDSURF,
          "{ \"mcpServers\": { \"My notes\": { \"command\": \"uvx\", \"args\": [\"n\"], \"disabled\": true, "
          "\"env\": { \"A\": \"${env:A}\", \"API_TOKEN\": \"t0ps3cret\" } } } }" },
        { CLIENT_GEMINI,
          "{ \"mcpServers\": { \"My notes\": { \"command\": \"uvx\", \"args\": [\"$N\"], \"cwd\": \"/d\", "
          "\"env\": { \"A\": \"1\", \"API_TOKEN\": \"t0ps3cret\" } } } }" },
#ifdef HAVE_TOML
        { CLIENT_CODEX,
          "[mcp_servers.\"My notes\"]\ncommand = \"uvx\"\nargs = [\"n\"]\nstartup_timeout_ms = 1500\n"
          "env = { A = \"1\", API_TOKEN = \"t0ps3cret\" }\n" },
#endif
        { CLIENT_MCPPROXY,
          "{ \"mcpServers\": [ { \"name\": \"My notes\", \"command\": \"uvx\", \"args\": [\"n\"], "
          "\"working_dir\": \"/d\", "
          "\"env\": { \"A\": \"1\", \"API_TOKEN\": \"t0ps3cret\" }, \"isolation\": { \"mode\": \"none\" } } "
          "] }" },
};

TEST(round_trip_through_every_client) {
        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                Client client = files[i].client;
                _cleanup_client_import_ ClientImport import = read_text(files[i].text, client), again = {};
                _cleanup_definition_text_ DefinitionText t = {};
                _cleanup_definition_ Definition *d = NULL;
                _cleanup_problems_ ProblemList problems = {};
                _cleanup_free_ char *snippet = NULL;
                ExportedServer exported = {};

                ASSERT_EQ(import.n_servers, 1);
                ASSERT_OK(definition_text_make(import.servers, false, "x", &t, &problems));
                ASSERT_LACKS(t.text, "t0ps3cret");
                ASSERT_OK(definition_read_text(t.text, t.size, "My notes", "x", &d, &problems));
                ASSERT_STREQ(d->command.value, "uvx");
                ASSERT_EQ(d->args.n_items, strv_length(import.servers[0].args));
                ASSERT_EQ(d->enabled, client != CLIENT_WINDSURF);
                exported = (ExportedServer){ d->name, d->start_timeout_usec };
                ASSERT_OK(client_export(client, RUNTIME_SCOPE_USER, &exported, 1, &snippet));
                again = read_text(snippet, client);
                ASSERT_FALSE(problem_list_has_errors(&again.problems));
                ASSERT_EQ(again.n_servers, 1);
                ASSERT_STREQ(again.servers[0].name, "My notes");
                ASSERT_EQ(again.servers[0].fate, SERVER_ALREADY);
                ASSERT_STREQ(again.servers[0].args[0], "--user");
                ASSERT_STREQ(again.servers[0].args[1], "My notes");
        }
}

TEST(registry_has_no_shape_to_export_to) {
        ExportedServer s = { "x", USEC_PER_SEC };
        char *text = NULL;

        ASSERT_ERROR(client_export(CLIENT_REGISTRY, RUNTIME_SCOPE_USER, &s, 1, &text), EOPNOTSUPP);
        ASSERT_NULL(text);
}

TEST(names_that_need_quotes) {
        static const char *const names[] = { "a\"b", "a\\b", "-x", "ä ö", "a.b", "tab\there", NULL };

        for (const char *const *name = names; *name; name++)
                for (Client client = 0; client < CLIENT_REGISTRY; client++) {
                        ExportedServer s = { *name, USEC_PER_SEC };
                        _cleanup_client_import_ ClientImport again = {};
                        _cleanup_free_ char *text = NULL;

#ifndef HAVE_TOML
                        if (client == CLIENT_CODEX)
                                continue;
#endif
                        ASSERT_OK(client_export(client, RUNTIME_SCOPE_SYSTEM, &s, 1, &text));
                        again = read_text(text, client);
                        ASSERT_EQ(again.n_servers, 1);
                        ASSERT_STREQ(again.servers[0].name, *name);
                }
}

TEST(secrets_in_definitions) {
        _cleanup_client_import_ ClientImport import = read_text(files[0].text, files[0].client);
        _cleanup_definition_text_ DefinitionText hidden = {}, shown = {};
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_strv_free_ char **lines = NULL;
        _cleanup_free_ char *all = NULL;

        ASSERT_OK(definition_text_make(import.servers, false, "x", &hidden, &problems));
        ASSERT_OK(definition_text_make(import.servers, true, "x", &shown, &problems));
        ASSERT_CONTAINS(shown.text, "t0ps3cret");
        ASSERT_TRUE(shown.holds_values);
        ASSERT_CONTAINS(hidden.text, "\"credentials\"");
        ASSERT_CONTAINS(hidden.text, "\"API_TOKEN\": \"mcp.My_x20notes.API_TOKEN\"");
        ASSERT_LACKS(hidden.text, "t0ps3cret");
        for (RuntimeScope scope = 0; scope < _RUNTIME_SCOPE_MAX; scope++) {
                ASSERT_OK(variable_instructions(scope, (char *[]){ import.servers[0].name, NULL }, &lines));
                ASSERT_OK(strv_consume(&lines, credential_instruction(scope, import.servers, "API_TOKEN")));
        }
        all = strv_join(lines, "\n");
        ASSERT_CONTAINS(all, "environment.d");
        ASSERT_CONTAINS(all, "mcp-server@My\\x20notes.service");
        ASSERT_CONTAINS(all, "--name=mcp.My_x20notes.API_TOKEN");
        ASSERT_LACKS(all, "t0ps3cret");
}

/* What a client passes as it is arrives so at the server. */
TEST(text_that_only_looks_like_a_reference) {
        static const char *const texts[] = { "${X}", "a${X:-y}b", "${env:X}", "${input:t}", "${keyring:k}",
                                             "$X",   "${x%y}",    "${${X}}",  "${",         "$${X}" };
        static char *env[] = { (char *) "X=expanded", NULL };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_problems_ ProblemList problems = {};
                _cleanup_free_ char *safe = NULL, *out = NULL;
                const Definition d = { .file = (char *) "x", .dialect = DIALECT_OWN };
                Text t = {};

                ASSERT_OK(placeholder_protect(texts[i], &safe));
                t.value = safe;
                ASSERT_OK(text_expand(&t, &d, env, EXPAND_TEXT, &out, &problems));
                ASSERT_STREQ(out, texts[i]);
        }
}

TEST(what_check_would_refuse_is_not_written) {
        _cleanup_client_import_ ClientImport import = read_text(
                        "{ \"mcpServers\": {\n \"s\": { \"command\": \"npx\" } } }", CLIENT_CLAUDE_DESKTOP);
        _cleanup_definition_text_ DefinitionText t = {};
        _cleanup_problems_ ProblemList problems = {};

        ASSERT_ERROR(definition_text_make(import.servers, false, "client.json", &t, &problems), EINVAL);
        ASSERT_NULL(t.text);
        ASSERT_TRUE(problem_list_has_errors(&problems));
        /* The place is the client's. */
        ASSERT_EQ(problems.items[0].line, 2);
        ASSERT_STREQ(problems.items[0].pointer, "/mcpServers/s");
}

TEST(file_names) {
        static const struct {
                const char *server, *file;
        } table[] = {
                { "notes", "notes.json" },
                { "City Weather", "City Weather.json" },
                { "a/b", "a\\x2fb.json" },
                { ".hidden", "\\x2ehidden.json" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *file = definition_file_name(table[i].server);

                ASSERT_STREQ(file, table[i].file);
        }
}

static void check_rewrite(Client client, const char *before, const char *after) {
        _cleanup_client_import_ ClientImport import = read_text(before, client);
        const ClientServer *servers[8];
        _cleanup_free_ char *out = NULL;
        size_t n = 0;

        for (size_t i = 0; i < import.n_servers; i++)
                if (import.servers[i].fate == SERVER_OURS)
                        servers[n++] = import.servers + i;
        ASSERT_OK(client_rewrite(&import, NULL, RUNTIME_SCOPE_USER, servers, n, &out));
        ASSERT_STREQ(out, after);
}

TEST(rewrite_keeps_everything_else) {
        check_rewrite(CLIENT_CURSOR,
                      "\xef\xbb\xbf{ // ä \"command\"\n  \"x\": [1,2 , 3],\n  \"mcpServers\": {\n    \"a\": "
                      "{\n"
                      "      /* why */ \"command\": \"npx\", // it\n      \"args\": [\"-y\", \"]\", // }\n "
                      "\"a\"],\n"
                      "      \"env\": { \"K\": \"}\" },\n      \"cwd\": \"/d\"\n    },\n"
                      "    \"r\": { \"url\": \"https://x\", },\n  },\n}\n",
                      "\xef\xbb\xbf{ // ä \"command\"\n  \"x\": [1,2 , 3],\n  \"mcpServers\": {\n    \"a\": "
                      "{\n"
                      "      /* why */ \"command\": \"mcp-connect\", // it\n      \"args\": [\"--user\", "
                      "\"a\"]\n"
                      "    },\n"
                      "    \"r\": { \"url\": \"https://x\", },\n  },\n}\n");
}

TEST(rewrite_of_one_line) {
        check_rewrite(CLIENT_CLAUDE_DESKTOP,
                      "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"env\":{\"A\":\"1\"}},\"b\":{\"env\":{},"
                      "\"command\":\"y\"}},\"z\":1}",
                      "{\"mcpServers\":{\"a\":{\"command\":\"mcp-connect\", \"args\": [\"--user\", \"a\"]},"
                      "\"b\":{\"command\":\"mcp-connect\", \"args\": [\"--user\", \"b\"]}},\"z\":1}");
}

TEST(rewrite_of_zeds_generations) {
        check_rewrite(CLIENT_ZED,
                      "{ \"context_servers\": {\n\"o\": { \"command\": { \"path\": \"x\", \"args\": [], "
                      "\"env\": {} }, \"settings\": {} },\n"
                      "\"n\": { \"command\": \"x\", \"args\": [\"1\"], \"timeout\": 9 } } }",
                      "{ \"context_servers\": {\n\"o\": { \"command\": { \"path\": \"mcp-connect\", "
                      "\"args\": [\"--user\", \"o\"] }, "
                      "\"settings\": {} },\n"
                      "\"n\": { \"command\": \"mcp-connect\", \"args\": [\"--user\", \"n\"], \"timeout\": 9 "
                      "} } }");
}

TEST(rewrite_of_mcpproxy) {
        check_rewrite(CLIENT_MCPPROXY,
                      "{ \"mcpServers\": [ { \"name\": \"a\", \"enabled\": true, \"command\": \"x\", "
                      "\"isolation\": { \"mode\": \"docker\" } } ] }",
                      "{ \"mcpServers\": [ { \"name\": \"a\", \"enabled\": true, \"isolation\": { "
                      "\"enabled\": false, "
                      "\"mode\": \"none\" }, \"command\": \"mcp-connect\", \"args\": [\"--user\", \"a\"] } "
                      "] }");
}

#ifdef HAVE_TOML
TEST(rewrite_of_toml) {
        check_rewrite(CLIENT_CODEX,
                      "# ä\nmodel = \"o3\"   # best\n\n[mcp_servers.a]\ncommand = \"npx\" # run\nargs = "
                      "[\"-y\",\n  \"a\"]\ncwd = \"/d\"\n"
                      "enabled = true\n[mcp_servers.a.env]\nK = \"\"\"\nx\n\"\"\"\n\n[mcp_servers]\nb = { "
                      "env = { K = \"1\" }, command = \"x\" }\n"
                      "c.command = \"x\"\nc.env.K = \"1\"\n\n[tools]\nweb = true\n",
                      "# ä\nmodel = \"o3\"   # best\n\n[mcp_servers.a]\ncommand = \"mcp-connect\" # "
                      "run\nargs = [\"--user\", \"a\"]\n"
                      "enabled = true\n\n[mcp_servers]\nb = { command = \"mcp-connect\", args = "
                      "[\"--user\", \"b\"] }\n"
                      "c.command = \"mcp-connect\"\nc.args = [\"--user\", \"c\"]\n\n[tools]\nweb = true\n");
}
#endif

TEST(rewrite_of_a_single_entry_is_refused) {
        static const char text[] = "{ \"command\": \"x\" }";
        const ImportContext context = { .name = "s" };
        _cleanup_client_import_ ClientImport import = {};
        const ClientServer *s;
        char *out = NULL;

        ASSERT_OK(client_import_parse(text, strlen(text), "/x", CLIENT_CLAUDE_CODE, &context, &import));
        s = import.servers;
        ASSERT_ERROR(client_rewrite(&import, &context, RUNTIME_SCOPE_USER, &s, 1, &out), EOPNOTSUPP);
}

TEST(edits) {
        _cleanup_text_edits_ TextEdits e = {}, overlap = {};
        _cleanup_free_ char *out = NULL, *none = NULL;
        size_t at;

        ASSERT_OK(text_edit_add(&e, 3, 4, NULL));
        ASSERT_OK(text_edit_add(&e, 0, 1, "X"));
        ASSERT_OK(text_edit_add(&e, 3, 3, "Y"));
        ASSERT_OK(text_edits_apply(&e, "abcdef", 6, &out));
        ASSERT_STREQ(out, "XbcYef");
        ASSERT_OK(text_edit_add(&overlap, 0, 3, NULL));
        ASSERT_OK(text_edit_add(&overlap, 2, 4, NULL));
        ASSERT_ERROR(text_edits_apply(&overlap, "abcdef", 6, &none), EINVAL);
        ASSERT_OK(text_offset("a\nä€x", 8, 2, 3, &at));
        ASSERT_EQ(at, 7);
        ASSERT_ERROR(text_offset("a\nb", 3, 3, 1, &at), EINVAL);
        ASSERT_ERROR(text_offset("a\nb", 3, 1, 3, &at), EINVAL);
}
