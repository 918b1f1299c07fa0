/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Everything that is said to systemd over sd-bus. All calls that talk are asynchronous on an sd-event loop with a
 * timeout; a slow or silent bus delays only who waits for it. A connection that is lost (dbus-daemon restarted) is
 * reopened with its matches, and waiting starts are decided by asking for the unit (landlock-systemd facts 3.4, 3.7).
 * This room logs nothing. */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "basic/runtime-scope.h"

typedef struct Manager Manager;

/* Connects to the scope's manager. -ENOMEDIUM, -ENOENT: no bus (manager_error_hint() says what to do). */
int manager_new(RuntimeScope scope, sd_event *event, Manager **ret);
/* The same with another way to open the connection, for tests. userdata NULL: the Manager. */
typedef int (*manager_open_t)(void *userdata, sd_bus **ret);
int manager_new_full(
                RuntimeScope scope, sd_event *event, manager_open_t open, void *userdata, Manager **ret);

/* Ends the connection. Calls that still wait end without their callback. */
Manager *manager_unref(Manager *m);
DEFINE_TRIVIAL_CLEANUP_FUNC(Manager *, manager_unref);

/* What a scope gets. Strings are borrowed for the call. UINT64_MAX: property not set. */
typedef struct ScopeSpec {
        const char *name; /* mcp-INSTANCE-<16 hex>.scope */
        const char *description;
        const char *slice; /* mcp.slice */
        /* The service unit. Before= as well: systemd has a stop of the service stop the scope, too, and would do so at
         * once, which left the server no time after the end of its input. Not After=: the service would wait for the
         * scope, and the start of the scope for that of the service. */
        const char *binds_to;
        pid_t pid;
        int pidfd; /* -EBADF: by PIDs */
        uint64_t memory_max, swap_max, tasks_max, cpu_quota_usec_per_sec, runtime_max_usec,
                        timeout_stop_usec;
        bool oom_kill;      /* OOMPolicy=kill instead of stop, where the manager knows it for scopes */
        bool loopback_only; /* IPAddressDeny=any, IPAddressAllow=localhost */
} ScopeSpec;

/* The end of an operation: result 0 (job "done"), or negative errno: -EEXIST name in use, -ESRCH the process is gone,
 * -ETIMEDOUT no answer or no job result in time, -ECANCELED it gave way to another job, -EIO job failed …; detail is the
 * bus error's or job result's text, may be NULL. */
typedef void (*manager_done_t)(void *userdata, int result, const char *detail);

/* Freeing it, which the callback may do as well, cancels the callback, not the operation. Whoever passes ret NULL leaves
 * it to free itself at its end. Calls reach the manager in the order in which they were made, and no callback comes
 * before the call that asked for it has returned. */
typedef struct ManagerCall ManagerCall;
ManagerCall *manager_call_free(ManagerCall *c);
DEFINE_TRIVIAL_CLEANUP_FUNC(ManagerCall *, manager_call_free);

int manager_start_scope(
                Manager *m,
                const ScopeSpec *spec,
                uint64_t timeout_usec,
                manager_done_t done,
                void *userdata,
                ManagerCall **ret);

/* The same in two steps, so that little is left to do when there is a process: spec's is not looked at, and nothing is
 * asked before the second. */
int manager_prepare_scope(
                Manager *m,
                const ScopeSpec *spec,
                uint64_t timeout_usec,
                manager_done_t done,
                void *userdata,
                ManagerCall **ret);
int manager_start_prepared(
                Manager *m, ManagerCall *call, pid_t pid, int pidfd); /* pidfd stays the caller's */

/* StopUnit, waited for; a unit that is not there is success. */
int manager_stop_unit(
                Manager *m,
                const char *unit,
                uint64_t timeout_usec,
                manager_done_t done,
                void *userdata,
                ManagerCall **ret);

/* The property Result of a scope ("success", "oom-kill", "timeout" …), asked before it is collected. */
typedef void (*manager_string_t)(void *userdata, int result, const char *value);
int manager_get_result(
                Manager *m,
                const char *unit,
                uint64_t timeout_usec,
                manager_string_t done,
                void *userdata,
                ManagerCall **ret);

/* The names of all loaded scopes of one server: those that scope_name_is_of() accepts. Ends when the callback got a
 * strv (borrowed) or an error. */
typedef void (*manager_list_t)(void *userdata, int result, char *const *units);
int manager_list_scopes(
                Manager *m,
                const char *instance,
                uint64_t timeout_usec,
                manager_list_t done,
                void *userdata,
                ManagerCall **ret);

/* Scope names. The unique part has a fixed length, so "a" never takes the scopes of "a-b" for its own. */
int scope_name_make(const char *instance, const char unique[static 17], char **ret);
bool scope_name_is_of(const char *scope, const char *instance); /* instance NULL: of any of our servers */

/* The cgroup path of a process (/proc/PID/cgroup, the systemd hierarchy: v2, or name=systemd on v1 and hybrid). */
int cgroup_of_pid(pid_t pid, char **ret);
/* Does a cgroup path run through one of our scopes? ret_scope (may be NULL): which. */
bool cgroup_is_ours(const char *cgroup, char **ret_scope);

/* What to tell a person about an error of connecting or starting ("no user bus: loginctl enable-linger …"); static, NULL:
 * nothing to add. */
const char *manager_error_hint(RuntimeScope scope, int error);
