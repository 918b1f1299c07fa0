/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a session's end is called: a limit by its name, a failure, or an end as it should be. */

#include <signal.h>

#include "supervisor/events.h"

/* Why it was stopped, as far as that was our doing. */
typedef enum StopCause {
        STOP_CAUSE_NONE,
        STOP_CAUSE_CLIENT,
        STOP_CAUSE_REQUEST, /* systemctl stop */
        STOP_CAUSE_RUNTIME,
} StopCause;

/* What is known of it. Limits: UINT64_MAX: none. */
typedef struct EndFacts {
        const siginfo_t *status; /* of the main process; NULL: killed, and not dead yet */
        StopCause cause;
        uint64_t oom_kills, task_refusals; /* in its scope */
        uint64_t memory_peak;              /* bytes; 0: not known */
        const char *scope_result;          /* systemd's Result=, where it had to be asked; NULL */
        uint64_t memory_max, tasks_max, runtime_max_usec;
} EndFacts;

/* What its end looks like from outside. */
typedef struct SessionEnd {
        int exit_code;    /* 128 + signal where one killed it */
        int signal;       /* 0: none */
        const char *code; /* static; NULL: an end as it should be */
        char *reason;     /* "out of memory (limit 512M), peak 511.9M"; NULL likewise, or without memory */
        uint64_t limit;   /* the one that ended it: bytes, tasks, or microseconds; 0: none */
        uint64_t peak;    /* of what the limit is for; 0: not known */
        EventId event;
} SessionEnd;

void session_end_done(SessionEnd *e);
void session_end_decide(const EndFacts *facts, SessionEnd *ret);
