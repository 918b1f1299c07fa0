/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/json-edit.h"
#include "basic/string-util.h"
#include "test.h"

static char *made;

/* The text after the change, or NULL. key_of: the member that holds the object, NULL: the document. */
static const char *set(const char *text, const char *key_of, const char *key, const char *literal) {
        _cleanup_json_ JsonValue *root = NULL, *again = NULL;
        size_t size;

        free(made);
        made = NULL;
        ASSERT_OK(json_parse(text, strlen(text), JSON_RELAXED, &root, NULL));
        if (json_edit_set(text,
                          strlen(text),
                          key_of ? json_get(root, key_of) : root,
                          key,
                          literal,
                          &made,
                          &size) < 0)
                return NULL;
        ASSERT_EQ(strlen(made), size);
        ASSERT_OK(json_parse(made, size, JSON_RELAXED, &again, NULL));
        ASSERT_NOT_NULL(json_get(key_of ? json_get(again, key_of) : again, key));
        return made;
}

TEST(a_value_is_replaced_where_it_stands) {
        ASSERT_STREQ(set("{\"a\":1,\"enabled\" : true , \"b\":2}", NULL, "enabled", "false"),
                     "{\"a\":1,\"enabled\" : false , \"b\":2}");
        ASSERT_STREQ(set("{\n  \"ä\": \"ö\", \"x\": \"q\\\"}\" // end\n}\n", NULL, "x", "null"),
                     "{\n  \"ä\": \"ö\", \"x\": null // end\n}\n");
        ASSERT_STREQ(set("{\"x\":-1.5e3}", NULL, "x", "7"), "{\"x\":7}");
        ASSERT_STREQ(set("\xef\xbb\xbf{\"x\":1}", NULL, "x", "2"), "\xef\xbb\xbf{\"x\":2}");
}

TEST(of_an_inner_object_too) {
        ASSERT_STREQ(set("{\"x\":1,\"in\":{\"x\":1}}", "in", "x", "2"), "{\"x\":1,\"in\":{\"x\":2}}");
}

TEST(a_new_member_is_laid_out_as_the_first) {
        ASSERT_STREQ(set("{\n\t\"a\": 1\n}", NULL, "x", "true"), "{\n\t\"x\": true,\n\t\"a\": 1\n}");
        ASSERT_STREQ(set("{\"a\":1}", NULL, "x", "true"), "{\"x\": true,\"a\":1}");
        ASSERT_STREQ(set("{ // note\n    \"a\":1}", NULL, "x", "1"),
                     "{\n    \"x\": 1, // note\n    \"a\":1}");
        ASSERT_STREQ(set("{}", NULL, "x", "1"), "{ \"x\": 1 }");
}

TEST(what_is_no_scalar_is_left_alone) {
        ASSERT_NULL(set("{\"x\":[1]}", NULL, "x", "2"));
        ASSERT_NULL(set("{\"x\":{}}", NULL, "x", "2"));
        ASSERT_NULL(set("[1]", NULL, "x", "2"));
        ASSERT_NULL(set("{\"in\":3}", "in", "x", "2"));
        ASSERT_NULL(set("{}", "missing", "x", "2"));
}
