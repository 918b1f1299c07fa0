/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/client-file-load.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/trusted-file.h"

static int read_text(const char *path, uid_t owner, char **ret, size_t *ret_size, ProblemList *problems) {
        _cleanup_free_ char *dir = NULL;
        _cleanup_close_ int fd = -EBADF;
        const char *base = path_basename(path);
        int r;

        dir = base > path ? strndup(path, (size_t) (base - path)) : strdup(".");
        if (!dir)
                return -ENOMEM;
        r = trusted_dir_open(dir, owner, &fd, problems);
        if (r < 0)
                return r;
        return trusted_file_read(fd, base, path, owner, NULL, ret, ret_size, problems);
}

static int client_file_load(const char *path, uid_t owner, ClientFile *ret) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        r = read_text(path, owner, &text, &size, &problems);
        if (r == -ENOMEM)
                return r;
        r = client_file_parse(strempty(text), size, path, ret);
        if (r < 0)
                return r;
        problem_list_take(&ret->problems, &problems);
        return 0;
}

int client_files_load(const ConfigPaths *paths, ClientFile **ret, size_t *ret_n) {
        size_t n = strv_length(paths->client_files);
        ClientFile *files;
        int r;

        files = calloc(MAX(n, (size_t) 1), sizeof(ClientFile));
        if (!files)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                r = client_file_load(paths->client_files[i], paths->owner, files + i);
                if (r < 0) {
                        client_files_free(files, i);
                        return r;
                }
        }
        *ret = files;
        *ret_n = n;
        return 0;
}

void client_files_free(ClientFile *files, size_t n) {
        for (size_t i = 0; i < n; i++)
                client_file_done(files + i);
        free(files);
}

GlobalIsolation client_files_take_global(ClientFile *files, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (files[i].global.present) {
                        GlobalIsolation g = files[i].global;

                        files[i].global = (GlobalIsolation){ .enabled = TRISTATE_UNSET };
                        return g;
                }
        return (GlobalIsolation){ .enabled = TRISTATE_UNSET };
}
