/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/path-util.h"
#include "basic/string-util.h"

/* Loops of our own: a child between fork() and execve() asks this, and each page of libc that it is the first to touch costs
 * it more than all that it does here. */
static const char *skip_slashes(const char *p) {
        while (*p == '/')
                p++;
        return p;
}

static size_t name_length(const char *p) {
        size_t n = 0;

        while (p[n] && p[n] != '/')
                n++;
        return n;
}

bool path_startswith(const char *path, const char *prefix) {
        for (;;) {
                size_t n, m;

                path = skip_slashes(path);
                prefix = skip_slashes(prefix);
                n = name_length(path);
                m = name_length(prefix);
                if (m == 0)
                        return true;
                if (n != m || memcmp(path, prefix, n) != 0)
                        return false;
                path += n;
                prefix += m;
        }
}

char *path_simplify(const char *path) {
        char *out, *o;
        bool absolute = path_is_absolute(path);

        out = o = malloc(strlen(path) + 2);
        if (!out)
                return NULL;
        if (absolute)
                *o++ = '/';
        while (*path) {
                size_t n;

                path = skip_slashes(path);
                n = name_length(path);
                if (n > 0 && !(n == 1 && *path == '.')) {
                        if (o > out && o[-1] != '/')
                                *o++ = '/';
                        memcpy(o, path, n);
                        o += n;
                }
                path += n;
        }
        if (o == out)
                *o++ = '.';
        *o = 0;
        return out;
}

bool path_has_dotdot(const char *path) {
        while (*path) {
                size_t n;

                path = skip_slashes(path);
                n = name_length(path);
                if (n == 2 && path[0] == '.' && path[1] == '.')
                        return true;
                path += n;
        }
        return false;
}

char *path_join(const char *a, const char *b) {
        if (path_is_absolute(b) || isempty(a))
                return strdup(b);
        return strjoin(a, endswith(a, "/") ? "" : "/", b);
}

const char *path_basename(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}
