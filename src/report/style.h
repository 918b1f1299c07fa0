/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How text may look where it goes: colours and a width only for a terminal, symbols only where the locale is UTF-8. */

#include "basic/macro.h"

typedef enum Tone {
        TONE_PLAIN,
        TONE_GOOD,
        TONE_WARN,
        TONE_BAD,
        TONE_DIM,
        TONE_BOLD,
        _TONE_MAX,
} Tone;

typedef struct ReportStyle {
        bool colors;
        bool utf8;
        unsigned columns; /* 0: no terminal, lines are as long as they are */
} ReportStyle;

/* What suits fd: NO_COLOR (https://no-color.org) and TERM=dumb switch colours off, COLUMNS overrides the terminal's own
 * width. The locale is the process's (the caller did setlocale()). */
void report_style_init(ReportStyle *ret, int fd);

/* The escape sequences of a tone, "" without colours. */
const char *style_on(const ReportStyle *style, Tone tone);
const char *style_off(const ReportStyle *style, Tone tone);

/* Prints text word by word, wrapped at the style's width, every line but the first indented by indent columns; the
 * cursor stands at column start. Control characters are escaped. Ends with a newline. -ENOMEM. */
int style_print_wrapped(
                FILE *f, const ReportStyle *style, unsigned start, unsigned indent, const char *text);
