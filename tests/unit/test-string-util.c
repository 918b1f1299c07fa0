/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test.h"

TEST(prefixes_and_suffixes) {
        ASSERT_STREQ(startswith("abc", "ab"), "c");
        ASSERT_STREQ(startswith("abc", ""), "abc");
        ASSERT_NULL(startswith("ab", "abc"));
        ASSERT_TRUE(endswith("x.json", ".json"));
        ASSERT_FALSE(endswith("json", ".json"));
}

TEST(control_characters_are_escaped) {
        static const struct {
                const char *in, *out;
        } table[] = {
                { "plain \xc3\xa4", "plain \xc3\xa4" },
                { "a\nb\x1b[31m", "a\\x0ab\\x1b[31m" },
                { "\x7f", "\\x7f" },
                { "\xc2\x9b", "\\xc2\\x9b" }, /* C1: some terminals take it for ESC [ */
                { "\xff\xfe", "\\xff\\xfe" },
                { "a\xe2\x80\xaetxt", "a\\xe2\\x80\\xaetxt" }, /* RIGHT-TO-LEFT OVERRIDE */
                { "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
                { "\xe2\x80\xa8", "\\xe2\\x80\\xa8" }, /* LINE SEPARATOR */
                { "\xe2\x80\xa6 \xe2\x82\xac", "\xe2\x80\xa6 \xe2\x82\xac" },
                { "", "" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *s = string_escape_control(table[i].in);

                ASSERT_STREQ(s, table[i].out);
        }
}

TEST(utf8_is_what_the_standard_says) {
        static const char *const good[] = {
                "", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"
        };
        static const char *const bad[] = { "\x80",
                                           "\xc3",
                                           "\xc0\x80",
                                           "\xc1\xbf",
                                           "\xe0\x80\x80",
                                           "\xed\xa0\x80",
                                           "\xf0\x80\x80\x80",
                                           "\xf4\x90\x80\x80",
                                           "\xf5\x80\x80\x80",
                                           "\xe2\x82" };

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                ASSERT_TRUE(string_is_utf8(good[i], strlen(good[i])));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ASSERT_FALSE(string_is_utf8(bad[i], strlen(bad[i])));
        ASSERT_TRUE(string_is_utf8("a\0b", 3));
}

TEST(distance_counts_edits) {
        ASSERT_EQ(string_distance("", ""), 0);
        ASSERT_EQ(string_distance("abc", "abc"), 0);
        ASSERT_EQ(string_distance("abc", "acb"), 1);
        ASSERT_EQ(string_distance("abc", "ab"), 1);
        ASSERT_EQ(string_distance("abc", "xabc"), 1);
        ASSERT_EQ(string_distance("kitten", "sitting"), 3);
        ASSERT_EQ(string_distance("", "abc"), 3);
}

TEST(nearest_is_near) {
        static const char *const table[] = { "command", "args", "env", "isolation", NULL };

        ASSERT_STREQ(string_nearest("comand", table), "command");
        ASSERT_STREQ(string_nearest("isolatoin", table), "isolation");
        ASSERT_STREQ(string_nearest("agrs", table), "args");
        ASSERT_NULL(string_nearest("tags", table)); /* two edits are too many for four letters */
        ASSERT_NULL(string_nearest("id", table));
        ASSERT_NULL(string_nearest("something", table));
        ASSERT_NULL(string_nearest("", table));
}

TEST(lists) {
        _cleanup_strv_free_ char **l = NULL, **copy = NULL, **split = NULL;
        _cleanup_free_ char *joined = NULL, *nothing = NULL;

        ASSERT_EQ(strv_length(l), 0);
        ASSERT_OK(strv_extend(&l, "a"));
        ASSERT_OK(strv_extendf(&l, "%d", 5));
        ASSERT_ERROR(strv_consume(&l, NULL), ENOMEM);
        ASSERT_EQ(strv_length(l), 2);
        ASSERT_TRUE(strv_contains(l, "5"));
        ASSERT_FALSE(strv_contains(l, "b"));
        copy = strv_copy(l);
        joined = strv_join(copy, ", ");
        ASSERT_STREQ(joined, "a, 5");
        nothing = strv_join(NULL, ", ");
        ASSERT_STREQ(nothing, "");
        ASSERT_OK(strv_split(" a  b ", " ", &split));
        ASSERT_EQ(strv_length(split), 2);
        ASSERT_STREQ(split[1], "b");
}

TEST(environments) {
        _cleanup_strv_free_ char **env = NULL;

        ASSERT_OK(env_set(&env, "A", "1"));
        ASSERT_OK(env_set(&env, "AB", "2"));
        ASSERT_OK(env_set(&env, "A", "3=4"));
        ASSERT_STREQ(env_get(env, "A"), "3=4");
        ASSERT_STREQ(env_get(env, "AB"), "2");
        ASSERT_NULL(env_get(env, "B"));
        ASSERT_OK(env_set(&env, "A", NULL));
        ASSERT_OK(env_set(&env, "A", NULL));
        ASSERT_NULL(env_get(env, "A"));
        ASSERT_EQ(strv_length(env), 1);
        ASSERT_TRUE(env_name_is_valid("_A1"));
        ASSERT_FALSE(env_name_is_valid(""));
        ASSERT_FALSE(env_name_is_valid("1A"));
        ASSERT_FALSE(env_name_is_valid("A B"));
        ASSERT_FALSE(env_name_is_valid("\xc3\xa4"));
}
