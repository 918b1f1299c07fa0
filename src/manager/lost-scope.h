/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Scopes that systemd has forgotten although there are processes in their control groups: a notification that a group
 * is empty may be older than the process that was put into it (systemd/systemd#36781), and a process may be moved out
 * and in again. Nobody stops such a scope, so its processes are ended one by one. */

#include "basic/runtime-scope.h"

/* Does the manager have no unit of this name that StartTransientUnit made? Such a unit has a file for as long as it is
 * loaded (unit_make_transient() and unit_free() of systemd's src/core/unit.c), which costs no question over the bus.
 * false where these files cannot be looked at. */
bool transient_unit_is_gone(RuntimeScope scope, const char *unit);

/* SIGKILL for every process in a group of the manager's hierarchy and in the groups below it, a few times over, since
 * they may fork meanwhile. How many there were at first (0: none, or no such group), or negative errno where that cannot
 * be told. Needs no right to write to the group. */
int cgroup_kill_all(const char *cgroup);

/* The scopes of an instance for which there is a group below mcp.slice, the caller's own or the one above it, whether
 * there is a unit or not: paths of groups. -ENOENT: the caller is not in that slice. */
int cgroup_list_scopes(const char *instance, char ***ret);
