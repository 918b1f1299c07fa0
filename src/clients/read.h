/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reading entries: what the readers of the different shapes share. */

#include "clients/client-server.h"
#include "clients/placeholder.h"

typedef struct EntryReader {
        ClientImport *import;
        const ImportContext *context;
        const JsonValue *inputs; /* VS Code's */
        const char *origin;      /* of the entries that are read now; NULL: the only place */
        const char *workspace;   /* likewise; NULL: none */
} EntryReader;

/* A new server at the end of import's list; valid until the next is added. -ENOMEM. */
int entry_add(EntryReader *reader, const char *name, const JsonValue *value, ClientServer **ret);

/* Reads one entry whose keys are those of entry-keys.c's table. */
int entry_read(EntryReader *reader, const char *name, const JsonValue *value);

/* The registry's server.json. */
int registry_read(EntryReader *reader, const JsonValue *document);

/* VS Code's "sandbox" object. */
int vscode_read_sandbox(EntryReader *reader, ClientServer *s, const JsonValue *v);

/* Which client's file it is (facts: the shapes in clients/client.c's table and a few keys that only one has).
 * _CLIENT_INVALID: none is recognized. */
Client client_detect(const JsonValue *document, const char *path);

/* Checks and completes what needs more than one key. */
int entry_finish(EntryReader *reader, ClientServer *s);

#define entry_complain(reader, s, at, code, remedy, ...) \
        problem_add(&(s)->problems,                      \
                    PROBLEM_ERROR,                       \
                    (code),                              \
                    (reader)->import->path,              \
                    (at),                                \
                    (remedy),                            \
                    __VA_ARGS__)
#define entry_warn(reader, s, at, code, remedy, ...) \
        problem_add_key(&(s)->problems,              \
                        PROBLEM_WARNING,             \
                        (code),                      \
                        (reader)->import->path,      \
                        (at),                        \
                        (remedy),                    \
                        __VA_ARGS__)
#define entry_note(reader, s, at, code, remedy, ...) \
        problem_add_key(&(s)->problems,              \
                        PROBLEM_NOTE,                \
                        (code),                      \
                        (reader)->import->path,      \
                        (at),                        \
                        (remedy),                    \
                        __VA_ARGS__)

/* A string of the client, translated. *ret NULL: it is no string, and that was said. */
int entry_string(EntryReader *reader, ClientServer *s, const JsonValue *v, char **ret);
