/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "ctl/session.h"

#define ERRORS_READ_MAX (16U * 1024U)
#define LAST_LINES_MAX  20U

CtlSession *session_free(CtlSession *s) {
        if (!s)
                return NULL;
        safe_close(s->to_server);
        safe_close(s->from_server);
        safe_close(s->control);
        safe_close(s->errors);
        control_status_done(&s->running);
        control_status_done(&s->last);
        free(s);
        return NULL;
}

static uint64_t now_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * USEC_PER_SEC + (uint64_t) t.tv_nsec / 1000;
}

static int connect_socket(const char *path, int *ret) {
        _cleanup_close_ int fd = -EBADF;
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        if (strlen(path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        memcpy(address.sun_path, path, strlen(path));
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        *ret = TAKE_FD(fd);
        return 0;
}

static int fail_connect(Ctl *ctl, const ServerEntry *server, const char *path, int error) {
        _cleanup_free_ char *remedy = NULL;
        const char *manager = ctl->scope == RUNTIME_SCOPE_USER ? "systemctl --user" : "systemctl";
        const Definition *d = server->definition;

        if (error == -EACCES || error == -EPERM)
                return ctl_fail(ctl,
                                CTL_UNAVAILABLE,
                                "MCP-X-NO-ACCESS",
                                "Its definition's \"access\" says who may; by default that is the group "
                                "\"mcp\".",
                                "You may not connect to the server \"%s\".",
                                server->name);
        if (d && (!d->enabled || d->quarantined))
                remedy =
                                strformat("It is %s: set \"%s\" to %s in %s, and run \"%s daemon-reload\".",
                                          d->enabled ? "quarantined" : "disabled",
                                          d->enabled ? "quarantined" : "enabled",
                                          d->enabled ? "false" : "true",
                                          server->file,
                                          manager);
        else
                remedy =
                                strformat("Try \"%s daemon-reload\" (after a new definition), then \"%s "
                                          "start mcp-server@%s.socket\".",
                                          manager,
                                          manager,
                                          server->instance);
        if (!remedy)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_UNAVAILABLE,
                        "MCP-X-NOT-LISTENING",
                        remedy,
                        "Nothing listens at %s for the server \"%s\": %s.",
                        path,
                        server->name,
                        STRERROR(error));
}

/* Our variables that the definition lets a client pass through. */
static int passed_environment(const Definition *d, char ***ret) {
        _cleanup_strv_free_ char **env = NULL;

        STRV_FOREACH (name, d ? d->sessions.accept_env : NULL) {
                const char *value = getenv(*name);
                int r = value ? strv_extendf(&env, "%s=%s", *name, value) : 0;

                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(env);
        return 0;
}

static int make_pipe(int *ret_read, int *ret_write) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        return 0;
}

static int send_hello(CtlSession *s, const Definition *d, bool probe) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        _cleanup_free_ char *text = NULL;
        ControlHello hello = { .client = (char *) "mcpctl " PROJECT_VERSION, .probe = probe };
        _cleanup_strv_free_ char **env = NULL;
        size_t size;
        int r;

        r = make_pipe(&in, &s->to_server);
        if (r < 0)
                return r;
        r = make_pipe(&s->from_server, &out);
        if (r < 0)
                return r;
        /* A file in memory: never full, so that nobody has to read along; its pages are the writer's. */
        s->errors = memfd_create("mcpctl-stderr", MFD_CLOEXEC);
        if (s->errors < 0)
                return -errno;
        r = passed_environment(d, &env);
        if (r < 0)
                return r;
        hello.env = env;
        r = control_hello_encode(&hello, &text, &size);
        if (r < 0)
                return r;
        return control_send(s->control, text, size, (const int[CONTROL_N_FDS]){ in, out, s->errors });
}

void starting_begin(Starting *s, const Ctl *ctl, const char *name, uint64_t budget_usec) {
        s->ctl = ctl;
        s->name = name;
        start_notice_begin(&s->notice, now_usec(), budget_usec);
}

uint64_t starting_wait(void *userdata, uint64_t now) {
        _cleanup_free_ char *text = NULL, *name = NULL;
        Starting *s = userdata;

        /* With the budget over the failure has the word. */
        if (s->ctl->quiet || now >= s->notice.began_usec + s->notice.budget_usec)
                return UINT64_MAX;
        if (now < s->notice.next_usec)
                return s->notice.next_usec;
        text = start_notice_next(&s->notice, now);
        name = string_escape_control(s->name);
        if (text && name)
                fprintf(stderr, "mcpctl: %s: %s\n", name, text);
        return s->notice.next_usec;
}

/* The next state. -ETIMEDOUT, -ECONNRESET. */
static int next_status(CtlSession *s, uint64_t deadline_usec, Starting *starting, ControlStatus *ret) {
        _cleanup_free_ char *text = NULL;
        int64_t version = 0;
        size_t size;
        int r;

        for (;;) {
                uint64_t now = now_usec(), next = starting ? starting_wait(starting, now) : UINT64_MAX;
                struct pollfd p = { .fd = s->control, .events = POLLIN };
                uint64_t until = MIN(deadline_usec, next);
                uint64_t left_ms = now >= until ? 0 : (until - now + 999) / 1000;

                r = RET_NERRNO(poll(&p, 1, (int) MIN(left_ms, (uint64_t) INT32_MAX)));
                if (r > 0)
                        break;
                if (r == 0 && now_usec() >= deadline_usec)
                        return -ETIMEDOUT;
                if (r < 0 && r != -EINTR)
                        return r;
        }
        r = control_receive(s->control, &text, &size);
        if (r < 0)
                return r;
        if (size == 0)
                return -ECONNRESET;
        return control_status_decode(text, size, ret, &version);
}

static int fail_refused(Ctl *ctl, const ServerEntry *server, const ControlStatus *status) {
        CtlExit exit_status = status->exit_code > 0 ? status->exit_code : CTL_UNAVAILABLE;

        return ctl_fail(ctl,
                        exit_status,
                        status->code ?: "MCP-X-REFUSED",
                        NULL,
                        "The server \"%s\" refused the session: %s",
                        server->name,
                        status->reason ?: "no reason was given.");
}

static int fail_start(Ctl *ctl, const ServerEntry *server, int error, uint64_t timeout_usec) {
        if (error == -ETIMEDOUT)
                return ctl_fail(ctl,
                                CTL_UNAVAILABLE,
                                "MCP-X-START-TIMEOUT",
                                "\"mcpctl logs NAME\" shows how far it got; --timeout=TIME waits longer.",
                                "The server \"%s\" did not start within %llu s.",
                                server->name,
                                (unsigned long long) (timeout_usec / USEC_PER_SEC));
        return ctl_fail(ctl,
                        CTL_UNAVAILABLE,
                        "MCP-X-SUPERVISOR-GONE",
                        "\"mcpctl status NAME\" and \"mcpctl logs NAME\" show why.",
                        "The service of \"%s\" gave no answer: %s.",
                        server->name,
                        STRERROR(error));
}

/* Waits for running. A server that ended that early has run too: the session is there, and ended. */
static int wait_running(
                Ctl *ctl,
                const ServerEntry *server,
                CtlSession *s,
                bool again,
                uint64_t timeout_usec,
                Starting *starting) {
        uint64_t deadline = now_usec() + timeout_usec;

        for (;;) {
                ControlStatus status = {};
                int r;

                r = next_status(s, deadline, starting, &status);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        return fail_start(ctl, server, r, timeout_usec);
                switch (status.state) {
                case CONTROL_RUNNING:
                        s->running = status;
                        return 0;
                case CONTROL_REFUSED:
                        s->last = status;
                        s->ended = true;
                        return again ? 0 : fail_refused(ctl, server, &s->last);
                case CONTROL_EXITED:
                        s->last = status;
                        s->ended = true;
                        return 0;
                default:
                        /* The runner alone: the budget is ours. */
                        status.start_timeout_usec = 0;
                        start_notice_learn(&starting->notice, &status);
                        control_status_done(&status);
                }
        }
}

int session_open(
                Ctl *ctl,
                const ServerEntry *server,
                bool probe,
                bool again,
                uint64_t timeout_usec,
                Starting *starting,
                CtlSession **ret) {
        _cleanup_session_ CtlSession *s = NULL;
        _cleanup_free_ char *path = NULL;
        uint64_t began = now_usec();
        int r;

        r = ctl_socket_path(ctl, server->instance, SOCKET_CONNECT, &path);
        if (r != 0)
                return r;
        s = malloc(sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (CtlSession){ .control = -EBADF, .to_server = -EBADF, .from_server = -EBADF, .errors = -EBADF };
        r = connect_socket(path, &s->control);
        if (r < 0)
                return fail_connect(ctl, server, path, r);
        r = send_hello(s, server->definition, probe);
        if (r == -EPIPE || r == -ECONNRESET)
                return fail_start(ctl, server, r, timeout_usec);
        if (r < 0)
                return r;
        r = wait_running(ctl, server, s, again, timeout_usec, starting);
        if (r != 0)
                return r;
        s->started_usec = now_usec() - began;
        *ret = TAKE_PTR(s);
        return 0;
}

int session_wait_end(CtlSession *s, uint64_t timeout_usec) {
        uint64_t deadline = now_usec() + timeout_usec;

        while (!s->ended) {
                ControlStatus status = {};
                int r;

                r = next_status(s, deadline, NULL, &status);
                if (r < 0)
                        return r;
                if (status.state == CONTROL_EXITED || status.state == CONTROL_REFUSED) {
                        s->last = status;
                        s->ended = true;
                } else
                        control_status_done(&status);
        }
        return 0;
}

void session_say_goodbye(CtlSession *s) {
        s->to_server = safe_close(s->to_server);
        (void) shutdown(s->control, SHUT_WR);
}

static int last_lines_of_file(int fd, char ***ret) {
        _cleanup_free_ char *text = malloc(ERRORS_READ_MAX + 1);
        _cleanup_strv_free_ char **lines = NULL, **last = NULL;
        struct stat st;
        off_t end;
        ssize_t n;
        int r;

        if (!text)
                return -ENOMEM;
        if (fstat(fd, &st) < 0)
                return -errno;
        end = st.st_size;
        n = pread(fd,
                  text,
                  ERRORS_READ_MAX,
                  end > (off_t) ERRORS_READ_MAX ? end - (off_t) ERRORS_READ_MAX : 0);
        if (n < 0)
                return -errno;
        text[n] = '\0';
        r = strv_split(text, "\r\n", &lines);
        if (r < 0)
                return r;
        for (size_t i = 0, total = strv_length(lines); i < total; i++)
                if (i + LAST_LINES_MAX >= total) {
                        r = strv_extend(&last, lines[i]);
                        if (r < 0)
                                return r;
                }
        *ret = TAKE_PTR(last);
        return 0;
}

int session_last_lines(CtlSession *s, char ***ret) {
        char **copy;

        if (!s->ended || !s->last.stderr_tail)
                return last_lines_of_file(s->errors, ret);
        copy = strv_copy(s->last.stderr_tail);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}
