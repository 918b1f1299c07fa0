/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The line that systemctl status shows. */

#include "supervisor/server.h"

char *status_format(const Server *s); /* NULL: out of memory */
