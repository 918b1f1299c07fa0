/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The supervisor of one server: its sockets, its sessions, its own life. */

#include "supervisor/access-query.h"
#include "supervisor/server-machine.h"
#include "supervisor/session.h"
#include "supervisor/share.h"

#define MANAGER_TIMEOUT_USEC (20ULL * USEC_PER_SEC)
/* Clients that have connected to NAME.connect and said nothing yet; they have no slot of sessions.max. */
#define WAITING_MAX 64U

struct Server {
        RuntimeScope scope;
        char *instance, *name; /* name: as people write it */
        char *unit;            /* mcp-server@INSTANCE.service */
        sd_event *event;
        Manager *manager;
        Journal journal;

        ServerState state;
        Setup *setup;    /* NULL: refusal says why */
        Refusal refusal; /* of everybody who may hear it */
        int unserved; /* of systemd.exec(5): this is mcp-server-unserved@.service, which serves nobody; 0: it is not */
        Setup *next; /* these take their places when who may connect is known */
        Refusal next_refusal;
        AccessQuery *query;
        AccessRules access;
        bool access_known, access_is_default; /* default: there is no definition that could say */
        int exit_code;

        int listen[2]; /* by SocketKind; -EBADF */
        sd_event_source *listen_source[2];
        sd_event_source *idle, *give_up, *accept_again, *status, *query_again, *linger, *launch,
                        *launch_latest;
        Session *sessions;

        Shares failures;
        char **degraded;        /* causes that were alerted already */
        char *last_end;         /* what the last session that ended ran into; NULL: it did not */
        char *status_text;      /* as it was sent last */
        RateLimit refusal_rate; /* of CLIENT_REFUSED records */
        uint64_t n_unlogged;
        bool ready; /* systemd was told that clients are served */
};

/* Takes the sockets of LISTEN_FDS. unserved: why the supervisor could not be executed; 0: this is it. */
int server_new(RuntimeScope scope, const char *instance, int unserved, sd_event *event, Server **ret);
Server *server_free(Server *s);
DEFINE_TRIVIAL_CLEANUP_FUNC(Server *, server_free);

int server_start(Server *s); /* from then on the loop runs it */
void server_handle(Server *s, ServerEvent event);
/* Reads the definition. The event that follows from it, none as long as who may connect is being looked up, or -ENOMEM,
 * -EMFILE and the like, when nothing has changed. */
int server_load(Server *s, ServerEvent *ret);
int server_open_manager(Server *s, Refusal *ret_refusal); /* -ECANCELED: refused */

/* For sessions. */
int server_queue(Server *s); /* a session is queued: has it launched by the loop, soon */
/* A session that has waited for its client through a reload gets what holds now. -ECANCELED: session->refusal says why not. */
int server_renew(Server *s, Session *session);
int server_admit(Server *s, const Session *session, Refusal *ret); /* -ECANCELED: refused */
void server_session_failed(Server *s, const Session *session, const char *reason);
void server_session_over(Server *s, const SessionEnd *end); /* for the status */
void server_session_stable(Server *s, const Session *session);
void server_session_ended(Server *s, Session *session); /* takes it off the list */
void server_update_status(Server *s);
void server_log_refusal(Server *s, const Session *session);
/* Says DEGRADED once per cause. */
void server_degraded(Server *s, const Session *session, const char *cause, const char *message);
uint64_t server_now(const Server *s);
