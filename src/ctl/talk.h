/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A session with its handshake behind it: what probe, tools and call have in common. */

#include "ctl/session.h"
#include "mcp-client/client.h"
#include "report/json-out.h"

typedef struct Talk {
        const ServerEntry *server;
        CtlSession *session;
        McpClient *client;
        McpPeer peer;
        uint64_t timeout_usec;
        Starting *starting; /* allocated: the client points to it */

        bool probe; /* noise on stdout is a failure, and not passed over as clients do */
        bool brief; /* nobody will read how it ended: do not wait for it */

        /* Where the server is at fault. */
        bool failed;
        const char *code, *remedy; /* static, or slow_remedy */
        char *slow_remedy;
        char *message;
        char *exit_text; /* "The server exited with status 1."; NULL: it did not, or nobody knows */
        char **last_lines;
} Talk;

void talk_done(Talk *t);
#define _cleanup_talk_ _cleanup_(talk_done)

/* Starts a session and shakes hands. 0: look at ret->failed; an exit status: it was said. The budget is the definition's
 * start timeout unless --timeout says otherwise. */
int talk_open(Ctl *ctl, const char *name, bool probe, Talk *ret);

/* Notes the failure of a request, with what the server said at its end. */
int talk_fail(Talk *t, const McpDiagnosis *diagnosis);

/* Says a failure to a person, or as members of parent. */
int talk_print_failure(Ctl *ctl, FILE *f, const Talk *t);
void talk_add_failure(JsonOut *out, json_object *parent, const Talk *t);

/* The same as a whole answer, on stderr or, with --json, as {"failure":…} on stdout. Returns the exit status. */
int talk_report(Ctl *ctl, const Talk *t);
