/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The process outside that the attempts aim at. */

#include <arpa/inet.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
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
        if (type != SOCK_DGRAM && listen(fd, 1000) < 0)
                return -errno;
        return fd;
}

/* Sockets of the user's session, where its programs have them; the rest in the directory outside. */
static const struct {
        bool at_home;
        const char *name;
        int type;
} unix_sockets[] = {
        { false, "stream.sock", SOCK_STREAM },
        { false, "dgram.sock", SOCK_DGRAM },
        { false, "packet.sock", SOCK_SEQPACKET },
        { false, "listed.sock", SOCK_STREAM },
        { true, ".run/bus", SOCK_STREAM },
        { true, ".run/systemd/private", SOCK_STREAM },
        { true, ".run/gnupg/S.gpg-agent", SOCK_STREAM },
        { true, ".run/keyring/ssh", SOCK_STREAM },
        { true, ".run/wayland-0", SOCK_STREAM },
        { true, ".run/pipewire-0", SOCK_STREAM },
        { true, ".run/docker.sock", SOCK_STREAM },
        { true, ".run/mcp/other.sock", SOCK_STREAM },
};

static int listen_unix_all(const char *outside_dir, const char *home) {
        char name[sizeof(((struct sockaddr_un *) NULL)->sun_path)] = {};
        int n;

        for (size_t i = 0; i < ELEMENTSOF(unix_sockets); i++) {
                n = snprintf(name,
                             sizeof(name),
                             "%s/%s",
                             unix_sockets[i].at_home ? home : outside_dir,
                             unix_sockets[i].name);
                if (listen_unix(name, (size_t) n + 1, unix_sockets[i].type) < 0)
                        return -1;
        }
        name[0] = 0;
        n = snprintf(name + 1, sizeof(name) - 1, "escape-%d", getpid());
        if (listen_unix(name, (size_t) n + 1, SOCK_STREAM) < 0)
                return -1;
        n = snprintf(name + 1, sizeof(name) - 1, "escape-%d.dgram", getpid());
        return listen_unix(name, (size_t) n + 1, SOCK_DGRAM);
}

/* What reaches it stays pending: attempts-signals.c. */
static int block_signals(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGURG);
        for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
                sigaddset(&set, sig);
        return sigprocmask(SIG_BLOCK, &set, NULL);
}

static int make_queue_and_semaphore(int *ret_queue, int *ret_semaphore) {
        *ret_queue = msgget(VICTIM_KEY(getpid()), IPC_CREAT | IPC_EXCL | 0600);
        *ret_semaphore = semget(VICTIM_KEY(getpid()), 1, IPC_CREAT | IPC_EXCL | 0600);
        return MIN(*ret_queue, *ret_semaphore);
}

/* As a terminal emulator does; the name of the other end. */
static const char *open_terminal(void) {
        int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

        return fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0 ? NULL : ptsname(fd);
}

int victim_main(const char *outside_dir, const char *home) {
        uint16_t tcp, listed, udp;
        int shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), memory, message_queue, semaphore;
        const char *terminal = open_terminal();
        char byte, queue[64];
        mqd_t mq;

        /* A kernel without queues leaves one attempt untried. The memory has the same name. */
        snprintf(queue, sizeof(queue), "/escape-%d", getpid());
        mq = mq_open(queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, NULL);
        memory = shm_open(queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        /* A group of its own, to be signalled as one. */
        if (setpgid(0, 0) < 0 || !terminal || block_signals() < 0 || shm < 0 || memory < 0 ||
            make_queue_and_semaphore(&message_queue, &semaphore) < 0 || listen_tcp(&tcp, SOCK_STREAM) < 0 ||
            listen_tcp(&listed, SOCK_STREAM) < 0 || listen_tcp(&udp, SOCK_DGRAM) < 0 ||
            listen_unix_all(outside_dir, home) < 0)
        {
                perror("victim");
                return EXIT_FAILURE;
        }
        printf("--victim=%d --tcp=%u --listed=%u --udp=%u --shm=%d --terminal=%s --abstract=escape-%d\n",
               getpid(),
               tcp,
               listed,
               udp,
               shm,
               terminal,
               getpid());
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
        (void) shmctl(shm, IPC_RMID, NULL);
        (void) msgctl(message_queue, IPC_RMID, NULL);
        (void) semctl(semaphore, 0, IPC_RMID);
        (void) shm_unlink(queue);
        if (mq != (mqd_t) -1)
                (void) mq_unlink(queue);
        return EXIT_SUCCESS;
}
