/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The journal of a server: its supervisor's records and what its processes wrote to stderr, wherever they ran. */

#include "basic/string-util.h"
#include "ctl/exec.h"
#include "ctl/units.h"

#define JOURNALCTL    "/usr/bin/journalctl"
#define ARGUMENTS_MAX 24U

/* "+" is journalctl's OR. The supervisor's records carry MCP_SERVER, systemd's own about the units the unit's name. */
static int add_matches(const char **argv, size_t *n, char **owned, const Ctl *ctl, const ServerEntry *e) {
        bool user = ctl->scope == RUNTIME_SCOPE_USER;
        _cleanup_free_ char *unit = unit_service_name(e->instance);

        if (!unit)
                return -ENOMEM;
        owned[0] = strformat("MCP_SERVER=%s", e->name);
        owned[1] = strformat("%s=%s", user ? "_SYSTEMD_USER_UNIT" : "_SYSTEMD_UNIT", unit);
        owned[2] = strformat("%s=%s", user ? "USER_UNIT" : "UNIT", unit);
        owned[3] = strformat("SYSLOG_IDENTIFIER=mcp-%s", e->instance);
        for (size_t i = 0; i < 4; i++) {
                if (!owned[i])
                        return -ENOMEM;
                if (i > 0)
                        argv[(*n)++] = "+";
                argv[(*n)++] = owned[i];
        }
        return 0;
}

int verb_logs(Ctl *ctl, char **operands) {
        const char *argv[ARGUMENTS_MAX] = { "journalctl" };
        char *owned[4] = {};
        _cleanup_free_ char *lines = NULL;
        const ServerEntry *e;
        size_t n = 1;
        int r = 0;

        if (ctl->scope == RUNTIME_SCOPE_USER)
                argv[n++] = "--user";
        if (!ctl->pager)
                argv[n++] = "--no-pager";
        if (ctl->follow)
                argv[n++] = "--follow";
        if (ctl->lines) {
                lines = strformat("--lines=%s", ctl->lines);
                if (!lines)
                        return -ENOMEM;
                argv[n++] = lines;
        }
        if (operands[0]) {
                r = ctl_find_server(ctl, operands[0], &e);
                if (r == 0)
                        r = add_matches(argv, &n, owned, ctl, e);
        } else {
                argv[n++] = ctl->scope == RUNTIME_SCOPE_USER ? "--user-unit=mcp-*" : "--unit=mcp-*";
        }
        if (r == 0)
                r = ctl_exec(ctl, JOURNALCTL, argv);
        for (size_t i = 0; i < ELEMENTSOF(owned); i++)
                free(owned[i]);
        return r;
}
