/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/export.h"
#include "basic/jsonc-util.h"
#include "basic/string-util.h"

char **connect_arguments(RuntimeScope scope, const char *name) {
        _cleanup_strv_free_ char **l = NULL;

        if (strv_extendf(&l, "--%s", runtime_scope_to_string(scope)) < 0 ||
            (name[0] == '-' && strv_extend(&l, "--") < 0) || strv_extend(&l, name) < 0)
                return NULL;
        return TAKE_PTR(l);
}

/* whole: the program and its arguments are one array, which is the command. */
static int add_connect(json_object *o, RuntimeScope scope, const char *name, bool whole) {
        _cleanup_strv_free_ char **args = connect_arguments(scope, name);
        json_object *array = json_object_new_array();
        int r;

        r = whole ? 0 : jsonc_add_string(o, "command", CONNECT_PROGRAM);
        if (r < 0) {
                json_object_put(array);
                return r;
        }
        r = jsonc_add(o, whole ? "command" : "args", array);
        if (!args)
                return -ENOMEM;
        if (r >= 0 && whole)
                r = jsonc_append(array, json_object_new_string(CONNECT_PROGRAM));
        STRV_FOREACH (arg, args)
                if (r >= 0)
                        r = jsonc_append(array, json_object_new_string(*arg));
        return r;
}

/* MCPProxy would put a container around mcp-connect, which then finds no socket. */
static int add_mcpproxy(json_object *o, const char *name) {
        json_object *isolation;
        int r;

        r = jsonc_add_string(o, "name", name);
        if (r >= 0)
                r = jsonc_add_string(o, "protocol", "stdio");
        if (r >= 0)
                r = jsonc_add(o, "enabled", json_object_new_boolean(true));
        if (r < 0)
                return r;
        isolation = json_object_new_object();
        r = jsonc_add(o, "isolation", isolation);
        if (r >= 0)
                r = jsonc_add(isolation, "enabled", json_object_new_boolean(false));
        return r < 0 ? r : jsonc_add_string(isolation, "mode", "none");
}

/* Copilot CLI offers no tool that is not listed. */
static int add_all_tools(json_object *o) {
        json_object *array = json_object_new_array();
        int r = jsonc_add(o, "tools", array);

        return r < 0 ? r : jsonc_append(array, json_object_new_string("*"));
}

static int add_server(Client client, RuntimeScope scope, json_object *servers, const char *name) {
        json_object *o = json_object_new_object();
        int r;

        if (json_object_is_type(servers, json_type_array))
                r = jsonc_append(servers, o);
        else
                r = jsonc_add(servers, name, o);
        if (r >= 0 && client == CLIENT_MCPPROXY)
                r = add_mcpproxy(o, name);
        if (r >= 0 && (client == CLIENT_VSCODE || client == CLIENT_CLAUDE_CODE))
                r = jsonc_add_string(o, "type", "stdio");
        if (r >= 0 && (client == CLIENT_COPILOT || client == CLIENT_OPENCODE))
                r = jsonc_add_string(o, "type", "local");
        if (r >= 0 && client == CLIENT_OPENCODE)
                r = jsonc_add(o, "enabled", json_object_new_boolean(true));
        if (r >= 0 && client == CLIENT_COPILOT)
                r = add_all_tools(o);
        return r < 0 ? r : add_connect(o, scope, name, client == CLIENT_OPENCODE);
}

static int export_json(
                Client client, RuntimeScope scope, const ExportedServer *servers, size_t n, char **ret) {
        _cleanup_jsonc_ json_object *root = json_object_new_object();
        json_object *list = client == CLIENT_MCPPROXY ? json_object_new_array() : json_object_new_object();
        const char *text;
        int r;

        if (!root) {
                json_object_put(list);
                return -ENOMEM;
        }
        r = jsonc_add(root, client_info(client)->key, list);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = add_server(client, scope, list, servers[i].name);
        if (r < 0)
                return r;
        text = json_object_to_json_string_ext(
                        root,
                        JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
        *ret = text ? strformat("%s\n", text) : NULL;
        return *ret ? 0 : -ENOMEM;
}

char *toml_quote(const char *s) {
        char *out = malloc(6 * strlen(s) + 3), *p = out;

        if (!out)
                return NULL;
        *p++ = '"';
        for (; *s; s++)
                if (*s == '"' || *s == '\\') {
                        *p++ = '\\';
                        *p++ = *s;
                } else if ((unsigned char) *s < 0x20 || *s == 0x7f)
                        p += sprintf(p, "\\u%04X", (unsigned) *s);
                else
                        *p++ = *s;
        *p++ = '"';
        *p = '\0';
        return out;
}

static int export_toml(RuntimeScope scope, const ExportedServer *servers, size_t n, char **ret) {
        _cleanup_free_ char *out = strdup("");

        for (size_t i = 0; i < n; i++) {
                _cleanup_strv_free_ char **args = connect_arguments(scope, servers[i].name), **quoted = NULL;
                _cleanup_free_ char *name = toml_quote(servers[i].name), *list = NULL;
                char *grown;

                if (!args || !name || !out)
                        return -ENOMEM;
                STRV_FOREACH (arg, args)
                        if (strv_consume(&quoted, toml_quote(*arg)) < 0)
                                return -ENOMEM;
                list = strv_join(quoted, ", ");
                if (!list)
                        return -ENOMEM;
                grown = strformat(
                                "%s%s[mcp_servers.%s]\ncommand = \"" CONNECT_PROGRAM
                                "\"\nargs = [%s]\nstartup_timeout_sec = %llu\n",
                                out,
                                i > 0 ? "\n" : "",
                                name,
                                list,
                                (unsigned long long) (servers[i].start_timeout_usec / USEC_PER_SEC));
                if (!grown)
                        return -ENOMEM;
                free(out);
                out = grown;
        }
        if (!out)
                return -ENOMEM;
        *ret = TAKE_PTR(out);
        return 0;
}

int client_export(Client client, RuntimeScope scope, const ExportedServer *servers, size_t n, char **ret) {
        const ClientInfo *info = client_info(client);

        if (!info->key)
                return -EOPNOTSUPP;
        return info->format == FORMAT_TOML ? export_toml(scope, servers, n, ret)
                                           : export_json(client, scope, servers, n, ret);
}
