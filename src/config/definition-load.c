/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One definition, by name or by file. The whole set is in server-list.c. */

#include <fcntl.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/client-file-load.h"
#include "config/definition-read.h"
#include "config/server-dir.h"

typedef struct Search {
        const ConfigPaths *paths;
        const char *name;
        char *file_names[2]; /* NAME.json, and its escaped form where that differs; NULL: no such file can be */
        ServerDir *dirs;
        size_t n_dirs;
        ClientFile *clients;
        size_t n_clients;
} Search;

static void search_done(Search *s) {
        for (size_t i = 0; i < ELEMENTSOF(s->file_names); i++)
                free(s->file_names[i]);
        server_dirs_free(s->dirs, s->n_dirs);
        client_files_free(s->clients, s->n_clients);
}

/* Keeps file_name if it is one that means s->name. */
static int search_add_file_name(Search *s, size_t i, const char *stem) {
        _cleanup_free_ char *file_name = NULL, *means = NULL;
        int r;

        file_name = strformat("%s.json", stem);
        if (!file_name)
                return -ENOMEM;
        if (strchr(file_name, '/'))
                return 0;
        r = server_file_name_parse(file_name, &means);
        if (r == -ENOMEM)
                return r;
        if (r >= 0 && streq(means, s->name))
                s->file_names[i] = TAKE_PTR(file_name);
        return 0;
}

static int search_init(Search *s, const ConfigPaths *paths, const char *name) {
        _cleanup_free_ char *instance = NULL;
        int r;

        s->paths = paths;
        s->name = name;
        r = server_name_escape(name, &instance);
        if (r < 0)
                return r;
        r = search_add_file_name(s, 0, name);
        if (r >= 0 && !streq(name, instance))
                r = search_add_file_name(s, 1, instance);
        if (r < 0)
                return r;
        r = server_dirs_open(paths, &s->dirs, &s->n_dirs);
        if (r < 0)
                return r;
        return client_files_load(paths, &s->clients, &s->n_clients);
}

typedef struct Found {
        const ServerDir *dir;
        const char *file_name;
} Found;

/* The strongest file, and the strongest of another spelling if there is one. */
static void search_files(const Search *s, Found *ret, Found *ret_other) {
        struct stat st;

        *ret = *ret_other = (Found){};
        for (size_t i = 0; i < s->n_dirs; i++)
                for (size_t j = 0; j < ELEMENTSOF(s->file_names); j++) {
                        Found found = { s->dirs + i, s->file_names[j] };

                        if (s->dirs[i].fd < 0 || !found.file_name ||
                            fstatat(found.dir->fd, found.file_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                                continue;
                        if (!ret->dir)
                                *ret = found;
                        else if (!ret_other->dir && ret->file_name != found.file_name)
                                *ret_other = found;
                }
}

void problem_add_collision(ProblemList *problems, const char *file, const char *other, const char *name) {
        problem_add(problems,
                    PROBLEM_ERROR,
                    "MCP-C-COLLISION",
                    file,
                    NULL,
                    "Remove or rename one of them.",
                    "This file and %s both define the server \"%s\".",
                    other,
                    name);
}

static int load_found(
                const Search *s,
                const Found *found,
                const Found *other,
                Definition **ret,
                ProblemList *problems) {
        _cleanup_free_ char *path = NULL, *other_path = NULL;

        path = path_join(found->dir->path, found->file_name);
        if (!path)
                return -ENOMEM;
        if (other->dir) {
                other_path = path_join(other->dir->path, other->file_name);
                if (!other_path)
                        return -ENOMEM;
                problem_add_collision(problems, path, other_path, s->name);
        }
        return server_file_load(
                        found->dir, found->file_name, path, s->name, s->paths->owner, NULL, ret, problems);
}

/* What cannot be looked into might hold a stronger file, or a mask. */
static int check_unreadable_dirs(const Search *s, ProblemList *problems) {
        for (size_t i = 0; i < s->n_dirs; i++)
                if (s->dirs[i].fd < 0 && s->dirs[i].problems.n_items > 0) {
                        int r = problem_list_copy(problems, &s->dirs[i].problems);

                        return r < 0 ? r : -EACCES;
                }
        return 0;
}

/* A broken client file takes its own servers along; to a server with a file of its own it only says that the global
 * setting is not known, and the default confines. */
static int take_client_problems(Search *s, bool own_file, ProblemList *problems) {
        for (size_t i = 0; i < s->n_clients; i++) {
                ProblemList *p = &s->clients[i].problems;

                for (size_t j = 0; own_file && j < p->n_items; j++)
                        if (p->items[j].level == PROBLEM_ERROR)
                                p->items[j].level = PROBLEM_WARNING;
                problem_list_take(problems, p);
                problem_list_take(problems, &s->clients[i].global_problems);
        }
        return problems->failed ? -ENOMEM : 0;
}

static int load_from_clients(Search *s, Definition **ret, ProblemList *problems) {
        bool broken = false;

        for (size_t i = 0; i < s->n_clients; i++) {
                const ClientEntry *e = client_file_find(s->clients + i, s->name);

                if (e)
                        return client_entry_read(s->clients + i, e, ret, problems);
                broken = broken || !s->clients[i].document;
        }
        return broken && problem_list_has_errors(problems) ? -EINVAL : -ENOENT;
}

static int search_load(Search *s, Definition **ret, ProblemList *problems) {
        Found found, other;
        int r;

        r = check_unreadable_dirs(s, problems);
        if (r < 0)
                return r;
        search_files(s, &found, &other);
        r = take_client_problems(s, found.dir, problems);
        if (r < 0)
                return r;
        return found.dir ? load_found(s, &found, &other, ret, problems)
                         : load_from_clients(s, ret, problems);
}

int definition_load(
                const ConfigPaths *paths,
                const char *name,
                Definition **ret,
                GlobalIsolation *ret_global,
                ProblemList *problems) {
        Search s = {};
        int r;

        r = search_init(&s, paths, name);
        if (r == -EINVAL || r == -ENAMETOOLONG)
                r = -ENOENT; /* nothing can have that name */
        if (r >= 0) {
                *ret_global = client_files_take_global(s.clients, s.n_clients);
                r = search_load(&s, ret, problems);
        } else
                *ret_global = (GlobalIsolation){ .enabled = TRISTATE_UNSET };
        search_done(&s);
        return r;
}

int definition_load_file(const char *path, const char *name, Definition **ret, ProblemList *problems) {
        _cleanup_free_ char *text = NULL, *own_name = NULL;
        size_t size;
        int r;

        if (!name) {
                r = server_file_name_parse(path_basename(path), &own_name);
                if (r == -EINVAL) /* a person may call a file as they like */
                        r = (own_name = strdup(path_basename(path))) ? 0 : -ENOMEM;
                if (r < 0)
                        return r;
                name = own_name;
        }
        r = file_read_at(AT_FDCWD, path, JSON_SIZE_MAX, &text, &size);
        if (r < 0) {
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-READ",
                            path,
                            NULL,
                            NULL,
                            "It cannot be read: %s.",
                            STRERROR(r));
                return r == -ENOENT ? -EINVAL : r;
        }
        return definition_read_text(text, size, name, path, ret, problems);
}
