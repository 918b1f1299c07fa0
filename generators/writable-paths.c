/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "manifest/manifest.h"

#include "writable-paths.h"

#define STATE_DIR  "/var/lib/mcp"
#define CANNOT_SAY "a unit file cannot name it"

static void warn(const Definition *d, ProblemList *problems, const char *pointer, const char *what) {
        problem_add(problems,
                    PROBLEM_WARNING,
                    "MCP-G-READ-ONLY",
                    d->file,
                    NULL,
                    "Name it without \"..\" and control characters (and colons below /tmp), or add "
                    "ReadWritePaths= or "
                    "BindPaths= to the service.",
                    "The path at %s is not made writable: %s.",
                    strempty(pointer),
                    what);
}

static bool is_below(const char *path, const char *directory) {
        return path_startswith(path, directory) && !path_startswith(directory, path);
}

/* -EINVAL: a unit file cannot name it. */
static int add_path(UnitText *t, const char *path) {
        bool temporary = is_below(path, "/tmp") || is_below(path, "/var/tmp");

        /* PrivateTmp= hides what is below these; a colon would start the destination of BindPaths=. */
        if (temporary && strchr(path, ':'))
                return -EINVAL;
        return unit_text_quoted_path(t, temporary ? "BindPaths" : "ReadWritePaths", "-", path);
}

static void warn_of_text(const Definition *d, ProblemList *problems, const Text *t, const char *what) {
        _cleanup_free_ char *pointer = t->at ? json_pointer(t->at) : NULL;

        warn(d, problems, pointer, what);
}

/* What has references or starts with "~/" is below the server's own directory, or known to the supervisor only. */
static int add_text(UnitText *t, const Definition *d, const Text *path, ProblemList *problems) {
        int r;

        if (!path->value || !path_is_absolute(path->value) || strstr(path->value, "${"))
                return 0;
        r = add_path(t, path->value);
        if (r != -EINVAL)
                return r;
        warn_of_text(d, problems, path, CANNOT_SAY);
        return 0;
}

/* Where the manifest can be read: only what is there in early boot. NULL: not there. */
static char *manifest_file(const Definition *d, const char *root) {
        static const char *const places[] = { "/etc", "/run", "/usr" };
        const char *path = d->isolation.manifest_path.value;
        _cleanup_free_ char *directory = NULL;

        if (!path_is_absolute(path)) {
                directory = strndup(d->file, (size_t) (path_basename(d->file) - d->file));
                return directory ? path_join(directory, path) : NULL;
        }
        for (size_t i = 0; i < ELEMENTSOF(places); i++)
                if (path_startswith(path, places[i]) && !path_has_dotdot(path))
                        return strformat("%s%s", root, path);
        return NULL;
}

/* Anything else could make the generator, and with it the boot, wait. */
static int read_regular(const char *path, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        return S_ISREG(st.st_mode) ? fd_read_all(fd, JSON_SIZE_MAX, ret, ret_size) : -EINVAL;
}

/* The manifest's grants, as far as they are known here: a path with $UID is not. 0 without any where it is not to be had.
 * What is wrong with it the supervisor says to its clients, and starts nothing. */
static int load_manifest(
                const Definition *d,
                const char *root,
                const char *home,
                ManifestGrants **ret,
                ProblemList *problems) {
        _cleanup_free_ char *file = NULL, *text = NULL, *home_assignment = NULL;
        _cleanup_problems_ ProblemList ignored = {};
        ManifestContext context = { .file = d->file, .uid = (uid_t) -1, .working_dir = home };
        const Text *working_dir = &d->working_dir;
        size_t size = 0;
        int r;

        home_assignment = strformat("HOME=%s", home);
        if (!home_assignment)
                return -ENOMEM;
        context.env = (char *[]){ home_assignment, NULL };
        if (working_dir->value && path_is_absolute(working_dir->value) && !strstr(working_dir->value, "${"))
                context.working_dir = working_dir->value;
        if (d->isolation.manifest)
                r = manifest_read(d->isolation.manifest, &context, ret, &ignored);
        else {
                file = manifest_file(d, root);
                r = file ? read_regular(file, &text, &size) : -ENOENT;
                if (r < 0)
                        warn_of_text(d,
                                     problems,
                                     &d->isolation.manifest_path,
                                     "its manifest cannot be read in early boot");
                else
                        r = manifest_read_text(text, size, &context, ret, &ignored);
        }
        return r == -ENOMEM ? r : 0;
}

static int add_manifest(UnitText *t, const Definition *d, const char *root, ProblemList *problems) {
        _cleanup_manifest_ ManifestGrants *manifest = NULL;
        _cleanup_free_ char *home = NULL;
        int r;

        home = path_join(STATE_DIR, d->instance);
        if (!home)
                return -ENOMEM;
        r = load_manifest(d, root, home, &manifest, problems);
        for (size_t i = 0; r >= 0 && manifest && i < manifest->n_grants; i++) {
                const ManifestGrant *g = &manifest->grants[i];

                if (g->access == GRANT_READ || path_startswith(g->path, home))
                        continue;
                r = add_path(t, g->path);
                if (r == -EINVAL) {
                        warn(d, problems, g->pointer, CANNOT_SAY);
                        r = 0;
                }
        }
        return r;
}

int add_writable_paths(UnitText *t, const Definition *d, const char *root, ProblemList *problems) {
        int r;

        r = add_text(t, d, &d->working_dir, problems);
        for (size_t i = 0; r >= 0 && i < d->isolation.write.n_items; i++)
                r = add_text(t, d, &d->isolation.write.items[i], problems);
        if (r >= 0 && (d->isolation.manifest || d->isolation.manifest_path.value))
                r = add_manifest(t, d, root, problems);
        return r;
}
