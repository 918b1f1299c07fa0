/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One client and the server that was started for it. session.c runs the machine; session-launch.c makes the child and
 * its scope, session-client.c talks to the client, session-end.c finds out why it ended. */

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "control/message.h"
#include "manager/manager.h"
#include "sandbox/sandbox.h"
#include "supervisor/end-reason.h"
#include "supervisor/events.h"
#include "supervisor/peer.h"
#include "supervisor/session-machine.h"
#include "supervisor/setup.h"
#include "supervisor/stderr-log.h"

typedef struct Server Server;
typedef struct Session Session;

typedef struct SessionClient {
        SocketKind kind;
        int fd;    /* the connection: the child's stdin and stdout, or the control connection */
        int input; /* NAME.connect: the client's stdin, held to see its end; -EBADF */
        int stdio[CONTROL_N_FDS]; /* NAME.connect: until the child has them */
        sd_event_source *source, *input_source;
        Peer peer;
        char **env; /* what it passes through, already accepted */
        bool hung_up;
        bool answered; /* the last message was sent */
} SessionClient;

typedef struct SessionChild {
        pid_t pid; /* 0: none */
        int pidfd, go, failure;
        int err; /* its stderr, until stderr_log has it */
        sd_event_source *pidfd_source, *failure_source;
        bool confined;         /* it said that everything holds and execve() is next */
        SandboxFailure failed; /* stage NONE: it did not */
        bool exited;
        siginfo_t status;
        /* v1 or v2 files of its scope, opened while it was there. */
        int memory_events, pids_events, memory_peak;
        int slice_events, slice_local; /* memory.events of the slice that the scope is in */
        sd_event_source *memory_source, *pids_source;
} SessionChild;

struct Session {
        Server *server;
        Session *next;
        Setup *setup;
        SessionState state;

        char unique[17]; /* MCP_SESSION: of the first scope name */
        char *scope;
        char *cgroup; /* its group, once the child was seen there */
        unsigned n_names;
        ManagerCall *start_call, *stop_call, *result_call;
        char *scope_result; /* systemd's Result= of the scope, where it had to be asked */

        SessionClient client;
        SessionChild child;
        StderrLog stderr_log;

        sd_event_source *timer, *runtime_timer, *bury;
        bool input_ended;
        StopCause cause;
        Refusal refusal; /* code set: why there is no server */

        uint64_t executed_usec, exited_usec, stop_usec; /* CLOCK_MONOTONIC; 0: not yet */
        bool stopped_before_exit;
        uint64_t oom_kills, task_refusals, memory_peak; /* in its scope, as far as they were seen */
        /* In all of the slice, when the scope was last seen: kills, and groups that ran into their limits. */
        uint64_t slice_oom_kills, slice_ooms;
        unsigned n_stop_failures;
        int n_forgotten; /* processes that were left in its group when systemd had no such scope any more */
        bool killed;     /* SIGKILL was needed */
        bool died_meanwhile; /* when its client was seen to go the server was on its way out already */
};

/* Takes fd. The session is in server->sessions until it has ended and freed itself. */
int session_new(Server *server, SocketKind kind, int fd, const Peer *peer, Session **ret);
Session *session_free(Session *s);
void session_handle(Session *s, SessionEvent event);
/* Makes the children of queued sessions, then asks for their scopes: after a fork each page that the supervisor writes to
 * costs a copy, and so it is one copy for all of them. */
void session_launch_all(Session *const *sessions, size_t n);
bool session_has_slot(const Session *s); /* counts against sessions.max */
int session_arm_timer(Session *s, uint64_t usec);
void session_event_fields(const Session *s, EventFields *ret);

/* session-launch.c */
int session_prepare_scope(Session *s); /* its name, and all that can be done before there is a child */
int session_make_child(Session *s);    /* -ECANCELED: s->refusal says why */
int session_start_scope(Session *s);
int session_watch_child(Session *s);
SessionEvent session_check_scope(Session *s); /* is the child there, and do the limits hold? */
int session_release_child(Session *s);
SessionEvent session_read_failure(Session *s); /* EXECUTED, EXEC_FAILED, or none yet */
void session_child_done(Session *s);

/* session-client.c */
int session_watch_client(Session *s);
int session_await_hello(Session *s);
void session_tell_starting(Session *s);
void session_tell_running(Session *s);
void session_tell_refusal(Session *s);
void session_tell_exit(Session *s, const SessionEnd *e);
bool session_end_input(Session *s); /* false: it cannot be made to end */
void session_hang_up(Session *s);   /* the client sees the end of everything */
void session_client_done(Session *s);

/* session-end.c */
void session_end_find(const Session *s, SessionEnd *ret);
void session_watch_limits(Session *s, const char *cgroups); /* /proc/PID/cgroup of the child, in its scope */
bool session_child_is_exiting(const Session *s);
void session_note_exit(Session *s);  /* the child is dead and not reaped: what can be known only now */
void session_report_end(Session *s); /* to client, journal and back-off */
