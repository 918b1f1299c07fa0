/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tools for files and directories. Nothing here waits: a FIFO or a terminal is opened without blocking. */

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "demo-server/tools.h"

#define READ_DEFAULT (16 * 1024 * 1024)
#define ENTRIES_MAX  10000

DEFINE_TRIVIAL_CLEANUP_FUNC(DIR *, closedir);

/* Up to max bytes and one more, which tells whether there would be. */
static int read_some(int fd, size_t max, char **ret, size_t *ret_n) {
        _cleanup_free_ char *data = NULL;
        size_t n = 0, allocated = 0;

        for (;;) {
                ssize_t k;

                if (allocated - n < 65536) {
                        char *p;

                        allocated = MIN(MAX(allocated * 2, (size_t) 131072), max + 1);
                        p = realloc(data, allocated);
                        if (!p)
                                return -ENOMEM;
                        data = p;
                }
                k = read(fd, data + n, allocated - n);
                if (k < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                n += (size_t) k;
                if (k == 0 || n > max)
                        break;
        }
        *ret = TAKE_PTR(data);
        *ret_n = n;
        return 0;
}

int tool_read_file(json_object *arguments, ToolResult *result) {
        _cleanup_free_ char *data = NULL;
        _cleanup_close_ int fd = -EBADF;
        const char *path = jsonc_get_string(arguments, "path");
        size_t max = (size_t) tool_integer(arguments, "max_bytes", READ_DEFAULT), n = 0;
        int r;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return tool_fail(result, errno, "open(%s)", path);
        r = read_some(fd, max, &data, &n);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return tool_fail(result, r, "read(%s)", path);
        r = tool_data(result, data, MIN(n, max));
        if (r >= 0 && n > max)
                r = tool_text(result, "There is more; this is what max_bytes allows.");
        return r;
}

int tool_write_file(json_object *arguments, ToolResult *result) {
        _cleanup_close_ int fd = -EBADF;
        const char *path = jsonc_get_string(arguments, "path");
        json_object *content = jsonc_get(arguments, "content", json_type_string);
        size_t n = (size_t) json_object_get_string_len(content);
        bool append = tool_boolean(arguments, "append");
        int r;

        fd = open(path,
                  O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (append ? O_APPEND : O_TRUNC),
                  0666);
        if (fd < 0)
                return tool_fail(result, errno, "open(%s)", path);
        r = fd_write_all(fd, json_object_get_string(content), n);
        if (r < 0)
                return tool_fail(result, r, "write(%s)", path);
        fd = safe_close(fd);
        return tool_text(result, "%s %zu bytes to %s.", append ? "Appended" : "Wrote", n, path);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static bool entry_is_directory(int dir_fd, const struct dirent *entry) {
        struct stat st;

        if (entry->d_type != DT_UNKNOWN)
                return entry->d_type == DT_DIR;
        return fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISDIR(st.st_mode);
}

/* -ENOMEM, or another negative errno from reading the directory. */
static int read_names(DIR *dir, char ***ret, bool *ret_more) {
        _cleanup_strv_free_ char **names = NULL;
        size_t n = 0;
        bool more = false;

        for (;;) {
                struct dirent *entry;
                int r;

                errno = 0;
                entry = readdir(dir);
                if (!entry && errno != 0)
                        return -errno;
                if (!entry)
                        break;
                if (streq(entry->d_name, ".") || streq(entry->d_name, ".."))
                        continue;
                if (n++ == ENTRIES_MAX) {
                        more = true;
                        break;
                }
                r =
                                strv_extendf(&names,
                                             "%s%s",
                                             entry->d_name,
                                             entry_is_directory(dirfd(dir), entry) ? "/" : "");
                if (r < 0)
                        return r;
        }
        if (names)
                qsort(names, strv_length(names), sizeof(char *), compare_names);
        *ret = TAKE_PTR(names);
        *ret_more = more;
        return 0;
}

int tool_list_directory(json_object *arguments, ToolResult *result) {
        _cleanup_(closedirp) DIR *dir = NULL;
        _cleanup_strv_free_ char **names = NULL;
        _cleanup_free_ char *text = NULL;
        const char *path = jsonc_get_string(arguments, "path");
        bool more = false;
        int r;

        dir = opendir(path);
        if (!dir)
                return tool_fail(result, errno, "opendir(%s)", path);
        r = read_names(dir, &names, &more);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return tool_fail(result, r, "readdir(%s)", path);
        text = strv_join(names, "\n");
        if (!text)
                return -ENOMEM;
        r = tool_data(result, text, strlen(text));
        if (r >= 0 && more)
                r = tool_text(result, "There are more than %d entries; the rest is left out.", ENTRIES_MAX);
        return r;
}
