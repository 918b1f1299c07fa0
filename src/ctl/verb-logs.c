/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The journal of a server: its supervisor's records and what its processes wrote to stderr, wherever they ran. */

#include "basic/string-util.h"
#include "ctl/exec.h"
#include "ctl/units.h"

#define JOURNALCTL    "/usr/bin/journalctl"
#define ARGUMENTS_MAX 24U
#define N_MATCHES     5U

/* Fields of the records of one server; "+" is journalctl's OR, and a name may be taken in both managers, so each goes with
 * the uid of the supervisor or manager that wrote it. Not "journalctl --user": journald keeps a file for each user only
 * where its storage is persistent, and where there is none the user may still be allowed to read all. */
static int add_matches(const char **argv, size_t *n, char **owned, const Ctl *ctl, const ServerEntry *e) {
        bool user = ctl->scope == RUNTIME_SCOPE_USER;
        _cleanup_free_ char *unit = unit_service_name(e->instance);

        if (!unit)
                return -ENOMEM;
        owned[0] = strformat("_UID=%u", user ? (unsigned) getuid() : 0U);
        owned[1] = strformat("MCP_SERVER=%s", e->name);
        owned[2] = strformat("SYSLOG_IDENTIFIER=mcp-%s", e->instance);
        owned[3] = strformat("%s=%s", user ? "_SYSTEMD_USER_UNIT" : "_SYSTEMD_UNIT", unit);
        owned[4] = strformat("%s=%s", user ? "USER_UNIT" : "UNIT", unit);
        for (size_t i = 0; i < N_MATCHES; i++)
                if (!owned[i])
                        return -ENOMEM;
        for (size_t i = 1; i < N_MATCHES; i++) {
                if (i > 1)
                        argv[(*n)++] = "+";
                argv[(*n)++] = owned[0];
                argv[(*n)++] = owned[i];
        }
        return 0;
}

int verb_logs(Ctl *ctl, char **operands) {
        const char *argv[ARGUMENTS_MAX] = { "journalctl" };
        char *owned[N_MATCHES] = {};
        _cleanup_free_ char *lines = NULL;
        const ServerEntry *e;
        size_t n = 1;
        int r = 0;

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
