/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* add and remove: a definition file in the strongest directory, and the units that follow from it. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/jobs.h"
#include "ctl/own-file.h"
#include "report/json-out.h"

/* Relative to where the person is, which no server will be. */
static char *make_absolute(const char *path) {
        _cleanup_free_ char *cwd = NULL;

        if (path_is_absolute(path) || startswith(path, "~/") || startswith(path, "$"))
                return strdup(path);
        cwd = get_current_dir_name();
        if (cwd) {
                _cleanup_free_ char *joined = path_join(cwd, path);

                return joined ? path_simplify(joined) : NULL;
        }
        return NULL;
}

static int add_env(Ctl *ctl, JsonOut *out) {
        json_object *o;

        if (!ctl->env)
                return 0;
        o = json_out_object(out, out->root, "env");
        STRV_FOREACH (e, ctl->env) {
                const char *value = strchr(*e, '=');
                _cleanup_free_ char *name = value ? strndup(*e, (size_t) (value - *e)) : NULL;

                if (!name)
                        return -ENOMEM;
                json_out_string(out, o, name, value + 1);
        }
        return 0;
}

static int add_env_file(Ctl *ctl, JsonOut *out) {
        _cleanup_free_ char *path = make_absolute(ctl->env_file);

        if (!path)
                return -ENOMEM;
        json_out_string(out, out->root, "envFile", path);
        return 0;
}

static int add_isolation(Ctl *ctl, JsonOut *out) {
        json_object *o, *list;

        if (!ctl->write && !ctl->network && !ctl->strict)
                return 0;
        o = json_out_object(out, out->root, "isolation");
        if (ctl->strict)
                json_out_string(out, o, "enforcement", "strict");
        if (ctl->network)
                json_out_string(out, o, "network", ctl->network);
        if (!ctl->write)
                return 0;
        list = json_out_array(out, o, "write");
        STRV_FOREACH (path, ctl->write) {
                _cleanup_free_ char *absolute = make_absolute(*path);

                if (!absolute)
                        return -ENOMEM;
                json_out_string(out, list, NULL, absolute);
        }
        return 0;
}

static int make_text(Ctl *ctl, char **command, char **ret) {
        _cleanup_free_ char *program =
                        strchr(command[0], '/') ? make_absolute(command[0]) : strdup(command[0]);
        _cleanup_json_out_ JsonOut out;
        _cleanup_jsonc_ json_object *root = NULL;
        const char *text;
        int r;

        json_out_init(&out, /* array= */ false);
        if (!program)
                return -ENOMEM;
        json_out_string(&out, out.root, "command", program);
        if (command[1])
                json_out_strv(&out, out.root, "args", command + 1);
        r = add_env(ctl, &out);
        if (r >= 0 && ctl->env_file)
                r = add_env_file(ctl, &out);
        if (r >= 0)
                r = add_isolation(ctl, &out);
        if (r >= 0)
                r = json_out_finish(&out, &root);
        if (r < 0)
                return r;
        text = json_object_to_json_string_ext(
                        root,
                        JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
        *ret = text ? strformat("%s\n", text) : NULL;
        return *ret ? 0 : -ENOMEM;
}

static int check_utf8(Ctl *ctl, char *const *words, const char *what) {
        STRV_FOREACH (w, words)
                if (!string_is_utf8(*w, strlen(*w)))
                        return ctl_fail(ctl,
                                        CTL_DEFINITION,
                                        "MCP-X-USAGE",
                                        "JSON holds nothing else.",
                                        "One of the %s is not UTF-8.",
                                        what);
        return 0;
}

static int check_words(Ctl *ctl, char **command) {
        int r = check_utf8(ctl, command, "arguments");

        if (r == 0)
                r = check_utf8(ctl, ctl->env, "values of --env");
        if (r == 0)
                r = check_utf8(ctl, ctl->write, "paths of --write");
        return r;
}

static int find_entry(Ctl *ctl, const char *name, const ServerEntry **ret) {
        const ServerList *list;
        int r;

        *ret = NULL;
        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        return ctl_has_server(list, name) ? ctl_find_server(ctl, name, ret) : 0;
}

static int check_name(Ctl *ctl, const char *name, char **ret_instance) {
        int r = server_name_escape(name, ret_instance);

        if (r == -ENOMEM || r >= 0)
                return r;
        return ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        "Use letters, digits, \"_\", \"-\" and \".\".",
                        r == -ENAMETOOLONG ? "\"%s\" is too long for a name."
                                           : "\"%s\" cannot be the name of a server.",
                        name);
}

static int check_free(Ctl *ctl, const char *name, const ServerEntry *old) {
        if (!old || ctl->force)
                return 0;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-EXISTS",
                        "Take another name, or replace it with --force.",
                        "There is a server \"%s\" already, defined in %s.",
                        name,
                        old->file);
}

static int undo_of_add(Ctl *ctl, const char *name, const char *path, bool replaced) {
        _cleanup_free_ char *undo = replaced ? ctl_restore_command(ctl, path, "restart", name)
                                             : ctl_command(ctl, "remove", name);

        return ctl_say_undo(ctl, name, path, undo);
}

static int install(
                Ctl *ctl, const char *name, const char *instance, const ServerEntry *old, const char *text) {
        _cleanup_free_ char *path = NULL;
        /* Values of variables may be secrets; the supervisor and the generator are root in the system manager. */
        mode_t mode = ctl->scope == RUNTIME_SCOPE_USER || ctl->env ? 0600 : 0644;
        bool replaced = old && is_own_file(ctl, old) && !old->masked;
        int r, status;

        r = replaced ? ((path = strdup(old->file)) ? 0 : -ENOMEM) : own_file_path(ctl, name, &path);
        if (r < 0)
                return r;
        r = own_text_check(ctl, name, path, text, strlen(text));
        if (r != 0)
                return r < 0 ? r
                             : ctl_fail(ctl,
                                        (CtlExit) r,
                                        "MCP-X-NOT-SAVED",
                                        NULL,
                                        "Nothing was changed, because \"%s\" would not start.",
                                        name);
        r =
                        own_file_write(ctl,
                                       path,
                                       mode,
                                       text,
                                       strlen(text),
                                       replaced                       ? OWN_FILE_BACKUP
                                       : old && is_own_file(ctl, old) ? 0
                                                                      : OWN_FILE_NEW);
        if (r != 0)
                return r;
        r = ctl_say(ctl, "%s is defined in %s.", name, path);
        if (r < 0)
                return r;
        status = ctl_apply(ctl, old ? JOB_RESTART : JOB_START, name, instance);
        if (status < 0)
                return status;
        if (status == 0)
                r = ctl_say(ctl,
                            "In a client's configuration its command is \"mcp-connect\" and its argument "
                            "\"%s\".",
                            name);
        if (r >= 0)
                r = undo_of_add(ctl, name, path, replaced);
        return r < 0 ? r : status;
}

int verb_add(Ctl *ctl, char **operands) {
        _cleanup_free_ char *instance = NULL, *text = NULL;
        const char *name = operands[0];
        const ServerEntry *old;
        int r;

        r = check_name(ctl, name, &instance);
        if (r == 0)
                r = find_entry(ctl, name, &old);
        if (r == 0)
                r = check_free(ctl, name, old);
        if (r == 0)
                r = check_words(ctl, operands + 1);
        if (r == 0)
                r = make_text(ctl, operands + 1, &text);
        return r == 0 ? install(ctl, name, instance, old, text) : r;
}

static int fail_not_ours(Ctl *ctl, const ServerEntry *e) {
        _cleanup_free_ char *command = ctl_command(ctl, "disable", e->name), *remedy = NULL;

        if (!command)
                return -ENOMEM;
        remedy = is_client_file(ctl, e) ? strformat("Take its entry out of that file, or run: %s", command)
                                        : strformat("This switches it off: %s", command);
        if (!remedy)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-NOT-OURS",
                        remedy,
                        "\"%s\" is defined in %s, which is not a file of its own in %s.",
                        e->name,
                        e->file,
                        ctl->paths.server_dirs[0]);
}

static int remove_one(Ctl *ctl, const ServerEntry *e) {
        const char *weaker = e->shadowed ? e->shadowed[0] : NULL;
        _cleanup_free_ char *undo = NULL;
        int r, status;

        if (!is_own_file(ctl, e))
                return fail_not_ours(ctl, e);
        r = own_file_set_aside(ctl, e->file);
        if (r != 0)
                return r;
        r = ctl_say(ctl, "%s is no longer defined: its file was renamed to %s~.", e->name, e->file);
        if (r >= 0 && weaker)
                r = ctl_say(ctl, "%s, which it had hidden, is in effect now.", weaker);
        if (r < 0)
                return r;
        status = ctl_apply(ctl, weaker ? JOB_RESTART : JOB_STOP, e->name, e->instance);
        if (status < 0)
                return status;
        undo = ctl_restore_command(ctl, e->file, "start", e->name);
        r = ctl_say_undo(ctl, e->name, e->file, undo);
        return r < 0 ? r : status;
}

int verb_remove(Ctl *ctl, char **operands) {
        const ServerEntry *e;
        int r;

        r = ctl_find_server(ctl, operands[0], &e);
        return r == 0 ? remove_one(ctl, e) : r;
}
