/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One entry of a client's file: the keys are a table, since the clients differ in words and units only. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "clients/read.h"
#include "clients/secret.h"
#include "config/quantity.h"

#define C(client)     (1U << CLIENT_##client)
#define ALL           UINT32_MAX
#define USEC_PER_MSEC 1000ULL

typedef enum KeyRole {
        KEY_COMMAND,
        KEY_ARGS,
        KEY_ENV,
        KEY_ENV_FILE,
        KEY_ENV_VARS,
        KEY_CWD,
        KEY_TYPE,
        KEY_URL,
        KEY_ENABLED,
        KEY_DISABLED,
        KEY_QUARANTINED,
        KEY_START_TIMEOUT,
        KEY_CALL_TIMEOUT,
        KEY_ISOLATION,
        KEY_SANDBOX,
        KEY_QUIET,   /* says nothing that anybody would miss */
        KEY_CLIENTS, /* works on in the client: which tools, which approvals */
        KEY_LOST,    /* restricts or changes something there, and nothing here */
} KeyRole;

static const struct {
        unsigned clients;
        const char *key;
        KeyRole role;
        uint64_t unit; /* of a number */
} key_table[] = {
        { ALL, "command", KEY_COMMAND },
        { ALL, "args", KEY_ARGS },
        { ALL, "env", KEY_ENV },
        { ALL, "envFile", KEY_ENV_FILE },
        { ALL, "cwd", KEY_CWD },
        { ALL, "working_dir", KEY_CWD },
        { ALL, "type", KEY_TYPE },
        { ALL, "transport", KEY_TYPE },
        { ALL, "transportType", KEY_TYPE },
        { ALL, "url", KEY_URL },
        { ALL, "httpUrl", KEY_URL },
        { ALL, "serverUrl", KEY_URL },
        { ALL, "enabled", KEY_ENABLED },
        { ALL, "disabled", KEY_DISABLED },
        { ALL, "name", KEY_QUIET },
        { ALL, "description", KEY_QUIET },
        { ALL, "headers", KEY_QUIET },
        { ALL, "headersHelper", KEY_QUIET },
        { ALL, "oauth", KEY_QUIET },
        { ALL, "auth", KEY_QUIET },
        { ALL, "alwaysLoad", KEY_CLIENTS },
        { ALL, "alwaysAllow", KEY_CLIENTS },
        { ALL, "autoApprove", KEY_CLIENTS },
        { ALL, "disabledTools", KEY_CLIENTS },
        { ALL, "tools", KEY_CLIENTS },
        { C(CLAUDE_CODE) | C(CLAUDE_DESKTOP) | C(CURSOR) | C(WINDSURF) | C(GEMINI) | C(ROO) | C(KIRO) |
                          C(COPILOT) | C(OPENCODE),
          "timeout",
          KEY_CALL_TIMEOUT,
          USEC_PER_MSEC },
        { C(ZED) | C(CLINE), "timeout", KEY_CALL_TIMEOUT, USEC_PER_SEC },
        { C(OPENCODE), "environment", KEY_ENV },
        { C(ROO), "watchPaths", KEY_LOST },
        { C(GEMINI), "trust", KEY_CLIENTS },
        { C(GEMINI), "includeTools", KEY_CLIENTS },
        { C(GEMINI), "excludeTools", KEY_CLIENTS },
        { C(ZED), "source", KEY_QUIET },
        { C(ZED), "settings", KEY_CLIENTS },
        { C(ZED), "remote", KEY_LOST },
        { C(VSCODE), "sandboxEnabled", KEY_QUIET },
        { C(VSCODE), "sandbox", KEY_SANDBOX },
        { C(VSCODE), "dev", KEY_LOST },
        { C(VSCODE), "gallery", KEY_QUIET },
        { C(VSCODE), "version", KEY_QUIET },
        { C(CODEX), "env_vars", KEY_ENV_VARS },
        { C(CODEX), "startup_timeout_sec", KEY_START_TIMEOUT, USEC_PER_SEC },
        { C(CODEX), "startup_timeout_ms", KEY_START_TIMEOUT, USEC_PER_MSEC },
        { C(CODEX), "tool_timeout_sec", KEY_CALL_TIMEOUT, USEC_PER_SEC },
        { C(CODEX), "required", KEY_CLIENTS },
        { C(CODEX), "enabled_tools", KEY_CLIENTS },
        { C(CODEX), "disabled_tools", KEY_CLIENTS },
        { C(CODEX), "bearer_token_env_var", KEY_QUIET },
        { C(CODEX), "http_headers", KEY_QUIET },
        { C(CODEX), "env_http_headers", KEY_QUIET },
        { C(MCPPROXY), "protocol", KEY_TYPE },
        { C(MCPPROXY), "quarantined", KEY_QUARANTINED },
        { C(MCPPROXY), "init_timeout", KEY_START_TIMEOUT },
        { C(MCPPROXY), "isolation", KEY_ISOLATION },
        { C(MCPPROXY), "enabled_tools", KEY_CLIENTS },
        { C(MCPPROXY), "disabled_tools", KEY_CLIENTS },
        { C(MCPPROXY), "trust_mode", KEY_CLIENTS },
        { C(MCPPROXY), "skip_quarantine", KEY_CLIENTS },
        { C(MCPPROXY), "auto_approve_tool_changes", KEY_CLIENTS },
        { C(MCPPROXY), "health_check_interval", KEY_CLIENTS },
        { C(MCPPROXY), "tool_discovery_interval", KEY_CLIENTS },
        { C(MCPPROXY), "reconnect_on_use", KEY_CLIENTS },
        { C(MCPPROXY), "max_concurrent_requests", KEY_CLIENTS },
        { C(MCPPROXY), "queue_size", KEY_CLIENTS },
        { C(MCPPROXY), "queue_timeout", KEY_CLIENTS },
        { C(MCPPROXY), "launcher_wait_timeout", KEY_CLIENTS },
        { C(MCPPROXY), "expose_prompts", KEY_CLIENTS },
        { C(MCPPROXY), "toon_output", KEY_CLIENTS },
        { C(MCPPROXY), "shared", KEY_CLIENTS },
        { C(MCPPROXY), "auth_broker", KEY_CLIENTS },
        { C(MCPPROXY), "source_registry_id", KEY_QUIET },
        { C(MCPPROXY), "source_registry_provenance", KEY_QUIET },
        { C(MCPPROXY), "created", KEY_QUIET },
        { C(MCPPROXY), "updated", KEY_QUIET },
};

/* What an entry says about how it is reached. */
typedef struct Transport {
        const JsonValue *stdio, *remote, *url;
        const JsonValue *enabled, *disabled;
} Transport;

static int expect(EntryReader *reader, ClientServer *s, const JsonValue *v, JsonType type) {
        if (v->type == type)
                return 1;
        entry_complain(reader,
                       s,
                       v,
                       "MCP-I-TYPE",
                       NULL,
                       "\"%.64s\" must be %s, not %s.",
                       v->key ?: "This",
                       json_type_to_string(type),
                       json_type_to_string(v->type));
        return 0;
}

int entry_string(EntryReader *reader, ClientServer *s, const JsonValue *v, char **ret) {
        const Translator t = {
                .client = reader->import->client,
                .context = &(ImportContext){ .workspace = reader->workspace },
                .inputs = reader->inputs,
                .file = reader->import->path,
                .server = s,
        };

        *ret = NULL;
        if (!expect(reader, s, v, JSON_STRING))
                return 0;
        if (strlen(v->string) != v->string_length) {
                entry_complain(reader, s, v, "MCP-I-NUL", NULL, "A string may not contain a NUL character.");
                return 0;
        }
        return placeholder_translate(&t, v->string, v, ret);
}

static int read_string(EntryReader *reader, ClientServer *s, const JsonValue *v, char **target) {
        char *text;
        int r;

        r = entry_string(reader, s, v, &text);
        if (r < 0 || !text)
                return r;
        free(*target);
        *target = isempty(text) ? (free(text), NULL) : text;
        return 0;
}

static int read_args(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        const JsonValue *item;
        int r;

        if (!expect(reader, s, v, JSON_ARRAY))
                return 0;
        JSON_FOREACH (item, v) {
                char *text;

                r = entry_string(reader, s, item, &text);
                if (r >= 0 && text)
                        r = strv_consume(&s->args, text);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A number as it is written for a server that reads it from its environment. */
static char *scalar_to_string(const JsonValue *v) {
        char s[40];

        switch (v->type) {
        case JSON_BOOLEAN:
                return strdup(v->boolean ? "true" : "false");
        case JSON_INTEGER:
                return strformat("%lld", (long long) v->integer);
        default:
                break;
        }
        for (int digits = 1; digits <= 17; digits++) {
                (void) snprintf(s, sizeof(s), "%.*g", digits, v->real);
                if (strtod(s, NULL) == v->real)
                        break;
        }
        return strdup(s);
}

static int read_variable(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        _cleanup_free_ char *value = NULL;
        int r;

        if (!env_name_is_valid(v->key)) {
                entry_complain(reader,
                               s,
                               v,
                               "MCP-I-VARIABLE",
                               "Names have letters, digits and underscores, and no digit first.",
                               "\"%.64s\" is no name of an environment variable.",
                               v->key);
                return 0;
        }
        if (v->type == JSON_NULL) {
                entry_note(reader,
                           s,
                           v,
                           "MCP-I-REMOVED",
                           NULL,
                           "\"%s\" is removed from the editor's environment, which the server does not get "
                           "here.",
                           v->key);
                return client_server_add_env(s, v->key, NULL, false);
        }
        if (v->type == JSON_STRING) {
                r = entry_string(reader, s, v, &value);
                if (r < 0 || !value)
                        return r;
        } else if (v->type == JSON_BOOLEAN || v->type == JSON_INTEGER || v->type == JSON_REAL) {
                value = scalar_to_string(v);
                if (!value)
                        return -ENOMEM;
        } else {
                (void) expect(reader, s, v, JSON_STRING);
                return 0;
        }
        return client_server_add_env(s, v->key, value, false);
}

static int read_env(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        const JsonValue *item;
        int r;

        if (!expect(reader, s, v, JSON_OBJECT))
                return 0;
        JSON_FOREACH (item, v) {
                r = read_variable(reader, s, item);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Codex passes the variables of these names on; here they come from the manager's environment. */
static int read_env_vars(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        const JsonValue *item;
        int r;

        if (!expect(reader, s, v, JSON_ARRAY))
                return 0;
        JSON_FOREACH (item, v) {
                _cleanup_free_ char *reference = NULL;

                if (!expect(reader, s, item, JSON_STRING))
                        continue;
                if (!env_name_is_valid(item->string) || strlen(item->string) != item->string_length) {
                        entry_complain(reader, s, item, "MCP-I-VARIABLE", NULL, "This names no variable.");
                        continue;
                }
                reference = strformat("${%s}", item->string);
                if (!reference)
                        return -ENOMEM;
                r = client_server_add_env(s, item->string, reference, false);
                if (r >= 0)
                        r = client_server_add_need(
                                        s,
                                        item->string,
                                        "\"env_vars\" of Codex",
                                        secret_name_matches(item->string));
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_timeout(
                EntryReader *reader, ClientServer *s, const JsonValue *v, uint64_t unit, uint64_t *ret) {
        uint64_t usec;
        double number = v->type == JSON_INTEGER ? (double) v->integer : v->type == JSON_REAL ? v->real : -1;

        if (unit == 0 && v->type == JSON_STRING) {
                if (duration_parse(v->string, &usec) == 0) {
                        if (usec > 0)
                                *ret = usec;
                        return 0;
                }
        } else if (unit > 0 && number >= 0 && number * (double) unit < 1e15) {
                if (number > 0)
                        *ret = (uint64_t) (number * (double) unit + 0.5);
                return 0;
        }
        entry_warn(reader, s, v, "MCP-I-TIME", NULL, "\"%s\" is no time, and is left out.", v->key);
        return 0;
}

static int read_transport(EntryReader *reader, ClientServer *s, const JsonValue *v, Transport *t) {
        static const char *const stdio[] = { "stdio", "local", NULL };
        static const char *const remote[] = { "http", "sse",       "streamable-http", "streamableHttp",
                                              "ws",   "websocket", "remote",          NULL };

        if (!expect(reader, s, v, JSON_STRING))
                return 0;
        if (strv_contains((char *const *) stdio, v->string))
                t->stdio = v;
        else if (strv_contains((char *const *) remote, v->string))
                t->remote = v;
        else if (!isempty(v->string) && !streq(v->string, "auto"))
                entry_complain(reader,
                               s,
                               v,
                               "MCP-I-TRANSPORT",
                               "Write \"stdio\", or leave it out.",
                               "\"%.40s\" is no transport that is known here.",
                               v->string);
        return 0;
}

static int read_isolation_mode(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        static const char *const modes[] = { "sandbox", "none", NULL };

        if (!expect(reader, s, v, JSON_STRING) || isempty(v->string))
                return 0;
        if (strv_contains((char *const *) modes, v->string))
                return free_and_strdup(&s->mode, v->string);
        entry_warn(reader,
                   s,
                   v,
                   "MCP-I-ISOLATION",
                   NULL,
                   "The mode \"%.40s\" is not provided here; the server will run in the sandbox.",
                   v->string);
        return 0;
}

static int read_isolation(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        const JsonValue *item;
        int r = 0;

        if (!expect(reader, s, v, JSON_OBJECT))
                return 0;
        JSON_FOREACH (item, v) {
                if (item->type == JSON_NULL)
                        continue;
                if (streq(item->key, "mode"))
                        r = read_isolation_mode(reader, s, item);
                else if (streq(item->key, "enabled") && item->type == JSON_BOOLEAN)
                        s->isolation_enabled = item->boolean ? TRISTATE_YES : TRISTATE_NO;
                else
                        entry_warn(reader,
                                   s,
                                   item,
                                   "MCP-I-LOST",
                                   "Set limits and network for the server itself.",
                                   "\"%.64s\" is for containers and is left out.",
                                   item->key);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_flag(EntryReader *reader, ClientServer *s, const JsonValue *v, bool *target) {
        if (expect(reader, s, v, JSON_BOOLEAN))
                *target = v->boolean;
        return 0;
}

/* OpenCode's: program and arguments in one array. */
static int read_command_array(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        int r;

        r = read_args(reader, s, v);
        if (r < 0 || !s->args)
                return r;
        free(s->command);
        s->command = s->args[0];
        memmove(s->args, s->args + 1, strv_length(s->args) * sizeof(char *));
        return 0;
}

static int read_zed_command(EntryReader *reader, ClientServer *s, const JsonValue *v);

static int read_command(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        if (reader->import->client == CLIENT_ZED && v->type == JSON_OBJECT)
                return read_zed_command(reader, s, v);
        if (reader->import->client == CLIENT_OPENCODE && v->type == JSON_ARRAY)
                return read_command_array(reader, s, v);
        return read_string(reader, s, v, &s->command);
}

static int read_role(
                EntryReader *reader,
                ClientServer *s,
                const JsonValue *v,
                KeyRole role,
                uint64_t unit,
                Transport *t) {
        switch (role) {
        case KEY_COMMAND:
                return read_command(reader, s, v);
        case KEY_ARGS:
                return read_args(reader, s, v);
        case KEY_ENV:
                return read_env(reader, s, v);
        case KEY_ENV_FILE:
                return read_string(reader, s, v, &s->env_file);
        case KEY_ENV_VARS:
                return read_env_vars(reader, s, v);
        case KEY_CWD:
                return read_string(reader, s, v, &s->cwd);
        case KEY_TYPE:
                return read_transport(reader, s, v, t);
        case KEY_URL:
                t->url = v->type == JSON_STRING && v->string_length > 0 ? v : t->url;
                return 0;
        case KEY_ENABLED:
                t->enabled = expect(reader, s, v, JSON_BOOLEAN) ? v : NULL;
                return 0;
        case KEY_DISABLED:
                t->disabled = expect(reader, s, v, JSON_BOOLEAN) ? v : NULL;
                return 0;
        case KEY_QUARANTINED:
                return read_flag(reader, s, v, &s->quarantined);
        case KEY_START_TIMEOUT:
                return read_timeout(reader, s, v, unit, &s->start_timeout_usec);
        case KEY_CALL_TIMEOUT:
                return read_timeout(reader, s, v, unit, &s->call_timeout_usec);
        case KEY_ISOLATION:
                return read_isolation(reader, s, v);
        case KEY_SANDBOX:
                return vscode_read_sandbox(reader, s, v);
        case KEY_QUIET:
                return 0;
        case KEY_CLIENTS:
                entry_note(reader,
                           s,
                           v,
                           "MCP-I-CLIENTS",
                           NULL,
                           "\"%s\" stays the client's own business.",
                           v->key);
                return 0;
        case KEY_LOST:
                entry_warn(reader,
                           s,
                           v,
                           "MCP-I-LOST",
                           NULL,
                           "\"%s\" has no counterpart and is left out.",
                           v->key);
                return 0;
        }
        return 0;
}

static int read_member(EntryReader *reader, ClientServer *s, const JsonValue *v, Transport *t) {
        unsigned client = 1U << reader->import->client;

        for (size_t i = 0; i < ELEMENTSOF(key_table); i++) {
                if (!(key_table[i].clients & client) || !streq(key_table[i].key, v->key))
                        continue;
                return v->type == JSON_NULL
                                       ? 0
                                       : read_role(reader, s, v, key_table[i].role, key_table[i].unit, t);
        }
        entry_warn(reader,
                   s,
                   v,
                   "MCP-I-UNKNOWN-KEY",
                   NULL,
                   "\"%.64s\" is not known of %s and is left out.",
                   v->key,
                   client_info(reader->import->client)->title);
        return 0;
}

/* Zed's oldest generation: { "path", "args", "env" } below "command". */
static int read_zed_command(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        const JsonValue *item;
        int r = 0;

        JSON_FOREACH (item, v) {
                Transport none = {};

                if (item->type == JSON_NULL)
                        continue;
                if (streq(item->key, "path"))
                        r = read_string(reader, s, item, &s->command);
                else if (streq(item->key, "args") || streq(item->key, "env"))
                        r = read_member(reader, s, item, &none);
                else
                        entry_warn(reader,
                                   s,
                                   item,
                                   "MCP-I-UNKNOWN-KEY",
                                   NULL,
                                   "\"%.64s\" is no key of a command and is left out.",
                                   item->key);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* With an explicit transport first, then the command, then the URL: the rule that fits all clients. */
static void decide_fate(EntryReader *reader, ClientServer *s, const Transport *t) {
        if (t->remote || (!t->stdio && !s->command && t->url)) {
                s->fate = SERVER_REMOTE;
                return;
        }
        if (s->command || problem_list_has_errors(&s->problems))
                return;
        if (reader->import->client == CLIENT_ZED && json_get(s->value, "settings"))
                entry_complain(reader,
                               s,
                               s->value,
                               "MCP-I-EXTENSION",
                               "Add the server that the extension would install by hand.",
                               "An extension of Zed starts this server; its file holds no command.");
        else
                entry_complain(reader,
                               s,
                               s->value,
                               "MCP-I-NO-COMMAND",
                               "Add \"command\": the program to start.",
                               "There is no \"command\".");
}

static void decide_enabled(EntryReader *reader, ClientServer *s, const Transport *t) {
        bool disabled = t->disabled && t->disabled->boolean;

        s->enabled = !disabled && (!t->enabled || t->enabled->boolean);
        if (t->enabled && t->disabled && t->enabled->boolean == disabled)
                entry_warn(reader,
                           s,
                           t->disabled,
                           "MCP-I-TWICE",
                           NULL,
                           "\"enabled\" and \"disabled\" contradict each other; the server is disabled.");
        if (reader->import->client == CLIENT_MCPPROXY && !t->enabled && !t->disabled)
                problem_add(&s->problems,
                            PROBLEM_NOTE,
                            "MCP-I-ENABLED",
                            reader->import->path,
                            s->value,
                            NULL,
                            "\"enabled\" is not given: that is enabled here, and disabled in MCPProxy.");
}

int entry_add(EntryReader *reader, const char *name, const JsonValue *value, ClientServer **ret) {
        ClientImport *import = reader->import;
        ClientServer *grown;

        grown = reallocarray(import->servers, import->n_servers + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        import->servers = grown;
        grown += import->n_servers++;
        *grown = (ClientServer){
                .value = value,
                .enabled = true,
                .start_timeout_usec = LIMIT_UNSET,
                .call_timeout_usec = LIMIT_UNSET,
                .isolation_enabled = TRISTATE_UNSET,
                .name = strdup(name),
        };
        if (!grown->name || free_and_strdup(&grown->origin, reader->origin) < 0)
                return -ENOMEM;
        *ret = grown;
        return 0;
}

/* Every client takes the last of two members with one key: so do we, and say it. */
static void note_hidden(ProblemList *problems, const char *file, const JsonValue *v) {
        const JsonValue *item;

        if (v->hidden_line > 0)
                problem_add_key(problems,
                                PROBLEM_WARNING,
                                "MCP-I-TWICE",
                                file,
                                v,
                                "Keep one of them.",
                                "\"%.64s\" is there twice; the one in line %u is passed over, as the client "
                                "does.",
                                v->key,
                                v->hidden_line);
        JSON_FOREACH (item, v)
                note_hidden(problems, file, item);
}

int entry_read(EntryReader *reader, const char *name, const JsonValue *value) {
        const JsonValue *item;
        Transport t = {};
        ClientServer *s;
        int r;

        r = entry_add(reader, name, value, &s);
        if (r < 0)
                return r;
        note_hidden(&s->problems, reader->import->path, value);
        if (expect(reader, s, value, JSON_OBJECT)) {
                JSON_FOREACH (item, value) {
                        r = read_member(reader, s, item, &t);
                        if (r < 0)
                                return r;
                }
                decide_fate(reader, s, &t);
                decide_enabled(reader, s, &t);
        }
        return entry_finish(reader, s);
}
