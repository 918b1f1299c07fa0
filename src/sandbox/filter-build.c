/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How the system call filter is compiled, with libseccomp.
 *
 * Arguments that the kernel takes as int are compared as 32 bits, or in a way in which a set high bit is denied: a plain
 * 64-bit compare is passed by AF_INET + (1 << 32). The filter knows the native architecture only; calls of any other
 * (x32, int 0x80) fail with ENOSYS, and so does every call that is newer than the policy: a list of what is refused would
 * let through what it has not heard of. Programs know that answer from older kernels. */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sandbox/filter-build.h"

#define SOCK_TYPE_BITS 0xfU /* SOCK_TYPE_MASK of include/linux/net.h; the rest are flags */
#define INT_BITS       0xffffffffU
#define FILTER_MAX     (sizeof(struct sock_filter) * BPF_MAXINSNS)

#define DENY_FAMILY \
        SCMP_ACT_ERRNO(EAFNOSUPPORT) /* fails fast in resolvers and HTTP stacks, and reads naturally */
#define DENY SCMP_ACT_ERRNO(EPERM)

/* From 424 on the numbers are the same everywhere, above what an architecture begins at. */
#define NUMBER_BASE (SYS_pidfd_send_signal - 424)

static const struct {
        int error;
        const char *name;
        int number; /* 0: the library has to know it */
} denied_syscalls[] = {
#define DENIED_SYSCALL(error, name, number, reason) { error, name, number },
#define NEWEST_SYSCALL(number, reason)
#include <policy-syscalls.inc>
#undef NEWEST_SYSCALL
#undef DENIED_SYSCALL
};

enum {
#define DENIED_SYSCALL(error, name, number, reason)
#define NEWEST_SYSCALL(number, reason) NEWEST_SYSCALL = NUMBER_BASE + (number)
#include <policy-syscalls.inc>
#undef NEWEST_SYSCALL
#undef DENIED_SYSCALL
};

/* Negative errno where the policy names what neither it nor the library has a number for, or where their numbers differ:
 * a call that is left out would stay allowed. */
static int number_of(size_t i) {
        const int known = seccomp_syscall_resolve_name(denied_syscalls[i].name),
                  given = denied_syscalls[i].number;

        if (known == __NR_SCMP_ERROR)
                return given > 0 ? NUMBER_BASE + given : -EINVAL;
        return known >= 0 && given > 0 && known != NUMBER_BASE + given ? -EINVAL : known;
}

static int deny_syscalls(scmp_filter_ctx ctx) {
        for (size_t i = 0; i < ELEMENTSOF(denied_syscalls); i++) {
                int number = number_of(i), r;

                if (number == -EINVAL)
                        return number;
                if (number < 0) /* far below any errno: a call that this architecture does not have */
                        continue;
                r = seccomp_rule_add_exact(
                                ctx, SCMP_ACT_ERRNO((unsigned) denied_syscalls[i].error), number, 0);
                if (r < 0)
                        return r;
        }
        return 0;
}

typedef struct ArgumentRule {
        int number;
        unsigned n_args;
        struct scmp_arg_cmp args[2]; /* all of them: denied */
} ArgumentRule;

static int deny_table(scmp_filter_ctx ctx, const ArgumentRule *rules, size_t n) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = seccomp_rule_add_exact_array(ctx, DENY, rules[i].number, rules[i].n_args, rules[i].args);
        return r;
}

/* Typing into the terminal of others, user namespaces (their owner could mount), children for one's parent to wait for (a
 * zombie that it knows nothing of would keep the scope for ever), and the limits of other processes: a CPU time of 0 kills
 * them, where Landlock's scope keeps signals out. A process names itself 0 there. */
static int deny_arguments(scmp_filter_ctx ctx) {
#if defined(__s390__) || defined(__CRIS__)
        const unsigned clone_flags = 1;
#else
        const unsigned clone_flags = 0;
#endif
        const ArgumentRule rules[] = {
                { SCMP_SYS(ioctl), 1, { SCMP_A1(SCMP_CMP_MASKED_EQ, INT_BITS, TIOCSTI) } },
                { SCMP_SYS(ioctl), 1, { SCMP_A1(SCMP_CMP_MASKED_EQ, INT_BITS, TIOCLINUX) } },
                { SCMP_SYS(unshare), 1, { SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER) } },
                { SCMP_SYS(clone),
                  1,
                  { SCMP_CMP(clone_flags, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER) } },
                { SCMP_SYS(clone),
                  1,
                  { SCMP_CMP(clone_flags, SCMP_CMP_MASKED_EQ, CLONE_PARENT, CLONE_PARENT) } },
                { SCMP_SYS(prlimit64), 2, { SCMP_A0(SCMP_CMP_NE, 0), SCMP_A2(SCMP_CMP_NE, 0) } },
        };

        return deny_table(ctx, rules, ELEMENTSOF(rules));
}

/* With unix_sockets none pairs stay, but not of datagrams: their ends can be sent or connected to any other socket by its
 * path. The kernel takes SOCK_RAW for SOCK_DGRAM here. */
static int deny_datagram_pairs(scmp_filter_ctx ctx) {
        static const scmp_datum_t types[] = { SOCK_DGRAM, SOCK_RAW };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(types); i++)
                r = seccomp_rule_add_exact(
                                ctx,
                                DENY_FAMILY,
                                SCMP_SYS(socketpair),
                                1,
                                SCMP_A1(SCMP_CMP_MASKED_EQ, SOCK_TYPE_BITS, types[i]));
        return r;
}

/* Everything but AF_UNIX; a number with high bits is not AF_UNIX either. */
static int deny_network(scmp_filter_ctx ctx, bool unix_too) {
        int r;

        if (unix_too)
                r = seccomp_rule_add_exact(ctx, DENY_FAMILY, SCMP_SYS(socket), 0);
        else
                r = seccomp_rule_add_exact(
                                ctx, DENY_FAMILY, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));
        if (r >= 0)
                r = seccomp_rule_add_exact(
                                ctx, DENY_FAMILY, SCMP_SYS(socketpair), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));
        return r;
}

static int deny_family(scmp_filter_ctx ctx, struct scmp_arg_cmp compare) {
        return seccomp_rule_add_exact(ctx, DENY_FAMILY, SCMP_SYS(socket), 1, compare);
}

/* What of an internet family is not plain TCP. */
static int deny_all_but_tcp(scmp_filter_ctx ctx, scmp_datum_t family) {
        struct scmp_arg_cmp is_family = SCMP_A0(SCMP_CMP_EQ, family);
        int r = 0;

        for (scmp_datum_t type = 0; r >= 0 && type <= SOCK_TYPE_BITS; type++)
                if (type != SOCK_STREAM)
                        r = seccomp_rule_add_exact(
                                        ctx,
                                        DENY_FAMILY,
                                        SCMP_SYS(socket),
                                        2,
                                        is_family,
                                        SCMP_A1(SCMP_CMP_MASKED_EQ, SOCK_TYPE_BITS, type));
        for (scmp_datum_t protocol = 1; r >= 0 && protocol < IPPROTO_TCP; protocol++)
                r = seccomp_rule_add_exact(
                                ctx,
                                DENY_FAMILY,
                                SCMP_SYS(socket),
                                2,
                                is_family,
                                SCMP_A2(SCMP_CMP_EQ, protocol));
        if (r >= 0)
                r = seccomp_rule_add_exact(
                                ctx,
                                DENY_FAMILY,
                                SCMP_SYS(socket),
                                2,
                                is_family,
                                SCMP_A2(SCMP_CMP_GT, IPPROTO_TCP));
        return r;
}

/* Ports are Landlock's; what goes around its TCP rights is ours: other families and protocols, also those that a TCP socket
 * can be made into (SMC, as an upper layer protocol), fast open (it connects in a send), and listen() without bind() where
 * nothing may be bound. */
static int narrow_to_tcp(scmp_filter_ctx ctx, bool may_listen) {
        const ArgumentRule around[] = {
                { SCMP_SYS(sendto), 1, { SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN) } },
                { SCMP_SYS(sendmsg), 1, { SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN) } },
                { SCMP_SYS(sendmmsg), 1, { SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN) } },
                { SCMP_SYS(setsockopt),
                  2,
                  { SCMP_A1(SCMP_CMP_MASKED_EQ, INT_BITS, IPPROTO_TCP),
                    SCMP_A2(SCMP_CMP_MASKED_EQ, INT_BITS, TCP_ULP) } },
        };
        int r;

        r = deny_family(ctx, SCMP_A0(SCMP_CMP_GT, AF_INET6));
        for (scmp_datum_t family = 0; r >= 0 && family < AF_INET6; family++)
                if (family != AF_UNIX && family != AF_INET)
                        r = deny_family(ctx, SCMP_A0(SCMP_CMP_EQ, family));
        if (r >= 0)
                r = deny_all_but_tcp(ctx, AF_INET);
        if (r >= 0)
                r = deny_all_but_tcp(ctx, AF_INET6);
        if (r >= 0)
                r = seccomp_rule_add_exact(
                                ctx, DENY_FAMILY, SCMP_SYS(socketpair), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));
        if (r >= 0)
                r = deny_table(ctx, around, ELEMENTSOF(around));
        if (r >= 0 && !may_listen)
                r = seccomp_rule_add_exact(ctx, DENY, SCMP_SYS(listen), 0);
        return r;
}

static int add_rules(scmp_filter_ctx ctx, const FilterVariant *v) {
        int r;

        r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
        if (r >= 0)
                r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0); /* the child sets it itself */
        /* A tree of comparisons, instead of one for each system call: every call of the server passes through it. */
        if (r >= 0)
                r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
        if (r >= 0)
                r = deny_syscalls(ctx);
        if (r >= 0)
                r = deny_arguments(ctx);
        if (r >= 0 && v->no_unix)
                r = deny_datagram_pairs(ctx);
        if (r >= 0 && v->network == NETWORK_MODE_BLOCKED)
                r = deny_network(ctx, v->no_unix);
        else if (r >= 0 && v->no_unix)
                r = deny_family(ctx, SCMP_A0(SCMP_CMP_MASKED_EQ, INT_BITS, AF_UNIX));
        if (r >= 0 && v->network == NETWORK_MODE_PORTS)
                r = narrow_to_tcp(ctx, v->may_listen);
        return r;
}

/* Comes before what libseccomp makes, which cannot say "all above". The one test serves every architecture: the others'
 * calls fail with ENOSYS anyway, and x32's have a high bit. */
static const struct sock_filter unknown_calls_fail[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __ARM_NR_BASE /* 32-bit ARM has private ones far above, which libc and compilers need */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, __ARM_NR_BASE, 2, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_SYSCALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
};

/* libseccomp before 2.6 exports to a descriptor only. */
static int export_filter(scmp_filter_ctx ctx, struct sock_filter **ret, unsigned short *ret_length) {
        const int fd = memfd_create("mcp-seccomp", MFD_CLOEXEC);
        const size_t n_first = ELEMENTSOF(unknown_calls_fail);
        struct sock_filter *filter = NULL;
        ssize_t size = -EIO;
        int r;

        if (fd < 0)
                return -errno;
        r = seccomp_export_bpf(ctx, fd);
        if (r >= 0) {
                filter = malloc(FILTER_MAX);
                size = filter ? pread(fd, filter + n_first, FILTER_MAX - sizeof(unknown_calls_fail), 0)
                              : -ENOMEM;
        }
        (void) close(fd);
        if (r < 0)
                return r;
        if (size <= 0 || (size_t) size % sizeof(struct sock_filter) != 0) {
                free(filter);
                return filter ? -EIO : -ENOMEM;
        }
        memcpy(filter, unknown_calls_fail, sizeof(unknown_calls_fail));
        *ret_length = (unsigned short) (n_first + (size_t) size / sizeof(struct sock_filter));
        *ret = filter;
        return 0;
}

int filter_build(const FilterVariant *v, struct sock_filter **ret, unsigned short *ret_length) {
        scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
        int r;

        if (!ctx)
                return -ENOMEM;
        r = add_rules(ctx, v);
        if (r >= 0)
                r = export_filter(ctx, ret, ret_length);
        seccomp_release(ctx);
        return r;
}
