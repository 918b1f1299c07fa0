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

/* 0: *ret is the expanded path. -ENXIO: means nothing on this host. */
static int key_expand(const HostFacts *host, const char *path, char **ret) {
        const char *base = NULL, *rest = NULL;

        if (path_is_absolute(path)) {
                *ret = strdup(path);
                return *ret ? 0 : -ENOMEM;
        }
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
        rest = strchr(path, '/') + 1;
        if (!base || !path_is_absolute(base))
                return -ENXIO;
        *ret = path_join(base, rest);
        return *ret ? 0 : -ENOMEM;
}

int house_keys_init(const HostFacts *host, HouseKeys *ret) {
        _cleanup_house_keys_ HouseKeys keys = {};

        keys.items = calloc(ELEMENTSOF(key_table), sizeof(HouseKey));
        if (!keys.items)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(key_table); i++) {
                _cleanup_free_ char *path = NULL;
                char *resolved = NULL;
                int r;

                r = key_expand(host, key_table[i].path, &path);
                if (r == -ENXIO)
                        continue;
                if (r < 0)
                        return r;
                r = host_real_path(host, path, &resolved);
                if (r == -ENOMEM)
                        return r;
                keys.items[keys.n_items++] = (HouseKey){
                        .path = TAKE_PTR(path),
                        .resolved = resolved,
                        .reason = key_table[i].reason,
                        .in_homes = home_is_the_servers(host) ? startswith(key_table[i].path, "~/") : NULL,
                };
        }
        *ret = keys;
        keys = (HouseKeys){};
        return 0;
}

void house_keys_done(HouseKeys *keys) {
        for (size_t i = 0; i < keys->n_items; i++) {
                free(keys->items[i].path);
                free(keys->items[i].resolved);
        }
        free(keys->items);
        *keys = (HouseKeys){};
}

static bool overlap(const char *a, const char *b) {
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
