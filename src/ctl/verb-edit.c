/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* edit: a copy is edited, and becomes the definition when it would be accepted. */

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/jobs.h"
#include "ctl/own-file.h"

extern char **environ;

typedef struct Draft {
        char *directory, *path; /* the copy, in a directory that nobody else can look into */
        bool keep;              /* something is in it that is saved nowhere else */
} Draft;

static void draft_done(Draft *d) {
        if (!d->keep) {
                if (d->path)
                        (void) unlink(d->path);
                if (d->directory)
                        (void) rmdir(d->directory);
        }
        free(d->path);
        free(d->directory);
}
#define _cleanup_draft_ _cleanup_(draft_done)

/* Not the temp directory where that can be helped: servers of the same user may write there. */
static const char *draft_place(void) {
        const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
        struct stat st;

        if (!isempty(runtime) && path_is_absolute(runtime) && stat(runtime, &st) >= 0 &&
            st.st_uid == geteuid())
                return runtime;
        return isempty(tmp) || !path_is_absolute(tmp) ? "/tmp" : tmp;
}

static int draft_make(const char *target, const char *text, size_t size, Draft *d) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        d->directory = path_join(draft_place(), "mcpctl-edit.XXXXXX");
        if (!d->directory)
                return -ENOMEM;
        if (!mkdtemp(d->directory)) {
                r = -errno;
                free(d->directory);
                d->directory = NULL;
                return r;
        }
        d->path = path_join(d->directory, path_basename(target));
        if (!d->path)
                return -ENOMEM;
        fd = open(d->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : fd_write_all(fd, text, size);
}

/* systemctl's own order, and then what is usually there. Split at blanks, without a shell. */
static int editor_command(char ***ret) {
        static const char *const variables[] = { "SYSTEMD_EDITOR", "EDITOR", "VISUAL" };
        static const char *const usual[] = {
                "/usr/bin/editor", "/usr/bin/nano", "/usr/bin/vim", "/usr/bin/vi"
        };

        for (size_t i = 0; i < ELEMENTSOF(variables); i++) {
                const char *value = getenv(variables[i]);

                if (isempty(value))
                        continue;
                return strv_split(value, " \t", ret);
        }
        /* These need one; what somebody set may be anything. */
        if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(usual); i++)
                if (access(usual[i], X_OK) >= 0)
                        return strv_extend(ret, usual[i]);
        return 0;
}

static int run_editor(Ctl *ctl, const char *path) {
        _cleanup_strv_free_ char **argv = NULL;
        int r, status;
        pid_t pid;

        r = editor_command(&argv);
        if (r < 0)
                return r;
        if (!argv)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-EDITOR",
                                "Set $EDITOR, or work at a terminal.",
                                "There is no editor.");
        r = strv_extend(&argv, path);
        if (r < 0)
                return r;
        r = -posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-EDITOR",
                                "Set $EDITOR.",
                                "The editor %s cannot be executed: %s.",
                                argv[0],
                                STRERROR(r));
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-EDITOR",
                        NULL,
                        "Nothing was changed, because the editor %s failed.",
                        argv[0]);
}

/* Only a person at a terminal can be asked; where nobody is, no. */
static bool ask_again(void) {
        char line[16];

        if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
                return false;
        fputs("Edit it again? [Y/n] ", stderr);
        if (!fgets(line, sizeof(line), stdin))
                return false;
        return line[0] == '\n' || line[0] == 'y' || line[0] == 'Y';
}

static int fail_draft(Ctl *ctl, Draft *d, int status) {
        d->keep = true;
        return ctl_fail(ctl,
                        (CtlExit) status,
                        "MCP-X-NOT-SAVED",
                        NULL,
                        "Nothing was changed, because it would not start. What you wrote is in %s.",
                        d->path);
}

/* Until it is fit to be saved, or given up. -EALREADY: nothing was changed. */
static int edit_until_good(
                Ctl *ctl,
                const ServerEntry *e,
                const char *target,
                const char *old,
                Draft *d,
                char **ret,
                size_t *ret_size) {
        for (;;) {
                _cleanup_free_ char *text = NULL;
                size_t size;
                int r;

                r = run_editor(ctl, d->path);
                if (r != 0)
                        return r;
                r = file_read_at(AT_FDCWD, d->path, JSON_SIZE_MAX, &text, &size);
                if (r < 0)
                        return r;
                if (size == strlen(old) && memcmp(text, old, size) == 0)
                        return -EALREADY;
                r = own_text_check(ctl, e->name, target, text, size);
                if (r < 0)
                        return r;
                if (r == 0 || (r == CTL_REFUSED && ctl->force)) {
                        *ret = TAKE_PTR(text);
                        *ret_size = size;
                        return 0;
                }
                if (!ask_again())
                        return fail_draft(ctl, d, r);
        }
}

static int save(Ctl *ctl, const ServerEntry *e, const char *target, const char *text, size_t size) {
        bool override = !is_own_file(ctl, e);
        _cleanup_free_ char *undo = NULL;
        int r, status;

        r =
                        own_file_write(ctl,
                                       target,
                                       ctl->scope == RUNTIME_SCOPE_USER ? 0600 : 0644,
                                       text,
                                       size,
                                       override ? OWN_FILE_NEW : OWN_FILE_BACKUP);
        if (r != 0)
                return r;
        r = ctl_say(ctl, "%s was saved.%s%s", target, override ? " It hides " : "", override ? e->file : "");
        if (r < 0)
                return r;
        status = ctl_apply(ctl, JOB_RESTART, e->name, e->instance);
        if (status < 0)
                return status;
        undo = override ? ctl_command(ctl, "remove", e->name)
                        : ctl_restore_command(ctl, target, "restart", e->name);
        r = ctl_say_undo(ctl, e->name, target, undo);
        return r < 0 ? r : status;
}

static int edit(Ctl *ctl, const ServerEntry *e, const char *target) {
        _cleanup_free_ char *old = NULL, *text = NULL;
        _cleanup_draft_ Draft draft = {};
        size_t size;
        int r;

        r = file_read_at(AT_FDCWD, e->file, JSON_SIZE_MAX, &old, &size);
        if (r < 0)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-FILE",
                                NULL,
                                "%s cannot be read: %s.",
                                e->file,
                                STRERROR(r));
        r = draft_make(target, old, size, &draft);
        if (r < 0)
                return r;
        r = edit_until_good(ctl, e, target, old, &draft, &text, &size);
        if (r == -EALREADY)
                return ctl_say_unchanged(ctl, e, "Nothing was changed.");
        if (r != 0)
                return r;
        r = save(ctl, e, target, text, size);
        return r;
}

int verb_edit(Ctl *ctl, char **operands) {
        _cleanup_free_ char *target = NULL;
        const ServerEntry *e;
        int r;

        r = ctl_find_unmasked_server(ctl, operands[0], &e);
        if (r != 0)
                return r;
        if (is_client_file(ctl, e))
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-NOT-OURS",
                                "Edit that file, and run \"mcpctl check\" and \"mcpctl restart\".",
                                "\"%s\" is one entry of %s.",
                                e->name,
                                e->file);
        r = is_own_file(ctl, e) ? ((target = strdup(e->file)) ? 0 : -ENOMEM)
                                : own_file_path(ctl, e->name, &target);
        return r < 0 ? r : edit(ctl, e, target);
}
