/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the files of this room: the client, and what handshake and tools build on. */

#include "mcp-client/client.h"
#include "mcp-client/message.h"

struct McpClient {
        int to_fd, from_fd, dead_fd;
        bool to_gone; /* the server doesn't read any more: what it said before is still worth reading */
        bool dead;    /* what is left in from_fd is all there will be */
        bool ended;   /* from_fd is used up */
        bool skip_noise;
        bool opened; /* there was a handshake */
        const char *name;
        McpWaiting waiting;
        void *waiting_userdata;
        McpProtocol era;     /* AUTO: not known yet */
        int64_t last_id;     /* of our requests: 1, 2, 3 … */
        int64_t given_up_id; /* answers up to this one are too late, and no fault */
        McpReader reader;
        char *pending; /* not written yet: pending_start up to pending_end */
        size_t pending_start, pending_end, pending_allocated;
        uint64_t n_bytes;
        uint64_t sent_usec; /* when the request that waits was sent */
        unsigned n_noise;
        char *noise;
        McpDiagnosis diagnosis;
};

uint64_t mcp_now_usec(void); /* CLOCK_MONOTONIC */
uint64_t mcp_deadline(uint64_t timeout_usec);

/* Notes the failure and returns it, or -ENOMEM. line (may be NULL) is taken over. */
int mcp_client_fail(McpClient *c, McpFailure failure, const char *method, char *line);

/* Sends {"jsonrpc":"2.0","method":…} with an id (positive) or without. */
int mcp_client_send(McpClient *c, int64_t id, const char *method, json_object *params);

/* Until all is written or the deadline is there. */
int mcp_client_flush(McpClient *c, const char *method, uint64_t deadline_usec);

/* One request: its answer is a RESULT or an ERROR, both 0. */
int mcp_client_exchange(
                McpClient *c,
                const char *method,
                json_object *params,
                uint64_t deadline_usec,
                McpMessage *ret);

/* The same where an error is a failure (then *ret is the error), and of the modern era's result the type is checked. */
int mcp_client_ask(
                McpClient *c,
                const char *method,
                json_object *params,
                uint64_t deadline_usec,
                McpMessage *ret);

/* The failure that an ERROR is. */
int mcp_client_fail_error(McpClient *c, const char *method, const McpMessage *error);

/* Sets the failure RESULT with what is missing in it. */
int mcp_client_fail_result(McpClient *c, const char *method, const char *missing);

/* params with the modern era's _meta added; params is borrowed and may be NULL. NULL: no memory. */
json_object *mcp_client_modern_params(const McpClient *c, json_object *params);

json_object *mcp_client_info(const McpClient *c); /* {"name":…,"version":…} */
