/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One directory of server files, opened. */

#include "basic/fd-util.h"
#include "config/definition.h"

typedef struct ServerDir {
        char *path;
        int fd;               /* -EBADF: not there, or not readable */
        ProblemList problems; /* of the directory: each of its servers has them, too */
} ServerDir;

int server_dirs_open(const ConfigPaths *paths, ServerDir **ret, size_t *ret_n);
void server_dirs_free(ServerDir *dirs, size_t n);

/* What server a file is called after: its name without ".json", unescaped where it is something that
 * server_name_escape() makes. -EINVAL: not a definition's name (hidden, or another suffix). */
int server_file_name_parse(const char *file_name, char **ret);

/* Reads a file of dir, with the whole path for messages, into a definition called name. -ERFKILL: masked; -ENOENT: not there; else problems says why. batch as in
 * config/trusted-file.h. */
int server_file_load(
                const ServerDir *dir,
                const char *file_name,
                const char *path,
                const char *name,
                uid_t owner,
                FdBatch *batch,
                Definition **ret,
                ProblemList *problems);
