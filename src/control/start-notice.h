/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a person is told while a server starts: first runs of npx, uvx and the like download packages, and take minutes.
 * When to say it and in which words; whether the server still starts is the caller's to find out, and so is the saying. */

#include "control/message.h"

typedef struct StartNotice {
        char *runner;                   /* what may be downloading; NULL: nothing that is known to */
        uint64_t began_usec, next_usec; /* CLOCK_MONOTONIC; next UINT64_MAX: nothing more to say */
        uint64_t budget_usec;
        unsigned n_said;
} StartNotice;

void start_notice_begin(StartNotice *n, uint64_t now_usec, uint64_t budget_usec);
void start_notice_done(StartNotice *n);

/* Takes the runner and the budget out of a "starting" or "running" message that has them. */
void start_notice_learn(StartNotice *n, ControlStatus *s);

/* The program's name where it is one that downloads what it runs: "npx" of "/usr/bin/npx". NULL: it is not. */
const char *start_notice_runner(const char *command);

/* The next sentence, and when the one behind it is due: after 2 s, 10 s, 30 s and every 30 s, and a last one (with its code and
 * remedy) when the budget is used up. NULL: out of memory. */
char *start_notice_next(StartNotice *n, uint64_t now_usec);
