/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sockets of every family, and the ways around a filter that looks at socket() alone. */

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "escape.h"

#ifndef IPPROTO_MPTCP
#        define IPPROTO_MPTCP 262
#endif
#define AF_VSOCK_NUMBER 40
#define HIGH_BIT        (1UL << 32)

static struct sockaddr_in loopback(uint16_t port) {
        return (struct sockaddr_in){
                .sin_family = AF_INET,
                .sin_port = htons(port),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
}

static uint16_t port_of(const World *w, const char *which) {
        return strcmp(which, "listed") == 0 ? w->listed_port : w->tcp_port;
}

/* ---- TCP ---- */

static int tcp_connect(const World *w, const char *which) {
        struct sockaddr_in a = loopback(port_of(w, which));
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return fd < 0 ? errno : outcome(connect(fd, (struct sockaddr *) &a, sizeof(a)));
}

/* The victim has no IPv6 listener: a refusal by the other side is a connection that was let out. */
static int tcp6_connect(const World *w, const char *which) {
        struct sockaddr_in6 a = { .sin6_family = AF_INET6,
                                  .sin6_port = htons(port_of(w, which)),
                                  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

        r = fd < 0 ? errno : outcome(connect(fd, (struct sockaddr *) &a, sizeof(a)));
        return r == ECONNREFUSED ? 0 : r == EADDRNOTAVAIL || r == ENETUNREACH ? CANNOT_TRY : r;
}

/* The IPv6 socket's way to an IPv4 address. */
static int tcp_mapped_connect(const World *w, const char *which) {
        struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port_of(w, which)) };
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

        if (inet_pton(AF_INET6, "::ffff:127.0.0.1", &a.sin6_addr) != 1)
                return BROKEN;
        r = fd < 0 ? errno : outcome(connect(fd, (struct sockaddr *) &a, sizeof(a)));
        return r == ENETUNREACH || r == EADDRNOTAVAIL ? CANNOT_TRY : r;
}

static int tcp_bind(const World *w, const char *which) {
        struct sockaddr_in a = loopback(strcmp(which, "listed") == 0 ? w->bind_port : 0);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return fd < 0 ? errno : outcome(bind(fd, (struct sockaddr *) &a, sizeof(a)));
}

static int listen_unbound(const World *w, const char *name) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return fd < 0 ? errno : outcome(listen(fd, 1));
}

static int fast_open(const World *w, const char *call) {
        struct sockaddr_in a = loopback(w->tcp_port);
        struct iovec v = { (void *) "x", 1 };
        struct mmsghdr m = {
                .msg_hdr = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &v, .msg_iovlen = 1 }
        };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), flags = MSG_FASTOPEN | MSG_NOSIGNAL, r;

        if (fd < 0)
                return errno;
        if (strcmp(call, "sendto") == 0)
                r = outcome(sendto(fd, "x", 1, flags, (struct sockaddr *) &a, sizeof(a)));
        else if (strcmp(call, "sendmsg") == 0)
                r = outcome(sendmsg(fd, &m.msg_hdr, flags));
        else if (strcmp(call, "sendmmsg") == 0)
                r = outcome(sendmmsg(fd, &m, 1, (unsigned) flags));
        else
                r = outcome(syscall(
                                SYS_sendto, fd, "x", 1UL, (unsigned long) flags | HIGH_BIT, &a, sizeof(a)));
        return r == EINPROGRESS ? 0 : r;
}

static int fast_open_connect(const World *w, const char *which) {
        struct sockaddr_in a = loopback(port_of(w, which));
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

        if (fd < 0)
                return errno;
        if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) < 0)
                return CANNOT_TRY;
        if (connect(fd, (struct sockaddr *) &a, sizeof(a)) < 0)
                return errno;
        return outcome(send(fd, "x", 1, MSG_NOSIGNAL));
}

/* An SMC socket is no TCP socket to Landlock, and connects by TCP. ENOENT: the kernel looked for the module. */
static int tcp_into_smc(const World *w, const char *name) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

        if (fd < 0)
                return errno;
        r = outcome(setsockopt(fd, IPPROTO_TCP, TCP_ULP, "smc", 3));
        return r == ENOENT ? 0 : r;
}

/* ---- everything else ---- */

static int udp_send(const World *w, const char *name) {
        struct sockaddr_in a = loopback(w->udp_port);
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        return fd < 0 ? errno : outcome(sendto(fd, "x", 1, MSG_DONTWAIT, (struct sockaddr *) &a, sizeof(a)));
}

static const struct {
        const char *name;
        unsigned long family, type, protocol;
} kinds[] = {
        { "udp6", AF_INET6, SOCK_DGRAM, 0 },
        { "udplite", AF_INET, SOCK_DGRAM, 136 },
        { "icmp", AF_INET, SOCK_DGRAM, IPPROTO_ICMP },
        { "raw", AF_INET, SOCK_RAW, IPPROTO_ICMP },
        { "mptcp", AF_INET, SOCK_STREAM, IPPROTO_MPTCP },
        { "sctp", AF_INET, SOCK_STREAM, IPPROTO_SCTP },
        { "netlink", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE },
        { "uevents", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT },
        { "packet", AF_PACKET, SOCK_RAW, 0 },
        { "vsock", AF_VSOCK_NUMBER, SOCK_STREAM, 0 },
        { "alg", AF_ALG, SOCK_SEQPACKET, 0 },
        { "bluetooth", AF_BLUETOOTH, SOCK_RAW, 1 },
        { "smc", AF_SMC, SOCK_STREAM, 0 },
        { "tipc", AF_TIPC, SOCK_STREAM, 0 },
        { "can", AF_CAN, SOCK_RAW, 1 },
        { "xdp", AF_XDP, SOCK_RAW, 0 },
        { "rds", AF_RDS, SOCK_SEQPACKET, 0 },
        { "key", AF_KEY, SOCK_RAW, 2 },
        { "high family", HIGH_BIT | AF_INET, SOCK_STREAM, 0 },
        { "high family, udp", HIGH_BIT | AF_INET, SOCK_DGRAM, 0 },
        { "high type, udp", AF_INET, HIGH_BIT | SOCK_DGRAM, 0 },
        { "high protocol, mptcp", AF_INET, SOCK_STREAM, HIGH_BIT | IPPROTO_MPTCP },
        { "high unix", HIGH_BIT | AF_UNIX, SOCK_STREAM, 0 },
        { "all high unix", 0xffffffff00000000UL | AF_UNIX, SOCK_STREAM, 0 },
};

static int make_socket(const World *w, const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return outcome(syscall(
                                        SYS_socket, kinds[i].family, kinds[i].type, kinds[i].protocol));
        return BROKEN;
}

/* ---- UNIX ---- */

/* One of path and abstract is given. A path ends with a zero byte, an abstract name begins with one. */
static socklen_t unix_address(struct sockaddr_un *ret, const char *path, const char *abstract) {
        const char *name = path ? path : abstract ? abstract : "";
        const size_t offset = path ? 0 : 1;

        *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
        (void) snprintf(ret->sun_path + offset, sizeof(ret->sun_path) - offset, "%s", name);
        return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int unix_connect(int type, const char *path, const char *abstract) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, path, abstract);
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

        return fd < 0 ? errno : outcome(connect(fd, (struct sockaddr *) &a, n));
}

static int unix_stream(const World *w, const char *name) {
        return unix_connect(SOCK_STREAM, outside(w, name), NULL);
}

static int unix_dgram(const World *w, const char *name) {
        return unix_connect(SOCK_DGRAM, outside(w, name), NULL);
}

static int unix_packet(const World *w, const char *name) {
        return unix_connect(SOCK_SEQPACKET, outside(w, name), NULL);
}

static int unix_of_session(const World *w, const char *name) {
        return unix_connect(SOCK_STREAM, at_home(w, name), NULL);
}

/* A name of one's own for a socket that is not one's own. */
static int unix_by_hard_link(const World *w, const char *name) {
        if (link(outside(w, name), inside(w, "linked.sock")) < 0)
                return errno;
        return unix_connect(SOCK_STREAM, inside(w, "linked.sock"), NULL);
}

static int unix_by_symlink(const World *w, const char *name) {
        if (symlink(outside(w, name), inside(w, "symlink.sock")) < 0)
                return BROKEN;
        return unix_connect(SOCK_STREAM, inside(w, "symlink.sock"), NULL);
}

static int unix_abstract(const World *w, const char *name) {
        return unix_connect(SOCK_STREAM, NULL, w->abstract);
}

/* One end of a pair of datagram sockets is not bound to the other: it sends to any address, and connects to it. */
static int pair_send(int type, const char *path, const char *abstract, bool reconnect) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, path, abstract);
        int pair[2];

        if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
                return errno;
        if (!reconnect)
                return outcome(sendto(pair[0], "x", 1, MSG_DONTWAIT, (struct sockaddr *) &a, n));
        return outcome(connect(pair[0], (struct sockaddr *) &a, n));
}

static int pair_to_path(const World *w, const char *name) {
        return pair_send(SOCK_DGRAM, outside(w, name), NULL, false);
}

static int raw_pair_to_path(const World *w, const char *name) {
        return pair_send(SOCK_RAW, outside(w, name), NULL, false);
}

static int pair_connect_to_path(const World *w, const char *name) {
        return pair_send(SOCK_DGRAM, outside(w, name), NULL, true);
}

static int pair_to_abstract(const World *w, const char *suffix) {
        char name[80];

        snprintf(name, sizeof(name), "%s%s", w->abstract, suffix);
        return pair_send(SOCK_DGRAM, NULL, name, false);
}

static int high_pair_to_path(const World *w, const char *name) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, outside(w, name), NULL);
        int pair[2];

        if (syscall(SYS_socketpair, HIGH_BIT | AF_UNIX, HIGH_BIT | SOCK_DGRAM, 0UL, pair) < 0)
                return errno;
        return outcome(sendto(pair[0], "x", 1, MSG_DONTWAIT, (struct sockaddr *) &a, n));
}

static int unix_bind(const World *w, const char *name) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, outside(w, name), NULL);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return fd < 0 ? errno : outcome(bind(fd, (struct sockaddr *) &a, n));
}

/* The stream pair that everyone may have must not become a server. */
static int pair_listen(const World *w, const char *name) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, inside(w, name), NULL);
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return errno;
        (void) close(pair[1]);
        (void) bind(pair[0], (struct sockaddr *) &a, n);
        return outcome(listen(pair[0], 1));
}

static int pair_stream_connect(const World *w, const char *name) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, outside(w, name), NULL);
        struct sockaddr none = { .sa_family = AF_UNSPEC };
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return errno;
        (void) close(pair[1]);
        (void) connect(pair[0], &none, sizeof(none));
        return outcome(connect(pair[0], (struct sockaddr *) &a, n));
}

static int unix_own(const World *w, const char *name) {
        struct sockaddr_un a;
        socklen_t n = unix_address(&a, inside(w, name), NULL);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

        if (fd < 0)
                return errno;
        r = outcome(bind(fd, (struct sockaddr *) &a, n)) ?: outcome(listen(fd, 1));
        return r ?: unix_connect(SOCK_STREAM, inside(w, name), NULL);
}

#define TCP_UNLISTED                                     \
        {                                                \
                OPEN, OPEN, SHUT, OPEN, SHUT, 4, 4, OPEN \
        }
#define TCP_LISTED_CONNECT                                  \
        {                                                   \
                OPEN, OPEN, SHUT, OPEN, SHUT, OPEN, 4, OPEN \
        }
#define TCP_LISTED_BIND                                     \
        {                                                   \
                OPEN, OPEN, SHUT, OPEN, SHUT, 4, OPEN, OPEN \
        }
#define SESSION(path)                                               \
        {                                                           \
                "UNIX " path, unix_of_session, path, UNIX_FILTER(9) \
        }
#define UNMEDIATED "listen() without bind() is not mediated by Landlock, and a listed port needs listen()"

const Attempt network_attempts[] = {
        { "TCP connect", tcp_connect, "unlisted", TCP_UNLISTED },
        { "TCP connect by IPv6", tcp6_connect, "unlisted", TCP_UNLISTED },
        { "TCP connect by a mapped address", tcp_mapped_connect, "unlisted", TCP_UNLISTED },
        { "TCP connect to a listed port", tcp_connect, "listed", TCP_LISTED_CONNECT },
        { "TCP bind to any port", tcp_bind, "any", TCP_UNLISTED },
        { "TCP bind to a listed port", tcp_bind, "listed", TCP_LISTED_BIND },
        { "TCP listen without bind",
          listen_unbound,
          NULL,
          { OPEN, OPEN, SHUT, OPEN, SHUT, SHUT, EITHER, OPEN },
          .known = UNMEDIATED },
        { "fast open by sendto", fast_open, "sendto", NETWORK_FILTER },
        { "fast open by sendmsg", fast_open, "sendmsg", NETWORK_FILTER },
        { "fast open by sendmmsg", fast_open, "sendmmsg", NETWORK_FILTER },
        { "fast open with a high bit", fast_open, "high", NETWORK_FILTER },
        { "fast open by connect", fast_open_connect, "unlisted", TCP_UNLISTED },
        { "TCP made into SMC", tcp_into_smc, NULL, NETWORK_FILTER, LOOSE },

        { "UDP", udp_send, NULL, NETWORK_FILTER },
        { "UDP by IPv6", make_socket, "udp6", NETWORK_FILTER, LOOSE },
        { "UDP-Lite", make_socket, "udplite", NETWORK_FILTER, LOOSE },
        { "ICMP", make_socket, "icmp", NETWORK_FILTER, LOOSE },
        { "raw", make_socket, "raw", NETWORK_FILTER, LOOSE },
        { "MPTCP", make_socket, "mptcp", NETWORK_FILTER, LOOSE },
        { "SCTP", make_socket, "sctp", NETWORK_FILTER, LOOSE },
        { "netlink", make_socket, "netlink", NETWORK_FILTER, LOOSE },
        { "uevents", make_socket, "uevents", NETWORK_FILTER, LOOSE },
        { "packet", make_socket, "packet", NETWORK_FILTER, LOOSE },
        { "vsock", make_socket, "vsock", NETWORK_FILTER, LOOSE },
        { "kernel cryptography", make_socket, "alg", NETWORK_FILTER, LOOSE },
        { "Bluetooth", make_socket, "bluetooth", NETWORK_FILTER, LOOSE },
        { "SMC", make_socket, "smc", NETWORK_FILTER, LOOSE },
        { "TIPC", make_socket, "tipc", NETWORK_FILTER, LOOSE },
        { "CAN", make_socket, "can", NETWORK_FILTER, LOOSE },
        { "XDP", make_socket, "xdp", NETWORK_FILTER, LOOSE },
        { "RDS", make_socket, "rds", NETWORK_FILTER, LOOSE },
        { "IPsec keys", make_socket, "key", NETWORK_FILTER, LOOSE },
        { "family with a high bit", make_socket, "high family", NETWORK_FILTER, LOOSE },
        { "UDP, family with a high bit", make_socket, "high family, udp", NETWORK_FILTER, LOOSE },
        { "UDP, type with a high bit", make_socket, "high type, udp", NETWORK_FILTER, LOOSE },
        { "MPTCP, protocol with a high bit", make_socket, "high protocol, mptcp", NETWORK_FILTER, LOOSE },

        { "UNIX stream", unix_stream, "stream.sock", UNIX_FILTER(9) },
        { "UNIX stream that is listed", unix_stream, "listed.sock", UNIX_FILTER(OPEN) },
        { "UNIX packets", unix_packet, "packet.sock", UNIX_FILTER(9) },
        { "UNIX stream by a symlink", unix_by_symlink, "stream.sock", UNIX_FILTER(9) },
        { "UNIX stream by a hard link",
          unix_by_hard_link,
          "stream.sock",
          { OPEN, SHUT, SHUT, 1, SHUT, SHUT, SHUT, 1 } },
        SESSION(".run/bus"),
        SESSION(".run/systemd/private"),
        SESSION(".run/gnupg/S.gpg-agent"),
        SESSION(".run/keyring/ssh"),
        SESSION(".run/wayland-0"),
        SESSION(".run/pipewire-0"),
        SESSION(".run/docker.sock"),
        SESSION(".run/mcp/other.sock"),
        { "UNIX datagram", unix_dgram, "dgram.sock", UNIX_FILTER(9) },
        { "UNIX abstract", unix_abstract, NULL, UNIX_FILTER(6) },
        { "UNIX with a high bit", make_socket, "high unix", UNIX_FILTER(OPEN) },
        { "UNIX with all high bits", make_socket, "all high unix", UNIX_FILTER(OPEN) },
        { "UNIX bind outside", unix_bind, "bound.sock", { OPEN, SHUT, SHUT, 1, SHUT, SHUT, SHUT, 1 } },
        { "UNIX server inside", unix_own, "own.sock", UNIX_FILTER(OPEN) },
        { "datagram pair to a path", pair_to_path, "dgram.sock", UNIX_FILTER(9) },
        { "datagram pair connected to a path", pair_connect_to_path, "dgram.sock", UNIX_FILTER(9) },
        { "raw pair to a path", raw_pair_to_path, "dgram.sock", UNIX_FILTER(9) },
        { "datagram pair to an abstract name", pair_to_abstract, ".dgram", UNIX_FILTER(6) },
        { "datagram pair with high bits", high_pair_to_path, "dgram.sock", UNIX_FILTER(9) },
        { "stream pair that listens",
          pair_listen,
          "pair.sock",
          { EITHER, SHUT, SHUT, EITHER, SHUT, SHUT, SHUT, EITHER } },
        { "stream pair that connects",
          pair_stream_connect,
          "stream.sock",
          { EITHER, SHUT, SHUT, EITHER, SHUT, SHUT, SHUT, EITHER } },
        {},
};
