/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The generator reads every definition at every boot: so a tree is one arena, with whatever it consists of, text is looked
 * at as few times as can be, and no library has to be loaded for it. */

#include <math.h>

#include "basic/json.h"
#include "basic/string-util.h"

/* How much the trees of what people write need for each byte of it. */
#define ARENA_PER_BYTE  10U
#define ARENA_BEGIN_MAX (64U * 1024U)

typedef struct Reader {
        const char *text;
        size_t size, at;
        unsigned line, column;
        bool ascii; /* all of text is: a byte is a character */
        JsonFlags flags;
        Arena *arena;
        JsonError *error;
} Reader;

static const char *const type_table[_JSON_TYPE_MAX] = {
        [JSON_NULL] = "null",        [JSON_BOOLEAN] = "true or false", [JSON_INTEGER] = "a whole number",
        [JSON_REAL] = "a number",    [JSON_STRING] = "a string",       [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
};

const char *json_type_to_string(JsonType type) {
        return type >= 0 && type < _JSON_TYPE_MAX ? type_table[type] : "nothing";
}

static int fail_at(Reader *r, int error, unsigned line, unsigned column, const char *format, ...)
                _printf_(5, 6);
static int fail_at(Reader *r, int error, unsigned line, unsigned column, const char *format, ...) {
        va_list ap;

        if (r->error) {
                r->error->line = line;
                r->error->column = column;
                va_start(ap, format);
                (void) vsnprintf(r->error->message, sizeof(r->error->message), format, ap);
                va_end(ap);
        }
        return error;
}

static JsonValue *take_value(Reader *r) {
        JsonValue *v = arena_take(&r->arena, sizeof(JsonValue));

        if (v)
                *v = (JsonValue){};
        return v;
}

#define FAIL(r, ...) fail_at((r), -EINVAL, (r)->line, (r)->column, __VA_ARGS__)

static int peek(const Reader *r) {
        return r->at < r->size ? (unsigned char) r->text[r->at] : -1;
}

/* Moves on by one byte. UTF-8 continuation bytes do not count as columns. */
static void step(Reader *r) {
        unsigned char c = (unsigned char) r->text[r->at++];

        if (c == '\n') {
                r->line++;
                r->column = 1;
        } else if ((c & 0xc0) != 0x80)
                r->column++;
}

static void step_n(Reader *r, size_t n) {
        while (n-- > 0)
                step(r);
}

/* The same where there is no end of a line. */
static void step_within_line(Reader *r, size_t n) {
        if (!r->ascii) {
                step_n(r, n);
                return;
        }
        r->at += n;
        r->column += (unsigned) n;
}

static bool looking_at(const Reader *r, const char *word) {
        size_t n = strlen(word);

        return r->size - r->at >= n && memcmp(r->text + r->at, word, n) == 0;
}

static int skip_comment(Reader *r) {
        unsigned line = r->line, column = r->column;

        if (looking_at(r, "//")) {
                while (r->at < r->size && peek(r) != '\n')
                        step(r);
                return 0;
        }
        step_n(r, 2);
        while (!looking_at(r, "*/")) {
                if (r->at >= r->size)
                        return fail_at(r, -EINVAL, line, column, "This comment is not closed");
                step(r);
        }
        step_n(r, 2);
        return 0;
}

/* Most of a text that people write is blanks. */
static void skip_blanks(Reader *r) {
        const char *at = r->text + r->at, *end = r->text + r->size, *line = NULL;

        for (; at < end; at++) {
                if (*at == ' ')
                        continue;
                if (*at == '\n') {
                        r->line++;
                        line = at + 1;
                } else if (*at != '\t' && *at != '\r')
                        break;
        }
        r->column = (line ? 1 : r->column) + (unsigned) (at - (line ?: r->text + r->at));
        r->at = (size_t) (at - r->text);
}

static int skip_space_and_comments(Reader *r) {
        int q;

        for (;;) {
                skip_blanks(r);
                if (peek(r) != '/')
                        return 0;
                if (looking_at(r, "//") || looking_at(r, "/*")) {
                        if (!(r->flags & JSON_RELAXED))
                                return FAIL(r, "Comments are not allowed in this file");
                        q = skip_comment(r);
                        if (q < 0)
                                return q;
                } else
                        return 0;
        }
}

static inline int skip_space(Reader *r) {
        int c = peek(r);

        return c > ' ' && c != '/' ? 0 : skip_space_and_comments(r);
}

/* What ends a string or is more than itself in it: quotes, escapes, and control characters, which it may not hold. */
static const bool special_bytes[256] = {
        [0 ... 0x1f] = true,
        ['"'] = true,
        ['\\'] = true,
};

/* The length of the string that starts here with its quotes, and whether it holds an escape. */
static int string_length(Reader *r, size_t *ret, bool *ret_escaped) {
        const unsigned char *text = (const unsigned char *) r->text;
        size_t n = r->at + 1;

        *ret_escaped = false;
        for (;; n += 2) {
                while (n < r->size && !special_bytes[text[n]])
                        n++;
                if (n >= r->size)
                        return FAIL(r, "This string is not closed");
                if (text[n] == '"')
                        break;
                if (text[n] != '\\') {
                        step_n(r, n - r->at);
                        return FAIL(r, "A control character in a string has to be written as an escape");
                }
                *ret_escaped = true;
        }
        *ret = n + 1 - r->at;
        return 0;
}

/* That of a number or a word: up to the first byte that cannot belong to one. */
static size_t word_length(const Reader *r) {
        static const char delimiters[] = " \t\r\n,:[]{}\"/";
        size_t n;

        for (n = r->at; n < r->size && r->text[n] && !strchr(delimiters, r->text[n]); n++)
                ;
        return n - r->at;
}

/* RFC 8259's number; json-c's strict mode still takes some more. */
static bool number_is_valid(const char *s, size_t n, bool *ret_integer) {
        size_t i = 0;

        *ret_integer = true;
        if (i < n && s[i] == '-')
                i++;
        if (i < n && s[i] == '0')
                i++;
        else if (i < n && s[i] >= '1' && s[i] <= '9')
                while (i < n && s[i] >= '0' && s[i] <= '9')
                        i++;
        else
                return false;
        for (int part = 0; part < 2; part++) {
                if (i >= n || (part == 0 ? s[i] != '.' : (s[i] | 0x20) != 'e'))
                        continue;
                *ret_integer = false;
                i++;
                if (part == 1 && i < n && (s[i] == '+' || s[i] == '-'))
                        i++;
                if (i >= n || s[i] < '0' || s[i] > '9')
                        return false;
                while (i < n && s[i] >= '0' && s[i] <= '9')
                        i++;
        }
        return i == n;
}

#define DIGITS_SURE 19U /* fewer than these fit int64_t, whatever they are */

static int decode_number(Reader *r, const char *s, size_t n, JsonValue *v) {
        const char *copy;
        bool integer;

        if (!number_is_valid(s, n, &integer))
                return FAIL(r, "Expected a value here (a string needs double quotes)");
        if (integer && n < DIGITS_SURE && *s != '-') {
                uint64_t value = 0;

                for (size_t i = 0; i < n; i++)
                        value = value * 10 + (uint64_t) (s[i] - '0');
                v->type = JSON_INTEGER;
                v->natural = value;
                v->integer = (int64_t) value;
                v->real = (double) value;
                return 0;
        }
        copy = arena_copy(&r->arena, s, n);
        if (!copy)
                return -ENOMEM;
        if (integer) {
                errno = 0;
                v->natural = copy[0] == '-' ? 0 : strtoull(copy, NULL, 10);
                if (errno != 0)
                        v->natural = 0;
                errno = 0;
                v->integer = strtoll(copy, NULL, 10);
                if (errno == 0) {
                        v->type = JSON_INTEGER;
                        v->real = (double) v->integer;
                        return 0;
                }
        }
        v->type = JSON_REAL;
        v->real = strtod(copy, NULL);
        return isfinite(v->real) ? 0 : FAIL(r, "This number is too large");
}

/* The code unit of the escape \\uXXXX at s; -1: there is none. */
static int escaped_unit(const char *s, size_t n) {
        int unit = 0;

        if (n < 6 || s[0] != '\\' || s[1] != 'u')
                return -1;
        for (size_t i = 2; i < 6; i++) {
                unsigned char c = (unsigned char) s[i];

                if (c >= '0' && c <= '9')
                        unit = unit << 4 | (c - '0');
                else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
                        unit = unit << 4 | ((c | 0x20) - 'a' + 10);
                else
                        return -1;
        }
        return unit;
}

static bool is_high_surrogate(int unit) {
        return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_surrogate(int unit) {
        return unit >= 0xdc00 && unit <= 0xdfff;
}

/* Half a surrogate pair is no character, and has no UTF-8 form. */
static bool has_lone_surrogate(const char *s, size_t n) {
        for (size_t i = 0; i < n;) {
                int unit = escaped_unit(s + i, n - i);

                if (is_low_surrogate(unit))
                        return true;
                if (is_high_surrogate(unit)) {
                        if (!is_low_surrogate(escaped_unit(s + i + 6, n - i - 6)))
                                return true;
                        i += 12;
                } else
                        i += s[i] == '\\' ? 2 : 1;
        }
        return false;
}

/* Writes the character as UTF-8; returns where that ends. */
static char *put_character(char *out, unsigned c) {
        if (c < 0x80)
                *out++ = (char) c;
        else if (c < 0x800) {
                *out++ = (char) (0xc0 | c >> 6);
                *out++ = (char) (0x80 | (c & 0x3f));
        } else {
                if (c < 0x10000)
                        *out++ = (char) (0xe0 | c >> 12);
                else {
                        *out++ = (char) (0xf0 | c >> 18);
                        *out++ = (char) (0x80 | (c >> 12 & 0x3f));
                }
                *out++ = (char) (0x80 | (c >> 6 & 0x3f));
                *out++ = (char) (0x80 | (c & 0x3f));
        }
        return out;
}

/* Decodes the escape at s, of n bytes at most, to *out, which is moved on. Returns its length, or 0 where there is no such
 * escape. Surrogates come in pairs here. */
static size_t decode_escape(const char *s, size_t n, char **out) {
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        int unit = escaped_unit(s, n), low;
        const char *letter;

        if (is_high_surrogate(unit)) {
                low = escaped_unit(s + 6, n - 6);
                *out = put_character(
                                *out,
                                0x10000U + ((unsigned) (unit - 0xd800) << 10) + (unsigned) (low - 0xdc00));
                return 12;
        }
        if (unit >= 0) {
                *out = put_character(*out, (unsigned) unit);
                return 6;
        }
        letter = n >= 2 ? memchr(letters, s[1], sizeof(letters) - 1) : NULL;
        if (!letter)
                return 0;
        *(*out)++ = meanings[letter - letters];
        return 2;
}

/* What s stands for, which is never longer. */
static int decode_escapes(Reader *r, const char *s, size_t n, char **ret, size_t *ret_length) {
        char *copy = arena_copy(&r->arena, s, n), *out = copy;

        if (!copy)
                return -ENOMEM;
        for (size_t i = 0; i < n;) {
                size_t length = 1;

                if (s[i] == '\\')
                        length = decode_escape(s + i, n - i, &out);
                else
                        *out++ = s[i];
                if (length == 0)
                        return FAIL(r, "This string has an escape that JSON does not know");
                i += length;
        }
        *out = 0;
        *ret = copy;
        *ret_length = (size_t) (out - copy);
        return 0;
}

/* Reads and decodes the string that starts here. Nothing is stepped over: an error is where it begins. */
static int decode_string(Reader *r, size_t *ret_size, char **ret, size_t *ret_length) {
        const char *s = r->text + r->at;
        bool escaped;
        size_t n = 0;
        char *copy;
        int q;

        q = string_length(r, &n, &escaped);
        if (q < 0)
                return q;
        *ret_size = n;
        if (escaped)
                return has_lone_surrogate(s, n) ? FAIL(r,
                                                       "This string has half of a surrogate pair, which is "
                                                       "no character")
                                                : decode_escapes(r, s + 1, n - 2, ret, ret_length);
        /* It stands for itself. */
        copy = arena_copy(&r->arena, s + 1, n - 2);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        *ret_length = n - 2;
        return 0;
}

static int read_scalar(Reader *r, JsonValue *v) {
        const char *s = r->text + r->at;
        size_t n = 0;
        int q = 0;

        if (*s == '"') {
                v->type = JSON_STRING;
                q = decode_string(r, &n, &v->string, &v->string_length);
                if (q < 0)
                        return q;
                step_within_line(r, n);
                return 0;
        }
        n = word_length(r);
        if (n == 4 && memcmp(s, "null", 4) == 0)
                v->type = JSON_NULL;
        else if ((n == 4 && memcmp(s, "true", 4) == 0) || (n == 5 && memcmp(s, "false", 5) == 0)) {
                v->type = JSON_BOOLEAN;
                v->boolean = n == 4;
        } else
                q = decode_number(r, s, n, v);
        if (q < 0)
                return q;
        step_within_line(r, n);
        return 0;
}

static int add_item(Reader *r, JsonValue *parent, JsonValue *item) {
        JsonValue **grown = arena_grow(&r->arena, parent->items, parent->n_items, sizeof(JsonValue *));

        if (!grown)
                return -ENOMEM;
        parent->items = grown;
        item->index = parent->n_items;
        item->parent = parent;
        parent->items[parent->n_items++] = item;
        return 0;
}

static int compare_keys(const void *a, const void *b) {
        const JsonValue *x = *(JsonValue *const *) a, *y = *(JsonValue *const *) b;
        int q = strcmp(x->key, y->key);

        return q ? q : (x->index > y->index) - (x->index < y->index);
}

/* For the few keys that most objects have, where sorting costs more. */
static bool few_and_distinct(const JsonValue *object) {
        if (object->n_items > 8)
                return false;
        for (size_t i = 1; i < object->n_items; i++)
                for (size_t j = 0; j < i; j++)
                        if (object->items[i]->key[0] == object->items[j]->key[0] &&
                            streq(object->items[i]->key, object->items[j]->key))
                                return false;
        return true;
}

/* Duplicate keys, in n log n: strict refuses the second one, relaxed keeps the last. */
static int settle_duplicates(Reader *r, JsonValue *object) {
        _cleanup_free_ JsonValue **sorted = NULL;
        const JsonValue *first_bad = NULL;
        size_t kept = 0;

        if ((r->flags & JSON_DUPLICATES) || few_and_distinct(object))
                return 0;
        sorted = malloc(object->n_items * sizeof(JsonValue *));
        if (!sorted)
                return -ENOMEM;
        memcpy(sorted, object->items, object->n_items * sizeof(JsonValue *));
        qsort(sorted, object->n_items, sizeof(JsonValue *), compare_keys);
        for (size_t i = 1; i < object->n_items; i++) {
                if (!streq(sorted[i - 1]->key, sorted[i]->key))
                        continue;
                if (r->flags & JSON_RELAXED) {
                        sorted[i]->hidden_line = sorted[i - 1]->key_line;
                        object->items[sorted[i - 1]->index] = NULL;
                } else if (!first_bad || sorted[i]->index < first_bad->index)
                        first_bad = sorted[i];
        }
        if (first_bad)
                return fail_at(r,
                               -EINVAL,
                               first_bad->key_line,
                               first_bad->key_column,
                               "The key \"%.64s\" is there twice; keep one",
                               first_bad->key);
        if (!(r->flags & JSON_RELAXED))
                return 0;
        for (size_t i = 0; i < object->n_items; i++)
                if (object->items[i]) {
                        object->items[i]->index = kept;
                        object->items[kept++] = object->items[i];
                }
        object->n_items = kept;
        return 0;
}

static int read_value(Reader *r, unsigned depth, JsonValue *v);

static int read_key(Reader *r, JsonValue *item) {
        size_t n = 0, length;
        int q;

        if (peek(r) != '"')
                return FAIL(r, "Expected a key in double quotes");
        item->key_line = r->line;
        item->key_column = r->column;
        q = decode_string(r, &n, &item->key, &length);
        if (q < 0)
                return q;
        if (strlen(item->key) != length)
                return FAIL(r, "A key may not contain a NUL character");
        step_within_line(r, n);
        q = skip_space(r);
        if (q < 0)
                return q;
        if (peek(r) != ':')
                return FAIL(r, "Expected a colon behind the key");
        step(r);
        return skip_space(r);
}

static int read_item(Reader *r, unsigned depth, JsonValue *parent) {
        JsonValue *item;
        int q;

        item = take_value(r);
        if (!item)
                return -ENOMEM;
        if (parent->type == JSON_OBJECT) {
                q = read_key(r, item);
                if (q < 0)
                        return q;
        }
        q = read_value(r, depth + 1, item);
        if (q < 0)
                return q;
        return add_item(r, parent, item);
}

static int read_container(Reader *r, unsigned depth, JsonValue *v) {
        int close = peek(r) == '{' ? '}' : ']', q;
        unsigned line = r->line, column = r->column;

        v->type = close == '}' ? JSON_OBJECT : JSON_ARRAY;
        if (depth >= JSON_DEPTH_MAX)
                return fail_at(r, -E2BIG, line, column, "Nested deeper than %u levels", JSON_DEPTH_MAX);
        step(r);
        for (;;) {
                q = skip_space(r);
                if (q < 0)
                        return q;
                if (peek(r) == close && (v->n_items == 0 || (r->flags & JSON_RELAXED)))
                        break;
                q = read_item(r, depth, v);
                if (q < 0)
                        return q;
                q = skip_space(r);
                if (q < 0)
                        return q;
                if (peek(r) == close)
                        break;
                if (r->at >= r->size)
                        return fail_at(r,
                                       -EINVAL,
                                       line,
                                       column,
                                       "This '%c' is not closed",
                                       close == '}' ? '{' : '[');
                if (peek(r) != ',')
                        return FAIL(r, "Expected a comma or '%c'", close);
                step(r);
        }
        step(r);
        return v->type == JSON_OBJECT ? settle_duplicates(r, v) : 0;
}

static int read_value(Reader *r, unsigned depth, JsonValue *v) {
        int c = peek(r);

        v->line = r->line;
        v->column = r->column;
        if (c < 0)
                return FAIL(r, "The text ends where a value is expected");
        return c == '{' || c == '[' ? read_container(r, depth, v) : read_scalar(r, v);
}

static int read_document(Reader *r, JsonValue *root) {
        int q;

        if (looking_at(r, "\xef\xbb\xbf")) {
                if (!(r->flags & JSON_RELAXED))
                        return FAIL(r,
                                    "The file starts with a byte order mark; save it as UTF-8 without one");
                r->at += 3;
        }
        q = skip_space(r);
        if (q < 0)
                return q;
        q = read_value(r, 0, root);
        if (q < 0)
                return q;
        q = skip_space(r);
        if (q < 0)
                return q;
        return r->at < r->size ? FAIL(r, "There is more text behind the end of the value") : 0;
}

static bool is_ascii(const char *s, size_t n) {
        unsigned char all = 0;

        for (size_t i = 0; i < n; i++)
                all |= (unsigned char) s[i];
        return all < 0x80;
}

static int check_utf8(Reader *r) {
        r->ascii = is_ascii(r->text, r->size);
        if (r->ascii)
                return 0;
        if (string_is_utf8(r->text, r->size))
                return 0;
        /* Walk to the place, for the message only. */
        while (r->at < r->size) {
                size_t n = 1;

                while (n < 4 && r->at + n < r->size && ((unsigned char) r->text[r->at + n] & 0xc0) == 0x80)
                        n++;
                if (!string_is_utf8(r->text + r->at, n))
                        break;
                step_n(r, n);
        }
        return FAIL(r, "This is not UTF-8");
}

int json_parse(const char *text, size_t n, JsonFlags flags, JsonValue **ret, JsonError *ret_error) {
        JsonValue *root;
        Reader r = { .text = text, .size = n, .line = 1, .column = 1, .flags = flags, .error = ret_error };
        unsigned max = flags & JSON_LARGE ? JSON_LARGE_MAX : JSON_SIZE_MAX;
        int q;

        if (n > max)
                return fail_at(&r, -E2BIG, 1, 1, "The text is larger than %u bytes", max);
        q = check_utf8(&r);
        if (q < 0)
                return q;
        if (arena_begin(&r.arena, MIN(n * ARENA_PER_BYTE, (size_t) ARENA_BEGIN_MAX)) < 0)
                return -ENOMEM;
        root = take_value(&r);
        if (!root) {
                arena_free(r.arena);
                return -ENOMEM;
        }
        q = read_document(&r, root);
        if (q < 0) {
                arena_free(r.arena);
                return q;
        }
        root->arena = r.arena;
        *ret = root;
        return 0;
}

JsonValue *json_ref(JsonValue *root) {
        root->n_more_refs++;
        return root;
}

JsonValue *json_free(JsonValue *root) {
        if (!root)
                return NULL;
        if (root->n_more_refs > 0)
                root->n_more_refs--;
        else
                arena_free(root->arena);
        return NULL;
}

JsonValue *json_get(const JsonValue *v, const char *key) {
        JsonValue *item;

        if (!v || v->type != JSON_OBJECT)
                return NULL;
        JSON_FOREACH (item, v)
                if (streq(item->key, key))
                        return item;
        return NULL;
}

/* Bytes of a number written in decimals. */
#define INDEX_MAX 20U

/* Writes "/token" of v before end; returns where it begins. */
static char *pointer_token(const JsonValue *v, char *end) {
        size_t index = v->index;

        if (!v->key)
                do
                        *--end = (char) ('0' + index % 10);
                while ((index /= 10) > 0);
        else
                for (const char *s = v->key + strlen(v->key); s > v->key;) {
                        char c = *--s;

                        *--end = c == '~' ? '0' : c == '/' ? '1' : c;
                        if (c == '~' || c == '/')
                                *--end = '~';
                }
        *--end = '/';
        return end;
}

char *json_pointer(const JsonValue *v) {
        size_t room = 1, length;
        char *text, *begin;

        for (const JsonValue *at = v; at && at->parent; at = at->parent)
                room += 1 + (at->key ? strlen(at->key) * 2 : INDEX_MAX);
        text = malloc(room);
        if (!text)
                return NULL;
        begin = text + room - 1;
        *begin = 0;
        for (const JsonValue *at = v; at && at->parent; at = at->parent)
                begin = pointer_token(at, begin);
        length = (size_t) (text + room - begin);
        memmove(text, begin, length);
        return text;
}
