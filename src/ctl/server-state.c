/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ctl/server-state.h"
#include "basic/string-util.h"
#include "manager/manager.h"

static bool unit_is(const UnitState *u, const char *active) {
        return u && streq(u->active, active);
}

static bool is_masked(const UnitState *u) {
        return u && streq(u->load, "masked");
}

/* First what the definition says, since no unit can contradict it; then what the units do. */
static void choose_word(const ServerEntry *e, bool known, ServerState *s) {
        const Definition *d = e->definition;
        const struct {
                bool holds;
                const char *word;
                Tone tone;
        } table[] = {
                { e->masked, "masked", TONE_DIM },
                { problem_list_has_errors(&e->problems), "wrong", TONE_BAD },
                { d && d->remote, "remote", TONE_DIM },
                { d && d->quarantined, "quarantined", TONE_WARN },
                { unit_is(s->service, "active"), "running", TONE_GOOD },
                { unit_is(s->service, "activating"), "starting", TONE_WARN },
                { unit_is(s->service, "deactivating"), "stopping", TONE_WARN },
                { is_masked(s->service) || is_masked(s->socket), "masked", TONE_WARN },
                { unit_is(s->service, "failed") || unit_is(s->socket, "failed"), "failed", TONE_BAD },
                { unit_is(s->socket, "active"), "listening", TONE_GOOD },
                { d && !d->enabled, "disabled", TONE_DIM },
                { !known, "unknown", TONE_DIM },
                { !s->socket || !streq(s->socket->load, "loaded"), "not loaded", TONE_WARN },
                { true, "stopped", TONE_WARN },
        };
        size_t i = 0;

        while (!table[i].holds)
                i++;
        s->word = table[i].word;
        s->tone = table[i].tone;
}

static size_t count_sessions(const UnitList *units, const char *instance) {
        size_t n = 0;

        for (size_t i = 0; i < units->n_items; i++)
                n += scope_name_is_of(units->items[i].name, instance) &&
                     !streq(units->items[i].active, "failed") && !streq(units->items[i].active, "inactive");
        return n;
}

int server_state(const ServerEntry *e, const UnitList *units, ServerState *ret) {
        ServerState s = {};

        if (units && e->instance) {
                _cleanup_free_ char *service = unit_service_name(e->instance),
                                    *socket = unit_socket_name(e->instance);

                if (!service || !socket)
                        return -ENOMEM;
                s.service = unit_list_find(units, service);
                s.socket = unit_list_find(units, socket);
                s.n_sessions = count_sessions(units, e->instance);
        }
        choose_word(e, units, &s);
        *ret = s;
        return 0;
}
