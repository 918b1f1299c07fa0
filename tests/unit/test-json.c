/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/json.h"
#include "test.h"

static JsonError error;

static int parse_n(const char *text, size_t n, JsonFlags flags, JsonValue **ret) {
        error = (JsonError){};
        return json_parse(text, n, flags, ret, &error);
}

static JsonValue *parse(const char *text, JsonFlags flags) {
        JsonValue *v = NULL;
        int r;

        r = parse_n(text, strlen(text), flags, &v);
        if (r < 0)
                test_fail(__FILE__, __LINE__, "%s: %u:%u %s", text, error.line, error.column, error.message);
        return v;
}

static void refused_at(const char *text, JsonFlags flags, unsigned line, unsigned column, const char *part) {
        JsonValue *v = NULL;

        if (parse_n(text, strlen(text), flags, &v) >= 0)
                test_fail(__FILE__, __LINE__, "accepted: %s", text);
        ASSERT_NULL(v);
        ASSERT_CONTAINS(error.message, part);
        ASSERT_EQ(error.line, line);
        ASSERT_EQ(error.column, column);
}

TEST(scalars_have_their_types) {
        _cleanup_json_ JsonValue *v =
                        parse("[null, true, false, -0, 12, 1.5, 1e3, \"\xc3\xa4\\n\"]", JSON_STRICT);
        static const JsonType types[] = { JSON_NULL,    JSON_BOOLEAN, JSON_BOOLEAN, JSON_INTEGER,
                                          JSON_INTEGER, JSON_REAL,    JSON_REAL,    JSON_STRING };

        ASSERT_EQ(v->n_items, ELEMENTSOF(types));
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                ASSERT_EQ(v->items[i]->type, types[i]);
        ASSERT_EQ(v->items[4]->integer, 12);
        ASSERT_TRUE(v->items[5]->real > 1.4 && v->items[5]->real < 1.6);
        ASSERT_STREQ(v->items[7]->string, "\xc3\xa4\n");
}

TEST(integers_keep_every_bit) {
        _cleanup_json_ JsonValue *v = parse(
                        "[9223372036854775807, -9223372036854775808, 9223372036854775808]", JSON_STRICT);

        ASSERT_TRUE(v->items[0]->integer == INT64_MAX);
        ASSERT_TRUE(v->items[1]->integer == INT64_MIN);
        ASSERT_EQ(v->items[2]->type, JSON_REAL);
}

TEST(everything_knows_its_place) {
        _cleanup_json_ JsonValue *v = parse("{\n  \"\xc3\xa4\": 1, \"b\": [\n    true ] }", JSON_STRICT);
        JsonValue *b = json_get(v, "b");
        _cleanup_free_ char *pointer = NULL;

        ASSERT_EQ(v->line, 1);
        ASSERT_EQ(v->column, 1);
        /* A column is a character, not a byte. */
        ASSERT_EQ(b->key_line, 2);
        ASSERT_EQ(b->key_column, 11);
        ASSERT_EQ(b->column, 16);
        ASSERT_EQ(b->items[0]->line, 3);
        ASSERT_EQ(b->items[0]->column, 5);
        pointer = json_pointer(b->items[0]);
        ASSERT_STREQ(pointer, "/b/0");
}

TEST(pointers_are_escaped) {
        _cleanup_json_ JsonValue *v = parse("{\"c/d~e\": {\"\": 1}}", JSON_STRICT);
        _cleanup_free_ char *pointer = json_pointer(v->items[0]->items[0]), *root = json_pointer(v);

        ASSERT_STREQ(pointer, "/c~1d~0e/");
        ASSERT_STREQ(root, "");
}

TEST(strings_may_hold_nul_and_pairs) {
        _cleanup_json_ JsonValue *v =
                        parse("[\"a\\u0000b\", \"\\ud83d\\ude00\", \"\\\\ud800\"]", JSON_STRICT);

        ASSERT_EQ(v->items[0]->string_length, 3);
        ASSERT_TRUE(memcmp(v->items[0]->string, "a\0b", 4) == 0);
        ASSERT_STREQ(v->items[1]->string, "\xf0\x9f\x98\x80");
        ASSERT_STREQ(v->items[2]->string, "\\ud800");
}

TEST(half_a_surrogate_pair_is_refused) {
        refused_at("[\"\\ud800\"]", JSON_STRICT, 1, 2, "surrogate");
        refused_at("[\"\\ud800x\"]", JSON_RELAXED, 1, 2, "surrogate");
        refused_at("[\"\\udc00\"]", JSON_STRICT, 1, 2, "surrogate");
        refused_at("[\"\\ud800\\ud800\"]", JSON_STRICT, 1, 2, "surrogate");
}

TEST(what_is_no_json_is_refused_where_it_stands) {
        refused_at("", JSON_STRICT, 1, 1, "ends");
        refused_at("{\"a\" 1}", JSON_STRICT, 1, 6, "colon");
        refused_at("[1 2]", JSON_STRICT, 1, 4, "comma");
        refused_at("{a: 1}", JSON_STRICT, 1, 2, "double quotes");
        refused_at("['a']", JSON_STRICT, 1, 2, "double quotes");
        refused_at("[\n\"abc", JSON_STRICT, 2, 1, "not closed");
        refused_at("[\"a\\", JSON_STRICT, 1, 2, "not closed");
        refused_at("{\"a\": [1", JSON_STRICT, 1, 7, "not closed");
        refused_at("{} x", JSON_STRICT, 1, 4, "behind the end");
        refused_at("[\"a\tb\"]", JSON_STRICT, 1, 4, "control character");
        refused_at("[\"\\x\"]", JSON_STRICT, 1, 2, "escape");
        refused_at("{\"a\\u0000\": 1}", JSON_STRICT, 1, 2, "NUL");
        refused_at("{\"a\": 1, }", JSON_STRICT, 1, 10, "key");
        refused_at("[1,]", JSON_STRICT, 1, 4, "value");
}

TEST(numbers_are_json_numbers) {
        static const char *const bad[] = { "01", "+1",  ".5",  "1.",       "1e",
                                           "-",  "0x1", "NaN", "Infinity", "1e999" };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                JsonValue *v = NULL;

                if (parse_n(bad[i], strlen(bad[i]), JSON_STRICT, &v) >= 0)
                        test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
        }
}

TEST(duplicate_keys) {
        _cleanup_json_ JsonValue *v = NULL;

        refused_at("{\"a\": 1, \"b\": 2,\n \"a\": 3}", JSON_STRICT, 2, 2, "\"a\" is there twice");
        /* As the clients do it: the last one wins. */
        v = parse("{\"a\": 1, \"b\": 2, \"a\": 3, \"a\": 4, \"a\": 5, \"b\": 6}", JSON_RELAXED);
        ASSERT_EQ(v->n_items, 2);
        ASSERT_EQ(json_get(v, "a")->integer, 5);
        ASSERT_EQ(json_get(v, "b")->integer, 6);
        ASSERT_EQ(json_get(v, "b")->index, 1);
}

TEST(depth_is_limited) {
        _cleanup_json_ JsonValue *deepest = NULL;
        char text[2 * (JSON_DEPTH_MAX + 1) + 1] = "";

        memset(text, '[', JSON_DEPTH_MAX);
        memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
        deepest = parse(text, JSON_STRICT);
        memset(text, '[', JSON_DEPTH_MAX + 1);
        memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
        ASSERT_ERROR(json_parse(text, strlen(text), JSON_STRICT, &deepest, &error), E2BIG);
        ASSERT_EQ(error.column, JSON_DEPTH_MAX + 1);
}

TEST(size_is_limited) {
        _cleanup_free_ char *text = malloc(JSON_SIZE_MAX + 1);
        _cleanup_json_ JsonValue *v = NULL;

        ASSERT_NOT_NULL(text);
        memset(text, ' ', JSON_SIZE_MAX + 1);
        text[0] = '1';
        ASSERT_ERROR(json_parse(text, JSON_SIZE_MAX + 1, JSON_STRICT, &v, NULL), E2BIG);
        ASSERT_OK(json_parse(text, JSON_SIZE_MAX, JSON_STRICT, &v, NULL));
}

TEST(only_utf8_is_accepted) {
        refused_at("{\"\xc3\xa4\": \"\xe4\"}", JSON_STRICT, 1, 8, "UTF-8");
        refused_at("[\"\xff\"]", JSON_RELAXED, 1, 3, "UTF-8");
        refused_at("[\"\xed\xa0\x80\"]", JSON_STRICT, 1, 3, "UTF-8"); /* a surrogate */
        refused_at("[\"\xc0\xaf\"]", JSON_STRICT, 1, 3, "UTF-8");     /* '/', overlong */
}

TEST(a_nul_byte_ends_nothing) {
        JsonValue *v = NULL;

        ASSERT_ERROR(parse_n("{}\0{}", 5, JSON_STRICT, &v), EINVAL);
        ASSERT_ERROR(parse_n("[\"a\0b\"]", 7, JSON_STRICT, &v), EINVAL);
}

TEST(relaxed_takes_what_editors_write) {
        static const char text[] = "\xef\xbb\xbf{ // a comment\n \"a\": [1, /* two */ 2,],\n}";
        _cleanup_json_ JsonValue *v = parse(text, JSON_RELAXED);

        ASSERT_EQ(json_get(v, "a")->n_items, 2);
        ASSERT_EQ(json_get(v, "a")->line, 2);
        refused_at(text, JSON_STRICT, 1, 1, "byte order mark");
        refused_at("{ // x\n}", JSON_STRICT, 1, 3, "Comments");
        refused_at("{ /* x", JSON_RELAXED, 1, 3, "not closed");
        refused_at("[,]", JSON_RELAXED, 1, 2, "value");
}

TEST(a_tree_may_have_more_owners) {
        JsonValue *first = parse("{\"a\": [1]}", JSON_STRICT), *second = json_ref(first);

        json_free(first);
        ASSERT_EQ(json_get(second, "a")->items[0]->integer, 1);
        json_free(second);
}

TEST(relaxed_says_which_earlier_member_is_lost) {
        static const char text[] = "{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3,\n\"a\": 4 }";
        _cleanup_json_ JsonValue *v = NULL;

        ASSERT_OK(json_parse(text, strlen(text), JSON_RELAXED, &v, NULL));
        ASSERT_EQ(json_get(v, "a")->integer, 4);
        ASSERT_EQ(json_get(v, "a")->hidden_line, 4);
        ASSERT_EQ(json_get(v, "b")->hidden_line, 0);
}
