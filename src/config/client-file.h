/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A whole configuration file of a client, as it is: MCPProxy's (mcpServers is an array), Claude's, Cursor's and others'
 * (mcpServers is an object), VS Code's (servers is an object). Read leniently, as those programs do. */

#include "config/definition.h"

typedef struct ClientEntry {
        char *name;
        const JsonValue *value; /* in the file's document */
        bool twice;             /* another entry has the same name */
} ClientEntry;

typedef struct ClientFile {
        char *path;
        Dialect dialect;
        JsonValue *document;
        ClientEntry *entries; /* sorted by name */
        size_t n_entries;
        GlobalIsolation global;
        ProblemList problems;        /* of the file as a whole */
        ProblemList global_problems; /* of its docker_isolation block, which concerns every server */
} ClientFile;

/* An empty text is a file without servers. Returns 0 also where problems hold errors: then what could be read is there.
 * -ENOMEM. */
int client_file_parse(const char *text, size_t size, const char *path, ClientFile *ret);
void client_file_done(ClientFile *f);
#define _cleanup_client_file_ _cleanup_(client_file_done)

/* The entry called name, or NULL. */
const ClientEntry *client_file_find(const ClientFile *f, const char *name);

int client_entry_read(const ClientFile *f, const ClientEntry *e, Definition **ret, ProblemList *problems);
