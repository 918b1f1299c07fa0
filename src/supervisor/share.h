/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What one user may take of what all clients share: sessions.max, the room for those who have not said hello, and a
 * failing server's patience.
 *
 * Places: nobody may have more than are left free. Of eight, one user gets four, the next two, then one and one: whoever
 * has none finds one as long as fewer users than that are there, without a limit for each that would be wrong for any
 * other number of users, and nothing is ever taken away from who has it. (Buffers of network switches are shared out
 * like this: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches".) There is no queue
 * in which turns would have to be taken: a client that says hello is served or refused at once.
 *
 * Patience: each user has a back-off of its own, so that nobody can make a server fail for the others. */

#include <sys/types.h>

#include "supervisor/backoff.h"

/* More users than this with failures at one time: who may try again soonest is forgotten. */
#define SHARES_MAX 256U

bool share_allows(unsigned max, unsigned used, unsigned own);

typedef struct Share {
        uid_t uid;
        Backoff backoff;
        char *last_failure; /* what the back-off answers with */
        char **stderr_tail; /* the last lines of the server that failed last */
} Share;

typedef struct Shares {
        Share *items;
        size_t n_items;
} Shares;

void shares_done(Shares *s);
Share *shares_find(const Shares *s, uid_t uid); /* NULL: nothing of this user's failed lately */
/* Out of memory nothing is noted. stderr_tail is copied. */
void shares_failed(Shares *s, uid_t uid, uint64_t now_usec, const char *reason, char *const *stderr_tail);
void shares_succeeded(Shares *s, uid_t uid);
