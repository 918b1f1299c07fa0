/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files and descriptors. */

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "basic/macro.h"

/* Reads what fd holds, up to max bytes, into a NUL-terminated buffer. -EFBIG: there is more. */
int fd_read_all(int fd, size_t max, char **ret, size_t *ret_size);
/* The same from its beginning of a regular file, of which fstat() said st: one read where it is as large as that. */
int fd_read_regular(int fd, const struct stat *st, size_t max, char **ret, size_t *ret_size);

/* The same for a path below dir_fd (or AT_FDCWD): opened O_RDONLY|O_CLOEXEC. */
int file_read_at(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_size);

int fd_write_all(int fd, const void *data, size_t size); /* goes on after EINTR and short writes */

/* Writes a file anew below dir_fd, whole or not at all (temporary name, fsync, rename). */
int file_write_atomic_at(int dir_fd, const char *name, mode_t mode, const void *data, size_t size);

/* Makes path and what is missing above it, each with mode (minus umask). 0 also where it is there already; -ENOTDIR
 * where something else is. */
int mkdir_parents(const char *path, mode_t mode);

/* A zombie is dead. */
bool pidfd_is_alive(int pidfd);

int fd_set_nonblock(int fd, bool nonblock);
int fd_set_cloexec(int fd, bool cloexec);

/* What kind of thing fd is (S_IFMT bits) without asking the file system, which may be a stranger's FUSE daemon that
 * never answers: statx(2), AT_STATX_DONT_SYNC. */
int fd_get_type(int fd, mode_t *ret);

/* Closes descriptors that a stranger handed over, and sets each to -EBADF. The last close() of a TCP socket may wait for
 * SO_LINGER, that of a file for its FUSE daemon's flush: such ones are left to a process that has nothing else to do
 * (the kernel does not linger for one that exits). Only so many at a time: the kernel passes no more (SCM_MAX_FD). */
#define FDS_ASIDE_MAX 253U
void fds_close_aside(int *fds, size_t n);

/* A standard descriptor that is closed would be whatever is opened next, and get what is written to the other: each is
 * /dev/null from here on, opened in that mode (O_RDONLY: writing fails, as it would have; O_CLOEXEC: it is closed again
 * for who is executed). */
int stdio_fill(int mode);

/* Flushes f. Negative errno where something of what was ever written to it is lost (-EIO: earlier, nobody knows why). */
int stream_finish(FILE *f);

/* The path that the kernel shows for fd (/proc/self/fd). The first allocates nothing, for who is about to execute. */
int fd_read_path(int fd, char ret[static PATH_MAX]);
int fd_get_path(int fd, char **ret);

/* Calls use for each name in a directory that was opened for reading and not read yet, in no order and with "." and "..";
 * type: DT_LNK and so on, or DT_UNKNOWN. Stops where use does not return 0, and returns that. Allocates nothing: in a process
 * that was just forked every page that malloc() touches has to be copied. */
typedef int (*dir_use_t)(const char *name, unsigned char type, void *userdata);
int dir_each(int dir_fd, dir_use_t use, void *userdata);

/* Descriptors that are closed many at once: each row of them, with nothing else between, with one system call. */
typedef struct FdBatch {
        int fds[64];
        size_t n;
} FdBatch;
void fd_batch_add(FdBatch *b, int fd); /* takes ownership; closes all where there is no more room */
void fd_batch_close(FdBatch *b);

/* Opens path with O_PATH. Where *ret_no_link is true, path is what fd_get_path() would say, for a system call less: no
 * component is a link (openat2(2), RESOLVE_NO_SYMLINKS), and it is written plainly. */
int open_place(const char *path, bool *ret_no_link);
