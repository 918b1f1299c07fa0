/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "manager/cgroup.h"
#include "manager/lost-scope.h"
#include "manager/manager.h"

#define SLICE       "/mcp.slice"
#define MEMBERS_MAX (1024U * 1024U) /* bytes of cgroup.procs */
#define DEPTH_MAX   16U
#define KILL_PASSES 8U

static DIR *dir_close(DIR *d) {
        if (d)
                (void) closedir(d);
        return NULL;
}
DEFINE_TRIVIAL_CLEANUP_FUNC(DIR *, dir_close);

bool transient_unit_is_gone(RuntimeScope scope, const char *unit) {
        const char *runtime = scope == RUNTIME_SCOPE_SYSTEM ? "/run" : getenv("XDG_RUNTIME_DIR");
        _cleanup_free_ char *directory = NULL, *file = NULL;

        if (isempty(runtime))
                return false;
        directory = strformat("%s/systemd/transient", runtime);
        file = directory ? strformat("%s/%s", directory, unit) : NULL;
        return file && access(file, F_OK) < 0 && errno == ENOENT && access(directory, F_OK) >= 0;
}

static DIR *open_subdirectory(int dir_fd, const char *name) {
        int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);

        if (!d)
                (void) safe_close(fd);
        return d;
}

/* Is it still there? Its number may be another process's by now; what the descriptor stands for cannot change. */
static bool kill_member(const char *cgroup, pid_t pid) {
        _cleanup_close_ int pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
        _cleanup_free_ char *found = NULL;
        const char *rest;

        if (pidfd < 0 || cgroup_of_pid(pid, &found) < 0)
                return false;
        rest = startswith(found, cgroup);
        if (!rest || (*rest != 0 && *rest != '/'))
                return false;
        return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) >= 0;
}

static int kill_members(int dir_fd, const char *cgroup) {
        _cleanup_free_ char *text = NULL;
        int r, n = 0;

        r = file_read_at(dir_fd, "cgroup.procs", MEMBERS_MAX, &text, NULL);
        if (r < 0)
                return r;
        for (char *p = text, *end; *p; p = end) {
                long pid = strtol(p, &end, 10);

                if (end == p)
                        break;
                n += pid > 0 && kill_member(cgroup, (pid_t) pid);
                end += strspn(end, "\n");
        }
        return n;
}

static int kill_tree(DIR *d, const char *cgroup, unsigned depth) {
        int n = kill_members(dirfd(d), cgroup);

        if (n < 0 || depth >= DEPTH_MAX)
                return n;
        for (struct dirent *e; (e = readdir(d));) {
                _cleanup_(dir_closep) DIR *sub = NULL;
                int below;

                if (e->d_type != DT_DIR || e->d_name[0] == '.')
                        continue;
                sub = open_subdirectory(dirfd(d), e->d_name);
                below = sub ? kill_tree(sub, cgroup, depth + 1) : 0;
                n += MAX(below, 0);
        }
        return n;
}

int cgroup_kill_all(const char *cgroup) {
        int first = 0;

        for (unsigned pass = 0; pass < KILL_PASSES; pass++) {
                _cleanup_(dir_closep) DIR *d = NULL;
                int fd, n;

                fd = cgroup_open_group(cgroup);
                if (fd < 0)
                        return fd == -ENOENT || fd == -ENODEV ? first : fd;
                d = fdopendir(fd);
                if (!d) {
                        (void) safe_close(fd);
                        return -ENOMEM;
                }
                n = kill_tree(d, cgroup, 0);
                if (n == -ENODEV) /* removed meanwhile */
                        return first;
                if (n < 0)
                        return n;
                if (pass == 0)
                        first = n;
                if (n == 0)
                        return first;
        }
        return first;
}

int cgroup_list_scopes(const char *instance, char ***ret) {
        _cleanup_free_ char *own = NULL;
        _cleanup_strv_free_ char **list = NULL;
        _cleanup_(dir_closep) DIR *d = NULL;
        char *slice;
        int r, fd;

        r = cgroup_of_pid(getpid(), &own);
        if (r < 0)
                return r;
        slice = strstr(own, SLICE "/");
        if (!slice)
                return -ENOENT;
        slice[strlen(SLICE)] = 0;
        fd = cgroup_open_group(own);
        if (fd < 0)
                return fd;
        d = fdopendir(fd);
        if (!d) {
                (void) safe_close(fd);
                return -ENOMEM;
        }
        for (struct dirent *e; (e = readdir(d));) {
                if (e->d_type != DT_DIR || !scope_name_is_of(e->d_name, instance))
                        continue;
                r = strv_extendf(&list, "%s/%s", own, e->d_name);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(list);
        return 0;
}
