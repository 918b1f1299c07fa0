/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/line-buffer.h"

#define READ_SIZE (64U * 1024U)
#define KEEP_SIZE (1024U * 1024U) /* more than this is given back once it is empty */

void line_buffer_done(LineBuffer *b) {
        free(b->data);
        *b = LINE_BUFFER_INIT(b->max);
}

/* Room for n more bytes and a NUL. Moving and growing are both paid for by as many bytes consumed or filled. */
static int line_buffer_reserve(LineBuffer *b, size_t n) {
        size_t used = b->end - b->start, allocated;
        char *p;

        if (used == 0) {
                b->start = b->scanned = b->end = 0;
                if (b->allocated > KEEP_SIZE && n <= READ_SIZE) {
                        free(b->data);
                        b->data = NULL;
                        b->allocated = 0;
                }
        }
        if (b->allocated > b->end && b->allocated - b->end > n)
                return 0;
        if (b->start > 0 && b->start >= used) {
                memmove(b->data, b->data + b->start, used);
                b->scanned -= b->start;
                b->end = used;
                b->start = 0;
                if (b->allocated - b->end > n)
                        return 0;
        }
        if (n >= SIZE_MAX / 2 - b->end)
                return -ENOMEM;
        allocated = MAX(b->allocated * 2, b->end + n + 1);
        p = realloc(b->data, allocated);
        if (!p)
                return -ENOMEM;
        b->data = p;
        b->allocated = allocated;
        return 0;
}

ssize_t line_buffer_read(LineBuffer *b, int fd) {
        ssize_t n;
        int r;

        r = line_buffer_reserve(b, READ_SIZE);
        if (r < 0)
                return r;
        do
                n = read(fd, b->data + b->end, b->allocated - b->end - 1);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        b->end += (size_t) n;
        return n;
}

int line_buffer_append(LineBuffer *b, const void *data, size_t n) {
        int r;

        if (n == 0)
                return 0;
        r = line_buffer_reserve(b, n);
        if (r < 0)
                return r;
        memcpy(b->data + b->end, data, n);
        b->end += n;
        return 0;
}

int line_buffer_next(LineBuffer *b, char **ret_line, size_t *ret_n) {
        while (b->scanned < b->end) {
                char *line = b->data + b->start, *newline;
                size_t n;

                newline = memchr(b->data + b->scanned, '\n', b->end - b->scanned);
                if (!newline) {
                        b->scanned = b->end;
                        break;
                }
                n = (size_t) (newline - line);
                b->start = b->scanned = (size_t) (newline - b->data) + 1;
                if (b->discarding) {
                        b->discarding = false;
                        continue;
                }
                if (n > b->max)
                        return -EMSGSIZE;
                *newline = 0;
                *ret_line = line;
                *ret_n = n;
                return 1;
        }
        if (b->discarding)
                b->start = b->scanned = b->end;
        else if (b->end - b->start > b->max) {
                b->start = b->scanned = b->end;
                b->discarding = true;
                return -EMSGSIZE;
        }
        return 0;
}

const char *line_buffer_rest(LineBuffer *b, size_t *ret_n) {
        *ret_n = b->discarding ? 0 : b->end - b->start;
        if (*ret_n == 0)
                return "";
        b->data[b->end] = 0;
        return b->data + b->start;
}
