/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Verbs that another program does better. */

#include "ctl/ctl.h"

/* Becomes program (an absolute path); argv ends with NULL. Returns only where that fails: an
 * exit status, and it was said. */
int ctl_exec(Ctl *ctl, const char *program, const char *const *argv);
