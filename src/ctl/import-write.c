/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All or nothing: what was there is kept aside until everything is in its place. */

#include <fcntl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/import.h"
#include "ctl/own-file.h"

#define BACKUP_SUFFIX ".bak"

typedef struct Transaction {
        Ctl *ctl;
        const ImportRun *run;
        int dir_fd;
        size_t n_done; /* items that are written */
} Transaction;

static char *backup_name(const char *name) {
        return strformat("%s" BACKUP_SUFFIX, name);
}

static int write_item(Transaction *t, const ImportItem *item) {
        mode_t mode = item->text.holds_values ? 0600 : 0644;
        _cleanup_free_ char *backup = NULL;

        if (!item->replace)
                return file_write_atomic_at(
                                t->dir_fd, item->file_name, mode, item->text.text, item->text.size);
        backup = backup_name(item->file_name);
        if (!backup)
                return -ENOMEM;
        if (unlinkat(t->dir_fd, backup, 0) < 0 && errno != ENOENT)
                return -errno;
        if (linkat(t->dir_fd, item->file_name, t->dir_fd, backup, 0) < 0)
                return -errno;
        return file_write_atomic_at(t->dir_fd, item->file_name, mode, item->text.text, item->text.size);
}

static int take_back(Transaction *t) {
        int r = 0;

        for (size_t i = 0; i < t->n_done; i++) {
                const ImportItem *item = t->run->items + i;
                _cleanup_free_ char *backup = NULL;

                if (!item->write)
                        continue;
                backup = backup_name(item->file_name);
                if (!backup)
                        return -ENOMEM;
                if (item->replace ? renameat(t->dir_fd, backup, t->dir_fd, item->file_name) < 0
                                  : unlinkat(t->dir_fd, item->file_name, 0) < 0)
                        r = -errno;
        }
        return r;
}

/* Gives the file that was written the owner and mode of the one that it follows. */
static int keep_owner(int dir_fd, const char *name, const struct stat *st) {
        _cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        struct stat now;

        if (fd < 0 || fstat(fd, &now) < 0)
                return -errno;
        if ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) && fchown(fd, st->st_uid, st->st_gid) < 0)
                return -errno;
        return RET_NERRNO(fchmod(fd, st->st_mode & 07777));
}

/* The client's file: a copy beside it first, with the same owner and mode, since it may hold secrets. */
static int write_client_file(const ImportRun *run) {
        _cleanup_free_ char *dir = NULL;
        _cleanup_close_ int dir_fd = -EBADF;
        const char *name = path_basename(run->file);
        struct stat st;
        int r;

        dir = strndup(run->file, (size_t) (name - run->file));
        if (!dir)
                return -ENOMEM;
        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0 || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        r = file_write_atomic_at(
                        dir_fd, path_basename(run->backup), 0600, run->import.text, run->import.size);
        if (r >= 0)
                r = keep_owner(dir_fd, path_basename(run->backup), &st);
        if (r >= 0)
                r = file_write_atomic_at(dir_fd, name, 0600, run->rewritten, strlen(run->rewritten));
        return r < 0 ? r : keep_owner(dir_fd, name, &st);
}

static int fail_write(Transaction *t, const char *path, int error) {
        _cleanup_free_ char *remedy = NULL;
        int r = take_back(t);

        if (r < 0)
                remedy = strformat(
                                "What was written before could not be taken back (%s): look into %s.",
                                STRERROR(r),
                                t->run->dir);
        else if ((error == -EACCES || error == -EPERM) && t->ctl->scope == RUNTIME_SCOPE_SYSTEM)
                remedy = strdup("Nothing is changed. Run it as root, or with --user.");
        else
                remedy = strdup("Nothing is changed.");
        if (!remedy)
                return -ENOMEM;
        return ctl_fail(t->ctl,
                        CTL_FAILED,
                        "MCP-X-WRITE",
                        remedy,
                        "%s cannot be written: %s.",
                        path,
                        STRERROR(error));
}

int import_write(Ctl *ctl, const ImportRun *run) {
        Transaction t = { .ctl = ctl, .run = run };
        _cleanup_close_ int dir_fd = -EBADF;
        int r;

        r = ctl_check_home(ctl);
        if (r != 0)
                return r;
        if (import_run_count(run) > 0) {
                r = mkdir_parents(run->dir, 0755);
                if (r >= 0)
                        r = dir_fd = RET_NERRNO(open(run->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
                if (r < 0)
                        return fail_write(&t, run->dir, r);
                t.dir_fd = dir_fd;
        }
        for (; t.n_done < run->n_items; t.n_done++) {
                const ImportItem *item = run->items + t.n_done;

                r = item->write ? write_item(&t, item) : 0;
                if (r < 0)
                        return fail_write(&t, item->path, r);
        }
        if (run->rewritten) {
                r = write_client_file(run);
                if (r < 0)
                        return fail_write(&t, run->file, r);
        }
        return 0;
}
