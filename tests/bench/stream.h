/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stream-race and stream-server say to each other: a Request, so many messages of so many bytes, and then so many bytes
 * of an answer. With a processor both stay on it from there on: nothing but the stream then differs between two servers. */

#include <stddef.h>
#include <stdint.h>

enum {
        MESSAGE_MAX = 64 * 1024 * 1024,
};

typedef struct Request {
        uint64_t size, count, answer;
        uint64_t processor; /* its number and 1; 0: none is asked for */
} Request;

/* 0, or what errno says; ENODATA: the other side is done. */
int stream_read(int fd, void *data, size_t size);
int stream_write(int fd, const void *data, size_t size);
int stream_stay_on(uint64_t processor);
