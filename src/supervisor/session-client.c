/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The client's end. The bytes between client and server are never touched: the connection (or the client's own
 * descriptors) is the child's. What is held here is watched, told of ends, and shut down; its file status flags are
 * left alone, for they are the child's as well. */

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "basic/fd-util.h"
#include "basic/jsonc-util.h"
#include "basic/string-util.h"
#include "config/env-policy.h"
#include "control/start-notice.h"
#include "supervisor/server.h"

#define HELLO_TIMEOUT_USEC (10ULL * USEC_PER_SEC)
#define JSONRPC_REFUSED    (-32000)

static void input_ended(Session *s) {
        if (s->input_ended)
                return;
        s->input_ended = true;
        session_handle(s, SESSION_EVENT_INPUT_ENDED);
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Session *s = userdata;

        if (revents & (EPOLLHUP | EPOLLERR)) {
                s->client.source = sd_event_source_disable_unref(s->client.source);
                s->input_ended = true;
                session_handle(s, SESSION_EVENT_CLIENT_GONE);
                return 0;
        }
        /* Only its writing side is shut: an end of the input, and the answers are still wanted. */
        if (sd_event_source_set_io_events(source, 0) < 0)
                s->client.source = sd_event_source_disable_unref(s->client.source);
        input_ended(s);
        return 0;
}

int session_watch_client(Session *s) {
        if (s->client.kind == SOCKET_CONNECT)
                return 0; /* watched since the hello was waited for */
        return sd_event_add_io(
                        s->server->event, &s->client.source, s->client.fd, EPOLLRDHUP, on_connection, s);
}

/* Hello */

/* The client's end of a connection to a supervisor: a server that held it would keep a client alive that is long dead, and
 * two could do so for each other. */
static bool is_control_connection(int fd) {
        struct sockaddr_un address = {};
        socklen_t size = sizeof(address) - 1, type_size = sizeof(int);
        int type;

        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) < 0 || type != SOCK_SEQPACKET)
                return false;
        /* The last byte stays 0. */
        if (getpeername(fd, (struct sockaddr *) &address, &size) < 0 || address.sun_family != AF_UNIX)
                return false;
        return endswith(address.sun_path, ".connect");
}

static int check_passed_fds(Session *s) {
        static const char *const names[CONTROL_N_FDS] = { "stdin", "stdout", "stderr" };

        for (size_t i = 0; i < CONTROL_N_FDS; i++) {
                int flags = fcntl(s->client.stdio[i], F_GETFL), wanted = i == 0 ? O_RDONLY : O_WRONLY, mode;
                mode_t type;
                int r;

                if (flags < 0)
                        return -errno;
                r = fd_get_type(s->client.stdio[i], &type);
                if (r < 0)
                        return r;
                mode = flags & O_ACCMODE;
                if (is_control_connection(s->client.stdio[i])) {
                        refusal_set(&s->refusal,
                                    "MCP-R-HELLO",
                                    EXIT_UNAVAILABLE,
                                    "The %s that was handed over is a connection to a supervisor.",
                                    names[i]);
                        return -ECANCELED;
                }
                if ((flags & O_PATH) || S_ISDIR(type) || (mode != O_RDWR && mode != wanted)) {
                        refusal_set(&s->refusal,
                                    "MCP-R-HELLO",
                                    EXIT_UNAVAILABLE,
                                    "The %s that was handed over cannot be %s.",
                                    names[i],
                                    i == 0 ? "read" : "written");
                        return -ECANCELED;
                }
        }
        return 0;
}

static int take_env(Session *s, char **env) {
        const Definition *d = s->setup->definition;

        STRV_FOREACH (e, env) {
                _cleanup_free_ char *name = strndup(*e, strcspn(*e, "="));
                const char *objection;

                if (!name)
                        return -ENOMEM;
                objection = env_refusal(name);
                if (strv_contains(d->sessions.accept_env, name) && !objection)
                        continue;
                refusal_set(&s->refusal,
                            "MCP-R-ENV",
                            EXIT_UNAVAILABLE,
                            "The variable %s may not be passed through: %s",
                            name,
                            objection ? objection
                                      : "sessions.accept_env of the server's definition does not name it.");
                return -ECANCELED;
        }
        s->client.env = strv_copy(env);
        return env && !s->client.env ? -ENOMEM : 0;
}

static int on_input_hung_up(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Session *s = userdata;

        s->client.input_source = sd_event_source_disable_unref(s->client.input_source);
        input_ended(s);
        return 0;
}

/* The end of a pipe or socket shows as a hang-up even when nothing is waited for; files and terminals have no such end,
 * and epoll takes no files at all. */
static int watch_input(Session *s) {
        mode_t type;
        int r;

        r = fd_get_type(s->client.stdio[0], &type);
        if (r < 0)
                return r;
        if (!S_ISFIFO(type) && !S_ISSOCK(type))
                return 0;
        s->client.input = fcntl(s->client.stdio[0], F_DUPFD_CLOEXEC, 3);
        if (s->client.input < 0)
                return -errno;
        r =
                        sd_event_add_io(s->server->event,
                                        &s->client.input_source,
                                        s->client.input,
                                        S_ISSOCK(type) ? EPOLLRDHUP : 0,
                                        on_input_hung_up,
                                        s);
        return r == -EPERM ? 0 : r;
}

static int read_hello(Session *s) {
        _cleanup_(control_hello_done) ControlHello hello = {};
        _cleanup_free_ char *text = NULL;
        int64_t version = 0;
        size_t size;
        int r;

        r = control_receive_hello(s->client.fd, &text, &size, s->client.stdio);
        if (r < 0)
                return r;
        if (size == 0)
                return -ENODATA;
        r = server_renew(s->server, s);
        if (r < 0)
                return r;
        r = control_hello_decode(text, size, &hello, &version);
        if (r == -EPROTONOSUPPORT) {
                refusal_set(&s->refusal,
                            "MCP-R-VERSION",
                            EXIT_UNAVAILABLE,
                            "The client speaks version %lld of the control messages and the supervisor "
                            "version %d: "
                            "mcp-connect and mcp-supervisor have to be of the same release.",
                            (long long) version,
                            CONTROL_VERSION);
                return -ECANCELED;
        }
        if (r >= 0)
                r = check_passed_fds(s);
        if (r >= 0)
                r = take_env(s, hello.env);
        return r < 0 ? r : watch_input(s);
}

static int on_control(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Session *s = userdata;
        int r;

        if (s->state == SESSION_HELLO) {
                r = read_hello(s);
                if (r == -EAGAIN)
                        return 0;
                if (r != -ENODATA && r != -ECONNRESET) {
                        if (r < 0 && !s->refusal.code)
                                refusal_set(&s->refusal,
                                            "MCP-R-HELLO",
                                            EXIT_UNAVAILABLE,
                                            "The client's first message makes no sense: %s.",
                                            STRERROR(r));
                        session_handle(s, r < 0 ? SESSION_EVENT_BAD_HELLO : SESSION_EVENT_HELLO);
                        return 0;
                }
        } else {
                _cleanup_free_ char *text = NULL;
                size_t size;

                /* There is nothing more for a client to say: its descriptors are closed, its words dropped. */
                r = control_receive(fd, &text, &size);
                if (r == -EAGAIN || r == -EBADMSG || (r >= 0 && size > 0))
                        return 0;
        }
        s->client.source = sd_event_source_disable_unref(s->client.source);
        session_handle(s, SESSION_EVENT_CLIENT_GONE);
        return 0;
}

int session_await_hello(Session *s) {
        int r;

        r = session_arm_timer(s, HELLO_TIMEOUT_USEC);
        if (r < 0)
                return r;
        return sd_event_add_io(
                        s->server->event,
                        &s->client.source,
                        s->client.fd,
                        EPOLLIN | EPOLLRDHUP,
                        on_control,
                        s);
}

/* Telling */

static void send_status(Session *s, ControlStatus *status) {
        _cleanup_free_ char *text = NULL;
        size_t size;

        if (s->client.kind != SOCKET_CONNECT || s->client.answered || s->client.fd < 0)
                return;
        status->session = s->unique[0] ? s->unique : NULL;
        /* A client that is gone, or does not read, goes without. */
        if (control_status_encode(status, &text, &size) >= 0)
                (void) control_send(s->client.fd, text, size, NULL);
}

void session_tell_starting(Session *s) {
        const Definition *d = s->setup->definition;
        ControlStatus status = {
                .state = CONTROL_STARTING,
                .runner = (char *) start_notice_runner(d->command.value),
                .start_timeout_usec = d->start_timeout_usec,
        };

        send_status(s, &status);
}

void session_tell_running(Session *s) {
        ControlStatus status = {
                .state = CONTROL_RUNNING,
                .scope = s->scope,
                .isolated = s->setup->plan->isolation.isolated,
                .missing = s->setup->missing,
        };

        send_status(s, &status);
}

static int add_tail(json_object *data, char *const *tail) {
        json_object *lines;

        if (strv_length(tail) == 0)
                return 0;
        lines = json_object_new_array();
        if (jsonc_add(data, "stderr", lines) < 0)
                return -ENOMEM;
        STRV_FOREACH (line, tail)
                if (string_is_utf8(*line, strlen(*line)) &&
                    jsonc_append(lines, json_object_new_string(*line)) < 0)
                        return -ENOMEM;
        return 0;
}

/* What JSON-RPC calls an error; NULL: out of memory. */
static json_object *make_jsonrpc_error(const Refusal *refusal) {
        const char *reason = strempty(refusal->reason);
        _cleanup_jsonc_ json_object *error = json_object_new_object();
        _cleanup_free_ char *escaped = NULL;
        json_object *data = json_object_new_object();

        if (!string_is_utf8(reason, strlen(reason))) {
                escaped = string_escape_control(reason);
                reason = strempty(escaped);
        }
        if (!error || jsonc_add(error, "data", data) < 0 ||
            jsonc_add_string(data, "code", refusal->code) < 0 || add_tail(data, refusal->stderr_tail) < 0 ||
            jsonc_add(error, "code", json_object_new_int(JSONRPC_REFUSED)) < 0 ||
            jsonc_add_string(error, "message", reason) < 0)
                return NULL;
        return TAKE_PTR(error);
}

/* On the raw stream one line of JSON-RPC is all that a client understands. */
static void send_jsonrpc_error(Session *s) {
        _cleanup_jsonc_ json_object *root = json_object_new_object();
        _cleanup_free_ char *line = NULL;
        const char *text;

        if (!root || jsonc_add_string(root, "jsonrpc", "2.0") < 0 ||
            json_object_object_add(root, "id", NULL) < 0 ||
            jsonc_add(root, "error", make_jsonrpc_error(&s->refusal)) < 0)
                return;
        text = jsonc_to_text(root, NULL);
        line = text ? strformat("%s\n", text) : NULL;
        if (line)
                (void) send(s->client.fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void session_tell_refusal(Session *s) {
        ControlStatus status = {
                .state = CONTROL_REFUSED,
                .code = (char *) s->refusal.code,
                .reason = s->refusal.reason,
                .exit_code = s->refusal.exit_code,
        };
        _cleanup_strv_free_ char **tail = NULL;

        if (!s->refusal.code || s->client.answered || s->client.fd < 0)
                return;
        stderr_log_drain(&s->stderr_log);
        if (line_tail_get(&s->stderr_log.tail, &tail) >= 0)
                status.stderr_tail = strv_length(tail) > 0 ? tail : s->refusal.stderr_tail;
        if (s->client.kind == SOCKET_RAW)
                send_jsonrpc_error(s);
        else
                send_status(s, &status);
        s->client.answered = true;
}

void session_tell_exit(Session *s, const SessionEnd *e) {
        ControlStatus status = {
                .state = CONTROL_EXITED,
                .code = (char *) e->code,
                .reason = e->reason,
                .exit_code = e->exit_code,
                .signal = e->signal,
        };
        _cleanup_strv_free_ char **tail = NULL;

        if (s->client.answered)
                return;
        if (e->reason && line_tail_get(&s->stderr_log.tail, &tail) >= 0)
                status.stderr_tail = tail;
        send_status(s, &status);
        s->client.answered = true;
}

/* Ends */

static bool pipe_has_hung_up(int fd) {
        struct pollfd p = { .fd = fd };

        return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
}

bool session_end_input(Session *s) {
        SessionClient *c = &s->client;
        int fd = c->kind == SOCKET_RAW ? c->fd : c->input;

        if (s->input_ended)
                return true;
        if (fd < 0)
                return false;
        /* A socket's input can be ended from here: what was sent before is still read, then comes the end. */
        if (shutdown(fd, SHUT_RD) >= 0 || pipe_has_hung_up(fd))
                s->input_ended = true;
        if (s->input_ended)
                c->input_source = sd_event_source_disable_unref(c->input_source);
        return s->input_ended;
}

/* What the client has sent and nobody has read would turn the end of the connection into ECONNRESET. Nothing can come
 * after the shutdown, and a socket holds little. */
static void discard_input(int fd) {
        static char buffer[64 * 1024];

        for (unsigned i = 0; i < 256; i++)
                if (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) <= 0)
                        return;
}

void session_hang_up(Session *s) {
        SessionClient *c = &s->client;

        if (c->hung_up)
                return;
        c->hung_up = true;
        c->source = sd_event_source_disable_unref(c->source);
        c->input_source = sd_event_source_disable_unref(c->input_source);
        if (c->fd >= 0) {
                (void) shutdown(c->fd, SHUT_RDWR);
                discard_input(c->fd);
        }
        c->fd = safe_close(c->fd);
        fds_close_aside(&c->input, 1);
        fds_close_aside(c->stdio, CONTROL_N_FDS);
}

void session_client_done(Session *s) {
        session_hang_up(s);
        peer_done(&s->client.peer);
        strv_free(s->client.env);
}
