/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/runtime-scope.h"

static const char *const names[_RUNTIME_SCOPE_MAX] = {
        [RUNTIME_SCOPE_SYSTEM] = "system",
        [RUNTIME_SCOPE_USER] = "user",
};

const char *runtime_scope_to_string(RuntimeScope scope) {
        return scope >= 0 && scope < _RUNTIME_SCOPE_MAX ? names[scope] : NULL;
}
