/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/definition.h"
#include "config/quantity.h"
#include "test.h"

typedef int (*Parser)(const char *s, uint64_t *ret);

typedef struct Case {
        const char *text;
        uint64_t value;
        int error;
} Case;

static void check(Parser parser, const Case *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                uint64_t value = 4711;
                int r = parser(cases[i].text, &value);

                if (r != -cases[i].error || value != (r < 0 ? 4711 : cases[i].value))
                        test_fail(__FILE__,
                                  __LINE__,
                                  "\"%s\": %d, %llu",
                                  cases[i].text,
                                  r,
                                  (unsigned long long) value);
        }
}

TEST(sizes) {
        static const Case cases[] = {
                { "0", 0 },
                { "123", 123 },
                { "1K", 1024 },
                { "512m", UINT64_C(512) << 20 },
                { "512M", UINT64_C(512) << 20 },
                { "1.5G", UINT64_C(1536) << 20 },
                { "64KiB", 65536 },
                { "2MB", UINT64_C(2) << 20 },
                { "7B", 7 },
                { "1T", UINT64_C(1) << 40 },
                { "15E", UINT64_C(15) << 60 },
                { "16E", 0, ERANGE },
                { "99999999999999999999", 0, ERANGE },
                { "", 0, EINVAL },
                { "M", 0, EINVAL },
                { "-1", 0, EINVAL },
                { "1.5", 0, EINVAL },
                { "1.M", 0, EINVAL },
                { "1 M", 0, EINVAL },
                { "1X", 0, EINVAL },
                { "1iB", 0, EINVAL },
                { "50%", 0, EINVAL },
                { "infinity", 0, EINVAL },
        };

        check(size_parse, cases, ELEMENTSOF(cases));
}

TEST(durations) {
        static const Case cases[] = {
                { "5", 5 * USEC_PER_SEC },
                { "0", 0 },
                { "5s", 5 * USEC_PER_SEC },
                { "500ms", USEC_PER_SEC / 2 },
                { "1h30m", 5400 * USEC_PER_SEC },
                { "1min 30s", 90 * USEC_PER_SEC },
                { "5 min", 300 * USEC_PER_SEC },
                { "1.5h", 5400 * USEC_PER_SEC },
                { "2days", 172800 * USEC_PER_SEC },
                { "1w", 604800 * USEC_PER_SEC },
                { "3us", 3 },
                { "3\xc2\xb5s", 3 },
                { "1500ns", 1 },
                { "0.5", USEC_PER_SEC / 2 },
                { "", 0, EINVAL },
                { "s", 0, EINVAL },
                { "-5s", 0, EINVAL },
                { "5 ", 0, EINVAL },
                { " 5", 0, EINVAL },
                { "1h30", 0, EINVAL },
                { "5x", 0, EINVAL },
                { "1s,", 0, EINVAL },
                { "99999999999999h", 0, ERANGE },
        };

        check(duration_parse, cases, ELEMENTSOF(cases));
}

TEST(shares_of_a_cpu) {
        static const Case cases[] = {
                { "150%", 1500 },    { "100%", 1000 },      { "12.5%", 125 },     { "1.5", 1500 },
                { "2", 2000 },       { "0.001", 1 },        { "", 0, EINVAL },    { "%", 0, EINVAL },
                { "-1", 0, EINVAL }, { "1.5x", 0, EINVAL }, { "5%%", 0, EINVAL },
        };

        check(cpu_parse, cases, ELEMENTSOF(cases));
}

TEST(words_for_no_end) {
        ASSERT_TRUE(quantity_is_infinity("infinity"));
        ASSERT_TRUE(quantity_is_infinity("unlimited"));
        ASSERT_FALSE(quantity_is_infinity("inf"));
        ASSERT_FALSE(quantity_is_infinity(""));
}
