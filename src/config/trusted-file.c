/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "basic/fd-util.h"
#include "basic/json.h"
#include "basic/string-util.h"
#include "config/trusted-file.h"

/* Owned by root or owner, and writable by nobody else. */
static int check_owner(const struct stat *st, const char *path, uid_t owner, ProblemList *problems) {
        const char *what = S_ISDIR(st->st_mode) ? "directory" : "file";
        _cleanup_free_ char *remedy = NULL;
        bool foreign = st->st_uid != 0 && st->st_uid != owner, open = st->st_mode & (S_IWGRP | S_IWOTH);

        if (!foreign && !open)
                return 0;
        remedy = foreign ? strformat("Run: chown %u %s", (unsigned) owner, path)
                         : strformat("Run: chmod go-w %s", path);
        problem_add(problems,
                    PROBLEM_ERROR,
                    "MCP-C-OWNER",
                    path,
                    NULL,
                    remedy,
                    "This %s is owned by uid %u and has mode %04o, but it decides what code runs: it must "
                    "be owned "
                    "by %s and be writable by nobody else.",
                    what,
                    (unsigned) st->st_uid,
                    (unsigned) (st->st_mode & 07777),
                    owner == 0 ? "root" : "its user or root");
        return -EPERM;
}

static int complain_errno(ProblemList *problems, const char *path, int error) {
        problem_note_errno(problems, error);
        problem_add(problems,
                    PROBLEM_ERROR,
                    "MCP-C-READ",
                    path,
                    NULL,
                    NULL,
                    "It cannot be read: %s.",
                    STRERROR(error));
        return error;
}

int trusted_dir_open(const char *path, uid_t owner, int *ret_fd, ProblemList *problems) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r;

        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ENOENT : complain_errno(problems, path, -errno);
        if (fstat(fd, &st) < 0)
                return complain_errno(problems, path, -errno);
        r = check_owner(&st, path, owner, problems);
        *ret_fd = TAKE_FD(fd);
        return r;
}

static bool is_null_device(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* -ENOENT: it is not there; another error was told. */
static int open_file(int dir_fd, const char *name, const char *path, ProblemList *problems) {
        struct stat st;
        int fd;

        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0)
                return fd;
        if (errno != ENOENT)
                return complain_errno(problems, path, -errno);
        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -ENOENT;
        problem_add(problems,
                    PROBLEM_ERROR,
                    "MCP-C-READ",
                    path,
                    NULL,
                    "Remove the link, or let it lead to /dev/null to mask the server.",
                    "This link leads nowhere.");
        return -ENOTDIR;
}

/* An open file's text, if it may be read. */
static int read_file(
                int fd, const char *path, uid_t owner, char **ret, size_t *ret_size, ProblemList *problems) {
        _cleanup_free_ char *text = NULL;
        struct stat st;
        size_t size;
        int r;

        if (fstat(fd, &st) < 0)
                return complain_errno(problems, path, -errno);
        if (is_null_device(&st))
                return -ERFKILL;
        if (!S_ISREG(st.st_mode)) {
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-READ",
                            path,
                            NULL,
                            NULL,
                            "This is no regular file.");
                return -EINVAL;
        }
        r = check_owner(&st, path, owner, problems);
        if (r < 0)
                return r;
        r = fd_read_regular(fd, &st, JSON_SIZE_MAX, &text, &size);
        if (r == -EFBIG)
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-JSON",
                            path,
                            NULL,
                            NULL,
                            "The file is larger than %u bytes.",
                            JSON_SIZE_MAX);
        else if (r < 0)
                (void) complain_errno(problems, path, r);
        if (r < 0)
                return r;
        if (size == 0)
                return -ERFKILL;
        *ret = TAKE_PTR(text);
        *ret_size = size;
        return 0;
}

int trusted_file_read(
                int dir_fd,
                const char *name,
                const char *path,
                uid_t owner,
                FdBatch *batch,
                char **ret,
                size_t *ret_size,
                ProblemList *problems) {
        int fd, r;

        fd = open_file(dir_fd, name, path, problems);
        if (fd < 0)
                return fd;
        r = read_file(fd, path, owner, ret, ret_size, problems);
        if (batch)
                fd_batch_add(batch, fd);
        else
                (void) safe_close(fd);
        return r;
}
