/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Lines out of a byte stream: one message per line, as MCP's stdio framing has it.
 *
 * The cost is linear in the bytes, however they are cut: nothing is looked at twice, a line is handed out in place.
 * The memory is bounded by max: a line that grows beyond it is dropped up to its newline, and reported once. */

#include "basic/macro.h"

typedef struct LineBuffer {
        char *data;
        size_t start;     /* first byte not handed out yet */
        size_t scanned;   /* no newline between start and here */
        size_t end;       /* behind the last byte */
        size_t allocated; /* always one more than is filled: room for a NUL */
        size_t max;       /* longest line, without its newline */
        bool discarding;  /* inside a line that was too long */
} LineBuffer;

#define LINE_BUFFER_INIT(longest) ((LineBuffer){ .max = (longest) })

void line_buffer_done(LineBuffer *b);
#define _cleanup_line_buffer_ _cleanup_(line_buffer_done)

/* One read() from fd. The number of bytes; 0 at the end of the file; -EAGAIN where fd doesn't block and has nothing;
 * any other negative errno. EINTR is retried. */
ssize_t line_buffer_read(LineBuffer *b, int fd);

int line_buffer_append(LineBuffer *b, const void *data, size_t n); /* 0 or -ENOMEM */

/* 1 and the next line, its newline replaced by NUL; it belongs to the buffer and is good until the next call. It may
 * hold NUL bytes of its own. 0: no whole line yet. -EMSGSIZE: a line is too long; the call after that goes on with
 * the line behind it. */
int line_buffer_next(LineBuffer *b, char **ret_line, size_t *ret_n);

/* What is there of the line that has no end yet, NUL-terminated like a line; *ret_n is 0 where there is nothing. */
const char *line_buffer_rest(LineBuffer *b, size_t *ret_n);
