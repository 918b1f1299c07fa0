/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>

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

        make_directory();
        path = strformat("%s/a/b", directory);
        ASSERT_OK(mkdir_parents(path, 0700));
        ASSERT_OK(mkdir_parents(path, 0700));
        ASSERT_OK(file_write_atomic_at(dir_fd, "file", 0600, "", 0));
        file = strformat("%s/file/x", directory);
        ASSERT_ERROR(mkdir_parents(file, 0700), ENOTDIR);
        ASSERT_ERROR(mkdir_parents("", 0700), ENOENT);
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
        ASSERT_ERROR(fd_get_path(-EBADF, &path), ENOENT);
}
