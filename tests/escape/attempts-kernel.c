/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* System calls that lead around a sandbox, also by other doors than the architecture's own. */

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "escape.h"

#define HIGH_BIT (1UL << 32)

static const struct {
        const char *name;
        long number;
        unsigned long args[6];
        int passed; /* an errno that says that the call was let through, for lack of sensible arguments */
} calls[] = {
        { "io_uring_setup", SYS_io_uring_setup, { 1, 0 }, EFAULT },
        { "io_uring_enter", SYS_io_uring_enter, { (unsigned long) -1 }, EBADF },
        { "io_uring_register", SYS_io_uring_register, { (unsigned long) -1 }, EBADF },
        { "add_key", SYS_add_key, { 0 }, EFAULT },
        { "request_key", SYS_request_key, { 0 }, EFAULT },
        { "keyctl", SYS_keyctl, { 0, (unsigned long) -3, 0 }, ENOKEY },
        { "bpf", SYS_bpf, { 0, 0, 0 }, EINVAL },
        { "perf_event_open", SYS_perf_event_open, { 0 }, EFAULT },
        { "userfaultfd", SYS_userfaultfd, { 1 }, 0 },
        { "mount", SYS_mount, { 0 }, EFAULT },
        { "umount2", SYS_umount2, { 0 }, EFAULT },
        { "pivot_root", SYS_pivot_root, { 0 }, EFAULT },
        { "move_mount", SYS_move_mount, { 0 }, EFAULT },
        { "open_tree", SYS_open_tree, { (unsigned long) -100, 0, 0 }, EFAULT },
        { "fsopen", SYS_fsopen, { 0 }, EFAULT },
        { "setns", SYS_setns, { (unsigned long) -1, 0 }, EBADF },
        { "kexec_load", SYS_kexec_load, { 0 }, 0 },
        { "init_module", SYS_init_module, { 0 }, EFAULT },
        { "swapon", SYS_swapon, { 0 }, EFAULT },
        { "acct", SYS_acct, { 0 }, 0 },
        { "unshare of mounts", SYS_unshare, { CLONE_NEWNS }, 0 },
        { "unshare of the network", SYS_unshare, { CLONE_NEWNET }, 0 },
        { "sethostname", SYS_sethostname, { 0, 0 }, EFAULT },
        { "open_tree_attr", SYS_open_tree - 428 + 467, { (unsigned long) -100, 0, 0, 0, 0 }, EFAULT },
        { "mount_setattr", SYS_mount_setattr, { (unsigned long) -100, 0, 0, 0, 0 }, EFAULT },
        { "open_by_handle_at", SYS_open_by_handle_at, { (unsigned long) -100, 0, 0 }, EFAULT },
        { "vhangup", SYS_vhangup, { 0 }, 0 },
        { "quotactl", SYS_quotactl, { 0 }, ENODEV },
        { "reboot", SYS_reboot, { 0 }, EINVAL },
        { "unshare", SYS_unshare, { CLONE_NEWUSER }, 0 },
        { "unshare with a high bit", SYS_unshare, { HIGH_BIT | CLONE_NEWUSER }, 0 },
        { "TIOCSTI", SYS_ioctl, { 0, TIOCSTI, 0 }, ENOTTY },
        { "TIOCSTI with a high bit", SYS_ioctl, { 0, HIGH_BIT | TIOCSTI, 0 }, ENOTTY },
        { "TIOCLINUX", SYS_ioctl, { 0, TIOCLINUX, 0 }, ENOTTY },
        { "TIOCLINUX with a high bit", SYS_ioctl, { 0, HIGH_BIT | TIOCLINUX, 0 }, ENOTTY },
};

static int call(const World *w, const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                if (strcmp(calls[i].name, name) == 0) {
                        const unsigned long *a = calls[i].args;
                        int r = outcome(syscall(calls[i].number, a[0], a[1], a[2], a[3], a[4], a[5]));

                        return calls[i].passed > 0 && r == calls[i].passed ? 0 : r;
                }
        return BROKEN;
}

/* A child in a user namespace of its own. */
static int clone_userns(const World *w, const char *name) {
        long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : outcome(waitpid((pid_t) pid, NULL, 0));
}

static int clone3_userns(const World *w, const char *name) {
        struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
        long pid = syscall(SYS_clone3, &args, sizeof(args));

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : outcome(waitpid((pid_t) pid, NULL, 0));
}

/* A call that this kernel may not have yet: what asks a listener of ours has got through, since a filter that denies it
 * counts for more. */
#define FUTURE_CALL 511

static void *answer_one_call(void *listener) {
        struct seccomp_notif request = {};
        struct seccomp_notif_resp answer = {};

        if (ioctl(*(int *) listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
                return NULL;
        answer.id = request.id;
        (void) ioctl(*(int *) listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        return NULL;
}

static int future_call(const World *w, const char *name) {
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTURE_CALL, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = ELEMENTSOF(filter), .filter = filter };
        pthread_t thread;
        int listener;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return BROKEN;
        listener = (int) syscall(
                        SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
        if (listener < 0 || pthread_create(&thread, NULL, answer_one_call, &listener) != 0)
                return BROKEN;
        return outcome(syscall(FUTURE_CALL));
}

/* CLONE_INTO_CGROUP: a child that begins where nothing limits it. */
static int clone3_cgroup(const World *w, const char *name) {
        struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
        int fd = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
        long pid;

        if (fd < 0)
                return CANNOT_TRY;
        args.cgroup = (uint64_t) fd;
        pid = syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : outcome(waitpid((pid_t) pid, NULL, 0));
}

#ifdef __x86_64__
/* i386: 20 getpid, 359 socket, 102 socketcall. The arguments lie below 4 GiB, since they are 32 bits wide. */
static int int80(long number, long a, long b, long c) {
        long r;

        __asm__ volatile("int $0x80"
                         : "=a"(r)
                         : "a"(number), "b"(a), "c"(b), "d"(c)
                         : "memory", "r8", "r9", "r10", "r11");
        return r < 0 && r > -4096 ? (int) -r : 0;
}

static int int80_getpid(const World *w, const char *name) {
        return int80(20, 0, 0, 0);
}

static int int80_unix(const World *w, const char *name) {
        return int80(359, 1, 1, 0);
}

static int int80_inet(const World *w, const char *name) {
        return int80(359, 2, 1, 0);
}

static int x32_getpid(const World *w, const char *name) {
        return outcome(syscall(0x40000000 | SYS_getpid));
}

static int x32_unix(const World *w, const char *name) {
        return outcome(syscall(0x40000000 | SYS_socket, 1, 1, 0));
}
#endif

#define CALL(name)                              \
        {                                       \
                name, call, name, ALWAYS, LOOSE \
        }

const Attempt kernel_attempts[] = {
        CALL("io_uring_setup"),
        CALL("io_uring_enter"),
        CALL("io_uring_register"),
        CALL("add_key"),
        CALL("request_key"),
        CALL("keyctl"),
        CALL("bpf"),
        CALL("perf_event_open"),
        CALL("userfaultfd"),
        CALL("mount"),
        CALL("umount2"),
        CALL("pivot_root"),
        CALL("move_mount"),
        CALL("open_tree"),
        CALL("open_tree_attr"),
        CALL("fsopen"),
        CALL("setns"),
        CALL("kexec_load"),
        CALL("init_module"),
        CALL("swapon"),
        CALL("acct"),
        CALL("mount_setattr"),
        CALL("open_by_handle_at"),
        CALL("vhangup"),
        CALL("quotactl"),
        CALL("reboot"),
        CALL("sethostname"),
        CALL("unshare of mounts"),
        CALL("unshare of the network"),
        CALL("unshare"),
        CALL("unshare with a high bit"),
        { "clone into a user namespace", clone_userns, NULL, ALWAYS, LOOSE },
        { "clone3 into a user namespace", clone3_userns, NULL, ALWAYS, LOOSE },
        { "clone3 into another cgroup", clone3_cgroup, NULL, ALWAYS, LOOSE },
        { "a call that is newer than the policy", future_call, NULL, ALWAYS },
        CALL("TIOCSTI"),
        CALL("TIOCSTI with a high bit"),
        CALL("TIOCLINUX"),
        CALL("TIOCLINUX with a high bit"),
#ifdef __x86_64__
        { "i386 call", int80_getpid, NULL, ALWAYS, LOOSE },
        { "i386 UNIX socket", int80_unix, NULL, ALWAYS, LOOSE },
        { "i386 Internet socket", int80_inet, NULL, ALWAYS, LOOSE },
        { "x32 call", x32_getpid, NULL, ALWAYS, LOOSE },
        { "x32 UNIX socket", x32_unix, NULL, ALWAYS, LOOSE },
#endif
        {},
};
