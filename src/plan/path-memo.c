/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/path-memo.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

#define N_BUCKETS 64U /* a plan without a manifest asks for about as many paths */

typedef struct Entry Entry;
struct Entry {
        Entry *next;
        char *path;
        int error; /* 0, or what the lookup returned */
        PathFacts facts;
};

struct PathMemo {
        const HostFacts *host;
        HostFacts remembering;
        Entry *buckets[N_BUCKETS];
};

/* FNV-1a. */
static unsigned bucket_of(const char *path) {
        uint32_t hash = 2166136261U;

        for (const char *s = path; *s; s++)
                hash = (hash ^ (unsigned char) *s) * 16777619U;
        return hash % N_BUCKETS;
}

static const Entry *find(const PathMemo *memo, const char *path) {
        for (const Entry *e = memo->buckets[bucket_of(path)]; e; e = e->next)
                if (streq(e->path, path))
                        return e;
        return NULL;
}

static Entry *entry_free(Entry *e) {
        path_facts_done(&e->facts);
        free(e->path);
        free(e);
        return NULL;
}

static int look_up(PathMemo *memo, const char *path, const Entry **ret) {
        Entry *e = calloc(1, sizeof(Entry)), **bucket = memo->buckets + bucket_of(path);

        if (!e)
                return -ENOMEM;
        e->path = strdup(path);
        e->error = e->path ? memo->host->resolve(memo->host->userdata, path, &e->facts) : -ENOMEM;
        if (e->error == -ENOMEM) {
                entry_free(e);
                return -ENOMEM;
        }
        e->next = *bucket;
        *ret = *bucket = e;
        return 0;
}

static int resolve(void *userdata, const char *path, PathFacts *ret) {
        PathMemo *memo = userdata;
        const Entry *e = find(memo, path);
        PathFacts facts;

        if (!e) {
                int r = look_up(memo, path, &e);

                if (r < 0)
                        return r;
        }
        if (e->error < 0)
                return e->error;
        facts = e->facts;
        facts.resolved = strdup(e->facts.resolved);
        if (!facts.resolved)
                return -ENOMEM;
        *ret = facts;
        return 0;
}

static int is_link(void *userdata, const char *path) {
        PathMemo *memo = userdata;
        const Entry *e = find(memo, path);

        if (e && e->error < 0)
                return e->error;
        if (e && streq(e->facts.resolved, path))
                return 0;
        return memo->host->is_link(memo->host->userdata, path);
}

static ssize_t read_head(void *userdata, const char *path, char *buffer, size_t size) {
        PathMemo *memo = userdata;

        return memo->host->read_head(memo->host->userdata, path, buffer, size);
}

int path_memo_new(const HostFacts *host, PathMemo **ret) {
        PathMemo *memo = calloc(1, sizeof(PathMemo));

        if (!memo)
                return -ENOMEM;
        memo->host = host;
        memo->remembering = *host;
        memo->remembering.resolve = resolve;
        memo->remembering.is_link = host->is_link ? is_link : NULL;
        memo->remembering.read_head = read_head;
        memo->remembering.userdata = memo;
        *ret = memo;
        return 0;
}

PathMemo *path_memo_free(PathMemo *memo) {
        if (!memo)
                return NULL;
        for (size_t i = 0; i < N_BUCKETS; i++)
                for (Entry *e = memo->buckets[i], *next; e; e = next) {
                        next = e->next;
                        entry_free(e);
                }
        free(memo);
        return NULL;
}

const HostFacts *path_memo_host(const PathMemo *memo) {
        return &memo->remembering;
}
