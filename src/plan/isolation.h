/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which isolation a server gets: MCPProxy's algorithm over its thirteen-row matrix, with two differences. With no global
 * block at all the mode is sandbox (source "default"), since confining is what this product is for; and docker, while it
 * is not provided, refuses to start. mode and isolated are two answers: mode is what was asked for, isolated is whether
 * the file system is confined. */

#include "config/definition.h"

typedef enum IsolationSource {
        ISOLATION_SOURCE_DEFAULT,
        ISOLATION_SOURCE_GLOBAL,
        ISOLATION_SOURCE_SERVER_MODE,
        ISOLATION_SOURCE_SERVER_OPT_OUT,
        ISOLATION_SOURCE_SERVER_OPT_IN_IGNORED,
        ISOLATION_SOURCE_NOT_STDIO,
        ISOLATION_SOURCE_ALREADY_DOCKER,
        ISOLATION_SOURCE_SANDBOX_UNAVAILABLE,
        ISOLATION_SOURCE_UNSUPPORTED_MODE,
        _ISOLATION_SOURCE_MAX,
} IsolationSource;
const char *isolation_source_to_string(
                IsolationSource source); /* "server-opt-out" … as MCPProxy spells them */

typedef struct Isolation {
        const char *mode; /* "sandbox", "none", "docker", or what was written; borrowed from d, g or static */
        const char *global_mode; /* likewise */
        bool isolated;
        bool inherited;
        IsolationSource source;
} Isolation;

void isolation_decide(const Definition *d, const GlobalIsolation *g, bool landlock_works, Isolation *ret);
