/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/quantity.h"
#include "basic/string-util.h"

/* A decimal number, exact: whole + fraction / scale. */
typedef struct Decimal {
        uint64_t whole, fraction, scale;
} Decimal;

bool quantity_is_infinity(const char *s) {
        return streq(s, "infinity") || streq(s, "unlimited");
}

/* Reads digits, or digits.digits, at *s and moves on behind them. Digits behind the ninth decimal place are dropped. */
static int decimal_read(const char **s, Decimal *ret) {
        Decimal d = { .scale = 1 };
        const char *p = *s;

        if (*p < '0' || *p > '9')
                return -EINVAL;
        for (; *p >= '0' && *p <= '9'; p++)
                if (__builtin_mul_overflow(d.whole, 10, &d.whole) ||
                    __builtin_add_overflow(d.whole, (uint64_t) (*p - '0'), &d.whole))
                        return -ERANGE;
        if (*p == '.') {
                p++;
                if (*p < '0' || *p > '9')
                        return -EINVAL;
                for (; *p >= '0' && *p <= '9'; p++)
                        if (d.scale < 1000000000) {
                                d.fraction = d.fraction * 10 + (uint64_t) (*p - '0');
                                d.scale *= 10;
                        }
        }
        *s = p;
        *ret = d;
        return 0;
}

/* d * factor, rounded to the nearest. -ERANGE where it does not fit. */
static int decimal_scale(const Decimal *d, uint64_t factor, uint64_t *ret) {
        unsigned __int128 v;

        v = (unsigned __int128) d->whole * factor;
        v += ((unsigned __int128) d->fraction * factor + d->scale / 2) / d->scale;
        if (v > (unsigned __int128) (UINT64_MAX - 2))
                return -ERANGE;
        *ret = (uint64_t) v;
        return 0;
}

int size_parse(const char *s, uint64_t *ret) {
        static const char units[] = "kmgtpe";
        uint64_t factor = 1;
        const char *unit;
        Decimal d;
        int r;

        r = decimal_read(&s, &d);
        if (r < 0)
                return r;
        unit = *s ? strchr(units, *s | 0x20) : NULL;
        if (unit) {
                factor = UINT64_C(1) << (10 * (unit - units + 1));
                s++;
        }
        if (*s && !streq(s, "B") && !(unit && streq(s, "iB")))
                return -EINVAL;
        if (!unit && d.scale > 1)
                return -EINVAL;
        return decimal_scale(&d, factor, ret);
}

static const struct {
        const char *name;
        uint64_t nsec;
} time_units[] = {
        { "ns", 1 },
        { "us", 1000 },
        { "\xc2\xb5s", 1000 }, /* U+00B5 */
        { "\xce\xbcs", 1000 }, /* U+03BC: Go takes both */
        { "usec", 1000 },
        { "ms", 1000000 },
        { "msec", 1000000 },
        { "s", 1000000000 },
        { "sec", 1000000000 },
        { "second", 1000000000 },
        { "seconds", 1000000000 },
        { "m", 60 * UINT64_C(1000000000) },
        { "min", 60 * UINT64_C(1000000000) },
        { "minute", 60 * UINT64_C(1000000000) },
        { "minutes", 60 * UINT64_C(1000000000) },
        { "h", 3600 * UINT64_C(1000000000) },
        { "hr", 3600 * UINT64_C(1000000000) },
        { "hour", 3600 * UINT64_C(1000000000) },
        { "hours", 3600 * UINT64_C(1000000000) },
        { "d", 86400 * UINT64_C(1000000000) },
        { "day", 86400 * UINT64_C(1000000000) },
        { "days", 86400 * UINT64_C(1000000000) },
        { "w", 7 * 86400 * UINT64_C(1000000000) },
        { "week", 7 * 86400 * UINT64_C(1000000000) },
        { "weeks", 7 * 86400 * UINT64_C(1000000000) },
};

/* The unit at *s, which ends at a digit, a blank or the end. */
static int time_unit_read(const char **s, uint64_t *ret) {
        size_t n = strcspn(*s, "0123456789. ");

        for (size_t i = 0; i < ELEMENTSOF(time_units); i++)
                if (strlen(time_units[i].name) == n && strncmp(*s, time_units[i].name, n) == 0) {
                        *s += n;
                        *ret = time_units[i].nsec;
                        return 0;
                }
        return -EINVAL;
}

int duration_parse(const char *s, uint64_t *ret_usec) {
        uint64_t sum = 0;
        bool first = true;
        int r;

        do {
                uint64_t unit, part;
                Decimal d;

                r = decimal_read(&s, &d);
                if (r < 0)
                        return r;
                if (*s == ' ' && s[1])
                        s++;
                if (*s == 0 && first)
                        unit = 1000000000;
                else {
                        r = time_unit_read(&s, &unit);
                        if (r < 0)
                                return r;
                }
                r = decimal_scale(&d, unit, &part);
                if (r < 0)
                        return r;
                if (__builtin_add_overflow(sum, part, &sum))
                        return -ERANGE;
                if (*s == ' ' && s[1])
                        s++;
                first = false;
        } while (*s);
        *ret_usec = sum / 1000;
        return 0;
}

int cpu_parse(const char *s, uint64_t *ret_permille) {
        Decimal d;
        int r;

        r = decimal_read(&s, &d);
        if (r < 0)
                return r;
        if (streq(s, "%"))
                return decimal_scale(&d, 10, ret_permille);
        return *s ? -EINVAL : decimal_scale(&d, 1000, ret_permille);
}
