/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sandbox/apply-internal.h"

/* The lowest descriptor that cannot be one of stdin, stdout, stderr. */
#define FD_ABOVE_STDIO 3

/* The signals that are ignored or handled, as bits (1 << (number - 1)); all where it cannot be told. */
static uint64_t changed_signals = UINT64_MAX;

/* One file is read for what would otherwise be a system call for each signal. */
static uint64_t read_changed_signals(void) {
        static const char *const fields[] = { "\nSigIgn:", "\nSigCgt:" };
        _cleanup_close_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        uint64_t changed = 0;
        char text[4096];
        ssize_t n;

        n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
        if (n < 0)
                return UINT64_MAX;
        text[n] = 0;
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                const char *field = strstr(text, fields[i]);
                char *end;

                if (!field)
                        return UINT64_MAX;
                field += strlen(fields[i]);
                changed |= strtoull(field, &end, 16);
                if (*end != '\n')
                        return UINT64_MAX;
        }
        return changed;
}

void session_learn_signals(void) {
        changed_signals = read_changed_signals();
}

/* A child inherits what its parent ignores and blocks; a server expects neither. */
static int reset_signals(void) {
        const struct sigaction standard = { .sa_handler = SIG_DFL };
        const uint64_t changed = changed_signals;
        sigset_t none;

        for (int sig = 1; sig < _NSIG; sig++) {
                if (sig == SIGKILL || sig == SIGSTOP || !(changed & (UINT64_C(1) << (sig - 1))))
                        continue;
                /* EINVAL: the numbers that libc keeps for itself. */
                if (sigaction(sig, &standard, NULL) < 0 && errno != EINVAL)
                        return -errno;
        }
        if (sigemptyset(&none) < 0)
                return -errno;
        return RET_NERRNO(sigprocmask(SIG_SETMASK, &none, NULL));
}

int session_enter(const Plan *plan, SandboxFailure *failure) {
        int r;

        /* EPERM: we lead a process group already, so there is no terminal to lose. */
        if (plan->new_session) {
                if (setsid() < 0 && errno != EPERM)
                        return sandbox_fail(failure, SANDBOX_STAGE_SESSION, -errno, -1, NULL);
                (void) umask(0022);
        }
        r = reset_signals();
        return r < 0 ? sandbox_fail(failure, SANDBOX_STAGE_SESSION, r, -1, NULL) : 0;
}

/* A copy of fd that dup2() onto 0, 1 and 2 cannot overwrite. */
static int lift(int fd) {
        return RET_NERRNO(fcntl(fd, F_DUPFD_CLOEXEC, FD_ABOVE_STDIO));
}

/* dup2() alone would leave stdin closed over: wanted[i] may be one of the others' targets. */
static int install_stdio(const int wanted[FD_ABOVE_STDIO]) {
        int lifted[FD_ABOVE_STDIO] = { -EBADF, -EBADF, -EBADF };
        int r = 0;

        for (int i = 0; r >= 0 && i < FD_ABOVE_STDIO; i++) {
                if (wanted[i] < 0)
                        continue;
                r = lifted[i] = lift(wanted[i]);
        }
        for (int i = 0; r >= 0 && i < FD_ABOVE_STDIO; i++)
                if (lifted[i] >= 0)
                        r = RET_NERRNO(dup2(lifted[i], i));
        for (int i = 0; i < FD_ABOVE_STDIO; i++)
                (void) safe_close(lifted[i]);
        return MIN(r, 0);
}

int session_stdio(const SandboxStdio *stdio, SandboxKept *kept, SandboxFailure *failure) {
        const int wanted[FD_ABOVE_STDIO] = { stdio->in, stdio->out, stdio->err };
        int *const lifted[] = { &kept->report, &kept->wait };
        int r;

        for (size_t i = 0; i < ELEMENTSOF(lifted); i++) {
                if (*lifted[i] < 0 || *lifted[i] >= FD_ABOVE_STDIO)
                        continue;
                r = lift(*lifted[i]);
                if (r < 0)
                        return sandbox_fail(failure, SANDBOX_STAGE_STDIO, r, -1, NULL);
                *lifted[i] = r;
        }
        r = install_stdio(wanted);
        return r < 0 ? sandbox_fail(failure, SANDBOX_STAGE_STDIO, r, -1, NULL) : 0;
}

static int close_between(int first, unsigned last) {
        return (unsigned) first > last ? 0 : RET_NERRNO((int) syscall(__NR_close_range, first, last, 0));
}

int session_close_fds(const SandboxKept *kept, SandboxFailure *failure) {
        const int keep[] = { MIN(kept->report, kept->wait), MAX(kept->report, kept->wait) };
        int next = FD_ABOVE_STDIO, r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(keep); i++) {
                if (keep[i] < next)
                        continue;
                r = close_between(next, (unsigned) keep[i] - 1);
                if (r >= 0)
                        r = RET_NERRNO(fcntl(keep[i], F_SETFD, FD_CLOEXEC));
                next = keep[i] + 1;
        }
        if (r >= 0)
                r = close_between(next, ~0U);
        return r < 0 ? sandbox_fail(failure, SANDBOX_STAGE_FDS, r, -1, NULL) : 0;
}
