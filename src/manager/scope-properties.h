/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A ScopeSpec as the arguments of StartTransientUnit (landlock-systemd facts 3.3). */

#include "manager/manager.h"

int scope_spec_copy(const ScopeSpec *spec, ScopeSpec *ret); /* with strings and pidfd of its own */
void scope_spec_done(ScopeSpec *spec);                      /* of such a copy */

/* Appends name, mode and properties; then the process, which is known last, and no auxiliary units. */
int scope_properties_begin(sd_bus_message *m, const ScopeSpec *spec, bool lacks_oom_policy);
int scope_properties_end(sd_bus_message *m, const ScopeSpec *spec, bool lacks_pidfds);
