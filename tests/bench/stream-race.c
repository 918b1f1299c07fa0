/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* stream-race ROUNDS WARM-UP SIZE COUNT ANSWER ++ WAY ARGUMENT… [++ WAY ARGUMENT…]…: sends each stream-server in turn COUNT
 * messages of SIZE bytes and reads ANSWER bytes, as often as AT_LEAST_NS takes the first time; prints a line a round: how
 * many nanoseconds each way took for one. The servers are started once. In a round the ways go there and back (A B B A), so
 * that what becomes slower meanwhile is in all of them; both ends stay on one processor. Ways:
 *
 *   pipe COMMAND…         over two pipes, which become its stdin and stdout
 *   socketpair COMMAND…   over a pair of sockets
 *   raw SOCKET            over NAME.sock */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

enum {
        WAYS_MAX = 8,
        AT_LEAST_NS = 1000000,
        REPEAT_MAX = 10000,
};

typedef struct Peer {
        int reader, writer;
} Peer;

static _Noreturn void die(const char *what, int error) {
        (void) fprintf(stderr, "stream-race: %s: %s\n", what, strerror(error));
        exit(EXIT_FAILURE);
}

static uint64_t now_ns(void) {
        struct timespec t;

        if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
                die("clock_gettime", errno);
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

static void spawn(char *const argv[], int in, int out) {
        pid_t pid = fork();

        if (pid < 0)
                die("fork", errno);
        if (pid == 0) {
                if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
                        (void) execvp(argv[0], argv);
                _exit(EXIT_FAILURE);
        }
        (void) close(in);
        if (out != in)
                (void) close(out);
}

static Peer start_pipe(char *const arguments[]) {
        int in[2], out[2];

        if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
                die("pipe", errno);
        spawn(arguments, in[0], out[1]);
        return (Peer){ .reader = out[0], .writer = in[1] };
}

static Peer start_socketpair(char *const arguments[]) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                die("socketpair", errno);
        spawn(arguments, pair[1], pair[1]);
        return (Peer){ .reader = pair[0], .writer = pair[0] };
}

static Peer start_raw(char *const arguments[]) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", arguments[0]);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                die(arguments[0], errno);
        return (Peer){ .reader = fd, .writer = fd };
}

static Peer start(char *const arguments[]) {
        static const struct {
                const char *way;
                Peer (*start)(char *const arguments[]);
        } ways[] = {
                { "pipe", start_pipe },
                { "socketpair", start_socketpair },
                { "raw", start_raw },
        };

        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
                if (strcmp(ways[i].way, arguments[0]) == 0)
                        return ways[i].start(arguments + 1);
        die(arguments[0], EINVAL);
}

static void exchange(const Peer *p, const Request *request, char *buffer) {
        int r = stream_write(p->writer, request, sizeof(*request));

        for (uint64_t i = 0; r == 0 && i < request->count; i++)
                r = stream_write(p->writer, buffer, request->size);
        if (r == 0)
                r = stream_read(p->reader, buffer, request->answer);
        if (r != 0)
                die("the server", r);
}

static uint64_t measure(const Peer *p, const Request *request, char *buffer, unsigned n) {
        const uint64_t begun = now_ns();

        for (unsigned i = 0; i < n; i++)
                exchange(p, request, buffer);
        return (now_ns() - begun) / n;
}

/* The last that we may use: the first mostly has the interrupts. 0: cannot be told. */
static uint64_t choose_processor(void) {
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof(set), &set) < 0)
                return 0;
        for (uint64_t i = CPU_SETSIZE; i > 0; i--)
                if (CPU_ISSET(i - 1, &set))
                        return i;
        return 0;
}

static void race(
                const Peer peers[],
                unsigned n,
                const Request *request,
                char *buffer,
                int rounds,
                int warm_up) {
        uint64_t once;
        unsigned repeat;

        for (unsigned i = 0; i < n; i++)
                exchange(peers + i, request, buffer);
        once = measure(peers, request, buffer, 1);
        repeat = once >= AT_LEAST_NS ? 1 : (unsigned) (AT_LEAST_NS / (once + 1)) + 1;
        if (repeat > REPEAT_MAX)
                repeat = REPEAT_MAX;
        for (int round = -warm_up; round < rounds; round++) {
                uint64_t took[WAYS_MAX];

                for (unsigned k = 0; k < 2 * n; k++) {
                        /* Who begins changes, so that nobody always comes after the same other. */
                        unsigned place = k < n ? k : 2 * n - 1 - k;
                        unsigned i = (place + (unsigned) (round + warm_up)) % n;
                        uint64_t took_now = measure(peers + i, request, buffer, repeat);

                        took[i] = k < n ? took_now : took[i] + took_now;
                }
                for (unsigned i = 0; round >= 0 && i < n; i++)
                        (void) printf("%llu%s", (unsigned long long) (took[i] / 2), i + 1 < n ? " " : "\n");
        }
}

int main(int argc, char *argv[]) {
        Peer peers[WAYS_MAX];
        Request request;
        unsigned n = 0;
        char *buffer;

        if (argc < 8)
                die("usage: stream-race ROUNDS WARM-UP SIZE COUNT ANSWER ++ WAY ARGUMENT…", EINVAL);
        request = (Request){
                .size = strtoull(argv[3], NULL, 10),
                .count = strtoull(argv[4], NULL, 10),
                .answer = strtoull(argv[5], NULL, 10),
        };
        buffer = calloc(1, MESSAGE_MAX);
        request.processor = choose_processor();
        if (stream_stay_on(request.processor) != 0)
                die("sched_setaffinity", errno);
        if (!buffer || request.size > MESSAGE_MAX || request.answer > MESSAGE_MAX)
                die("SIZE, ANSWER", EMSGSIZE);
        for (char **arg = argv + 6; *arg; arg++)
                if (strcmp(*arg, "++") == 0)
                        *arg = NULL;
        for (int i = 6; i < argc - 1; i++)
                if (!argv[i]) {
                        if (n == WAYS_MAX)
                                die("++", E2BIG);
                        peers[n++] = start(argv + i + 1);
                }
        race(peers, n, &request, buffer, atoi(argv[1]), atoi(argv[2]));
        free(buffer);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
