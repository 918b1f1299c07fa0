/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What can be wrong with an MCP server, as its client sees it: a stable code for programs, a sentence and a remedy
 * for people. */

#include "basic/macro.h"

typedef enum McpFailure {
        MCP_FAILURE_NONE = 0,
        MCP_FAILURE_NOISE,               /* a line on stdout that is not JSON */
        MCP_FAILURE_LSP_FRAMING,         /* "Content-Length:" */
        MCP_FAILURE_UTF8,                /* a line with invalid UTF-8 */
        MCP_FAILURE_BYTE_ORDER_MARK,     /* a line that starts with one */
        MCP_FAILURE_JSON,                /* a line that starts like a message and is not JSON */
        MCP_FAILURE_JSONRPC,             /* JSON, but no JSON-RPC 2.0 message */
        MCP_FAILURE_ECHO,                /* our own request comes back */
        MCP_FAILURE_OVERSIZED,           /* a line longer than MCP_MESSAGE_MAX, or too many values */
        MCP_FAILURE_TIMEOUT,             /* no answer in time */
        MCP_FAILURE_ENDED,               /* exited, or closed its stdout, without an answer */
        MCP_FAILURE_WRONG_ID,            /* an answer to something that was not asked */
        MCP_FAILURE_UNSUPPORTED_VERSION, /* no protocol version in common */
        MCP_FAILURE_ERROR_REPLY,         /* a JSON-RPC error */
        MCP_FAILURE_RESULT,              /* an answer whose result lacks what the protocol asks for */
        MCP_FAILURE_PAGES,               /* a list without an end */
        _MCP_FAILURE_MAX,
        _MCP_FAILURE_INVALID = -EINVAL,
} McpFailure;

const char *mcp_failure_to_string(McpFailure f); /* "MCP-E-NOISE"; NULL for what is no failure */
McpFailure mcp_failure_from_string(const char *s);

/* One sentence each, with the full stop. NULL for what is no failure. */
const char *mcp_failure_text(McpFailure f);
const char *mcp_failure_remedy(McpFailure f);

/* One failure with everything that is known about it. Text that came from the server is cut to a reasonable length,
 * and control characters in it are escaped. */
typedef struct McpDiagnosis {
        McpFailure failure;
        char *method;          /* the request that waited for its answer */
        char *line;            /* the offending line, or what there was of one; NULL: none */
        char *versions;        /* UNSUPPORTED_VERSION: what the server offers; NULL: it did not say */
        int64_t error_code;    /* ERROR_REPLY */
        char *error_message;   /* ERROR_REPLY, and UNSUPPORTED_VERSION where it came as an error */
        bool respawn_modern;   /* nothing is said about the modern era yet: ask a fresh instance */
        uint64_t n_bytes;      /* read from the server so far: 0 is a server that never said anything */
        uint64_t elapsed_usec; /* since the request was sent */
} McpDiagnosis;

void mcp_diagnosis_done(McpDiagnosis *d);

/* The failure's sentence with the details, on one line: what was waited for, the line, the error. NULL: no memory. */
char *mcp_diagnosis_describe(const McpDiagnosis *d);

/* A copy of n bytes for people: escaped, cut to MCP_SHOWN_MAX bytes before that. NULL: no memory. */
#define MCP_SHOWN_MAX 200U
char *mcp_show(const char *s, size_t n);
