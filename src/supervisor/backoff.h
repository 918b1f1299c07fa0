/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Slows down a server whose processes fail right away: while it waits, clients are answered with the last reason
 * instead of starting another one. The service itself has no start limit (design 6.4). Times are CLOCK_MONOTONIC. */

#include "basic/macro.h"

#define BACKOFF_BURST    5U /* so many failures in a row cost nothing, as with systemd's StartLimitBurst= */
#define BACKOFF_MIN_USEC (100ULL * 1000ULL)
#define BACKOFF_MAX_USEC (10ULL * 1000ULL * 1000ULL)
#define BACKOFF_EARLY_USEC \
        (1ULL * 1000ULL * 1000ULL) /* an end sooner than this after the start is a failure to start */
#define BACKOFF_STABLE_USEC (10ULL * 1000ULL * 1000ULL) /* a life as long as this is a success */

typedef struct Backoff {
        unsigned n_failed;   /* in a row, up to BACKOFF_BURST */
        uint64_t delay_usec; /* 0: they were not more than that */
        uint64_t until_usec;
} Backoff;

void backoff_failed(Backoff *b, uint64_t now_usec);
void backoff_succeeded(Backoff *b);
uint64_t backoff_remaining(const Backoff *b, uint64_t now_usec); /* 0: go ahead */
