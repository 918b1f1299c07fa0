/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading clients' files: every shape, every dialect of placeholders, secrets, and what is wrong. */

#include "clients/client-server.h"
#include "clients/placeholder.h"
#include "clients/secret.h"
#include "test.h"

static const ImportContext project = { .workspace = "/srv/app" };

static ClientImport read_text(const char *text, Client client, const ImportContext *context) {
        ClientImport import = {};
        _cleanup_strv_free_ char **taken = NULL;

        ASSERT_OK(client_import_parse(text, strlen(text), "/x/client.conf", client, context, &import));
        for (size_t i = 0; i < import.n_servers; i++)
                ASSERT_OK(client_server_find_secrets(import.servers + i, &taken));
        return import;
}

static ClientServer *find(ClientImport *import, const char *name) {
        for (size_t i = 0; i < import->n_servers; i++)
                if (streq(import->servers[i].name, name))
                        return import->servers + i;
        test_fail(__FILE__, __LINE__, "no server \"%s\"", name);
}

static const ServerVariable *find_env(const ClientServer *s, const char *name) {
        for (size_t i = 0; i < s->n_env; i++)
                if (streq(s->env[i].name, name))
                        return s->env + i;
        test_fail(__FILE__, __LINE__, "no variable %s", name);
}

static const ServerNeed *find_need(const ClientServer *s, const char *variable) {
        for (size_t i = 0; i < s->n_needs; i++)
                if (streq(s->needs[i].variable, variable))
                        return s->needs + i;
        return NULL;
}

static const Problem *find_problem(const ProblemList *problems, const char *code) {
        for (size_t i = 0; i < problems->n_items; i++)
                if (streq(problems->items[i].code, code))
                        return problems->items + i;
        return NULL;
}

static void assert_args(const ClientServer *s, const char *joined) {
        _cleanup_free_ char *all = strv_join(s->args, " ");

        ASSERT_STREQ(all ?: "", joined);
}

TEST(claude_desktop) {
        _cleanup_client_import_ ClientImport i =
                        read_text("{ \"globalShortcut\": \"\", \"mcpServers\": { \"City Weather\": { "
                                  "\"command\": \"uvx\","
                                  " \"args\": [\"weather-mcp\", \"${HOME}/x\", \"$HOME\"], \"env\": { "
                                  "\"UNITS\": \"metric\" } } } }",
                                  _CLIENT_INVALID,
                                  NULL);
        ClientServer *s = find(&i, "City Weather");

        ASSERT_EQ(i.client, CLIENT_CLAUDE_DESKTOP);
        ASSERT_EQ(s->fate, SERVER_OURS);
        ASSERT_STREQ(s->command, "uvx");
        /* No placeholders in this client: the server gets the text as it is. */
        assert_args(s, "weather-mcp ${MCP_DOLLAR:-$}{HOME}/x $HOME");
        ASSERT_STREQ(find_env(s, "UNITS")->value, "metric");
        ASSERT_FALSE(find_env(s, "UNITS")->secret);
        ASSERT_TRUE(s->enabled);
        ASSERT_NULL(s->cwd);
}

TEST(claude_code) {
        _cleanup_client_import_ ClientImport i = read_text(
                        "{ \"mcpServers\": { \"ledger\": { \"type\": \"stdio\", \"timeout\": 5000,\n"
                        "\"command\": \"${TOOLS_DIR:-/opt/tools}/bin/ledger-mcp\",\n"
                        "\"args\": [\"--db\", \"${LEDGER_DB}\", \"${var%x}\"], \"env\": { \"LEDGER_KEY\": "
                        "\"${LEDGER_KEY}\" } },\n"
                        "\"web\": { \"type\": \"http\", \"url\": \"https://x\" } },\n"
                        "\"projects\": { \"/home/u/p\": { \"mcpServers\": { \"local\": { \"command\": "
                        "\"./run\" },\n"
                        "\"ledger\": { \"command\": \"other\" } } } } }",
                        _CLIENT_INVALID,
                        NULL);
        ClientServer *s = find(&i, "ledger"), *local = find(&i, "local");

        ASSERT_EQ(i.client, CLIENT_CLAUDE_CODE);
        ASSERT_STREQ(s->command, "${TOOLS_DIR:-/opt/tools}/bin/ledger-mcp");
        assert_args(s, "--db ${LEDGER_DB} ${var%x}");
        ASSERT_NOT_NULL(find_need(s, "LEDGER_DB"));
        ASSERT_TRUE(find_need(s, "LEDGER_KEY")->secret);
        ASSERT_NULL(find_need(s, "TOOLS_DIR"));
        ASSERT_FALSE(find_env(s, "LEDGER_KEY")->secret);
        ASSERT_EQ(s->call_timeout_usec, 5 * USEC_PER_SEC);
        ASSERT_EQ(find(&i, "web")->fate, SERVER_REMOTE);
        ASSERT_STREQ(local->command, "/home/u/p/run");
        ASSERT_STREQ(local->cwd, "/home/u/p");
        ASSERT_STREQ(local->origin, "project /home/u/p");
        /* The same name in two scopes. */
        ASSERT_EQ(i.servers[i.n_servers - 1].fate, SERVER_BROKEN);
        ASSERT_NOT_NULL(find_problem(&i.servers[i.n_servers - 1].problems, "MCP-I-COLLISION"));
}

TEST(vscode) {
        static const char text[] =
                        "{\n// asked once\n\"inputs\": [ { \"type\": \"promptString\", \"id\": "
                        "\"issueToken\", \"password\": true },\n"
                        " { \"type\": \"promptString\", \"id\": \"region\", \"default\": \"eu\" } ],\n"
                        "\"servers\": { \"tracker\": { \"type\": \"stdio\", \"command\": \"node\",\n"
                        "\"args\": [\"${workspaceFolder}/tools/tracker.js\", \"${input:region}\", "
                        "\"${userHome}\", \"${config:a.b}\"],\n"
                        "\"cwd\": \"${workspaceFolder}\", \"envFile\": \"${workspaceFolder}/.env\",\n"
                        "\"env\": { \"TRACKER_TOKEN\": \"${input:issueToken}\", \"DEBUG\": null, \"PORT\": "
                        "8123 },\n"
                        "\"sandboxEnabled\": true, \"sandbox\": { \"filesystem\": { \"allowWrite\": "
                        "[\"/srv/tracker\"], "
                        "\"denyRead\": [\"/etc\"] } }, \"dev\": { \"watch\": \"x\" } }, } }";
        _cleanup_client_import_ ClientImport i = read_text(text, _CLIENT_INVALID, &project),
                                             bare = read_text(text, CLIENT_VSCODE, NULL);
        ClientServer *s = find(&i, "tracker"), *b = find(&bare, "tracker");

        ASSERT_EQ(i.client, CLIENT_VSCODE);
        assert_args(s, "/srv/app/tools/tracker.js eu ${HOME} ${CONFIG_A_B}");
        ASSERT_STREQ(s->cwd, "/srv/app");
        ASSERT_STREQ(s->env_file, "/srv/app/.env");
        ASSERT_STREQ(find_env(s, "TRACKER_TOKEN")->value, "${ISSUE_TOKEN}");
        ASSERT_TRUE(find_need(s, "ISSUE_TOKEN")->secret);
        ASSERT_NULL(find_env(s, "DEBUG")->value);
        ASSERT_STREQ(find_env(s, "PORT")->value, "8123");
        ASSERT_STREQ(s->write[0], "/srv/tracker");
        ASSERT_CONTAINS(find_problem(&s->problems, "MCP-I-LOST")->message, "denyRead");
        ASSERT_NOT_NULL(find_need(s, "CONFIG_A_B"));
        ASSERT_NULL(find_need(s, "HOME"));
        /* Without a project the folder has to be said. */
        ASSERT_STREQ(b->cwd, "${WORKSPACE_FOLDER}");
        ASSERT_NOT_NULL(find_need(b, "WORKSPACE_FOLDER"));
}

TEST(cursor_windsurf_gemini) {
        _cleanup_client_import_ ClientImport c = read_text(
                        "{ \"mcpServers\": { \"mail\": { \"command\": \"${workspaceFolder}/bin/mail\", "
                        "\"args\": [\"${pathSeparator}${/}\", \"${X}\"],"
                        " \"env\": { \"MAIL_PASS\": \"${env:MAIL_PASS}\" }, \"envFile\": \".env.mail\" } } "
                        "}",
                        _CLIENT_INVALID,
                        &project);
        _cleanup_client_import_ ClientImport w =
                        read_text("{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"disabled\": true, "
                                  "\"args\": [\"${env:A}${B}\"] },"
                                  " \"b\": { \"serverUrl\": \"https://x\" } } }",
                                  _CLIENT_INVALID,
                                  NULL);
        _cleanup_client_import_ ClientImport g =
                        read_text("{ \"theme\": 1, \"mcpServers\": { \"a\": { \"command\": \"x\", \"cwd\": "
                                  "\"/d\", \"timeout\": 1500, \"trust\": true,"
                                  " \"args\": [\"$A/$B_1 $ $1 ${C} ${D:-d}\"] }, \"b\": { \"httpUrl\": "
                                  "\"https://x\" } } }",
                                  _CLIENT_INVALID,
                                  NULL);

        ASSERT_EQ(c.client, CLIENT_CURSOR);
        ASSERT_STREQ(find(&c, "mail")->command, "/srv/app/bin/mail");
        ASSERT_STREQ(find(&c, "mail")->env_file, "/srv/app/.env.mail");
        assert_args(find(&c, "mail"), "// ${X}");
        ASSERT_NOT_NULL(find_need(find(&c, "mail"), "X"));
        ASSERT_STREQ(find_env(find(&c, "mail"), "MAIL_PASS")->value, "${MAIL_PASS}");
        ASSERT_EQ(w.client, CLIENT_WINDSURF);
        assert_args(find(&w, "a"), "${A}${B}");
        ASSERT_FALSE(find(&w, "a")->enabled);
        ASSERT_EQ(find(&w, "b")->fate, SERVER_REMOTE);
        ASSERT_EQ(g.client, CLIENT_GEMINI);
        assert_args(find(&g, "a"), "${A}/${B_1} $ $1 ${C} ${D:-d}");
        ASSERT_EQ(find(&g, "a")->call_timeout_usec, 1500000);
        ASSERT_EQ(find(&g, "b")->fate, SERVER_REMOTE);
}

TEST(zed_generations) {
        _cleanup_client_import_ ClientImport i =
                        read_text("{ // settings\n\"context_servers\": {\n"
                                  "\"notes\": { \"command\": \"/opt/notes\", \"args\": [], \"env\": null, "
                                  "\"timeout\": 120 },\n"
                                  "\"tagged\": { \"source\": \"custom\", \"command\": \"x\", \"args\": "
                                  "[\"y\"], \"enabled\": false },\n"
                                  "\"older\": { \"command\": { \"path\": \"uvx\", \"args\": "
                                  "[\"older-mcp\"], \"env\": { \"A\": \"1\" } } },\n"
                                  "\"ext\": { \"source\": \"extension\", \"settings\": {} }, } }",
                                  _CLIENT_INVALID,
                                  NULL);

        ASSERT_EQ(i.client, CLIENT_ZED);
        ASSERT_EQ(find(&i, "notes")->call_timeout_usec, 120 * USEC_PER_SEC);
        ASSERT_FALSE(find(&i, "tagged")->enabled);
        ASSERT_STREQ(find(&i, "older")->command, "uvx");
        assert_args(find(&i, "older"), "older-mcp");
        ASSERT_STREQ(find_env(find(&i, "older"), "A")->value, "1");
        ASSERT_EQ(find(&i, "ext")->fate, SERVER_BROKEN);
        ASSERT_NOT_NULL(find_problem(&find(&i, "ext")->problems, "MCP-I-EXTENSION"));
}

#ifdef HAVE_TOML
TEST(codex) {
        _cleanup_client_import_ ClientImport i = read_text(
                        "model = \"x\"\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs\", "
                        "'${A}']\n"
                        "env_vars = [\"DOCS_TOKEN\"]\nstartup_timeout_sec = 20\ntool_timeout_sec = 1.5\n"
                        "[mcp_servers.docs.env]\nMODE = \"fast\"\n[mcp_servers.web]\nurl = \"https://x\"\n",
                        CLIENT_CODEX,
                        NULL);
        ClientServer *s = find(&i, "docs");

        assert_args(s, "-y docs ${MCP_DOLLAR:-$}{A}");
        ASSERT_EQ(s->start_timeout_usec, 20 * USEC_PER_SEC);
        ASSERT_EQ(s->call_timeout_usec, 1500000);
        ASSERT_STREQ(find_env(s, "DOCS_TOKEN")->value, "${DOCS_TOKEN}");
        ASSERT_TRUE(find_need(s, "DOCS_TOKEN")->secret);
        ASSERT_STREQ(find_env(s, "MODE")->value, "fast");
        ASSERT_EQ(find(&i, "web")->fate, SERVER_REMOTE);
}

TEST(toml_that_is_none) {
        _cleanup_client_import_ ClientImport i =
                        read_text("a = 1\nb = sk-secret-thing\n", CLIENT_CODEX, NULL);
        const Problem *p = find_problem(&i.problems, "MCP-I-TOML");

        ASSERT_NOT_NULL(p);
        ASSERT_EQ(p->line, 2);
        ASSERT_LACKS(p->message, "sk-");
}
#endif

TEST(mcpproxy) {
        _cleanup_client_import_ ClientImport i =
                        read_text("{ \"docker_isolation\": { \"mode\": \"docker\" }, \"mcpServers\": [\n"
                                  "{ \"name\": \"notes\", \"command\": \"uvx\", \"args\": [\"n\"], "
                                  "\"working_dir\": \"/srv/notes\", \"quarantined\": true,\n"
                                  "\"env\": { \"T\": \"${env:T}\", \"K\": \"${keyring:my-key}\" }, "
                                  "\"init_timeout\": \"1m30s\",\n"
                                  "\"isolation\": { \"mode\": \"docker\", \"image\": \"x\", \"enabled\": "
                                  "true } }, { \"command\": \"x\" } ] }",
                                  _CLIENT_INVALID,
                                  NULL);
        ClientServer *s = find(&i, "notes");

        ASSERT_EQ(i.client, CLIENT_MCPPROXY);
        ASSERT_EQ(s->start_timeout_usec, 90 * USEC_PER_SEC);
        ASSERT_TRUE(s->quarantined);
        ASSERT_STREQ(s->cwd, "/srv/notes");
        ASSERT_STREQ(find_env(s, "K")->value, "${MY_KEY}");
        ASSERT_TRUE(find_need(s, "MY_KEY")->secret);
        ASSERT_NULL(s->mode);
        ASSERT_NOT_NULL(find_problem(&s->problems, "MCP-I-ISOLATION"));
        ASSERT_NOT_NULL(find_problem(&s->problems, "MCP-I-ENABLED"));
        ASSERT_NOT_NULL(find_problem(&i.problems, "MCP-I-NAME"));
        ASSERT_NOT_NULL(find_problem(&i.problems, "MCP-I-COMMON"));
}

TEST(registry) {
        _cleanup_client_import_ ClientImport i =
                        read_text("{ \"server\": { \"name\": \"io.example.team/ledger\", \"version\": "
                                  "\"2.0.1\", \"packages\": [\n"
                                  "{ \"registryType\": \"oci\", \"identifier\": \"x/y\", \"transport\": { "
                                  "\"type\": \"stdio\" } },\n"
                                  "{ \"registryType\": \"pypi\", \"identifier\": \"ledger-mcp\", "
                                  "\"version\": \"2.0.1\", \"transport\": { \"type\": \"stdio\" },\n"
                                  "\"packageArguments\": [ { \"type\": \"named\", \"name\": \"--db\", "
                                  "\"value\": \"{dir}/{other}/main.db\", \"variables\": { \"dir\": { "
                                  "\"isRequired\": true } } },\n"
                                  "{ \"type\": \"named\", \"name\": \"--mode\", \"default\": \"z\", "
                                  "\"choices\": [\"a\", \"b\"] },\n"
                                  "{ \"type\": \"positional\", \"value\": \"${HOME}\" }, { \"type\": "
                                  "\"positional\", \"valueHint\": \"x\" } ],\n"
                                  "\"environmentVariables\": [ { \"name\": \"LEDGER_KEY\", \"isRequired\": "
                                  "true, \"isSecret\": true }, { \"name\": \"OPT\" } ] } ] } }",
                                  _CLIENT_INVALID,
                                  NULL);
        _cleanup_client_import_ ClientImport old = read_text(
                        "{ \"name\": \"a/b\", \"packages\": [ { \"registry_type\": \"npm\", \"identifier\": "
                        "\"@s/p\", \"version\": \"1.0.0\",\n"
                        "\"environment_variables\": [ { \"name\": \"A\", \"is_required\": true } ] } ] }",
                        _CLIENT_INVALID,
                        NULL);
        ClientServer *s = find(&i, "ledger");

        ASSERT_EQ(s->fate, SERVER_OURS);
        ASSERT_STREQ(s->command, "uvx");
        assert_args(s,
                    "ledger-mcp==2.0.1 --db ${LEDGER_DIR}/{other}/main.db --mode z ${MCP_DOLLAR:-$}{HOME}");
        ASSERT_NOT_NULL(find_need(s, "LEDGER_DIR"));
        ASSERT_TRUE(find_need(s, "LEDGER_KEY")->secret);
        ASSERT_NOT_NULL(find_problem(&s->problems, "MCP-I-CHOICE"));
        ASSERT_NOT_NULL(find_problem(&s->problems, "MCP-I-PACKAGE"));
        ASSERT_NOT_NULL(find_problem(&s->problems, "MCP-I-OPTIONAL"));
        assert_args(find(&old, "b"), "-y @s/p@1.0.0");
        ASSERT_NOT_NULL(find_need(find(&old, "b"), "A"));
}

TEST(secrets_are_found) {
        _cleanup_client_import_ ClientImport i = read_text(
                        "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"args\": [\"--api-key\", "
                        "\"hunter2\", \"--token=abc\", \"postgres://u:pw@h/d\", \"ghp_0123456789abcdef\", "
                        "\"--verbose\", \"--token=abd\", \"--token=abc\"],\n"
                        "\"env\": { \"GITHUB_TOKEN\": \"one\", \"KEYBOARD\": \"us\", \"OTHER\": "
                        "\"sk-0123456789abcdef\", \"TOKEN_FILE\": \"/x\" } },\n"
                        "\"b\": { \"command\": \"x\", \"env\": { \"GITHUB_TOKEN\": \"two\" } } } }",
                        CLIENT_CLAUDE_DESKTOP,
                        NULL);
        ClientServer *s = find(&i, "a");

        ASSERT_TRUE(find_env(s, "GITHUB_TOKEN")->secret);
        ASSERT_TRUE(find_env(find(&i, "b"), "GITHUB_TOKEN")->secret);
        ASSERT_FALSE(find_env(s, "KEYBOARD")->secret);
        ASSERT_FALSE(find_env(s, "TOKEN_FILE")->secret);
        ASSERT_TRUE(find_env(s, "OTHER")->secret);
        ASSERT_EQ(s->n_secret_args, 6);
        ASSERT_EQ(s->secret_args[0].index, 1);
        ASSERT_STREQ(s->secret_args[0].replacement, "${A_API_KEY}");
        ASSERT_STREQ(s->secret_args[1].replacement, "--token=${A_TOKEN}");
        ASSERT_STREQ(s->secret_args[2].replacement, "${A_SECRET}");
        /* Another secret needs another variable, the same one does not. */
        ASSERT_STREQ(s->secret_args[4].replacement, "--token=${A_A_TOKEN}");
        ASSERT_STREQ(s->secret_args[5].replacement, "--token=${A_TOKEN}");
}

TEST(names) {
        static const char *const secrets[] = { "TOKEN",  "api-key", "--api-key", "MY_PASSWORD",
                                               "apiKey", "X_PAT",   NULL };
        static const char *const others[] = { "AUTHOR",    "KEYBOARD", "PATH", "MONKEY",
                                              "TOKEN_URL", "KEY_ID",   "",     NULL };

        for (const char *const *s = secrets; *s; s++)
                if (!secret_name_matches(*s))
                        test_fail(__FILE__, __LINE__, "%s is a secret", *s);
        for (const char *const *s = others; *s; s++)
                if (secret_name_matches(*s))
                        test_fail(__FILE__, __LINE__, "%s is none", *s);
}

TEST(what_is_wrong) {
        static const struct {
                const char *text, *code;
                unsigned line;
        } table[] = {
                { "{ \"a\": 1,\n x }", "MCP-I-JSON", 2 },
                { "[1]", "MCP-I-TYPE", 1 },
                { "{ \"hello\": 1 }", "MCP-I-SHAPE", 1 },
                { "{ \"mcpServers\":\n 3 }", "MCP-I-TYPE", 2 },
                { "{ \"command\": \"x\" }", "MCP-I-NO-NAME", 1 },
                { "{ \"mcpServers\": {} }", "MCP-I-NO-SERVERS", 0 },
        }, entries[] = {
                { "{ \"mcpServers\": { \"s\": 3 } }", "MCP-I-TYPE", 1 },
                { "{ \"mcpServers\": { \"s\": {\n\"command\": [\"x\"] } } }", "MCP-I-TYPE", 2 },
                { "{ \"mcpServers\": { \"s\": { } } }", "MCP-I-NO-COMMAND", 1 },
                { "{ \"mcpServers\": { \"s\": { \"command\": \"x\", \"env\": { \"A B\": \"\" } } } }", "MCP-I-VARIABLE", 1 },
                { "{ \"mcpServers\": { \"s\": { \"command\": \"x\", \"type\": \"smoke\" } } }", "MCP-I-TRANSPORT", 1 },
                { "{ \"mcpServers\": { \"s\": { \"command\": \"./x\" } } }", "MCP-I-RELATIVE-PATH", 1 },
                { "{ \"mcpServers\": { \"s\": { \"command\": \"a\\u0000b\" } } }", "MCP-I-NUL", 1 },
        };

        for (size_t k = 0; k < ELEMENTSOF(table); k++) {
                _cleanup_client_import_ ClientImport i = read_text(table[k].text, _CLIENT_INVALID, NULL);
                const Problem *p = find_problem(&i.problems, table[k].code);

                if (!p || p->line != table[k].line)
                        test_fail(__FILE__,
                                  __LINE__,
                                  "no %s in line %u: %s",
                                  table[k].code,
                                  table[k].line,
                                  table[k].text);
        }
        for (size_t k = 0; k < ELEMENTSOF(entries); k++) {
                _cleanup_client_import_ ClientImport i = read_text(entries[k].text, CLIENT_CURSOR, NULL);
                ClientServer *s = find(&i, "s");
                const Problem *p = find_problem(&s->problems, entries[k].code);

                ASSERT_EQ(s->fate, SERVER_BROKEN);
                if (!p || p->line != entries[k].line || !p->pointer)
                        test_fail(__FILE__,
                                  __LINE__,
                                  "no %s in line %u: %s",
                                  entries[k].code,
                                  entries[k].line,
                                  entries[k].text);
        }
}

TEST(what_is_ours_already) {
        _cleanup_client_import_ ClientImport i =
                        read_text("{ \"mcpServers\": { \"a\": { \"command\": \"/usr/bin/mcp-connect\", "
                                  "\"args\": [\"a\"] },"
                                  " \"b\": { \"command\": \"mcpctl\", \"args\": [\"connect\", \"b\"] } } }",
                                  CLIENT_CURSOR,
                                  NULL);

        ASSERT_EQ(find(&i, "a")->fate, SERVER_ALREADY);
        ASSERT_EQ(find(&i, "b")->fate, SERVER_ALREADY);
}

TEST(workspace) {
        static const struct {
                const char *path, *workspace;
        } table[] = {
                { "/srv/app/.vscode/mcp.json", "/srv/app" },
                { "/srv/app/.mcp.json", "/srv/app" },
                { "/home/u/.cursor/mcp.json", NULL },
                { "/home/u/.config/Code/User/mcp.json", NULL },
                { "/.mcp.json", "/" },
        };

        for (size_t k = 0; k < ELEMENTSOF(table); k++) {
                _cleanup_free_ char *workspace = NULL;

                ASSERT_OK(client_file_workspace(table[k].path, "/home/u", &workspace));
                ASSERT_STREQ(workspace, table[k].workspace);
        }
}
