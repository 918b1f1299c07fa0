/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* From a server's name to a connection to its supervisor. */

#include "config/paths.h"

/* Connects to NAME.connect. scope _RUNTIME_SCOPE_INVALID: the user's server where there is one, else the system's. On
 * failure says on stderr what is wrong and what helps, and returns a negative errno: -EINVAL, no name; else the server
 * is not available. */
int server_connect(RuntimeScope scope, const char *name);
