/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* spawn-race ROUNDS WARM-UP ++ COMMAND… [++ COMMAND…]…: runs the commands in turn, and prints a line a round: how many
 * nanoseconds each took from before its fork to after its end. Who begins changes from round to round. A command that
 * ends badly ends it all: nobody wants the time of an error message.
 *
 * As root all of it runs before whatever else the machine does (SCHED_FIFO): on a busy machine the figures would mostly
 * be time that was spent waiting for a processor. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
        COMMANDS_MAX = 32,
};

extern char **environ;

static uint64_t now_ns(void) {
        struct timespec t;

        if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
                abort();
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

/* Returns the time that it took, or 0 after having said what went wrong. */
static uint64_t run(char *const argv[]) {
        const uint64_t begun = now_ns();
        uint64_t took;
        int status, r;
        pid_t pid;

        r = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
        if (r != 0) {
                (void) fprintf(stderr, "cannot start %s: %s\n", argv[0], strerror(r));
                return 0;
        }
        if (waitpid(pid, &status, 0) < 0) {
                (void) fprintf(stderr, "cannot wait for %s: %s\n", argv[0], strerror(errno));
                return 0;
        }
        took = now_ns() - begun;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                (void) fprintf(stderr, "%s ended with status %d\n", argv[0], status);
                return 0;
        }
        return took;
}

/* Cuts the arguments at each "++"; returns how many commands there are. */
static int split(char *argv[], char **commands[COMMANDS_MAX]) {
        int n = 0;

        for (char **arg = argv; *arg; arg++) {
                if (strcmp(*arg, "++") != 0)
                        continue;
                if (!arg[1] || n == COMMANDS_MAX)
                        return 0;
                commands[n++] = arg + 1;
                *arg = NULL;
        }
        return n;
}

int main(int argc, char *argv[]) {
        const struct sched_param lowest = { .sched_priority = 1 };
        char **commands[COMMANDS_MAX];
        uint64_t took[COMMANDS_MAX];
        int rounds, warm_up, n = 0, out;

        if (argc > 4 && strcmp(argv[3], "++") == 0)
                n = split(argv + 3, commands);
        if (n == 0) {
                (void) fprintf(stderr,
                               "Usage: spawn-race ROUNDS WARM-UP ++ COMMAND... [++ COMMAND...]...\n");
                return EXIT_FAILURE;
        }
        rounds = atoi(argv[1]);
        warm_up = atoi(argv[2]);

        /* What the commands print is none of our figures. */
        out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (out < 0 || dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0)
                return EXIT_FAILURE;
        (void) sched_setscheduler(0, SCHED_FIFO, &lowest);
        for (int round = -warm_up; round < rounds; round++) {
                for (int k = 0; k < n; k++) {
                        const int i = (round + warm_up + k) % n;

                        took[i] = run(commands[i]);
                        if (took[i] == 0)
                                return EXIT_FAILURE;
                }
                for (int i = 0; round >= 0 && i < n; i++)
                        (void) dprintf(out, "%llu%c", (unsigned long long) took[i], i + 1 < n ? ' ' : '\n');
        }
        return EXIT_SUCCESS;
}
