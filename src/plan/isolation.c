/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/isolation.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

static const char *const isolation_source_table[_ISOLATION_SOURCE_MAX] = {
        [ISOLATION_SOURCE_DEFAULT] = "default",
        [ISOLATION_SOURCE_GLOBAL] = "global",
        [ISOLATION_SOURCE_SERVER_MODE] = "server-mode",
        [ISOLATION_SOURCE_SERVER_OPT_OUT] = "server-opt-out",
        [ISOLATION_SOURCE_SERVER_OPT_IN_IGNORED] = "server-opt-in-ignored",
        [ISOLATION_SOURCE_NOT_STDIO] = "not-stdio",
        [ISOLATION_SOURCE_ALREADY_DOCKER] = "already-docker",
        [ISOLATION_SOURCE_SANDBOX_UNAVAILABLE] = "sandbox-unavailable",
        [ISOLATION_SOURCE_UNSUPPORTED_MODE] = "unsupported-mode",
};

const char *isolation_source_to_string(IsolationSource source) {
        return source >= 0 && source < _ISOLATION_SOURCE_MAX ? isolation_source_table[source] : NULL;
}

/* Step 1: an explicit mode wins over the older boolean, also where they contradict. */
static const char *global_mode(const GlobalIsolation *g) {
        if (!g || !g->present)
                return "sandbox";
        if (!isempty(g->mode))
                return g->mode;
        return g->enabled == TRISTATE_YES ? "docker" : "none";
}

/* MCPProxy looks for "docker" anywhere in the command; the name of the program is meant, so that /opt/docker-tools/foo is
 * confined like any other. */
static bool command_is_docker(const char *command) {
        return streq(path_basename(command), "docker");
}

void isolation_decide(const Definition *d, const GlobalIsolation *g, bool landlock_works, Isolation *ret) {
        const char *global = global_mode(g);
        bool has_global = g && g->present;
        Isolation i = { .mode = global, .global_mode = global, .inherited = true };

        i.source = has_global ? ISOLATION_SOURCE_GLOBAL : ISOLATION_SOURCE_DEFAULT;
        if (!isempty(d->isolation.mode.value)) {
                i.mode = d->isolation.mode.value;
                i.source = ISOLATION_SOURCE_SERVER_MODE;
        } else if (streq(global, "none")) {
                if (d->isolation.enabled == TRISTATE_YES)
                        i.source = ISOLATION_SOURCE_SERVER_OPT_IN_IGNORED;
        } else if (d->isolation.enabled == TRISTATE_NO) {
                i.mode = "none";
                i.source = ISOLATION_SOURCE_SERVER_OPT_OUT;
        }
        i.inherited = isempty(d->isolation.mode.value) && d->isolation.enabled == TRISTATE_UNSET;

        if (!streq(i.mode, "none")) {
                if (d->remote || !d->command.value) {
                        i.mode = "none";
                        i.source = ISOLATION_SOURCE_NOT_STDIO;
                } else if (command_is_docker(d->command.value)) {
                        i.mode = "none";
                        i.source = ISOLATION_SOURCE_ALREADY_DOCKER;
                }
        }

        if (streq(i.mode, "docker"))
                i.isolated = true;
        else if (streq(i.mode, "sandbox")) {
                i.isolated = landlock_works;
                if (!landlock_works)
                        i.source = ISOLATION_SOURCE_SANDBOX_UNAVAILABLE;
        } else if (!streq(i.mode, "none"))
                i.source = ISOLATION_SOURCE_UNSUPPORTED_MODE;
        *ret = i;
}
