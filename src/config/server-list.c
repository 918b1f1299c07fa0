/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every server of the search path: all candidates are collected, sorted by instance and strength, and the strongest of
 * each instance is read. */

#include <dirent.h>
#include <fcntl.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/client-file-load.h"
#include "config/definition-read.h"
#include "config/server-dir.h"

typedef struct Candidate {
        char *name, *instance, *path;
        char *file_name;      /* of a server file; NULL: an entry of a client file */
        const ServerDir *dir; /* of a server file */
        const ClientFile *client;
        const ClientEntry *entry;
        size_t rank; /* lower is stronger; every client file is weaker than every directory */
} Candidate;

typedef struct Collection {
        const ConfigPaths *paths;
        ServerDir *dirs;
        size_t n_dirs;
        ClientFile *clients;
        size_t n_clients;
        Candidate *items;
        size_t n_items, room;
        ProblemList *problems;
} Collection;

static void candidate_done(Candidate *c) {
        free(c->name);
        free(c->instance);
        free(c->path);
        free(c->file_name);
}

static void collection_done(Collection *c) {
        for (size_t i = 0; i < c->n_items; i++)
                candidate_done(c->items + i);
        free(c->items);
        server_dirs_free(c->dirs, c->n_dirs);
        client_files_free(c->clients, c->n_clients);
}

static int collection_reserve(Collection *c) {
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
static int collection_add(Collection *c, Candidate *item) {
        int r;

        r = item->name && item->path ? server_name_escape(item->name, &item->instance) : -ENOMEM;
        if (r >= 0)
                r = collection_reserve(c);
        if (r >= 0) {
                c->items[c->n_items++] = *item;
                return 0;
        }
        if (r == -EINVAL || r == -ENAMETOOLONG) {
                problem_add_name(c->problems, item->path, item->name, r);
                r = 0;
        }
        candidate_done(item);
        return r;
}

static int collect_file(Collection *c, size_t rank, const char *file_name) {
        Candidate item = { .dir = c->dirs + rank, .rank = rank };
        int r;

        r = server_file_name_parse(file_name, &item.name);
        if (r == -EINVAL)
                return 0;
        if (r < 0)
                return r;
        item.path = path_join(item.dir->path, file_name);
        item.file_name = strdup(file_name);
        if (!item.file_name) {
                candidate_done(&item);
                return -ENOMEM;
        }
        return collection_add(c, &item);
}

static int collect_dir(Collection *c, size_t rank) {
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

static int collect_client(Collection *c, size_t i) {
        ClientFile *f = c->clients + i;
        int r;

        problem_list_take(c->problems, &f->problems);
        problem_list_take(c->problems, &f->global_problems);
        for (size_t j = 0; j < f->n_entries; j++) {
                Candidate item = { .client = f, .entry = f->entries + j, .rank = c->n_dirs + i };

                item.name = strdup(f->entries[j].name);
                item.path = strdup(f->path);
                r = collection_add(c, &item);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int collect(Collection *c) {
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
static int note_losers(Collection *c, const Candidate *winner, size_t n, ServerEntry *entry) {
        for (size_t i = 1; i < n; i++) {
                const Candidate *other = winner + i;
                int r;

                if (winner->file_name && other->file_name && !streq(winner->file_name, other->file_name)) {
                        problem_add_collision(&entry->problems, winner->path, other->path, winner->name);
                        problem_add_collision(c->problems, winner->path, other->path, winner->name);
                } else if (!streq(winner->path, other->path)) {
                        r = strv_extend(&entry->shadowed, other->path);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int read_winner(Collection *c, const Candidate *winner, size_t n, ServerEntry *entry) {
        int r;

        entry->name = strdup(winner->name);
        entry->instance = strdup(winner->instance);
        entry->file = strdup(winner->path);
        if (!entry->name || !entry->instance || !entry->file)
                return -ENOMEM;
        r = note_losers(c, winner, n, entry);
        if (r < 0)
                return r;
        if (winner->entry)
                r = client_entry_read(winner->client, winner->entry, &entry->definition, &entry->problems);
        else
                r = server_file_load(
                                winner->dir,
                                winner->file_name,
                                winner->name,
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

static int choose(Collection *c, ServerList *list) {
        size_t group;
        int r;

        list->items = calloc(MAX(c->n_items, (size_t) 1), sizeof(ServerEntry));
        if (!list->items)
                return -ENOMEM;
        if (c->n_items > 0)
                qsort(c->items, c->n_items, sizeof(Candidate), compare_candidates);
        for (size_t i = 0; i < c->n_items; i += group) {
                for (group = 1; i + group < c->n_items; group++)
                        if (!streq(c->items[i].instance, c->items[i + group].instance))
                                break;
                r = read_winner(c, c->items + i, group, list->items + list->n_items++);
                if (r < 0)
                        return r;
        }
        qsort(list->items, list->n_items, sizeof(ServerEntry), compare_servers);
        return 0;
}

int server_list_load(const ConfigPaths *paths, ServerList *ret) {
        _cleanup_server_list_ ServerList list = { .global.enabled = TRISTATE_UNSET };
        Collection c = { .paths = paths, .problems = &list.problems };
        int r;

        r = collect(&c);
        if (r >= 0) {
                list.global = client_files_take_global(c.clients, c.n_clients);
                r = choose(&c, &list);
        }
        collection_done(&c);
        if (r < 0)
                return r;
        *ret = list;
        list = (ServerList){};
        return 0;
}

void server_list_done(ServerList *list) {
        for (size_t i = 0; i < list->n_items; i++) {
                ServerEntry *e = list->items + i;

                free(e->name);
                free(e->instance);
                free(e->file);
                strv_free(e->shadowed);
                definition_free(e->definition);
                problem_list_done(&e->problems);
        }
        free(list->items);
        global_isolation_done(&list->global);
        problem_list_done(&list->problems);
        *list = (ServerList){};
}
