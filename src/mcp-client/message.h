/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* JSON-RPC messages out of a server's stdout, however it is cut into pieces.
 *
 * Stricter than a server has to be, as strict as clients are: one message a line in valid UTF-8, no byte order mark.
 * Empty lines are passed over, as all clients do. */

#include "basic/jsonc-util.h"
#include "basic/line-buffer.h"
#include "mcp-client/failure.h"

#define MCP_MESSAGE_MAX (16U * 1024U * 1024U)

typedef enum McpMessageType {
        MCP_MESSAGE_REQUEST,
        MCP_MESSAGE_NOTIFICATION,
        MCP_MESSAGE_RESULT,
        MCP_MESSAGE_ERROR,
} McpMessageType;

typedef struct McpMessage {
        McpMessageType type;
        json_object *root; /* the reference that is owned; all else points into it */
        json_object *id;   /* a string or an integer; NULL: none, or null (possible for ERROR only) */
        const char *method;
        json_object *result;
        int64_t error_code;
        const char *error_message;
        json_object *error_data; /* may be NULL */
} McpMessage;

void mcp_message_done(McpMessage *m);
#define _cleanup_mcp_message_ _cleanup_(mcp_message_done)

typedef struct McpReader {
        LineBuffer buffer;
        bool allow_batch;   /* protocol version 2025-03-26 has arrays of messages */
        json_object *batch; /* the array that is being handed out */
        size_t batch_index;
} McpReader;

#define MCP_READER_INIT ((McpReader){ .buffer = LINE_BUFFER_INIT(MCP_MESSAGE_MAX) })

void mcp_reader_done(McpReader *r);

/* The next message of what the buffer holds. 1: *ret is one; 0: there is no whole one; a negative errno (-ENOMEM).
 * -EBADMSG: *ret_failure says what is wrong and *ret_line shows the line (to be freed; NULL for an oversized one);
 * the call after that goes on behind it. */
int mcp_reader_next(McpReader *r, McpMessage *ret, McpFailure *ret_failure, char **ret_line);

/* The same for what is left without a newline when nothing more comes: which failure it explains, or
 * MCP_FAILURE_NONE. *ret_line is NULL where nothing is left. 0 or -ENOMEM. */
int mcp_reader_rest(McpReader *r, McpFailure *ret_failure, char **ret_line);
