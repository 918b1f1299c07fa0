/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/path-memo.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

#define N_BUCKETS 64U /* a plan without a manifest asks for about as many paths */

typedef struct Entry Entry;
struct Entry {
        Entry *next;
        bool resolved, looked_at;
        int resolve_error; /* 0, or what resolve() returned */
        int link;          /* what is_link() returned */
        PathFacts facts;   /* resolved: NULL where it is path */
        char path[];
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

/* The path's entry, an empty one where it has none yet; NULL: out of memory. */
static Entry *entry_of(PathMemo *memo, const char *path) {
        Entry **bucket = memo->buckets + bucket_of(path), *e;
        size_t size = strlen(path) + 1;

        for (e = *bucket; e; e = e->next)
                if (streq(e->path, path))
                        return e;
        e = calloc(1, sizeof(Entry) + size);
        if (!e)
                return NULL;
        memcpy(e->path, path, size);
        e->next = *bucket;
        return *bucket = e;
}

static int resolve(void *userdata, const char *path, PathFacts *ret) {
        PathMemo *memo = userdata;
        Entry *e = entry_of(memo, path);
        PathFacts facts;

        if (!e)
                return -ENOMEM;
        if (!e->resolved) {
                int r = memo->host->resolve(memo->host->userdata, path, &e->facts);

                if (r == -ENOMEM)
                        return r;
                if (r >= 0 && streq(e->facts.resolved, path))
                        path_facts_done(&e->facts);
                e->resolve_error = r;
                e->resolved = true;
        }
        if (e->resolve_error < 0)
                return e->resolve_error;
        facts = e->facts;
        facts.resolved = strdup(e->facts.resolved ?: e->path);
        if (!facts.resolved)
                return -ENOMEM;
        *ret = facts;
        return 0;
}

static int is_link(void *userdata, const char *path) {
        PathMemo *memo = userdata;
        Entry *e = entry_of(memo, path);

        if (!e)
                return -ENOMEM;
        if (e->looked_at)
                return e->link;
        /* What is not there may as well be what a link leads to. */
        if (e->resolved && e->resolve_error < 0 && e->resolve_error != -ENOENT)
                return e->resolve_error;
        if (e->resolved && e->resolve_error == 0 && !e->facts.resolved)
                return 0;
        e->link = memo->host->is_link(memo->host->userdata, path);
        e->looked_at = true;
        return e->link;
}

/* Whoever asks for many at once does so once for a plan. */
static int are_links(void *userdata, const char *dir, const char *const *paths, size_t n, int *ret) {
        PathMemo *memo = userdata;

        return memo->host->are_links(memo->host->userdata, dir, paths, n, ret);
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
        memo->remembering.are_links = host->are_links ? are_links : NULL;
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
                        path_facts_done(&e->facts);
                        free(e);
                }
        free(memo);
        return NULL;
}

const HostFacts *path_memo_host(const PathMemo *memo) {
        return &memo->remembering;
}
