/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What becomes of a server's stderr on its way to the journal: lines, of which long ones are split and none is lost;
 * a limit on their rate; and the last ones, kept for the message that tells a client why its server is gone. */

#include "basic/macro.h"

#define LINE_SIZE_MAX  (48U * 1024U) /* journald's own LineMax= default */
#define TAIL_LINES     20U
#define TAIL_LINE_SIZE 512U

/* Cuts at newlines and, as journald does, at NUL; a line longer than LINE_SIZE_MAX comes in pieces, none of which ends
 * inside a UTF-8 character. line is not NUL-terminated. continued: it goes on with a line that was begun before. */
typedef void (*line_handler_t)(void *userdata, const char *line, size_t size, bool continued);

typedef struct LineSplitter {
        char *buffer;
        size_t size, allocated;
        bool continued;
} LineSplitter;

void line_splitter_done(LineSplitter *s);
int line_splitter_feed(
                LineSplitter *s, const char *data, size_t size, line_handler_t handler, void *userdata);
void line_splitter_flush(
                LineSplitter *s, line_handler_t handler, void *userdata); /* the end: what has no newline */

/* "<3>text": the priority, and *text and *size behind it; fallback where there is none. */
int line_take_priority(const char **text, size_t *size, int fallback);

/* A token bucket: rate per second, burst at most. Times are CLOCK_MONOTONIC. */
typedef struct RateLimit {
        uint64_t rate, burst;
        uint64_t level, last_usec;
} RateLimit;

#define RATE_LIMIT_INIT(r, b) ((RateLimit){ .rate = (r), .burst = (b), .level = (b) })
bool rate_limit_take(RateLimit *l, uint64_t now_usec, uint64_t cost);

/* The last lines, each cut to TAIL_LINE_SIZE bytes with its control characters escaped. */
typedef struct LineTail {
        char *lines[TAIL_LINES]; /* a ring */
        size_t next;
} LineTail;

void line_tail_done(LineTail *t);
void line_tail_add(LineTail *t, const char *line, size_t size);
int line_tail_get(const LineTail *t, char ***ret); /* oldest first */
