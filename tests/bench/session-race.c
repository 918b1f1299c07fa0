/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* session-race ROUNDS WARM-UP AT-ONCE ++ WAY ARGUMENT… [++ WAY ARGUMENT…]…: has first-instruction started in each way in
 * turn, AT-ONCE of them together, and prints a line for each start: the way's number, and how many nanoseconds passed
 * from the moment at which its client began to the server's first instruction. Ways:
 *
 *   scope MANAGER PROGRAM   a bare scope (bare-scope.c); from before the fork
 *   spare MANAGER PROGRAM   a child that waits in its scope for a client; from before it is handed the client's descriptors
 *   raw SOCKET              NAME.sock; from before connect()
 *   connect SOCKET          NAME.connect; from before connect()
 *   spawn COMMAND…          a command that has it started; from before the fork */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/message.h"
#include "session-start.h"

enum {
        RACERS_MAX = 8,
        AT_ONCE_MAX = 512,
        PAUSE_MSEC = 30, /* for what an end leaves to do: it is no part of the next start */
};

_Noreturn void die(const char *what, int error) {
        (void) fprintf(stderr, "session-race: %s: %s\n", what, strerror(error));
        exit(EXIT_FAILURE);
}

uint64_t now_ns(void) {
        struct timespec t;

        if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
                die("clock_gettime", errno);
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

void start_pipes(Start *s, int ret_server[2]) {
        int in[2], out[2];

        if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
                die("pipe", errno);
        ret_server[0] = in[0];
        s->writer = in[1];
        s->reader = out[0];
        ret_server[1] = out[1];
}

static int connect_to(const char *path, int type) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                die(path, errno);
        return fd;
}

static void start_raw(char *const arguments[], Start starts[], unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                starts[i].begun_ns = now_ns();
                starts[i].writer = starts[i].reader = connect_to(arguments[0], SOCK_STREAM);
        }
}

static void start_connect(char *const arguments[], Start starts[], unsigned n) {
        const ControlHello hello = { .client = (char *) "session-race" };
        char *text;
        size_t size;
        int r = control_hello_encode(&hello, &text, &size);

        if (r < 0)
                die("hello", -r);
        for (unsigned i = 0; i < n; i++) {
                int fds[CONTROL_N_FDS] = { -EBADF, -EBADF, STDERR_FILENO };

                start_pipes(starts + i, fds);
                starts[i].begun_ns = now_ns();
                starts[i].control = connect_to(arguments[0], SOCK_SEQPACKET);
                r = control_send(starts[i].control, text, size, fds);
                if (r < 0)
                        die("hello", -r);
                (void) close(fds[0]);
                (void) close(fds[1]);
        }
        free(text);
}

static void start_spawn(char *const arguments[], Start starts[], unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                int stdio[2];

                start_pipes(starts + i, stdio);
                starts[i].begun_ns = now_ns();
                starts[i].pid = fork();
                if (starts[i].pid < 0)
                        die("fork", errno);
                if (starts[i].pid == 0) {
                        if (dup2(stdio[0], STDIN_FILENO) >= 0 && dup2(stdio[1], STDOUT_FILENO) >= 0)
                                (void) execvp(arguments[0], arguments);
                        _exit(EXIT_FAILURE);
                }
                (void) close(stdio[0]);
                (void) close(stdio[1]);
        }
}

static uint64_t wait_for_first_instruction(const Start *s) {
        uint64_t at;
        ssize_t n = read(s->reader, &at, sizeof(at));

        if (n != sizeof(at))
                die("the server did not start", n < 0 ? errno : ENODATA);
        return at - s->begun_ns;
}

static void end(Start *s) {
        char byte;

        if (s->writer == s->reader)
                (void) shutdown(s->writer, SHUT_WR);
        else
                (void) close(s->writer);
        /* The end of its output, or of the connection: ours closes late, and that is waited for. */
        while (read(s->reader, &byte, 1) > 0)
                continue;
        (void) close(s->reader);
        if (s->control >= 0)
                (void) close(s->control);
        if (s->pid > 0)
                (void) waitpid(s->pid, NULL, 0);
}

static void run(unsigned number, const Way *way, char *const arguments[], unsigned n, bool show) {
        static Start starts[AT_ONCE_MAX];
        const struct timespec pause = { .tv_nsec = PAUSE_MSEC * 1000000L };

        for (unsigned i = 0; i < n; i++)
                starts[i] = (Start){ .writer = -EBADF, .reader = -EBADF, .control = -EBADF, .go = -EBADF };
        way->start(arguments, starts, n);
        for (unsigned i = 0; i < n; i++) {
                uint64_t took = wait_for_first_instruction(starts + i);

                if (show)
                        (void) printf("%u %llu\n", number, (unsigned long long) took);
        }
        for (unsigned i = 0; i < n; i++)
                end(starts + i);
        (void) nanosleep(&pause, NULL);
}

static const Way *find_way(const char *name) {
        static const Way ways[] = {
                { "scope", start_scopes },    { "spare", start_spares }, { "raw", start_raw },
                { "connect", start_connect }, { "spawn", start_spawn },
        };

        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
                if (strcmp(ways[i].name, name) == 0)
                        return ways + i;
        die(name, EINVAL);
}

int main(int argc, char *argv[]) {
        const Way *ways[RACERS_MAX];
        char **arguments[RACERS_MAX];
        unsigned n = 0, at_once;
        int rounds, warm_up;

        if (argc < 6)
                die("usage: session-race ROUNDS WARM-UP AT-ONCE ++ WAY ARGUMENT…", EINVAL);
        rounds = atoi(argv[1]);
        warm_up = atoi(argv[2]);
        at_once = (unsigned) atoi(argv[3]);
        for (char **arg = argv + 4; *arg; arg++)
                if (strcmp(*arg, "++") == 0) {
                        *arg = NULL;
                        if (n == RACERS_MAX || !arg[1])
                                die("++", EINVAL);
                        ways[n] = find_way(arg[1]);
                        arguments[n++] = arg + 2;
                }
        if (rounds < 1 || at_once < 1 || at_once > AT_ONCE_MAX || n == 0)
                die("ROUNDS, AT-ONCE", EINVAL);
        for (int round = -warm_up; round < rounds; round++)
                for (unsigned k = 0; k < n; k++) {
                        /* Who begins changes, so that nobody always comes after the same other. */
                        unsigned i = (k + (unsigned) (round + warm_up)) % n;

                        run(i, ways[i], arguments[i], at_once, round >= 0);
                }
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
