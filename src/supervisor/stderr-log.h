/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A server's stderr on its way to the journal. The pipe is always drained, whatever becomes of the lines: a server must
 * not block on it. */

#include <systemd/sd-event.h>

#include "supervisor/events.h"
#include "supervisor/lines.h"

typedef struct StderrLog {
        int fd;
        sd_event_source *source;
        Journal *journal;
        LineSplitter splitter;
        LineTail tail;
        RateLimit lines, bytes;
        uint64_t n_suppressed;
        bool suppressing; /* the rest of a line whose start was suppressed is as well */
        int priority;     /* of the line that is being continued */
        char *identifier; /* "mcp-NAME" */
        char **fields;    /* MCP_SERVER= and so on */
} StderrLog;

#define STDERR_LOG_INIT ((StderrLog){ .fd = -EBADF })

/* Takes fd, the pipe's reading end, non-blocking. */
int stderr_log_start(
                StderrLog *l,
                sd_event *event,
                Journal *journal,
                int fd,
                const char *instance,
                pid_t pid,
                const EventFields *fields);
void stderr_log_drain(StderrLog *l); /* what is in the pipe now, without waiting */
void stderr_log_done(StderrLog *l);
