/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a system server may write, as ReadWritePaths= of its service, whose ProtectSystem=strict would make it read-only:
 * working_dir, isolation.write and the write grants of a manifest, as far as they are known without the server's
 * environment. What is below /tmp or /var/tmp, which PrivateTmp=yes replaces, becomes BindPaths=. This only lifts the
 * service's own mounts; what the child may write is for its plan. */

#include "config/definition.h"

#include "unit-writer.h"

/* root: in front of an absolute manifest path ("": nothing). What cannot be said in a unit is a warning in problems. */
int add_writable_paths(UnitText *t, const Definition *d, const char *root, ProblemList *problems);
