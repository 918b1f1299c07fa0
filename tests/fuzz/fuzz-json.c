/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The JSON reader: what strict accepts relaxed accepts, and every value stands where it says. */

#include "basic/json.h"
#include "basic/string-util.h"
#include "fuzz.h"

static const char *place(const char *text, size_t size, unsigned line, unsigned column) {
        const char *end = text + size;

        for (; line > 1; line--) {
                text = memchr(text, '\n', (size_t) (end - text));
                FUZZ_ASSERT(text);
                text++;
        }
        for (; column > 1; column--) {
                FUZZ_ASSERT(text < end && *text != '\n');
                for (text++; text < end && (*text & 0xc0) == 0x80; text++)
                        ;
        }
        FUZZ_ASSERT(text < end);
        return text;
}

static void check(const char *text, size_t size, const JsonValue *v) {
        static const char first[_JSON_TYPE_MAX] = {
                [JSON_NULL] = 'n', [JSON_STRING] = '"', [JSON_ARRAY] = '[', [JSON_OBJECT] = '{'
        };
        _cleanup_free_ char *pointer = NULL;
        const char *at = place(text, size, v->line, v->column);
        const JsonValue *item;

        FUZZ_ASSERT(v->type >= 0 && v->type < _JSON_TYPE_MAX);
        FUZZ_ASSERT(first[v->type] == 0 || *at == first[v->type]);
        FUZZ_ASSERT(!v->key || (v->parent && v->parent->type == JSON_OBJECT));
        FUZZ_ASSERT(v->type != JSON_STRING || string_is_utf8(v->string, v->string_length));
        if (v->key) {
                FUZZ_ASSERT(*place(text, size, v->key_line, v->key_column) == '"');
                FUZZ_ASSERT(json_get(v->parent, v->key) == v);
        }
        pointer = json_pointer(v);
        FUZZ_ASSERT(pointer);
        JSON_FOREACH (item, v) {
                FUZZ_ASSERT(item->parent == v);
                FUZZ_ASSERT(v->items[item->index] == item);
                check(text, size, item);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_json_ JsonValue *strict = NULL, *relaxed = NULL;
        const char *text = (const char *) data;
        JsonError e = {};
        int r;

        r = json_parse(text, size, JSON_STRICT, &strict, &e);
        if (r >= 0)
                check(text, size, strict);
        else {
                FUZZ_ASSERT(!strict);
                FUZZ_ASSERT(r == -ENOMEM || (e.line > 0 && e.column > 0 && e.message[0]));
        }
        r = json_parse(text, size, JSON_RELAXED, &relaxed, NULL);
        FUZZ_ASSERT(r >= 0 || !strict);
        /* A byte order mark is no column. */
        if (relaxed && !(size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0))
                check(text, size, relaxed);
        return 0;
}
