/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The server's side of MCP: what answers which line, in both eras.
 *
 * An "initialize" opens a legacy session; a request whose _meta names a protocol version is served as the modern era
 * has it, without a session (https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning). */

#include "basic/jsonc-util.h"

typedef enum ServerMode {
        SERVER_DUAL,
        SERVER_LEGACY_ONLY,
        SERVER_MODERN_ONLY,
} ServerMode;

typedef struct Server {
        ServerMode mode;
        const char *version; /* the legacy version that was agreed on; NULL before */
} Server;

/* Answers one line of n bytes. *ret is NULL where no answer is due (notifications, responses, empty lines). -ENOMEM;
 * everything that is wrong with the line is in the answer. */
int server_answer(Server *s, const char *line, size_t n, json_object **ret);

/* An error answer that belongs to no request. NULL: no memory. */
json_object *server_error(int code, const char *message);
