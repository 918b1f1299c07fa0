/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/expand.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

typedef struct Expander {
        const Text *text;
        const Definition *d;
        char *const *env;
        ProblemList *problems;
        char *out;
        size_t size;
        bool failed; /* a problem was added */
} Expander;

/* What other programs fill in before they start a server. With a colon behind: a prefix. */
static const struct {
        const char *name;
        bool any_dialect;
        const char *variable; /* the environment variable that holds the same; NULL: none */
        const char *text;     /* or the fixed text */
        const char *remedy;
} foreign_table[] = {
        { "keyring:", true, NULL, NULL, "Use a variable of the environment or a systemd credential." },
        { "input:", true, NULL, NULL, "Write the value, or a variable of the environment." },
        { "command:", false, NULL, NULL, "Write the value." },
        { "config:", false, NULL, NULL, "Write the value." },
        { "workspaceFolder", false, NULL, NULL, "Write the directory: no workspace is open here." },
        { "workspaceFolder:", false, NULL, NULL, "Write the directory: no workspace is open here." },
        { "workspaceFolderBasename", false, NULL, NULL, "Write the name: no workspace is open here." },
        { "userHome", false, "HOME", NULL, NULL },
        { "pathSeparator", false, NULL, "/", NULL },
        { "/", false, NULL, "/", NULL },
};

_printf_(3, 4) static int refuse(Expander *e, const char *remedy, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&message, format, ap);
        va_end(ap);
        if (n < 0) {
                message = NULL;
                return -ENOMEM;
        }
        problem_add(e->problems,
                    PROBLEM_ERROR,
                    "MCP-C-REFERENCE",
                    e->d->file,
                    e->text->at,
                    remedy,
                    "%s",
                    message);
        e->failed = true;
        return 0;
}

static int append(Expander *e, const char *s, size_t n) {
        char *grown;

        grown = realloc(e->out, e->size + n + 1);
        if (!grown)
                return -ENOMEM;
        e->out = grown;
        memcpy(grown + e->size, s, n);
        e->size += n;
        grown[e->size] = 0;
        return 0;
}

static int append_variable(Expander *e, const char *name, bool empty_is_unset) {
        const char *value = env_get(e->env, name);

        if (value && (*value || !empty_is_unset))
                return append(e, value, strlen(value));
        return refuse(e,
                      "Set it in the environment of the manager, or write the value.",
                      "The variable %s is not set.",
                      name);
}

/* The inside of ${…} that belongs to another program. *ret_known false: it does not. */
static int expand_foreign(Expander *e, const char *inside, bool *ret_known) {
        bool editor = e->d->dialect == DIALECT_VSCODE || e->d->dialect == DIALECT_CLIENT;

        *ret_known = true;
        for (size_t i = 0; i < ELEMENTSOF(foreign_table); i++) {
                const char *name = foreign_table[i].name;

                if (!foreign_table[i].any_dialect && !editor)
                        continue;
                if (endswith(name, ":") ? !startswith(inside, name) : !streq(inside, name))
                        continue;
                if (foreign_table[i].text)
                        return append(e, foreign_table[i].text, strlen(foreign_table[i].text));
                if (foreign_table[i].variable)
                        return append_variable(e, foreign_table[i].variable, true);
                return refuse(e,
                              foreign_table[i].remedy,
                              "The placeholder ${%.64s} would be filled by another program, not here.",
                              inside);
        }
        *ret_known = false;
        return 0;
}

/* ${env:NAME}, MCPProxy's: blanks around the name are trimmed, and an empty variable counts as unset. */
static int expand_env(Expander *e, const char *name) {
        _cleanup_free_ char *copy = NULL;
        size_t n;

        name += strspn(name, " \t");
        n = strlen(name);
        while (n > 0 && strchr(" \t", name[n - 1]))
                n--;
        copy = strndup(name, n);
        if (!copy)
                return -ENOMEM;
        if (!env_name_is_valid(copy))
                return refuse(e, NULL, "${env:…} does not hold the name of a variable.");
        return append_variable(e, copy, true);
}

/* ${NAME} and ${NAME:-text}; *ret_known false: something else, which stays as written. */
static int expand_shell(Expander *e, const char *inside, bool *ret_known) {
        _cleanup_free_ char *name = NULL;
        const char *otherwise = strstr(inside, ":-"), *value;

        name = otherwise ? strndup(inside, (size_t) (otherwise - inside)) : strdup(inside);
        if (!name)
                return -ENOMEM;
        *ret_known = env_name_is_valid(name);
        if (!*ret_known)
                return 0;
        if (!otherwise)
                return append_variable(e, name, false);
        if (strstr(otherwise, "${"))
                return refuse(e,
                              NULL,
                              "The text behind ${%s:- holds another reference, which is not resolved.",
                              name);
        value = env_get(e->env, name);
        if (isempty(value))
                value = otherwise + 2;
        return append(e, value, strlen(value));
}

/* s starts with "${". Moves on behind it. */
static int expand_reference(Expander *e, const char **s) {
        _cleanup_free_ char *inside = NULL;
        const char *start = *s, *end = strchr(start, '}'), *name;
        bool known;
        int r;

        if (!end) {
                *s = start + 2;
                return append(e, start, 2);
        }
        inside = strndup(start + 2, (size_t) (end - start - 2));
        if (!inside)
                return -ENOMEM;
        name = startswith(inside, "env:");
        if (name) {
                *s = end + 1;
                return expand_env(e, name);
        }
        r = expand_foreign(e, inside, &known);
        if (r >= 0 && !known)
                r = expand_shell(e, inside, &known);
        if (r < 0)
                return r;
        /* What is none may hold one further on: only its first two characters are passed. */
        *s = known ? end + 1 : start + 2;
        return known ? 0 : append(e, start, 2);
}

static int expand_home(Expander *e) {
        _cleanup_free_ char *rest = NULL;
        int r;

        if (!streq(e->out, "~") && !startswith(e->out, "~/"))
                return 0;
        rest = strdup(e->out + 1);
        if (!rest)
                return -ENOMEM;
        e->size = 0;
        r = append_variable(e, "HOME", true);
        if (r < 0)
                return r;
        return append(e, rest, strlen(rest));
}

int text_expand(const Text *text,
                const Definition *d,
                char *const *env,
                ExpandFlags flags,
                char **ret,
                ProblemList *problems) {
        _cleanup_free_ char *out = NULL;
        Expander e = { .text = text, .d = d, .env = env, .problems = problems };
        const char *s = text->value;
        int r;

        r = append(&e, "", 0);
        while (r >= 0 && *s) {
                size_t n = strcspn(s, "$");

                if (n > 0) {
                        r = append(&e, s, n);
                        s += n;
                } else if (s[1] == '{')
                        r = expand_reference(&e, &s);
                else
                        r = append(&e, s++, 1);
        }
        if (r >= 0 && (flags & EXPAND_PATH))
                r = expand_home(&e);
        out = e.out;
        if (r < 0)
                return r;
        if (e.failed)
                return -EINVAL;
        *ret = TAKE_PTR(out);
        return 0;
}
