/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* From one entry's JSON to a Definition. The loader and the fuzzers use it; other rooms use config/definition.h. */

#include "config/definition.h"
#include "config/fields.h"

struct DefinitionReader {
        Definition *d;
        ProblemList *problems;
        JsonValue *document; /* the root that entry belongs to */
        /* Keys that only mean something beside others; NULL: not given. */
        const JsonValue *enabled, *disabled;
        const JsonValue *remote;     /* the transport that says so */
        const JsonValue *stdio;      /* the transport that says so */
        const JsonValue *url;        /* in whatever spelling */
        const JsonValue *no_network; /* MCPProxy's network_mode "none" */
};

/* Reads one entry. name: what the server is called; file: for messages and Definition.file; document: the root of entry,
 * of which the definition may keep a reference (json_ref). Problems are collected to the end, and the definition is
 * returned whatever they are. -EINVAL and -ENAMETOOLONG as server_name_escape(); -ENOMEM. */
int definition_read(
                JsonValue *document,
                const JsonValue *entry,
                const char *name,
                const char *file,
                Dialect dialect,
                Definition **ret,
                ProblemList *problems);

/* Parses text (an own file) first. -EINVAL where it is no JSON object: problems says why, and nothing is returned. */
int definition_read_text(
                const char *text,
                size_t size,
                const char *name,
                const char *file,
                Definition **ret,
                ProblemList *problems);

/* Adds what json_parse() says to problems. */
void problem_add_json(ProblemList *problems, const char *file, int error, const JsonError *e);

/* Why name cannot be a server's name; error: what server_name_escape() returned. */
void problem_add_name(ProblemList *problems, const char *file, const char *name, int error);

/* The readers that config/fields.c points to, in definition-fields.c. */
int field_read_group(
                DefinitionReader *reader,
                const Field *field,
                const JsonValue *v); /* an object with fields */
int field_read_command(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_path(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_paths(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_args(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_env(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_credentials(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_boolean(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_enabled(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_tristate(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_choice(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_mode(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_protocol(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_type(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_url(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_name(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_manifest(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_unix_sockets(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_network_mode(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_ignored(DefinitionReader *reader, const Field *field, const JsonValue *v);

/* Those of numbers, sizes and times, in definition-numbers.c. */
int field_read_size(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_count(DefinitionReader *reader, const Field *field, const JsonValue *v); /* or "infinity" */
int field_read_unsigned(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_duration(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_init_timeout(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_cpu(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_rlimit(DefinitionReader *reader, const Field *field, const JsonValue *v);

/* Those of lists of names, in definition-names.c. */
int field_read_user(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_users(DefinitionReader *reader, const Field *field, const JsonValue *v);
int field_read_accept_env(DefinitionReader *reader, const Field *field, const JsonValue *v);

/* For the readers. */
#define complain(reader, at, code, remedy, ...) \
        problem_add((reader)->problems,         \
                    PROBLEM_ERROR,              \
                    (code),                     \
                    (reader)->d->file,          \
                    (at),                       \
                    (remedy),                   \
                    __VA_ARGS__)

/* Is v of that type? If not, says what is expected there. */
bool field_expect(DefinitionReader *reader, const Field *field, const JsonValue *v, JsonType type);
/* Not more than FIELD_ITEMS_MAX items? For what is not linear in them: a strange file must not hold up the boot. */
#define FIELD_ITEMS_MAX 4096U
bool field_expect_few(DefinitionReader *reader, const JsonValue *v);
/* A string without NUL. */
bool field_expect_string(DefinitionReader *reader, const Field *field, const JsonValue *v);
static inline void *field_target(DefinitionReader *reader, const Field *field) {
        return (char *) reader->d + field->offset;
}

/* Notes v as accepted and without effect. */
int definition_ignore(DefinitionReader *reader, const JsonValue *v);

/* Checks that need more than one key, when all are read: in definition-check.c. */
void definition_check(DefinitionReader *reader, const JsonValue *entry);
