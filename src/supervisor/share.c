/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/share.h"
#include "basic/string-util.h"

bool share_allows(unsigned max, unsigned used, unsigned own) {
        return used < max && own < max - used;
}

static void share_done(Share *s) {
        free(s->last_failure);
        strv_free(s->stderr_tail);
        *s = (Share){};
}

void shares_done(Shares *s) {
        for (size_t i = 0; i < s->n_items; i++)
                share_done(s->items + i);
        free(s->items);
        *s = (Shares){};
}

Share *shares_find(const Shares *s, uid_t uid) {
        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i].uid == uid)
                        return s->items + i;
        return NULL;
}

/* The place of who waits least, or a new one. */
static Share *find_place(Shares *s) {
        Share *grown, *soonest = s->items;

        if (s->n_items < SHARES_MAX) {
                grown = reallocarray(s->items, s->n_items + 1, sizeof(Share));
                if (!grown)
                        return NULL;
                s->items = grown;
                s->items[s->n_items] = (Share){};
                return s->items + s->n_items++;
        }
        for (size_t i = 1; i < s->n_items; i++)
                if (s->items[i].backoff.until_usec < soonest->backoff.until_usec)
                        soonest = s->items + i;
        share_done(soonest);
        return soonest;
}

void shares_failed(Shares *s, uid_t uid, uint64_t now_usec, const char *reason, char *const *stderr_tail) {
        Share *share = shares_find(s, uid);
        size_t n = strlen(reason);

        if (!share) {
                share = find_place(s);
                if (!share)
                        return;
                share->uid = uid;
        }
        backoff_failed(&share->backoff, now_usec);
        if (free_and_strdup(&share->last_failure, reason) >= 0 && n > 0 && reason[n - 1] == '.')
                share->last_failure[n - 1] = 0;
        strv_free(share->stderr_tail);
        share->stderr_tail = strv_copy(stderr_tail);
}

void shares_succeeded(Shares *s, uid_t uid) {
        Share *share = shares_find(s, uid);

        if (!share)
                return;
        share_done(share);
        *share = s->items[--s->n_items];
}
