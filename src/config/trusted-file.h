/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reading only what its rightful owner alone can have written: what counts is the file or directory that was opened
 * (behind all links), seen through its descriptor, so nothing can be exchanged between the look and the read. */

#include "basic/fd-util.h"
#include "config/problem.h"

/* Opens a directory. -ENOENT: there is none (no problem). Another error: problems says why. It is opened, with *ret_fd
 * set, also where it is not trusted: then the result is -EPERM. */
int trusted_dir_open(const char *path, uid_t owner, int *ret_fd, ProblemList *problems);

/* Reads dir_fd's file name. path: the whole path, for messages. -ENOENT: there is none (no problem); -ERFKILL: masked (it
 * is empty, or /dev/null). Another error: problems says why. Never waits: a FIFO is refused, not opened for reading. The
 * file is closed with the batch; NULL: at once. */
int trusted_file_read(
                int dir_fd,
                const char *name,
                const char *path,
                uid_t owner,
                FdBatch *batch,
                char **ret,
                size_t *ret_size,
                ProblemList *problems);
