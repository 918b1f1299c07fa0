/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/client-server.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

static const char *const fate_table[_SERVER_FATE_MAX] = {
        [SERVER_OURS] = "import",
        [SERVER_REMOTE] = "remote",
        [SERVER_ALREADY] = "already",
        [SERVER_BROKEN] = "broken",
};

const char *server_fate_to_string(ServerFate fate) {
        return fate_table[fate];
}

/* Overwrites what may be a secret before it is given back. */
static void forget(char *s) {
        if (s)
                explicit_bzero(s, strlen(s));
        free(s);
}

void client_server_done(ClientServer *s) {
        for (size_t i = 0; i < s->n_env; i++) {
                free(s->env[i].name);
                forget(s->env[i].value);
        }
        for (size_t i = 0; i < s->n_needs; i++) {
                free(s->needs[i].variable);
                free(s->needs[i].reason);
        }
        for (size_t i = 0; i < s->n_secret_args; i++) {
                free(s->secret_args[i].variable);
                free(s->secret_args[i].replacement);
        }
        free(s->env);
        free(s->needs);
        free(s->secret_args);
        free(s->name);
        free(s->origin);
        free(s->command);
        strv_free(s->args);
        free(s->env_file);
        free(s->cwd);
        strv_free(s->write);
        free(s->mode);
        problem_list_done(&s->problems);
        *s = (ClientServer){};
}

void client_import_done(ClientImport *import) {
        for (size_t i = 0; i < import->n_servers; i++)
                client_server_done(import->servers + i);
        free(import->servers);
        free(import->path);
        forget(import->text);
        json_free(import->document);
        problem_list_done(&import->problems);
        *import = (ClientImport){};
}

int client_server_add_env(ClientServer *s, const char *name, const char *value, bool secret) {
        _cleanup_free_ char *n = strdup(name), *v = value ? strdup(value) : NULL;
        ServerVariable *grown;

        if (!n || (value && !v))
                return -ENOMEM;
        grown = reallocarray(s->env, s->n_env + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        s->env = grown;
        grown[s->n_env++] = (ServerVariable){ .name = TAKE_PTR(n), .value = TAKE_PTR(v), .secret = secret };
        return 0;
}

int client_server_add_need(ClientServer *s, const char *variable, const char *reason, bool secret) {
        _cleanup_free_ char *v = NULL, *why = NULL;
        ServerNeed *grown;

        for (size_t i = 0; i < s->n_needs; i++)
                if (streq(s->needs[i].variable, variable)) {
                        s->needs[i].secret = s->needs[i].secret || secret;
                        return 0;
                }
        v = strdup(variable);
        why = strdup(reason);
        grown = reallocarray(s->needs, s->n_needs + 1, sizeof(*grown));
        if (grown)
                s->needs = grown;
        if (!v || !why || !grown)
                return -ENOMEM;
        grown[s->n_needs++] =
                        (ServerNeed){ .variable = TAKE_PTR(v), .reason = TAKE_PTR(why), .secret = secret };
        return 0;
}

int client_file_workspace(const char *path, const char *home, char **ret) {
        static const char *const below[] = { ".vscode", ".cursor", ".zed", ".gemini", ".codex", NULL };
        _cleanup_free_ char *dir = NULL, *workspace = NULL;
        const char *base = path_basename(path);
        size_t n = (size_t) (base - path);

        /* Without its last slash, "/" apart. */
        dir = strndup(path, n > 1 ? n - 1 : n);
        if (!dir)
                return -ENOMEM;
        if (streq(base, ".mcp.json"))
                workspace = TAKE_PTR(dir);
        else if (strv_contains((char *const *) below, path_basename(dir))) {
                n = (size_t) (path_basename(dir) - dir);
                workspace = strndup(dir, n > 1 ? n - 1 : n);
                if (!workspace)
                        return -ENOMEM;
        }
        *ret = workspace && home && path_equal(workspace, home) ? NULL : TAKE_PTR(workspace);
        return 0;
}
