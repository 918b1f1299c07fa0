/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What holds in a process's cgroup, read back because a controller that is missing is ignored silently
 * (landlock-systemd facts 3.7). Parsers take the text of the kernel's files, for tests. cgroup_of_pid() and
 * cgroup_is_ours() are in manager/manager.h. */

#include <sys/types.h>

#include "basic/macro.h"

typedef enum CgroupAttribute {
        CGROUP_MEMORY_MAX,
        CGROUP_MEMORY_EVENTS, /* v1: memory.oom_control, whose oom_kill line is the same */
        CGROUP_MEMORY_PEAK,   /* v2: Linux 5.19 */
        CGROUP_PIDS_MAX,
        CGROUP_PIDS_EVENTS,
        CGROUP_CPU_MAX,
        _CGROUP_ATTRIBUTE_MAX,
} CgroupAttribute;

/* What /proc/PID/cgroup says, for all that follows; and the path in it in the hierarchy that the running manager uses. */
int cgroup_read_of_pid(pid_t pid, char **ret);
int cgroup_of_unit(const char *text, char **ret);

/* A descriptor of the attribute's file in the group that the text names. -ENOENT: no such controller there. */
int cgroup_open_attribute(const char *text, CgroupAttribute attribute, bool *ret_v1);

/* memory.events of the group's parent, on v2, where its counters hold those of its groups, also when these are gone; local:
 * its own alone (Linux 5.2). */
int cgroup_open_parent_events(const char *text, bool local);

/* The limit in force: bytes, tasks, or per mille of one CPU; UINT64_MAX: none. */
int cgroup_read_limit(const char *text, CgroupAttribute attribute, uint64_t *ret);

/* The path in one hierarchy of /proc/PID/cgroup's text: a controller, "name=systemd", or "" for v2. -ENOENT: no such
 * hierarchy; -ENODATA: the group is gone. cgroup_parse(): in the hierarchy in which systemd keeps units. */
int cgroup_find(const char *text, const char *controller, char **ret);
int cgroup_parse(const char *text, char **ret);

/* The directory of a group in the hierarchy that the running manager uses: a descriptor for reading. -ENOENT: it is gone. */
int cgroup_open_group(const char *cgroup);

/* A line of an events file that is open, or the number in another; 0 where it cannot be read (the group is gone). */
uint64_t cgroup_read_event(int fd, const char *key);
uint64_t cgroup_read_number(int fd);
bool cgroup_is_there(int fd); /* the group of an open file */

int cgroup_parse_limit(const char *text, uint64_t *ret);
int cgroup_parse_cpu(const char *text, bool v1, uint64_t *ret);
uint64_t cgroup_parse_event(const char *text, const char *key); /* 0 where it is not there */
