/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/placeholder.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "clients/secret.h"

/* A reference whose value is a dollar sign, unless somebody sets the variable: our syntax has no escape. */
#define DOLLAR "${MCP_DOLLAR:-$}"

static int append(char **out, const char *s, size_t n) {
        size_t have = *out ? strlen(*out) : 0;
        char *grown = realloc(*out, have + n + 1);

        if (!grown)
                return -ENOMEM;
        memcpy(grown + have, s, n);
        grown[have + n] = '\0';
        *out = grown;
        return 0;
}

static int append_string(char **out, const char *s) {
        return append(out, s, strlen(s));
}

static int append_reference(char **out, const char *variable) {
        int r = append_string(out, "${");

        if (r >= 0)
                r = append_string(out, variable);
        return r < 0 ? r : append_string(out, "}");
}

char *variable_from_text(const char *text) {
        char *out = malloc(2 * strlen(text) + 3), *p = out;

        if (!out)
                return NULL;
        if (*text >= '0' && *text <= '9')
                *p++ = '_';
        for (const char *c = text; *c; c++) {
                bool upper = *c >= 'A' && *c <= 'Z', lower = *c >= 'a' && *c <= 'z';
                bool after_lower = c > text && c[-1] >= 'a' && c[-1] <= 'z';

                if (upper && after_lower)
                        *p++ = '_';
                if (upper || (*c >= '0' && *c <= '9'))
                        *p++ = *c;
                else if (lower)
                        *p++ = (char) (*c - 'a' + 'A');
                else if (p > out && p[-1] != '_')
                        *p++ = '_';
        }
        while (p > out + 1 && p[-1] == '_')
                p--;
        if (p == out)
                *p++ = '_';
        *p = '\0';
        return out;
}

/* Would text_expand() take "${inside}" for a reference, or refuse it? */
static bool is_ours(const char *inside) {
        _cleanup_free_ char *name = NULL;
        const char *otherwise = strstr(inside, ":-");

        if (startswith(inside, "env:") || startswith(inside, "keyring:") || startswith(inside, "input:"))
                return true;
        name = otherwise ? strndup(inside, (size_t) (otherwise - inside)) : strdup(inside);
        return !name || env_name_is_valid(name);
}

int placeholder_protect(const char *s, char **ret) {
        _cleanup_free_ char *out = NULL;
        int r = append(&out, "", 0);

        for (; r >= 0 && *s; s++) {
                const char *end = startswith(s, "${") ? strchr(s, '}') : NULL;
                _cleanup_free_ char *inside = end ? strndup(s + 2, (size_t) (end - s - 2)) : NULL;

                if (end && !inside)
                        return -ENOMEM;
                r = inside && is_ours(inside) ? append_string(&out, DOLLAR) : append(&out, s, 1);
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(out);
        return 0;
}

/* Variables that every server has anyway. */
static bool is_standard(const char *name) {
        static const char *const names[] = { "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", NULL };

        return strv_contains((char *const *) names, name);
}

static int need(const Translator *t, const char *variable, bool secret, const char *what, const char *name) {
        _cleanup_free_ char *reason = NULL;

        if (is_standard(variable))
                return 0;
        reason = strformat("%s \"%s\" of %s", what, name, client_info(t->client)->title);
        if (!reason)
                return -ENOMEM;
        return client_server_add_need(t->server, variable, reason, secret);
}

/* A reference to a variable that somebody has to set in place of what the client asks for or knows. */
static int translate_unknown(
                const Translator *t, const char *what, const char *name, bool secret, char **out) {
        _cleanup_free_ char *variable = variable_from_text(name);
        int r;

        if (!variable)
                return -ENOMEM;
        r = need(t, variable, secret, what, name);
        return r < 0 ? r : append_reference(out, variable);
}

static const JsonValue *find_input(const JsonValue *inputs, const char *id) {
        const JsonValue *item;

        JSON_FOREACH (item, inputs) {
                const JsonValue *v = json_get(item, "id");

                if (v && v->type == JSON_STRING && streq(v->string, id))
                        return item;
        }
        return NULL;
}

/* The editor asks a person for it; here nobody is there to be asked. */
static int translate_input(const Translator *t, const char *id, const JsonValue *at, char **out) {
        const JsonValue *input = find_input(t->inputs, id), *password = json_get(input, "password");
        const JsonValue *otherwise = json_get(input, "default");
        bool secret = (password && password->type == JSON_BOOLEAN && password->boolean) ||
                      secret_name_matches(id);
        _cleanup_free_ char *text = NULL;
        int r;

        if (!input)
                problem_add(&t->server->problems,
                            PROBLEM_WARNING,
                            "MCP-I-NO-INPUT",
                            t->file,
                            at,
                            NULL,
                            "There is no input \"%.64s\" in \"inputs\".",
                            id);
        if (secret || !otherwise || otherwise->type != JSON_STRING ||
            strlen(otherwise->string) != otherwise->string_length)
                return translate_unknown(t, "the input", id, secret, out);
        problem_add(&t->server->problems,
                    PROBLEM_NOTE,
                    "MCP-I-DEFAULT",
                    t->file,
                    otherwise,
                    NULL,
                    "The default of the input \"%.64s\" is taken, since nobody is asked here.",
                    id);
        r = placeholder_protect(otherwise->string, &text);
        return r < 0 ? r : append_string(out, text);
}

typedef enum Predefined { FOLDER, FOLDER_NAME, USER_HOME, SLASH } Predefined;

static const struct {
        const char *name;
        Predefined what;
} predefined_table[] = {
        { "workspaceFolder", FOLDER },
        { "workspaceRoot", FOLDER },
        { "workspaceFolderBasename", FOLDER_NAME },
        { "userHome", USER_HOME },
        { "pathSeparator", SLASH },
        { "/", SLASH },
};

static int translate_predefined(const Translator *t, const char *inside, char **out, bool *ret_known) {
        const char *folder = t->context ? t->context->workspace : NULL;
        _cleanup_free_ char *text = NULL;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(predefined_table); i++) {
                if (!streq(predefined_table[i].name, inside))
                        continue;
                *ret_known = true;
                switch (predefined_table[i].what) {
                case USER_HOME:
                        return append_reference(out, "HOME");
                case SLASH:
                        return append_string(out, "/");
                case FOLDER:
                case FOLDER_NAME:
                        if (!folder)
                                return translate_unknown(t, "the placeholder", inside, false, out);
                        r = placeholder_protect(
                                        predefined_table[i].what == FOLDER ? folder : path_basename(folder),
                                        &text);
                        return r < 0 ? r : append_string(out, text);
                }
        }
        *ret_known = false;
        return 0;
}

/* ${NAME} and ${NAME:-text}; with :- in a dialect without defaults it is no placeholder. */
static int translate_name(const Translator *t, const char *inside, char **out, bool *ret_known) {
        unsigned dialect = client_info(t->client)->placeholders;
        const char *otherwise = strstr(inside, ":-");
        _cleanup_free_ char *name = NULL;
        int r;

        name = otherwise ? strndup(inside, (size_t) (otherwise - inside)) : strdup(inside);
        if (!name)
                return -ENOMEM;
        *ret_known = (dialect & (otherwise ? PLACEHOLDER_DEFAULT : PLACEHOLDER_NAME)) &&
                     env_name_is_valid(name);
        if (!*ret_known)
                return 0;
        if (!otherwise) {
                r = need(t, name, secret_name_matches(name), "the variable", name);
                return r < 0 ? r : append_reference(out, name);
        }
        /* Clients pass a reference in a default on as it is, and ours are refused. */
        if (strstr(otherwise, "${")) {
                r = need(t, name, secret_name_matches(name), "the variable", name);
                problem_add(&t->server->problems,
                            PROBLEM_WARNING,
                            "MCP-I-NESTED",
                            t->file,
                            t->server->value,
                            "Set the variable.",
                            "The default of ${%.64s} holds another reference and is left out.",
                            name);
                return r < 0 ? r : append_reference(out, name);
        }
        return append_reference(out, inside);
}

/* The part behind the colon, without blanks at both ends. */
static char *trimmed(const char *s) {
        size_t n;

        s += strspn(s, " \t");
        n = strlen(s);
        while (n > 0 && strchr(" \t", s[n - 1]))
                n--;
        return strndup(s, n);
}

static int translate_env(const Translator *t, const char *text, const JsonValue *at, char **out) {
        _cleanup_free_ char *name = trimmed(text);
        int r;

        if (!name)
                return -ENOMEM;
        if (!env_name_is_valid(name))
                return translate_unknown(t, "the variable", name, secret_name_matches(name), out);
        r = need(t, name, secret_name_matches(name), "the variable", name);
        return r < 0 ? r : append_reference(out, name);
}

/* Editors have more placeholders than anybody lists: "${file}", "${config:…}". */
static bool looks_predefined(const char *inside) {
        const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t n = strspn(inside, letters);

        return n > 0 && (inside[n] == '\0' || inside[n] == ':') && !startswith(inside + n, ":-");
}

static int translate_inside(
                const Translator *t, const char *inside, const JsonValue *at, char **out, bool *ret_known) {
        unsigned dialect = client_info(t->client)->placeholders;
        const char *rest;
        int r;

        *ret_known = true;
        rest = startswith(inside, "env:");
        if (rest && (dialect & PLACEHOLDER_ENV))
                return translate_env(t, rest, at, out);
        rest = startswith(inside, "input:");
        if (rest && (dialect & PLACEHOLDER_INPUT))
                return translate_input(t, rest, at, out);
        rest = startswith(inside, "keyring:");
        if (rest && (dialect & PLACEHOLDER_KEYRING)) {
                _cleanup_free_ char *name = trimmed(rest);

                return name ? translate_unknown(t, "the keyring's entry", name, true, out) : -ENOMEM;
        }
        if (dialect & PLACEHOLDER_PREDEFINED) {
                r = translate_predefined(t, inside, out, ret_known);
                if (r < 0 || *ret_known)
                        return r;
                if (looks_predefined(inside)) {
                        *ret_known = true;
                        return translate_unknown(t, "the placeholder", inside, false, out);
                }
        }
        return translate_name(t, inside, out, ret_known);
}

/* Gemini's $NAME. *s stands on the dollar sign, and is moved on behind what was taken. */
static int translate_bare(const Translator *t, const char **s, char **out) {
        _cleanup_free_ char *name = NULL;
        size_t n = 1;
        int r;

        while ((*s)[n] == '_' || ((*s)[n] >= 'A' && (*s)[n] <= 'Z') || ((*s)[n] >= 'a' && (*s)[n] <= 'z') ||
               (n > 1 && (*s)[n] >= '0' && (*s)[n] <= '9'))
                n++;
        if (n == 1) {
                (*s)++;
                return append(out, "$", 1);
        }
        name = strndup(*s + 1, n - 1);
        if (!name)
                return -ENOMEM;
        *s += n;
        r = need(t, name, secret_name_matches(name), "the variable", name);
        return r < 0 ? r : append_reference(out, name);
}

static int translate_dollar(const Translator *t, const char **s, const JsonValue *at, char **out) {
        const char *end = (*s)[1] == '{' ? strchr(*s, '}') : NULL;
        _cleanup_free_ char *inside = NULL;
        bool known;
        int r;

        if (!end) {
                if ((*s)[1] != '{' && (client_info(t->client)->placeholders & PLACEHOLDER_BARE))
                        return translate_bare(t, s, out);
                (*s)++;
                return append(out, "$", 1);
        }
        inside = strndup(*s + 2, (size_t) (end - *s - 2));
        if (!inside)
                return -ENOMEM;
        r = translate_inside(t, inside, at, out, &known);
        if (r < 0)
                return r;
        if (known) {
                *s = end + 1;
                return 0;
        }
        (*s)++;
        return is_ours(inside) ? append_string(out, DOLLAR) : append(out, "$", 1);
}

/* OpenCode's {env:NAME} and {file:PATH}. *s stands on the brace, and is moved on behind what was taken. */
static int translate_brace(const Translator *t, const char **s, const JsonValue *at, char **out) {
        const char *end = strchr(*s, '}'), *variable = startswith(*s, "{env:"),
                   *file = startswith(*s, "{file:");
        const char *start = variable ?: file;
        _cleanup_free_ char *inside = NULL;

        if (!start || !end || end == start) {
                (*s)++;
                return append(out, "{", 1);
        }
        inside = strndup(start, (size_t) (end - start));
        if (!inside)
                return -ENOMEM;
        *s = end + 1;
        /* What a file holds is mostly a key, and never said here. */
        return variable ? translate_env(t, inside, at, out)
                        : translate_unknown(t, "the content of the file", inside, true, out);
}

int placeholder_translate(const Translator *t, const char *s, const JsonValue *at, char **ret) {
        bool braces = client_info(t->client)->placeholders & PLACEHOLDER_BRACES;
        _cleanup_free_ char *out = NULL;
        int r = append(&out, "", 0);

        while (r >= 0 && *s) {
                size_t n = strcspn(s, braces ? "${" : "$");

                if (n > 0) {
                        r = append(&out, s, n);
                        s += n;
                } else if (*s == '{')
                        r = translate_brace(t, &s, at, &out);
                else
                        r = translate_dollar(t, &s, at, &out);
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(out);
        return 0;
}
