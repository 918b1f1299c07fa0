/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/plan-internal.h"
#include "plan/plan-load.h"

static void add_at_path_key(
                ProblemList *problems,
                const Definition *d,
                const char *code,
                const char *remedy,
                char *message) {
        _cleanup_free_ char *owned = message;

        if (!owned) {
                problems->failed = true;
                return;
        }
        problem_add(problems,
                    PROBLEM_ERROR,
                    code,
                    d->file,
                    d->isolation.manifest_path.at,
                    remedy,
                    "%s",
                    owned);
}

/* Whoever may write the manifest decides what the server may do. */
static int check_trust(
                int fd,
                const char *path,
                const Definition *d,
                const HostFacts *host,
                ProblemList *problems) {
        struct stat st;

        if (!host->managed)
                return 0;
        if (fstat(fd, &st) < 0)
                return -errno;
        if ((st.st_uid == 0 || (host->scope == RUNTIME_SCOPE_USER && st.st_uid == host->uid)) &&
            (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
                return 0;
        add_at_path_key(problems,
                        d,
                        "MCP-M-NOT-TRUSTED",
                        host->scope == RUNTIME_SCOPE_SYSTEM
                                        ? "It has to be owned by root and writable by root alone."
                                        : "It has to be owned by you or root and writable by its owner "
                                          "alone.",
                        strformat("The manifest %s is owned by uid %u with mode %04o.",
                                  path,
                                  st.st_uid,
                                  st.st_mode & 07777));
        return -EINVAL;
}

static int read_manifest_file(
                const char *path,
                const Definition *d,
                const HostFacts *host,
                char **ret,
                size_t *ret_size,
                ProblemList *problems) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        int r;

        r = fd < 0 ? -errno : check_trust(fd, path, d, host, problems);
        if (r == -EINVAL)
                return r;
        if (r >= 0)
                r = fd_read_all(fd, JSON_SIZE_MAX, ret, ret_size);
        if (r >= 0 || r == -ENOMEM)
                return r;
        if (r == -EFBIG)
                add_at_path_key(problems,
                                d,
                                "MCP-M-LIMIT",
                                "Make it smaller: one server needs no such manifest.",
                                strformat("The manifest %s is larger than %u bytes, the most that is read.",
                                          path,
                                          JSON_SIZE_MAX));
        else {
                problem_note_errno(problems, r);
                add_at_path_key(problems,
                                d,
                                "MCP-M-UNREADABLE",
                                d->entry ? "Name a file that is there, relative to the definition's "
                                           "directory."
                                         : "Name a file that is there.",
                                strformat("The manifest %s cannot be read: %s.", path, STRERROR(r)));
        }
        return -EINVAL;
}

static int expand_path(
                const Text *text,
                const Definition *d,
                const HostFacts *host,
                char **ret,
                ProblemList *problems) {
        const PlanContext c = { .d = d, .host = host, .problems = problems };

        return plan_expand(&c, text, true, ret);
}

static int manifest_file_path(
                const Definition *d, const HostFacts *host, char **ret, ProblemList *problems) {
        _cleanup_free_ char *expanded = NULL, *directory = NULL;
        int r;

        r = expand_path(&d->isolation.manifest_path, d, host, &expanded, problems);
        if (r < 0)
                return r;
        directory = strndup(d->file, (size_t) (path_basename(d->file) - d->file));
        if (!directory)
                return -ENOMEM;
        *ret = path_join(*directory ? directory : ".", expanded);
        return *ret ? 0 : -ENOMEM;
}

static int load_manifest(
                const Definition *d,
                const HostFacts *host,
                char *const *env,
                ManifestGrants **ret,
                ProblemList *problems) {
        _cleanup_free_ char *working_dir = NULL, *path = NULL, *text = NULL;
        ManifestContext context = { .file = d->file, .env = env, .uid = host->uid };
        size_t size = 0;
        int r;

        if (d->working_dir.value) {
                r = expand_path(&d->working_dir, d, host, &working_dir, problems);
                if (r < 0)
                        return r;
        }
        context.working_dir = working_dir ?: host->state_dir;
        if (d->isolation.manifest)
                return manifest_read(d->isolation.manifest, &context, ret, problems);

        r = manifest_file_path(d, host, &path, problems);
        if (r < 0)
                return r;
        r = read_manifest_file(path, d, host, &text, &size, problems);
        if (r < 0)
                return r;
        context.file = path;
        return manifest_read_text(text, size, &context, ret, problems);
}

/* The manifest is refused already. Its grants may name what is not there, and the definition may be wrong as well: a plan
 * is made of what is sound, for its problems alone. */
static int find_more_problems(
                const Definition *d,
                const GlobalIsolation *global,
                const ManifestGrants *manifest,
                const HostFacts *host,
                ProblemList *problems) {
        _cleanup_plan_ Plan *dropped = NULL;
        int r = plan_make(d, global, manifest, host, &dropped, problems);

        return r == -ENOMEM ? r : -EINVAL;
}

int plan_load(const Definition *d,
              const GlobalIsolation *global,
              const HostFacts *host,
              Plan **ret,
              ProblemList *problems) {
        _cleanup_manifest_ ManifestGrants *manifest = NULL;
        _cleanup_problems_ ProblemList env_problems = {};
        _cleanup_strv_free_ char **env = NULL;
        int r;

        if (d->isolation.manifest || d->isolation.manifest_path.value) {
                r = plan_server_env(d, host, &env, &env_problems);
                if (r < 0)
                        return r;
                r = load_manifest(d, host, env, &manifest, problems);
                if (r == -EINVAL && manifest)
                        return find_more_problems(d, global, manifest, host, problems);
                if (r < 0) {
                        /* plan_make(), which would say them again, is not reached. */
                        problem_list_take(problems, &env_problems);
                        return r;
                }
        }
        return plan_make(d, global, manifest, host, ret, problems);
}

int plan_check_manifest(const Definition *d, const HostFacts *host, ProblemList *problems) {
        _cleanup_manifest_ ManifestGrants *manifest = NULL;
        _cleanup_problems_ ProblemList env_problems = {};
        _cleanup_strv_free_ char **env = NULL;
        int r;

        if (!d->isolation.manifest && !d->isolation.manifest_path.value)
                return 0;
        r = plan_server_env(d, host, &env, &env_problems);
        if (r >= 0)
                r = load_manifest(d, host, env, &manifest, problems);
        return r == -ENOMEM ? r : 0;
}
