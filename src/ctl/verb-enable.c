/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* enable and disable: one key, changed in the text as it was written. */

#include <fcntl.h>

#include "basic/fd-util.h"
#include "basic/json-edit.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/client-file.h"
#include "ctl/jobs.h"
#include "ctl/own-file.h"

typedef struct Edit {
        char *text;
        size_t size;
        mode_t mode; /* of the file it was read from */
} Edit;

static void edit_done(Edit *e) {
        free(e->text);
}
#define _cleanup_edit_ _cleanup_(edit_done)

/* The object of the server in the document: the whole of a server file, or its entry of a client file. */
static int find_object(
                const ServerEntry *server,
                bool client,
                const Edit *e,
                JsonValue **ret_root,
                const JsonValue **ret) {
        _cleanup_client_file_ ClientFile file = {};
        const ClientEntry *entry;
        int r;

        if (!client) {
                r = json_parse(e->text, e->size, JSON_STRICT, ret_root, NULL);
                if (r >= 0)
                        *ret = *ret_root;
                return r;
        }
        r = client_file_parse(e->text, e->size, server->file, &file);
        if (r < 0)
                return r;
        entry = client_file_find(&file, server->name);
        if (!entry)
                return -ENOENT;
        *ret = entry->value;
        *ret_root = json_ref(file.document);
        return 0;
}

static int set_one(
                const ServerEntry *server,
                bool client,
                Edit *e,
                const char *key,
                const char *literal,
                bool add) {
        _cleanup_json_ JsonValue *root = NULL;
        const JsonValue *object;
        char *text;
        size_t size;
        int r;

        r = find_object(server, client, e, &root, &object);
        if (r < 0)
                return r;
        if (!add && !json_get(object, key))
                return 0;
        r = json_edit_set(e->text, e->size, object, key, literal, &text, &size);
        if (r < 0)
                return r;
        free(e->text);
        e->text = text;
        e->size = size;
        return 0;
}

/* Some clients write "disabled": then it is that which counts. */
static int set_enabled(const ServerEntry *server, bool client, Edit *e, bool on) {
        _cleanup_json_ JsonValue *root = NULL;
        const JsonValue *object;
        bool has_disabled;
        int r;

        r = find_object(server, client, e, &root, &object);
        if (r < 0)
                return r;
        has_disabled = json_get(object, "disabled");
        if (has_disabled) {
                r = set_one(server, client, e, "disabled", on ? "false" : "true", false);
                if (r < 0)
                        return r;
        }
        return set_one(server, client, e, "enabled", on ? "true" : "false", !has_disabled);
}

/* A path beside the file stays where it is when a copy of the file is made elsewhere. */
static int keep_path(const ServerEntry *server, Edit *e, const char *group, const char *key) {
        _cleanup_json_ JsonValue *root = NULL;
        _cleanup_free_ char *directory = NULL, *absolute = NULL;
        _cleanup_jsonc_ json_object *literal = NULL;
        const JsonValue *object, *v;
        char *text;
        size_t size;
        int r;

        r = find_object(server, false, e, &root, &object);
        if (r < 0)
                return r;
        if (group)
                object = json_get(object, group);
        v = json_get(object, key);
        if (!v || v->type != JSON_STRING || strchr("/~$", v->string[0]))
                return 0;
        directory = strndup(server->file, (size_t) (path_basename(server->file) - server->file));
        absolute = directory ? path_join(directory, v->string) : NULL;
        literal = absolute ? json_object_new_string(absolute) : NULL;
        if (!literal)
                return -ENOMEM;
        r = json_edit_set(
                        e->text,
                        e->size,
                        object,
                        key,
                        json_object_to_json_string_ext(literal, JSON_C_TO_STRING_NOSLASHESCAPE),
                        &text,
                        &size);
        if (r < 0)
                return r;
        free(e->text);
        e->text = text;
        e->size = size;
        return 0;
}

static int read_file(Ctl *ctl, const ServerEntry *server, Edit *e) {
        _cleanup_close_ int fd = open(server->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        struct stat st;
        int r;

        r = fd < 0 || fstat(fd, &st) < 0 ? -errno : fd_read_all(fd, JSON_SIZE_MAX, &e->text, &e->size);
        if (r >= 0)
                e->mode = st.st_mode & 0644;
        if (r == -ENOMEM || r >= 0)
                return r;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-FILE",
                        NULL,
                        "%s cannot be read: %s.",
                        server->file,
                        STRERROR(r));
}

static int undo(Ctl *ctl, const ServerEntry *server, const char *path, bool on, bool override) {
        const char *verb = override ? "remove" : on ? "disable" : "enable";
        _cleanup_free_ char *command = ctl_command(ctl, verb, server->name);

        return ctl_say_undo(ctl, server->name, path, command);
}

static int write_enabled(Ctl *ctl, const ServerEntry *server, Edit *e, bool on) {
        bool client = is_client_file(ctl, server), override = !client && !is_own_file(ctl, server);
        _cleanup_free_ char *path = NULL;
        int r, status;

        r = override ? own_file_path(ctl, server->name, &path)
                     : ((path = strdup(server->file)) ? 0 : -ENOMEM);
        if (r >= 0 && override)
                r = keep_path(server, e, "isolation", "manifest");
        if (r >= 0 && override)
                r = keep_path(server, e, NULL, "envFile");
        if (r < 0)
                return r;
        r = own_file_write(ctl, path, e->mode, e->text, e->size, override ? OWN_FILE_NEW : 0);
        if (r != 0)
                return r;
        r = ctl_say(ctl, "%s is %s in %s.", server->name, on ? "enabled" : "disabled", path);
        if (r >= 0 && override)
                r = ctl_say(ctl,
                            "That is a copy which hides %s: later changes there have no effect.",
                            server->file);
        if (r < 0)
                return r;
        status = ctl_apply(ctl, on ? JOB_START : JOB_STOP, server->name, server->instance);
        r = status < 0 ? status : undo(ctl, server, path, on, override);
        return r < 0 ? r : status;
}

static int say_already(Ctl *ctl, const ServerEntry *server, bool on) {
        _cleanup_free_ char *text = strformat(
                        "%s is %s already, in %s.", server->name, on ? "enabled" : "disabled", server->file);

        return text ? ctl_say_unchanged(ctl, server, text) : -ENOMEM;
}

static int switch_server(Ctl *ctl, const char *name, bool on) {
        _cleanup_edit_ Edit e = {};
        const ServerEntry *server;
        int r;

        r = ctl_find_usable_server(ctl, name, &server);
        if (r != 0)
                return r;
        if (server->definition->enabled == on)
                return say_already(ctl, server, on);
        r = read_file(ctl, server, &e);
        if (r != 0)
                return r;
        r = set_enabled(server, is_client_file(ctl, server), &e, on);
        if (r == -EINVAL || r == -ENOENT)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-UNREADABLE",
                                "\"mcpctl check\" says what is wrong with it.",
                                "The definition of \"%s\" in %s cannot be changed as it is.",
                                server->name,
                                server->file);
        return r < 0 ? r : write_enabled(ctl, server, &e, on);
}

int verb_enable(Ctl *ctl, char **operands) {
        return switch_server(ctl, operands[0], true);
}

int verb_disable(Ctl *ctl, char **operands) {
        return switch_server(ctl, operands[0], false);
}
