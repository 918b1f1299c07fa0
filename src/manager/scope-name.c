/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/string-util.h"
#include "manager/manager.h"

#define SCOPE_PREFIX "mcp-"
#define SCOPE_SUFFIX ".scope"
#define UNIQUE_SIZE  16U

int scope_name_make(const char *instance, const char unique[static 17], char **ret) {
        char *name = strformat(SCOPE_PREFIX "%s-%s" SCOPE_SUFFIX, instance, unique);

        if (!name)
                return -ENOMEM;
        *ret = name;
        return 0;
}

static bool is_unique_part(const char *s) {
        return strspn(s, "0123456789abcdef") == UNIQUE_SIZE;
}

bool scope_name_is_of(const char *scope, const char *instance) {
        const char *middle = startswith(scope, SCOPE_PREFIX);
        size_t n, tail = 1 + UNIQUE_SIZE;

        if (!middle || !endswith(scope, SCOPE_SUFFIX))
                return false;
        n = strlen(middle) - MIN(strlen(middle), strlen(SCOPE_SUFFIX));
        if (n <= tail || middle[n - tail] != '-')
                return false;
        /* strspn() stops at the suffix's dot, so exactly UNIQUE_SIZE characters are seen. */
        if (!is_unique_part(middle + n - UNIQUE_SIZE))
                return false;
        return !instance || (strlen(instance) == n - tail && strncmp(middle, instance, n - tail) == 0);
}
