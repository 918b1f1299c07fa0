/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Definition files as mcpctl changes them: in the strongest directory only, whole or not at all, and nothing that would
 * not be accepted. */

#include "ctl/ctl.h"

/* Is it a server file in the directory that is ours to write? Else it comes from a package or an administrator, or is an
 * entry of a client file (is_client_file()). */
bool is_own_file(const Ctl *ctl, const ServerEntry *e);
bool is_client_file(const Ctl *ctl, const ServerEntry *e);

/* The path that a server's own file has, or will have. -ENOMEM. */
int own_file_path(Ctl *ctl, const char *name, char **ret);

/* Reads text as a definition of name in file path, makes the plan, and prints every problem to stderr. An exit status: a
 * start would not work. */
int own_text_check(Ctl *ctl, const char *name, const char *path, const char *text, size_t size);

/* Would files below HOME belong to the wrong user (sudo)? Says so, and returns an exit status. */
int ctl_check_home(Ctl *ctl);

typedef enum OwnFileFlags {
        OWN_FILE_NEW = 1 << 0,    /* refuses where there is one */
        OWN_FILE_BACKUP = 1 << 1, /* what was there becomes NAME.json~ */
} OwnFileFlags;

/* Writes it at a path; the directory is made where it is not there. What was there keeps its mode and place, also behind a
 * link. Says what fails. */
int own_file_write(Ctl *ctl, const char *at, mode_t mode, const char *text, size_t size, unsigned flags);

/* Says what was done (nothing with --json), and at the end how to undo it; with --json {"server","file","undo"}. */
int ctl_say(Ctl *ctl, const char *format, ...) _printf_(2, 3);
int ctl_say_unchanged(
                Ctl *ctl, const ServerEntry *e, const char *text); /* with --json: an undo that is null */
int ctl_say_undo(Ctl *ctl, const char *name, const char *file, const char *command); /* NULL: -ENOMEM */

/* Renames path to path~. */
int own_file_set_aside(Ctl *ctl, const char *path);

/* Commands for a shell that do something to a server as this one did: same manager, same root. NULL: out of memory. */
char *ctl_command(const Ctl *ctl, const char *verb, const char *name);
char *ctl_restore_command(
                const Ctl *ctl, const char *path, const char *verb, const char *name); /* path~ comes back */

/* The same where the person sits: the machine was reached with -H. NULL: out of memory. */
char *ctl_over_ssh(const Ctl *ctl, const char *command);
