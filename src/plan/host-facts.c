/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/host-facts.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

static int resolve_whole(const HostFacts *host, const char *path, char **ret) {
        PathFacts facts = {};
        int r;

        r = host->resolve(host->userdata, path, &facts);
        if (r >= 0)
                *ret = facts.resolved;
        return r;
}

int host_real_path(const HostFacts *host, const char *path, char **ret) {
        const char *name = path_basename(path);
        _cleanup_free_ char *parent = NULL, *real_parent = NULL;
        int r;

        if (!host->is_link || !path_is_absolute(path) || isempty(name) || streq(name, ".") ||
            streq(name, ".."))
                return resolve_whole(host, path, ret);
        r = host->is_link(host->userdata, path);
        if (r < 0)
                return r;
        if (r > 0)
                return resolve_whole(host, path, ret);
        parent = strndup(path, (size_t) (name - path));
        if (!parent)
                return -ENOMEM;
        for (size_t n = strlen(parent); n > 1 && parent[n - 1] == '/'; n--)
                parent[n - 1] = 0;
        r = host_real_path(host, parent, &real_parent);
        if (r < 0)
                return r;
        *ret = path_join(real_parent, name);
        return *ret ? 0 : -ENOMEM;
}
