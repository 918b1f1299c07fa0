/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/house-keys.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/plan.h"

static const struct {
        const char *path, *reason;
} key_table[] = {
#define HOUSE_KEY(p, r) { p, r },
#include <policy-keys.inc>
#undef HOUSE_KEY
};

/* In the system scope the home is the server's own, and the keys of persons are in all the others. */
static bool home_is_the_servers(const HostFacts *host) {
        return streq_ptr(host->home, host->state_dir);
}

/* The directory that a path of the policy begins in; "": it is absolute, NULL: it means nothing on this host. */
static const char *key_base(const HostFacts *host, const char *path) {
        const char *base;

        if (path_is_absolute(path))
                return "";
        if (startswith(path, "%t/"))
                base = host->runtime_dir;
        else if (home_is_the_servers(host))
                base = startswith(path, "~/") ? "/root" : NULL;
        else if (startswith(path, "%c/"))
                base = env_get(host->env, "XDG_CONFIG_HOME");
        else if (startswith(path, "%d/"))
                base = env_get(host->env, "XDG_DATA_HOME");
        else
                base = host->home;
        return base && path_is_absolute(base) ? base : NULL;
}

/* How many keys in one directory make it worth to be read. */
#define WORTH_LISTING 8U

/* The keys that are in one directory. */
typedef struct Siblings {
        char *dir;
        HouseKey *keys[ELEMENTSOF(key_table)];
        const char *paths[ELEMENTSOF(key_table)];
        int links[ELEMENTSOF(key_table)]; /* what is_link() says of each */
        size_t n;
} Siblings;

static int siblings_look(const HostFacts *host, Siblings *s) {
        if (s->n >= WORTH_LISTING && host->are_links)
                return host->are_links(host->userdata, s->dir, s->paths, s->n, s->links);
        for (size_t i = 0; i < s->n; i++)
                s->links[i] = host->is_link(host->userdata, s->paths[i]);
        return 0;
}

/* Also where a directory is not there yet: who may write above it can make it. */
static int real_place(const HostFacts *host, const char *dir, char **ret) {
        _cleanup_free_ char *above = NULL, *real_above = NULL;
        const char *name = path_basename(dir);
        int r;

        r = host_real_path(host, dir, ret);
        if (r >= 0 || r == -ENOMEM || name - dir < 2)
                return r;
        above = strndup(dir, (size_t) (name - dir) - 1);
        if (!above)
                return -ENOMEM;
        r = real_place(host, above, &real_above);
        if (r < 0)
                return r;
        *ret = path_join(real_above, name);
        return *ret ? 0 : -ENOMEM;
}

/* Only where a key leads elsewhere than it says does it get another path. */
static int siblings_resolve(const HostFacts *host, const Siblings *s) {
        _cleanup_free_ char *real_dir = NULL;
        int r, dir_error = 0;

        for (size_t i = 0; i < s->n; i++) {
                char **resolved = &s->keys[i]->resolved;

                if (s->links[i] == -ENOMEM)
                        return -ENOMEM;
                if (s->links[i] <= 0 && !real_dir && dir_error == 0)
                        dir_error = MIN(real_place(host, s->dir, &real_dir), 0);
                if (dir_error == -ENOMEM)
                        return -ENOMEM;
                if (s->links[i] > 0) {
                        r = host_real_path(host, s->paths[i], resolved);
                        if (r == -ENOMEM)
                                return r;
                } else if (real_dir && !streq(real_dir, s->dir)) {
                        *resolved = path_join(real_dir, path_basename(s->paths[i]));
                        if (!*resolved)
                                return -ENOMEM;
                }
        }
        return 0;
}

/* Takes first and all behind it that are in the same directory; each is taken once. */
static int siblings_take(
                HouseKeys *keys,
                size_t first,
                size_t end,
                const size_t lengths[],
                bool taken[],
                Siblings *ret) {
        const char *path = keys->items[first].path;
        size_t length = lengths[first];

        ret->n = 0;
        for (size_t i = first; i < end; i++) {
                HouseKey *key = keys->items + i;

                if (taken[i] || lengths[i] != length || memcmp(key->path, path, length) != 0)
                        continue;
                taken[i] = true;
                ret->keys[ret->n] = key;
                ret->paths[ret->n++] = key->path;
        }
        while (length > 1 && path[length - 1] == '/')
                length--;
        ret->dir = strndup(path, length);
        return ret->dir ? 0 : -ENOMEM;
}

/* Directory by directory: that costs fewer system calls than each key for itself. */
static int keys_resolve(const HostFacts *host, HouseKeys *keys) {
        size_t lengths[ELEMENTSOF(key_table)];
        bool taken[ELEMENTSOF(key_table)] = {};
        Siblings s;
        int r = 0;

        if (!host->is_link) {
                for (size_t i = 0; r != -ENOMEM && i < keys->n_items; i++)
                        r = host_real_path(host, keys->items[i].path, &keys->items[i].resolved);
                return r == -ENOMEM ? r : 0;
        }
        for (size_t i = 0; i < keys->n_items; i++)
                lengths[i] = (size_t) (path_basename(keys->items[i].path) - keys->items[i].path);
        for (size_t i = 0; i < keys->n_items; i++) {
                if (taken[i])
                        continue;
                r = siblings_take(keys, i, keys->n_items, lengths, taken, &s);
                if (r >= 0)
                        r = siblings_look(host, &s);
                if (r >= 0)
                        r = siblings_resolve(host, &s);
                free(s.dir);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* base and what path has behind its first name, put at *at, which goes on behind it. */
static const char *key_put(char **at, const char *base, const char *path) {
        const char *rest = strchr(path, '/') + 1, *key = *at;
        size_t n = strlen(base), m = strlen(rest) + 1;

        memcpy(*at, base, n);
        *at += n;
        if (!endswith(base, "/"))
                *(*at)++ = '/';
        memcpy(*at, rest, m);
        *at += m;
        return key;
}

/* In one piece of memory: there are many, and each of them is short. */
static int keys_expand(const HostFacts *host, HouseKeys *keys) {
        const char *bases[ELEMENTSOF(key_table)];
        size_t size = 1;
        char *at;

        for (size_t i = 0; i < ELEMENTSOF(key_table); i++) {
                bases[i] = key_base(host, key_table[i].path);
                size += !isempty(bases[i]) ? strlen(bases[i]) + strlen(key_table[i].path) + 1 : 0;
        }
        keys->items = calloc(ELEMENTSOF(key_table), sizeof(HouseKey));
        at = keys->expanded = malloc(size);
        if (!keys->items || !at)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(key_table); i++) {
                const char *path = key_table[i].path;

                if (!bases[i])
                        continue;
                keys->items[keys->n_items++] = (HouseKey){
                        .path = isempty(bases[i]) ? path : key_put(&at, bases[i], path),
                        .reason = key_table[i].reason,
                        .in_homes = home_is_the_servers(host) ? startswith(path, "~/") : NULL,
                };
        }
        return 0;
}

int house_keys_init(const HostFacts *host, HouseKeys *ret) {
        _cleanup_house_keys_ HouseKeys keys = {};
        int r;

        r = keys_expand(host, &keys);
        if (r >= 0)
                r = keys_resolve(host, &keys);
        if (r < 0)
                return r;
        *ret = keys;
        keys = (HouseKeys){};
        return 0;
}

void house_keys_done(HouseKeys *keys) {
        for (size_t i = 0; i < keys->n_items; i++)
                free(keys->items[i].resolved);
        free(keys->items);
        free(keys->expanded);
        *keys = (HouseKeys){};
}

static bool overlap(const char *a, const char *b) {
        size_t i = 0;

        /* Mostly they part in the middle of a name, and nothing else has to be looked at. */
        while (a[i] == b[i] && a[i] != 0)
                i++;
        if (a[i] != 0 && b[i] != 0 && a[i] != '/' && b[i] != '/')
                return false;
        return path_startswith(a, b) || path_startswith(b, a);
}

static bool overlaps_in_some_home(const char *resolved, const char *in_homes) {
        const char *s = resolved + strlen("/home");

        if (!path_startswith(resolved, "/home"))
                return false;
        s += strspn(s, "/");
        /* All homes; else what follows is the person's name. */
        return *s == 0 || overlap(s + strcspn(s, "/"), in_homes);
}

const HouseKey *house_keys_find(const HouseKeys *keys, const char *resolved) {
        for (size_t i = 0; i < keys->n_items; i++) {
                const HouseKey *key = keys->items + i;

                if (overlap(resolved, key->path) || (key->resolved && overlap(resolved, key->resolved)) ||
                    (key->in_homes && overlaps_in_some_home(resolved, key->in_homes)))
                        return key;
        }
        return NULL;
}

const char *plan_key_to_the_house(const HostFacts *host, const char *resolved, unsigned access) {
        _cleanup_house_keys_ HouseKeys keys = {};
        const HouseKey *key;

        if (!(access & (ACCESS_WRITE | ACCESS_MAKE_DEVICE)))
                return NULL;
        if (house_keys_init(host, &keys) < 0)
                return "it could not be compared with the paths that lead out of the sandbox: out of memory";
        key = house_keys_find(&keys, resolved);
        return key ? key->reason : NULL;
}
