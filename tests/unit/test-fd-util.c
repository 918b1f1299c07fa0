/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include "basic/fd-util.h"
#include "test.h"

static char directory[] = "/tmp/test-fd-util-XXXXXX";
static int dir_fd = -EBADF;

static void make_directory(void) {
        if (dir_fd >= 0)
                return;
        ASSERT_NOT_NULL(mkdtemp(directory));
        dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT_OK(dir_fd);
}

static void __attribute__((__destructor__)) remove_directory(void) {
        if (dir_fd < 0)
                return;
        (void) unlinkat(dir_fd, "file", 0);
        (void) unlinkat(dir_fd, "a/b", AT_REMOVEDIR);
        (void) unlinkat(dir_fd, "a", AT_REMOVEDIR);
        (void) close(dir_fd);
        (void) rmdir(directory);
}

TEST(files_are_written_whole_and_read_back) {
        _cleanup_free_ char *text = NULL;
        struct stat st;
        size_t n;

        make_directory();
        ASSERT_OK(file_write_atomic_at(dir_fd, "file", 0600, "hello", 5));
        ASSERT_OK(file_write_atomic_at(dir_fd, "file", 0600, "hello\0you", 9));
        ASSERT_OK(file_read_at(dir_fd, "file", 100, &text, &n));
        ASSERT_EQ(n, 9);
        ASSERT_TRUE(memcmp(text, "hello\0you", 10) == 0);
        ASSERT_OK(fstatat(dir_fd, "file", &st, 0));
        ASSERT_EQ(st.st_mode & 07777, 0600);
}

TEST(reading_is_bounded) {
        char *text = NULL;

        make_directory();
        ASSERT_OK(file_write_atomic_at(dir_fd, "file", 0600, "hello", 5));
        ASSERT_ERROR(file_read_at(dir_fd, "file", 4, &text, NULL), EFBIG);
        ASSERT_NULL(text);
        ASSERT_OK(file_read_at(dir_fd, "file", 5, &text, NULL));
        ASSERT_STREQ(text, "hello");
        free(text);
        ASSERT_ERROR(file_read_at(dir_fd, "none", 5, &text, NULL), ENOENT);
}

TEST(an_empty_file_is_an_empty_string) {
        _cleanup_free_ char *text = NULL;
        size_t n = 1;

        ASSERT_OK(file_read_at(AT_FDCWD, "/dev/null", 10, &text, &n));
        ASSERT_EQ(n, 0);
        ASSERT_STREQ(text, "");
}

TEST(directories_with_parents) {
        _cleanup_free_ char *path = NULL, *file = NULL;
        static char long_path[PATH_MAX + 2];

        make_directory();
        path = strformat("%s/a/b", directory);
        ASSERT_OK(mkdir_parents(path, 0700));
        ASSERT_OK(mkdir_parents(path, 0700));
        ASSERT_OK(file_write_atomic_at(dir_fd, "file", 0600, "", 0));
        file = strformat("%s/file/x", directory);
        ASSERT_ERROR(mkdir_parents(file, 0700), ENOTDIR);
        ASSERT_ERROR(mkdir_parents("", 0700), ENOENT);
        (void) memset(long_path, '/', sizeof(long_path) - 1);
        memcpy(long_path + sizeof(long_path) - 2, "x", 2);
        ASSERT_ERROR(mkdir_parents(long_path, 0700), ENAMETOOLONG);
}

TEST(flags) {
        int pair[2];

        ASSERT_OK(pipe2(pair, O_CLOEXEC));
        ASSERT_OK(fd_set_nonblock(pair[0], true));
        ASSERT_TRUE(fcntl(pair[0], F_GETFL) & O_NONBLOCK);
        ASSERT_OK(fd_set_nonblock(pair[0], false));
        ASSERT_FALSE(fcntl(pair[0], F_GETFL) & O_NONBLOCK);
        ASSERT_OK(fd_set_cloexec(pair[0], false));
        ASSERT_FALSE(fcntl(pair[0], F_GETFD) & FD_CLOEXEC);
        ASSERT_OK(fd_set_cloexec(pair[0], true));
        ASSERT_TRUE(fcntl(pair[0], F_GETFD) & FD_CLOEXEC);
        (void) close(pair[0]);
        (void) close(pair[1]);
        ASSERT_ERROR(fd_set_cloexec(-EBADF, true), EBADF);
}

TEST(paths_of_descriptors) {
        _cleanup_free_ char *path = NULL;

        make_directory();
        ASSERT_OK(fd_get_path(dir_fd, &path));
        ASSERT_STREQ(path, directory);
        ASSERT_ERROR(fd_get_path(-EBADF, &path), EBADF);
        ASSERT_ERROR(fd_get_path(1000000, &path), ENOENT);
}

TEST(types_are_told_without_asking_the_file_system) {
        int pair[2];
        mode_t type;

        make_directory();
        ASSERT_OK(pipe2(pair, O_CLOEXEC));
        ASSERT_OK(fd_get_type(pair[0], &type));
        ASSERT_TRUE(S_ISFIFO(type));
        ASSERT_OK(fd_get_type(dir_fd, &type));
        ASSERT_TRUE(S_ISDIR(type));
        ASSERT_ERROR(fd_get_type(-EBADF, &type), EBADF);
        fds_close_aside(pair, ELEMENTSOF(pair));
        ASSERT_EQ(pair[0], -EBADF);
        ASSERT_EQ(pair[1], -EBADF);
}

/* One end of a TCP connection that lingers for seconds with data that nobody reads; the other end in *ret_peer. */
static int make_lingering(int *ret_peer) {
        const struct linger linger = { .l_onoff = 1, .l_linger = 20 };
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        socklen_t size = sizeof(address);
        static char data[64 * 1024];
        int listener, fd;

        listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_OK(listener);
        ASSERT_OK(fd);
        ASSERT_OK(bind(listener, (struct sockaddr *) &address, size));
        ASSERT_OK(listen(listener, 1));
        ASSERT_OK(getsockname(listener, (struct sockaddr *) &address, &size));
        ASSERT_OK(connect(fd, (struct sockaddr *) &address, size));
        *ret_peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        ASSERT_OK(*ret_peer);
        (void) close(listener);
        while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
                ;
        ASSERT_OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
        return fd;
}

TEST(a_lingering_socket_is_not_waited_for) {
        struct timespec before, after;
        int peer, fd = make_lingering(&peer);

        (void) clock_gettime(CLOCK_MONOTONIC, &before);
        fds_close_aside(&fd, 1);
        (void) clock_gettime(CLOCK_MONOTONIC, &after);
        ASSERT_EQ(fd, -EBADF);
        ASSERT_LT(after.tv_sec - before.tv_sec, 10);
        (void) close(peer);
}

enum { N_LISTED = 500 };

static int count_listed(const char *name, unsigned char type, void *userdata) {
        bool *seen = userdata;
        int number;

        if (sscanf(name, "a-name-of-some-length-%d", &number) != 1)
                return streq(name, ".") || streq(name, "..") ? 0 : -EINVAL;
        if (type == DT_LNK || seen[number])
                return -EEXIST;
        seen[number] = true;
        return 0;
}

static int stop_at_once(const char *name, unsigned char type, void *userdata) {
        ++*(unsigned *) userdata;
        return 7;
}

/* More than one answer of the kernel's holds. */
TEST(every_name_of_a_directory_is_told_once) {
        bool seen[N_LISTED] = {};
        unsigned n_asked = 0;
        char name[64];
        int fd;

        make_directory();
        ASSERT_OK(mkdirat(dir_fd, "listed", 0700));
        fd = openat(dir_fd, "listed", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT_OK(fd);
        for (unsigned i = 0; i < N_LISTED; i++) {
                (void) snprintf(name, sizeof(name), "a-name-of-some-length-%u", i);
                ASSERT_OK(mkdirat(fd, name, 0700));
        }
        ASSERT_OK(dir_each(fd, count_listed, seen));
        for (unsigned i = 0; i < N_LISTED; i++) {
                ASSERT_TRUE(seen[i]);
                (void) snprintf(name, sizeof(name), "a-name-of-some-length-%u", i);
                ASSERT_OK(unlinkat(fd, name, AT_REMOVEDIR));
        }
        ASSERT_OK((int) lseek(fd, 0, SEEK_SET));
        ASSERT_EQ(dir_each(fd, stop_at_once, &n_asked), 7);
        ASSERT_EQ(n_asked, 1U);
        (void) close(fd);
        ASSERT_OK(unlinkat(dir_fd, "listed", AT_REMOVEDIR));
        ASSERT_ERROR(dir_each(-EBADF, stop_at_once, &n_asked), EBADF);
}

static bool is_open(int fd) {
        return fcntl(fd, F_GETFD) >= 0;
}

TEST(a_batch_closes_its_own_and_nothing_else) {
        FdBatch batch = {};
        int row[4], between;

        for (size_t i = 0; i < ELEMENTSOF(row); i++)
                ASSERT_OK(row[i] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 500));
        fd_batch_close(&batch);
        for (size_t i = 0; i < ELEMENTSOF(row); i++)
                fd_batch_add(&batch, row[i]);
        ASSERT_TRUE(is_open(row[0]));
        fd_batch_close(&batch);
        for (size_t i = 0; i < ELEMENTSOF(row); i++)
                ASSERT_FALSE(is_open(row[i]));
        /* With something of somebody else's between them. */
        for (size_t i = 0; i < ELEMENTSOF(row); i++)
                ASSERT_OK(row[i] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 500));
        between = row[1];
        fd_batch_add(&batch, row[0]);
        fd_batch_add(&batch, row[2]);
        fd_batch_add(&batch, row[3]);
        fd_batch_close(&batch);
        ASSERT_FALSE(is_open(row[0]) || is_open(row[2]) || is_open(row[3]));
        ASSERT_TRUE(is_open(between));
        (void) close(between);
        /* One more than there is room for. */
        for (size_t i = 0; i <= ELEMENTSOF(batch.fds); i++)
                fd_batch_add(&batch, fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 500));
        ASSERT_EQ(batch.n, 1U);
        ASSERT_TRUE(is_open(batch.fds[0]));
        fd_batch_close(&batch);
        ASSERT_EQ(batch.n, 0U);
}
