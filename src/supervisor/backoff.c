/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/backoff.h"

void backoff_failed(Backoff *b, uint64_t now_usec) {
        /* Several children that fail together are one failure. */
        if (now_usec < b->until_usec)
                return;
        b->until_usec = now_usec;
        if (b->n_failed < BACKOFF_BURST) {
                b->n_failed++;
                return;
        }
        b->delay_usec = b->delay_usec == 0 ? BACKOFF_MIN_USEC : MIN(b->delay_usec * 2, BACKOFF_MAX_USEC);
        b->until_usec = now_usec + b->delay_usec;
}

void backoff_succeeded(Backoff *b) {
        *b = (Backoff){};
}

uint64_t backoff_remaining(const Backoff *b, uint64_t now_usec) {
        return now_usec < b->until_usec ? b->until_usec - now_usec : 0;
}
