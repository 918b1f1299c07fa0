/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The process outside that the attempts aim at. */

#include <arpa/inet.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "escape.h"

static int listen_tcp(uint16_t *ret_port, int type) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof(a);
        int fd = socket(AF_INET, type, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *) &a, sizeof(a)) < 0)
                return -errno;
        if (type == SOCK_STREAM && listen(fd, 1000) < 0)
                return -errno;
        if (getsockname(fd, (struct sockaddr *) &a, &n) < 0)
                return -errno;
        *ret_port = ntohs(a.sin_port);
        return fd;
}

/* name begins with a NUL for an abstract one; n is its length. */
static int listen_unix(const char *name, size_t n, int type) {
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, type, 0);

        if (fd < 0 || n >= sizeof(a.sun_path))
                return -EINVAL;
        memcpy(a.sun_path, name, n);
        if (bind(fd, (struct sockaddr *) &a, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + n)) < 0)
                return -errno;
        if (type == SOCK_STREAM && listen(fd, 1000) < 0)
                return -errno;
        return fd;
}

static int listen_unix_all(const char *outside_dir) {
        char name[sizeof(((struct sockaddr_un *) NULL)->sun_path)] = {};
        int n;

        n = snprintf(name, sizeof(name), "%s/stream.sock", outside_dir);
        if (listen_unix(name, (size_t) n + 1, SOCK_STREAM) < 0)
                return -1;
        n = snprintf(name, sizeof(name), "%s/dgram.sock", outside_dir);
        if (listen_unix(name, (size_t) n + 1, SOCK_DGRAM) < 0)
                return -1;
        name[0] = 0;
        n = snprintf(name + 1, sizeof(name) - 1, "escape-%d", getpid());
        if (listen_unix(name, (size_t) n + 1, SOCK_STREAM) < 0)
                return -1;
        n = snprintf(name + 1, sizeof(name) - 1, "escape-%d.dgram", getpid());
        return listen_unix(name, (size_t) n + 1, SOCK_DGRAM);
}

int victim_main(const char *outside_dir) {
        uint16_t tcp, listed, udp;
        int shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
        char byte, queue[64];
        mqd_t mq;

        /* A kernel without queues leaves one attempt untried. */
        snprintf(queue, sizeof(queue), "/escape-%d", getpid());
        mq = mq_open(queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, NULL);
        /* A group of its own, to be signalled as one. */
        if (setpgid(0, 0) < 0 || shm < 0 || listen_tcp(&tcp, SOCK_STREAM) < 0 ||
            listen_tcp(&listed, SOCK_STREAM) < 0 || listen_tcp(&udp, SOCK_DGRAM) < 0 ||
            listen_unix_all(outside_dir) < 0)
        {
                perror("victim");
                return EXIT_FAILURE;
        }
        printf("--victim=%d --tcp=%u --listed=%u --udp=%u --shm=%d --abstract=escape-%d\n",
               getpid(),
               tcp,
               listed,
               udp,
               shm,
               getpid());
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
        (void) shmctl(shm, IPC_RMID, NULL);
        if (mq != (mqd_t) -1)
                (void) mq_unlink(queue);
        return EXIT_SUCCESS;
}
