/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mcp-connect: hands its own stdin, stdout and stderr to a server, waits for it, and exits as it did. No byte of the
 * conversation passes through here, and not one is written to stdout. */

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "basic/fd-util.h"
#include "basic/ssh.h"
#include "basic/string-util.h"
#include "connect/find-server.h"
#include "connect/options.h"
#include "connect/watch-start.h"
#include "control/message.h"

enum { EXIT_USAGE = 2, EXIT_UNAVAILABLE = 69, EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127 };

/* How long a server that was asked to end is waited for: more than any sensible stop.eof_grace and kill_after. */
#define END_TIMEOUT_USEC (60ULL * 1000000ULL)

typedef struct Connection {
        const char *shown; /* the server's name, harmless for a terminal */
        int fd, signals;
        bool heard, running;    /* heard: of a supervisor at all */
        int caught;             /* signal that ends the connection; 0: none */
        uint64_t deadline_usec; /* CLOCK_MONOTONIC; UINT64_MAX: none */
        StartWatch start;
} Connection;

static uint64_t now_monotonic(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000U + (uint64_t) ts.tv_nsec / 1000U;
}

/* Lines from elsewhere, made harmless for a terminal; the code, if there is one, behind the last. */
static void say_lines(const char *prefix, const char *text, const char *code) {
        _cleanup_strv_free_ char **lines = NULL;

        if (strv_split(strempty(text), "\n", &lines) < 0)
                return;
        STRV_FOREACH (line, lines) {
                _cleanup_free_ char *shown = string_escape_control(*line);
                bool last = code && !line[1] && !strstr(*line, code);

                fprintf(stderr,
                        "%s%s%s%s%s\n",
                        prefix,
                        strempty(shown),
                        last ? " [" : "",
                        last ? code : "",
                        last ? "]" : "");
        }
}

static void say_end(const Connection *c, const ControlStatus *s) {
        _cleanup_free_ char *prefix = strformat("mcp-connect: %s: ", c->shown);

        if (s->reason)
                say_lines(strempty(prefix), s->reason, s->code);
        if (s->code && strv_length(s->stderr_tail) > 0)
                fprintf(stderr, "mcp-connect: the last lines of its stderr:\n");
        STRV_FOREACH (line, s->stderr_tail)
                say_lines("    ", *line, NULL);
}

/* A signal's end is told to the parent as a shell would. */
static int final_status(const Connection *c, int exit_code) {
        return c->caught > 0 ? 128 + c->caught : exit_code;
}

/* The exit status, or -EAGAIN: go on. */
static int take_status(Connection *c, const char *text, size_t size) {
        _cleanup_(control_status_done) ControlStatus s = {};
        int64_t version = 0;
        int r;

        r = control_status_decode(text, size, &s, &version);
        if (r < 0) {
                fprintf(stderr,
                        "mcp-connect: The supervisor's message cannot be read (%s, version %lld): "
                        "mcp-connect and mcp-supervisor have to be of the same release. "
                        "[MCP-X-SUPERVISOR-GONE]\n",
                        STRERROR(r),
                        (long long) version);
                return final_status(c, EXIT_UNAVAILABLE);
        }
        c->heard = true;
        switch (s.state) {
        case CONTROL_STARTING:
                start_notice_learn(&c->start.notice, &s);
                return -EAGAIN;
        case CONTROL_RUNNING:
                c->running = true;
                if (c->caught == 0)
                        c->deadline_usec = UINT64_MAX;
                return -EAGAIN;
        case CONTROL_REFUSED:
                say_end(c, &s);
                return final_status(c, s.exit_code > 0 ? s.exit_code : EXIT_UNAVAILABLE);
        case CONTROL_EXITED:
                say_end(c, &s);
                return final_status(c, s.exit_code);
        default:
                return -EAGAIN;
        }
}

static int on_message(Connection *c) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = control_receive(c->fd, &text, &size);
        /* ECONNRESET comes before what was still sent to us (our hello was not read): the next call has that. */
        if (r == -EAGAIN || r == -ECONNRESET)
                return -EAGAIN;
        if (r < 0 || size == 0) {
                if (c->caught == 0)
                        fprintf(stderr,
                                "mcp-connect: %s: %s. \"mcpctl status\" and \"mcpctl logs\" show why. "
                                "[MCP-X-SUPERVISOR-GONE]\n",
                                c->shown,
                                c->running ? "The supervisor is gone"
                                : c->heard ? "The supervisor is gone before it started the server"
                                           : "Nobody answered: its service was not started, or ended at "
                                             "once");
                return final_status(c, EXIT_UNAVAILABLE);
        }
        return take_status(c, text, size);
}

static void on_signal(Connection *c) {
        struct signalfd_siginfo si;

        if (read(c->signals, &si, sizeof(si)) != sizeof(si))
                return;
        if (c->caught > 0) {
                /* Whoever insists does not want to wait. */
                c->deadline_usec = 0;
                return;
        }
        c->caught = (int) si.ssi_signo;
        /* As long as nobody has taken us there is nothing to wait for. */
        c->deadline_usec = c->heard ? now_monotonic() + END_TIMEOUT_USEC : 0;
        /* The end of our side is the client's end; the supervisor answers when the server is gone. */
        (void) shutdown(c->fd, SHUT_WR);
}

static int poll_timeout(const Connection *c) {
        uint64_t now = now_monotonic(), until = MIN(c->deadline_usec, c->start.next_usec);

        if (until == UINT64_MAX)
                return -1;
        return until <= now ? 0 : (int) MIN((until - now) / 1000 + 1, (uint64_t) 3600000);
}

/* A stderr that nobody empties is no reason to hang. */
static bool stderr_takes_a_line(void) {
        struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

        return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

static void watch_start(Connection *c) {
        _cleanup_free_ char *text = NULL;

        start_watch_look(&c->start, now_monotonic(), &text);
        if (text && stderr_takes_a_line())
                fprintf(stderr, "mcp-connect: %s: %s\n", c->shown, text);
}

static int wait_for_end(Connection *c) {
        for (;;) {
                struct pollfd p[] = {
                        { .fd = c->fd, .events = POLLIN },
                        { .fd = c->signals, .events = POLLIN },
                };
                int r = poll(p, ELEMENTSOF(p), poll_timeout(c));

                if (r < 0 && errno != EINTR)
                        return EXIT_UNAVAILABLE;
                watch_start(c);
                if (p[0].revents && r > 0) {
                        r = on_message(c);
                        if (r != -EAGAIN)
                                return r;
                } else if (p[1].revents && r > 0)
                        on_signal(c);
                else if (r == 0 && now_monotonic() >= c->deadline_usec) {
                        if (c->caught == 0)
                                fprintf(stderr,
                                        "mcp-connect: %s: The server did not start in time; "
                                        "--timeout=SECONDS "
                                        "waits longer. [MCP-X-START-TIMEOUT]\n",
                                        c->shown);
                        return final_status(c, EXIT_UNAVAILABLE);
                }
        }
}

static int say_hello(int fd, char **env) {
        static const int fds[CONTROL_N_FDS] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };
        const ControlHello hello = { .client = (char *) "mcp-connect " PROJECT_VERSION, .env = env };
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = control_hello_encode(&hello, &text, &size);
        if (r == -EILSEQ || r == -E2BIG) {
                fprintf(stderr,
                        "mcp-connect: The values of --env are %s. [MCP-X-USAGE]\n",
                        r == -E2BIG ? "too long" : "not UTF-8");
                return -EINVAL;
        }
        if (r >= 0)
                r = control_send(fd, text, size, fds);
        /* Refused without being heard: the reason is waiting to be read. */
        return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

/* A server that opens /dev/stdout or /dev/stderr opens our client's pipe anew, and in the system manager as another
 * user. A pipe without a name can be reached only through a process that has it, so its mode keeps nobody else out. One
 * that is not ours stays as it is. */
static void open_pipes_to_server(void) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
                struct statfs fs;

                if (fstatfs(fd, &fs) >= 0 && fs.f_type == PIPEFS_MAGIC)
                        (void) fchmod(fd, 0666);
        }
}

/* Our copies of the client's pipes go, so that their ends are seen on both sides. */
static int let_stdio_go(void) {
        _cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
                return -errno;
        return 0;
}

static int catch_signals(void) {
        static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
        sigset_t set;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < ELEMENTSOF(signals); i++)
                (void) sigaddset(&set, signals[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        return RET_NERRNO(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

static int run(const ConnectOptions *o) {
        _cleanup_close_ int fd = -EBADF, signals = -EBADF;
        _cleanup_free_ char *shown = string_escape_control(o->name);
        Connection c = { .shown = strempty(shown) };
        int r;

        fd = server_connect(o->scope, o->name);
        if (fd < 0)
                return fd == -EINVAL ? EXIT_USAGE : EXIT_UNAVAILABLE;
        open_pipes_to_server();
        signals = catch_signals();
        r = signals < 0 ? signals : say_hello(fd, o->env);
        if (r == -EINVAL)
                return EXIT_USAGE;
        start_watch_begin(&c.start, now_monotonic(), o->timeout_usec, o->quiet);
        if (r >= 0)
                r = let_stdio_go();
        if (r < 0) {
                fprintf(stderr, "mcp-connect: %s: %s. [MCP-X-FAILED]\n", c.shown, STRERROR(r));
                return EXIT_UNAVAILABLE;
        }
        c.fd = fd;
        c.signals = signals;
        c.deadline_usec = now_monotonic() + o->timeout_usec;
        r = wait_for_end(&c);
        start_watch_end(&c.start);
        return r;
}

/* ssh hands our stdin, stdout and stderr through, and exits as the mcp-connect there does. Values of variables go by SendEnv:
 * in its arguments everyone could read them. */
static int run_remote(const ConnectOptions *o) {
        _cleanup_strv_free_ char **arguments = NULL, **argv = NULL;
        SshCommand command = { .host = o->host, .program = "mcp-connect", .variables = o->env_names };
        int r = 0;

        if (o->scope != _RUNTIME_SCOPE_INVALID)
                r = strv_extendf(&arguments, "--%s", runtime_scope_to_string(o->scope));
        STRV_FOREACH (name, o->env_names)
                if (r >= 0)
                        r = strv_extendf(&arguments, "--env=%s", *name);
        if (r >= 0 && o->timeout)
                r = strv_extendf(&arguments, "--timeout=%s", o->timeout);
        if (r >= 0 && o->quiet)
                r = strv_extend(&arguments, "--quiet");
        if (r >= 0)
                r = strv_extend(&arguments, "--");
        if (r >= 0)
                r = strv_extend(&arguments, o->name);
        command.arguments = arguments;
        if (r >= 0)
                r = ssh_command(&command, &argv);
        if (r >= 0 && signal(SIGPIPE, SIG_DFL) == SIG_ERR)
                r = -errno;
        if (r < 0) {
                fprintf(stderr, "mcp-connect: It did not work: %s. [MCP-X-FAILED]\n", STRERROR(r));
                return EXIT_UNAVAILABLE;
        }
        (void) execv(ssh_program(), argv);
        fprintf(stderr,
                "mcp-connect: %s cannot be executed: %s. [MCP-X-EXEC]\n",
                ssh_program(),
                STRERROR(errno));
        return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

int main(int argc, char **argv) {
        _cleanup_(connect_options_done) ConnectOptions o = {};
        int r;

        /* The server gets them. */
        if (stdio_fill(O_RDWR) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
                return EXIT_UNAVAILABLE;
        r = connect_options_parse(argc, argv, &o);
        if (r == 0)
                return stream_finish(stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (r < 0)
                return r == -EINVAL ? EXIT_USAGE : EXIT_UNAVAILABLE;
        return o.host ? run_remote(&o) : run(&o);
}
