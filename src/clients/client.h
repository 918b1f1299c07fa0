/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The programs whose configurations are imported and exported, and in what their files differ: one row each. */

#include "basic/macro.h"

typedef enum Client {
        CLIENT_CLAUDE_DESKTOP,
        CLIENT_CLAUDE_CODE,
        CLIENT_CURSOR,
        CLIENT_VSCODE,
        CLIENT_ZED,
        CLIENT_WINDSURF,
        CLIENT_GEMINI,
        CLIENT_CODEX,
        CLIENT_MCPPROXY,
        CLIENT_CLINE,
        CLIENT_ROO,
        CLIENT_KIRO,
        CLIENT_COPILOT,
        CLIENT_OPENCODE,
        CLIENT_REGISTRY,
        _CLIENT_MAX,
        _CLIENT_INVALID = -EINVAL,
} Client;

/* How a client writes what it fills in itself (design 4.2 has ours). */
typedef enum PlaceholderFlags {
        PLACEHOLDER_NAME = 1 << 0,       /* ${NAME} */
        PLACEHOLDER_DEFAULT = 1 << 1,    /* ${NAME:-text} */
        PLACEHOLDER_ENV = 1 << 2,        /* ${env:NAME} */
        PLACEHOLDER_PREDEFINED = 1 << 3, /* ${workspaceFolder}, ${userHome} … */
        PLACEHOLDER_INPUT = 1 << 4,      /* ${input:ID}, ${command:ID}, ${config:KEY} */
        PLACEHOLDER_KEYRING = 1 << 5,    /* ${keyring:NAME} */
        PLACEHOLDER_BARE = 1 << 6,       /* $NAME */
        PLACEHOLDER_BRACES = 1 << 7,     /* {env:NAME}, {file:PATH} */
} PlaceholderFlags;

typedef enum ClientFormat { FORMAT_JSON, FORMAT_TOML } ClientFormat;

typedef struct ClientInfo {
        const char *name;  /* as on the command line */
        const char *title; /* as people know it */
        ClientFormat format;
        const char *key;       /* of the object (or array) that holds the servers; NULL: none */
        unsigned placeholders; /* PlaceholderFlags */
        /* Where its file is: below the working directory (of a project), or below HOME. NULL: none. First that is there. */
        const char *project_file;
        const char *home_files[3];
} ClientInfo;

const ClientInfo *client_info(Client client);
const char *client_to_string(Client client);
Client client_from_string(const char *s); /* _CLIENT_INVALID */
