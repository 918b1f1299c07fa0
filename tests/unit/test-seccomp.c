/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The filter, tried by raw system calls in forked children: what is allowed has to go through, what is denied has to fail
 * with the filter's errno, with high bits set or not. */

#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sandbox/apply-internal.h"
#include "test.h"

#define HIGH (UINT64_C(1) << 32)

static uint16_t one_port[] = { 443 };

static Plan make_plan(NetworkMode network, UnixWish unix_sockets, bool may_bind) {
        Plan p = {
                .syscall_floor = true, .no_new_privs = true, .network = network, .unix_sockets = unix_sockets
        };

        p.protections[PROTECTION_SYSCALLS].state = PROTECTION_ENFORCED;
        if (may_bind)
                p.bind_ports = (PortList){ .ports = one_port, .n_ports = 1 };
        return p;
}

/* Runs attempt below the plan's filter, and first() before that is loaded. Its exit status: attempt's result, 0 to 99;
 * 100: the filter was not loaded. */
static int below_after(const Plan *plan, int (*first)(void), int (*attempt)(const Plan *plan)) {
        _cleanup_(sandbox_program_freep) SandboxProgram *program = NULL;
        int status;
        pid_t pid;

        ASSERT_OK(sandbox_prepare(plan, &program));
        ASSERT_NOT_NULL(program);
        pid = fork();
        ASSERT_OK(pid);
        if (pid == 0) {
                SandboxFailure failure;

                if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || (first && first() < 0) ||
                    seccomp_enforce(program, &failure) < 0)
                        _exit(100);
                _exit(attempt(plan));
        }
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_TRUE(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int below(const Plan *plan, int (*attempt)(const Plan *plan)) {
        return below_after(plan, NULL, attempt);
}

/* What has to become of socket(family, type, protocol): may the kernel see it? */
static bool socket_passes(const Plan *p, uint64_t family, uint64_t type, uint64_t protocol) {
        if ((uint32_t) family == AF_UNIX && (p->unix_sockets == UNIX_NONE || family != AF_UNIX))
                return p->unix_sockets != UNIX_NONE && p->network == NETWORK_MODE_UNRESTRICTED;
        if (family == AF_UNIX || p->network == NETWORK_MODE_UNRESTRICTED)
                return true;
        if (p->network == NETWORK_MODE_BLOCKED || (family != AF_INET && family != AF_INET6))
                return false;
        return (type & 0xf) == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP);
}

static const uint64_t socket_types[] = { 0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         6,
                                         10,
                                         15,
                                         SOCK_STREAM | SOCK_CLOEXEC,
                                         SOCK_STREAM | SOCK_NONBLOCK,
                                         SOCK_DGRAM | SOCK_CLOEXEC,
                                         SOCK_STREAM | HIGH,
                                         SOCK_DGRAM | HIGH };
static const uint64_t socket_protocols[] = { 0,   1,   2,   6,    17,        58,      132,
                                             136, 255, 262, HIGH, HIGH | 17, HIGH | 6 };

/* What the kernel itself forbids whoever runs the test: raw sockets, for all but root. */
static bool forbidden_anyway[2 * 47][ELEMENTSOF(socket_types)][ELEMENTSOF(socket_protocols)];

static long try_socket(uint64_t f, size_t t, size_t k) {
        uint64_t family = f < 47 ? f : (f - 47) | HIGH;

        return syscall(__NR_socket, family, socket_types[t], socket_protocols[k]);
}

static int try_sockets(const Plan *plan) {
        int wrong = 0;

        for (uint64_t f = 0; f < 2 * 47; f++)
                for (size_t t = 0; t < ELEMENTSOF(socket_types); t++)
                        for (size_t k = 0; k < ELEMENTSOF(socket_protocols); k++) {
                                uint64_t family = f < 47 ? f : (f - 47) | HIGH;
                                bool expected = socket_passes(
                                                plan, family, socket_types[t], socket_protocols[k]);
                                long fd = try_socket(f, t, k);

                                /* EAFNOSUPPORT may be the kernel's own word: then the call may have passed. */
                                if (expected ? fd < 0 && errno == EPERM && !forbidden_anyway[f][t][k]
                                             : fd >= 0 || errno != EAFNOSUPPORT)
                                        wrong++;
                                if (fd >= 0)
                                        (void) close((int) fd);
                        }
        return MIN(wrong, 99);
}

static void ask_the_kernel_first(void) {
        for (uint64_t f = 0; f < 2 * 47; f++)
                for (size_t t = 0; t < ELEMENTSOF(socket_types); t++)
                        for (size_t k = 0; k < ELEMENTSOF(socket_protocols); k++) {
                                long fd = try_socket(f, t, k);

                                forbidden_anyway[f][t][k] = fd < 0 && errno == EPERM;
                                if (fd >= 0)
                                        (void) close((int) fd);
                        }
}

TEST(socket_matrix) {
        static const NetworkMode networks[] = { NETWORK_MODE_UNRESTRICTED,
                                                NETWORK_MODE_BLOCKED,
                                                NETWORK_MODE_PORTS };
        static const UnixWish wishes[] = { UNIX_NONE, UNIX_ANY, UNIX_LIST };

        ask_the_kernel_first();
        for (size_t n = 0; n < ELEMENTSOF(networks); n++)
                for (size_t u = 0; u < ELEMENTSOF(wishes); u++) {
                        Plan p = make_plan(networks[n], wishes[u], true);

                        printf("# network %d, unix sockets %d\n", networks[n], wishes[u]);
                        ASSERT_EQ(below(&p, try_sockets), 0);
                }
}

/* Allowed ones have to work, not just to pass. */
static int try_allowed_sockets(const Plan *plan) {
        bool tcp = plan->network != NETWORK_MODE_BLOCKED, any = plan->network == NETWORK_MODE_UNRESTRICTED;
        int fds[2];

        if ((socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0) != tcp)
                return 1;
        if ((socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) >= 0) != tcp && errno != EAFNOSUPPORT)
                return 2;
        if ((socket(AF_INET, SOCK_DGRAM, 0) >= 0) != any)
                return 3;
        if ((socket(AF_UNIX, SOCK_STREAM, 0) >= 0) != (plan->unix_sockets != UNIX_NONE))
                return 4;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return 5;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) < 0)
                return 6;
        if ((socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) >= 0) != (plan->unix_sockets != UNIX_NONE))
                return 7;
        if ((socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, fds) >= 0) != (plan->unix_sockets != UNIX_NONE))
                return 8;
        return 0;
}

TEST(what_is_allowed_works) {
        static const NetworkMode networks[] = { NETWORK_MODE_UNRESTRICTED,
                                                NETWORK_MODE_BLOCKED,
                                                NETWORK_MODE_PORTS };

        for (size_t n = 0; n < ELEMENTSOF(networks); n++) {
                Plan none = make_plan(networks[n], UNIX_NONE, false),
                     any = make_plan(networks[n], UNIX_ANY, false);

                ASSERT_EQ(below(&none, try_allowed_sockets), 0);
                ASSERT_EQ(below(&any, try_allowed_sockets), 0);
        }
}

static int expect(long result, int error) {
        return result < 0 && errno == error ? 0 : 1;
}

static int try_floor(const Plan *plan) {
        struct clone_args args = { .exit_signal = SIGCHLD };
        char c = 'x';

        /* Each number says which attempt was not answered as it has to be. */
        if (expect(syscall(__NR_io_uring_setup, 1, NULL), ENOSYS))
                return 1;
        if (expect(syscall(__NR_io_uring_enter, 0, 0, 0, 0, NULL, 0), ENOSYS))
                return 2;
        if (expect(syscall(__NR_io_uring_register, 0, 0, NULL, 0), ENOSYS))
                return 3;
        if (expect(syscall(__NR_clone3, &args, sizeof(args)), ENOSYS))
                return 4;
        if (expect(syscall(__NR_ptrace, PTRACE_TRACEME, 0, 0, 0), EPERM))
                return 5;
        if (expect(syscall(__NR_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0), EPERM))
                return 6;
        if (expect(syscall(__NR_process_vm_writev, getppid(), NULL, 0, NULL, 0, 0), EPERM))
                return 7;
        if (expect(syscall(__NR_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0), EPERM))
                return 8;
        if (expect(syscall(__NR_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING), EPERM))
                return 9;
        if (expect(syscall(__NR_bpf, 0, NULL, 0), EPERM))
                return 10;
        if (expect(syscall(__NR_perf_event_open, NULL, 0, 0, 0, 0), EPERM))
                return 11;
        if (expect(syscall(__NR_userfaultfd, 0), EPERM))
                return 12;
        if (expect(syscall(__NR_mount, NULL, "/", NULL, 0, NULL), EPERM))
                return 13;
        if (expect(syscall(__NR_umount2, "/nowhere", 0), EPERM))
                return 14;
        if (expect(syscall(__NR_setns, -1, 0), EPERM))
                return 15;
        if (expect(syscall(__NR_unshare, CLONE_NEWUSER), EPERM))
                return 16;
        if (expect(syscall(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS), EPERM))
                return 17;
        if (expect(syscall(__NR_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM))
                return 18;
        if (expect(syscall(__NR_ioctl, 0, TIOCSTI, &c), EPERM))
                return 19;
        if (expect(syscall(__NR_ioctl, 0, TIOCSTI | HIGH, &c), EPERM))
                return 20;
        if (expect(syscall(__NR_ioctl, 0, TIOCLINUX | HIGH, &c), EPERM))
                return 21;
        if (expect(syscall(__NR_pidfd_getfd, -1, 0, 0), EPERM))
                return 22;
        if (expect(syscall(__NR_open_tree, -1, "/", 1), EPERM))
                return 23;
        if (expect(syscall(__NR_fsopen, "tmpfs", 0), EPERM))
                return 24;
        return 0;
}

TEST(floor_is_refused) {
        Plan p = make_plan(NETWORK_MODE_UNRESTRICTED, UNIX_ANY, false);

        ASSERT_EQ(below(&p, try_floor), 0);
}

/* What our headers need not know: 7.2's newest call is let through, none after it. */
#define NR_OPEN_TREE_ATTR (__NR_open_tree - 428 + 467)
#define NR_NEWEST         (__NR_open_tree - 428 + 471)

/* The kernel's own ENOSYS looks like the filter's. So a filter that was there before answers the same calls with something
 * else: of two errors the later filter's counts. */
#define EARLIER ELOOP

static int answer_first(void) {
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NR_OPEN_TREE_ATTR, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EARLIER),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = ELEMENTSOF(filter), .filter = filter };

        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

static int try_unknown_calls(const Plan *plan) {
        if (expect(syscall(NR_NEWEST), EARLIER))
                return 1;
        if (expect(syscall(NR_NEWEST + 1), ENOSYS))
                return 2;
        if (expect(syscall(NR_NEWEST + 1000), ENOSYS))
                return 3;
        if (expect(syscall(0x3fffffff), ENOSYS))
                return 4;
        /* Not in the tables of older libraries. */
        if (expect(syscall(NR_OPEN_TREE_ATTR, -1, "/", 1, NULL, 0), EPERM))
                return 5;
        return 0;
}

TEST(unknown_calls_are_refused) {
        Plan p = make_plan(NETWORK_MODE_UNRESTRICTED, UNIX_ANY, false);

        ASSERT_EQ(below_after(&p, answer_first, try_unknown_calls), 0);
}

/* What every program does has to go on: forks, threads' calls, terminal ioctls, memory that is executable. */
static int try_everyday(const Plan *plan) {
        int status;
        pid_t pid = fork();
        void *m;

        if (pid < 0)
                return 1;
        if (pid == 0)
                _exit(0);
        if (waitpid(pid, &status, 0) != pid || status != 0)
                return 2;
        m = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED)
                return 3;
        if (ioctl(0, TCGETS, m) < 0 && errno == EPERM)
                return 4;
        if (syscall(__NR_memfd_create, "x", 0) < 0)
                return 5;
        if (mmap(NULL, UINT64_C(64) << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
            MAP_FAILED)
                return 6;
        return 0;
}

TEST(everyday_calls_go_through) {
        Plan p = make_plan(NETWORK_MODE_BLOCKED, UNIX_NONE, false);

        ASSERT_EQ(below(&p, try_everyday), 0);
}

#ifdef __x86_64__
static long int80(long number, long b, long c) {
        long result;

        __asm__ volatile("int $0x80"
                         : "=a"(result)
                         : "a"(number), "b"(b), "c"(c)
                         : "memory", "r8", "r9", "r10", "r11");
        return result;
}

static int try_int80(const Plan *plan) {
        /* getpid() of the 32-bit table, then socketcall(SYS_SOCKET) */
        return int80(20, 0, 0) == -ENOSYS && int80(102, 1, 0) == -ENOSYS ? 0 : 1;
}

static int try_x32(const Plan *plan) {
        if (expect(syscall(0x40000000L | __NR_socket, AF_INET, SOCK_STREAM, 0), ENOSYS))
                return 1;
        return expect(syscall(0x40000000L | __NR_getpid), ENOSYS) ? 2 : 0;
}

/* A kernel without IA32 emulation answers with a signal. */
static bool has_int80(void) {
        int status = 0;
        pid_t pid = fork();

        if (pid == 0)
                _exit(int80(20, 0, 0) > 0 ? 0 : 1);
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

TEST(int80_is_refused) {
        Plan p = make_plan(NETWORK_MODE_UNRESTRICTED, UNIX_ANY, false);

        if (!has_int80())
                SKIP("this kernel runs no 32-bit calls");
        ASSERT_EQ(below(&p, try_int80), 0);
}

TEST(x32_is_refused) {
        Plan p = make_plan(NETWORK_MODE_UNRESTRICTED, UNIX_ANY, false);

        ASSERT_EQ(below(&p, try_x32), 0);
}
#endif

static int try_fast_open(const Plan *plan) {
        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons(9),
                                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
        struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to) };
        struct mmsghdr messages = { .msg_hdr = message };
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0)
                return 1;
        if (expect(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *) &to, sizeof(to)), EPERM))
                return 2;
        if (expect(sendmsg(fd, &message, MSG_FASTOPEN), EPERM))
                return 3;
        if (expect(sendmmsg(fd, &messages, 1, MSG_FASTOPEN), EPERM))
                return 4;
        if (expect(syscall(__NR_sendto, fd, "x", 1, MSG_FASTOPEN | HIGH, &to, sizeof(to)), EPERM))
                return 5;
        if (expect(setsockopt(fd, IPPROTO_TCP, TCP_ULP, "smc", 3), EPERM))
                return 8;
        if (expect(syscall(__NR_setsockopt, fd, IPPROTO_TCP | HIGH, TCP_ULP | HIGH, "smc", 3), EPERM))
                return 9;
        if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)) < 0)
                return 10;
        /* Without the flag it is the kernel that answers. */
        if (sendto(fd, "x", 1, MSG_NOSIGNAL, NULL, 0) < 0 && errno == EPERM)
                return 6;
        if ((listen(fd, 1) < 0 && errno == EPERM) != (plan->bind_ports.n_ports == 0))
                return 7;
        return 0;
}

TEST(ports_close_fast_open_and_listen) {
        Plan connect_only = make_plan(NETWORK_MODE_PORTS, UNIX_NONE, false),
             both = make_plan(NETWORK_MODE_PORTS, UNIX_NONE, true);

        ASSERT_EQ(below(&connect_only, try_fast_open), 0);
        ASSERT_EQ(below(&both, try_fast_open), 0);
}

TEST(no_filter_without_a_sandbox) {
        Plan p = make_plan(NETWORK_MODE_UNRESTRICTED, UNIX_ANY, false);
        SandboxProgram *program = NULL;

        p.syscall_floor = false;
        ASSERT_OK(sandbox_prepare(&p, &program));
        ASSERT_NULL(program);
}

TEST(a_wanted_filter_is_not_left_out) {
        Plan p = make_plan(NETWORK_MODE_UNRESTRICTED, UNIX_ANY, false);
        const SandboxStdio stdio = { -EBADF, -EBADF, -EBADF };
        SandboxFailure failure = {};

        p.command = (char *) "/bin/true";
        ASSERT_ERROR(sandbox_exec(&p, NULL, &stdio, -EBADF, &failure), EINVAL);
        ASSERT_EQ(failure.stage, SANDBOX_STAGE_SECCOMP);
        ASSERT_EQ(sandbox_failure_exit_code(&failure), 3);
}
