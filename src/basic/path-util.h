/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Paths as text: nothing here touches the file system. */

#include "basic/macro.h"

static inline bool path_is_absolute(const char *p) {
        return p[0] == '/';
}

/* Is path prefix itself or below it, component by component ("/a/bc" is not below "/a/b")? Both absolute; repeated
 * and trailing slashes do not matter. */
bool path_startswith(const char *path, const char *prefix);
static inline bool path_equal(const char *a, const char *b) {
        return path_startswith(a, b) && path_startswith(b, a);
}

/* A copy without repeated and trailing slashes and "." components; ".." stays. */
char *path_simplify(const char *path);
bool path_has_dotdot(const char *path);

char *path_join(const char *a, const char *b); /* b absolute: b alone */
const char *path_basename(const char *path);   /* behind the last slash, a pointer into path */
