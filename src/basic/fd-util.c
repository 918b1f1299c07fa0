/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"

#define FD_LINK_MAX (sizeof("/proc/self/fd/") + 12)

/* expected: how much there is, as far as one knows; 0: no idea. */
static int read_all(int fd, size_t expected, size_t max, char **ret, size_t *ret_size) {
        _cleanup_free_ char *buffer = NULL;
        size_t size = 0, room = 0;

        for (;;) {
                ssize_t n;

                if (size + 1 >= room) {
                        char *grown;

                        /* One byte for the end of the text, and one for what is more than expected. */
                        room = room ? room * 2 : expected ? expected + 2 : 4096;
                        grown = realloc(buffer, room);
                        if (!grown)
                                return -ENOMEM;
                        buffer = grown;
                }
                n = read(fd, buffer + size, room - size - 1);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        break;
                size += (size_t) n;
                if (size > max)
                        return -EFBIG;
                /* More was asked for, and there wasn't. */
                if (size == expected)
                        break;
        }
        buffer[size] = 0;
        *ret = TAKE_PTR(buffer);
        if (ret_size)
                *ret_size = size;
        return 0;
}

int fd_read_all(int fd, size_t max, char **ret, size_t *ret_size) {
        return read_all(fd, 0, max, ret, ret_size);
}

int fd_read_regular(int fd, const struct stat *st, size_t max, char **ret, size_t *ret_size) {
        if (st->st_size > 0 && (uintmax_t) st->st_size > max)
                return -EFBIG;
        return read_all(fd, (size_t) st->st_size, max, ret, ret_size);
}

int file_read_at(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = -EBADF;

        fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;
        return fd_read_all(fd, max, ret, ret_size);
}

int fd_write_all(int fd, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                ssize_t n = write(fd, p, size);

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

int file_write_atomic_at(int dir_fd, const char *name, mode_t mode, const void *data, size_t size) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        temporary = strformat(".#%s.%d", name, getpid());
        if (!temporary)
                return -ENOMEM;
        fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd < 0)
                return -errno;
        r = fd_write_all(fd, data, size);
        if (r >= 0)
                r = RET_NERRNO(fsync(fd));
        if (r >= 0)
                r = RET_NERRNO(renameat(dir_fd, temporary, dir_fd, name));
        if (r < 0)
                (void) unlinkat(dir_fd, temporary, 0);
        return r;
}

int mkdir_parents(const char *path, mode_t mode) {
        char copy[PATH_MAX];
        struct stat st;
        size_t size;

        if (isempty(path))
                return -ENOENT;
        /* Mostly it is there already. */
        if (stat(path, &st) >= 0)
                return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
        size = strlen(path) + 1;
        if (size > sizeof(copy))
                return -ENAMETOOLONG;
        memcpy(copy, path, size);
        for (char *p = copy + 1;; p++) {
                char c = *p;

                if (c != '/' && c != 0)
                        continue;
                *p = 0;
                if (mkdir(copy, mode) < 0 && errno != EEXIST) {
                        int r = -errno;

                        /* A read-only or foreign parent that is there already is no failure. */
                        if (stat(copy, &st) < 0)
                                return r;
                }
                *p = c;
                if (c == 0)
                        break;
        }
        if (stat(path, &st) < 0)
                return -errno;
        return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

bool pidfd_is_alive(int pidfd) {
        struct pollfd p = { .fd = pidfd, .events = POLLIN };

        return poll(&p, 1, 0) == 0;
}

int fd_set_nonblock(int fd, bool nonblock) {
        int flags = fcntl(fd, F_GETFL);

        if (flags < 0)
                return -errno;
        return RET_NERRNO(fcntl(fd, F_SETFL, nonblock ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

int fd_set_cloexec(int fd, bool cloexec) {
        int flags = fcntl(fd, F_GETFD);

        if (flags < 0)
                return -errno;
        return RET_NERRNO(fcntl(fd, F_SETFD, cloexec ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC));
}

int fd_get_type(int fd, mode_t *ret) {
        struct statx stx;

        if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &stx) < 0)
                return -errno;
        if (!(stx.stx_mask & STATX_TYPE))
                return -ENODATA;
        *ret = stx.stx_mode & S_IFMT;
        return 0;
}

/* Pipes, terminals and UNIX sockets have nobody to wait for. */
static bool close_may_wait(int fd) {
        socklen_t size = sizeof(int);
        mode_t type;
        int domain;

        if (fd_get_type(fd, &type) < 0)
                return true;
        if (S_ISSOCK(type))
                return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX;
        return !S_ISFIFO(type) && !S_ISCHR(type);
}

static int compare_fds(const void *a, const void *b) {
        int x = *(const int *) a, y = *(const int *) b;

        return (x > y) - (x < y);
}

/* Whatever else was open when the holder was forked would stay open with what it waits for. kept is sorted. */
static void close_all_but(const int *kept, size_t n) {
        unsigned next = STDERR_FILENO + 1;

        for (size_t i = 0; i < n; i++) {
                if (kept[i] < (int) next)
                        continue;
                if ((unsigned) kept[i] > next)
                        (void) close_range(next, (unsigned) kept[i] - 1, 0);
                next = (unsigned) kept[i] + 1;
        }
        (void) close_range(next, ~0U, 0);
}

/* Forks twice, so that nobody has to wait for who waits. The last copies have to be there: it stays until the barrier's
 * other end is closed, which is after the caller closed its own. It does with what is on the stack and calls nothing but
 * the kernel: a process may leave the rest out of its children. */
static int fork_holder(const int *fds, size_t n, int barrier) {
        int kept[FDS_ASIDE_MAX + 1];
        char byte;
        pid_t pid;

        memcpy(kept, fds, n * sizeof(int));
        kept[n] = barrier;
        qsort(kept, n + 1, sizeof(int), compare_fds);
        pid = _Fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                if (_Fork() == 0) {
                        close_all_but(kept, n + 1);
                        (void) !read(barrier, &byte, 1);
                }
                _exit(EXIT_SUCCESS);
        }
        while (waitpid(pid, NULL, 0) < 0)
                if (errno != EINTR)
                        break;
        return 0;
}

void fds_close_aside(int *fds, size_t n) {
        int barrier[2] = { -EBADF, -EBADF };
        bool aside = false;

        for (size_t i = 0; i < n; i++)
                aside = aside || (fds[i] >= 0 && close_may_wait(fds[i]));
        if (aside && n <= FDS_ASIDE_MAX && pipe2(barrier, O_CLOEXEC) >= 0)
                (void) fork_holder(fds, n, barrier[0]);
        for (size_t i = 0; i < n; i++)
                fds[i] = safe_close(fds[i]);
        (void) safe_close(barrier[1]);
        (void) safe_close(barrier[0]);
}

/* "/proc/self/fd/N" without stdio, of which a child before its execve() would be the first to touch the pages. */
static const char *fd_link(int fd, char buffer[static FD_LINK_MAX]) {
        static const char directory[] = "/proc/self/fd/";
        char *p = buffer + FD_LINK_MAX;

        *--p = 0;
        do
                *--p = (char) ('0' + fd % 10);
        while ((fd /= 10) > 0);
        p -= sizeof(directory) - 1;
        return memcpy(p, directory, sizeof(directory) - 1);
}

int fd_read_path(int fd, char ret[static PATH_MAX]) {
        char link[FD_LINK_MAX];
        ssize_t n;

        if (fd < 0)
                return -EBADF;
        n = readlink(fd_link(fd, link), ret, PATH_MAX);
        if (n < 0)
                return -errno;
        if (n >= PATH_MAX)
                return -ENAMETOOLONG;
        ret[n] = 0;
        return 0;
}

int fd_get_path(int fd, char **ret) {
        char path[PATH_MAX], *copy;
        int r = fd_read_path(fd, path);

        if (r < 0)
                return r;
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

int stdio_fill(int mode) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode) != fd)
                        return -EBADF;
        return 0;
}

int stream_finish(FILE *f) {
        if (fflush(f) != 0)
                return -errno;
        return ferror(f) ? -EIO : 0;
}

void fd_batch_close(FdBatch *b) {
        for (size_t first = 0, behind; first < b->n; first = behind) {
                for (behind = first + 1; behind < b->n && b->fds[behind] == b->fds[behind - 1] + 1; behind++)
                        ;
                if (behind - first > 1 &&
                    syscall(__NR_close_range, (unsigned) b->fds[first], (unsigned) b->fds[behind - 1], 0) >=
                                    0)
                        continue;
                for (size_t i = first; i < behind; i++)
                        (void) safe_close(b->fds[i]);
        }
        b->n = 0;
}

void fd_batch_add(FdBatch *b, int fd) {
        b->fds[b->n++] = fd;
        if (b->n == ELEMENTSOF(b->fds))
                fd_batch_close(b);
}

#define LISTING_ROOM (8U * 1024U)

/* As the kernel writes it, getdents64(2). */
typedef struct ListedName {
        uint64_t inode;
        int64_t offset;
        uint16_t size;
        uint8_t type;
        char name[];
} ListedName;

int dir_each(int dir_fd, dir_use_t use, void *userdata) {
        _Alignas(ListedName) char buffer[LISTING_ROOM];

        for (;;) {
                long n = syscall(__NR_getdents64, dir_fd, buffer, sizeof(buffer));

                if (n <= 0)
                        return n < 0 ? -errno : 0;
                for (long at = 0; at < n;) {
                        const ListedName *entry = (const ListedName *) (buffer + at);
                        int r = use(entry->name, entry->type, userdata);

                        if (r != 0)
                                return r;
                        at += entry->size;
                }
        }
}

/* Written as the kernel would write it, if no component is a link. */
static bool path_is_plain(const char *path) {
        if (path[0] != '/')
                return false;
        for (const char *name = path + 1, *end; *name; name = *end ? end + 1 : end) {
                size_t n = strcspn(name, "/");

                end = name + n;
                if (n == 0 || (name[0] == '.' && (n == 1 || (n == 2 && name[1] == '.'))) ||
                    (*end == '/' && end[1] == 0))
                        return false;
        }
        return true;
}

int open_place(const char *path, bool *ret_no_link) {
        static bool missing; /* the system call: no kernel brings it back, so it is asked for once */
        struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
        int fd;

        if (!missing && path_is_plain(path)) {
                fd = (int) syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));
                if (fd >= 0) {
                        *ret_no_link = true;
                        return fd;
                }
                if (errno == ENOENT || errno == EACCES)
                        return -errno;
                missing = errno == ENOSYS;
        }
        /* There are links, or the system call is not there. */
        fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        *ret_no_link = false;
        return fd;
}
