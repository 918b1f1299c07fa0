/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What every client's entry becomes: one server in our words. Strings hold our references only (config/expand.h); a
 * client's own placeholders are translated, and what they need is noted down. */

#include "clients/client.h"
#include "config/definition.h"

typedef struct ServerVariable {
        char *name;
        char *value; /* NULL: the client removes the variable */
        bool secret; /* value is one, and is never shown */
} ServerVariable;

/* What somebody has to set before the server can start. */
typedef struct ServerNeed {
        char *variable; /* of the environment, referred to as ${variable} */
        char *reason;   /* a phrase: "the input \"token\" of VS Code" */
        bool secret;
} ServerNeed;

/* An argument that holds a secret: what is written instead. */
typedef struct SecretArgument {
        size_t index;
        char *variable;    /* that stands for the secret */
        char *replacement; /* the whole argument: "--key=${variable}" */
} SecretArgument;

typedef enum ServerFate {
        SERVER_OURS,    /* becomes a definition */
        SERVER_REMOTE,  /* is reached by a URL: nothing is started */
        SERVER_ALREADY, /* runs mcp-connect */
        SERVER_BROKEN,  /* problems says why */
        _SERVER_FATE_MAX,
} ServerFate;
const char *server_fate_to_string(ServerFate fate);

typedef struct ClientServer {
        char *name;
        char *origin;           /* where in the file: "project /srv/app"; NULL: at its only place */
        const JsonValue *value; /* of the entry, in the file's document */
        ServerFate fate;

        char *command;
        char **args;
        ServerVariable *env;
        size_t n_env;
        char *env_file, *cwd;
        bool enabled, quarantined;
        uint64_t start_timeout_usec, call_timeout_usec; /* LIMIT_UNSET */
        char **write;                                   /* isolation.write */
        char *mode;                                     /* isolation.mode; NULL: not given */
        Tristate isolation_enabled;

        ServerNeed *needs;
        size_t n_needs;
        SecretArgument *secret_args;
        size_t n_secret_args;

        ProblemList problems; /* what was dropped and why, with its place */
} ClientServer;

void client_server_done(ClientServer *s);

/* Adds to the list; -ENOMEM. */
int client_server_add_env(ClientServer *s, const char *name, const char *value, bool secret);
int client_server_add_need(ClientServer *s, const char *variable, const char *reason, bool secret);

typedef struct ClientImport {
        Client client;
        char *path;
        char *text; /* the file, byte for byte */
        size_t size;
        JsonValue *document; /* of TOML, too */
        ClientServer *servers;
        size_t n_servers;
        ProblemList problems; /* of the file as a whole */
} ClientImport;

void client_import_done(ClientImport *import);
#define _cleanup_client_import_ _cleanup_(client_import_done)

/* What the text does not say itself. */
typedef struct ImportContext {
        const char *workspace; /* the project's directory, for ${workspaceFolder} and relative paths; NULL: none */
        const char *name; /* for a file that names no server; NULL: none */
} ImportContext;

/* Reads a client's file. client: _CLIENT_INVALID to find out. 0 also where problems hold errors; -ENOMEM. */
int client_import_parse(
                const char *text,
                size_t size,
                const char *path,
                Client client,
                const ImportContext *context,
                ClientImport *ret);

/* The project that a client's file belongs to: the directory above .vscode, .cursor …, or that of .mcp.json. *ret NULL:
 * it is no project's, as where that is home. path is absolute; home may be NULL. */
int client_file_workspace(const char *path, const char *home, char **ret);
