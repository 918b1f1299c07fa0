/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The client's side of MCP over stdio: a handshake that finds out the era, requests and their answers.
 *
 * Functions return a negative errno where something failed on our side (memory, a bad descriptor), 0 where all is
 * well, and an McpFailure where the server is at fault; mcp_client_diagnosis() has the details of that one. Nothing
 * waits beyond its timeout, whatever the server does; memory stays below a few times MCP_MESSAGE_MAX.
 *
 * The facts about the eras are in the versioning and transport chapters of
 * https://modelcontextprotocol.io/specification/2026-07-28 and of 2025-11-25. */

#include "basic/jsonc-util.h"
#include "mcp-client/failure.h"

#define MCP_START_TIMEOUT_USEC  (120U * 1000000U)
#define MCP_SECOND_TIMEOUT_USEC (10U * 1000000U)

typedef enum McpProtocol {
        MCP_PROTOCOL_AUTO,
        MCP_PROTOCOL_LEGACY,
        MCP_PROTOCOL_MODERN,
        _MCP_PROTOCOL_MAX,
        _MCP_PROTOCOL_INVALID = -EINVAL,
} McpProtocol;

const char *mcp_protocol_to_string(McpProtocol p); /* "auto", "legacy", "modern" */
McpProtocol mcp_protocol_from_string(const char *s);

typedef enum McpCapabilities {
        MCP_CAPABILITY_TOOLS = 1 << 0,
        MCP_CAPABILITY_RESOURCES = 1 << 1,
        MCP_CAPABILITY_PROMPTS = 1 << 2,
        MCP_CAPABILITY_LOGGING = 1 << 3,
        MCP_CAPABILITY_COMPLETIONS = 1 << 4,
        MCP_CAPABILITY_TASKS = 1 << 5,
        MCP_CAPABILITY_EXPERIMENTAL = 1 << 6,
        MCP_CAPABILITY_EXTENSIONS = 1 << 7,
} McpCapabilities;

/* The names of the capabilities that are set, in the order above. 0 or -ENOMEM. */
int mcp_capabilities_to_strv(McpCapabilities capabilities, char ***ret);

/* Who answered. The strings come from the server: escaped and cut, fit to be printed. */
typedef struct McpPeer {
        McpProtocol era;           /* LEGACY or MODERN */
        char *protocol_version;    /* the one that is spoken from now on */
        char *server_name;         /* NULL: it did not say (possible in the modern era) */
        char *server_version;      /* likewise */
        char **supported_versions; /* modern: all that it offers; legacy: the one */
        McpCapabilities capabilities;
        uint64_t elapsed_usec; /* from the first request to the last answer */
        unsigned n_noise;      /* lines passed over (mcp_client_set_skip_noise) */
        char *noise;           /* the first of them, or NULL */
} McpPeer;

void mcp_peer_done(McpPeer *p);
#define _cleanup_mcp_peer_ _cleanup_(mcp_peer_done)

typedef struct McpTimeouts {
        uint64_t start_usec; /* the whole handshake, a cold start included; 0: MCP_START_TIMEOUT_USEC */
        uint64_t second_usec; /* of that, the server/discover behind a refused initialize; 0: MCP_SECOND_TIMEOUT_USEC */
} McpTimeouts;

typedef struct McpClient McpClient;

/* The descriptors stay the caller's, and open until the client is freed. to_fd takes what the server reads, from_fd
 * gives what it writes (they may be one socket): their open file descriptions become non-blocking, so they must not be
 * shared with anyone. dead_fd (-EBADF: none) becomes readable when the server is dead, as a pidfd does: then an output
 * that somebody else still holds open is not waited for. SIGPIPE is not raised. */
int mcp_client_new(int to_fd, int from_fd, int dead_fd, McpClient **ret);
McpClient *mcp_client_free(McpClient *c); /* always NULL */
DEFINE_TRIVIAL_CLEANUP_FUNC(McpClient *, mcp_client_free);
#define _cleanup_mcp_client_ _cleanup_(mcp_client_freep)

/* What the server is told about us; "mcpctl" and our version unless set. The string is not copied. */
void mcp_client_set_name(McpClient *c, const char *name);

/* Lines that are noise are counted and passed over, as most clients do, instead of being a failure. Where an answer
 * doesn't come, the noise still is the failure. */
void mcp_client_set_skip_noise(McpClient *c, bool skip);

/* Called while not one byte has come from the server, with CLOCK_MONOTONIC's microseconds; returns when to be called again,
 * UINT64_MAX: never. */
typedef uint64_t (*McpWaiting)(void *userdata, uint64_t now_usec);
void mcp_client_set_waiting(McpClient *c, McpWaiting waiting, void *userdata);

/* Once per client, and before anything else.
 *
 * AUTO sends initialize first, because it is what most servers know, and one message is all that it takes for them.
 * Where that is refused, server/discover follows on the same pipe. Where the server was silent or ended instead, it
 * may still be a modern one that gave up: the failure is reported with respawn_modern, and the caller should try MODERN
 * on a fresh instance (timeout: MCP_SECOND_TIMEOUT_USEC), and report the first failure where that fails too. */
int mcp_client_handshake(McpClient *c, McpProtocol protocol, const McpTimeouts *timeouts, McpPeer *ret);

/* Sends a request and waits for its answer. params (an object or NULL) is borrowed; what the era asks for is added to a
 * copy. Meanwhile notifications are passed over, a ping of the server is answered, any other request of it refused. */
int mcp_client_request(
                McpClient *c,
                const char *method,
                json_object *params,
                uint64_t timeout_usec,
                json_object **ret);

/* Legacy: ping; modern, which has none: server/discover. */
int mcp_client_ping(McpClient *c, uint64_t timeout_usec);

typedef struct McpTool {
        char *name;                /* as the server has it: escape it before printing */
        char *description;         /* likewise; NULL: none */
        json_object *input_schema; /* NULL: none */
} McpTool;

typedef struct McpTools {
        McpTool *items;
        size_t n;
} McpTools;

#define MCP_TOOLS_MAX 10000U
#define MCP_PAGES_MAX 200U

void mcp_tools_done(McpTools *t);
#define _cleanup_mcp_tools_ _cleanup_(mcp_tools_done)

/* All pages, within one timeout. */
int mcp_client_list_tools(McpClient *c, uint64_t timeout_usec, McpTools *ret);

/* arguments (an object or NULL) is borrowed. The result is the server's, with "content" and perhaps "isError". */
int mcp_client_call_tool(
                McpClient *c,
                const char *name,
                json_object *arguments,
                uint64_t timeout_usec,
                json_object **ret);

/* The last failure; all zero before the first. It belongs to the client. */
const McpDiagnosis *mcp_client_diagnosis(const McpClient *c);
