/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which variables a client may never bring in, whatever sessions.accept_env says: the client is not the author of the
 * definition, and these decide what code runs, where the sandbox's paths lie, or whom the server can reach. */

#include "basic/macro.h"

/* A sentence that says why, static; NULL: no objection. */
const char *env_refusal(const char *name);
