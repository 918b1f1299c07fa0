/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <unistd.h>

#include "basic/path-util.h"
#include "basic/string-util.h"

#include "load-credentials.h"

/* The first file of that name that the manager will be able to read, without the root. NULL: there is none. */
static int find_credential(const UnitsContext *context, bool encrypted, const char *name, char **ret) {
        _cleanup_strv_free_ char **dirs = NULL;
        int r;

        r = credential_dirs(context->scope, encrypted, context->env, &dirs);
        if (r < 0)
                return r;
        STRV_FOREACH (dir, dirs) {
                _cleanup_free_ char *path = path_join(*dir, name), *below = NULL;

                below = path ? strformat("%s%s", context->root, path) : NULL;
                if (!below)
                        return -ENOMEM;
                if (access(below, R_OK) < 0)
                        continue;
                *ret = TAKE_PTR(path);
                return 1;
        }
        return 0;
}

/* The manager looks into its own stores for a name without a path, and starts the service also where it finds nothing. So
 * the name is enough; only which of the two settings has to be known, as one of them cannot open the other's files. */
static int add_system(UnitText *t, const UnitsContext *context, const char *name) {
        _cleanup_free_ char *plain = NULL, *encrypted = NULL;
        int r;

        r = find_credential(context, false, name, &plain);
        if (r == 0)
                r = find_credential(context, true, name, &encrypted);
        if (r < 0)
                return r;
        return unit_text_credential(t, encrypted ? "LoadCredentialEncrypted" : "LoadCredential", name, NULL);
}

/* Before version 256 a user's manager looks where only root may, and fails; and it fails for a path that is not there. */
static int add_user(UnitText *t, const UnitsContext *context, const char *name) {
        _cleanup_free_ char *path = NULL;
        int r;

        r = find_credential(context, false, name, &path);
        if (r <= 0)
                return r;
        r = unit_text_credential(t, "LoadCredential", name, path);
        return r == -EINVAL ? 0 : r;
}

int add_load_credentials(UnitText *t, const Definition *d, const UnitsContext *context) {
        for (size_t i = 0; i < d->n_credentials; i++) {
                const char *name = d->credentials[i].value.value;
                int r;

                r = context->scope == RUNTIME_SCOPE_SYSTEM ? add_system(t, context, name)
                                                           : add_user(t, context, name);
                if (r < 0)
                        return r;
        }
        return 0;
}
