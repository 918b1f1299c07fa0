/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What clients are told where systemd could not even execute the supervisor: by mcp-server-unserved@.service, which is
 * started in its place (OnFailure=) and takes the same sockets. */

#include "supervisor/setup.h"

/* The exit status that systemd hands to who is started by OnFailure= (MONITOR_*, systemd.exec(5)); 0: the supervisor was
 * executed, and has spoken for itself. */
int unserved_status(char *const *env);

/* definition may be NULL. */
void unserved_explain(int status, const Definition *definition, Refusal *ret);
