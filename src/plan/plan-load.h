/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one way from a definition to its plan, for the supervisor, mcp-sandbox and mcpctl alike: reads the manifest that
 * the definition names, or holds, and makes the plan with it. */

#include "plan/plan.h"

/* As plan_make(), whose results it returns. A manifest that is wrong is -EINVAL, and *ret is untouched: without its
 * grants a plan would say nothing. The manifest's file stands beside the definition unless its path is absolute; with a
 * manager (host->managed) it is trusted under the same terms: owned by root, or in the user scope by that user, and
 * writable by nobody else. */
int plan_load(const Definition *d,
              const GlobalIsolation *global,
              const HostFacts *host,
              Plan **ret,
              ProblemList *problems);

/* What is wrong with the manifest of a definition that is wrong itself, and so gets no plan: a person wants to see both at
 * once. 0, whatever was found; -ENOMEM. */
int plan_check_manifest(const Definition *d, const HostFacts *host, ProblemList *problems);
