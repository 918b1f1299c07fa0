/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A session of a server with pipes of our own, over the same NAME.connect that every client uses: what works here works
 * for them. */

#include "control/start-notice.h"
#include "ctl/ctl.h"

typedef struct CtlSession {
        int control; /* readable again once it has ended */
        int to_server, from_server;
        int errors; /* what the server wrote to stderr, where its definition sends that to the client */
        ControlStatus running; /* what the supervisor said at the start */
        ControlStatus last;    /* refused or exited */
        bool ended;            /* last is set */
        uint64_t started_usec; /* how long it took to run */
} CtlSession;

CtlSession *session_free(CtlSession *s); /* closes everything, which ends the session */
DEFINE_TRIVIAL_CLEANUP_FUNC(CtlSession *, session_free);
#define _cleanup_session_ _cleanup_(session_freep)

/* What is told on stderr while a server does not answer yet. */
typedef struct Starting {
        const Ctl *ctl;
        const char *name; /* of the server; borrowed */
        StartNotice notice;
} Starting;

void starting_begin(Starting *s, const Ctl *ctl, const char *name, uint64_t budget_usec);

/* Says it where it is due; returns when to be called again. A McpWaiting, with a Starting. */
uint64_t starting_wait(void *userdata, uint64_t now_usec);

/* Connects and waits until the server runs. An exit status (with everything said) where it is refused, is not listening
 * or does not run in time. timeout_usec: of the whole start. again: it ended just now, so a refusal is no news: nothing is
 * said, and the session is one that has ended. */
int session_open(
                Ctl *ctl,
                const ServerEntry *server,
                bool probe,
                bool again,
                uint64_t timeout_usec,
                Starting *starting,
                CtlSession **ret);

/* The last word of the supervisor, waited for at most timeout_usec: 0: s->last is set, -ETIMEDOUT, -ECONNRESET: the
 * supervisor is gone without one. */
int session_wait_end(CtlSession *s, uint64_t timeout_usec);

/* Ends the server's stdin and says to the supervisor that there is nothing more to come; it still answers. */
void session_say_goodbye(CtlSession *s);

/* The last lines that the server wrote to stderr, from the exited message or from our own end. -ENOMEM. */
int session_last_lines(CtlSession *s, char ***ret);
