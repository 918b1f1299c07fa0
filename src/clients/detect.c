/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/string-util.h"
#include "clients/read.h"

/* Files that look alike are told apart by where they are. */
static Client detect_by_path(const char *path) {
        for (Client c = 0; c < _CLIENT_MAX; c++) {
                const ClientInfo *info = client_info(c);

                if (info->project_file && strchr(info->project_file, '/') &&
                    endswith(path, info->project_file))
                        return c;
                for (size_t i = 0; i < ELEMENTSOF(info->home_files) && info->home_files[i]; i++)
                        if (endswith(path, info->home_files[i]))
                                return c;
        }
        return endswith(path, "/.mcp.json") ? CLIENT_CLAUDE_CODE : _CLIENT_INVALID;
}

static const struct {
        const char *key, *value; /* of an entry; value NULL: any */
        Client client;
} mark_table[] = {
        { "httpUrl", NULL, CLIENT_GEMINI },
        { "trust", NULL, CLIENT_GEMINI },
        { "includeTools", NULL, CLIENT_GEMINI },
        { "excludeTools", NULL, CLIENT_GEMINI },
        { "serverUrl", NULL, CLIENT_WINDSURF },
        { "alwaysAllow", NULL, CLIENT_ROO },
        { "type", "local", CLIENT_COPILOT },
        { "type", "websocket", CLIENT_CLAUDE_CODE },
        { "type", "http", CLIENT_CLAUDE_CODE },
        { "type", "streamable-http", CLIENT_CURSOR },
        { "type", "streamableHttp", CLIENT_CURSOR },
        { "envFile", NULL, CLIENT_CURSOR },
        { "auth", NULL, CLIENT_CURSOR },
};

/* Does a string below v hold the text? */
static bool mentions(const JsonValue *v, const char *text) {
        const JsonValue *item;

        if (v->type == JSON_STRING)
                return strstr(v->string, text);
        JSON_FOREACH (item, v)
                if (mentions(item, text))
                        return true;
        return false;
}

/* mcpServers as an object: seven clients have it. A placeholder says more than a key, and a file without either is read
 * as Claude Desktop's, which has none of both. */
static Client detect_by_entries(const JsonValue *document, const JsonValue *servers) {
        const JsonValue *item;

        if (json_get(document, "globalShortcut"))
                return CLIENT_CLAUDE_DESKTOP;
        for (size_t i = 0; i < ELEMENTSOF(mark_table); i++)
                JSON_FOREACH (item, servers) {
                        const JsonValue *v = json_get(item, mark_table[i].key);

                        if (v && (!mark_table[i].value ||
                                  (v->type == JSON_STRING && streq(v->string, mark_table[i].value))))
                                return mark_table[i].client;
                }
        if (mentions(servers, "${env:") || mentions(servers, "${workspaceFolder") ||
            mentions(servers, "${userHome}"))
                return CLIENT_CURSOR;
        return mentions(servers, "${") ? CLIENT_CLAUDE_CODE : CLIENT_CLAUDE_DESKTOP;
}

static bool is_registry(const JsonValue *document) {
        const JsonValue *schema = json_get(document, "$schema"), *name = json_get(document, "name");

        if (schema && schema->type == JSON_STRING && strstr(schema->string, "/server.schema.json"))
                return true;
        return name && name->type == JSON_STRING && strchr(name->string, '/') &&
               (json_get(document, "packages") || json_get(document, "remotes"));
}

/* OpenCode's "mcp" holds the servers themselves, VS Code's holds "servers". */
static bool is_opencode(const JsonValue *document) {
        const JsonValue *schema = json_get(document, "$schema"), *item;

        if (schema && schema->type == JSON_STRING && strstr(schema->string, "opencode.ai"))
                return true;
        JSON_FOREACH (item, json_get(document, "mcp")) {
                const JsonValue *command = json_get(item, "command"), *type = json_get(item, "type");

                if ((command && command->type == JSON_ARRAY) ||
                    (type && type->type == JSON_STRING &&
                     (streq(type->string, "local") || streq(type->string, "remote"))))
                        return true;
        }
        return false;
}

Client client_detect(const JsonValue *document, const char *path) {
        const JsonValue *servers = json_get(document, "mcpServers");
        Client by_path = detect_by_path(path);

        if (is_registry(document) || is_registry(json_get(document, "server")))
                return CLIENT_REGISTRY;
        if (servers && servers->type == JSON_ARRAY)
                return CLIENT_MCPPROXY;
        if (json_get(document, "context_servers"))
                return CLIENT_ZED;
        if (json_get(document, "mcp_servers"))
                return CLIENT_CODEX;
        if (is_opencode(document))
                return CLIENT_OPENCODE;
        if (json_get(document, "servers") || json_get(json_get(document, "mcp"), "servers"))
                return CLIENT_VSCODE;
        if (by_path >= 0 && streq_ptr(client_info(by_path)->key, "mcpServers"))
                return by_path;
        if (json_get(document, "projects"))
                return CLIENT_CLAUDE_CODE;
        if (servers)
                return detect_by_entries(document, servers);
        /* One entry alone, as "claude mcp add-json" takes it. */
        if (json_get(document, "command"))
                return mentions(document, "${") ? CLIENT_CLAUDE_CODE : CLIENT_CLAUDE_DESKTOP;
        return by_path;
}
