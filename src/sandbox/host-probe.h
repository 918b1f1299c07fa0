/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the facts of the host that plans are made from, by system call. The only place that knows the test hook
 * MCP_TEST_LANDLOCK_ABI (0 to the kernel's own: lower it; never raises), whose use shows in every plan as "forced". */

#include "plan/host-facts.h"

typedef struct HostProbe {
        HostFacts facts; /* its pointers lead into the fields below */
        char *home, *state_dir, *tmp_dir, *runtime_dir, *user_name, *credentials_dir;
        char **env;
} HostProbe;

/* scope, managed: see HostFacts. env: the environment of the process that will be the server's parent. The cgroup
 * controllers are those delegated at the caller's place in the hierarchy. Landlock that is not there is a fact, not an error. */
int host_probe(RuntimeScope scope, bool managed, char *const *env, HostProbe *ret);
void host_probe_done(HostProbe *p);
#define _cleanup_host_probe_ _cleanup_(host_probe_done)

int landlock_probe(int forced_abi, LandlockFacts *ret); /* forced_abi < 0: not forced */
