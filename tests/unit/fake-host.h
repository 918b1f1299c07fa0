/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A made-up host for tests of the plan: a file system that is a table, a person called "ada", a kernel of any ABI. */

#include <sys/stat.h>

#include "basic/path-util.h"
#include "plan/plan.h"
#include "sandbox/landlock-rights.h"
#include "test.h"

typedef struct FakeFile {
        const char *path;
        const char *link; /* where it leads, absolute; NULL: no link */
        mode_t mode;      /* 0: a directory that all may enter */
        const char *content;
} FakeFile;

static const FakeFile *fake_files; /* ends with path NULL */

static const FakeFile *fake_find(const char *path) {
        for (const FakeFile *f = fake_files; f->path; f++)
                if (path_equal(f->path, path))
                        return f;
        return NULL;
}

/* Follows links of every component, as a kernel does; a directory is there where something below it is. */
static int fake_walk(const char *path, unsigned depth, char **ret, const FakeFile **ret_file) {
        _cleanup_free_ char *at = strdup("");
        const char *s = path;

        if (depth > 8)
                return -ELOOP;
        for (;;) {
                _cleanup_free_ char *next = NULL;
                const FakeFile *f;
                size_t n;

                s += strspn(s, "/");
                n = strcspn(s, "/");
                if (n == 0)
                        break;
                next = strformat("%s/%.*s", at, (int) n, s);
                s += n;
                f = fake_find(next);
                if (f && f->link) {
                        _cleanup_free_ char *target = path_join(f->link, *s ? s + 1 : "");

                        if (*s)
                                return fake_walk(target, depth + 1, ret, ret_file);
                        return fake_walk(f->link, depth + 1, ret, ret_file);
                }
                if (!f) {
                        bool implied = false;

                        for (const FakeFile *below = fake_files; below->path; below++)
                                implied = implied || path_startswith(below->path, next);
                        if (!implied)
                                return -ENOENT;
                }
                free(at);
                at = TAKE_PTR(next);
        }
        *ret_file = fake_find(*at ? at : "/");
        *ret = strdup(*at ? at : "/");
        return 0;
}

static int fake_resolve(void *userdata, const char *path, PathFacts *ret) {
        const FakeFile *file = NULL;
        PathFacts facts = { .uid = 1000, .gid = 1000 };
        int r;

        r = fake_walk(path, 0, &facts.resolved, &file);
        if (r < 0)
                return r;
        facts.mode = file && file->mode ? file->mode : S_IFDIR | 0755;
        if (facts.mode == (S_IFDIR | 0111) || endswith(path, "/denied")) {
                free(facts.resolved);
                return -EACCES;
        }
        if (path_startswith(facts.resolved, "/srv/ninep"))
                facts.fs_magic = 0x01021997;
        if (path_startswith(facts.resolved, "/srv/fuse"))
                facts.fs_magic = 0x65735546;
        facts.read_only = path_startswith(facts.resolved, "/srv/read-only");
        *ret = facts;
        return 0;
}

static ssize_t fake_read_head(void *userdata, const char *path, char *buffer, size_t size) {
        _cleanup_free_ char *resolved = NULL;
        const FakeFile *file = NULL;
        size_t n;
        int r;

        r = fake_walk(path, 0, &resolved, &file);
        if (r < 0)
                return r;
        if (!file || !S_ISREG(file->mode))
                return -EISDIR;
        n = MIN(strlen(strempty(file->content)), size);
        memcpy(buffer, strempty(file->content), n);
        return (ssize_t) n;
}

static char *fake_env[] = {
        (char *) "PATH=/usr/bin:relative:/bin",
        (char *) "LANG=C.UTF-8",
        (char *) "HOME=/home/ada",
        (char *) "SSH_AUTH_SOCK=/run/user/1000/ssh",
        (char *) "DOCKER_HOST=unix:///var/run/docker.sock",
        (char *) "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
        (char *) "XDG_RUNTIME_DIR=/run/user/1000",
        (char *) "XDG_CONFIG_HOME=/home/ada/.config",
        (char *) "API_KEY=secret",
        (char *) "LC_TIME=() { :; }; echo x",
        (char *) "NOTIFY_SOCKET=/run/x",
        NULL,
};

static HostFacts fake_host(int abi) {
        return (HostFacts) {
                .scope = RUNTIME_SCOPE_USER,
                .managed = true,
                .landlock = {
                        .abi = abi,
                        .kernel_abi = abi,
                        .unavailable = abi == 0 ? ENOSYS : 0,
                        .handled_fs = landlock_rights_mask(LANDLOCK_FIELD_FS, abi),
                        .handled_net = landlock_rights_mask(LANDLOCK_FIELD_NET, abi),
                        .scoped = landlock_rights_mask(LANDLOCK_FIELD_SCOPE, abi),
                },
                .seccomp = true,
                .cgroup_memory = true,
                .cgroup_pids = true,
                .cgroup_cpu = true,
                .uid = 1000,
                .gid = 1000,
                .user_name = "ada",
                .home = "/home/ada",
                .state_dir = "/home/ada/.local/state/mcp/test",
                .tmp_dir = "/tmp",
                .runtime_dir = "/run/user/1000",
                .env = fake_env,
                .resolve = fake_resolve,
                .read_head = fake_read_head,
        };
}

/* The tree that most tests look at. */
static const FakeFile usual_files[] = {
        { "/", NULL, 0, NULL },
        { "/tmp", NULL, S_IFDIR | 01777, NULL },
        { "/dev/null", NULL, S_IFCHR | 0666, NULL },
        { "/dev/shm", NULL, S_IFDIR | 01777, NULL },
        { "/dev/ptmx", NULL, S_IFCHR | 0666, NULL },
        { "/etc/systemd/system", NULL, 0, NULL },
        { "/etc/passwd", NULL, S_IFREG | 0644, NULL },
        { "/proc", NULL, 0, NULL },
        { "/run/user/1000/bus", NULL, S_IFSOCK | 0600, NULL },
        { "/run/user/1000/db.sock", NULL, S_IFSOCK | 0600, NULL },
        { "/snap/bin/uvx", "/usr/bin/snap", 0, NULL },
        { "/usr/bin/snap", NULL, S_IFREG | 0755, "\177ELF" },
        { "/usr/bin/true", NULL, S_IFREG | 0755, "\177ELF" },
        { "/usr/bin/env", NULL, S_IFREG | 0755, "\177ELF" },
        { "/usr/bin/node", NULL, S_IFREG | 0755, "\177ELF" },
        { "/usr/bin/npx", "/usr/lib/node_modules/npm/bin/npx-cli.js", 0, NULL },
        { "/usr/lib/node_modules/npm/bin/npx-cli.js", NULL, S_IFREG | 0755, "#!/usr/bin/env node\n" },
        { "/usr/bin/plain-text", NULL, S_IFREG | 0644, "text" },
        { "/usr/bin/directory", NULL, S_IFDIR | 0755, NULL },
        { "/srv/project", NULL, 0, NULL },
        { "/srv/project/data", NULL, 0, NULL },
        { "/srv/project/file", NULL, S_IFREG | 0644, "x" },
        { "/srv/project/run.sh", NULL, S_IFREG | 0755, "#!/srv/missing/interpreter -x\n" },
        { "/srv/project/dos.sh", NULL, S_IFREG | 0755, "#!/usr/bin/true\r\n" },
        { "/srv/project/dos-env.sh", NULL, S_IFREG | 0755, "#!/usr/bin/env node\r\n" },
        { "/srv/project/dos-option.sh", NULL, S_IFREG | 0755, "#!/usr/bin/true -w\r\n" },
        { "/srv/project/env.list",
          NULL,
          S_IFREG | 0600,
          "# comment\n\nA=1\nexport B = two words # note\nC='single $x \\n'\nD=\"line\\nnext "
          "\\\"q\\\"\"\nE=\nA=again\n" },
        { "/srv/project/env.bad",
          NULL,
          S_IFREG | 0600,
          "OK=1\nno assignment\nX=\"open\n1BAD=x\nSECRET TOKEN=hunter2\n" },
        { "/srv/ninep", NULL, 0, NULL },
        { "/srv/fuse", NULL, 0, NULL },
        { "/srv/read-only", NULL, 0, NULL },
        { "/srv/loop", "/srv/loop", 0, NULL },
        { "/srv/dangling", "/srv/nowhere", 0, NULL },
        { "/srv/closed", NULL, S_IFDIR | 0600, NULL },
        { "/srv/up/denied", NULL, 0, NULL },
        { "/srv/to-ssh", "/home/ada/.ssh", 0, NULL },
        { "/home/ada/.ssh", NULL, 0, NULL },
        { "/home/ada/.bashrc", NULL, S_IFREG | 0644, NULL },
        { "/home/ada/.config/systemd/user", NULL, 0, NULL },
        { "/home/ada/.config/containers/systemd", NULL, 0, NULL },
        { "/home/ada/dotfiles/autostart", NULL, 0, NULL },
        { "/home/ada/.config/autostart", "/home/ada/dotfiles/autostart", 0, NULL },
        { "/home/ada/.npm", NULL, 0, NULL },
        { "/home/ada/notes", NULL, 0, NULL },
        { "/home/ada/.local/state/mcp/test", NULL, 0, NULL },
        { "/home/ada/.local/bin/shim", "/home/ada/.local/share/uv/tools/shim/bin/shim", 0, NULL },
        { "/home/ada/.local/share/uv/tools/shim/bin/shim",
          NULL,
          S_IFREG | 0755,
          "#!/home/ada/.local/share/uv/tools/shim/bin/python\n" },
        { "/home/ada/.local/share/uv/tools/shim/bin/python",
          "/home/ada/.local/share/uv/python/cpython-3.12/bin/python3.12",
          0,
          NULL },
        { "/home/ada/.local/share/uv/python/cpython-3.12/bin/python3.12", NULL, S_IFREG | 0755, "\177ELF" },
        { "/home/ada/.nvm/alias/default", NULL, S_IFREG | 0644, "v20.1.0\n" },
        { "/home/ada/.nvm/versions/node/v20.1.0/bin/only-in-nvm", NULL, S_IFREG | 0755, "\177ELF" },
        {},
};
