/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Other processes of the same user, and what a process inherits. */

#include <linux/kcmp.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "escape.h"

/* ---- /proc ---- */

static int open_proc(const World *w, const char *name) {
        return outcome(open(of_victim(w, name), O_RDONLY | O_CLOEXEC));
}

static int write_proc(const World *w, const char *name) {
        return outcome(open(of_victim(w, name), O_WRONLY | O_CLOEXEC));
}

static int read_proc(const World *w, const char *name) {
        int fd = open(of_victim(w, name), O_RDONLY | O_CLOEXEC);
        char buffer[16];

        return fd < 0 ? errno : outcome(read(fd, buffer, sizeof(buffer)));
}

static int readlink_proc(const World *w, const char *name) {
        char buffer[16];

        return outcome(readlink(of_victim(w, name), buffer, sizeof(buffer)));
}

static int read_by_root(const World *w, const char *name) {
        char path[4200];

        snprintf(path, sizeof(path), "/proc/%d/root%s", w->victim, outside(w, name));
        return outcome(open(path, O_RDONLY | O_CLOEXEC));
}

/* ---- taking over ---- */

static int ptrace_seize(const World *w, const char *name) {
        return outcome(ptrace(PTRACE_SEIZE, w->victim, NULL, NULL));
}

/* An address that is not mapped: EFAULT says that the call was let through. */
static int vm_call(const World *w, long number) {
        char byte = 0;
        struct iovec local = { &byte, 1 }, remote = { (void *) 16, 1 };
        int r = outcome(syscall(number, w->victim, &local, 1UL, &remote, 1UL, 0UL));

        return r == EFAULT ? 0 : r;
}

static int vm_read(const World *w, const char *name) {
        return vm_call(w, SYS_process_vm_readv);
}

static int vm_write(const World *w, const char *name) {
        return vm_call(w, SYS_process_vm_writev);
}

static int pidfd_steal(const World *w, const char *name) {
        int pidfd = (int) syscall(SYS_pidfd_open, w->victim, 0);

        return pidfd < 0 ? CANNOT_TRY : outcome(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int compare_files(const World *w, const char *name) {
        return outcome(syscall(SYS_kcmp, getpid(), w->victim, KCMP_FILE, 0, 0));
}

/* ---- signals ---- */

static int signal_victim(const World *w, const char *name) {
        return outcome(kill(w->victim, 0));
}

static int signal_group(const World *w, const char *name) {
        return outcome(kill(-w->victim, 0));
}

static int signal_thread(const World *w, const char *name) {
        return outcome(syscall(SYS_tgkill, w->victim, w->victim, 0));
}

static int signal_queue(const World *w, const char *name) {
        return outcome(sigqueue(w->victim, 0, (union sigval){}));
}

static int signal_pidfd(const World *w, const char *name) {
        int pidfd = (int) syscall(SYS_pidfd_open, w->victim, 0);

        return pidfd < 0 ? CANNOT_TRY : outcome(syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0));
}

/* Whoever is outside and above: the supervisor, for which the driver stands here. */
static int signal_parent(const World *w, const char *name) {
        return outcome(kill(w->parent, 0));
}

static int signal_init(const World *w, const char *name) {
        return outcome(kill(1, 0));
}

/* ---- other processes' settings ---- */

static int prlimit_victim(const World *w, const char *name) {
        struct rlimit limit;
        int r = outcome(prlimit(w->victim, RLIMIT_NOFILE, NULL, &limit));

        return r ?: outcome(prlimit(w->victim, RLIMIT_NOFILE, &limit, NULL));
}

static int renice_victim(const World *w, const char *name) {
        /* To what it is: lowering it again would be denied to anyone where these tests run under nice(1). */
        return outcome(setpriority(
                        PRIO_PROCESS, (id_t) w->victim, getpriority(PRIO_PROCESS, (id_t) w->victim)));
}

static int affinity_of_victim(const World *w, const char *name) {
        cpu_set_t set;
        int r = outcome(sched_getaffinity(w->victim, sizeof(set), &set));

        return r ?: outcome(sched_setaffinity(w->victim, sizeof(set), &set));
}

static int open_queue(const World *w, const char *name) {
        char queue[80];
        int r;

        snprintf(queue, sizeof(queue), "/%s", w->abstract);
        r = outcome(mq_open(queue, O_RDWR | O_CLOEXEC));
        return r == ENOSYS ? CANNOT_TRY : r;
}

static int attach_shm(const World *w, const char *name) {
        void *p = shmat(w->shm_id, NULL, SHM_RDONLY);

        return p == (void *) -1 ? errno : 0;
}

/* ---- limits, privileges, inheritance ---- */

static int raise_limit(const World *w, const char *name) {
        int resource = strcmp(name, "core") == 0 ? RLIMIT_CORE : RLIMIT_NOFILE;
        struct rlimit limit;

        if (getrlimit(resource, &limit) < 0)
                return BROKEN;
        if (limit.rlim_max == RLIM_INFINITY)
                return 0;
        limit.rlim_max++;
        return outcome(setrlimit(resource, &limit));
}

static int core_file(const World *w, const char *name) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_CORE, &limit) < 0)
                return BROKEN;
        return limit.rlim_cur > 0 ? 0 : EFBIG;
}

static int gain_uid(const World *w, const char *name) {
        return run_program(inside(w, name), (char *[]){ (char *) "escape", (char *) "--is-root=1", NULL });
}

static int drop_no_new_privs(const World *w, const char *name) {
        return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : EPERM;
}

/* Descriptors that the driver opened before, with these numbers. */
static int inherited_descriptor(const World *w, const char *number) {
        return outcome(fcntl(atoi(number), F_GETFD));
}

static int inherited_variable(const World *w, const char *name) {
        return getenv(name) ? 0 : ENOENT;
}

static int controlling_terminal(const World *w, const char *name) {
        return outcome(open("/dev/tty", O_RDWR | O_CLOEXEC));
}

#define DAC "the kernel asks for the same user, and no Landlock ABI asks for more"
#define VARIABLE(name)                                             \
        {                                                          \
                "variable " name, inherited_variable, name, ALWAYS \
        }

const Attempt process_attempts[] = {
        { "/proc/PID/environ", read_proc, "environ", LANDLOCK(1) },
        { "/proc/PID/maps", read_proc, "maps", LANDLOCK(1), LOOSE },
        { "/proc/PID/mem", write_proc, "mem", LANDLOCK(1), LOOSE },
        { "/proc/PID/cwd", readlink_proc, "cwd", LANDLOCK(1) },
        { "/proc/PID/exe", readlink_proc, "exe", LANDLOCK(1) },
        { "/proc/PID/fd", readlink_proc, "fd/0", LANDLOCK(1) },
        { "/proc/PID/root", read_by_root, "secret", LANDLOCK(1) },
        { "/proc/PID/ns", readlink_proc, "ns/mnt", LANDLOCK(1) },
        { "/proc/PID/oom_score_adj", write_proc, "oom_score_adj", LANDLOCK(1), LOOSE },
        { "/proc/PID/cmdline",
          open_proc,
          "cmdline",
          NEVER,
          .known = "who runs with which arguments can be read" },
        { "ptrace", ptrace_seize, NULL, ALWAYS, LOOSE },
        { "process_vm_readv", vm_read, NULL, ALWAYS, LOOSE },
        { "process_vm_writev", vm_write, NULL, ALWAYS, LOOSE },
        { "pidfd_getfd", pidfd_steal, NULL, ALWAYS, LOOSE },
        { "kcmp", compare_files, NULL, ALWAYS, LOOSE },

        { "kill", signal_victim, NULL, LANDLOCK(6) },
        { "kill a process group", signal_group, NULL, LANDLOCK(6) },
        { "tgkill", signal_thread, NULL, LANDLOCK(6) },
        { "sigqueue", signal_queue, NULL, LANDLOCK(6) },
        { "pidfd_send_signal", signal_pidfd, NULL, LANDLOCK(6) },
        { "kill the parent", signal_parent, NULL, LANDLOCK(6), LOOSE },
        { "kill PID 1", signal_init, NULL, LANDLOCK(6), LOOSE },

        { "prlimit of another process", prlimit_victim, NULL, ALWAYS },
        { "renice another process", renice_victim, NULL, NEVER, .known = DAC },
        { "pin another process", affinity_of_victim, NULL, NEVER, .known = DAC },
        { "System V shared memory", attach_shm, NULL, NEVER, .known = DAC },
        { "POSIX message queue", open_queue, NULL, LANDLOCK(1) },

        { "raise the limit of files", raise_limit, "nofile", ALWAYS, LOOSE },
        { "raise the limit of core files", raise_limit, "core", ALWAYS, LOOSE },
        { "dump core", core_file, NULL, ALWAYS, LOOSE },
        { "setuid program", gain_uid, "setuid", ALWAYS, SETUID },
        { "new privileges", drop_no_new_privs, NULL, ALWAYS, LOOSE },
        { "inherited directory", inherited_descriptor, "20", ALWAYS },
        { "inherited file", inherited_descriptor, "21", ALWAYS },
        { "controlling terminal", controlling_terminal, NULL, ALWAYS, LOOSE },
        VARIABLE("DBUS_SESSION_BUS_ADDRESS"),
        VARIABLE("SSH_AUTH_SOCK"),
        VARIABLE("DOCKER_HOST"),
        VARIABLE("NOTIFY_SOCKET"),
        VARIABLE("GPG_AGENT_INFO"),
        VARIABLE("CREDENTIALS_DIRECTORY"),
        VARIABLE("ESCAPE_SECRET"),
        {},
};
