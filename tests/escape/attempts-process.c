/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Other processes of the same user, and what a process inherits. */

#include <dirent.h>
#include <linux/kcmp.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
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

static int list_proc(const World *w, const char *name) {
        DIR *d = opendir(of_victim(w, name));
        struct dirent *entry;

        if (!d)
                return errno;
        errno = 0;
        while ((entry = readdir(d)))
                if (entry->d_name[0] != '.')
                        return 0;
        return errno ?: EACCES;
}

/* Whoever is above: the supervisor, for which the driver stands here. */
static int read_of_parent(const World *w, const char *name) {
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/%s", w->parent, name);
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

static int pages_of_victim(const World *w, const char *name) {
        unsigned long nodes = 1;

        if (strcmp(name, "migrate") == 0)
                return outcome(syscall(SYS_migrate_pages, w->victim, sizeof(nodes) * 8, &nodes, &nodes));
        return outcome(syscall(SYS_move_pages, w->victim, 0UL, NULL, NULL, NULL, 0));
}

static int robust_list_of_victim(const World *w, const char *name) {
        void *head;
        size_t size;

        return outcome(syscall(SYS_get_robust_list, w->victim, &head, &size));
}

/* An advice that changes nothing, about no memory at all. */
static int advise_victim(const World *w, const char *name) {
        int pidfd = (int) syscall(SYS_pidfd_open, w->victim, 0);

        return pidfd < 0 ? CANNOT_TRY
                         : outcome(syscall(SYS_process_madvise, pidfd, NULL, 0UL, 20 /* MADV_COLD */, 0U));
}

#define PIDFD_GET_MNT_NAMESPACE _IO(0xff, 3) /* <linux/pidfd.h> of Linux 6.11 */

static int namespace_of_victim(const World *w, const char *name) {
        int pidfd = (int) syscall(SYS_pidfd_open, w->victim, 0), r;

        r = pidfd < 0 ? ENOTTY : outcome(ioctl(pidfd, PIDFD_GET_MNT_NAMESPACE, 0));
        return r == ENOTTY || r == EINVAL ? CANNOT_TRY : r;
}

/* A brother rather than a child: it would be its parent's to wait for, and a zombie that nobody knows of. */
static int clone_brother(const World *w, const char *name) {
        long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : 0;
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

static int schedule_victim(const World *w, const char *name) {
        struct sched_param param = {};
        int policy = sched_getscheduler(w->victim);

        return policy < 0 || sched_getparam(w->victim, &param) < 0
                               ? errno
                               : outcome(sched_setscheduler(w->victim, policy, &param));
}

static int io_priority_of_victim(const World *w, const char *name) {
        long value = syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, w->victim);

        return value < 0 ? errno : outcome(syscall(SYS_ioprio_set, 1, w->victim, value));
}

static int open_queue(const World *w, const char *name) {
        char queue[80];
        int r;

        snprintf(queue, sizeof(queue), "/%s", w->abstract);
        r = outcome(mq_open(queue, O_RDWR | O_CLOEXEC));
        return r == ENOSYS ? CANNOT_TRY : r;
}

static int use_message_queue(const World *w, const char *name) {
        const struct {
                long type;
                char text[1];
        } message = { 1, "x" };
        int id = msgget(VICTIM_KEY(w->victim), 0);

        return id < 0 ? errno : outcome(msgsnd(id, &message, sizeof(message.text), IPC_NOWAIT));
}

static int use_semaphore(const World *w, const char *name) {
        struct sembuf up = { .sem_op = 1, .sem_flg = IPC_NOWAIT };
        int id = semget(VICTIM_KEY(w->victim), 0, 0);

        return id < 0 ? errno : outcome(semop(id, &up, 1));
}

static int open_memory(const World *w, const char *name) {
        char path[80];

        snprintf(path, sizeof(path), "/%s", w->abstract);
        return outcome(shm_open(path, O_RDWR | O_CLOEXEC, 0));
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
        { "/proc/PID/coredump_filter", write_proc, "coredump_filter", LANDLOCK(1) },
        { "/proc/PID/timerslack_ns", write_proc, "timerslack_ns", LANDLOCK(1), LOOSE },
        { "/proc/PID/comm", write_proc, "comm", LANDLOCK(1) },
        { "/proc/PID/clear_refs", write_proc, "clear_refs", LANDLOCK(1), LOOSE },
        { "/proc/PID/autogroup", write_proc, "autogroup", LANDLOCK(1), LOOSE },
        { "/proc/PID/attr", write_proc, "attr/current", LANDLOCK(1), LOOSE },
        { "/proc/PID/auxv", read_proc, "auxv", LANDLOCK(1) },
        { "/proc/PID/io", read_proc, "io", LANDLOCK(1), LOOSE },
        { "/proc/PID/syscall", read_proc, "syscall", LANDLOCK(1), LOOSE },
        { "/proc/PID/pagemap", read_proc, "pagemap", LANDLOCK(1), LOOSE },
        { "/proc/PID/map_files", list_proc, "map_files", LANDLOCK(1), LOOSE },
        { "list /proc/PID/fd",
          list_proc,
          "fd",
          NEVER,
          LOOSE,
          .known = "numbers alone: the links are denied" },
        { "environment of the parent", read_of_parent, "environ", LANDLOCK(1), LOOSE },
        { "program of the parent", read_of_parent, "exe", LANDLOCK(1), LOOSE },
        { "memory of the parent", read_of_parent, "mem", LANDLOCK(1), LOOSE },
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
        { "move_pages", pages_of_victim, "move", LANDLOCK(1), LOOSE },
        { "migrate_pages", pages_of_victim, "migrate", LANDLOCK(1), LOOSE },
        { "get_robust_list", robust_list_of_victim, NULL, LANDLOCK(1) },
        { "process_madvise", advise_victim, NULL, LANDLOCK(1), LOOSE },
        { "namespace by a pidfd", namespace_of_victim, NULL, LANDLOCK(1), LOOSE },
        { "clone a brother", clone_brother, NULL, ALWAYS, LOOSE },

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
        { "schedule another process", schedule_victim, NULL, NEVER, .known = DAC },
        { "input and output priority of another process",
          io_priority_of_victim,
          NULL,
          NEVER,
          LOOSE,
          .known = DAC },
        { "System V message queue", use_message_queue, NULL, NEVER, .known = DAC },
        { "System V semaphore", use_semaphore, NULL, NEVER, .known = DAC },
        { "POSIX shared memory of others", open_memory, NULL, READ_RIGHT, .known = "/dev/shm is granted" },
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
