/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdarg.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "clients/definition-out.h"
#include "config/definition-read.h"
#include "ctl/own-file.h"
#include "ctl/server-plan.h"
#include "report/json-out.h"
#include "report/report-problems.h"

char *ctl_command(const Ctl *ctl, const char *verb, const char *name) {
        _cleanup_free_ char *root = ctl->root ? shell_quote(ctl->root) : NULL, *word = shell_quote(name);

        if (!word || (ctl->root && !root))
                return NULL;
        return strformat(
                        "mcpctl --%s%s%s %s -- %s",
                        runtime_scope_to_string(ctl->scope),
                        root ? " --root=" : "",
                        strempty(root),
                        verb,
                        word);
}

char *ctl_restore_command(const Ctl *ctl, const char *path, const char *verb, const char *name) {
        _cleanup_free_ char *file = shell_quote(path), *command = ctl_command(ctl, verb, name);

        if (!file || !command)
                return NULL;
        /* Below a root no manager has to hear of it. */
        return ctl->root ? strformat("mv %s~ %s", file, file)
                         : strformat("mv %s~ %s && %s", file, file, command);
}

char *ctl_over_ssh(const Ctl *ctl, const char *command) {
        _cleanup_free_ char *line = NULL, *host = NULL;

        if (!ctl->via)
                return strdup(command);
        line = shell_quote(command);
        host = shell_quote(ctl->via);
        return line && host ? strformat("ssh -- %s %s", host, line) : NULL;
}

int ctl_say(Ctl *ctl, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int r;

        if (ctl->json)
                return 0;
        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0) {
                text = NULL;
                return -ENOMEM;
        }
        return style_print_wrapped(stdout, &ctl->style, 0, 0, text);
}

static int print_change(const Ctl *ctl, const char *name, const char *file, const char *undo) {
        _cleanup_json_out_ JsonOut out = {};
        json_object *root;
        int r;

        if (ctl->failed)
                return 0;
        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "server", name);
        json_out_string(&out, out.root, "file", file);
        json_out_string(&out, out.root, "undo", undo);
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

int ctl_say_unchanged(Ctl *ctl, const ServerEntry *e, const char *text) {
        return ctl->json ? print_change(ctl, e->name, e->file, NULL) : ctl_say(ctl, "%s", text);
}

int ctl_say_undo(Ctl *ctl, const char *name, const char *file, const char *command) {
        _cleanup_free_ char *undo = command ? ctl_over_ssh(ctl, command) : NULL, *shown = NULL;

        if (!undo)
                return -ENOMEM;
        if (ctl->json)
                return print_change(ctl, name, file, undo);
        shown = string_escape_control(undo);
        /* One line, however long: it will be copied. */
        return shown ? printf("Undo: %s\n", shown) < 0 ? -EIO : 0 : -ENOMEM;
}

bool is_client_file(const Ctl *ctl, const ServerEntry *e) {
        return strv_contains(ctl->paths.client_files, e->file);
}

bool is_own_file(const Ctl *ctl, const ServerEntry *e) {
        const char *rest = startswith(e->file, ctl->paths.server_dirs[0]);

        return rest && rest[0] == '/' && !strchr(rest + 1, '/');
}

int own_file_path(Ctl *ctl, const char *name, char **ret) {
        _cleanup_free_ char *file_name = definition_file_name(name);

        *ret = file_name ? path_join(ctl->paths.server_dirs[0], file_name) : NULL;
        return *ret ? 0 : -ENOMEM;
}

int own_text_check(Ctl *ctl, const char *name, const char *path, const char *text, size_t size) {
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_verdict_ Verdict v = {};
        const ServerList *list;
        int r;

        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        r = definition_read_text(text, size, name, path, &d, &problems);
        if (r < 0 && r != -EINVAL && r != -ENAMETOOLONG && r != -E2BIG)
                return r;
        if (!problem_list_has_errors(&problems) && r >= 0 && !d->remote) {
                r = server_plan_of_enabled(ctl, d, &list->global, &v);
                if (r < 0)
                        return r;
                problem_list_take(&problems, &v.problems);
        }
        (void) fflush(stdout);
        r = report_problems_text(stderr, &problems, &ctl->error_style);
        if (r < 0)
                return r;
        return v.status != CTL_OK ? (int) v.status : problem_list_has_errors(&problems) ? CTL_DEFINITION : 0;
}

static int fail_file(Ctl *ctl, const char *path, int error) {
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-WRITE",
                        error == -EACCES || error == -EPERM
                                        ? ctl->scope == RUNTIME_SCOPE_SYSTEM
                                                          ? "Be root, or use --user for servers of your own."
                                                          : "Look at its owner and mode."
                                        : NULL,
                        "%s cannot be written: %s.",
                        path,
                        STRERROR(error));
}

/* A user's files that root owns are trusted, but the user could not change them. */
int ctl_check_home(Ctl *ctl) {
        const char *home = getenv("HOME");
        struct stat st;

        if (ctl->root || ctl->scope != RUNTIME_SCOPE_USER || isempty(home) || stat(home, &st) < 0 ||
            st.st_uid == geteuid())
                return 0;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-OWNER",
                        "Run it as that user, or with --system.",
                        "The home directory %s is another user's.",
                        home);
}

static int open_directory(Ctl *ctl, const char *path, int *ret) {
        _cleanup_free_ char *directory =
                        strndup(path, MAX((size_t) (path_basename(path) - path), (size_t) 1) - 1);
        int r, fd;

        if (!directory)
                return -ENOMEM;
        r = ctl_check_home(ctl);
        if (r != 0)
                return r;
        r = mkdir_parents(directory, ctl->scope == RUNTIME_SCOPE_SYSTEM ? 0755 : 0700);
        if (r < 0)
                return fail_file(ctl, directory, r);
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return fail_file(ctl, directory, -errno);
        *ret = fd;
        return 0;
}

int own_file_set_aside(Ctl *ctl, const char *path) {
        _cleanup_free_ char *aside = strformat("%s~", path);

        if (!aside)
                return -ENOMEM;
        return rename(path, aside) < 0 ? fail_file(ctl, path, -errno) : 0;
}

/* The old one stays in place until the new one is there. */
static int keep_backup(Ctl *ctl, int dir_fd, const char *name, const char *path) {
        _cleanup_free_ char *text = NULL, *aside = strformat("%s~", name);
        struct stat st;
        size_t size;
        int r;

        if (!aside)
                return -ENOMEM;
        if (fstatat(dir_fd, name, &st, 0) < 0)
                return errno == ENOENT ? 0 : fail_file(ctl, path, -errno);
        if (!S_ISREG(st.st_mode))
                return 0; /* a link to /dev/null has nothing to keep */
        r = file_read_at(dir_fd, name, JSON_SIZE_MAX, &text, &size);
        if (r >= 0)
                r = file_write_atomic_at(dir_fd, aside, st.st_mode & 07777, text, size);
        return r < 0 ? fail_file(ctl, path, r) : 0;
}

/* link() does not replace: whoever was faster wins. */
static int write_new(int dir_fd, const char *name, mode_t mode, const char *text, size_t size) {
        _cleanup_free_ char *temporary = strformat(".#new.%s", name);
        int r;

        if (!temporary)
                return -ENOMEM;
        r = file_write_atomic_at(dir_fd, temporary, mode, text, size);
        if (r < 0)
                return r;
        r = RET_NERRNO(linkat(dir_fd, temporary, dir_fd, name, 0));
        (void) unlinkat(dir_fd, temporary, 0);
        return r;
}

/* Where a link to a file leads, so that it stays a link; a mask (a link to /dev/null) is replaced itself. */
static int follow_link(const char *path, char **ret) {
        _cleanup_free_ char *real = realpath(path, NULL);
        struct stat st;

        *ret = real && stat(real, &st) >= 0 && S_ISREG(st.st_mode) ? TAKE_PTR(real) : strdup(path);
        return *ret ? 0 : -ENOMEM;
}

int own_file_write(Ctl *ctl, const char *at, mode_t mode, const char *text, size_t size, unsigned flags) {
        _cleanup_close_ int dir_fd = -EBADF;
        _cleanup_free_ char *path = NULL;
        const char *name;
        struct stat st;
        int r;

        r = follow_link(at, &path);
        if (r < 0)
                return r;
        name = path_basename(path);

        r = open_directory(ctl, path, &dir_fd);
        if (r != 0)
                return r;
        if (flags & OWN_FILE_BACKUP) {
                r = keep_backup(ctl, dir_fd, name, path);
                if (r != 0)
                        return r;
        }
        if (fstatat(dir_fd, name, &st, 0) >= 0 && S_ISREG(st.st_mode))
                mode = st.st_mode & 0755;
        r = flags & OWN_FILE_NEW ? write_new(dir_fd, name, mode, text, size)
                                 : file_write_atomic_at(dir_fd, name, mode, text, size);
        if (r < 0)
                return fail_file(ctl, path, r);
        return RET_NERRNO(fsync(dir_fd));
}
