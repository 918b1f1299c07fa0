/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Unit tests: TEST(name) { … } registers a case, ASSERT_* end it where they do not hold, SKIP() where it cannot run
 * here. The program prints TAP and fails if one case did. One of each test program's files includes this. */

#include <setjmp.h>

#include "basic/string-util.h"

typedef struct TestCase {
        const char *name;
        void (*run)(void);
        struct TestCase *next;
} TestCase;

static TestCase *test_first, **test_last = &test_first;
static jmp_buf test_end;
enum { TEST_FAILED = 1, TEST_SKIPPED };

#define TEST(name)                                                           \
        static void test_##name(void);                                       \
        static void __attribute__((__constructor__)) register_##name(void) { \
                static TestCase test_case = { #name, test_##name, NULL };    \
                *test_last = &test_case;                                     \
                test_last = &test_case.next;                                 \
        }                                                                    \
        static void test_##name(void)

static _noreturn_ _unused_
_printf_(3, 4) void test_fail(const char *file, int line, const char *format, ...) {
        va_list ap;

        printf("# %s:%d: ", file, line);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        putchar('\n');
        longjmp(test_end, TEST_FAILED);
}

static const char *test_skip_reason;
static _noreturn_ _unused_ void test_skip(const char *reason) {
        test_skip_reason = reason;
        longjmp(test_end, TEST_SKIPPED);
}
#define SKIP(reason) test_skip(reason)

#define ASSERT_TRUE(x)                                                     \
        ({                                                                 \
                if (!(x))                                                  \
                        test_fail(__FILE__, __LINE__, "expected: %s", #x); \
        })
#define ASSERT_FALSE(x)    ASSERT_TRUE(!(x))
#define ASSERT_NULL(x)     ASSERT_TRUE((x) == NULL)
#define ASSERT_NOT_NULL(x) ASSERT_TRUE((x) != NULL)

#define ASSERT_INTEGERS(a, op, b)                                                                   \
        ({                                                                                          \
                long long _a = (long long) (a), _b = (long long) (b);                               \
                if (!(_a op _b))                                                                    \
                        test_fail(__FILE__, __LINE__, "%s %s %s: %lld, %lld", #a, #op, #b, _a, _b); \
        })
#define ASSERT_EQ(a, b) ASSERT_INTEGERS(a, ==, b)
#define ASSERT_NE(a, b) ASSERT_INTEGERS(a, !=, b)
#define ASSERT_LT(a, b) ASSERT_INTEGERS(a, <, b)
#define ASSERT_LE(a, b) ASSERT_INTEGERS(a, <=, b)
#define ASSERT_GT(a, b) ASSERT_INTEGERS(a, >, b)
#define ASSERT_GE(a, b) ASSERT_INTEGERS(a, >=, b)

#define ASSERT_OK(x)                                                                                       \
        ({                                                                                                 \
                long long _r = (long long) (x);                                                            \
                if (_r < 0)                                                                                \
                        test_fail(__FILE__, __LINE__, "%s failed: %lld (%s)", #x, _r, STRERROR((int) _r)); \
        })
#define ASSERT_ERROR(x, e) ASSERT_INTEGERS(x, ==, -(e))

#define ASSERT_STREQ(a, b)                                             \
        ({                                                             \
                const char *_a = (a), *_b = (b);                       \
                if (!streq_ptr(_a, _b))                                \
                        test_fail(__FILE__,                            \
                                  __LINE__,                            \
                                  "%s is not %s:\n# \"%s\"\n# \"%s\"", \
                                  #a,                                  \
                                  #b,                                  \
                                  _a ? _a : "(null)",                  \
                                  _b ? _b : "(null)");                 \
        })
#define ASSERT_CONTAINS(text, part)                                                                 \
        ({                                                                                          \
                const char *_a = (text), *_b = (part);                                              \
                if (!_a || !strstr(_a, _b))                                                         \
                        test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", _b, _a ? _a : "(null)"); \
        })
#define ASSERT_LACKS(text, part)                                                                    \
        ({                                                                                          \
                const char *_a = (text), *_b = (part);                                              \
                if (!_a || strstr(_a, _b))                                                          \
                        test_fail(__FILE__, __LINE__, "\"%s\" is in:\n%s", _b, _a ? _a : "(null)"); \
        })

/* 0, TEST_FAILED or TEST_SKIPPED. */
static int test_run(TestCase *t) {
        int how = setjmp(test_end);

        if (how == 0)
                t->run();
        return how;
}

int main(void) {
        unsigned n = 0, failed = 0;

        setvbuf(stdout, NULL, _IOLBF, 0);
        for (TestCase *t = test_first; t; t = t->next) {
                int how = test_run(t);

                failed += how == TEST_FAILED;
                printf("%sok %u - %s%s%s\n",
                       how == TEST_FAILED ? "not " : "",
                       ++n,
                       t->name,
                       how == TEST_SKIPPED ? " # SKIP " : "",
                       how == TEST_SKIPPED ? test_skip_reason : "");
        }
        printf("1..%u\n", n);
        return failed > 0;
}
