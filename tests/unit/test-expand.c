/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/expand.h"
#include "test.h"

static char *environment[] = {
        (char *) "HOME=/home/x", (char *) "A=1", (char *) "EMPTY=", (char *) "T=~/t", NULL
};

typedef struct Case {
        const char *in, *out; /* out NULL: refused */
        const char *part;     /* of the message */
} Case;

static void check(const Case *c, Dialect dialect, ExpandFlags flags) {
        JsonValue root = { .type = JSON_OBJECT };
        JsonValue args = { .type = JSON_ARRAY, .parent = &root, .key = (char *) "args" };
        const JsonValue at = { .type = JSON_STRING, .parent = &args, .line = 3, .column = 4 };
        Text text = { .value = c->in, .at = &at };
        Definition d = { .file = (char *) "f.json", .dialect = dialect };
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *out = NULL, *message = NULL;
        int r;

        r = text_expand(&text, &d, environment, flags, &out, &problems);
        if (c->out) {
                if (r != 0 || !streq_ptr(out, c->out))
                        test_fail(__FILE__, __LINE__, "%s: %d, %s", c->in, r, strempty(out));
                ASSERT_EQ(problems.n_items, 0);
                return;
        }
        if (r != -EINVAL)
                test_fail(__FILE__, __LINE__, "%s: %d, %s", c->in, r, strempty(out));
        ASSERT_NULL(out);
        message = problem_format(problems.items);
        ASSERT_CONTAINS(message, "f.json:3:4: error: ");
        ASSERT_CONTAINS(message, " at /args/0]");
        ASSERT_CONTAINS(message, c->part);
}

TEST(references) {
        static const Case cases[] = {
                { "", "" },
                { "plain", "plain" },
                { "${A}", "1" },
                { "x${A}y${A}z", "x1y1z" },
                { "${EMPTY}", "" },
                { "${EMPTY:-d}", "d" },
                { "${NONE:-}", "" },
                { "${NONE:-a b/c}", "a b/c" },
                { "${A:-d}", "1" },
                { "${env:A}", "1" },
                { "${env: A }", "1" },
                { "${NONE}", NULL, "NONE" },
                { "${env:NONE}", NULL, "NONE" },
                { "${env:EMPTY}", NULL, "EMPTY" },
                { "${env:a b}", NULL, "env:" },
                { "${NONE:-${A}}", NULL, "NONE" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check(cases + i, DIALECT_OWN, EXPAND_TEXT);
}

TEST(everything_else_stays_as_written) {
        static const Case cases[] = {
                { "$A $$ $", "$A $$ $" },
                { "${var%pattern}", "${var%pattern}" },
                { "${#A} ${A[0]} ${!A} ${A-x} ${1} ${}", "${#A} ${A[0]} ${!A} ${A-x} ${1} ${}" },
                { "${A", "${A" },
                { "${", "${" },
                { "${x%${A}}", "${x%1}" },
                { "{A} {env:A}", "{A} {env:A}" },
                { "~/x", "~/x" }, /* no path */
                { "${workspaceFolder-x}", "${workspaceFolder-x}" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check(cases + i, DIALECT_OWN, EXPAND_TEXT);
}

TEST(placeholders_of_others_are_never_passed_on) {
        static const Case any[] = {
                { "${keyring:token}", NULL, "keyring:token" },
                { "${input:id}", NULL, "input:id" },
        };
        static const Case editor[] = {
                { "${workspaceFolder}/x", NULL, "workspaceFolder" },
                { "${workspaceFolder:root}", NULL, "workspaceFolder" },
                { "${config:a.b}", NULL, "config:a.b" },
                { "${userHome}/x", "/home/x/x" },
                { "a${/}b${pathSeparator}c", "a/b/c" },
        };

        for (size_t i = 0; i < ELEMENTSOF(any); i++)
                for (Dialect d = 0; d < _DIALECT_MAX; d++)
                        check(any + i, d, EXPAND_TEXT);
        for (size_t i = 0; i < ELEMENTSOF(editor); i++) {
                check(editor + i, DIALECT_VSCODE, EXPAND_TEXT);
                check(editor + i, DIALECT_CLIENT, EXPAND_TEXT);
        }
}

TEST(home) {
        static const Case cases[] = {
                { "~/x", "/home/x/x" },
                { "~", "/home/x" },
                { "~x/y", "~x/y" },
                { "/a/~/b", "/a/~/b" },
                { "${NONE:-~/x}", "/home/x/x" },
                { "${T}", "/home/x/t" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check(cases + i, DIALECT_OWN, EXPAND_PATH);
}

TEST(without_home_no_path) {
        Text text = { .value = "~/x" };
        Definition d = { .file = (char *) "f.json" };
        _cleanup_problems_ ProblemList problems = {};
        char *out = NULL;

        ASSERT_ERROR(text_expand(&text, &d, NULL, EXPAND_PATH, &out, &problems), EINVAL);
        ASSERT_NULL(out);
        ASSERT_CONTAINS(problems.items[0].message, "HOME");
}

TEST(a_value_is_never_in_a_message) {
        char *env[] = { (char *) "SECRET=hunter2", NULL };
        Text text = { .value = "${SECRET}${NONE}" };
        Definition d = { .file = (char *) "f.json" };
        _cleanup_problems_ ProblemList problems = {};
        char *out = NULL;

        ASSERT_ERROR(text_expand(&text, &d, env, EXPAND_TEXT, &out, &problems), EINVAL);
        ASSERT_LACKS(problems.items[0].message, "hunter2");
        ASSERT_LACKS(strempty(problems.items[0].remedy), "hunter2");
}
