/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A JSON reader that knows where everything stands.
 *
 * Ours, because json-c keeps no positions, accepts duplicate keys and has no notion of "strict except for comments". The
 * result is a tree that is read-only and owned by its root. Lines and columns count from 1; a column counts characters
 * (code points), not bytes.
 *
 * Strict: RFC 8259, UTF-8 without a byte order mark, no duplicate keys, no lone surrogates. JSON_RELAXED additionally takes // and
 * comments in C style, trailing commas and a byte order mark (what VS Code, Zed and hand-edited client files hold);
 * of a duplicate key the last one wins, as in those clients.
 *
 * Limits: text of JSON_SIZE_MAX bytes (JSON_LARGE: more), JSON_DEPTH_MAX nested arrays and objects. */

#include "basic/arena.h"
#include "basic/macro.h"

#define JSON_SIZE_MAX  (1024U * 1024U)
#define JSON_LARGE_MAX (32U * 1024U * 1024U)
#define JSON_DEPTH_MAX 32U

typedef enum JsonType {
        JSON_NULL,
        JSON_BOOLEAN,
        JSON_INTEGER, /* written without fraction and exponent, and fits int64_t */
        JSON_REAL,    /* any other number, also an integer too large for int64_t */
        JSON_STRING,  /* may contain NUL: compare string_length with strlen() where it matters */
        JSON_ARRAY,
        JSON_OBJECT,
        _JSON_TYPE_MAX,
} JsonType;

typedef enum JsonFlags {
        JSON_STRICT = 0,
        JSON_RELAXED = 1 << 0,
        JSON_LARGE = 1 << 1,      /* up to JSON_LARGE_MAX: clients keep their history beside their servers */
        JSON_DUPLICATES = 1 << 2, /* strict, but duplicate keys stay: it is for the caller to judge them */
} JsonFlags;

typedef struct JsonValue JsonValue;
struct JsonValue {
        JsonType type;
        unsigned line, column;         /* of the value's first character */
        unsigned key_line, key_column; /* of the key, for a member of an object */
        unsigned hidden_line; /* relaxed: the last earlier member of the same key, which is lost; 0: none */
        JsonValue *parent;    /* NULL for the root */
        char *key;            /* the member's key, decoded; NULL in arrays and for the root */
        size_t index;         /* place in the parent */
        bool boolean;
        int64_t integer;
        uint64_t natural; /* the value of a number written as an integer from 0 to UINT64_MAX, else 0 */
        double real;
        char *string;
        size_t string_length;
        JsonValue **items; /* array elements or object members, in the text's order */
        size_t n_items;
        unsigned n_more_refs; /* of a root: owners besides the first (json_ref) */
        Arena *arena;         /* of a root: what all of its tree is in, this value too */
};

/* Why a text was not accepted. */
typedef struct JsonError {
        unsigned line, column;
        char message[160]; /* a sentence without the full stop, no secret and no part of a string value in it */
} JsonError;

/* Parses text (n bytes, need not end in NUL). -EINVAL: not accepted, *ret_error (may be NULL) says why; -E2BIG: too
 * large or too deep, likewise; -ENOMEM. On failure *ret is untouched. */
int json_parse(const char *text, size_t n, JsonFlags flags, JsonValue **ret, JsonError *ret_error);

/* Frees the tree, or gives up one ownership of it where json_ref() made more. root may be NULL; always NULL. */
JsonValue *json_free(JsonValue *root);
JsonValue *json_ref(JsonValue *root); /* one more owner of the tree; returns root */
DEFINE_TRIVIAL_CLEANUP_FUNC(JsonValue *, json_free);
#define _cleanup_json_ _cleanup_(json_freep)

const char *json_type_to_string(JsonType type); /* "an object", "a string" …: for messages */

/* The member key of an object, or NULL (also where v is NULL or no object). */
JsonValue *json_get(const JsonValue *v, const char *key);

/* The JSON pointer (RFC 6901) of v, "" for the root. NULL: out of memory. */
char *json_pointer(const JsonValue *v);

/* Iterates over the items of v (NULL allowed); item is a JsonValue * declared before. */
#define JSON_FOREACH(item, v)                                                                           \
        for (size_t _i_##item = 0; (v) && _i_##item < (v)->n_items && ((item) = (v)->items[_i_##item]); \
             _i_##item++)
