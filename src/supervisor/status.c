/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/status.h"
#include "basic/string-util.h"

static char *format_confinement(const Setup *setup) {
        const Plan *plan = setup->plan;
        _cleanup_free_ char *missing = NULL, *confined = NULL;

        if (plan->confined)
                confined =
                                strformat("confined: Landlock ABI %d%s",
                                          setup->landlock_abi,
                                          plan->strict ? ", strict" : "");
        else
                confined =
                                strformat("%sunconfined (isolation mode %s)",
                                          strv_length(setup->missing) > 0 ? "DEGRADED/" : "",
                                          plan->isolation_mode);
        if (!confined || strv_length(setup->missing) == 0)
                return TAKE_PTR(confined);
        missing = strv_join(setup->missing, ", ");
        return missing ? strformat("%s; missing: %s", confined, missing) : NULL;
}

char *status_format(const Server *s) {
        _cleanup_free_ char *confinement = NULL;
        const char *end = s->last_end ? "; the last session to end: " : "";
        unsigned n = 0;

        for (const Session *session = s->sessions; session; session = session->next)
                n += session_has_slot(session);
        if (!s->setup)
                return strformat("%s", strempty(s->refusal.reason));
        confinement = format_confinement(s->setup);
        if (!confinement)
                return NULL;
        if (s->state == SERVER_STOPPING)
                return strformat("Stopping %u session%s; %s", n, n == 1 ? "" : "s", confinement);
        return strformat(
                        "%u session%s; %s%s%s",
                        n,
                        n == 1 ? "" : "s",
                        confinement,
                        end,
                        strempty(s->last_end));
}
