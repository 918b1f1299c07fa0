/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every server of the search path: all candidates are collected, sorted by instance and strength, and the strongest of
 * each instance is read and handed over before the next one is. */

#include <dirent.h>
#include <fcntl.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/client-file-load.h"
#include "config/definition-read.h"
#include "config/server-dir.h"

typedef struct Candidate {
        char *name, *instance;
        char *file_name;      /* of a server file; NULL: an entry of a client file */
        const ServerDir *dir; /* of a server file */
        const ClientFile *client;
        const ClientEntry *entry;
        size_t rank; /* lower is stronger; every client file is weaker than every directory */
} Candidate;

struct ServerWalk {
        const ConfigPaths *paths;
        ServerDir *dirs;
        size_t n_dirs;
        ClientFile *clients;
        size_t n_clients;
        Candidate *items;
        size_t n_items, room;
        size_t *starts; /* of each server: its strongest candidate */
        size_t n_servers;
        ProblemList *problems;
};

static void candidate_done(Candidate *c) {
        free(c->name);
        free(c->instance);
        free(c->file_name);
}

static char *candidate_path(const Candidate *c) {
        return c->client ? strdup(c->client->path) : path_join(c->dir->path, c->file_name);
}

ServerWalk *server_walk_free(ServerWalk *walk) {
        if (!walk)
                return NULL;
        for (size_t i = 0; i < walk->n_items; i++)
                candidate_done(walk->items + i);
        free(walk->items);
        free(walk->starts);
        server_dirs_free(walk->dirs, walk->n_dirs);
        client_files_free(walk->clients, walk->n_clients);
        free(walk);
        return NULL;
}

static int walk_reserve(ServerWalk *c) {
        Candidate *grown;

        if (c->n_items < c->room)
                return 0;
        grown = reallocarray(c->items, MAX(c->room * 2, (size_t) 16), sizeof(Candidate));
        if (!grown)
                return -ENOMEM;
        c->items = grown;
        c->room = MAX(c->room * 2, (size_t) 16);
        return 0;
}

/* Takes ownership of item's strings, also on failure. */
static int walk_add(ServerWalk *c, Candidate *item) {
        int r;

        r = item->name ? server_name_escape(item->name, &item->instance) : -ENOMEM;
        if (r >= 0)
                r = walk_reserve(c);
        if (r >= 0) {
                c->items[c->n_items++] = *item;
                return 0;
        }
        if (r == -EINVAL || r == -ENAMETOOLONG) {
                _cleanup_free_ char *path = candidate_path(item);

                problem_add_name(c->problems, path, item->name, r);
                r = path ? 0 : -ENOMEM;
        }
        candidate_done(item);
        return r;
}

static int collect_file(ServerWalk *c, size_t rank, const char *file_name) {
        Candidate item = { .dir = c->dirs + rank, .rank = rank };
        int r;

        r = server_file_name_parse(file_name, &item.name);
        if (r == -EINVAL)
                return 0;
        if (r < 0)
                return r;
        item.file_name = strdup(file_name);
        if (!item.file_name) {
                candidate_done(&item);
                return -ENOMEM;
        }
        return walk_add(c, &item);
}

static int collect_dir(ServerWalk *c, size_t rank) {
        ServerDir *dir = c->dirs + rank;
        struct dirent *de;
        DIR *stream;
        int fd, r = 0;

        if (problem_list_copy(c->problems, &dir->problems) < 0)
                return -ENOMEM;
        if (dir->fd < 0)
                return 0;
        fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        stream = fd < 0 ? NULL : fdopendir(fd);
        if (!stream) {
                r = -errno;
                (void) safe_close(fd);
                return r;
        }
        while (r >= 0) {
                errno = 0;
                de = readdir(stream);
                if (!de) {
                        r = -errno;
                        break;
                }
                r = collect_file(c, rank, de->d_name);
        }
        (void) closedir(stream);
        return r;
}

static int collect_client(ServerWalk *c, size_t i) {
        ClientFile *f = c->clients + i;
        int r;

        problem_list_take(c->problems, &f->problems);
        problem_list_take(c->problems, &f->global_problems);
        for (size_t j = 0; j < f->n_entries; j++) {
                Candidate item = { .client = f, .entry = f->entries + j, .rank = c->n_dirs + i };

                item.name = strdup(f->entries[j].name);
                r = walk_add(c, &item);
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
        const Candidate *x = a, *y = b;
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
static int note_losers(ServerWalk *c, const Candidate *winner, size_t n, ServerEntry *entry) {
        for (size_t i = 1; i < n; i++) {
                const Candidate *other = winner + i;
                _cleanup_free_ char *path = candidate_path(other);
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

static int read_winner(ServerWalk *c, Candidate *winner, size_t n, ServerEntry *entry) {
        int r;

        entry->file = candidate_path(winner);
        if (!entry->file)
                return -ENOMEM;
        entry->name = TAKE_PTR(winner->name);
        entry->instance = TAKE_PTR(winner->instance);
        r = note_losers(c, winner, n, entry);
        if (r < 0)
                return r;
        if (winner->entry)
                r = client_entry_read(winner->client, winner->entry, &entry->definition, &entry->problems);
        else
                r = server_file_load(
                                winner->dir,
                                winner->file_name,
                                entry->name,
                                c->paths->owner,
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
        if (c->n_items == 0)
                return 0;
        qsort(c->items, c->n_items, sizeof(Candidate), compare_candidates);
        c->starts = reallocarray(NULL, c->n_items, sizeof(size_t));
        if (!c->starts)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_items; i++)
                if (i == 0 || !streq(c->items[i - 1].instance, c->items[i].instance))
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

int server_walk_each(ServerWalk *walk, size_t first, size_t behind, server_use_t use, void *userdata) {
        for (size_t i = first; i < behind; i++) {
                size_t start = walk->starts[i];
                size_t end = i + 1 < walk->n_servers ? walk->starts[i + 1] : walk->n_items;
                ServerEntry entry = {};
                int r;

                r = read_winner(walk, walk->items + start, end - start, &entry);
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
        r = server_walk_each(walk, 0, walk->n_servers, keep, &list);
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
