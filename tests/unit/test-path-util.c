/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/path-util.h"
#include "test.h"

TEST(prefixes_go_by_component) {
        ASSERT_TRUE(path_startswith("/a/b", "/a"));
        ASSERT_TRUE(path_startswith("/a", "/a"));
        ASSERT_TRUE(path_startswith("//a//b/", "/a/"));
        ASSERT_TRUE(path_startswith("/a", "/"));
        ASSERT_FALSE(path_startswith("/a/bc", "/a/b"));
        ASSERT_FALSE(path_startswith("/a", "/a/b"));
        ASSERT_TRUE(path_equal("/a//b", "/a/b/"));
        ASSERT_FALSE(path_equal("/a/b", "/a"));
}

TEST(simplifying) {
        static const struct {
                const char *in, *out;
        } table[] = {
                { "/a//b/./c/", "/a/b/c" },
                { "/", "/" },
                { "//", "/" },
                { "", "." },
                { "a/./b", "a/b" },
                { "./", "." },
                { "/a/../b", "/a/../b" },
                { "/.", "/" },
                { "/.a/..b", "/.a/..b" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *s = path_simplify(table[i].in);

                ASSERT_STREQ(s, table[i].out);
        }
}

TEST(dotdot) {
        ASSERT_TRUE(path_has_dotdot("/a/../b"));
        ASSERT_TRUE(path_has_dotdot(".."));
        ASSERT_TRUE(path_has_dotdot("/a/.."));
        ASSERT_FALSE(path_has_dotdot("/a/..b/.c/..."));
}

TEST(joining) {
        _cleanup_free_ char *a = path_join("/a", "b"), *b = path_join("/a/", "b"),
                            *c = path_join("/a", "/b"), *d = path_join("", "b");

        ASSERT_STREQ(a, "/a/b");
        ASSERT_STREQ(b, "/a/b");
        ASSERT_STREQ(c, "/b");
        ASSERT_STREQ(d, "b");
        ASSERT_STREQ(path_basename("/a/b"), "b");
        ASSERT_STREQ(path_basename("b"), "b");
        ASSERT_STREQ(path_basename("/a/"), "");
}
