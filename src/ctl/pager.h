/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Long output on a terminal goes through a pager, as systemctl's does. */

#include "ctl/ctl.h"

/* From here on stdout is the pager's, where that is wanted and there is one: $SYSTEMD_PAGER, $PAGER, less. An empty one or
 * "cat" means none. Without a pager all stays as it is. -ENOMEM and the like. */
int pager_open(Ctl *ctl);

/* Ends the output and waits for the reader to leave the pager. */
void pager_close(void);
