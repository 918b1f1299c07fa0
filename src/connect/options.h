/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* mcp-connect's command line. */

#include "config/paths.h"

typedef struct ConnectOptions {
        RuntimeScope scope; /* _RUNTIME_SCOPE_INVALID: whichever has the server, the user's first */
        const char *name;
        const char *host; /* NULL: this machine */
        char **env;       /* NAME=value, to be passed through */
        char **env_names; /* likewise, the names alone; also those that are not set */
        uint64_t timeout_usec;
        const char *timeout; /* as written; NULL: not given */
        bool quiet;          /* say nothing while the server starts */
} ConnectOptions;

void connect_options_done(ConnectOptions *o);

/* 1: go on; 0: done (--help, --version); -EINVAL: said so on stderr; -ENOMEM. */
int connect_options_parse(int argc, char **argv, ConnectOptions *ret);
