/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For people who type it; clients' configurations name mcp-connect itself. */

#include "basic/string-util.h"
#include "ctl/exec.h"

int verb_connect(Ctl *ctl, char **operands) {
        const char *scope = ctl->scope == RUNTIME_SCOPE_SYSTEM ? "--system" : "--user";
        const ServerEntry *e;
        int r;

        r = ctl_find_server(ctl, operands[0], &e);
        if (r != 0)
                return r;
        return ctl_exec(ctl,
                        BINDIR "/mcp-connect",
                        ctl->quiet ? (const char *[]){ "mcp-connect", scope, "--quiet", "--", e->name, NULL }
                                   : (const char *[]){ "mcp-connect", scope, "--", e->name, NULL });
}
