/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files of NAME=value lines (envFile of VS Code and Cursor): comments, "export ", single quotes as they are, double quotes
 * with \n \t \r and \ before anything else; outside of quotes blanks at the ends and " #comment" are cut. Nothing is
 * expanded. */

#include "basic/macro.h"

/* Sets what text (changed in place) assigns in env, the last of a name winning. The numbers of lines that are no assignment
 * go to *ret_bad_lines (free it; NULL: none), and are left out. -ENOMEM. */
int dotenv_parse(char *text, char ***env, unsigned **ret_bad_lines, size_t *ret_n_bad_lines);
