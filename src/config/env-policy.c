/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/env-policy.h"
#include "basic/string-util.h"

#define RUNS_CODE "It decides what code runs inside the server."
#define FINDS     "It decides which programs and files are found."
#define PLACES    "It decides where the server's own directories are, and so what it may write."
#define DOORS     "It names a socket through which code can be run outside the sandbox."
#define OURS      "It belongs to systemd or to the supervisor."

/* A name that ends in '*' stands for all that start so. */
static const struct {
        const char *name, *why;
} refusal_table[] = {
        { "BASH_ENV", RUNS_CODE },
        { "BASH_FUNC_*", RUNS_CODE },
        { "CARGO_*", RUNS_CODE },
        { "CREDENTIALS_DIRECTORY", OURS },
        { "DBUS_*", DOORS },
        { "DENO_*", RUNS_CODE },
        { "DISPLAY", DOORS },
        { "DOCKER_*", DOORS },
        { "ENV", RUNS_CODE },
        { "GCONV_PATH", RUNS_CODE },
        { "GIT_*", RUNS_CODE },
        { "GLIBC_TUNABLES", RUNS_CODE },
        { "GPG_AGENT_INFO", DOORS },
        { "HOME", PLACES },
        { "IFS", RUNS_CODE },
        { "INVOCATION_ID", OURS },
        { "JAVA_TOOL_OPTIONS", RUNS_CODE },
        { "JDK_JAVA_OPTIONS", RUNS_CODE },
        { "JOURNAL_STREAM", OURS },
        { "LD_*", RUNS_CODE },
        { "LISTEN_*", OURS },
        { "LOCPATH", RUNS_CODE },
        { "MAINPID", OURS },
        { "NODE_OPTIONS", RUNS_CODE },
        { "NODE_PATH", FINDS },
        { "NODE_REPL_EXTERNAL_MODULE", RUNS_CODE },
        { "NOTIFY_SOCKET", OURS },
        { "NPM_CONFIG_*", RUNS_CODE },
        { "PATH", FINDS },
        { "PERL5DB", RUNS_CODE },
        { "PERL5LIB", FINDS },
        { "PERL5OPT", RUNS_CODE },
        { "PIP_*", RUNS_CODE },
        { "PYTHONBREAKPOINT", RUNS_CODE },
        { "PYTHONHOME", FINDS },
        { "PYTHONINSPECT", RUNS_CODE },
        { "PYTHONPATH", FINDS },
        { "PYTHONSTARTUP", RUNS_CODE },
        { "PYTHONUSERBASE", FINDS },
        { "RUBYLIB", FINDS },
        { "RUBYOPT", RUNS_CODE },
        { "SHELL", RUNS_CODE },
        { "SSH_ASKPASS", RUNS_CODE },
        { "SSH_AUTH_SOCK", DOORS },
        { "TEMP", PLACES },
        { "TMP", PLACES },
        { "TMPDIR", PLACES },
        { "UV_*", RUNS_CODE },
        { "WATCHDOG_*", OURS },
        { "WAYLAND_DISPLAY", DOORS },
        { "XAUTHORITY", DOORS },
        { "XDG_*", PLACES },
        { "_JAVA_OPTIONS", RUNS_CODE },
        { "npm_config_*", RUNS_CODE },
};

const char *env_refusal(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(refusal_table); i++) {
                const char *row = refusal_table[i].name;
                size_t n = strlen(row);

                if (row[n - 1] == '*' ? strncmp(row, name, n - 1) == 0 : streq(row, name))
                        return refusal_table[i].why;
        }
        return NULL;
}
