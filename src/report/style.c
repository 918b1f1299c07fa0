/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Terminals differ, and half of the readers are pipes: every decision on looks is taken here, once. */

#include <langinfo.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include "basic/string-util.h"
#include "report/style.h"

#define COLUMNS_DEFAULT 80U
#define COLUMNS_MIN     40U

static const char *const tone_table[_TONE_MAX] = {
        [TONE_PLAIN] = "",         [TONE_GOOD] = "\033[32m", [TONE_WARN] = "\033[33m",
        [TONE_BAD] = "\033[1;31m", [TONE_DIM] = "\033[2m",   [TONE_BOLD] = "\033[1m",
};

static unsigned terminal_columns(int fd) {
        const char *e = getenv("COLUMNS");
        struct winsize size = {};

        if (e) {
                char *end;
                unsigned long n;

                errno = 0;
                n = strtoul(e, &end, 10);
                if (errno == 0 && end != e && *end == '\0' && n >= COLUMNS_MIN && n <= UINT16_MAX)
                        return n;
        }
        if (ioctl(fd, TIOCGWINSZ, &size) >= 0 && size.ws_col >= COLUMNS_MIN)
                return size.ws_col;
        return COLUMNS_DEFAULT;
}

void report_style_init(ReportStyle *ret, int fd) {
        bool terminal = isatty(fd);

        *ret = (ReportStyle){
                .colors = terminal && isempty(getenv("NO_COLOR")) &&
                          !streq(strempty(getenv("TERM")), "dumb"),
                .utf8 = streq(nl_langinfo(CODESET), "UTF-8"),
                .columns = terminal ? terminal_columns(fd) : 0,
        };
}

const char *style_on(const ReportStyle *style, Tone tone) {
        return style->colors ? tone_table[tone] : "";
}

const char *style_off(const ReportStyle *style, Tone tone) {
        return style->colors && tone != TONE_PLAIN ? "\033[0m" : "";
}

/* Columns of n bytes; a byte that is no character of the locale counts as one. */
static unsigned text_columns(const char *s, size_t n) {
        unsigned columns = 0;
        mbstate_t state = {};

        while (n > 0) {
                wchar_t c;
                size_t k = mbrtowc(&c, s, n, &state);
                int w;

                if (k == 0)
                        break;
                if (k == (size_t) -1 || k == (size_t) -2) {
                        state = (mbstate_t){};
                        k = 1;
                        w = 1;
                } else
                        w = wcwidth(c);
                columns += w > 0 ? w : 0;
                s += k;
                n -= k;
        }
        return columns;
}

int style_print_wrapped(
                FILE *f, const ReportStyle *style, unsigned start, unsigned indent, const char *text) {
        _cleanup_free_ char *safe = string_escape_control(text);
        unsigned column = start;
        bool first = true;

        if (!safe)
                return -ENOMEM;
        for (const char *p = safe; *p;) {
                size_t n = strcspn(p, " ");
                unsigned width = text_columns(p, n);

                if (!first && style->columns > 0 && column + 1 + width > style->columns) {
                        fprintf(f, "\n%*s", (int) indent, "");
                        column = indent;
                } else if (!first) {
                        fputc(' ', f);
                        column++;
                }
                fwrite(p, 1, n, f);
                column += width;
                first = false;
                p += n;
                p += strspn(p, " ");
        }
        fputc('\n', f);
        return 0;
}
