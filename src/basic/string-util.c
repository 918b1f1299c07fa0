/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/string-util.h"

const char *strerrordesc_np_or_unknown(int error) {
        const char *s = strerrordesc_np(abs(error));

        return s ? s : "Unknown error";
}

const char *startswith(const char *s, const char *prefix) {
        size_t n = strlen(prefix);

        return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

bool endswith(const char *s, const char *suffix) {
        size_t n = strlen(s), m = strlen(suffix);

        return n >= m && streq(s + n - m, suffix);
}

char *strformat(const char *format, ...) {
        char *s;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&s, format, ap);
        va_end(ap);
        return r < 0 ? NULL : s;
}

char *strjoin_words(const char *const *words) {
        size_t n = 1;
        char *s, *end;

        for (const char *const *word = words; *word; word++)
                n += strlen(*word);
        s = end = malloc(n);
        if (!s)
                return NULL;
        *s = 0;
        for (const char *const *word = words; *word; word++)
                end = stpcpy(end, *word);
        return s;
}

int free_and_strdup(char **p, const char *s) {
        char *copy = NULL;

        if (s) {
                copy = strdup(s);
                if (!copy)
                        return -ENOMEM;
        }
        free(*p);
        *p = copy;
        return 0;
}

/* The length of the UTF-8 sequence at s (of n bytes), or 0 where it is not valid: overlong forms, surrogates and
 * what lies above U+10FFFF are not. */
static size_t utf8_sequence(const char *s, size_t n) {
        const unsigned char *p = (const unsigned char *) s;
        size_t length;
        uint32_t c;

        if (n == 0)
                return 0;
        if (p[0] < 0x80)
                return 1;
        if (p[0] >= 0xc2 && p[0] <= 0xdf) {
                length = 2;
                c = p[0] & 0x1f;
        } else if ((p[0] & 0xf0) == 0xe0) {
                length = 3;
                c = p[0] & 0x0f;
        } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
                length = 4;
                c = p[0] & 0x07;
        } else
                return 0;
        if (n < length)
                return 0;
        for (size_t i = 1; i < length; i++) {
                if ((p[i] & 0xc0) != 0x80)
                        return 0;
                c = c << 6 | (p[i] & 0x3f);
        }
        if ((length == 3 && c < 0x800) || (length == 4 && c < 0x10000))
                return 0;
        if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
                return 0;
        return length;
}

bool string_is_utf8(const char *s, size_t n) {
        while (n > 0) {
                size_t k = utf8_sequence(s, n);

                if (k == 0)
                        return false;
                s += k;
                n -= k;
        }
        return true;
}

/* Characters of three bytes that end a line or turn the text around: what is shown would not be what is there. */
static bool utf8_rearranges(const char *s, size_t length) {
        const unsigned char *p = (const unsigned char *) s;

        return length == 3 && p[0] == 0xe2 &&
               ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) || /* U+2028 … U+202E */
                (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));  /* U+2066 … U+2069 */
}

char *string_escape_control(const char *s) {
        static const char hex[] = "0123456789abcdef";
        size_t n = strlen(s);
        char *out, *o;

        out = o = malloc(n * 4 + 1);
        if (!out)
                return NULL;
        while (n > 0) {
                size_t k = utf8_sequence(s, n);
                unsigned char c = (unsigned char) *s;
                bool c1 = k == 2 && c == 0xc2 && (unsigned char) s[1] < 0xa0;

                if (k == 0 || c1 || c < 0x20 || c == 0x7f || utf8_rearranges(s, k)) {
                        size_t bytes = MAX(k, (size_t) 1);

                        for (size_t i = 0; i < bytes; i++) {
                                c = (unsigned char) s[i];
                                *o++ = '\\';
                                *o++ = 'x';
                                *o++ = hex[c >> 4];
                                *o++ = hex[c & 15];
                        }
                        k = bytes;
                } else {
                        memcpy(o, s, k);
                        o += k;
                }
                s += k;
                n -= k;
        }
        *o = 0;
        return out;
}

size_t string_distance(const char *a, const char *b) {
        size_t n = strlen(a), m = strlen(b);
        size_t row[3][64];

        /* Names of keys are short; anything longer is as far away as its length says. */
        if (n >= 64 || m >= 64)
                return MAX(n, m);
        for (size_t j = 0; j <= m; j++)
                row[0][j] = j;
        for (size_t i = 1; i <= n; i++) {
                size_t *now = row[i % 3], *before = row[(i + 2) % 3], *before2 = row[(i + 1) % 3];

                now[0] = i;
                for (size_t j = 1; j <= m; j++) {
                        size_t cost = a[i - 1] != b[j - 1];

                        now[j] = MIN(before[j] + 1, now[j - 1] + 1);
                        now[j] = MIN(now[j], before[j - 1] + cost);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                now[j] = MIN(now[j], before2[j - 2] + 1);
                }
        }
        return row[n % 3][m];
}

const char *string_nearest(const char *s, const char *const *table) {
        const char *best = NULL;
        size_t best_distance = strlen(s) > 4 ? 3 : 2;

        for (; *table; table++) {
                size_t d = string_distance(s, *table);

                if (d < best_distance && d < strlen(*table)) {
                        best = *table;
                        best_distance = d;
                }
        }
        return best;
}

size_t strv_length(char *const *l) {
        size_t n = 0;

        STRV_FOREACH (s, l)
                n++;
        return n;
}

char **strv_free(char **l) {
        STRV_FOREACH (s, l)
                free(*s);
        free(l);
        return NULL;
}

char **strv_copy(char *const *l) {
        _cleanup_strv_free_ char **copy = NULL;

        copy = calloc(strv_length(l) + 1, sizeof(char *));
        if (!copy)
                return NULL;
        for (size_t i = 0; l && l[i]; i++) {
                copy[i] = strdup(l[i]);
                if (!copy[i])
                        return NULL;
        }
        return TAKE_PTR(copy);
}

int strv_consume(char ***l, char *s) {
        size_t n = strv_length(*l);
        char **grown;

        if (!s)
                return -ENOMEM;
        grown = reallocarray(*l, n + 2, sizeof(char *));
        if (!grown) {
                free(s);
                return -ENOMEM;
        }
        grown[n] = s;
        grown[n + 1] = NULL;
        *l = grown;
        return 0;
}

int strv_extend(char ***l, const char *s) {
        return strv_consume(l, strdup(s));
}

int strv_extendf(char ***l, const char *format, ...) {
        char *s;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&s, format, ap);
        va_end(ap);
        return r < 0 ? -ENOMEM : strv_consume(l, s);
}

bool strv_contains(char *const *l, const char *s) {
        STRV_FOREACH (i, l)
                if (streq(*i, s))
                        return true;
        return false;
}

char *strv_join(char *const *l, const char *separator) {
        size_t size = 1;
        char *out, *o;

        STRV_FOREACH (s, l)
                size += strlen(*s) + strlen(separator);
        out = o = malloc(size);
        if (!out)
                return NULL;
        STRV_FOREACH (s, l) {
                if (s != l)
                        o = stpcpy(o, separator);
                o = stpcpy(o, *s);
        }
        *o = 0;
        return out;
}

int strv_split(const char *s, const char *separators, char ***ret) {
        _cleanup_strv_free_ char **l = NULL;
        int r;

        for (;;) {
                size_t n;

                s += strspn(s, separators);
                n = strcspn(s, separators);
                if (n == 0)
                        break;
                r = strv_consume(&l, strndup(s, n));
                if (r < 0)
                        return r;
                s += n;
        }
        *ret = TAKE_PTR(l);
        return 0;
}

static char **env_find(char *const *env, const char *name) {
        size_t n = strlen(name);

        STRV_FOREACH (e, env)
                if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
                        return (char **) e;
        return NULL;
}

const char *env_get(char *const *env, const char *name) {
        char **e = env_find(env, name);

        return e ? *e + strlen(name) + 1 : NULL;
}

int env_set(char ***env, const char *name, const char *value) {
        char **e = env_find(*env, name);
        char *s;

        if (!value) {
                if (!e)
                        return 0;
                free(*e);
                do
                        e[0] = e[1];
                while (*e++);
                return 0;
        }
        s = strformat("%s=%s", name, value);
        if (!s)
                return -ENOMEM;
        if (!e)
                return strv_consume(env, s);
        free(*e);
        *e = s;
        return 0;
}

/* Not isalpha(): a locale must not widen what a name may hold. */
static bool is_name_char(char c, bool first) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
               (!first && c >= '0' && c <= '9');
}

bool env_name_is_valid(const char *name) {
        if (!is_name_char(*name, true))
                return false;
        for (; *name; name++)
                if (!is_name_char(*name, false))
                        return false;
        return true;
}

char *shell_quote(const char *s) {
        static const char plain[] =
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
        char *quoted, *p;

        if (*s && strspn(s, plain) == strlen(s))
                return strdup(s);
        quoted = malloc(4 * strlen(s) + 3);
        if (!quoted)
                return NULL;
        p = quoted;
        *p++ = '\'';
        for (; *s; s++)
                if (*s == '\'')
                        p = stpcpy(p, "'\\''");
                else
                        *p++ = *s;
        *p++ = '\'';
        *p = 0;
        return quoted;
}
