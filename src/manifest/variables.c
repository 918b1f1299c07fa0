/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest/variables.h"

#include <limits.h>

#include "basic/path-util.h"
#include "basic/string-util.h"

typedef struct Expansion {
        const JsonValue *at;
        const ManifestContext *context;
        Reporter *reporter;
        char *text; /* PATH_MAX bytes: whatever the variables hold, no more is made of them */
        size_t length;
} Expansion;

typedef struct Variable {
        const char *name; /* as written, with the dollar */
        const char *fallback; /* where the environment has none: a path, or one below home behind "~"; NULL: none */
        int (*append)(Expansion *e, const struct Variable *v);
} Variable;

static int too_long(Expansion *e) {
        report(e->reporter,
               PROBLEM_ERROR,
               "MCP-M-PATH",
               e->at,
               "Name the place by a shorter path.",
               "This path is longer than %d bytes, the longest that the kernel takes.",
               PATH_MAX - 1);
        return -EINVAL;
}

static int append(Expansion *e, const char *s, size_t n) {
        if (n >= PATH_MAX - e->length)
                return too_long(e);
        memcpy(e->text + e->length, s, n);
        e->length += n;
        return 0;
}

static int fail(Expansion *e, const char *name, const char *remedy, const char *why) {
        report(e->reporter,
               PROBLEM_ERROR,
               "MCP-M-VARIABLE",
               e->at,
               remedy,
               "%s cannot be used in this path: %s.",
               name,
               why);
        return -EINVAL;
}

/* An empty variable is an unset one, as the XDG base directory specification has it. */
static int append_directory(Expansion *e, const Variable *v) {
        static const Variable home = { "$HOME", NULL, append_directory };
        const char *value = env_get(e->context->env, v->name + 1);
        size_t n;
        int r;

        if (isempty(value)) {
                if (!v->fallback)
                        return fail(e,
                                    v->name,
                                    "Write the path out.",
                                    "the server's environment does not set it");
                if (v->fallback[0] != '~')
                        return append(e, v->fallback, strlen(v->fallback));
                r = append_directory(e, &home);
                return r < 0 ? r : append(e, v->fallback + 1, strlen(v->fallback + 1));
        }
        if (!path_is_absolute(value))
                return fail(e, v->name, "Write the path out.", "its value is not an absolute path");
        n = strlen(value);
        /* One slash too many would do no harm, but $TMPDIRx has to be the same path as in nono. */
        while (streq(v->name, "$TMPDIR") && n > 1 && value[n - 1] == '/')
                n--;
        return append(e, value, n);
}

static int append_working_dir(Expansion *e, const Variable *v) {
        const char *dir = e->context->working_dir;

        if (!dir || !path_is_absolute(dir))
                return fail(e, v->name, "Write the path out.", "the working directory is not known here");
        return append(e, dir, strlen(dir));
}

static int append_uid(Expansion *e, const Variable *v) {
        _cleanup_free_ char *uid = NULL;

        if (e->context->uid == (uid_t) -1)
                return fail(e, v->name, "Write the path out.", "the server's user is not known yet");
        uid = strformat("%u", (unsigned) e->context->uid);
        return uid ? append(e, uid, strlen(uid)) : -ENOMEM;
}

static int append_nono(Expansion *e, const Variable *v) {
        return fail(e,
                    v->name,
                    "Write the path out.",
                    "it is where nono keeps its own state, and there is none here");
}

static const Variable variables[] = {
        { "$WORKDIR", NULL, append_working_dir },
        { "$TMPDIR", "/tmp", append_directory },
        { "$UID", NULL, append_uid },
        { "$HOME", NULL, append_directory },
        { "$XDG_CONFIG_HOME", "~/.config", append_directory },
        { "$XDG_STATE_HOME", "~/.local/state", append_directory },
        { "$XDG_CACHE_HOME", "~/.cache", append_directory },
        { "$XDG_DATA_HOME", "~/.local/share", append_directory },
        { "$XDG_RUNTIME_DIR", NULL, append_directory },
        { "$NONO_CONFIG", NULL, append_nono },
        { "$NONO_PACKAGES", NULL, append_nono },
};

static const Variable *variable_at(const char *s) {
        for (size_t i = 0; i < ELEMENTSOF(variables); i++)
                if (startswith(s, variables[i].name))
                        return variables + i;
        return NULL;
}

/* Text that looks like something that would be expanded, and is not: it stays, as in nono, but is said. */
static void note_literal(Expansion *e, const char *what) {
        report(e->reporter,
               PROBLEM_WARNING,
               "MCP-M-LITERAL",
               e->at,
               "Known are ~/, $WORKDIR, $TMPDIR, $UID, $HOME and the $XDG_ directories.",
               "%s in this path stands for nothing and stays as it is written.",
               what);
}

static int expand(Expansion *e, const char *path) {
        bool noted = false;
        int r;

        if (path[0] == '~' && (path[1] == 0 || path[1] == '/')) {
                r = append_directory(e, variable_at("$HOME"));
                if (r < 0)
                        return r;
                path++;
        } else if (path[0] == '~')
                note_literal(e, "\"~\" before a user's name");
        while (*path) {
                const Variable *v = variable_at(path);

                r = v ? v->append(e, v) : append(e, path, 1);
                if (r < 0)
                        return r;
                if (!v && !noted && path[0] == '$' &&
                    (path[1] == '{' || env_name_is_valid((char[]){ path[1], 0 }))) {
                        note_literal(e, "A \"$\"");
                        noted = true;
                }
                path += v ? strlen(v->name) : 1;
        }
        e->text[e->length] = 0;
        return 0;
}

int manifest_path(const JsonValue *v, const ManifestContext *context, Reporter *reporter, char **ret) {
        _cleanup_free_ char *text = malloc(PATH_MAX), *joined = NULL, *simple = NULL;
        Expansion e = { .at = v, .context = context, .reporter = reporter, .text = text };
        const char *dir = context->working_dir;
        int r;

        if (!text)
                return -ENOMEM;
        r = expand(&e, v->string);
        if (r < 0)
                return r;
        if (!path_is_absolute(text)) {
                if (!dir || !path_is_absolute(dir))
                        return fail(&e,
                                    "A relative name",
                                    "Write an absolute path.",
                                    "the working directory is not known here");
                joined = path_join(dir, text);
                if (!joined)
                        return -ENOMEM;
        }
        simple = path_simplify(joined ?: text);
        if (!simple)
                return -ENOMEM;
        if (strlen(simple) >= PATH_MAX)
                return too_long(&e);
        *ret = TAKE_PTR(simple);
        return 0;
}
