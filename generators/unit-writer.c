/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <inttypes.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

#include "unit-writer.h"

#define TEXT_ROOM        1000U /* of a unit's text at first: most need no more, and malloc() keeps it at hand */
#define ACCOUNT_NAME_MAX 31U /* UT_NAMESIZE without its NUL: what systemd takes for a dynamic user */

int unit_text_open(UnitText *t) {
        t->data = malloc(TEXT_ROOM);
        if (!t->data)
                return -ENOMEM;
        t->room = TEXT_ROOM;
        *t->data = 0;
        return 0;
}

void unit_text_done(UnitText *t) {
        free(t->data);
        *t = (UnitText){};
}

static bool make_room(UnitText *t, size_t wanted) {
        size_t room = t->room;
        char *grown;

        while (room - t->size < wanted)
                room *= 2;
        if (room == t->room)
                return true;
        grown = realloc(t->data, room);
        if (!grown)
                return false;
        t->data = grown;
        t->room = room;
        return true;
}

void unit_text_words(UnitText *t, const char *const *words) {
        for (const char *const *word = words; *word; word++) {
                size_t n = strlen(*word);

                /* One byte more for the line's end, and one for the text's. */
                if (t->failed || !make_room(t, n + 2)) {
                        t->failed = true;
                        return;
                }
                memcpy(t->data + t->size, *word, n);
                t->size += n;
        }
        t->data[t->size++] = '\n';
        t->data[t->size] = 0;
}

/* Anything but printable ASCII, and what means something in a unit. */
static const bool special_bytes[256] = {
        [0 ... 0x1f] = true, /* NUL is one of them */
        ['%'] = true,        ['\\'] = true, ['"'] = true, ['\''] = true, [0x7f ... 0xff] = true,
};

/* The most of what is written. */
static bool is_plain(const char *s) {
        while (!special_bytes[(unsigned char) *s])
                s++;
        return *s == 0;
}

static bool has_control(const char *s) {
        for (; *s; s++)
                if ((unsigned char) *s < ' ' || *s == 0x7f)
                        return true;
        return false;
}

/* s with every character of special preceded by before[its place]. */
static char *double_characters(const char *s, const char *special, const char *before) {
        char *out, *o;

        o = out = malloc(strlen(s) * 2 + 1);
        if (!out)
                return NULL;
        for (; *s; s++) {
                const char *found = strchr(special, *s);

                if (found)
                        *o++ = before[found - special];
                *o++ = *s;
        }
        *o = 0;
        return out;
}

int unit_text_string(UnitText *t, const char *before, const char *value) {
        _cleanup_free_ char *without_backslash = NULL, *doubled = NULL, *escaped = NULL;
        char *o;

        if (is_plain(value)) {
                unit_text_line(t, before, value);
                return 0;
        }
        o = without_backslash = malloc(strlen(value) * 4 + 1);
        if (!o)
                return -ENOMEM;
        for (const char *s = value; *s; s++)
                o = *s == '\\' ? stpcpy(o, "\\x5c") : stpncpy(o, s, 1);
        *o = 0;
        doubled = double_characters(without_backslash, "%", "%");
        escaped = doubled ? string_escape_control(doubled) : NULL;
        if (!escaped)
                return -ENOMEM;
        unit_text_line(t, before, escaped);
        return 0;
}

static bool path_can_be_said(const char *path) {
        return path_is_absolute(path) && string_is_utf8(path, strlen(path)) && !has_control(path);
}

int unit_text_path(UnitText *t, const char *key, const char *path) {
        _cleanup_free_ char *escaped = NULL;

        if (path_is_absolute(path) && is_plain(path) && !endswith(path, " ")) {
                unit_text_line(t, key, "=", path);
                return 0;
        }
        /* Blanks at the end would be stripped, a backslash there would swallow the next line. */
        if (!path_can_be_said(path) || endswith(path, "\\") || endswith(path, " "))
                return -EINVAL;
        escaped = double_characters(path, "%", "%");
        if (!escaped)
                return -ENOMEM;
        unit_text_line(t, key, "=", escaped);
        return 0;
}

int unit_text_quoted_path(UnitText *t, const char *key, const char *prefix, const char *path) {
        _cleanup_free_ char *simple = NULL, *escaped = NULL;
        bool plain = path_is_absolute(path) && is_plain(path);

        if ((!plain && !path_can_be_said(path)) || path_has_dotdot(path))
                return -EINVAL;
        simple = path_simplify(path);
        if (simple && plain) {
                unit_text_line(t, key, "=\"", prefix, simple, "\"");
                return 0;
        }
        escaped = simple ? double_characters(simple, "%\"\\", "%\\\\") : NULL;
        if (!escaped)
                return -ENOMEM;
        unit_text_line(t, key, "=\"", prefix, escaped, "\"");
        return 0;
}

int unit_text_credential(UnitText *t, const char *key, const char *name, const char *path) {
        _cleanup_free_ char *assignment = NULL, *whole = NULL;

        if (!path) {
                unit_text_line(t, key, "=", name);
                return 0;
        }
        if (!path_can_be_said(path) || strpbrk(path, "\\\"'") || endswith(path, " "))
                return -EINVAL;
        whole = strjoin(name, ":", path);
        assignment = whole ? double_characters(whole, "%", "%") : NULL;
        if (!assignment)
                return -ENOMEM;
        unit_text_line(t, key, "=", assignment);
        return 0;
}

void unit_text_usec(UnitText *t, const char *key, uint64_t usec) {
        bool whole = usec % 1000000 == 0;
        char number[sizeof("18446744073709551615")], *begin = number + sizeof(number) - 1;
        uint64_t n = whole ? usec / 1000000 : usec;

        if (usec == UINT64_MAX) {
                unit_text_line(t, key, "=infinity");
                return;
        }
        *begin = 0;
        do
                *--begin = (char) ('0' + n % 10);
        while ((n /= 10) > 0);
        unit_text_line(t, key, "=", begin, whole ? "s" : "us");
}

int unit_text_write(UnitText *t, int dir_fd, const char *name, FdBatch *batch) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (t->failed)
                return -ENOMEM;
        fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0)
                return -errno;
        r = fd_write_all(fd, t->data, t->size);
        if (r < 0)
                (void) unlinkat(dir_fd, name, 0);
        if (batch)
                fd_batch_add(batch, TAKE_FD(fd));
        return r;
}

static bool is_word_character(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool account_name_is_plain(const char *s) {
        if (!is_word_character(s[0]) || strlen(s) > ACCOUNT_NAME_MAX)
                return false;
        for (; *s; s++)
                if (!is_word_character(*s) && *s != '.' && *s != '-')
                        return false;
        return true;
}

/* FNV-1a. Who could look for two instances that meet may write any definition anyway. */
static uint64_t hash_string(const char *s) {
        uint64_t h = 14695981039346656037ULL;

        for (; *s; s++)
                h = (h ^ (unsigned char) *s) * 1099511628211ULL;
        return h;
}

int dynamic_user_name(const char *instance, char **ret) {
        char *s;

        s = strjoin("mcp-", instance);
        /* Dots are for static users only. */
        if (s && (!account_name_is_plain(s) || strchr(s, '.'))) {
                free(s);
                s = strformat("mcp_%016" PRIx64, hash_string(instance));
        }
        if (!s)
                return -ENOMEM;
        *ret = s;
        return 0;
}
