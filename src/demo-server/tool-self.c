/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tools that tell about this process, and the ones that only talk. */

#include <fcntl.h>
#include <time.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "demo-server/tools.h"

#define PROC_MAX (64U * 1024U)

/* The lines of /proc/self/status that say what a process may do. */
static const char *const status_table[] = {
        "Uid",    "Gid",    "Groups",     "CapInh",  "CapPrm",          "CapEff",
        "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters", NULL,
};

static int extend_status(char ***lines) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_free_ char **all = NULL;
        int r;

        r = file_read_at(AT_FDCWD, "/proc/self/status", PROC_MAX, &text, NULL);
        if (r < 0)
                return strv_extendf(lines, "status=unknown (%s)", STRERROR(r));
        r = strv_split(text, "\n", &all);
        if (r < 0)
                return r;
        STRV_FOREACH (line, all)
                for (char *c = *line; *c; c++)
                        if (*c == '\t')
                                *c = ' ';
        STRV_FOREACH (line, all)
                for (const char *const *key = status_table; *key; key++) {
                        const char *rest = startswith(*line, *key);

                        if (!rest || *rest != ':')
                                continue;
                        r = strv_extendf(lines, "%s=%s", *key, rest + 1 + strspn(rest + 1, " "));
                        if (r < 0)
                                return r;
                }
        return 0;
}

static int extend_cgroup(char ***lines) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_free_ char **all = NULL;
        int r;

        r = file_read_at(AT_FDCWD, "/proc/self/cgroup", PROC_MAX, &text, NULL);
        if (r < 0)
                return strv_extendf(lines, "cgroup=unknown (%s)", STRERROR(r));
        r = strv_split(text, "\n", &all);
        if (r < 0)
                return r;
        STRV_FOREACH (line, all) {
                r = strv_extendf(lines, "cgroup=%s", *line);
                if (r < 0)
                        return r;
        }
        return 0;
}

int tool_whoami(_unused_ json_object *arguments, ToolResult *result) {
        _cleanup_strv_free_ char **lines = NULL;
        _cleanup_free_ char *text = NULL, *directory = NULL;
        int r;

        directory = get_current_dir_name();
        r = strv_extendf(&lines, "pid=%d", getpid());
        if (r >= 0)
                r = strv_extendf(&lines, "uid=%u", geteuid());
        if (r >= 0)
                r = strv_extendf(&lines, "gid=%u", getegid());
        if (r >= 0)
                r = strv_extendf(&lines, "cwd=%s", directory ? directory : "unknown");
        if (r >= 0)
                r = extend_status(&lines);
        if (r >= 0)
                r = extend_cgroup(&lines);
        if (r < 0)
                return r;
        text = strv_join(lines, "\n");
        return text ? tool_data(result, text, strlen(text)) : -ENOMEM;
}

static int compare_variables(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int tool_list_environment(_unused_ json_object *arguments, ToolResult *result) {
        _cleanup_strv_free_ char **copy = NULL;
        _cleanup_free_ char *text = NULL;

        if (strv_length(environ) > 0) {
                copy = strv_copy(environ);
                if (!copy)
                        return -ENOMEM;
                qsort(copy, strv_length(copy), sizeof(char *), compare_variables);
        }
        text = strv_join(copy, "\n");
        return text ? tool_data(result, text, strlen(text)) : -ENOMEM;
}

int tool_echo(json_object *arguments, ToolResult *result) {
        json_object *text = jsonc_get(arguments, "text", json_type_string);

        return tool_data(result, json_object_get_string(text), (size_t) json_object_get_string_len(text));
}

int tool_sleep(json_object *arguments, ToolResult *result) {
        int64_t ms = tool_integer(arguments, "ms", 0);
        struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

        while (nanosleep(&left, &left) < 0)
                if (errno != EINTR)
                        return tool_fail(result, errno, "nanosleep");
        return tool_text(result, "Slept for %" PRIi64 " ms.", ms);
}

int tool_stderr(json_object *arguments, ToolResult *result) {
        json_object *text = jsonc_get(arguments, "text", json_type_string);
        int r;

        r =
                        fd_write_all(STDERR_FILENO,
                                     json_object_get_string(text),
                                     (size_t) json_object_get_string_len(text));
        if (r >= 0)
                r = fd_write_all(STDERR_FILENO, "\n", 1);
        if (r < 0)
                return tool_fail(result, r, "write(stderr)");
        return tool_text(result, "Wrote the line.");
}
