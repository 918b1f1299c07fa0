/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A program of ours on another machine, over ssh, as systemctl -H does it. */

#include "basic/macro.h"

typedef struct SshCommand {
        const char *host;    /* [USER@]HOST, as ssh takes it */
        const char *program; /* found on the PATH there */
        char *const *arguments; /* each arrives as it is, whatever is in it: ssh hands them to a POSIX shell, quoted */
        char *const *variables; /* names that are sent where the other side accepts them (SendEnv); may be NULL */
        bool terminal;          /* with a terminal there */
} SshCommand;

/* Can it be a host, and nothing else? Not empty, no option, no blanks and control characters. */
bool ssh_host_is_valid(const char *host);

/* The program to execute: $SYSTEMD_SSH where that is an absolute path, else /usr/bin/ssh. */
const char *ssh_program(void);

/* argv for it. -EINVAL: no host; -ENOMEM. */
int ssh_command(const SshCommand *command, char ***ret);
