/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* run: one confined session of a command that has no definition. mcp-sandbox confines it; here it gets the scope that a
 * session has, so that nothing of it stays behind. */

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/json.h"
#include "basic/string-util.h"
#include "ctl/ctl.h"
#include "manager/manager.h"

/* No server can be called so: a leading dot would be escaped. */
#define RUN_INSTANCE       ".run"
#define START_TIMEOUT_USEC (20U * USEC_PER_SEC)
#define STOP_TIMEOUT_USEC  (10U * USEC_PER_SEC)
#define TASKS_MAX          512U

static int add_option(char ***argv, const char *name, char *const *values) {
        STRV_FOREACH (v, values) {
                int r = strv_extendf(argv, "--%s=%s", name, *v);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* A line as mcp-sandbox reads it from --env-file: whatever the value is, in double quotes. */
static int print_assignment(FILE *f, const char *assignment) {
        const char *value = strchr(assignment, '=') + 1;

        fprintf(f, "%.*s\"", (int) (value - assignment), assignment);
        for (; *value; value++)
                switch (*value) {
                case '\n':
                        fputs("\\n", f);
                        break;
                case '\r':
                        fputs("\\r", f);
                        break;
                case '"':
                case '\\':
                        fprintf(f, "\\%c", *value);
                        break;
                default:
                        putc(*value, f);
                }
        fputs("\"\n", f);
        return ferror(f) ? -EIO : 0;
}

static int copy_env_file(Ctl *ctl, FILE *f) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = file_read_at(AT_FDCWD, ctl->env_file, JSON_SIZE_MAX, &text, &size);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-FILE",
                                NULL,
                                "%s cannot be read: %s.",
                                ctl->env_file,
                                STRERROR(r));
        if (fwrite(text, 1, size, f) != size || putc('\n', f) == EOF)
                return -EIO;
        explicit_bzero(text, size);
        return 0;
}

/* Values go in a file in memory: in mcp-sandbox's arguments everyone could read them. */
static int make_env_file(Ctl *ctl, int *ret) {
        _cleanup_close_ int fd = memfd_create("mcpctl-env", 0);
        FILE *f;
        int copy, r = 0;

        copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (copy < 0)
                return -errno;
        f = fdopen(copy, "w");
        if (!f) {
                (void) safe_close(copy);
                return -errno;
        }
        if (ctl->env_file)
                r = copy_env_file(ctl, f);
        STRV_FOREACH (e, ctl->env)
                if (r == 0)
                        r = print_assignment(f, *e);
        if (fclose(f) != 0 && r == 0)
                r = -errno;
        if (r == 0)
                *ret = TAKE_FD(fd);
        return r;
}

static int sandbox_command(Ctl *ctl, char **command, int env_fd, char ***ret) {
        _cleanup_strv_free_ char **argv = NULL;
        int r;

        r = strv_extend(&argv, "mcp-sandbox");
        if (r >= 0 && env_fd >= 0)
                r = strv_extendf(&argv, "--env-file=/proc/self/fd/%d", env_fd);
        if (r >= 0)
                r = add_option(&argv, "write", ctl->write);
        if (r >= 0 && ctl->network)
                r = strv_extendf(&argv, "--network=%s", ctl->network);
        if (r >= 0 && ctl->strict)
                r = strv_extend(&argv, "--strict");
        if (r >= 0)
                r = strv_extend(&argv, "--");
        for (; r >= 0 && *command; command++)
                r = strv_extend(&argv, *command);
        if (r >= 0)
                *ret = TAKE_PTR(argv);
        return r;
}

/* The child waits for a byte; the end of the pipe without one is the end of it. */
static _Noreturn void child(int gate, pid_t parent, char **argv, const sigset_t *signals) {
        char go;
        ssize_t n;

        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
                _exit(CTL_FAILED);
        do
                n = read(gate, &go, 1);
        while (n < 0 && errno == EINTR);
        if (n != 1 || sigprocmask(SIG_SETMASK, signals, NULL) < 0)
                _exit(CTL_FAILED);
        (void) execv(BINDIR "/mcp-sandbox", argv);
        fprintf(stderr,
                "mcpctl: %s cannot be executed: %s. [MCP-X-EXEC]\n",
                BINDIR "/mcp-sandbox",
                STRERROR(errno));
        _exit(errno == ENOENT ? CTL_NOT_FOUND : CTL_CANNOT_EXECUTE);
}

typedef struct Wait {
        bool done;
        int result;
} Wait;

static void on_done(void *userdata, int result, const char *detail) {
        Wait *w = userdata;

        w->done = true;
        w->result = result;
}

static int wait_for(sd_event *event, const Wait *w) {
        while (!w->done) {
                int r = sd_event_run(event, UINT64_MAX);

                if (r < 0)
                        return r;
        }
        return w->result;
}

typedef struct Run {
        sd_event *event;
        Manager *manager;
        char *scope;
} Run;

static void run_done(Run *run) {
        manager_unref(run->manager);
        sd_event_unref(run->event);
        free(run->scope);
}
#define _cleanup_run_ _cleanup_(run_done)

static int start_scope(Ctl *ctl, Run *run, pid_t pid) {
        char unique[17];
        uint64_t number;
        Wait w = {};
        ScopeSpec spec = {
                .description = "Confined command of mcpctl run",
                .slice = "mcp.slice",
                .pid = pid,
                .pidfd = -EBADF,
                .memory_max = UINT64_MAX,
                .swap_max = UINT64_MAX,
                .tasks_max = TASKS_MAX,
                .cpu_quota_usec_per_sec = UINT64_MAX,
                .runtime_max_usec = UINT64_MAX,
                .timeout_stop_usec = STOP_TIMEOUT_USEC,
        };
        int r;

        if (getrandom(&number, sizeof(number), 0) != sizeof(number))
                return -EIO;
        (void) snprintf(unique, sizeof(unique), "%016llx", (unsigned long long) number);
        r = scope_name_make(RUN_INSTANCE, unique, &run->scope);
        if (r >= 0)
                r = sd_event_new(&run->event);
        if (r >= 0)
                r = manager_new(ctl->scope, run->event, &run->manager);
        if (r < 0)
                return r;
        spec.name = run->scope;
        r = manager_start_scope(run->manager, &spec, START_TIMEOUT_USEC, on_done, &w, NULL);
        return r < 0 ? r : wait_for(run->event, &w);
}

static void stop_scope(Run *run) {
        Wait w = {};

        if (run->scope &&
            manager_stop_unit(run->manager, run->scope, 2 * STOP_TIMEOUT_USEC, on_done, &w, NULL) >= 0)
                (void) wait_for(run->event, &w);
}

/* What ends us ends the child, which has the terminal's signals from the terminal itself. */
static int wait_for_child(pid_t pid, const sigset_t *signals) {
        int status, caught;

        for (;;) {
                pid_t p = waitpid(pid, &status, WNOHANG);

                if (p < 0)
                        return -errno;
                if (p == pid)
                        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
                if (sigwait(signals, &caught) == 0 && (caught == SIGTERM || caught == SIGHUP))
                        (void) kill(pid, caught);
        }
}

static int block_signals(sigset_t *ret, sigset_t *ret_old) {
        static const int table[] = { SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT };

        (void) sigemptyset(ret);
        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                (void) sigaddset(ret, table[i]);
        return RET_NERRNO(sigprocmask(SIG_BLOCK, ret, ret_old));
}

static int run_in_scope(Ctl *ctl, char **argv) {
        _cleanup_close_ int gate = -EBADF, closed = -EBADF;
        _cleanup_run_ Run run = {};
        sigset_t signals, old;
        int fds[2], r;
        pid_t pid, self = getpid();

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        closed = fds[0];
        gate = fds[1];
        r = block_signals(&signals, &old);
        if (r < 0)
                return r;
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                (void) safe_close(gate);
                child(closed, self, argv, &old);
        }
        r = start_scope(ctl, &run, pid);
        if (r < 0) {
                const char *hint = manager_error_hint(ctl->scope, r);

                fprintf(stderr,
                        "mcpctl: It runs without a scope, because the %s manager gave none (%s): its number "
                        "of tasks is "
                        "not limited, and what it leaves behind stays.%s%s\n",
                        runtime_scope_to_string(ctl->scope),
                        STRERROR(r),
                        hint ? " " : "",
                        strempty(hint));
                free(run.scope);
                run.scope = NULL;
        }
        r = write(gate, "", 1) == 1 ? wait_for_child(pid, &signals) : -EIO;
        stop_scope(&run);
        return r;
}

int verb_run(Ctl *ctl, char **operands) {
        _cleanup_strv_free_ char **argv = NULL;
        _cleanup_close_ int env_fd = -EBADF;
        int r = 0;

        if (ctl->env || ctl->env_file)
                r = make_env_file(ctl, &env_fd);
        if (r == 0)
                r = sandbox_command(ctl, operands, env_fd, &argv);
        return r != 0 ? r : run_in_scope(ctl, argv);
}
