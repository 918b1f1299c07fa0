/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ways to start tests/bench/first-instruction, each with the moment at which a client would begin to wait. Functions end the
 * program with a sentence when something does not work: a time of an error is no time. */

#include <stdint.h>
#include <sys/types.h>

typedef struct Start {
        uint64_t begun_ns;  /* CLOCK_MONOTONIC */
        int writer, reader; /* the server's stdin and stdout; may be the same */
        int control;        /* NAME.connect's; -EBADF */
        int go;             /* of a scope's child: a byte lets it execute; -EBADF */
        pid_t pid;          /* our child; 0: none */
        char job[256];      /* of a scope that is being started; "": none */
} Start;

typedef struct Way {
        const char *name;
        void (*start)(char *const arguments[], Start starts[], unsigned n); /* n at once */
} Way;

_Noreturn void die(const char *what, int error);
uint64_t now_ns(void);
void start_pipes(Start *s, int ret_server[2]); /* sets writer and reader; close-on-exec */

/* bare-scope.c */
void start_scopes(char *const arguments[], Start starts[], unsigned n);
void start_spares(
                char *const arguments[],
                Start starts[],
                unsigned n); /* begins when all are in their scopes */
