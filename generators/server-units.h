/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One server's units: the socket (whole), the drop-in on the shipped service template, and the link that starts the
 * socket with the manager. A definition that is wrong gets them too: clients and systemctl start learn the reason from
 * the supervisor. */

#include "basic/fd-util.h"
#include "config/definition.h"

/* What the units of all servers have in common. */
typedef struct UnitsContext {
        RuntimeScope scope;
        const char *root; /* in front of every ServerEntry.file, not part of what units say; "" where there is none */
        char *const *env; /* the manager's, which says where a user's credentials are */
        int dir_fd;       /* the generator's normal directory */
        FdBatch *done;    /* what was read or written and is not closed yet; NULL: nothing is kept */
} UnitsContext;

/* Has this entry units at all? Not where it is masked, nor where it is a remote server of a client's file. */
bool server_has_units(const ServerEntry *entry);

/* Writes them, all or none. Paths that a unit cannot make writable are warnings in problems. -EEXIST: there are units
 * of that name already; another negative errno: the directory cannot be written. */
int server_units_write(const UnitsContext *context, const ServerEntry *entry, ProblemList *problems);
