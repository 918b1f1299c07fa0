/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every server of the search path: all candidates are collected, sorted by instance and strength, and the strongest of
 * each instance is read and handed over before the next one is. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/client-file-load.h"
#include "config/definition-read.h"
#include "config/server-dir.h"

/* It and its strings are in the walk's arena. */
typedef struct Candidate Candidate;
struct Candidate {
        Candidate *next;             /* as they were found */
        const char *name, *instance; /* one string where nothing had to be escaped */
        const char *file_name;       /* of a server file; NULL: an entry of a client file */
        const ClientEntry *entry;
        size_t rank; /* lower is stronger; every client file is weaker than every directory */
};

struct ServerWalk {
        const ConfigPaths *paths;
        ServerDir *dirs;
        size_t n_dirs;
        ClientFile *clients;
        size_t n_clients;
        Arena *arena;
        Candidate *first, **behind_last; /* NULL: there is none */
        Candidate **items;               /* the same when they are sorted */
        size_t n_items;
        size_t *starts; /* of each server: its strongest candidate, in items */
        size_t n_servers;
        ProblemList *problems;
};

static const ClientFile *candidate_client(const ServerWalk *walk, const Candidate *c) {
        return walk->clients + (c->rank - walk->n_dirs);
}

static char *candidate_path(const ServerWalk *walk, const Candidate *c) {
        return c->file_name ? path_join(walk->dirs[c->rank].path, c->file_name)
                            : strdup(candidate_client(walk, c)->path);
}

ServerWalk *server_walk_free(ServerWalk *walk) {
        if (!walk)
                return NULL;
        arena_free(walk->arena);
        server_dirs_free(walk->dirs, walk->n_dirs);
        client_files_free(walk->clients, walk->n_clients);
        free(walk);
        return NULL;
}

static int note_bad_name(ServerWalk *c, const Candidate *item, const char *name, int error) {
        _cleanup_free_ char *path = candidate_path(c, item);

        if (!path)
                return -ENOMEM;
        problem_add_name(c->problems, path, name, error);
        return 0;
}

/* Adds a copy of item with copies of its strings. */
static int walk_add(ServerWalk *c, const Candidate *item, const char *name) {
        _cleanup_free_ char *instance = NULL;
        Candidate *added;
        int r;

        r = server_name_escape(name, &instance);
        if (r == -EINVAL || r == -ENAMETOOLONG)
                return note_bad_name(c, item, name, r);
        if (r < 0)
                return r;
        added = arena_take(&c->arena, sizeof(Candidate));
        if (!added)
                return -ENOMEM;
        *added = *item;
        added->instance = arena_copy(&c->arena, instance, strlen(instance));
        added->name = streq(name, instance) ? added->instance : arena_copy(&c->arena, name, strlen(name));
        if (item->file_name)
                added->file_name = arena_copy(&c->arena, item->file_name, strlen(item->file_name));
        if (!added->instance || !added->name || (!added->entry && !added->file_name))
                return -ENOMEM;
        *(c->behind_last ?: &c->first) = added;
        c->behind_last = &added->next;
        c->n_items++;
        return 0;
}

typedef struct Collecting {
        ServerWalk *walk;
        size_t rank;
} Collecting;

static int collect_file(const char *file_name, unsigned char type _unused_, void *userdata) {
        const Collecting *collecting = userdata;
        const Candidate item = { .file_name = file_name, .rank = collecting->rank };
        _cleanup_free_ char *name = NULL;
        int r;

        r = server_file_name_parse(file_name, &name);
        if (r == -EINVAL)
                return 0;
        return r < 0 ? r : walk_add(collecting->walk, &item, name);
}

static int collect_dir(ServerWalk *c, size_t rank) {
        Collecting collecting = { c, rank };
        ServerDir *dir = c->dirs + rank;

        if (problem_list_copy(c->problems, &dir->problems) < 0)
                return -ENOMEM;
        return dir->fd < 0 ? 0 : dir_each(dir->fd, collect_file, &collecting);
}

static int collect_client(ServerWalk *c, size_t i) {
        ClientFile *f = c->clients + i;
        int r;

        problem_list_take(c->problems, &f->problems);
        problem_list_take(c->problems, &f->global_problems);
        for (size_t j = 0; j < f->n_entries; j++) {
                const Candidate item = { .entry = f->entries + j, .rank = c->n_dirs + i };

                r = walk_add(c, &item, f->entries[j].name);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int collect(ServerWalk *c) {
        int r;

        r = server_dirs_open(c->paths, &c->dirs, &c->n_dirs);
        if (r < 0)
                return r;
        r = client_files_load(c->paths, &c->clients, &c->n_clients);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->n_dirs; i++) {
                r = collect_dir(c, i);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < c->n_clients; i++) {
                r = collect_client(c, i);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int compare_candidates(const void *a, const void *b) {
        const Candidate *x = *(Candidate *const *) a, *y = *(Candidate *const *) b;
        int q = strcmp(x->instance, y->instance);

        if (q == 0)
                q = (x->rank > y->rank) - (x->rank < y->rank);
        return q ? q : strcmp(strempty(x->file_name), strempty(y->file_name));
}

static int compare_servers(const void *a, const void *b) {
        return strcmp(((const ServerEntry *) a)->name, ((const ServerEntry *) b)->name);
}

/* What the others of a group are to its winner: a file name of the same kind is hidden, another spelling of the same
 * name collides. An entry that is twice in one client file has been named already. */
static int note_losers(ServerWalk *c, Candidate *const *group, size_t n, ServerEntry *entry) {
        const Candidate *winner = group[0];

        for (size_t i = 1; i < n; i++) {
                const Candidate *other = group[i];
                _cleanup_free_ char *path = candidate_path(c, other);
                int r;

                if (!path)
                        return -ENOMEM;
                if (winner->file_name && other->file_name && !streq(winner->file_name, other->file_name)) {
                        problem_add_collision(&entry->problems, entry->file, path, entry->name);
                        problem_add_collision(c->problems, entry->file, path, entry->name);
                } else if (!streq(entry->file, path)) {
                        r = strv_extend(&entry->shadowed, path);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

/* The first one of a group of n. */
static int read_winner(
                ServerWalk *c, Candidate *const *group, size_t n, FdBatch *batch, ServerEntry *entry) {
        const Candidate *winner = group[0];
        int r;

        entry->file = candidate_path(c, winner);
        entry->name = strdup(winner->name);
        entry->instance = strdup(winner->instance);
        if (!entry->file || !entry->name || !entry->instance)
                return -ENOMEM;
        r = note_losers(c, group, n, entry);
        if (r < 0)
                return r;
        if (winner->entry)
                r = client_entry_read(
                                candidate_client(c, winner),
                                winner->entry,
                                &entry->definition,
                                &entry->problems);
        else
                r = server_file_load(
                                c->dirs + winner->rank,
                                winner->file_name,
                                entry->file,
                                entry->name,
                                c->paths->owner,
                                batch,
                                &entry->definition,
                                &entry->problems);
        if (r == -ERFKILL)
                entry->masked = true;
        else if (r == -ENOENT) /* gone since the directory was read */
                problem_add(&entry->problems,
                            PROBLEM_ERROR,
                            "MCP-C-READ",
                            entry->file,
                            NULL,
                            NULL,
                            "It is gone.");
        return r == -ENOMEM ? r : 0;
}

static void entry_done(ServerEntry *e) {
        free(e->name);
        free(e->instance);
        free(e->file);
        strv_free(e->shadowed);
        definition_free(e->definition);
        problem_list_done(&e->problems);
}

static int sort(ServerWalk *c) {
        size_t n = 0;

        if (c->n_items == 0)
                return 0;
        c->items = arena_take(&c->arena, c->n_items * sizeof(Candidate *));
        c->starts = arena_take(&c->arena, c->n_items * sizeof(size_t));
        if (!c->items || !c->starts)
                return -ENOMEM;
        for (Candidate *item = c->first; item; item = item->next)
                c->items[n++] = item;
        qsort(c->items, n, sizeof(Candidate *), compare_candidates);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || !streq(c->items[i - 1]->instance, c->items[i]->instance))
                        c->starts[c->n_servers++] = i;
        return 0;
}

int server_walk_open(const ConfigPaths *paths, ServerWalk **ret, ProblemList *problems) {
        _cleanup_server_walk_ ServerWalk *walk = NULL;
        int r;

        walk = calloc(1, sizeof(ServerWalk));
        if (!walk)
                return -ENOMEM;
        walk->paths = paths;
        walk->problems = problems;
        r = collect(walk);
        if (r >= 0)
                r = sort(walk);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(walk);
        return 0;
}

size_t server_walk_size(const ServerWalk *walk) {
        return walk->n_servers;
}

int server_walk_each(
                ServerWalk *walk,
                size_t first,
                size_t behind,
                FdBatch *batch,
                server_use_t use,
                void *userdata) {
        for (size_t i = first; i < behind; i++) {
                size_t start = walk->starts[i];
                size_t end = i + 1 < walk->n_servers ? walk->starts[i + 1] : walk->n_items;
                ServerEntry entry = {};
                int r;

                r = read_winner(walk, walk->items + start, end - start, batch, &entry);
                if (r >= 0)
                        r = use(&entry, userdata);
                entry_done(&entry);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int keep(ServerEntry *entry, void *userdata) {
        ServerList *list = userdata;

        list->items[list->n_items++] = *entry;
        *entry = (ServerEntry){};
        return 0;
}

int server_list_load(const ConfigPaths *paths, ServerList *ret) {
        _cleanup_server_list_ ServerList list = { .global.enabled = TRISTATE_UNSET };
        _cleanup_server_walk_ ServerWalk *walk = NULL;
        int r;

        r = server_walk_open(paths, &walk, &list.problems);
        if (r < 0)
                return r;
        list.items = calloc(MAX(walk->n_servers, (size_t) 1), sizeof(ServerEntry));
        if (!list.items)
                return -ENOMEM;
        r = server_walk_each(walk, 0, walk->n_servers, NULL, keep, &list);
        if (r < 0)
                return r;
        list.global = client_files_take_global(walk->clients, walk->n_clients);
        qsort(list.items, list.n_items, sizeof(ServerEntry), compare_servers);
        *ret = list;
        list = (ServerList){};
        return 0;
}

void server_list_done(ServerList *list) {
        for (size_t i = 0; i < list->n_items; i++)
                entry_done(list->items + i);
        free(list->items);
        global_isolation_done(&list->global);
        problem_list_done(&list->problems);
        *list = (ServerList){};
}
