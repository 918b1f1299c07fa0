/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/ssh.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

bool ssh_host_is_valid(const char *host) {
        if (isempty(host) || *host == '-')
                return false;
        for (const unsigned char *p = (const unsigned char *) host; *p; p++)
                if (*p <= ' ' || *p == 0x7f)
                        return false;
        return true;
}

const char *ssh_program(void) {
        const char *program = getenv("SYSTEMD_SSH");

        return program && path_is_absolute(program) ? program : "/usr/bin/ssh";
}

/* One word for ssh, which would put blanks between several: what the shell there reads. */
static char *shell_line(const SshCommand *c) {
        _cleanup_strv_free_ char **words = NULL;

        if (strv_consume(&words, shell_quote(c->program)) < 0)
                return NULL;
        STRV_FOREACH (a, c->arguments)
                if (strv_consume(&words, shell_quote(*a)) < 0)
                        return NULL;
        return strv_join(words, " ");
}

int ssh_command(const SshCommand *c, char ***ret) {
        _cleanup_strv_free_ char **argv = NULL;
        int r;

        if (!ssh_host_is_valid(c->host))
                return -EINVAL;
        r = strv_extend(&argv, "ssh");
        if (r >= 0)
                r = strv_extend(&argv, c->terminal ? "-t" : "-T");
        STRV_FOREACH (v, c->variables)
                if (r >= 0)
                        r = strv_extendf(&argv, "-oSendEnv=%s", *v);
        if (r >= 0)
                r = strv_extend(&argv, "--");
        if (r >= 0)
                r = strv_extend(&argv, c->host);
        if (r >= 0)
                r = strv_consume(&argv, shell_line(c));
        if (r >= 0)
                *ret = TAKE_PTR(argv);
        return r;
}
