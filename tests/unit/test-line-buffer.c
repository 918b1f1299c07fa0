/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>

#include "basic/fd-util.h"
#include "basic/line-buffer.h"
#include "test.h"

static void check_next(LineBuffer *b, const char *expected) {
        char *line;
        size_t n;

        ASSERT_EQ(line_buffer_next(b, &line, &n), 1);
        ASSERT_STREQ(line, expected);
        ASSERT_EQ(n, strlen(expected));
}

TEST(lines_however_cut) {
        static const char text[] = "one\n\ntwo words\nthree";

        for (size_t piece = 1; piece <= strlen(text); piece++) {
                _cleanup_line_buffer_ LineBuffer b = LINE_BUFFER_INIT(100);
                static const char *const lines[] = { "one", "", "two words" };
                size_t found = 0, n;
                char *line;

                for (size_t i = 0; i < strlen(text); i += piece) {
                        ASSERT_OK(line_buffer_append(&b, text + i, MIN(piece, strlen(text) - i)));
                        while (line_buffer_next(&b, &line, &n) == 1) {
                                ASSERT_LT(found, ELEMENTSOF(lines));
                                ASSERT_STREQ(line, lines[found]);
                                found++;
                        }
                }
                ASSERT_EQ(found, ELEMENTSOF(lines));
                ASSERT_STREQ(line_buffer_rest(&b, &n), "three");
                ASSERT_EQ(n, 5);
        }
}

TEST(too_long_is_said_once) {
        _cleanup_line_buffer_ LineBuffer b = LINE_BUFFER_INIT(4);
        char *line;
        size_t n;

        ASSERT_OK(line_buffer_append(&b, "abcd", 4));
        ASSERT_EQ(line_buffer_next(&b, &line, &n), 0);
        ASSERT_OK(line_buffer_append(&b, "e", 1));
        ASSERT_ERROR(line_buffer_next(&b, &line, &n), EMSGSIZE);
        ASSERT_OK(line_buffer_append(&b, "fghijkl", 7));
        ASSERT_EQ(line_buffer_next(&b, &line, &n), 0);
        (void) line_buffer_rest(&b, &n);
        ASSERT_EQ(n, 0);
        ASSERT_OK(line_buffer_append(&b, "m\nabcd\nabcde\nxy\n", 16));
        check_next(&b, "abcd");
        ASSERT_ERROR(line_buffer_next(&b, &line, &n), EMSGSIZE);
        check_next(&b, "xy");
        ASSERT_EQ(line_buffer_next(&b, &line, &n), 0);
}

TEST(memory_stays_flat_without_newlines) {
        _cleanup_line_buffer_ LineBuffer b = LINE_BUFFER_INIT(1 << 20);
        static char block[1 << 16];
        unsigned said = 0;
        char *line;
        size_t n;

        memset(block, 'x', sizeof(block));
        for (unsigned i = 0; i < 4096; i++) { /* 256 MiB */
                ASSERT_OK(line_buffer_append(&b, block, sizeof(block)));
                said += line_buffer_next(&b, &line, &n) == -EMSGSIZE;
                ASSERT_LE(b.allocated, 4U << 20);
        }
        ASSERT_EQ(said, 1);
}

TEST(nul_bytes_are_part_of_a_line) {
        _cleanup_line_buffer_ LineBuffer b = LINE_BUFFER_INIT(100);
        char *line;
        size_t n;

        ASSERT_OK(line_buffer_append(&b, "a\0b\n", 4));
        ASSERT_EQ(line_buffer_next(&b, &line, &n), 1);
        ASSERT_EQ(n, 3);
        ASSERT_EQ(memcmp(line, "a\0b", 3), 0);
}

TEST(reads_from_a_descriptor) {
        _cleanup_line_buffer_ LineBuffer b = LINE_BUFFER_INIT(100);
        int fds[2];

        ASSERT_OK(pipe2(fds, O_CLOEXEC | O_NONBLOCK));
        ASSERT_EQ(line_buffer_read(&b, fds[0]), -EAGAIN);
        ASSERT_OK(fd_write_all(fds[1], "x\ny", 3));
        ASSERT_EQ(line_buffer_read(&b, fds[0]), 3);
        check_next(&b, "x");
        (void) close(fds[1]);
        ASSERT_EQ(line_buffer_read(&b, fds[0]), 0);
        (void) close(fds[0]);
}
