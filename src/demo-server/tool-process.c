/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tools that run and signal processes. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "demo-server/tools.h"

#define TIMEOUT_DEFAULT_MS 30000
#define OUTPUT_MAX         (1024U * 1024U)
#define DRAIN_READS        64

typedef struct Output {
        char *data;
        size_t n;
        bool more; /* and what came behind it was thrown away */
} Output;

static void output_done(Output *o) {
        free(o->data);
}

/* Takes what the pipe holds now, but does not race with one who keeps filling it. 1: it may give more; 0: its end;
 * negative errno. */
static int output_drain(Output *o, int fd) {
        for (unsigned i = 0; i < DRAIN_READS; i++) {
                char scrap[4096];
                size_t room = OUTPUT_MAX - o->n;
                ssize_t k;

                k = read(fd, room > 0 ? o->data + o->n : scrap, room > 0 ? room : sizeof(scrap));
                if (k < 0)
                        return errno == EAGAIN ? 1 : errno == EINTR ? 1 : -errno;
                if (k == 0)
                        return 0;
                if (room > 0)
                        o->n += (size_t) k;
                else
                        o->more = true;
        }
        return 1;
}

static int64_t now_ms(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* Starts argv with nothing on stdin, and stdout and stderr into one pipe. posix_spawnp() rather than execvp(), which
 * would hand a file without a known format to a shell. */
static int spawn_program(char *const *argv, pid_t *ret_pid, int *ret_fd) {
        _cleanup_close_ int read_fd = -EBADF, write_fd = -EBADF;
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t defaults;
        pid_t pid;
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        read_fd = fds[0];
        write_fd = fds[1];
        r = fd_set_nonblock(read_fd, true);
        if (r < 0)
                return r;
        r = -posix_spawn_file_actions_init(&actions);
        if (r < 0)
                return r;
        r = -posix_spawnattr_init(&attributes);
        if (r < 0) {
                (void) posix_spawn_file_actions_destroy(&actions);
                return r;
        }
        (void) sigemptyset(&defaults);
        (void) sigaddset(&defaults, SIGPIPE);
        if ((r = -posix_spawnattr_setsigdefault(&attributes, &defaults)) == 0 &&
            (r = -posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF)) == 0 &&
            (r = -posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) == 0 &&
            (r = -posix_spawn_file_actions_adddup2(&actions, write_fd, STDOUT_FILENO)) == 0 &&
            (r = -posix_spawn_file_actions_adddup2(&actions, write_fd, STDERR_FILENO)) == 0)
                r = -posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
        (void) posix_spawnattr_destroy(&attributes);
        (void) posix_spawn_file_actions_destroy(&actions);
        if (r < 0)
                return r;
        *ret_pid = pid;
        *ret_fd = TAKE_FD(read_fd);
        return 0;
}

/* Until the program itself is gone: what it left behind may hold the pipe for as long as it likes. */
static int spawn_wait(pid_t pid, int fd, int64_t timeout_ms, Output *o, int *ret_status, bool *ret_killed) {
        _cleanup_close_ int pidfd = -EBADF;
        struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .events = POLLIN } };
        int64_t deadline = now_ms() + timeout_ms;
        bool killed = false;
        int r = 0;

        pidfd = pidfd_open(pid, 0);
        if (pidfd < 0)
                r = -errno;
        p[1].fd = pidfd;
        while (r >= 0 && !(p[1].revents & POLLIN)) {
                int64_t left = deadline - now_ms();

                r = RET_NERRNO(poll(p, 2, killed ? -1 : (int) MAX(left, INT64_C(0))));
                if (r == -EINTR) {
                        r = p[0].revents = p[1].revents = 0;
                        continue;
                }
                if (r == 0 && !killed) {
                        r = RET_NERRNO(kill(pid, SIGKILL));
                        killed = true;
                }
                if (r > 0 && p[0].revents != 0) {
                        r = output_drain(o, fd);
                        if (r == 0)
                                p[0].fd = -EBADF;
                }
        }
        if (r < 0)
                (void) kill(pid, SIGKILL);
        if (waitpid(pid, ret_status, 0) < 0 && r >= 0)
                r = -errno;
        if (r >= 0 && p[0].fd >= 0)
                r = output_drain(o, fd);
        *ret_killed = killed;
        return r < 0 ? r : 0;
}

static int spawn_report(const Output *o, int status, bool killed, ToolResult *result) {
        int r;

        r = tool_data(result, strempty(o->data), o->n);
        if (r >= 0 && o->more)
                r = tool_text(result, "There was more output; the first %u bytes are shown.", OUTPUT_MAX);
        if (r < 0)
                return r;
        if (killed)
                return tool_fail(result, ETIMEDOUT, "The program was killed");
        result->is_error = status != 0;
        if (WIFSIGNALED(status))
                return tool_text(
                                result,
                                "Killed by signal %d (SIG%s).",
                                WTERMSIG(status),
                                strempty(sigabbrev_np(WTERMSIG(status))));
        return tool_text(result, "Exit status %d.", WEXITSTATUS(status));
}

int tool_spawn(json_object *arguments, ToolResult *result) {
        _cleanup_(output_done) Output output = {};
        _cleanup_free_ char **argv = NULL;
        _cleanup_close_ int fd = -EBADF;
        json_object *array = jsonc_get(arguments, "argv", json_type_array);
        size_t n = json_object_array_length(array);
        bool killed = false;
        int r, status = 0;
        pid_t pid;

        argv = calloc(n + 1, sizeof(char *));
        output.data = malloc(OUTPUT_MAX + 1);
        if (!argv || !output.data)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                argv[i] = (char *) json_object_get_string(json_object_array_get_idx(array, i));
        r = spawn_program(argv, &pid, &fd);
        if (r < 0)
                return tool_fail(result, r, "spawn(%s)", argv[0]);
        r = spawn_wait(pid,
                       fd,
                       tool_integer(arguments, "timeout_ms", TIMEOUT_DEFAULT_MS),
                       &output,
                       &status,
                       &killed);
        if (r < 0)
                return tool_fail(result, r, "wait(%s)", argv[0]);
        return spawn_report(&output, status, killed, result);
}

int tool_signal(json_object *arguments, ToolResult *result) {
        pid_t pid = (pid_t) tool_integer(arguments, "pid", 0);
        int sig = (int) tool_integer(arguments, "signal", 0);

        if (kill(pid, sig) < 0)
                return tool_fail(result, errno, "kill(%d, %d)", pid, sig);
        return tool_text(result, "Sent signal %d to process %d.", sig, pid);
}
