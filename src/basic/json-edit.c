/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/json-edit.h"
#include "basic/string-util.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Where line and column, as the reader counts them, are in the text. -ENXIO: beyond its end. */
static int find_offset(const char *text, size_t size, unsigned line, unsigned column, size_t *ret) {
        size_t at = size >= 3 && memcmp(text, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0;
        unsigned l = 1, c = 1;

        for (; at < size && (l != line || c != column); at++)
                if (text[at] == '\n') {
                        l++;
                        c = 1;
                } else if (at + 1 >= size || ((unsigned char) text[at + 1] & 0xc0) != 0x80)
                        c++; /* the last byte of a character */
        if (l != line || c != column || at >= size)
                return -ENXIO;
        *ret = at;
        return 0;
}

static size_t scalar_length(const char *text, size_t size, size_t at) {
        size_t end = at;

        if (text[at] != '"') {
                while (end < size && !strchr(" \t\r\n,]}/", text[end]))
                        end++;
                return end - at;
        }
        for (end++; end < size && text[end] != '"'; end++)
                if (text[end] == '\\')
                        end++;
        return end + 1 - at;
}

static int splice(
                const char *text,
                size_t size,
                size_t at,
                size_t length,
                const char *middle,
                char **ret,
                size_t *ret_size) {
        size_t n = strlen(middle);
        char *new;

        if (at > size || length > size - at)
                return -EINVAL;
        new = malloc(size - length + n + 1);
        if (!new)
                return -ENOMEM;
        memcpy(new, text, at);
        memcpy(new + at, middle, n);
        memcpy(new + at + n, text + at + length, size - at - length);
        new[size - length + n] = 0;
        *ret = new;
        *ret_size = size - length + n;
        return 0;
}

/* What stands between the brace and the first member: a line break and its indentation, usually. A comment there is not
 * repeated. */
static char *first_gap(const char *text, size_t size, const JsonValue *object, size_t brace) {
        size_t key, n;

        if (object->n_items == 0 ||
            find_offset(text, size, object->items[0]->key_line, object->items[0]->key_column, &key) < 0)
                return strdup(" ");
        for (n = 0; n < key - brace - 1 && strchr(" \t", text[key - n - 1]); n++)
                ;
        if (n < key - brace - 1 && text[key - n - 1] == '\n')
                n++;
        return strndup(text + key - n, n);
}

static int insert_first(
                const char *text,
                size_t size,
                const JsonValue *object,
                const char *key,
                const char *literal,
                char **ret,
                size_t *ret_size) {
        _cleanup_free_ char *gap = NULL, *middle = NULL;
        size_t brace;
        int r;

        r = find_offset(text, size, object->line, object->column, &brace);
        if (r < 0 || text[brace] != '{')
                return -EINVAL;
        gap = first_gap(text, size, object, brace);
        if (!gap)
                return -ENOMEM;
        middle = strformat("%s\"%s\": %s%s", gap, key, literal, object->n_items > 0 ? "," : " ");
        if (!middle)
                return -ENOMEM;
        return splice(text, size, brace + 1, 0, middle, ret, ret_size);
}

int json_edit_set(
                const char *text,
                size_t size,
                const JsonValue *object,
                const char *key,
                const char *literal,
                char **ret,
                size_t *ret_size) {
        const JsonValue *member = json_get(object, key);
        size_t at;
        int r;

        if (!object || object->type != JSON_OBJECT ||
            (member && (member->type == JSON_ARRAY || member->type == JSON_OBJECT)))
                return -EINVAL;
        if (!member)
                return insert_first(text, size, object, key, literal, ret, ret_size);
        r = find_offset(text, size, member->line, member->column, &at);
        if (r < 0)
                return -EINVAL;
        return splice(text, size, at, scalar_length(text, size, at), literal, ret, ret_size);
}
