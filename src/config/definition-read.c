/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The walk over an entry's keys. */

#include <sys/resource.h>

#include "basic/string-util.h"
#include "config/definition-read.h"

void problem_add_json(ProblemList *problems, const char *file, int error, const JsonError *e) {
        if (error == -ENOMEM) {
                problems->failed = true;
                return;
        }
        problem_add_at(problems,
                       PROBLEM_ERROR,
                       "MCP-C-JSON",
                       file,
                       e->line,
                       e->column,
                       NULL,
                       NULL,
                       "%s.",
                       e->message);
}

static int definition_new(const char *name, const char *file, Dialect dialect, Definition **ret) {
        static const RlimitEntry rlimits[] = {
                { RLIMIT_NOFILE, "nofile", 4096 },
                { RLIMIT_CORE, "core", 0 },
        };
        _cleanup_free_ char *instance = NULL;
        RlimitEntry *grown;
        Arena *arena = NULL;
        Definition *d;
        int r;

        r = server_name_escape(name, &instance);
        if (r < 0)
                return r;
        d = arena_take(&arena, sizeof(Definition));
        if (!d)
                return -ENOMEM;
        *d = (Definition){
                .arena = arena,
                .dialect = dialect,
                .enabled = true,
                .isolation.enabled = TRISTATE_UNSET,
                .limits = { .memory = LIMIT_UNSET,
                            .swap = LIMIT_UNSET,
                            .cpu = LIMIT_UNSET,
                            .runtime_usec = LIMIT_UNSET,
                            .tasks = 512 },
                .sessions = { .max = 8, .idle_timeout_usec = 300 * USEC_PER_SEC },
                .stop = { .eof_grace_usec = 5 * USEC_PER_SEC, .kill_after_usec = 10 * USEC_PER_SEC },
                .start_timeout_usec = 60 * USEC_PER_SEC,
        };
        d->name = arena_copy(&d->arena, name, strlen(name));
        d->instance = arena_copy(&d->arena, instance, strlen(instance));
        d->file = arena_copy(&d->arena, file, strlen(file));
        for (size_t i = 0; i < ELEMENTSOF(rlimits); i++) {
                grown = arena_grow(&d->arena, d->limits.rlimits, i, sizeof(RlimitEntry));
                if (!grown)
                        break;
                grown[i] = rlimits[i];
                d->limits.rlimits = grown;
                d->limits.n_rlimits = i + 1;
        }
        if (!d->name || !d->instance || !d->file || d->limits.n_rlimits < ELEMENTSOF(rlimits)) {
                definition_free(d);
                return -ENOMEM;
        }
        *ret = d;
        return 0;
}

static int unknown_key(DefinitionReader *reader, FieldGroup group, const JsonValue *v) {
        _cleanup_free_ char *remedy = NULL;
        const char *nearest, *foreign_remedy = NULL;
        ForeignKind kind = FOREIGN_NONE;

        if (group == FIELD_GROUP_TOP)
                kind = foreign_key_kind(v->key, &foreign_remedy);
        if (kind != FOREIGN_NONE) {
                problem_add_key(reader->problems,
                                kind == FOREIGN_LIMIT ? PROBLEM_WARNING : PROBLEM_NOTE,
                                "MCP-C-IGNORED",
                                reader->d->file,
                                v,
                                foreign_remedy,
                                "\"%s\" is another program's key and has no effect here.",
                                v->key);
                return definition_ignore(reader, v);
        }
        nearest = field_nearest(group, v->key);
        if (nearest) {
                remedy = strformat("Did you mean \"%s\"?", nearest);
                if (!remedy)
                        return -ENOMEM;
        }
        if (group == FIELD_GROUP_TOP && !nearest) {
                problem_add_key(reader->problems,
                                PROBLEM_WARNING,
                                "MCP-C-UNKNOWN-KEY",
                                reader->d->file,
                                v,
                                "Remove it if you expect anything of it.",
                                "The unknown key \"%.64s\" has no effect.",
                                v->key);
                return definition_ignore(reader, v);
        }
        problem_add_key(reader->problems,
                        PROBLEM_ERROR,
                        "MCP-C-UNKNOWN-KEY",
                        reader->d->file,
                        v,
                        remedy,
                        group == FIELD_GROUP_TOP ? "\"%.64s\" is no key of a definition.%.0s"
                                                 : "\"%.64s\" is no key of \"%s\".",
                        v->key,
                        field_group_to_string(group));
        return 0;
}

static int read_member(DefinitionReader *reader, FieldGroup group, const JsonValue *v) {
        const Field *field = field_find(group, v->key);

        if (!field)
                return unknown_key(reader, group, v);
        if (v->type == JSON_NULL && ((field->flags & FIELD_NULLABLE) || reader->d->dialect != DIALECT_OWN))
                return 0;
        return field->read(reader, field, v);
}

static int read_members(DefinitionReader *reader, FieldGroup group, const JsonValue *object) {
        const JsonValue *item;
        int r;

        if (!field_expect_few(reader, object))
                return 0;
        JSON_FOREACH (item, object) {
                r = read_member(reader, group, item);
                if (r < 0)
                        return r;
        }
        return 0;
}

int field_read_group(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect(reader, field, v, JSON_OBJECT))
                return 0;
        return read_members(reader, field->detail, v);
}

int definition_read(
                JsonValue *document,
                const JsonValue *entry,
                const char *name,
                const char *file,
                Dialect dialect,
                Definition **ret,
                ProblemList *problems) {
        _cleanup_definition_ Definition *d = NULL;
        DefinitionReader reader = { .problems = problems, .document = document };
        int r;

        r = definition_new(name, file, dialect, &d);
        if (r < 0)
                return r;
        reader.d = d;
        d->document = json_ref(document);
        d->entry = entry;
        if (entry->type != JSON_OBJECT)
                complain(&reader,
                         entry,
                         "MCP-C-TYPE",
                         "Write { \"command\": … }.",
                         "A server's definition must be an object, not %s.",
                         json_type_to_string(entry->type));
        else {
                r = read_members(&reader, FIELD_GROUP_TOP, entry);
                if (r < 0)
                        return r;
                definition_check(&reader, entry);
        }
        *ret = TAKE_PTR(d);
        return 0;
}

/* Someone put a client's whole file among the servers. */
static bool is_client_file(const JsonValue *root) {
        return !json_get(root, "command") && (json_get(root, "mcpServers") || json_get(root, "servers"));
}

int definition_read_text(
                const char *text,
                size_t size,
                const char *name,
                const char *file,
                Definition **ret,
                ProblemList *problems) {
        _cleanup_json_ JsonValue *root = NULL;
        JsonError e = {};
        int r;

        r = json_parse(text, size, JSON_STRICT, &root, &e);
        if (r < 0) {
                problem_add_json(problems, file, r, &e);
                return r == -ENOMEM ? r : -EINVAL;
        }
        if (is_client_file(root)) {
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-CLIENT-FILE",
                            file,
                            root,
                            "Save it as mcp.json in the directory above, or split it with \"mcpctl "
                            "import\".",
                            "This is a client's whole configuration, not the definition of one server.");
                return -EINVAL;
        }
        r = definition_read(root, root, name, file, DIALECT_OWN, ret, problems);
        if (r == -EINVAL || r == -ENAMETOOLONG) {
                problem_add_name(problems, file, name, r);
                return -EINVAL;
        }
        return r;
}

void problem_add_name(ProblemList *problems, const char *file, const char *name, int error) {
        if (error == -ENAMETOOLONG)
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-NAME",
                            file,
                            NULL,
                            "Choose a shorter one.",
                            "The server's name \"%.64s…\" is too long: a unit's instance may have %u bytes, "
                            "and "
                            "everything but letters, digits and \"_.:-\" takes four.",
                            name,
                            SERVER_INSTANCE_MAX);
        else
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-NAME",
                            file,
                            NULL,
                            NULL,
                            "\"%.64s\" cannot be the name of a server: it must be UTF-8 and not empty.",
                            name);
}
