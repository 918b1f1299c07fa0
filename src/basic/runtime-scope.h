/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which manager: the system's, or a user's. */

#include "basic/macro.h"

typedef enum RuntimeScope {
        RUNTIME_SCOPE_SYSTEM,
        RUNTIME_SCOPE_USER,
        _RUNTIME_SCOPE_MAX,
        _RUNTIME_SCOPE_INVALID = -EINVAL,
} RuntimeScope;

const char *runtime_scope_to_string(RuntimeScope scope); /* "system", "user" */
