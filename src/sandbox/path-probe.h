/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How a plan looks at this machine's file system: the functions of HostFacts, by system call. */

#include "plan/host-facts.h"

void path_probe_init(HostFacts *facts);
