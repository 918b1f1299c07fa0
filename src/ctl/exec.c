/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ctl/exec.h"
#include "basic/string-util.h"

int ctl_exec(Ctl *ctl, const char *program, const char *const *argv) {
        int error;

        if (fflush(stdout) != 0)
                return -errno;
        (void) execv(program, (char *const *) argv);
        error = errno;
        return ctl_fail(ctl,
                        error == ENOENT ? CTL_NOT_FOUND : CTL_CANNOT_EXECUTE,
                        "MCP-X-EXEC",
                        error == ENOENT ? "Is it installed?" : NULL,
                        "%s cannot be executed: %s.",
                        program,
                        STRERROR(error));
}
