/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The pipe to the server: one loop that writes, reads and watches the clock, so that neither side can block the
 * other. */

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#include "basic/fd-util.h"
#include "basic/mcp-protocol.h"
#include "basic/string-util.h"
#include "mcp-client/client-internal.h"

/* Answers to a server that asks and never reads are not piled up beyond this. */
#define PENDING_ANSWERS_MAX (1024U * 1024U)

uint64_t mcp_now_usec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000U + (uint64_t) ts.tv_nsec / 1000U;
}

uint64_t mcp_deadline(uint64_t timeout_usec) {
        uint64_t now = mcp_now_usec();

        return timeout_usec > UINT64_MAX - now ? UINT64_MAX : now + timeout_usec;
}

int mcp_client_new(int to_fd, int from_fd, int dead_fd, McpClient **ret) {
        McpClient *c;
        int r;

        if (to_fd < 0 || from_fd < 0)
                return -EBADF;
        r = fd_set_nonblock(to_fd, true);
        if (r >= 0 && from_fd != to_fd)
                r = fd_set_nonblock(from_fd, true);
        if (r < 0)
                return r;
        c = malloc(sizeof(*c));
        if (!c)
                return -ENOMEM;
        *c = (McpClient){
                .to_fd = to_fd,
                .from_fd = from_fd,
                .dead_fd = dead_fd,
                .name = "mcpctl",
                .reader = MCP_READER_INIT,
        };
        *ret = c;
        return 0;
}

McpClient *mcp_client_free(McpClient *c) {
        if (!c)
                return NULL;
        mcp_reader_done(&c->reader);
        mcp_diagnosis_done(&c->diagnosis);
        free(c->pending);
        free(c->noise);
        free(c);
        return NULL;
}

void mcp_client_set_name(McpClient *c, const char *name) {
        c->name = name;
}

void mcp_client_set_skip_noise(McpClient *c, bool skip) {
        c->skip_noise = skip;
}

void mcp_client_set_waiting(McpClient *c, McpWaiting waiting, void *userdata) {
        c->waiting = waiting;
        c->waiting_userdata = userdata;
}

const McpDiagnosis *mcp_client_diagnosis(const McpClient *c) {
        return &c->diagnosis;
}

int mcp_client_fail(McpClient *c, McpFailure failure, const char *method, char *line) {
        McpDiagnosis d = {
                .failure = failure,
                .line = line,
                .n_bytes = c->n_bytes,
                .elapsed_usec = mcp_now_usec() - c->sent_usec,
        };

        if (free_and_strdup(&d.method, method) < 0) {
                mcp_diagnosis_done(&d);
                return -ENOMEM;
        }
        mcp_diagnosis_done(&c->diagnosis);
        c->diagnosis = d;
        return (int) failure;
}

int mcp_client_fail_error(McpClient *c, const char *method, const McpMessage *error) {
        int r;

        r = mcp_client_fail(c, MCP_FAILURE_ERROR_REPLY, method, NULL);
        if (r < 0)
                return r;
        c->diagnosis.error_code = error->error_code;
        c->diagnosis.error_message = mcp_show(error->error_message, strlen(error->error_message));
        return c->diagnosis.error_message ? r : -ENOMEM;
}

int mcp_client_fail_result(McpClient *c, const char *method, const char *missing) {
        char *line;

        line = strdup(missing);
        return line ? mcp_client_fail(c, MCP_FAILURE_RESULT, method, line) : -ENOMEM;
}

static int pending_add(McpClient *c, const char *data, size_t n) {
        if (c->pending_start == c->pending_end)
                c->pending_start = c->pending_end = 0;
        if (c->pending_allocated - c->pending_end < n) {
                size_t allocated = MAX(c->pending_allocated * 2, c->pending_end + n);
                char *p;

                p = realloc(c->pending, allocated);
                if (!p)
                        return -ENOMEM;
                c->pending = p;
                c->pending_allocated = allocated;
        }
        memcpy(c->pending + c->pending_end, data, n);
        c->pending_end += n;
        return 0;
}

static int send_json(McpClient *c, json_object *message) {
        const char *text;
        size_t n;
        int r;

        text = jsonc_to_text(message, &n);
        if (!text)
                return -ENOMEM;
        r = pending_add(c, text, n);
        return r < 0 ? r : pending_add(c, "\n", 1);
}

int mcp_client_send(McpClient *c, int64_t id, const char *method, json_object *params) {
        _cleanup_jsonc_ json_object *message = NULL;
        int r;

        message = jsonc_new_pair("jsonrpc", "2.0", NULL, NULL);
        if (!message)
                return -ENOMEM;
        r = id > 0 ? jsonc_add(message, "id", json_object_new_int64(id)) : 0;
        if (r >= 0)
                r = jsonc_add_string(message, "method", method);
        if (r >= 0 && params)
                r = jsonc_add(message, "params", json_object_get(params));
        return r < 0 ? r : send_json(c, message);
}

/* Legacy servers may ask back, also before their first answer. The modern era has no such requests, and no answers. */
static int answer_request(McpClient *c, const McpMessage *request) {
        _cleanup_jsonc_ json_object *message = NULL;
        json_object *error;
        int r;

        if (c->era == MCP_PROTOCOL_MODERN || c->pending_end - c->pending_start > PENDING_ANSWERS_MAX)
                return 0;
        message = jsonc_new_pair("jsonrpc", "2.0", NULL, NULL);
        if (!message)
                return -ENOMEM;
        r = jsonc_add(message, "id", json_object_get(request->id));
        if (r >= 0 && streq(request->method, "ping"))
                r = jsonc_add(message, "result", json_object_new_object());
        else if (r >= 0) {
                error = jsonc_new_pair("message", "This client only asks.", NULL, NULL);
                r = jsonc_add(message, "error", error);
                if (r >= 0)
                        r = jsonc_add(error, "code", json_object_new_int(MCP_ERROR_METHOD_NOT_FOUND));
        }
        return r < 0 ? r : send_json(c, message);
}

/* write() without SIGPIPE, which for a pipe takes holding the signal back and taking it out again. */
static ssize_t write_quietly(int fd, const char *data, size_t n) {
        static const struct timespec nothing = {};
        sigset_t pipe_set, old, before;
        ssize_t k;

        k = send(fd, data, n, MSG_NOSIGNAL);
        if (k >= 0 || errno != ENOTSOCK)
                return k < 0 ? -errno : k;
        (void) sigemptyset(&pipe_set);
        (void) sigaddset(&pipe_set, SIGPIPE);
        if (sigpending(&before) < 0 || sigprocmask(SIG_BLOCK, &pipe_set, &old) < 0)
                return -errno;
        k = write(fd, data, n);
        if (k < 0) {
                k = -errno;
                if (k == -EPIPE && sigismember(&before, SIGPIPE) == 0)
                        (void) sigtimedwait(&pipe_set, NULL, &nothing);
        }
        if (sigprocmask(SIG_SETMASK, &old, NULL) < 0 && k >= 0)
                return -errno;
        return k;
}

static int write_pending(McpClient *c) {
        while (c->pending_start < c->pending_end) {
                ssize_t k;

                k = write_quietly(
                                c->to_fd, c->pending + c->pending_start, c->pending_end - c->pending_start);
                if (k == -EINTR)
                        continue;
                if (k == -EAGAIN)
                        return 0;
                if (k == -EPIPE || k == -ECONNRESET) {
                        c->to_gone = true;
                        c->pending_start = c->pending_end = 0;
                        return 0;
                }
                if (k < 0)
                        return (int) k;
                c->pending_start += (size_t) k;
        }
        return 0;
}

static int read_some(McpClient *c) {
        ssize_t k;

        k = line_buffer_read(&c->reader.buffer, c->from_fd);
        if (k > 0) {
                c->n_bytes += (uint64_t) k;
                return 0;
        }
        if (k == 0 || k == -ECONNRESET || k == -EIO || (k == -EAGAIN && c->dead)) {
                c->ended = true;
                return 0;
        }
        return k == -EAGAIN ? 0 : (int) k;
}

/* How long to sleep, at most; 0 is a deadline that has come. */
static uint64_t time_left(McpClient *c, uint64_t deadline_usec) {
        uint64_t now = mcp_now_usec();

        if (c->waiting && c->n_bytes == 0) {
                uint64_t next = c->waiting(c->waiting_userdata, now);

                deadline_usec = MIN(deadline_usec, next);
        }
        return deadline_usec == UINT64_MAX ? UINT64_MAX : deadline_usec > now ? deadline_usec - now : 0;
}

/* Waits until something can be done or the deadline is there, and does it. */
static int pump(McpClient *c, uint64_t deadline_usec) {
        struct pollfd p[3] = {
                { .fd = c->from_fd, .events = POLLIN },
                { .fd = c->pending_start < c->pending_end && !c->to_gone ? c->to_fd : -EBADF,
                  .events = POLLOUT },
                { .fd = c->dead ? -EBADF : c->dead_fd, .events = POLLIN },
        };
        uint64_t left = time_left(c, deadline_usec);
        struct timespec ts = { .tv_sec = (time_t) (left / 1000000U),
                               .tv_nsec = (long) (left % 1000000U * 1000U) };
        int r;

        if (c->dead)
                return read_some(c);
        r = ppoll(p, ELEMENTSOF(p), left == UINT64_MAX ? NULL : &ts, NULL);
        if (r < 0)
                return errno == EINTR ? 0 : -errno;
        if (p[1].revents != 0) {
                r = write_pending(c);
                if (r < 0)
                        return r;
        }
        if (p[2].revents != 0)
                c->dead = true;
        return p[0].revents != 0 ? read_some(c) : 0;
}

/* Nothing more comes, or not in time: what is there explains it best. */
static int fail_without_answer(McpClient *c, McpFailure failure, const char *method) {
        McpFailure better = MCP_FAILURE_NONE;
        char *line = NULL;
        int r;

        r = mcp_reader_rest(&c->reader, &better, &line);
        if (r < 0)
                return r;
        if (better == MCP_FAILURE_NONE && c->noise) {
                free(line);
                line = strdup(c->noise);
                if (!line)
                        return -ENOMEM;
                better = MCP_FAILURE_NOISE;
        }
        return mcp_client_fail(c, better != MCP_FAILURE_NONE ? better : failure, method, line);
}

int mcp_client_flush(McpClient *c, const char *method, uint64_t deadline_usec) {
        while (c->pending_start < c->pending_end && !c->to_gone) {
                int r;

                if (c->ended)
                        return fail_without_answer(c, MCP_FAILURE_ENDED, method);
                if (mcp_now_usec() >= deadline_usec)
                        return fail_without_answer(c, MCP_FAILURE_TIMEOUT, method);
                r = pump(c, deadline_usec);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* What a message means for the request with that id. 1: it is the answer; 0: go on; or a failure. */
static int handle_message(McpClient *c, int64_t id, const char *method, const McpMessage *m) {
        char *shown;
        const char *text;
        int64_t got;
        size_t n;

        if (m->type == MCP_MESSAGE_NOTIFICATION)
                return 0;
        got = json_object_is_type(m->id, json_type_int) ? json_object_get_int64(m->id) : 0;
        if (m->type == MCP_MESSAGE_REQUEST) {
                /* Either side may send a ping, but no server sends what we just sent. */
                if (got == id && streq(m->method, method) && !streq(method, "ping"))
                        return mcp_client_fail(c, MCP_FAILURE_ECHO, method, NULL);
                return answer_request(c, m);
        }
        /* An error that belongs to no request is about the only one that there is. */
        if (!m->id)
                return -ENOMSG;
        if (got == id)
                return -ENOMSG;
        if (got > 0 && got <= c->given_up_id)
                return 0;
        text = jsonc_to_text(m->id, &n);
        shown = text ? mcp_show(text, n) : NULL;
        return shown ? mcp_client_fail(c, MCP_FAILURE_WRONG_ID, method, shown) : -ENOMEM;
}

/* One message that has been read, or what is wrong with it; -ENOMSG: *ret is the answer; 0: go on. */
static int handle_next(McpClient *c, int64_t id, const char *method, bool *ret_empty, McpMessage *ret) {
        _cleanup_mcp_message_ McpMessage m = {};
        McpFailure failure = MCP_FAILURE_NONE;
        char *line = NULL;
        int r;

        r = mcp_reader_next(&c->reader, &m, &failure, &line);
        *ret_empty = r == 0;
        if (r == -EBADMSG) {
                if (failure != MCP_FAILURE_NOISE || !c->skip_noise)
                        return mcp_client_fail(c, failure, method, line);
                c->n_noise++;
                if (c->noise)
                        free(line);
                else
                        c->noise = line;
                return 0;
        }
        if (r <= 0)
                return r;
        r = handle_message(c, id, method, &m);
        if (r == -ENOMSG)
                *ret = TAKE_GENERIC(m, McpMessage, (McpMessage){});
        return r;
}

int mcp_client_exchange(
                McpClient *c,
                const char *method,
                json_object *params,
                uint64_t deadline_usec,
                McpMessage *ret) {
        int64_t id = ++c->last_id;
        int r;

        c->sent_usec = mcp_now_usec();
        r = mcp_client_send(c, id, method, params);
        while (r >= 0) {
                bool empty;

                r = handle_next(c, id, method, &empty, ret);
                if (r == -ENOMSG)
                        return 0;
                if (r != 0)
                        return r;
                if (empty && c->ended)
                        return fail_without_answer(c, MCP_FAILURE_ENDED, method);
                if (mcp_now_usec() >= deadline_usec) {
                        c->given_up_id = id;
                        return fail_without_answer(c, MCP_FAILURE_TIMEOUT, method);
                }
                if (empty)
                        r = pump(c, deadline_usec);
        }
        return r;
}

json_object *mcp_client_info(const McpClient *c) {
        return jsonc_new_pair("name", c->name, "version", PROJECT_VERSION);
}

json_object *mcp_client_modern_params(const McpClient *c, json_object *params) {
        _cleanup_jsonc_ json_object *copy = NULL;
        json_object *meta;

        copy = json_object_new_object();
        if (!copy)
                return NULL;
        if (params) {
                json_object_object_foreach(params, key, value) {
                        if (json_object_object_add(copy, key, json_object_get(value)) < 0)
                                return NULL;
                }
        }
        meta = json_object_new_object();
        if (jsonc_add(copy, "_meta", meta) < 0 ||
            jsonc_add_string(meta, MCP_META_VERSION, MCP_VERSION_MODERN) < 0 ||
            jsonc_add(meta, MCP_META_CLIENT_CAPABILITIES, json_object_new_object()) < 0 ||
            jsonc_add(meta, MCP_META_CLIENT_INFO, mcp_client_info(c)) < 0)
                return NULL;
        return TAKE_PTR(copy);
}

int mcp_client_ask(
                McpClient *c,
                const char *method,
                json_object *params,
                uint64_t deadline_usec,
                McpMessage *ret) {
        _cleanup_mcp_message_ McpMessage m = {};
        _cleanup_jsonc_ json_object *full = NULL;
        const char *type;
        int r;

        if (c->era == MCP_PROTOCOL_MODERN) {
                full = mcp_client_modern_params(c, params);
                if (!full)
                        return -ENOMEM;
                params = full;
        }
        r = mcp_client_exchange(c, method, params, deadline_usec, &m);
        if (r != 0)
                return r;
        if (m.type == MCP_MESSAGE_ERROR) {
                r = mcp_client_fail_error(c, method, &m);
                *ret = TAKE_GENERIC(m, McpMessage, (McpMessage){});
                return r;
        }
        if (c->era == MCP_PROTOCOL_MODERN && json_object_object_get_ex(m.result, "resultType", NULL)) {
                type = jsonc_get_string(m.result, "resultType");
                if (!streq_ptr(type, "complete"))
                        return mcp_client_fail_result(c, method, "its \"resultType\" is not \"complete\"");
        }
        *ret = TAKE_GENERIC(m, McpMessage, (McpMessage){});
        return 0;
}

int mcp_client_request(
                McpClient *c,
                const char *method,
                json_object *params,
                uint64_t timeout_usec,
                json_object **ret) {
        _cleanup_mcp_message_ McpMessage m = {};
        int r;

        if (!c->opened)
                return -ENOTCONN;
        r = mcp_client_ask(c, method, params, mcp_deadline(timeout_usec), &m);
        if (r != 0)
                return r;
        *ret = json_object_get(m.result);
        return 0;
}

int mcp_client_ping(McpClient *c, uint64_t timeout_usec) {
        _cleanup_jsonc_ json_object *result = NULL;

        return mcp_client_request(
                        c,
                        c->era == MCP_PROTOCOL_MODERN ? "server/discover" : "ping",
                        NULL,
                        timeout_usec,
                        &result);
}
