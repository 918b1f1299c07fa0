/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Strings and NULL-terminated string vectors (strv). Functions that allocate return NULL or -ENOMEM. */

#include <stdarg.h>

#include "basic/macro.h"

static inline bool streq(const char *a, const char *b) {
        return strcmp(a, b) == 0;
}

/* NULL equals NULL and nothing else. */
static inline bool streq_ptr(const char *a, const char *b) {
        return a && b ? streq(a, b) : a == b;
}

static inline bool isempty(const char *s) {
        return !s || !*s;
}

static inline const char *strempty(const char *s) {
        return s ? s : "";
}

/* The rest of s behind prefix, or NULL where s does not start with it. */
const char *startswith(const char *s, const char *prefix);
bool endswith(const char *s, const char *suffix);

/* asprintf() that returns the string, or NULL. */
char *strformat(const char *format, ...) _printf_(1, 2);

/* All strings behind one another: strjoin(a, b, c). NULL: out of memory. */
char *strjoin_words(const char *const *words); /* ends with NULL */
#define strjoin(...) strjoin_words((const char *const[]){ __VA_ARGS__, NULL })

/* Replaces *p by a copy of s (NULL allowed), freeing what was there. -ENOMEM leaves *p as it was. */
int free_and_strdup(char **p, const char *s);

/* A copy of s that is harmless on a terminal and in a log: control characters, DEL, C1, what rearranges a line
 * (U+2028 to U+202E, U+2066 to U+2069) and invalid UTF-8 become \xNN. Other UTF-8 stays. */
char *string_escape_control(const char *s);

/* A word as a POSIX shell takes it: in single quotes where it has to be. NULL: out of memory. */
char *shell_quote(const char *s);

bool string_is_utf8(const char *s, size_t n);

/* The number of edits (insert, delete, replace, swap of neighbours) between a and b, by bytes. */
size_t string_distance(const char *a, const char *b);

/* The entry of the NULL-terminated table nearest to s by at most two edits (one where s has four bytes or fewer: there
 * two would make everything a near miss), or NULL. */
const char *string_nearest(const char *s, const char *const *table);

/* Lists. A NULL list is an empty one. */
size_t strv_length(char *const *l);
char **strv_free(char **l); /* always NULL */
DEFINE_TRIVIAL_CLEANUP_FUNC(char **, strv_free);
#define _cleanup_strv_free_ _cleanup_(strv_freep)
char **strv_copy(char *const *l);
int strv_extend(char ***l, const char *s); /* appends a copy */
int strv_consume(char ***l, char *s);      /* appends s itself, frees it on failure; s == NULL: -ENOMEM */
int strv_extendf(char ***l, const char *format, ...) _printf_(2, 3);
bool strv_contains(char *const *l, const char *s);
char *strv_join(char *const *l, const char *separator);
int strv_split(const char *s, const char *separators, char ***ret); /* empty words are dropped */

#define STRV_FOREACH(s, l) for (char *const *s = (l); s && *s; s++)

/* Environment blocks: strv of NAME=value. */
const char *env_get(char *const *env, const char *name);
int env_set(char ***env, const char *name, const char *value); /* value NULL: remove */
bool env_name_is_valid(const char *name);                      /* [A-Za-z_][A-Za-z0-9_]* */
