/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel says in the journal that it denied to our servers, since the machine was booted. */

#include "ctl/ctl.h"
#include "report/audit-line.h"

typedef struct Denial {
        uint64_t time_usec; /* CLOCK_REALTIME */
        AuditLine line;
        char *server, *session;
} Denial;

typedef struct Denials {
        Denial *items; /* oldest first */
        size_t n_items;
        size_t n_foreign; /* of domains that are not our servers' */
} Denials;

void denials_done(Denials *d);
#define _cleanup_denials_ _cleanup_(denials_done)

/* server NULL: of all. A domain belongs to the session whose process made it: the record of its start that the supervisor,
 * which is of that user, has written has the process (MCP_PID). -EACCES, -ENOENT and others: the journal cannot be read. */
int denials_read(uid_t supervisor, const char *server, Denials *ret);
