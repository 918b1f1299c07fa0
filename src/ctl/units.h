/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the manager knows about our units, asked synchronously: a command that a person waits for has nothing else to
 * do. The interfaces are those of org.freedesktop.systemd1(5). */

#include <systemd/sd-bus.h>

#include "config/paths.h"

/* Connects to the scope's manager; calls on it fail with -ETIMEDOUT after a few seconds. */
int units_connect(RuntimeScope scope, sd_bus **ret);

typedef struct UnitState {
        char *name;
        char *load, *active, *sub; /* "loaded", "active", "running" … */
} UnitState;

typedef struct UnitList {
        UnitState *items; /* sorted by name */
        size_t n_items;
} UnitList;

/* All loaded units of ours: mcp-server@….service and .socket, and the sessions' scopes. */
int units_list(sd_bus *bus, UnitList *ret);
void unit_list_done(UnitList *list);
#define _cleanup_unit_list_ _cleanup_(unit_list_done)
const UnitState *unit_list_find(const UnitList *list, const char *name); /* NULL: not loaded */

/* More about one unit; what it has not is NULL, 0 or UINT64_MAX. */
typedef struct UnitDetails {
        char *load, *active, *sub;
        char *result, *status_text, *cgroup;
        uint64_t since_usec; /* CLOCK_REALTIME of the last change to active or inactive */
        uint64_t memory, tasks;
        uint32_t main_pid;
        int32_t exit_status; /* of a service's last main process that exited */
} UnitDetails;

int unit_details(sd_bus *bus, const char *unit, UnitDetails *ret);
void unit_details_done(UnitDetails *d);
#define _cleanup_unit_details_ _cleanup_(unit_details_done)

/* The environment block of the manager: what its services start from. */
int manager_environment(sd_bus *bus, char ***ret);

/* PrivateTmp= of a server's service; what the shipped unit says where bus is NULL or does not answer. */
bool unit_has_private_tmp(sd_bus *bus, const char *instance);

/* The first process of a unit's cgroup, 0: it has none. */
int unit_first_process(sd_bus *bus, const char *unit, pid_t *ret);

/* mcp-server@INSTANCE.service, .socket. NULL: out of memory. */
char *unit_service_name(const char *instance);
char *unit_socket_name(const char *instance);
