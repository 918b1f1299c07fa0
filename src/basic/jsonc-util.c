/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>

#include "basic/jsonc-util.h"
#include "basic/string-util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(json_tokener *, json_tokener_free);

/* What a character stands for in memory, counted in small values: json-c makes arrays with 32 slots and objects with
 * 16 entries, however few are used. */
static size_t character_weight(char c) {
        switch (c) {
        case ',':
                return 1;
        case '[':
                return 8;
        case '{':
                return 16;
        default:
                return 0;
        }
}

/* json-c's strict mode still takes 'text', NaN, Infinity and raw control characters in strings, which no client's
 * parser does, and any number of values. 0, -EBADMSG or -E2BIG. */
static int check_text(const char *text, size_t n) {
        bool in_string = false;
        size_t weight = 0;

        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char) text[i];

                if (c == '"')
                        in_string = !in_string;
                else if (in_string && c == '\\')
                        i++;
                else if (in_string ? c < 0x20 : c == 0 || !strchr("{}[]:, \t\r\n0123456789+-.Eaeflnrstu", c))
                        return -EBADMSG;
                else if (!in_string) {
                        weight += character_weight(text[i]);
                        if (weight > JSONC_WEIGHT_MAX)
                                return -E2BIG;
                }
        }
        return 0;
}

static int parse_with(int flags, const char *text, size_t n, json_object **ret) {
        _cleanup_(json_tokener_freep) json_tokener *tokener = NULL;
        json_object *value;
        enum json_tokener_error error;

        tokener = json_tokener_new_ex(JSONC_DEPTH_MAX);
        if (!tokener)
                return -ENOMEM;
        json_tokener_set_flags(tokener, flags);
        value = json_tokener_parse_ex(tokener, text, (int) n);
        error = json_tokener_get_error(tokener);
        if (error == json_tokener_continue) {
                /* A number ends only where something follows: say that nothing does. */
                value = json_tokener_parse_ex(tokener, "", 1);
                error = json_tokener_get_error(tokener);
        }
        if (error != json_tokener_success)
                return -EBADMSG;
        *ret = value;
        return 0;
}

/* json-c 0.18, when it is strict, takes every byte of a character beyond ASCII for a control character. Such bytes may
 * be in strings only, where they are no different from a letter: it is strict with letters in their places, then. */
static int parse_strictly(const char *text, size_t n, json_object **ret) {
        _cleanup_free_ char *letters = NULL;
        json_object *value = NULL;
        bool beyond = false;
        int r;

        r = parse_with(JSON_TOKENER_STRICT, text, n, ret);
        if (r != -EBADMSG)
                return r;
        letters = malloc(n);
        if (!letters)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                letters[i] = (unsigned char) text[i] < 0x80 ? text[i] : 'x';
                beyond = beyond || letters[i] != text[i];
        }
        if (!beyond)
                return -EBADMSG;
        r = parse_with(JSON_TOKENER_STRICT, letters, n, &value);
        if (r < 0)
                return r;
        json_object_put(value);
        return parse_with(0, text, n, ret);
}

int jsonc_parse(const char *text, size_t n, json_object **ret) {
        int r;

        if (n > INT_MAX)
                return -EMSGSIZE;
        if (!string_is_utf8(text, n))
                return -EILSEQ;
        /* json-c takes a NUL for the end of the text and would not see what is behind it. */
        if (n == 0 || memchr(text, 0, n))
                return -EBADMSG;
        r = check_text(text, n);
        if (r < 0)
                return r;
        return parse_strictly(text, n, ret);
}

int jsonc_add(json_object *object, const char *key, json_object *value) {
        if (!value)
                return -ENOMEM;
        if (json_object_object_add(object, key, value) < 0) {
                (void) json_object_put(value);
                return -ENOMEM;
        }
        return 0;
}

int jsonc_add_string(json_object *object, const char *key, const char *s) {
        return jsonc_add(object, key, json_object_new_string(s));
}

int jsonc_append(json_object *array, json_object *value) {
        if (!value)
                return -ENOMEM;
        if (json_object_array_add(array, value) < 0) {
                (void) json_object_put(value);
                return -ENOMEM;
        }
        return 0;
}

json_object *jsonc_new_pair(const char *key1, const char *s1, const char *key2, const char *s2) {
        _cleanup_jsonc_ json_object *o = NULL;

        o = json_object_new_object();
        if (!o || jsonc_add_string(o, key1, s1) < 0 || (key2 && jsonc_add_string(o, key2, s2) < 0))
                return NULL;
        return TAKE_PTR(o);
}

json_object *jsonc_get(json_object *object, const char *key, json_type type) {
        json_object *value;

        if (!json_object_is_type(object, json_type_object) ||
            !json_object_object_get_ex(object, key, &value))
                return NULL;
        return json_object_is_type(value, type) ? value : NULL;
}

const char *jsonc_get_string(json_object *object, const char *key) {
        json_object *value = jsonc_get(object, key, json_type_string);
        const char *s;

        if (!value)
                return NULL;
        s = json_object_get_string(value);
        return strlen(s) == (size_t) json_object_get_string_len(value) ? s : NULL;
}

const char *jsonc_to_text(json_object *value, size_t *ret_n) {
        return json_object_to_json_string_length(
                        value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, ret_n);
}
