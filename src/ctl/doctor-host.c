/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine and the installation. Kernel features are asked for by system call, never by a version. */

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <systemd/sd-daemon.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/audit-state.h"
#include "ctl/doctor.h"
#include "manager/manager.h"
#include "sandbox/landlock-rights.h"

#define MANAGER_NAME      "org.freedesktop.systemd1"
#define MANAGER_PATH      "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"

#define SYSTEMD_VERSION_MIN 252
#define PROC_FILE_MAX       (1024U * 1024U)

int doctor_installation(Doctor *d) {
        static const char *const programs[] = {
                LIBEXECDIR "/mcp-supervisor",
                BINDIR "/mcp-connect",
                BINDIR "/mcp-sandbox",
                SYSTEM_UNIT_DIR "/mcp-server@.service",
                USER_UNIT_DIR "/mcp-server@.service",
        };
        bool whole = true;
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(programs) && r >= 0; i++)
                if (access(programs[i], R_OK) < 0) {
                        whole = false;
                        r = doctor_add(d,
                                       FINDING_PROBLEM,
                                       NULL,
                                       "Install mcp-systemd again.",
                                       "%s is not there.",
                                       programs[i]);
                }
        return r < 0 || !whole ? r
                               : doctor_add(d,
                                            FINDING_OK,
                                            NULL,
                                            NULL,
                                            "mcp-systemd " PROJECT_VERSION " is installed.");
}

int doctor_systemd(Doctor *d) {
        _cleanup_free_ char *version = NULL;
        sd_bus *bus = ctl_bus(d->ctl);
        int r;

        if (sd_booted() <= 0)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                "Boot with systemd as PID 1; mcp-sandbox confines a command without it.",
                                "This machine was not booted with systemd, so no server can be started.");
        if (!bus)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                manager_error_hint(d->ctl->scope, d->ctl->bus_error),
                                "The %s manager cannot be reached: %s.",
                                runtime_scope_to_string(d->ctl->scope),
                                STRERROR(d->ctl->bus_error));
        r = sd_bus_get_property_string(
                        bus, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Version", NULL, &version);
        if (r < 0)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                NULL,
                                "The manager does not answer: %s.",
                                STRERROR(r));
        if (atoi(version) < SYSTEMD_VERSION_MIN)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                "Update it to 252 or later.",
                                "systemd %s is too old.",
                                version);
        return doctor_add(
                        d,
                        FINDING_OK,
                        NULL,
                        NULL,
                        "systemd %s answers for the %s.",
                        version,
                        d->ctl->scope == RUNTIME_SCOPE_USER ? "user" : "system");
}

int doctor_linger(Doctor *d) {
        const struct passwd *pw = getpwuid(getuid());
        _cleanup_free_ char *path = NULL;

        if (d->ctl->scope != RUNTIME_SCOPE_USER || !pw || strchr(pw->pw_name, '/'))
                return 0;
        path = strformat("/var/lib/systemd/linger/%s", pw->pw_name);
        if (!path)
                return -ENOMEM;
        if (access(path, F_OK) >= 0)
                return doctor_add(d, FINDING_OK, NULL, NULL, "Your manager runs without a login (linger).");
        return doctor_add(
                        d,
                        FINDING_NOTE,
                        NULL,
                        "If clients connect while you are not logged in: loginctl enable-linger",
                        "Your manager and its servers end with your last login session.");
}

int doctor_group(Doctor *d) {
        const struct group *group;
        struct stat st;

        if (d->ctl->scope != RUNTIME_SCOPE_SYSTEM)
                return 0;
        group = getgrnam("mcp");
        if (!group)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                "systemd-sysusers",
                                "There is no group \"mcp\", which owns the sockets of servers without "
                                "\"access\".");
        /* Where it is not there yet, the first socket's start does not give it the group. */
        if (stat("/run/mcp", &st) < 0 || st.st_gid != group->gr_gid || !(st.st_mode & S_ISGID))
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                "systemd-tmpfiles --create mcp-systemd.conf, then mcpctl restart the "
                                "servers",
                                "The directory /run/mcp does not give its group, which is to be \"mcp\" "
                                "with the "
                                "set-group-ID bit, to the sockets in it: their clients are not let in.");
        return doctor_add(
                        d,
                        FINDING_OK,
                        NULL,
                        NULL,
                        "The group \"mcp\", which may connect, exists and has the sockets' directory.");
}

/* What each ABI brought, as far as a plan uses it. */
static const struct {
        int abi;
        const char *what;
} abi_table[] = {
        { 3, "no protection against truncation" },
        { 4, "no TCP port rules" },
        { 5, "no protection against device ioctls" },
        { 6, "no protection against signals to and abstract sockets of others" },
        { 7, "no log of denials" },
        { 9, "no lists of UNIX sockets" },
};

static char *abi_gaps(int abi) {
        _cleanup_strv_free_ char **gaps = NULL;

        for (size_t i = 0; i < ELEMENTSOF(abi_table); i++)
                if (abi < abi_table[i].abi &&
                    strv_extendf(&gaps, "%s (ABI %d)", abi_table[i].what, abi_table[i].abi) < 0)
                        return NULL;
        return gaps ? strv_join(gaps, ", ") : strdup("nothing is missing");
}

static const char *landlock_remedy(int error) {
        switch (error) {
        case ENOSYS:
                return "Boot a kernel that was built with CONFIG_SECURITY_LANDLOCK (Linux 5.13 or later).";
        case EOPNOTSUPP:
                return "Add \"landlock\" to lsm= on the kernel's command line.";
        default:
                return "A seccomp filter or a container around this machine forbids it: allow landlock_* "
                       "there.";
        }
}

int doctor_landlock(Doctor *d) {
        const LandlockFacts *l = &d->host.facts.landlock;
        _cleanup_free_ char *gaps = NULL;
        bool peeled;

        if (l->abi == 0)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                NULL,
                                landlock_remedy(l->unavailable),
                                "There is no Landlock here (%s): no server's files are confined.",
                                l->forced ? "forced off for a test" : STRERROR(l->unavailable));
        gaps = abi_gaps(l->abi);
        if (!gaps)
                return -ENOMEM;
        peeled = l->handled_fs != landlock_rights_mask(LANDLOCK_FIELD_FS, l->abi) ||
                 l->handled_net != landlock_rights_mask(LANDLOCK_FIELD_NET, l->abi) ||
                 l->scoped != landlock_rights_mask(LANDLOCK_FIELD_SCOPE, l->abi);
        if (l->abi < 6 || peeled || l->forced)
                return doctor_add(
                                d,
                                FINDING_WARNING,
                                NULL,
                                "A later kernel enforces more (6.12 has ABI 6).",
                                "Landlock has ABI %d%s%s: %s.",
                                l->abi,
                                l->forced ? " (forced down for a test)" : "",
                                peeled ? ", and refuses some of what that ABI has" : "",
                                gaps);
        return doctor_add(d, FINDING_OK, NULL, NULL, "Landlock has ABI %d: %s.", l->abi, gaps);
}

int doctor_errata(Doctor *d) {
        const LandlockFacts *l = &d->host.facts.landlock;
        _cleanup_strv_free_ char **fixed = NULL;
        _cleanup_free_ char *list = NULL;

        if (l->abi == 0)
                return 0;
        for (unsigned i = 0; i < 32; i++)
                if (l->errata & (1U << i) && strv_extendf(&fixed, "%u", i + 1) < 0)
                        return -ENOMEM;
        if (!fixed)
                return doctor_add(
                                d,
                                FINDING_NOTE,
                                NULL,
                                NULL,
                                "The kernel does not say which errata of Landlock are fixed.");
        list = strv_join(fixed, ", ");
        return list ? doctor_add(d, FINDING_OK, NULL, NULL, "Errata of Landlock that are fixed: %s.", list)
                    : -ENOMEM;
}

int doctor_seccomp(Doctor *d) {
        if (d->host.facts.seccomp)
                return doctor_add(d, FINDING_OK, NULL, NULL, "seccomp filters work.");
        return doctor_add(
                        d,
                        FINDING_PROBLEM,
                        NULL,
                        "Boot a kernel with CONFIG_SECCOMP_FILTER.",
                        "seccomp filters do not work here: servers can reach UNIX sockets, D-Bus among "
                        "them.");
}

/* Which of the controllers that our limits need the manager of this cgroup was not given. */
static int missing_controllers(RuntimeScope scope, const char *group, char ***ret) {
        static const char *const wanted[] = { "memory", "pids", "cpu" };
        _cleanup_free_ char *path = NULL, *text = NULL;
        _cleanup_strv_free_ char **words = NULL, **missing = NULL;
        int r;

        /* PID 1 names its own "/init.scope"; its units are at the root. */
        path = strformat("/sys/fs/cgroup%s/cgroup.controllers", scope == RUNTIME_SCOPE_SYSTEM ? "" : group);
        if (!path)
                return -ENOMEM;
        r = file_read_at(AT_FDCWD, path, PROC_FILE_MAX, &text, NULL);
        if (r >= 0)
                r = strv_split(text, " \n", &words);
        if (r == -ENOMEM)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                if (!strv_contains(words, wanted[i]) && strv_extend(&missing, wanted[i]) < 0)
                        return -ENOMEM;
        *ret = TAKE_PTR(missing);
        return 0;
}

/* The manager's own cgroup: what is delegated to it is what its scopes can have. */
int doctor_cgroup(Doctor *d) {
        _cleanup_free_ char *group = NULL, *list = NULL;
        _cleanup_strv_free_ char **missing = NULL;
        sd_bus *bus = ctl_bus(d->ctl);
        int r;

        if (!bus)
                return 0;
        if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) < 0)
                return doctor_add(
                                d,
                                FINDING_WARNING,
                                NULL,
                                "Boot with systemd.unified_cgroup_hierarchy=1.",
                                "The machine uses cgroup version 1: limits of servers hold partly or not at "
                                "all.");
        r = sd_bus_get_property_string(
                        bus, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE, "ControlGroup", NULL, &group);
        if (r < 0)
                return doctor_add(
                                d,
                                FINDING_WARNING,
                                NULL,
                                NULL,
                                "The manager does not say what its cgroup is: %s.",
                                STRERROR(r));
        r = missing_controllers(d->ctl->scope, group, &missing);
        if (r < 0)
                return r;
        if (!missing)
                return doctor_add(
                                d,
                                FINDING_OK,
                                NULL,
                                NULL,
                                "The cgroup controllers memory, pids and cpu are delegated.");
        list = strv_join(missing, ", ");
        if (!list)
                return -ENOMEM;
        return doctor_add(
                        d,
                        FINDING_WARNING,
                        NULL,
                        d->ctl->scope == RUNTIME_SCOPE_USER ? "As root: systemctl edit user@.service, with "
                                                              "[Service] Delegate=memory pids cpu"
                                                            : "Boot without cgroup_disable=.",
                        "Without the cgroup controller%s %s the limits of the same name are not enforced.",
                        missing[1] ? "s" : "",
                        list);
}

int doctor_hidepid(Doctor *d) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_free_ char **lines = NULL;
        int r;

        r = file_read_at(AT_FDCWD, "/proc/self/mounts", PROC_FILE_MAX, &text, NULL);
        if (r >= 0)
                r = strv_split(text, "\n", &lines);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        STRV_FOREACH (line, lines) {
                const char *option =
                                startswith(*line, "proc /proc proc ") ? strstr(*line, "hidepid=") : NULL;

                if (!option || startswith(option, "hidepid=0") || startswith(option, "hidepid=off"))
                        continue;
                return doctor_add(
                                d,
                                FINDING_WARNING,
                                NULL,
                                "Take hidepid= out of the options of /proc; systemd does not support it.",
                                "/proc is mounted with hidepid=: users' managers do not start or cannot see "
                                "their processes.");
        }
        return doctor_add(d, FINDING_OK, NULL, NULL, "/proc is mounted without hidepid=.");
}

int doctor_audit(Doctor *d) {
        _cleanup_free_ char *needs = NULL;
        int r;

        r = audit_needs(&d->host.facts.landlock, &needs);
        if (r < 0)
                return r;
        if (!needs)
                return doctor_add(
                                d, FINDING_OK, NULL, NULL, "Denials by Landlock are logged in the journal.");
        return doctor_add(d, FINDING_NOTE, NULL, needs, "Denials by Landlock are not known to be logged.");
}

/* The runtimes that servers are usually started with. */
int doctor_snap(Doctor *d) {
        static const char *const runtimes[] = { "node", "npx", "uv", "uvx", "python3", "deno", "bun" };
        char *const *env;
        _cleanup_strv_free_ char **dirs = NULL;
        bool found = false;
        int r;

        r = ctl_environment(d->ctl, &env);
        if (r >= 0)
                r = strv_split(strempty(env_get(env, "PATH")), ":", &dirs);
        for (size_t i = 0; i < ELEMENTSOF(runtimes) && r >= 0; i++)
                STRV_FOREACH (dir, dirs) {
                        _cleanup_free_ char *path = path_join(*dir, runtimes[i]), *real = NULL;

                        if (!path)
                                return -ENOMEM;
                        if (access(path, X_OK) < 0)
                                continue;
                        real = realpath(path, NULL);
                        if (path_startswith(path, "/snap") ||
                            (real && (path_startswith(real, "/snap") || streq(real, "/usr/bin/snap"))))
                        {
                                found = true;
                                r = doctor_add(d,
                                               FINDING_WARNING,
                                               NULL,
                                               "Install it as a package of the distribution, or from its "
                                               "authors.",
                                               "%s is a snap, which cannot start in a sandbox.",
                                               path);
                        }
                        break;
                }
        return r < 0 || found ? r
                              : doctor_add(d, FINDING_OK, NULL, NULL, "No runtime on the PATH is a snap.");
}
