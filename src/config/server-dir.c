/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/server-dir.h"
#include "basic/string-util.h"
#include "config/definition-read.h"
#include "config/trusted-file.h"

int server_dirs_open(const ConfigPaths *paths, ServerDir **ret, size_t *ret_n) {
        size_t n = strv_length(paths->server_dirs);
        ServerDir *dirs;

        dirs = calloc(MAX(n, (size_t) 1), sizeof(ServerDir));
        if (!dirs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                dirs[i].fd = -EBADF;
                dirs[i].path = strdup(paths->server_dirs[i]);
                if (!dirs[i].path) {
                        server_dirs_free(dirs, i + 1);
                        return -ENOMEM;
                }
                /* What is wrong is in dirs[i].problems. */
                (void) trusted_dir_open(dirs[i].path, paths->owner, &dirs[i].fd, &dirs[i].problems);
        }
        *ret = dirs;
        *ret_n = n;
        return 0;
}

void server_dirs_free(ServerDir *dirs, size_t n) {
        for (size_t i = 0; i < n; i++) {
                free(dirs[i].path);
                (void) safe_close(dirs[i].fd);
                problem_list_done(&dirs[i].problems);
        }
        free(dirs);
}

int server_file_name_parse(const char *file_name, char **ret) {
        _cleanup_free_ char *stem = NULL;
        int r;

        if (file_name[0] == '.' || !endswith(file_name, ".json"))
                return -EINVAL;
        stem = strndup(file_name, strlen(file_name) - strlen(".json"));
        if (!stem)
                return -ENOMEM;
        if (strchr(stem, '\\')) {
                r = server_name_unescape(stem, ret);
                if (r >= 0 || r == -ENOMEM)
                        return r;
        }
        *ret = TAKE_PTR(stem);
        return 0;
}

int server_file_load(
                const ServerDir *dir,
                const char *file_name,
                const char *path,
                const char *name,
                uid_t owner,
                FdBatch *batch,
                Definition **ret,
                ProblemList *problems) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        if (dir->problems.n_items > 0) {
                r = problem_list_copy(problems, &dir->problems);
                return r < 0 ? r : -EPERM;
        }
        r = trusted_file_read(dir->fd, file_name, path, owner, batch, &text, &size, problems);
        if (r < 0)
                return r;
        return definition_read_text(text, size, name, path, ret, problems);
}
