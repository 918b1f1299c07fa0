/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/jsonc-util.h"
#include "test.h"

static const struct {
        const char *text;
        int result;
        const char *back; /* how it is written again */
} parse_table[] = {
        { "{\"a\":[1,-2.5e3,true,null]} \r", 0, "{\"a\":[1,-2.5e3,true,null]}" },
        { "42", 0, "42" },
        { "null", 0, "null" },
        { "\"\\ud83d\\ude00\"", 0, "\"\xf0\x9f\x98\x80\"" },
        { "\"\\ud800\"", 0, "\"\xef\xbf\xbd\"" }, /* a lone surrogate is no character */
        { "\"a\\u0000b/\"", 0, "\"a\\u0000b/\"" },
        { "{\"a\":1,\"a\":2}", 0, "{\"a\":2}" },
        { "", -EBADMSG, NULL },
        { "   ", -EBADMSG, NULL },
        { "{} x", -EBADMSG, NULL },
        { "[1", -EBADMSG, NULL },
        { "[1,]", -EBADMSG, NULL },
        { "{a:1}", -EBADMSG, NULL },
        { "{'a':1}", -EBADMSG, NULL },
        { "NaN", -EBADMSG, NULL },
        { "-Infinity", -EBADMSG, NULL },
        { "/* x */ 1", -EBADMSG, NULL },
        { "\"a\tb\"", -EBADMSG, NULL },
        { "\xef\xbb\xbf{}", -EBADMSG, NULL },
        /* Beyond ASCII json-c is not asked in the same way everywhere, and no less strict. */
        { "{\"\xc3\xa4\":[\"\xf0\x9f\x98\x80\\n\"]}", 0, "{\"\xc3\xa4\":[\"\xf0\x9f\x98\x80\\n\"]}" },
        { "[\"\xc3\xa4\",]", -EBADMSG, NULL },
        { "{'\xc3\xa4':1}", -EBADMSG, NULL },
        { "[\"\xc3\xa4\", NaN]", -EBADMSG, NULL },
        { "/* \xc3\xa4 */ 1", -EBADMSG, NULL },
        { "\"\\\xc3\xa4\"", -EBADMSG, NULL },
        { "\"\\u00\xc3\xa4\"", -EBADMSG, NULL },
        { "[\xc3\xa4]", -EBADMSG, NULL },
        { "\"\xff\"", -EILSEQ, NULL },
        { "\"\xc3\"", -EILSEQ, NULL },
        { "\"\xed\xa0\x80\"", -EILSEQ, NULL },
};

TEST(parse) {
        for (size_t i = 0; i < ELEMENTSOF(parse_table); i++) {
                _cleanup_jsonc_ json_object *o = NULL;
                int r;

                r = jsonc_parse(parse_table[i].text, strlen(parse_table[i].text), &o);
                printf("# %s\n", parse_table[i].text);
                ASSERT_EQ(r, parse_table[i].result);
                if (r == 0)
                        ASSERT_STREQ(jsonc_to_text(o, NULL), parse_table[i].back);
        }
}

TEST(nul_byte_ends_nothing) {
        _cleanup_jsonc_ json_object *o = NULL;

        ASSERT_ERROR(jsonc_parse("{}\0", 3, &o), EBADMSG);
        ASSERT_ERROR(jsonc_parse("{}\0{", 4, &o), EBADMSG);
}

TEST(depth) {
        char text[2 * (JSONC_DEPTH_MAX + 1)];
        _cleanup_jsonc_ json_object *o = NULL;

        memset(text, '[', JSONC_DEPTH_MAX + 1);
        memset(text + JSONC_DEPTH_MAX + 1, ']', JSONC_DEPTH_MAX + 1);
        ASSERT_ERROR(jsonc_parse(text, sizeof(text), &o), EBADMSG);
        ASSERT_EQ(jsonc_parse(text + 2, sizeof(text) - 4, &o), 0);
}

TEST(values) {
        _cleanup_jsonc_ json_object *o = NULL;
        _cleanup_free_ char *text = NULL;
        size_t n = JSONC_WEIGHT_MAX + 1;

        text = malloc(n);
        ASSERT_NOT_NULL(text);
        memset(text, '[', n);
        ASSERT_ERROR(jsonc_parse(text, n, &o), E2BIG);
        memset(text, ',', n); /* no values inside a string */
        text[0] = text[n - 1] = '"';
        ASSERT_EQ(jsonc_parse(text, n, &o), 0);
}

TEST(members) {
        _cleanup_jsonc_ json_object *o = NULL;

        o = jsonc_new_pair("a", "x", "b", "y");
        ASSERT_NOT_NULL(o);
        ASSERT_ERROR(jsonc_add(o, "c", NULL), ENOMEM);
        ASSERT_OK(jsonc_add(o, "n", json_object_new_string_len("p\0q", 3)));
        ASSERT_STREQ(jsonc_get_string(o, "b"), "y");
        ASSERT_NULL(jsonc_get_string(o, "n"));
        ASSERT_NULL(jsonc_get_string(o, "missing"));
        ASSERT_NULL(jsonc_get_string(NULL, "a"));
        ASSERT_NULL(jsonc_get(o, "a", json_type_object));
        ASSERT_NOT_NULL(jsonc_get(o, "n", json_type_string));
}
