/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The readers of strings, lists, objects and words. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/definition-read.h"

bool field_expect(DefinitionReader *reader, const Field *field, const JsonValue *v, JsonType type) {
        if (v->type == type)
                return true;
        complain(reader,
                 v,
                 "MCP-C-TYPE",
                 NULL,
                 v->parent && v->parent->type == JSON_ARRAY
                                 ? "Every entry of \"%s\" must be %s, and this is %s."
                                 : "\"%s\" must be %s, not %s.",
                 field->name,
                 json_type_to_string(type),
                 json_type_to_string(v->type));
        return false;
}

bool field_expect_few(DefinitionReader *reader, const JsonValue *v) {
        if (v->n_items <= FIELD_ITEMS_MAX)
                return true;
        complain(reader, v, "MCP-C-MANY", NULL, "There are more than %u entries here.", FIELD_ITEMS_MAX);
        return false;
}

static bool string_is_whole(DefinitionReader *reader, const JsonValue *v) {
        if (strlen(v->string) == v->string_length)
                return true;
        complain(reader, v, "MCP-C-NUL", NULL, "A string may not contain a NUL character here.");
        return false;
}

bool field_expect_string(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        return field_expect(reader, field, v, JSON_STRING) && string_is_whole(reader, v);
}

static void text_set(Text *t, const JsonValue *v) {
        *t = (Text){ .value = v->string, .at = v };
}

int definition_ignore(DefinitionReader *reader, const JsonValue *v) {
        return strv_consume(&reader->d->ignored, json_pointer(v));
}

int field_read_ignored(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        int r;

        r = definition_ignore(reader, v);
        if (r < 0 || !(field->flags & FIELD_FOREIGN))
                return r;
        problem_add_key(reader->problems,
                        PROBLEM_NOTE,
                        "MCP-C-IGNORED",
                        reader->d->file,
                        v,
                        NULL,
                        "\"%s\" is for docker mode and has no effect here.",
                        field->name);
        return 0;
}

int field_read_network_mode(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (v->type != JSON_STRING || !streq(v->string, "none"))
                return field_read_ignored(reader, field, v);
        reader->no_network = v; /* whether that is all right depends on isolation.network */
        return definition_ignore(reader, v);
}

int field_read_name(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect_string(reader, field, v) || reader->d->dialect != DIALECT_OWN)
                return 0;
        if (!streq(v->string, reader->d->name))
                complain(reader,
                         v,
                         "MCP-C-NAME",
                         "Remove \"name\", or give the file that name with \".json\" behind it.",
                         "This file is called after the server \"%s\", but \"name\" says \"%.64s\".",
                         reader->d->name,
                         v->string);
        return 0;
}

/* Can s become an absolute path? One that starts with a reference is looked at when that is resolved. */
static bool is_rooted(const char *s) {
        return path_is_absolute(s) || streq(s, "~") || startswith(s, "~/") || startswith(s, "${");
}

static bool check_path(DefinitionReader *reader, const char *what, const JsonValue *v) {
        if (isempty(v->string)) {
                complain(reader, v, "MCP-C-EMPTY", NULL, "%s may not be empty.", what);
                return false;
        }
        if (is_rooted(v->string))
                return true;
        complain(reader,
                 v,
                 "MCP-C-RELATIVE-PATH",
                 "Start it with \"/\", \"~/\" or a reference such as ${HOME}.",
                 "%s is a relative path, and there is no directory that it could be relative to.",
                 what);
        return false;
}

int field_read_command(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        const char *s;

        if (!field_expect_string(reader, field, v))
                return 0;
        s = v->string;
        if (isempty(s) && reader->d->dialect != DIALECT_OWN)
                return 0; /* MCPProxy writes "" for a server without one */
        if (strchr(s, '/'))
                (void) check_path(reader, "\"command\"", v);
        else if (isempty(s))
                complain(reader, v, "MCP-C-EMPTY", NULL, "\"command\" may not be empty.");
        else if (!startswith(s, "${") && strpbrk(s, " \t\n"))
                complain(reader,
                         v,
                         "MCP-C-COMMAND-LINE",
                         "Put the program in \"command\" and every argument into \"args\".",
                         "\"command\" is one program, not a command line: no shell takes it apart.");
        text_set(field_target(reader, field), v);
        return 0;
}

int field_read_path(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        _cleanup_free_ char *what = NULL;
        Text *t = field_target(reader, field);

        if (!field_expect_string(reader, field, v))
                return 0;
        if (isempty(v->string) && reader->d->dialect != DIALECT_OWN)
                return 0; /* MCPProxy writes "" for an unset one */
        what = strformat("\"%s\"", field->name);
        if (!what)
                return -ENOMEM;
        (void) check_path(reader, what, v);
        if (t->at) {
                _cleanup_free_ char *other = json_pointer(t->at);

                problem_add_key(reader->problems,
                                PROBLEM_ERROR,
                                "MCP-C-TWICE",
                                reader->d->file,
                                v,
                                "Keep one of them.",
                                "\"%s\" says again what %s says.",
                                field->name,
                                strempty(other));
        }
        text_set(t, v);
        return 0;
}

/* An array of strings. what: of paths, each one rooted; NULL: of any text. */
static int read_strings(
                DefinitionReader *reader,
                const Field *field,
                const JsonValue *v,
                const char *what,
                TextList *l) {
        const JsonValue *item;
        Text *t;

        if (!field_expect(reader, field, v, JSON_ARRAY))
                return 0;
        JSON_FOREACH (item, v) {
                if (item->type != JSON_STRING) {
                        complain(reader,
                                 item,
                                 "MCP-C-TYPE",
                                 "Write it in double quotes.",
                                 "Every entry of \"%s\" must be a string, and this is %s.",
                                 field->name,
                                 json_type_to_string(item->type));
                        continue;
                }
                if (!string_is_whole(reader, item) || (what && !check_path(reader, what, item)))
                        continue;
                t = definition_add_text(reader->d, l);
                if (!t)
                        return -ENOMEM;
                text_set(t, item);
        }
        return 0;
}

int field_read_args(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        return read_strings(reader, field, v, NULL, field_target(reader, field));
}

int field_read_paths(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        return read_strings(reader, field, v, "A writable path", field_target(reader, field));
}

int field_read_unix_sockets(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        Definition *d = reader->d;

        if (v->type == JSON_ARRAY) {
                d->isolation.unix_sockets = UNIX_LIST;
                return read_strings(reader, field, v, "A socket's path", &d->isolation.unix_paths);
        }
        if (v->type == JSON_STRING && streq(v->string, "any"))
                d->isolation.unix_sockets = UNIX_ANY;
        else if (v->type != JSON_STRING || !streq(v->string, "none"))
                complain(reader,
                         v,
                         "MCP-C-VALUE",
                         NULL,
                         "\"unix_sockets\" must be \"none\", \"any\" or an array of paths.");
        return 0;
}

static bool check_variable(DefinitionReader *reader, const JsonValue *member) {
        if (env_name_is_valid(member->key))
                return true;
        problem_add_key(reader->problems,
                        PROBLEM_ERROR,
                        "MCP-C-VARIABLE",
                        reader->d->file,
                        member,
                        "Names have letters, digits and underscores, and no digit first.",
                        "\"%.64s\" is no name of an environment variable.",
                        member->key);
        return false;
}

/* A number as JavaScript would write it: with as few digits as give the same number again. */
static char *number_to_string(const JsonValue *v) {
        char s[40];

        if (v->type == JSON_INTEGER)
                return strformat("%lld", (long long) v->integer);
        for (int digits = 1; digits <= 17; digits++) {
                (void) snprintf(s, sizeof(s), "%.*g", digits, v->real);
                if (strtod(s, NULL) == v->real)
                        break;
        }
        return strdup(s);
}

/* The value of a variable as text. Only VS Code knows numbers, and null for "remove it". */
static int env_value(DefinitionReader *reader, const JsonValue *v, bool *ret_use, const char **ret) {
        bool lenient = reader->d->dialect == DIALECT_VSCODE;

        *ret_use = true;
        if (lenient && v->type == JSON_NULL)
                *ret = NULL;
        else if (lenient && (v->type == JSON_INTEGER || v->type == JSON_REAL)) {
                _cleanup_free_ char *made = number_to_string(v);

                *ret = made ? arena_copy(&reader->d->arena, made, strlen(made)) : NULL;
                if (!*ret)
                        return -ENOMEM;
        } else if (v->type != JSON_STRING) {
                complain(reader,
                         v,
                         "MCP-C-TYPE",
                         "Write it in double quotes.",
                         "The value of a variable must be a string, and this is %s.",
                         json_type_to_string(v->type));
                *ret_use = false;
        } else {
                *ret = v->string;
                *ret_use = string_is_whole(reader, v);
        }
        return 0;
}

int field_read_env(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        Definition *d = reader->d;
        const JsonValue *item;
        int r;

        if (!field_expect(reader, field, v, JSON_OBJECT))
                return 0;
        JSON_FOREACH (item, v) {
                const char *value = NULL;
                EnvEntry *e;
                bool use;

                if (!check_variable(reader, item))
                        continue;
                r = env_value(reader, item, &use, &value);
                if (r < 0)
                        return r;
                if (!use)
                        continue;
                e = definition_add_env(d, &d->env, &d->n_env);
                if (!e)
                        return -ENOMEM;
                *e = (EnvEntry){ .name = item->key, .value = { .value = value, .at = item } };
        }
        return 0;
}

/* A credential is a file in $CREDENTIALS_DIRECTORY, so its name has to be a file's; systemd allows printable ASCII without
 * a colon (credential_name_valid()). What a unit file would read as quoting or a specifier is left out as well. */
static bool credential_name_is_valid(const char *s) {
        if (isempty(s) || streq(s, ".") || streq(s, "..") || strlen(s) > 255)
                return false;
        for (; *s; s++)
                if (*s <= ' ' || *s > '~' || strchr("/:%\\\"'", *s))
                        return false;
        return true;
}

int field_read_credentials(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        Definition *d = reader->d;
        const JsonValue *item;

        if (!field_expect(reader, field, v, JSON_OBJECT))
                return 0;
        JSON_FOREACH (item, v) {
                EnvEntry *e;

                if (!check_variable(reader, item) || !field_expect_string(reader, field, item))
                        continue;
                if (!credential_name_is_valid(item->string)) {
                        complain(reader,
                                 item,
                                 "MCP-C-CREDENTIAL",
                                 "Write the name that systemd knows it by, never the secret itself.",
                                 "This is no name of a credential.");
                        continue;
                }
                e = definition_add_env(d, &d->credentials, &d->n_credentials);
                if (!e)
                        return -ENOMEM;
                e->name = item->key;
                text_set(&e->value, item);
        }
        return 0;
}

int field_read_boolean(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (field_expect(reader, field, v, JSON_BOOLEAN))
                *(bool *) field_target(reader, field) = v->boolean;
        return 0;
}

int field_read_enabled(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect(reader, field, v, JSON_BOOLEAN))
                return 0;
        if (field->detail)
                reader->disabled = v;
        else
                reader->enabled = v;
        return 0;
}

int field_read_tristate(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (field_expect(reader, field, v, JSON_BOOLEAN))
                *(Tristate *) field_target(reader, field) = v->boolean ? TRISTATE_YES : TRISTATE_NO;
        return 0;
}

/* The place of v in the field's choices, or -1 after having complained. */
static int find_choice(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        _cleanup_free_ char *remedy = NULL, *all = NULL;
        const char *nearest;

        for (int i = 0; field->choices[i]; i++)
                if (streq(field->choices[i], v->string))
                        return i;
        all = strv_join((char *const *) field->choices, "\", \"");
        nearest = string_nearest(v->string, field->choices);
        remedy = nearest ? strformat("Did you mean \"%s\"?", nearest) : NULL;
        if (!all || (nearest && !remedy))
                reader->problems->failed = true;
        complain(reader,
                 v,
                 "MCP-C-VALUE",
                 remedy,
                 "\"%s\" must be one of \"%s\", not \"%.40s\".",
                 field->name,
                 strempty(all),
                 v->string);
        return -1;
}

int field_read_choice(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        int i;

        if (!field_expect_string(reader, field, v))
                return 0;
        i = find_choice(reader, field, v);
        if (i >= 0)
                *(int *) field_target(reader, field) = field->detail + i;
        return 0;
}

int field_read_mode(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect_string(reader, field, v) || isempty(v->string))
                return 0;
        (void) find_choice(reader, field, v);
        text_set(field_target(reader, field), v);
        return 0;
}

static bool read_transport(DefinitionReader *reader, const JsonValue *v) {
        static const char *const stdio[] = { "stdio", "local", NULL };
        static const char *const remote[] = { "http", "sse",       "streamable-http", "streamableHttp",
                                              "ws",   "websocket", "remote",          NULL };

        if (strv_contains((char *const *) stdio, v->string))
                reader->stdio = v;
        else if (strv_contains((char *const *) remote, v->string))
                reader->remote = v;
        else
                return false;
        return true;
}

int field_read_type(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect_string(reader, field, v))
                return 0;
        if (!read_transport(reader, v) && !isempty(v->string) && !streq(v->string, "auto"))
                complain(reader,
                         v,
                         "MCP-C-VALUE",
                         "Write \"stdio\", or leave it out.",
                         "\"%.40s\" is no transport that is known here.",
                         v->string);
        return 0;
}

/* Two keys in one: MCPProxy's transport, and which MCP era is spoken. */
int field_read_protocol(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect_string(reader, field, v) || isempty(v->string) || read_transport(reader, v))
                return 0;
        return field_read_choice(reader, field, v);
}

int field_read_url(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (field_expect_string(reader, field, v) && !isempty(v->string))
                reader->url = v;
        return definition_ignore(reader, v);
}

int field_read_manifest(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        Definition *d = reader->d;

        if (v->type == JSON_OBJECT) {
                d->isolation.manifest = (JsonValue *) v;
                return 0;
        }
        if (v->type != JSON_STRING) {
                complain(reader,
                         v,
                         "MCP-C-TYPE",
                         NULL,
                         "\"manifest\" must be an object (the manifest itself) or a string (its path).");
                return 0;
        }
        if (!string_is_whole(reader, v))
                return 0;
        if (isempty(v->string))
                complain(reader, v, "MCP-C-EMPTY", NULL, "\"manifest\" may not be empty.");
        text_set(&d->isolation.manifest_path, v);
        return 0;
}
