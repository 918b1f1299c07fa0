/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The actions of the supervisor's table, and what sessions ask of their server. */

#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "basic/string-util.h"
#include "supervisor/server.h"
#include "supervisor/status.h"

#define ACCEPT_BATCH 64U
/* As many children are made at once: who came first waits for those of seven others, not of all. */
#define LAUNCH_BATCH      8U
#define LAUNCH_DELAY_USEC (5ULL * 1000ULL)
#define ACCEPT_AGAIN_USEC \
        (200ULL * 1000ULL) /* after EMFILE and the like: the event would come at once again */
/* So often at most systemd tries a service that it cannot execute: while this program has the sockets, it does not. */
#define LINGER_USEC       (2ULL * USEC_PER_SEC)
#define STATUS_DELAY_USEC (100ULL * 1000ULL)
#define STOP_SLACK_USEC   (15ULL * USEC_PER_SEC)

uint64_t server_now(const Server *s) {
        uint64_t now = 0;

        (void) sd_event_now(s->event, CLOCK_MONOTONIC, &now);
        return now;
}

static void event_fields(const Server *s, EventFields *ret) {
        *ret = EVENT_FIELDS_INIT;
        ret->server = s->name;
        ret->unit = s->unit;
        ret->user = s->scope == RUNTIME_SCOPE_USER;
        if (s->setup) {
                ret->mode = s->setup->plan->isolation_mode;
                ret->source = isolation_source_to_string(s->setup->plan->isolation.source);
                ret->isolated = s->setup->plan->isolation.isolated;
                ret->landlock_abi = s->setup->landlock_abi;
                ret->missing = s->setup->missing;
        }
}

static unsigned count_sessions(const Server *s) {
        unsigned n = 0;

        for (const Session *session = s->sessions; session; session = session->next)
                n += session->state != SESSION_ENDED;
        return n;
}

/* Status */

static void send_status(Server *s) {
        _cleanup_free_ char *text = status_format(s);

        if (!text)
                return;
        /* One line: what is behind the first is in the journal. */
        text[strcspn(text, "\n")] = 0;
        if (streq_ptr(text, s->status_text))
                return;
        (void) sd_notifyf(false, "STATUS=%s", text);
        (void) free_and_strdup(&s->status_text, text);
}

static int on_status(sd_event_source *source, uint64_t usec, void *userdata) {
        Server *s = userdata;

        s->status = sd_event_source_disable_unref(s->status);
        send_status(s);
        return 0;
}

/* A burst of sessions is one message. */
void server_update_status(Server *s) {
        if (s->status)
                return;
        if (sd_event_add_time_relative(
                            s->event, &s->status, CLOCK_MONOTONIC, STATUS_DELAY_USEC, 0, on_status, s) < 0)
                send_status(s);
}

/* Alerts */

void server_degraded(Server *s, const Session *session, const char *cause, const char *message) {
        EventFields fields;

        if (strv_contains(s->degraded, cause) || strv_extend(&s->degraded, cause) < 0)
                return;
        if (session)
                session_event_fields(session, &fields);
        else
                event_fields(s, &fields);
        event_log(&s->journal, EVENT_DEGRADED, &fields, "%s runs DEGRADED: %s.", s->name, strempty(message));
}

static char *describe_missing(const Plan *plan) {
        _cleanup_strv_free_ char **list = NULL;

        for (size_t i = 0; i < _PROTECTION_MAX; i++) {
                const Protection *p = plan->protections + i;

                if (p->state == PROTECTION_MISSING && strv_extendf(&list,
                                                                   "%s is missing (%s)",
                                                                   protection_to_string(p->id),
                                                                   strempty(p->needs)) < 0)
                        return NULL;
        }
        return strv_join(list, "; ");
}

static void alert_confinement(Server *s) {
        const Plan *plan = s->setup->plan;
        _cleanup_free_ char *cause = NULL, *missing = NULL, *text = NULL;
        EventFields fields;

        if (!plan->confined && streq_ptr(plan->isolation_mode, "none")) {
                event_fields(s, &fields);
                event_log(&s->journal,
                          EVENT_UNCONFINED,
                          &fields,
                          "%s runs unconfined (isolation mode none, source %s).",
                          s->name,
                          strempty(isolation_source_to_string(plan->isolation.source)));
        }
        if (strv_length(s->setup->missing) == 0)
                return;
        cause = strv_join(s->setup->missing, " ");
        missing = describe_missing(plan);
        text = strformat("%s%s", plan->confined ? "" : "DEGRADED/unconfined: ", strempty(missing));
        if (cause && text)
                server_degraded(s, NULL, cause, text);
}

static void log_warning(Server *s, const char *warning) {
        _cleanup_free_ char *message = strformat("MESSAGE=%s", strempty(warning));
        _cleanup_free_ char *server = strformat("MCP_SERVER=%s", s->name);
        char *const fields[] = { message, server, (char *) "PRIORITY=4", NULL };

        if (message && server)
                journal_send(&s->journal, JOURNAL_EVENT, fields);
}

static void log_warnings(Server *s) {
        STRV_FOREACH (warning, s->setup->warnings)
                log_warning(s, *warning);
}

static void say_not_reloaded(Server *s, int error) {
        _cleanup_free_ char *text = NULL;

        text =
                        strformat("The definition of %s cannot be read for now (%s): what was read before "
                                  "stays in effect. Run "
                                  "systemctl reload %s again.",
                                  s->name,
                                  STRERROR(error),
                                  s->unit);
        log_warning(s, text);
}

static void alert_refusal(Server *s) {
        EventFields fields;
        bool definition = s->refusal.exit_code == EXIT_DEFINITION ||
                          s->refusal.exit_code >= EXIT_NOT_EXECUTABLE;

        event_fields(s, &fields);
        fields.code = s->refusal.code;
        event_log(&s->journal,
                  definition ? EVENT_DEFINITION_INVALID : EVENT_REFUSED,
                  &fields,
                  "%s is not served: %s",
                  s->name,
                  strempty(s->refusal.reason));
}

void server_log_refusal(Server *s, const Session *session) {
        EventFields fields;

        if (!rate_limit_take(&s->refusal_rate, server_now(s), 1)) {
                s->n_unlogged++;
                return;
        }
        session_event_fields(session, &fields);
        fields.code = session->refusal.code;
        event_log(&s->journal,
                  EVENT_CLIENT_REFUSED,
                  &fields,
                  "A client of %s was refused: %s",
                  s->name,
                  strempty(session->refusal.reason));
        if (s->n_unlogged > 0)
                event_log(&s->journal,
                          EVENT_CLIENT_REFUSED,
                          &fields,
                          "%llu more clients of %s were refused in the meantime.",
                          (unsigned long long) s->n_unlogged,
                          s->name);
        s->n_unlogged = 0;
}

/* What sessions ask */

typedef struct Places {
        unsigned used, own; /* own: of the session's user */
        bool shared;        /* others may want some of them */
} Places;

/* Those that others have and that of_kind() counts. */
static Places count_places(const Server *s, const Session *session, bool (*of_kind)(const Session *)) {
        const uid_t uid = session->client.peer.uid;
        Places p = { .shared = uid != 0 && access_has_others(&s->access, uid) };

        for (const Session *other = s->sessions; other; other = other->next) {
                const uid_t others = other->client.peer.uid;

                if (other == session || !of_kind(other))
                        continue;
                p.used++;
                p.own += others == uid;
                p.shared = p.shared || (uid != 0 && others != uid && others != 0);
        }
        return p;
}

int server_admit(Server *s, const Session *session, Refusal *ret) {
        const Share *failures = shares_find(&s->failures, session->client.peer.uid);
        uint64_t wait = failures ? backoff_remaining(&failures->backoff, server_now(s)) : 0;
        const unsigned max = session->setup->definition->sessions.max;
        const Places places = count_places(s, session, session_has_slot);

        if (s->state != SERVER_SERVING) {
                if (s->refusal.code)
                        refusal_set(ret,
                                    s->refusal.code,
                                    s->refusal.exit_code,
                                    "%s",
                                    strempty(s->refusal.reason));
                else
                        refusal_set(ret,
                                    "MCP-R-STOPPING",
                                    EXIT_UNAVAILABLE,
                                    "The server's service is being stopped.");
                return -ECANCELED;
        }
        if (places.used >= max) {
                refusal_set(ret,
                            "MCP-R-BUSY",
                            EXIT_UNAVAILABLE,
                            "The server \"%s\" has %u sessions, and sessions.max does not allow more.",
                            s->name,
                            places.used);
                return -ECANCELED;
        }
        if (places.shared && !share_allows(max, places.used, places.own)) {
                refusal_set(ret,
                            "MCP-R-SHARE",
                            EXIT_UNAVAILABLE,
                            "You have %u of the %u sessions of \"%s\"; the %u that are free are kept for "
                            "others.",
                            places.own,
                            max,
                            s->name,
                            max - places.used);
                return -ECANCELED;
        }
        if (wait > 0) {
                refusal_set(ret,
                            "MCP-R-BACKOFF",
                            EXIT_UNAVAILABLE,
                            "%s. It is tried again with the first client after %llu ms.",
                            strempty(failures->last_failure),
                            (unsigned long long) (wait / 1000 + 1));
                /* Those of this user's own server: others' are in back-offs of their own. */
                ret->stderr_tail = strv_copy(failures->stderr_tail);
                return -ECANCELED;
        }
        return 0;
}

/* The oldest LAUNCH_BATCH of those that are queued. */
static void launch(Server *s) {
        Session *batch[LAUNCH_BATCH];
        size_t n = 0;

        s->launch_latest = sd_event_source_disable_unref(s->launch_latest);
        (void) sd_event_source_set_enabled(s->launch, SD_EVENT_OFF);
        /* The list has the newest first. */
        for (Session *session = s->sessions; session; session = session->next) {
                if (session->state != SESSION_QUEUED)
                        continue;
                if (n == LAUNCH_BATCH) {
                        memmove(batch, batch + 1, sizeof(batch) - sizeof(batch[0]));
                        n--;
                        (void) server_queue(s);
                }
                batch[n++] = session;
        }
        for (size_t i = 0; i < n / 2; i++) {
                Session *other = batch[i];

                batch[i] = batch[n - 1 - i];
                batch[n - 1 - i] = other;
        }
        session_launch_all(batch, n);
}

static int on_launch(sd_event_source *source, void *userdata) {
        launch(userdata);
        return 0;
}

static int on_launch_latest(sd_event_source *source, uint64_t usec, void *userdata) {
        launch(userdata);
        return 0;
}

/* When all clients that are there have been heard, but a server that keeps the loop busy must not put it off. */
int server_queue(Server *s) {
        int r;

        if (!s->launch) {
                r = sd_event_add_defer(s->event, &s->launch, on_launch, s);
                if (r >= 0)
                        r = sd_event_source_set_priority(s->launch, SD_EVENT_PRIORITY_NORMAL + 1);
                if (r < 0)
                        return r;
        }
        if (!s->launch_latest)
                (void) sd_event_add_time_relative(
                                s->event,
                                &s->launch_latest,
                                CLOCK_MONOTONIC,
                                LAUNCH_DELAY_USEC,
                                1,
                                on_launch_latest,
                                s);
        return sd_event_source_set_enabled(s->launch, SD_EVENT_ONESHOT);
}

void server_session_failed(Server *s, const Session *session, const char *reason) {
        _cleanup_strv_free_ char **tail = NULL;

        (void) line_tail_get(&session->stderr_log.tail, &tail);
        shares_failed(&s->failures, session->client.peer.uid, server_now(s), strempty(reason), tail);
}

void server_session_stable(Server *s, const Session *session) {
        shares_succeeded(&s->failures, session->client.peer.uid);
}

void server_session_over(Server *s, const SessionEnd *end) {
        free(TAKE_PTR(s->last_end));
        if ((end->event == EVENT_LIMIT_REACHED || end->event == EVENT_SESSION_FAILED) && end->reason)
                s->last_end = strdup(end->reason);
        server_update_status(s);
}

void server_session_ended(Server *s, Session *session) {
        for (Session **p = &s->sessions; *p; p = &(*p)->next)
                if (*p == session) {
                        *p = session->next;
                        break;
                }
        session_free(session);
        server_handle(s, SERVER_EVENT_SESSION_ENDED);
}

/* Clients */

static int judge_peer(const Server *s, const Peer *peer, Refusal *ret) {
        static const struct {
                const char *code, *reason;
        } unknown = { "MCP-R-ACCESS",
                      "The server cannot be started. Its definition cannot be read, so only root and the "
                      "group mcp "
                      "are told why." },
          table[_PEER_VERDICT_MAX] = {
                  [PEER_STRANGER] = { "MCP-R-ACCESS",
                                      "You are not among access.users and access.groups of the server." },
                  [PEER_INSIDE] = { "MCP-R-INSIDE", "A server may not start another one." },
                  [PEER_GONE] = { "MCP-R-GONE", "The client was gone before it could be looked at." },
          };

        const PeerVerdict verdict = access_decide(&s->access, peer);
        const bool nobody_asked = verdict == PEER_STRANGER && s->access_is_default;

        if (verdict == PEER_ADMITTED)
                return 0;
        refusal_set(ret,
                    table[verdict].code,
                    EXIT_UNAVAILABLE,
                    "%s",
                    nobody_asked ? unknown.reason : table[verdict].reason);
        return -ECANCELED;
}

static int look_at_peer(int fd, Peer *ret, Refusal *ret_refusal) {
        int r = peer_read(fd, ret);

        if (r >= 0)
                return 0;
        refusal_set(ret_refusal,
                    "MCP-R-GONE",
                    EXIT_UNAVAILABLE,
                    "The client could not be looked at: %s.",
                    STRERROR(r));
        return -ECANCELED;
}

int server_renew(Server *s, Session *session) {
        _cleanup_(peer_done) Peer peer = {};
        int r;

        if (session->setup == s->setup)
                return 0;
        r = look_at_peer(session->client.fd, &peer, &session->refusal);
        if (r >= 0)
                r = judge_peer(s, &peer, &session->refusal);
        if (r < 0)
                return r;
        /* Where there is none it is refused when it asks for its place. */
        if (s->setup) {
                setup_unref(session->setup);
                session->setup = setup_ref(s->setup);
        }
        return 0;
}

static bool is_waiting(const Session *session) {
        return session->state == SESSION_HELLO;
}

static int refuse_crowd(Server *s, Session *session) {
        const Places places = count_places(s, session, is_waiting);
        const bool mine = places.shared && !share_allows(WAITING_MAX, places.used, places.own);

        if (places.used < WAITING_MAX && !mine)
                return 0;
        refusal_set(&session->refusal,
                    mine ? "MCP-R-SHARE" : "MCP-R-BUSY",
                    EXIT_UNAVAILABLE,
                    "%s",
                    mine ? "Too many of your clients have connected and said nothing."
                         : "Too many clients wait to be served.");
        session_handle(session, SESSION_EVENT_NOT_ADMITTED);
        return -EBUSY;
}

static void turn_away(Server *s, Session *session) {
        refusal_set(&session->refusal,
                    s->refusal.code,
                    s->refusal.exit_code,
                    "%s",
                    strempty(s->refusal.reason));
        session_handle(session, SESSION_EVENT_NOT_ADMITTED);
}

static void take_client(Server *s, SocketKind kind, int fd) {
        _cleanup_(refusal_done) Refusal refusal = {};
        _cleanup_(peer_done) Peer peer = {};
        Session *session;
        int r;

        r = look_at_peer(fd, &peer, &refusal);
        if (r >= 0)
                /* Before anything is told: a reason has the server's paths and the names of its variables in it. */
                r = judge_peer(s, &peer, &refusal);
        if (session_new(s, kind, fd, &peer, &session) < 0)
                return;
        if (r < 0) {
                session->refusal = TAKE_GENERIC(refusal, Refusal, (Refusal){});
                session_handle(session, SESSION_EVENT_NOT_ADMITTED);
                return;
        }
        if (!s->setup) {
                turn_away(s, session);
                return;
        }
        if (kind == SOCKET_CONNECT && refuse_crowd(s, session) < 0)
                return;
        s->idle = sd_event_source_disable_unref(s->idle);
        session_handle(session, kind == SOCKET_RAW ? SESSION_EVENT_RAW : SESSION_EVENT_CONNECT);
}

static void enable_listening(Server *s, bool enable) {
        for (size_t i = 0; i < ELEMENTSOF(s->listen_source); i++)
                if (s->listen_source[i])
                        (void) sd_event_source_set_enabled(
                                        s->listen_source[i], enable ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int on_accept_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Server *s = userdata;

        s->accept_again = sd_event_source_disable_unref(s->accept_again);
        if (s->state == SERVER_SERVING || s->state == SERVER_REFUSING)
                enable_listening(s, true);
        return 0;
}

/* Errors of accept() that are about one connection, which is gone: the next may be fine. */
static bool accept_error_is_the_clients(int error) {
        return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM;
}

/* false: there may be more. */
static bool accept_batch(Server *s, SocketKind kind, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                int fd = accept4(s->listen[kind], NULL, NULL, SOCK_CLOEXEC);

                if (fd >= 0) {
                        take_client(s, kind, fd);
                        continue;
                }
                if (errno == EAGAIN)
                        return true;
                if (accept_error_is_the_clients(errno))
                        continue;
                /* No descriptors, no memory: a pause, or the loop would spin. */
                enable_listening(s, false);
                if (sd_event_add_time_relative(
                                    s->event,
                                    &s->accept_again,
                                    CLOCK_MONOTONIC,
                                    ACCEPT_AGAIN_USEC,
                                    0,
                                    on_accept_again,
                                    s) < 0)
                        enable_listening(s, true);
                return true;
        }
        return false;
}

static void accept_clients(Server *s, unsigned n) {
        for (size_t i = 0; i < ELEMENTSOF(s->listen); i++)
                if (s->listen[i] >= 0)
                        (void) accept_batch(s, (SocketKind) i, n);
}

/* Actions */

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata) {
        server_handle(userdata, SERVER_EVENT_IDLE);
        return 0;
}

/* Where it stays in any case for a while, there is no other supervisor to be started meanwhile. */
static bool is_empty(const Server *s) {
        return count_sessions(s) == 0 && (!s->linger || s->state == SERVER_STOPPING);
}

static int on_lingered(sd_event_source *source, uint64_t usec, void *userdata) {
        Server *s = userdata;

        s->linger = sd_event_source_disable_unref(s->linger);
        server_handle(s, SERVER_EVENT_CLIENTS);
        return 0;
}

static ServerEvent do_count(Server *s, ServerEvent event) {
        server_update_status(s);
        if (count_sessions(s) > 0)
                return _SERVER_EVENT_NONE;
        if (s->state != SERVER_SERVING)
                return is_empty(s) ? SERVER_EVENT_EMPTY : _SERVER_EVENT_NONE;
        if (s->setup->definition->sessions.idle_timeout_usec == USEC_INFINITY || s->idle)
                return _SERVER_EVENT_NONE;
        /* Without a timer it stays. */
        (void) sd_event_add_time_relative(
                        s->event,
                        &s->idle,
                        CLOCK_MONOTONIC,
                        s->setup->definition->sessions.idle_timeout_usec,
                        0,
                        on_idle,
                        s);
        return _SERVER_EVENT_NONE;
}

static ServerEvent do_serve(Server *s, ServerEvent event) {
        enable_listening(s, true);
        log_warnings(s);
        alert_confinement(s);
        free(TAKE_PTR(s->status_text));
        send_status(s);
        s->ready = true;
        (void) sd_notify(false, "READY=1");
        return do_count(s, event);
}

static ServerEvent do_turn_away(Server *s, ServerEvent event) {
        if (event == SERVER_EVENT_CANNOT_SERVE) {
                alert_refusal(s);
                /* What is the matter with the command is the client's to know; the unit knows that no retry helps. */
                s->exit_code = s->refusal.exit_code >= EXIT_NOT_EXECUTABLE ? EXIT_DEFINITION
                               : s->unserved > 0                           ? EXIT_SUCCESS
                                                                           : s->refusal.exit_code;
                (void) sd_notifyf(false, "ERRNO=%d", s->exit_code == EXIT_CONFINEMENT ? EPERM : EINVAL);
                send_status(s);
                enable_listening(s, true);
                if (s->ready || s->unserved > 0)
                        /* The end of a reload. */
                        (void) sd_notify(false, "READY=1");
                if (s->unserved > 0)
                        /* Without a timer it is sooner. */
                        (void) sd_event_add_time_relative(
                                        s->event,
                                        &s->linger,
                                        CLOCK_MONOTONIC,
                                        LINGER_USEC,
                                        0,
                                        on_lingered,
                                        s);
        }
        for (size_t i = 0; i < ELEMENTSOF(s->listen); i++)
                while (s->listen[i] >= 0 && !s->accept_again &&
                       !accept_batch(s, (SocketKind) i, ACCEPT_BATCH))
                        continue;
        return is_empty(s) ? SERVER_EVENT_EMPTY : _SERVER_EVENT_NONE;
}

static ServerEvent do_accept(Server *s, ServerEvent event) {
        accept_clients(s, LAUNCH_BATCH);
        return _SERVER_EVENT_NONE;
}

static ServerEvent do_leave(Server *s, ServerEvent event) {
        s->idle = sd_event_source_disable_unref(s->idle);
        accept_clients(s, ACCEPT_BATCH);
        if (count_sessions(s) > 0)
                return _SERVER_EVENT_NONE;
        /* Who connects from here on waits in the socket's queue, and systemd starts the next supervisor for it. */
        return SERVER_EVENT_EMPTY;
}

static ServerEvent do_reload(Server *s, ServerEvent event) {
        ServerEvent next;
        int r;

        (void) sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long) server_now(s));
        r = server_load(s, &next);
        if (r >= 0)
                return next;
        /* Nothing is known about the new definition; the old one is still good. */
        say_not_reloaded(s, r);
        (void) sd_notify(false, "READY=1");
        return _SERVER_EVENT_NONE;
}

static int on_give_up(sd_event_source *source, uint64_t usec, void *userdata) {
        server_handle(userdata, SERVER_EVENT_GIVE_UP);
        return 0;
}

static ServerEvent do_stop_sessions(Server *s, ServerEvent event) {
        uint64_t longest = 0;

        enable_listening(s, false);
        s->idle = sd_event_source_disable_unref(s->idle);
        for (Session *session = s->sessions, *next; session; session = next) {
                const Plan *plan = session->setup ? session->setup->plan : NULL;

                next = session->next; /* sessions free themselves later, from the loop */
                if (plan)
                        longest = MAX(longest, plan->eof_grace_usec + plan->kill_after_usec);
                session_handle(session, SESSION_EVENT_STOP);
        }
        (void) sd_notifyf(
                        false,
                        "STOPPING=1\nEXTEND_TIMEOUT_USEC=%llu",
                        (unsigned long long) (longest + STOP_SLACK_USEC + 5 * USEC_PER_SEC));
        if (count_sessions(s) == 0)
                return SERVER_EVENT_EMPTY;
        if (sd_event_add_time_relative(
                            s->event,
                            &s->give_up,
                            CLOCK_MONOTONIC,
                            longest + STOP_SLACK_USEC,
                            0,
                            on_give_up,
                            s) < 0)
                return SERVER_EVENT_GIVE_UP;
        send_status(s);
        return _SERVER_EVENT_NONE;
}

static ServerEvent do_exit(Server *s, ServerEvent event) {
        /* What stays to be seen. */
        send_status(s);
        (void) sd_notify(false, "STOPPING=1");
        (void) sd_event_exit(s->event, s->exit_code);
        return _SERVER_EVENT_NONE;
}

static ServerEvent do_nothing(Server *s, ServerEvent event) {
        return _SERVER_EVENT_NONE;
}

void server_handle(Server *s, ServerEvent event) {
        static ServerEvent (*const actions[_SERVER_ACTION_MAX])(Server *, ServerEvent) = {
                [SERVER_ACTION_IGNORE] = do_nothing,      [SERVER_ACTION_SERVE] = do_serve,
                [SERVER_ACTION_TURN_AWAY] = do_turn_away, [SERVER_ACTION_ACCEPT] = do_accept,
                [SERVER_ACTION_COUNT] = do_count,         [SERVER_ACTION_LEAVE] = do_leave,
                [SERVER_ACTION_RELOAD] = do_reload,       [SERVER_ACTION_STOP_SESSIONS] = do_stop_sessions,
                [SERVER_ACTION_EXIT] = do_exit,
        };
        ServerTransition t;

        while (server_machine_next(s->state, event, &t)) {
                s->state = t.next;
                event = actions[t.action](s, event);
        }
}
