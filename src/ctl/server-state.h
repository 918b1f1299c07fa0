/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A server as a person wants to know it: one word, from its definition and its units. */

#include "ctl/ctl.h"
#include "ctl/units.h"

typedef struct ServerState {
        const char *word; /* static: "running", "listening", "failed", "masked" … */
        Tone tone;
        const UnitState *socket, *service; /* borrowed from the list; NULL: not loaded */
        size_t n_sessions;
} ServerState;

/* units NULL: nobody knows. -ENOMEM. */
int server_state(const ServerEntry *e, const UnitList *units, ServerState *ret);
