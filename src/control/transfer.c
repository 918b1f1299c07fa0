/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packets and descriptors on a SOCK_SEQPACKET socket. */

#include <sys/socket.h>

#include "basic/fd-util.h"
#include "control/message.h"

/* Room for more descriptors than are wanted, so that a peer that sends too many is told so; what is beyond this is
 * closed by the kernel and shows as MSG_CTRUNC. */
#define RECEIVE_FDS_MAX 16U

int control_send(int fd, const char *text, size_t size, const int fds[CONTROL_N_FDS]) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int) * CONTROL_N_FDS)];
        } control = {};
        struct iovec iov = { .iov_base = (void *) text, .iov_len = size };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
        ssize_t n;

        if (fds) {
                struct cmsghdr *c;

                mh.msg_control = &control;
                mh.msg_controllen = sizeof(control);
                c = CMSG_FIRSTHDR(&mh);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(int) * CONTROL_N_FDS);
                memcpy(CMSG_DATA(c), fds, sizeof(int) * CONTROL_N_FDS);
        }
        do
                n = sendmsg(fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

typedef struct Received {
        int fds[RECEIVE_FDS_MAX];
        size_t n_fds;
} Received;

static void received_done(Received *r) {
        fds_close_aside(r->fds, r->n_fds);
        r->n_fds = 0;
}

static void collect_fds(struct msghdr *mh, Received *received) {
        for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
                size_t n;

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n; i++) {
                        int fd;

                        memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                        if (received->n_fds < RECEIVE_FDS_MAX)
                                received->fds[received->n_fds++] = fd;
                        else
                                fds_close_aside(&fd, 1);
                }
        }
}

static int receive(int fd, char **ret, size_t *ret_size, Received *received) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int) * RECEIVE_FDS_MAX)];
        } control;
        _cleanup_free_ char *buffer = NULL;
        struct iovec iov;
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof(control),
        };
        ssize_t n;

        buffer = malloc(CONTROL_SIZE_MAX + 1);
        if (!buffer)
                return -ENOMEM;
        iov = (struct iovec){ .iov_base = buffer, .iov_len = CONTROL_SIZE_MAX };
        do
                n = recvmsg(fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        collect_fds(&mh, received);
        if (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
                return -EBADMSG;
        buffer[n] = 0;
        *ret = TAKE_PTR(buffer);
        *ret_size = (size_t) n;
        return 0;
}

int control_receive_hello(int fd, char **ret, size_t *ret_size, int ret_fds[CONTROL_N_FDS]) {
        _cleanup_(received_done) Received received = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = receive(fd, &text, &size, &received);
        if (r < 0)
                return r;
        if (size > 0) {
                if (received.n_fds != CONTROL_N_FDS)
                        return -EBADMSG;
                for (size_t i = 0; i < CONTROL_N_FDS; i++)
                        ret_fds[i] = received.fds[i];
                received.n_fds = 0;
        }
        *ret = TAKE_PTR(text);
        *ret_size = size;
        return 0;
}

int control_receive(int fd, char **ret, size_t *ret_size) {
        _cleanup_(received_done) Received received = {};

        return receive(fd, ret, ret_size, &received);
}
