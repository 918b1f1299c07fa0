/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files outside: every way to write, create, remove, move, read and run them. */

#include <dirent.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "escape.h"

/* ---- writing ---- */

static int open_outside(const World *w, const char *name, int flags) {
        return outcome(open(outside(w, name), flags | O_CLOEXEC, 0600));
}

static int write_outside(const World *w, const char *name) {
        return open_outside(w, name, O_WRONLY);
}

static int create_outside(const World *w, const char *name) {
        return open_outside(w, name, O_WRONLY | O_CREAT | O_EXCL);
}

static int truncate_by_path(const World *w, const char *name) {
        return outcome(truncate(outside(w, name), 0));
}

static int truncate_read_only(const World *w, const char *name) {
        return open_outside(w, name, O_RDONLY | O_TRUNC);
}

static int tmpfile_outside(const World *w, const char *name) {
        return outcome(open(w->outside, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

static int write_by_dotdot(const World *w, const char *name) {
        int dir = open(w->inside, O_PATH | O_DIRECTORY | O_CLOEXEC);

        return dir < 0 ? BROKEN : outcome(openat(dir, name, O_WRONLY | O_CLOEXEC));
}

/* A directory outside that the client handed over as standard input. */
static int write_at_stdin(const World *w, const char *name) {
        int r = outcome(openat(STDIN_FILENO, name, O_WRONLY | O_CLOEXEC));

        return r == ENOTDIR ? CANNOT_TRY : r;
}

static int write_from_there(const World *w, const char *name) {
        return chdir(w->outside) < 0 ? BROKEN : outcome(open(name, O_WRONLY | O_CLOEXEC));
}

static int write_in_new_root(const World *w, const char *name) {
        return chroot(w->outside) < 0 ? errno : outcome(open(name, O_WRONLY | O_CLOEXEC));
}

static int write_through_symlink(const World *w, const char *name) {
        const char *ln = inside(w, "symlink-trick");

        if (symlink(outside(w, name), ln) < 0)
                return BROKEN;
        return outcome(open(ln, O_WRONLY | O_CLOEXEC));
}

/* What was opened for reading, or for nothing at all, is opened again for more. */
static int reopen(const World *w, const char *name, int first, int again) {
        int fd = open(outside(w, name), first | O_CLOEXEC);
        char path[64];

        if (fd < 0)
                return errno;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return outcome(open(path, again | O_CLOEXEC));
}

static int reopen_for_writing(const World *w, const char *name) {
        return reopen(w, name, O_RDONLY, O_WRONLY);
}

static int reopen_path_for_writing(const World *w, const char *name) {
        return reopen(w, name, O_PATH, O_RDWR);
}

static int reopen_path_for_reading(const World *w, const char *name) {
        return reopen(w, name, O_PATH, O_RDONLY);
}

/* A program without a file, run by its descriptor: it is still inside. */
static int write_from_memfd(const World *w, const char *name) {
        char argument[4200], *argv[] = { (char *) "escape", argument, NULL };
        int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), copy = memfd_create("copy", 0);
        char path[64];
        ssize_t n;

        if (self < 0 || copy < 0)
                return BROKEN;
        while ((n = sendfile(copy, self, NULL, 1 << 20)) > 0)
                ;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
        snprintf(argument, sizeof(argument), "--write=%s", outside(w, name));
        return n < 0 ? BROKEN : run_program(path, argv);
}

/* ---- creating, removing, moving ---- */

static int mkdir_outside(const World *w, const char *name) {
        return outcome(mkdir(outside(w, name), 0700));
}

static int rmdir_outside(const World *w, const char *name) {
        return outcome(rmdir(outside(w, name)));
}

static int unlink_outside(const World *w, const char *name) {
        return outcome(unlink(outside(w, name)));
}

static int symlink_outside(const World *w, const char *name) {
        return outcome(symlink("/etc/passwd", outside(w, name)));
}

static int mkfifo_outside(const World *w, const char *name) {
        return outcome(mkfifo(outside(w, name), 0600));
}

static int mksocket_outside(const World *w, const char *name) {
        return outcome(mknod(outside(w, name), S_IFSOCK | 0600, 0));
}

/* The one device that needs no privilege: it hides a file of a lower layer. */
static int mkwhiteout_outside(const World *w, const char *name) {
        return outcome(mknod(outside(w, name), S_IFCHR, 0));
}

static int rename_out(const World *w, const char *name) {
        if (write_file(inside(w, name), "x") != 0)
                return BROKEN;
        return outcome(rename(inside(w, name), outside(w, name)));
}

static int rename_in(const World *w, const char *name) {
        return outcome(rename(outside(w, name), inside(w, name)));
}

static int rename_outside(const World *w, const char *name) {
        return outcome(rename(outside(w, name), outside(w, "renamed")));
}

static int exchange(const World *w, const char *name) {
        if (write_file(inside(w, "exchanged"), "x") != 0)
                return BROKEN;
        return outcome(renameat2(
                        AT_FDCWD, inside(w, "exchanged"), AT_FDCWD, outside(w, name), RENAME_EXCHANGE));
}

static int rename_with_whiteout(const World *w, const char *name) {
        return outcome(renameat2(
                        AT_FDCWD, outside(w, name), AT_FDCWD, outside(w, "whited-out"), RENAME_WHITEOUT));
}

static int link_out(const World *w, const char *name) {
        if (write_file(inside(w, name), "x") != 0)
                return BROKEN;
        return outcome(link(inside(w, name), outside(w, name)));
}

static int link_in(const World *w, const char *name) {
        return outcome(link(outside(w, name), inside(w, "stolen")));
}

static int link_in_by_fd(const World *w, const char *name) {
        int fd = open(outside(w, name), O_PATH | O_CLOEXEC);
        char path[64];

        if (fd < 0)
                return BROKEN;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return outcome(linkat(AT_FDCWD, path, AT_FDCWD, inside(w, "stolen-by-fd"), AT_SYMLINK_FOLLOW));
}

/* ---- planting what runs later, outside ---- */

static int create_at_home(const World *w, const char *name) {
        return outcome(open(at_home(w, name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

static int open_for_writing(const World *w, const char *path) {
        return outcome(open(path, O_WRONLY | O_CLOEXEC));
}

/* ---- reading and running ---- */

static int read_outside(const World *w, const char *name) {
        return open_outside(w, name, O_RDONLY);
}

static int list_outside(const World *w, const char *name) {
        DIR *d = opendir(w->outside);

        return d ? outcome(closedir(d)) : errno;
}

static int read_at_home(const World *w, const char *name) {
        return outcome(open(at_home(w, name), O_RDONLY | O_CLOEXEC));
}

static int exec_outside(const World *w, const char *name) {
        char *argv[] = { (char *) name, NULL };

        return run_program(outside(w, name), argv);
}

static int load_outside(const World *w, const char *name) {
        static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1" };
        const char *loader = NULL;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(loaders) && !loader; i++)
                if (access(loaders[i], X_OK) == 0)
                        loader = loaders[i];
        if (!loader)
                return CANNOT_TRY;
        r = run_program(loader, (char *[]){ (char *) "ld.so", (char *) outside(w, name), NULL });
        return r == 0 ? 0 : EACCES;
}

/* A terminal that is not the server's own: its ioctls are the device's. */
static int ioctl_on_terminal(const World *w, const char *path) {
        struct winsize size;
        int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);

        return fd < 0 ? errno : outcome(ioctl(fd, TIOCGWINSZ, &size));
}

/* What is typed into it would be ours to read. */
static int read_terminal(const World *w, const char *name) {
        return outcome(open(w->terminal, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

static int write_terminal(const World *w, const char *name) {
        return outcome(open(w->terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

static int list_devices(const World *w, const char *path) {
        DIR *d = opendir(path);

        return d ? outcome(closedir(d)) : errno;
}

static int open_by_handle(const World *w, const char *name) {
        struct {
                struct file_handle h;
                unsigned char bytes[MAX_HANDLE_SZ];
        } f = { .h.handle_bytes = MAX_HANDLE_SZ };
        int dir = open(w->inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC), mount_id;

        if (dir < 0)
                return BROKEN;
        if (name_to_handle_at(AT_FDCWD, outside(w, name), &f.h, &mount_id, 0) < 0)
                return errno == EOPNOTSUPP ? CANNOT_TRY : errno;
        return outcome(open_by_handle_at(dir, &f.h, O_RDONLY | O_CLOEXEC));
}

/* ---- what Landlock does not mediate ---- */

static int chmod_outside(const World *w, const char *name) {
        return outcome(chmod(outside(w, name), 0640));
}

static int touch_outside(const World *w, const char *name) {
        return outcome(utimensat(AT_FDCWD, outside(w, name), NULL, 0));
}

static int setxattr_outside(const World *w, const char *name) {
        int r = outcome(setxattr(outside(w, name), "user.escape", "x", 1, 0));

        return r == EOPNOTSUPP ? CANNOT_TRY : r;
}

static int stat_outside(const World *w, const char *name) {
        struct stat st;

        return outcome(stat(outside(w, name), &st));
}

static int watch_outside(const World *w, const char *name) {
        int fd = inotify_init1(IN_CLOEXEC);

        return fd < 0 ? BROKEN : outcome(inotify_add_watch(fd, w->outside, IN_CREATE));
}

static int mark_outside(const World *w, const char *name) {
        int fd = fanotify_init(FAN_CLOEXEC | FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY), r;

        r = fd < 0 ? errno
                   : outcome(fanotify_mark(fd, FAN_MARK_ADD, FAN_CREATE | FAN_ONDIR, AT_FDCWD, w->outside));
        return r == ENOSYS || r == EPERM ? CANNOT_TRY : r;
}

#define ATTRIBUTES "no Landlock ABI mediates a file's attributes"
#define PLANT(path)                                              \
        {                                                        \
                "plant " path, create_at_home, path, WRITE_RIGHT \
        }

const Attempt file_attempts[] = {
        { "write", write_outside, "write", WRITE_RIGHT },
        { "create", create_outside, "create", WRITE_RIGHT },
        { "truncate by path", truncate_by_path, "truncate", LANDLOCK(3) },
        { "truncate by O_RDONLY|O_TRUNC", truncate_read_only, "open-trunc", USE_RIGHT(3) },
        { "O_TMPFILE", tmpfile_outside, NULL, WRITE_RIGHT },
        { "write behind ..", write_by_dotdot, "../outside/write", WRITE_RIGHT },
        { "write below standard input", write_at_stdin, "write", WRITE_RIGHT },
        { "write from outside", write_from_there, "write", WRITE_RIGHT },
        { "write in another root", write_in_new_root, "/write", ALWAYS, LOOSE },
        { "write through a symlink", write_through_symlink, "write", WRITE_RIGHT },
        { "re-open a read-only descriptor", reopen_for_writing, "write", WRITE_RIGHT },
        { "re-open an O_PATH descriptor", reopen_path_for_writing, "write", WRITE_RIGHT },
        { "write from a memfd program", write_from_memfd, "write", WRITE_RIGHT },
        { "mkdir", mkdir_outside, "mkdir", WRITE_RIGHT },
        { "rmdir", rmdir_outside, "rmdir", WRITE_RIGHT },
        { "unlink", unlink_outside, "unlink", WRITE_RIGHT },
        { "symlink", symlink_outside, "symlink", WRITE_RIGHT },
        { "mkfifo", mkfifo_outside, "mkfifo", WRITE_RIGHT },
        { "mknod of a socket", mksocket_outside, "mksocket", WRITE_RIGHT },
        { "mknod of a whiteout", mkwhiteout_outside, "whiteout", WRITE_RIGHT, LOOSE },
        { "rename with a whiteout", rename_with_whiteout, "write", WRITE_RIGHT, LOOSE },
        { "rename within outside", rename_outside, "rename", WRITE_RIGHT },
        { "rename to outside", rename_out, "rename-out", WRITE_RIGHT },
        { "rename from outside", rename_in, "rename-in", WRITE_RIGHT },
        { "exchange", exchange, "exchange", WRITE_RIGHT },
        { "hard link to outside", link_out, "link-out", WRITE_RIGHT },
        { "hard link from outside", link_in, "link-in", WRITE_RIGHT },
        { "hard link from a descriptor", link_in_by_fd, "link-in", WRITE_RIGHT },

        PLANT(".config/systemd/user/escape.service"),
        PLANT(".local/share/systemd/user/escape.service"),
        PLANT(".local/share/dbus-1/services/org.escape.service"),
        PLANT(".config/environment.d/escape.conf"),
        PLANT(".config/autostart/escape.desktop"),
        PLANT(".config/mcp/servers.d/escape.json"),
        PLANT(".local/bin/npx"),
        PLANT(".ssh/authorized_keys"),
        PLANT(".bashrc"),
        PLANT(".profile"),
        PLANT(".gitconfig"),
        PLANT(".run/systemd/user/escape.service"),
        PLANT(".bash_profile"),
        PLANT(".zshenv"),
        PLANT(".pam_environment"),
        PLANT(".npmrc"),
        PLANT(".claude.json"),
        PLANT(".config/fish/conf.d/escape.fish"),
        PLANT(".config/containers/systemd/escape.container"),
        PLANT(".config/user-tmpfiles.d/escape.conf"),
        PLANT(".config/pip/pip.conf"),
        PLANT(".config/git/config"),
        PLANT(".config/dconf/user"),
        PLANT(".config/Code/User/settings.json"),
        PLANT(".local/lib/python3/site-packages/escape.pth"),
        PLANT(".local/share/applications/escape.desktop"),
        PLANT(".local/share/nautilus/scripts/escape"),
        PLANT(".mozilla/native-messaging-hosts/escape.json"),
        { "/etc/passwd", open_for_writing, "/etc/passwd", WRITE_RIGHT, LOOSE },
        { "core_pattern", open_for_writing, "/proc/sys/kernel/core_pattern", WRITE_RIGHT, LOOSE },
        { "crontab", open_for_writing, "/var/spool/cron/crontabs/root", WRITE_RIGHT, LOOSE },
        { "ld.so.preload", open_for_writing, "/etc/ld.so.preload", WRITE_RIGHT, LOOSE },
        { "sysrq-trigger", open_for_writing, "/proc/sysrq-trigger", WRITE_RIGHT, LOOSE },
        { "cgroup.procs", open_for_writing, "/sys/fs/cgroup/cgroup.procs", WRITE_RIGHT, LOOSE },
        { "uevent_helper", open_for_writing, "/sys/kernel/uevent_helper", WRITE_RIGHT, LOOSE },

        { "read", read_outside, "secret", READ_RIGHT },
        { "read by an O_PATH descriptor", reopen_path_for_reading, "secret", READ_RIGHT },
        { "read a private key", read_at_home, ".ssh/id_ed25519", READ_RIGHT },
        { "list", list_outside, NULL, READ_RIGHT },
        { "execute", exec_outside, "tool", READ_RIGHT },
        { "execute by the loader", load_outside, "tool", READ_RIGHT },
        { "read another terminal", read_terminal, NULL, LANDLOCK(1) },
        { "write to another terminal", write_terminal, NULL, WRITE_RIGHT },
        { "list the terminals", list_devices, "/dev/pts", READ_RIGHT },
        { "open by file handle", open_by_handle, "secret", ALWAYS, LOOSE },
        { "ioctl on a terminal device", ioctl_on_terminal, "/dev/ptmx", LANDLOCK(1), LOOSE },

        { "chmod", chmod_outside, "attributes", NEVER, .known = ATTRIBUTES },
        { "touch", touch_outside, "attributes", NEVER, .known = ATTRIBUTES },
        { "setxattr", setxattr_outside, "attributes", NEVER, .known = ATTRIBUTES },
        { "stat", stat_outside, "attributes", NEVER, .known = ATTRIBUTES },
        { "fanotify", mark_outside, NULL, NEVER, .known = "no Landlock ABI mediates fanotify" },
        { "inotify", watch_outside, NULL, NEVER, .known = "no Landlock ABI mediates inotify" },
        {},
};
