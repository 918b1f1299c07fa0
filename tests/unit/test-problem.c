/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/problem.h"
#include "test.h"

TEST(a_problem_names_its_place) {
        static const char text[] = "{\n \"a\": { \"b/c\": 1 } }";
        _cleanup_problems_ ProblemList list = {};
        _cleanup_json_ JsonValue *v = NULL;
        _cleanup_free_ char *at_value = NULL, *at_key = NULL, *nowhere = NULL;
        JsonValue *member;

        ASSERT_OK(json_parse(text, strlen(text), JSON_STRICT, &v, NULL));
        member = json_get(json_get(v, "a"), "b/c");
        problem_add(&list, PROBLEM_ERROR, "MCP-X", "f.json", member, "Do this.", "Number %d is bad.", 5);
        problem_add_key(&list, PROBLEM_WARNING, "MCP-Y", "f.json", member, NULL, "The key is bad.");
        problem_add(&list, PROBLEM_NOTE, "MCP-Z", NULL, NULL, NULL, "All is well.");
        ASSERT_EQ(list.n_items, 3);
        at_value = problem_format(list.items);
        at_key = problem_format(list.items + 1);
        nowhere = problem_format(list.items + 2);
        ASSERT_STREQ(at_value, "f.json:2:16: error: Number 5 is bad. Do this. [MCP-X at /a/b~1c]");
        ASSERT_STREQ(at_key, "f.json:2:9: warning: The key is bad. [MCP-Y at /a/b~1c]");
        ASSERT_STREQ(nowhere, "note: All is well. [MCP-Z]");
}

TEST(only_errors_are_errors) {
        _cleanup_problems_ ProblemList list = {}, more = {};

        ASSERT_FALSE(problem_list_has_errors(&list));
        problem_add(&list, PROBLEM_WARNING, "MCP-X", NULL, NULL, NULL, "Hm.");
        ASSERT_FALSE(problem_list_has_errors(&list));
        problem_add(&more, PROBLEM_ERROR, "MCP-Y", NULL, NULL, NULL, "No.");
        problem_list_take(&list, &more);
        ASSERT_TRUE(problem_list_has_errors(&list));
        ASSERT_EQ(list.n_items, 2);
        ASSERT_EQ(more.n_items, 0);
        more.failed = true;
        ASSERT_TRUE(problem_list_has_errors(&more));
}

TEST(lists_grow_and_move) {
        _cleanup_problems_ ProblemList list = {}, more = {};

        for (size_t i = 0; i < 100; i++) {
                problem_add_at(&more, PROBLEM_NOTE, "MCP-X", "f", 1, (unsigned) i, "/a", NULL, "%zu", i);
                if (i % 7 == 0)
                        problem_list_take(&list, &more);
        }
        ASSERT_OK(problem_list_copy(&list, &more));
        ASSERT_EQ(list.n_items, 100);
        for (size_t i = 0; i < 100; i++)
                ASSERT_EQ(list.items[i].column, i);
}

TEST(terminals_are_safe) {
        _cleanup_problems_ ProblemList list = {};
        _cleanup_free_ char *s = NULL;

        problem_add(&list, PROBLEM_ERROR, "MCP-X", "a\nb", NULL, "\x1b[0m", "%s", "\x1b[31mred");
        s = problem_format(list.items);
        ASSERT_LACKS(s, "\x1b");
        ASSERT_LACKS(s, "\n");
        ASSERT_CONTAINS(s, "\\x1b[31mred");
}
