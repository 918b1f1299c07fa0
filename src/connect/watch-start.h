/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does the server still start? Nothing of the conversation passes through mcp-connect, so it looks at the one thing that can be
 * seen from outside: whether the client's first message lies unread in the server's standard input. Whoever has asked nothing
 * waits for nothing, and a server that reads has started. */

#include "control/start-notice.h"

typedef struct StartWatch {
        StartNotice notice;
        int in;     /* the client's stdin once more, until the server reads; -EBADF: nothing is watched */
        int unread; /* bytes in it, when it was last looked at */
        uint64_t next_usec; /* when to look again, CLOCK_MONOTONIC; UINT64_MAX: never */
} StartWatch;

/* Begins where stdin is a pipe or a socket, and quiet is not wanted. Standard input must still be the client's. */
void start_watch_begin(StartWatch *w, uint64_t now_usec, uint64_t budget_usec, bool quiet);
void start_watch_end(StartWatch *w);

/* Looks. *ret is what to say now, for a person; NULL: nothing. */
void start_watch_look(StartWatch *w, uint64_t now_usec, char **ret);
