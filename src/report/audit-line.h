/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel's audit says of Landlock: records of type 1423 (a denial) and 1424 (a domain), as journald keeps them in
 * MESSAGE. https://docs.kernel.org/admin-guide/LSM/landlock.html */

#include "basic/macro.h"

#define AUDIT_TYPE_ACCESS 1423
#define AUDIT_TYPE_DOMAIN 1424

typedef struct AuditLine {
        uint64_t domain;
        char **blockers; /* "fs.make_reg", "net.connect_tcp", "scope.signal" …; NULL in a record of a domain */
        char *path;      /* for what is to be made, the directory */
        char *address;  /* of a network denial */
        uint16_t port;  /* 0: none */
        char *process;  /* that a signal was for */
        bool allocated; /* a record of a domain that says who is in it: */
        pid_t pid;      /* who restricted itself; 0: not said */
} AuditLine;

void audit_line_done(AuditLine *l);
#define _cleanup_audit_line_ _cleanup_(audit_line_done)

/* -EBADMSG: no such record; -ENOMEM. The text is not trusted: paths in it were chosen by whoever was denied. */
int audit_line_parse(const char *text, AuditLine *ret);

/* "write", "read" or "execute": what a path was asked for, by its first blocker; NULL: it is about no path. */
const char *audit_line_access(const AuditLine *l);
