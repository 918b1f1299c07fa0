/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* call-loop CALLS DIRECTORY: makes each of some system calls that many times, and prints a line for each: its name, and
 * nanoseconds a call. Meant to be run bare and confined: what is more is the price of being confined. */

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int dir_fd, file_fd;
static struct sockaddr_in listening = { .sin_family = AF_INET };

static int call_getppid(void) {
        return syscall(SYS_getppid) >= 0 ? 0 : -1;
}

static int call_open(void) {
        int fd = openat(dir_fd, "file", O_RDONLY | O_CLOEXEC);

        return fd < 0 ? -1 : close(fd);
}

static int call_open_deep(void) {
        int fd = open("/usr/share/../lib/os-release", O_RDONLY | O_CLOEXEC);

        return fd < 0 ? -1 : close(fd);
}

static int call_create(void) {
        int fd = openat(dir_fd, "new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        return fd < 0 || close(fd) < 0 ? -1 : unlinkat(dir_fd, "new", 0);
}

static int call_read(void) {
        char buffer[512];

        return pread(file_fd, buffer, sizeof(buffer), 0) < 0 ? -1 : 0;
}

static int call_write(void) {
        static const char buffer[512];

        return pwrite(file_fd, buffer, sizeof(buffer), 0) < 0 ? -1 : 0;
}

static int call_stat(void) {
        struct stat st;

        return fstatat(dir_fd, "file", &st, 0);
}

static int call_connect(void) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

        if (fd < 0)
                return -1;
        r = connect(fd, (const struct sockaddr *) &listening, sizeof(listening));
        return close(fd) < 0 ? -1 : r;
}

static int call_ioctl(void) {
        int available;

        /* The filter has to look at its arguments, so that the kernel cannot remember that it is allowed. */
        return ioctl(file_fd, FIONREAD, &available);
}

static const struct {
        const char *name;
        int (*call)(void);
        unsigned divisor; /* of CALLS: the slow ones need fewer */
} calls[] = {
        { "getppid", call_getppid, 1 },
        { "open+close", call_open, 1 },
        { "open+close, deep", call_open_deep, 1 },
        { "create+unlink", call_create, 4 },
        { "read", call_read, 1 },
        { "write", call_write, 1 },
        { "stat", call_stat, 1 },
        { "ioctl", call_ioctl, 1 },
        { "connect", call_connect, 20 },
};

/* A socket whose queue is full drops what comes: whoever listens has to take it. */
static int listen_here(void) {
        socklen_t n = sizeof(listening);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        listening.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (fd < 0 || bind(fd, (struct sockaddr *) &listening, n) < 0 || listen(fd, 4096) < 0 ||
            getsockname(fd, (struct sockaddr *) &listening, &n) < 0)
                return -1;
        return fd;
}

static double nanoseconds_each(int (*call)(void), unsigned count) {
        struct timespec begin, end;

        for (unsigned i = 0; i < count / 10 + 1; i++)
                if (call() < 0)
                        return -1;
        if (clock_gettime(CLOCK_MONOTONIC, &begin) < 0)
                return -1;
        for (unsigned i = 0; i < count; i++)
                if (call() < 0)
                        return -1;
        if (clock_gettime(CLOCK_MONOTONIC, &end) < 0)
                return -1;
        return ((double) (end.tv_sec - begin.tv_sec) * 1e9 + (double) (end.tv_nsec - begin.tv_nsec)) / count;
}

int main(int argc, char *argv[]) {
        int listener;

        if (argc != 3)
                return EXIT_FAILURE;
        dir_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        file_fd = openat(dir_fd, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        listener = listen_here();
        if (dir_fd < 0 || file_fd < 0 || listener < 0 || ftruncate(file_fd, 4096) < 0) {
                perror(argv[2]);
                return EXIT_FAILURE;
        }
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
                double each = nanoseconds_each(calls[i].call, (unsigned) atoi(argv[1]) / calls[i].divisor);

                if (each < 0) {
                        perror(calls[i].name);
                        return EXIT_FAILURE;
                }
                (void) printf("%s\t%.1f\n", calls[i].name, each);
        }
        return EXIT_SUCCESS;
}
