/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a client's configuration says to reach a server of ours: mcp-connect, and nothing of the server itself. */

#include "clients/client-server.h"

#define CONNECT_PROGRAM "mcp-connect"

/* The arguments of mcp-connect. NULL: out of memory. */
char **connect_arguments(RuntimeScope scope, const char *name);

typedef struct ExportedServer {
        const char *name;
        uint64_t start_timeout_usec; /* what the server may take to start; for clients that give up earlier */
} ExportedServer;

/* A whole small file in the client's shape, ending with a newline. -EOPNOTSUPP: the client has no shape to export to
 * (the registry); -ENOMEM. */
int client_export(Client client, RuntimeScope scope, const ExportedServer *servers, size_t n, char **ret);

/* s as a TOML basic string with its quotes. NULL: out of memory. */
char *toml_quote(const char *s);
