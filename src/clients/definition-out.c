/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/definition-out.h"
#include "basic/jsonc-util.h"
#include "basic/string-util.h"
#include "config/definition-read.h"

#define START_TIMEOUT_MIN_SEC 1U
#define START_TIMEOUT_MAX_SEC 1800U

void definition_text_done(DefinitionText *t) {
        if (t->text)
                explicit_bzero(t->text, t->size);
        free(t->text);
        *t = (DefinitionText){};
}

char *credential_name(const ClientServer *s, const char *variable) {
        _cleanup_free_ char *instance = NULL;

        if (server_name_escape(s->name, &instance) < 0)
                return NULL;
        /* systemd allows no colon and no slash in the name of a credential, and unit files would unescape "\x". */
        for (char *c = instance; *c; c++)
                if (strchr(":\\", *c))
                        *c = '_';
        return strformat("mcp.%s.%s", instance, variable);
}

char *definition_file_name(const char *server) {
        _cleanup_free_ char *instance = NULL;

        /* The name itself where it can be a file's and does not hide; else as the unit has it. */
        if (!strchr(server, '/') && server[0] != '.')
                return strformat("%s.json", server);
        return server_name_escape(server, &instance) < 0 ? NULL : strformat("%s.json", instance);
}

static int add_args(json_object *o, const ClientServer *s, bool inline_secrets) {
        json_object *array;
        int r;

        if (!s->args)
                return 0;
        array = json_object_new_array();
        r = jsonc_add(o, "args", array);
        for (size_t i = 0; r >= 0 && s->args[i]; i++) {
                const char *text = s->args[i];

                for (size_t k = 0; k < s->n_secret_args && !inline_secrets; k++)
                        if (s->secret_args[k].index == i)
                                text = s->secret_args[k].replacement;
                r = jsonc_append(array, json_object_new_string(text));
        }
        return r;
}

/* "env" and "credentials". */
static int add_env(json_object *o, const ClientServer *s, bool inline_secrets, bool *ret_values) {
        json_object *env = NULL, *credentials = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_env; i++) {
                const ServerVariable *v = s->env + i;
                bool hidden = v->secret && !inline_secrets;
                json_object **object = hidden ? &credentials : &env;
                _cleanup_free_ char *text = NULL;

                if (!v->value)
                        continue;
                text = hidden ? credential_name(s, v->name) : strdup(v->value);
                if (!text)
                        return -ENOMEM;
                if (!*object) {
                        *object = json_object_new_object();
                        r = jsonc_add(o, hidden ? "credentials" : "env", *object);
                        if (r < 0)
                                return r;
                }
                *ret_values = *ret_values || !hidden;
                r = jsonc_add_string(*object, v->name, text);
        }
        return r;
}

static int add_isolation(json_object *o, const ClientServer *s) {
        json_object *isolation, *array;
        int r;

        if (!s->mode && s->isolation_enabled == TRISTATE_UNSET && !s->write)
                return 0;
        isolation = json_object_new_object();
        r = jsonc_add(o, "isolation", isolation);
        if (r >= 0 && s->mode)
                r = jsonc_add_string(isolation, "mode", s->mode);
        if (r >= 0 && s->isolation_enabled != TRISTATE_UNSET)
                r = jsonc_add(isolation,
                              "enabled",
                              json_object_new_boolean(s->isolation_enabled == TRISTATE_YES));
        if (r < 0 || !s->write)
                return r;
        array = json_object_new_array();
        r = jsonc_add(isolation, "write", array);
        STRV_FOREACH (path, s->write) {
                if (r >= 0)
                        r = jsonc_append(array, json_object_new_string(*path));
        }
        return r;
}

static int add_start_timeout(json_object *o, const ClientServer *s) {
        _cleanup_free_ char *text = NULL;
        uint64_t seconds;

        if (s->start_timeout_usec == LIMIT_UNSET)
                return 0;
        seconds = (s->start_timeout_usec + USEC_PER_SEC - 1) / USEC_PER_SEC;
        seconds = MIN(MAX(seconds, (uint64_t) START_TIMEOUT_MIN_SEC), (uint64_t) START_TIMEOUT_MAX_SEC);
        text = strformat("%llus", (unsigned long long) seconds);
        return text ? jsonc_add_string(o, "init_timeout", text) : -ENOMEM;
}

static int build(const ClientServer *s, bool inline_secrets, json_object *o, bool *ret_values) {
        int r;

        r = jsonc_add_string(o, "command", s->command);
        if (r >= 0)
                r = add_args(o, s, inline_secrets);
        if (r >= 0)
                r = add_env(o, s, inline_secrets, ret_values);
        if (r >= 0 && s->env_file)
                r = jsonc_add_string(o, "envFile", s->env_file);
        if (r >= 0 && s->cwd)
                r = jsonc_add_string(o, "working_dir", s->cwd);
        if (r >= 0 && !s->enabled)
                r = jsonc_add(o, "enabled", json_object_new_boolean(false));
        if (r >= 0 && s->quarantined)
                r = jsonc_add(o, "quarantined", json_object_new_boolean(true));
        if (r >= 0)
                r = add_start_timeout(o, s);
        return r < 0 ? r : add_isolation(o, s);
}

/* The definition is not written yet: a person looks at the client's entry. */
static int read_back(
                const ClientServer *s, const DefinitionText *t, const char *file, ProblemList *problems) {
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_problems_ ProblemList found = {};
        int r;

        r = definition_read_text(t->text, t->size, s->name, file, &d, &found);
        if (r == -ENOMEM || found.failed)
                return -ENOMEM;
        for (size_t i = 0; i < found.n_items; i++) {
                Problem *p = found.items + i;

                free(p->pointer);
                p->pointer = s->value ? json_pointer(s->value) : NULL;
                p->line = s->value ? s->value->line : 0;
                p->column = s->value ? s->value->column : 0;
        }
        r = r < 0 || problem_list_has_errors(&found) ? -EINVAL : 0;
        problem_list_take(problems, &found);
        return r;
}

int definition_text_make(
                const ClientServer *s,
                bool inline_secrets,
                const char *file,
                DefinitionText *ret,
                ProblemList *problems) {
        _cleanup_jsonc_ json_object *o = json_object_new_object();
        _cleanup_definition_text_ DefinitionText t = {};
        const char *text;
        int r;

        if (!o)
                return -ENOMEM;
        r = build(s, inline_secrets, o, &t.holds_values);
        if (r < 0)
                return r;
        t.holds_values = t.holds_values || (inline_secrets && s->n_secret_args > 0);
        text = json_object_to_json_string_ext(
                        o,
                        JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
        t.text = text ? strformat("%s\n", text) : NULL;
        if (!t.text)
                return -ENOMEM;
        t.size = strlen(t.text);
        r = read_back(s, &t, file, problems);
        if (r < 0)
                return r;
        *ret = t;
        t = (DefinitionText){};
        return 0;
}

int variable_instructions(RuntimeScope scope, char *const *servers, char ***ret) {
        int r;

        if (scope == RUNTIME_SCOPE_USER)
                return strv_extend(
                                ret,
                                "Put a line NAME=value for each into ~/.config/environment.d/60-mcp.conf "
                                "(chmod 600), "
                                "then run: systemctl --user daemon-reload");
        r = strv_extend(ret,
                        "Put a line NAME=value for each into a file that root alone can read, such as "
                        "/etc/mcp/secrets.env, and name it to the servers, with [Service] and "
                        "EnvironmentFile=/etc/mcp/secrets.env in:");
        STRV_FOREACH (server, servers) {
                _cleanup_free_ char *instance = NULL;

                if (r >= 0)
                        r = server_name_escape(*server, &instance);
                if (r >= 0)
                        r = strv_extendf(ret, "systemctl edit 'mcp-server@%s.service'", instance);
        }
        return r;
}

char *credential_instruction(RuntimeScope scope, const ClientServer *s, const char *variable) {
        _cleanup_free_ char *name = credential_name(s, variable);

        if (!name)
                return NULL;
        if (scope == RUNTIME_SCOPE_SYSTEM)
                return strformat(
                                "mkdir -p -m 700 /etc/credstore.encrypted && systemd-ask-password -n %s: | "
                                "systemd-creds encrypt --name=%s - /etc/credstore.encrypted/%s",
                                variable,
                                name,
                                name);
        return strformat(
                        "systemd-ask-password -n %s: | install -D -m 600 /dev/stdin ~/.config/credstore/%s",
                        variable,
                        name);
}
