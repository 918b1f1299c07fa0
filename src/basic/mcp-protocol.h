/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The words and numbers of MCP (https://modelcontextprotocol.io/specification) that more than one room says. */

/* Legacy versions open with "initialize"; the modern one has no handshake and carries _meta in every request. */
#define MCP_VERSION_2024_11_05    "2024-11-05"
#define MCP_VERSION_2025_03_26    "2025-03-26" /* the only one with JSON-RPC batches */
#define MCP_VERSION_2025_06_18    "2025-06-18"
#define MCP_VERSION_2025_11_25    "2025-11-25"
#define MCP_VERSION_MODERN        "2026-07-28"
#define MCP_VERSION_LEGACY_NEWEST MCP_VERSION_2025_11_25

/* An initializer, newest first, NULL at the end. */
#define MCP_VERSIONS_LEGACY                                                             \
        {                                                                               \
                MCP_VERSION_2025_11_25, MCP_VERSION_2025_06_18, MCP_VERSION_2025_03_26, \
                                MCP_VERSION_2024_11_05, NULL                            \
        }

#define MCP_META_VERSION             "io.modelcontextprotocol/protocolVersion"
#define MCP_META_CLIENT_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define MCP_META_CLIENT_INFO         "io.modelcontextprotocol/clientInfo"
#define MCP_META_SERVER_INFO         "io.modelcontextprotocol/serverInfo"

enum {
        MCP_ERROR_PARSE = -32700,
        MCP_ERROR_INVALID_REQUEST = -32600,
        MCP_ERROR_METHOD_NOT_FOUND = -32601,
        MCP_ERROR_INVALID_PARAMS = -32602,
        MCP_ERROR_INTERNAL = -32603,
        MCP_ERROR_HEADER_MISMATCH = -32020,              /* modern only */
        MCP_ERROR_MISSING_CLIENT_CAPABILITY = -32021,    /* modern only */
        MCP_ERROR_UNSUPPORTED_PROTOCOL_VERSION = -32022, /* modern only; data: supported[], requested */
};
