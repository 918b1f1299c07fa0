/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The actions of the session's table. Each returns the event that follows from it at once, or none. */

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "basic/string-util.h"
#include "manager/lost-scope.h"
#include "supervisor/server.h"

#define SCOPE_NAMES_MAX   5U
#define CLIENT_GRACE_USEC (250ULL * 1000ULL) /* for the client's pipe to follow its connection */
/* A scope that obeys is gone by then: who comes again at once finds its place free. */
#define HANG_UP_USEC (20ULL * 1000ULL)
#define ACCURACY_USEC \
        1000ULL /* sd-event's own is 250 ms, which a client that waits for its server's end would feel */
#define REAP_USEC      (5ULL * USEC_PER_SEC)
#define RETRY_MIN_USEC (500ULL * 1000ULL)
#define RETRY_MAX_USEC (30ULL * USEC_PER_SEC)

void session_event_fields(const Session *s, EventFields *ret) {
        const Server *server = s->server;

        *ret = EVENT_FIELDS_INIT;
        ret->server = server->name;
        ret->unit = server->unit;
        ret->user = server->scope == RUNTIME_SCOPE_USER;
        ret->session = s->unique[0] ? s->unique : NULL;
        ret->scope = s->scope;
        ret->client_pid = s->client.peer.pid;
        ret->client_uid = s->client.peer.uid;
        if (s->setup && s->setup->plan) {
                ret->mode = s->setup->plan->isolation_mode;
                ret->source = isolation_source_to_string(s->setup->plan->isolation.source);
                ret->isolated = s->setup->plan->isolation.isolated;
                ret->landlock_abi = s->setup->landlock_abi;
                ret->missing = s->setup->missing;
        }
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        session_handle(userdata, SESSION_EVENT_TIMER);
        return 0;
}

int session_arm_timer(Session *s, uint64_t usec) {
        s->timer = sd_event_source_disable_unref(s->timer);
        return sd_event_add_time_relative(
                        s->server->event, &s->timer, CLOCK_MONOTONIC, usec, ACCURACY_USEC, on_timer, s);
}

/* Arms the state's timer, or acts as if it had run out where there is no memory for one: an end that comes too early is
 * better than none. */
static SessionEvent timer_or_now(Session *s, uint64_t usec) {
        return session_arm_timer(s, usec) < 0 ? SESSION_EVENT_TIMER : _SESSION_EVENT_NONE;
}

/* Before there is a server */

static SessionEvent do_await_hello(Session *s, SessionEvent event) {
        if (session_await_hello(s) >= 0)
                return _SESSION_EVENT_NONE;
        refusal_set(&s->refusal, "MCP-R-START", EXIT_UNAVAILABLE, "The supervisor is out of resources.");
        return SESSION_EVENT_NOT_ADMITTED;
}

static void refuse_scope(Session *s, int error) {
        refusal_set(&s->refusal,
                    "MCP-R-START",
                    EXIT_UNAVAILABLE,
                    "The server's scope cannot be asked for: %s.",
                    STRERROR(error));
}

static SessionEvent do_queue(Session *s, SessionEvent event) {
        int r;

        s->timer = sd_event_source_disable_unref(s->timer);
        if (server_admit(s->server, s, &s->refusal) < 0)
                return SESSION_EVENT_NOT_ADMITTED;
        r = session_prepare_scope(s);
        if (r < 0) {
                refuse_scope(s, r);
                return SESSION_EVENT_NOT_ADMITTED;
        }
        r = server_queue(s->server);
        if (r < 0) {
                refuse_scope(s, r);
                return SESSION_EVENT_NOT_ADMITTED;
        }
        return _SESSION_EVENT_NONE;
}

static SessionEvent do_launch(Session *s, SessionEvent event) {
        if (session_make_child(s) >= 0)
                return _SESSION_EVENT_NONE;
        s->start_call = manager_call_free(s->start_call);
        return SESSION_EVENT_NOT_ADMITTED;
}

/* The manager has the longest part of it, so it is asked before anything else. */
static int ask_for_scope(Session *s) {
        int r;

        r = session_start_scope(s);
        if (r < 0) {
                refuse_scope(s, r);
                return r;
        }
        r = session_watch_child(s);
        if (r >= 0)
                r = session_watch_client(s);
        if (r < 0)
                return r;
        session_tell_starting(s);
        server_update_status(s->server);
        return 0;
}

void session_launch_all(Session *const *sessions, size_t n) {
        for (size_t i = 0; i < n; i++)
                session_handle(sessions[i], SESSION_EVENT_TURN);
        for (size_t i = 0; i < n; i++)
                if (sessions[i]->state == SESSION_SCOPE && ask_for_scope(sessions[i]) < 0)
                        session_handle(sessions[i], SESSION_EVENT_SCOPE_FAILED);
}

static SessionEvent do_rename(Session *s, SessionEvent event) {
        if (s->n_names < SCOPE_NAMES_MAX && session_prepare_scope(s) >= 0 && session_start_scope(s) >= 0)
                return _SESSION_EVENT_NONE;
        refusal_set(&s->refusal,
                    "MCP-R-START",
                    EXIT_UNAVAILABLE,
                    "The manager took the server's process into none of %u scopes.",
                    s->n_names);
        return SESSION_EVENT_SCOPE_FAILED;
}

static SessionEvent do_go(Session *s, SessionEvent event) {
        SessionEvent next = session_check_scope(s);
        int r;

        if (next != _SESSION_EVENT_NONE)
                return next;
        r = session_release_child(s);
        if (r >= 0)
                return _SESSION_EVENT_NONE;
        refusal_set(&s->refusal,
                    "MCP-R-START",
                    EXIT_UNAVAILABLE,
                    "The server's process is gone before it began: %s.",
                    STRERROR(r));
        return SESSION_EVENT_SCOPE_FAILED;
}

static SessionEvent do_settle(Session *s, SessionEvent event) {
        SessionEvent next = session_read_failure(s);

        /* Without a word it died at execve() or after it. */
        return next == _SESSION_EVENT_NONE ? SESSION_EVENT_EXECUTED : next;
}

/* While there is one */

static int on_runtime_over(sd_event_source *source, uint64_t usec, void *userdata) {
        session_handle(userdata, SESSION_EVENT_RUNTIME);
        return 0;
}

static SessionEvent do_announce(Session *s, SessionEvent event) {
        const Plan *plan = s->setup->plan;
        EventFields fields;

        s->executed_usec = server_now(s->server);
        session_tell_running(s);
        session_event_fields(s, &fields);
        fields.pid = s->child.pid;
        event_log(&s->server->journal,
                  EVENT_SESSION_STARTED,
                  &fields,
                  "Session %s of %s started in %s.",
                  s->unique,
                  s->server->name,
                  s->scope);
        if (plan->runtime_max_usec < LIMIT_INFINITY)
                /* Without it the scope's own RuntimeMaxUSec ends the session, a little later. */
                (void) sd_event_add_time_relative(
                                s->server->event,
                                &s->runtime_timer,
                                CLOCK_MONOTONIC,
                                plan->runtime_max_usec,
                                0,
                                on_runtime_over,
                                s);
        if (s->child.exited)
                return SESSION_EVENT_CHILD_EXITED;
        return s->input_ended ? SESSION_EVENT_INPUT_ENDED : _SESSION_EVENT_NONE;
}

static SessionEvent do_note_input_ended(Session *s, SessionEvent event) {
        s->input_ended = true;
        return _SESSION_EVENT_NONE;
}

static void note_cause(Session *s, SessionEvent event) {
        if (s->cause != STOP_CAUSE_NONE)
                return;
        s->died_meanwhile = session_child_is_exiting(s);
        s->cause = event == SESSION_EVENT_STOP      ? STOP_CAUSE_REQUEST
                   : event == SESSION_EVENT_RUNTIME ? STOP_CAUSE_RUNTIME
                                                    : STOP_CAUSE_CLIENT;
}

static SessionEvent do_grace(Session *s, SessionEvent event) {
        note_cause(s, event);
        return timer_or_now(s, s->setup->plan->eof_grace_usec);
}

static SessionEvent do_end_input(Session *s, SessionEvent event) {
        note_cause(s, event);
        if (session_end_input(s))
                return timer_or_now(s, s->setup->plan->eof_grace_usec);
        /* A pipe's end is made by who writes to it, and nobody else: no use in waiting, save for a client that is just
         * dying, whose descriptors do not all close at once. */
        return timer_or_now(s, event == SESSION_EVENT_CLIENT_GONE ? CLIENT_GRACE_USEC : 0);
}

/* Stopping */

static void kill_child(Session *s) {
        if (s->child.pidfd >= 0 && !s->child.exited)
                (void) syscall(SYS_pidfd_send_signal, s->child.pidfd, SIGKILL, NULL, 0);
}

static bool was_killed(const Session *s) {
        siginfo_t status = {};

        if (!s->stopped_before_exit || s->oom_kills > 0)
                return false;
        if (waitid(P_PIDFD, (id_t) s->child.pidfd, &status, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            status.si_pid == 0)
                return false;
        return status.si_code != CLD_EXITED && status.si_status == SIGKILL;
}

static void on_unit_stopped(void *userdata, int result, const char *detail) {
        Session *s = userdata;
        uint64_t took = server_now(s->server) - s->stop_usec, kill_after = s->setup->plan->kill_after_usec;

        s->stop_call = manager_call_free(s->stop_call);
        /* Without a time between the two signals only the process itself shows which of them ended it. */
        if (result >= 0 && s->executed_usec > 0 && (kill_after > 0 ? took >= kill_after : was_killed(s)))
                s->killed = true;
        s->n_forgotten = result >= 0 && s->cgroup ? cgroup_kill_all(s->cgroup) : 0;
        session_handle(s,
                       result >= 0 && s->n_forgotten <= 0 ? SESSION_EVENT_UNIT_STOPPED
                                                          : SESSION_EVENT_UNIT_NOT_STOPPED);
}

static bool died_early(const Session *s, SessionEvent event) {
        return event == SESSION_EVENT_CHILD_EXITED ||
               (event == SESSION_EVENT_EXEC_FAILED && s->child.failed.stage == SANDBOX_STAGE_NONE);
}

/* Killed where it had to stop anyway. */
static bool by_stop(const Session *s, SessionEvent event) {
        return event == SESSION_EVENT_STOP || (s->cause == STOP_CAUSE_REQUEST && died_early(s, event));
}

static void explain_abort(Session *s, SessionEvent event) {
        _cleanup_free_ char *text = NULL;

        if (s->refusal.code)
                return;
        if (by_stop(s, event))
                refusal_set(&s->refusal,
                            "MCP-R-STOPPING",
                            EXIT_UNAVAILABLE,
                            "The server's service is being stopped.");
        else if (died_early(s, event))
                refusal_set(&s->refusal,
                            "MCP-R-START",
                            EXIT_UNAVAILABLE,
                            "The server's process was killed before it began.");
        else if (event == SESSION_EVENT_EXEC_FAILED) {
                text = sandbox_failure_format(s->setup->plan, &s->child.failed);
                refusal_set(&s->refusal,
                            "MCP-R-EXEC",
                            sandbox_failure_exit_code(&s->child.failed),
                            "%s",
                            text ? text : "The server's process could not be confined.");
        } else if (event != SESSION_EVENT_CLIENT_GONE)
                refusal_set(&s->refusal,
                            "MCP-R-START",
                            EXIT_UNAVAILABLE,
                            "The supervisor is out of resources.");
}

static void log_failed_start(Session *s) {
        EventFields fields;

        session_event_fields(s, &fields);
        fields.code = s->refusal.code;
        event_log(&s->server->journal,
                  EVENT_REFUSED,
                  &fields,
                  "A session of %s was not started: %s",
                  s->server->name,
                  strempty(s->refusal.reason));
        server_session_failed(s->server, s, s->refusal.reason);
}

/* There was no server, and its client is told why. */
static void give_up(Session *s, SessionEvent event) {
        explain_abort(s, event);
        if (s->refusal.code && by_stop(s, event))
                server_log_refusal(s->server, s); /* nothing has failed */
        else if (s->refusal.code)
                log_failed_start(s);
        session_tell_refusal(s);
}

static SessionEvent do_stop(Session *s, SessionEvent event) {
        int r;

        if (s->executed_usec == 0 && s->cause == STOP_CAUSE_REQUEST && !s->refusal.code)
                /* The grace was for a server that had not begun yet. */
                give_up(s, SESSION_EVENT_STOP);
        s->timer = sd_event_source_disable_unref(s->timer);
        s->runtime_timer = sd_event_source_disable_unref(s->runtime_timer);
        s->start_call = manager_call_free(s->start_call);
        s->stopped_before_exit = !s->child.exited;
        s->stop_usec = server_now(s->server);
        if (s->child.exited)
                (void) session_arm_timer(s, HANG_UP_USEC);
        if (!s->scope)
                /* It came to nothing before there was even a name. */
                return SESSION_EVENT_UNIT_STOPPED;
        r = manager_stop_unit(
                        s->server->manager,
                        s->scope,
                        s->setup->plan->kill_after_usec + MANAGER_TIMEOUT_USEC,
                        on_unit_stopped,
                        s,
                        &s->stop_call);
        return r < 0 ? SESSION_EVENT_UNIT_NOT_STOPPED : _SESSION_EVENT_NONE;
}

static SessionEvent do_abort(Session *s, SessionEvent event) {
        give_up(s, event);
        session_hang_up(s);
        s->child.go = safe_close(s->child.go);
        kill_child(s);
        return do_stop(s, event);
}

static SessionEvent do_hang_up(Session *s, SessionEvent event) {
        _cleanup_(session_end_done) SessionEnd e = {};

        if (s->executed_usec > 0 && s->child.exited) {
                session_end_find(s, &e);
                stderr_log_drain(&s->stderr_log);
                session_tell_exit(s, &e);
        }
        session_hang_up(s);
        return _SESSION_EVENT_NONE;
}

static void log_not_stopped(Session *s) {
        EventFields fields;

        session_event_fields(s, &fields);
        if (s->n_forgotten > 0)
                event_log(&s->server->journal,
                          EVENT_SESSION_KILLED,
                          &fields,
                          "systemd no longer had the scope of session %s of %s, and %d processes were left "
                          "in its control group: they were killed.",
                          s->unique,
                          s->server->name,
                          s->n_forgotten);
        else
                event_log(&s->server->journal,
                          EVENT_SESSION_FAILED,
                          &fields,
                          "The scope of session %s of %s could not be stopped; this is tried again.",
                          s->unique,
                          s->server->name);
}

static SessionEvent do_retry_later(Session *s, SessionEvent event) {
        uint64_t delay = RETRY_MIN_USEC << MIN(s->n_stop_failures, 8U);

        if (s->n_stop_failures++ == 0)
                log_not_stopped(s);
        /* The manager does not help, so at least the main process goes. */
        kill_child(s);
        if (s->child.exited)
                (void) do_hang_up(s, event);
        return timer_or_now(s, MIN(delay, RETRY_MAX_USEC));
}

static SessionEvent do_hang_up_soon(Session *s, SessionEvent event) {
        return timer_or_now(s, HANG_UP_USEC);
}

static SessionEvent do_reap(Session *s, SessionEvent event) {
        if (s->child.exited)
                return SESSION_EVENT_CHILD_EXITED;
        kill_child(s);
        return timer_or_now(s, REAP_USEC);
}

/* Ends */

static int on_bury(sd_event_source *source, void *userdata) {
        Session *s = userdata;

        server_session_ended(s->server, s);
        return 0;
}

static SessionEvent bury(Session *s) {
        s->timer = sd_event_source_disable_unref(s->timer);
        session_hang_up(s);
        /* Not here: the callers up the stack still use it. Where even this fails it stays in the list as ended. */
        (void) sd_event_add_defer(s->server->event, &s->bury, on_bury, s);
        return _SESSION_EVENT_NONE;
}

static SessionEvent do_refuse(Session *s, SessionEvent event) {
        if (!s->refusal.code && event == SESSION_EVENT_STOP)
                refusal_set(&s->refusal,
                            "MCP-R-STOPPING",
                            EXIT_UNAVAILABLE,
                            "The server's service is being stopped.");
        else if (!s->refusal.code)
                refusal_set(&s->refusal,
                            "MCP-R-HELLO",
                            EXIT_UNAVAILABLE,
                            "The client did not say what it wants.");
        server_log_refusal(s->server, s);
        session_tell_refusal(s);
        return bury(s);
}

static SessionEvent do_finish(Session *s, SessionEvent event) {
        s->start_call = manager_call_free(s->start_call);
        if (s->executed_usec > 0)
                session_report_end(s);
        if (s->child.pidfd >= 0)
                (void) waitid(P_PIDFD, (id_t) s->child.pidfd, &s->child.status, WEXITED | WNOHANG);
        return bury(s);
}

static SessionEvent do_nothing(Session *s, SessionEvent event) {
        return _SESSION_EVENT_NONE;
}

void session_handle(Session *s, SessionEvent event) {
        static SessionEvent (*const actions[_SESSION_ACTION_MAX])(Session *, SessionEvent) = {
                [SESSION_ACTION_IGNORE] = do_nothing,
                [SESSION_ACTION_AWAIT_HELLO] = do_await_hello,
                [SESSION_ACTION_QUEUE] = do_queue,
                [SESSION_ACTION_LAUNCH] = do_launch,
                [SESSION_ACTION_RENAME] = do_rename,
                [SESSION_ACTION_GO] = do_go,
                [SESSION_ACTION_SETTLE] = do_settle,
                [SESSION_ACTION_ANNOUNCE] = do_announce,
                [SESSION_ACTION_NOTE_INPUT_ENDED] = do_note_input_ended,
                [SESSION_ACTION_GRACE] = do_grace,
                [SESSION_ACTION_END_INPUT] = do_end_input,
                [SESSION_ACTION_ABORT] = do_abort,
                [SESSION_ACTION_STOP] = do_stop,
                [SESSION_ACTION_RETRY_LATER] = do_retry_later,
                [SESSION_ACTION_HANG_UP_SOON] = do_hang_up_soon,
                [SESSION_ACTION_HANG_UP] = do_hang_up,
                [SESSION_ACTION_REAP] = do_reap,
                [SESSION_ACTION_REFUSE] = do_refuse,
                [SESSION_ACTION_FINISH] = do_finish,
        };
        SessionTransition t;

        while (session_machine_next(s->state, event, &t)) {
                s->state = t.next;
                event = actions[t.action](s, event);
        }
}

bool session_has_slot(const Session *s) {
        return s->state > SESSION_HELLO && s->state < SESSION_ENDED;
}

int session_new(Server *server, SocketKind kind, int fd, const Peer *peer, Session **ret) {
        Session *s = calloc(1, sizeof(*s));

        if (!s) {
                (void) safe_close(fd);
                return -ENOMEM;
        }
        s->server = server;
        s->setup = server->setup ? setup_ref(server->setup) : NULL;
        s->client = (SessionClient){
                .kind = kind,
                .fd = fd,
                .input = -EBADF,
                .stdio = { -EBADF, -EBADF, -EBADF },
                .peer = { .pid = peer->pid, .uid = peer->uid },
        };
        s->child = (SessionChild){
                .pidfd = -EBADF,
                .go = -EBADF,
                .failure = -EBADF,
                .err = -EBADF,
                .memory_events = -EBADF,
                .pids_events = -EBADF,
                .memory_peak = -EBADF,
                .slice_events = -EBADF,
                .slice_local = -EBADF,
        };
        s->stderr_log = STDERR_LOG_INIT;
        s->next = server->sessions;
        server->sessions = s;
        *ret = s;
        return 0;
}

Session *session_free(Session *s) {
        if (!s)
                return NULL;
        manager_call_free(s->start_call);
        manager_call_free(s->stop_call);
        manager_call_free(s->result_call);
        sd_event_source_disable_unref(s->timer);
        sd_event_source_disable_unref(s->runtime_timer);
        sd_event_source_disable_unref(s->bury);
        session_client_done(s);
        session_child_done(s);
        stderr_log_done(&s->stderr_log);
        refusal_done(&s->refusal);
        setup_unref(s->setup);
        free(s->scope);
        free(s->cgroup);
        free(s->scope_result);
        free(s);
        return NULL;
}
