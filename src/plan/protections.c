/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/string-util.h"
#include "plan/landlock-bits.h"
#include "plan/plan-internal.h"

static const char *const protection_table[_PROTECTION_MAX] = {
        [PROTECTION_FS_WRITE] = "fs-write",
        [PROTECTION_FS_READ] = "fs-read",
        [PROTECTION_FS_REFER] = "fs-refer",
        [PROTECTION_FS_TRUNCATE] = "fs-truncate",
        [PROTECTION_DEV_IOCTL] = "dev-ioctl",
        [PROTECTION_TCP_CONNECT] = "tcp-connect",
        [PROTECTION_TCP_BIND] = "tcp-bind",
        [PROTECTION_NETWORK] = "network",
        [PROTECTION_UNIX_PATH] = "unix-path",
        [PROTECTION_UNIX_ABSTRACT] = "unix-abstract",
        [PROTECTION_SIGNAL] = "signal",
        [PROTECTION_SYSCALLS] = "syscalls",
        [PROTECTION_RLIMITS] = "rlimits",
        [PROTECTION_MEMORY] = "memory",
        [PROTECTION_TASKS] = "tasks",
        [PROTECTION_CPU] = "cpu",
        [PROTECTION_LOOPBACK_ONLY] = "loopback-only",
        [PROTECTION_IDENTITY] = "identity",
};

const char *protection_to_string(ProtectionId id) {
        return id >= 0 && id < _PROTECTION_MAX ? protection_table[id] : NULL;
}

static bool sandboxed(const PlanContext *c) {
        return streq(c->plan->isolation.mode, "sandbox");
}

/* Who wants it; NULL: nobody. */
static const char *by_sandbox(const PlanContext *c) {
        if (!sandboxed(c))
                return NULL;
        return c->manifest ? "isolation.manifest" : "sandbox mode";
}

static const char *by_manifest(const PlanContext *c) {
        return sandboxed(c) && c->plan->reads_confined ? "isolation.manifest" : NULL;
}

static const char *by_network(const PlanContext *c) {
        if (!sandboxed(c) || c->plan->network == NETWORK_MODE_UNRESTRICTED)
                return NULL;
        return c->manifest ? "isolation.manifest" : "isolation.network";
}

static const char *by_unix(const PlanContext *c) {
        return sandboxed(c) && c->plan->unix_sockets != UNIX_ANY ? "isolation.unix_sockets" : NULL;
}

static const char *by_abstract(const PlanContext *c) {
        return c->plan->scope_abstract ? by_sandbox(c) : NULL;
}

static const char *by_signal(const PlanContext *c) {
        return c->plan->scope_signals ? by_sandbox(c) : NULL;
}

static const char *by_syscalls(const PlanContext *c) {
        return c->plan->syscall_floor ? by_sandbox(c) : NULL;
}

static const char *by_rlimits(const PlanContext *c) {
        return c->plan->n_rlimits > 0 ? "limits" : NULL;
}

static bool limit_wanted(uint64_t limit) {
        return limit != LIMIT_UNSET && limit != LIMIT_INFINITY;
}

static const char *by_memory(const PlanContext *c) {
        if (c->manifest && c->manifest->memory_bytes > 0 && c->plan->memory_max == c->manifest->memory_bytes)
                return "manifest resources.memory_bytes";
        return limit_wanted(c->plan->memory_max) || limit_wanted(c->plan->swap_max) ? "limits.memory" : NULL;
}

static const char *by_tasks(const PlanContext *c) {
        if (c->manifest && c->manifest->max_processes > 0 &&
            c->plan->tasks_max == c->manifest->max_processes)
                return "manifest resources.max_processes";
        return limit_wanted(c->plan->tasks_max) ? "limits.tasks" : NULL;
}

static const char *by_cpu(const PlanContext *c) {
        return limit_wanted(c->plan->cpu_quota_permille) ? "limits.cpu" : NULL;
}

static const char *by_loopback(const PlanContext *c) {
        return c->manifest && c->manifest->n_localhost > 0 && sandboxed(c)
                               ? "manifest network.ports.localhost"
                               : NULL;
}

static const char *by_identity(const PlanContext *c) {
        return c->host->managed && c->host->scope == RUNTIME_SCOPE_SYSTEM ? "system manager" : NULL;
}

static bool handled(const PlanContext *c, uint64_t rights) {
        return c->plan->confined && (c->host->landlock.handled_fs & rights) == rights;
}

static bool has_write(const PlanContext *c) {
        return handled(c, LL_FS_WRITE_FILE);
}
static bool has_read(const PlanContext *c) {
        return handled(c, LL_FS_READ_FILE | LL_FS_READ_DIR);
}
static bool has_refer(const PlanContext *c) {
        return handled(c, LL_FS_REFER);
}
static bool has_truncate(const PlanContext *c) {
        return handled(c, LL_FS_TRUNCATE);
}
static bool has_ioctl(const PlanContext *c) {
        return handled(c, LL_FS_IOCTL_DEV);
}

/* The filter alone keeps a blocked network shut. A list of ports takes Landlock, and the filter against what goes around it
 * (fast open, MPTCP, listen() without bind()). */
static bool has_tcp(const PlanContext *c, uint64_t right) {
        if (!c->host->seccomp)
                return false;
        return c->plan->network == NETWORK_MODE_BLOCKED ||
               (c->plan->confined && (c->host->landlock.handled_net & right) == right);
}
static bool has_connect(const PlanContext *c) {
        return has_tcp(c, LL_NET_CONNECT_TCP);
}
static bool has_bind(const PlanContext *c) {
        return has_tcp(c, LL_NET_BIND_TCP);
}

static bool has_seccomp(const PlanContext *c) {
        return c->host->seccomp;
}

/* "none" is the filter's; a list takes RESOLVE_UNIX, since the filter sees no path. */
static bool has_unix_path(const PlanContext *c) {
        return handled(c, LL_FS_RESOLVE_UNIX) || (c->plan->unix_sockets == UNIX_NONE && c->host->seccomp);
}

static bool has_abstract(const PlanContext *c) {
        if (c->plan->unix_sockets == UNIX_NONE && c->host->seccomp)
                return true;
        return c->plan->confined && (c->host->landlock.scoped & LL_SCOPE_ABSTRACT_UNIX);
}

static bool has_signal(const PlanContext *c) {
        return c->plan->confined && (c->host->landlock.scoped & LL_SCOPE_SIGNAL);
}

static bool has_always(const PlanContext *c) {
        return true;
}
static bool has_memory(const PlanContext *c) {
        return c->host->managed && c->host->cgroup_memory;
}
static bool has_tasks(const PlanContext *c) {
        return c->host->managed && c->host->cgroup_pids;
}
static bool has_cpu(const PlanContext *c) {
        return c->host->managed && c->host->cgroup_cpu;
}
static bool has_loopback(const PlanContext *c) {
        return c->plan->loopback_only;
}
static bool has_identity(const PlanContext *c) {
        return c->plan->uid != (uid_t) -1 && c->plan->uid != 0;
}

/* What holds a row here, where that is not the same for every plan and kernel: nothing is named that does not take part.
 * Where the row is missing, what would hold it. */
static const char *by_tcp(const PlanContext *c, bool landlock, const char *both) {
        return c->plan->network == NETWORK_MODE_BLOCKED && !landlock ? "seccomp" : both;
}
static const char *connect_mechanism(const PlanContext *c) {
        return by_tcp(c,
                      c->plan->confined && (c->host->landlock.handled_net & LL_NET_CONNECT_TCP),
                      "Landlock CONNECT_TCP, seccomp");
}
static const char *bind_mechanism(const PlanContext *c) {
        return by_tcp(c,
                      c->plan->confined && (c->host->landlock.handled_net & LL_NET_BIND_TCP),
                      "Landlock BIND_TCP, seccomp");
}
static const char *unix_mechanism(const PlanContext *c) {
        if (c->plan->unix_sockets == UNIX_LIST)
                return "Landlock RESOLVE_UNIX";
        return handled(c, LL_FS_RESOLVE_UNIX) ? "seccomp, Landlock RESOLVE_UNIX" : "seccomp";
}
static const char *abstract_mechanism(const PlanContext *c) {
        bool scoped = c->plan->confined && c->plan->scope_abstract &&
                      (c->host->landlock.scoped & LL_SCOPE_ABSTRACT_UNIX);

        if (c->plan->unix_sockets != UNIX_NONE)
                return "Landlock scope";
        return scoped ? "seccomp, Landlock scope" : "seccomp";
}

/* One row per protection. abi and linux: what it takes of Landlock, 0 where something else (needs) decides. */
static const struct {
        const char *(*wanted_by)(const PlanContext *c);
        bool (*enforced)(const PlanContext *c);
        int abi;
        const char *linux_version, *needs;
        const char *mechanism;
        const char *holds, *lacks;
        const char *unconfined; /* lacks, where there is no Landlock at all; NULL: the same */
        const char *(*choose_mechanism)(const PlanContext *c); /* instead of mechanism */
} rows[_PROTECTION_MAX] = {
        [PROTECTION_FS_WRITE] = {
                by_sandbox, has_write, 1, "5.13", NULL, "Landlock WRITE_FILE, MAKE_* and REMOVE_*",
                "Only the listed paths can be written, created or removed; mode, owner, times and extended "
"attributes of the user's other files can still be changed.",
                "The server can write wherever its user can.",
        },
        [PROTECTION_FS_READ] = {
                by_manifest, has_read, 1, "5.13", NULL, "Landlock READ_FILE, READ_DIR and EXECUTE",
                "Only the listed paths can be read; names and attributes of others can still be looked up.",
                "The server can read whatever its user can.",
        },
        [PROTECTION_FS_REFER] = {
                by_sandbox, has_refer, 2, "5.19", NULL, "Landlock REFER",
                "Files move and link between directories only within what is granted.",
                "Renaming and linking between directories fails (EXDEV), also within what is granted.",
                "The server can move and link files wherever its user can.",
        },
        [PROTECTION_FS_TRUNCATE] = {
                by_sandbox, has_truncate, 3, "6.2", NULL, "Landlock TRUNCATE",
                "Files outside what is granted cannot be emptied.",
                "The server can empty files that it may not write.",
        },
        [PROTECTION_DEV_IOCTL] = {
                by_sandbox, has_ioctl, 5, "6.10", NULL, "Landlock IOCTL_DEV",
                "A device opened inside takes no driver ioctls unless it was granted.",
                "The server can control devices that its user can open.",
        },
        [PROTECTION_TCP_CONNECT] = {
                by_network, has_connect, 4, "6.7", NULL, NULL,
                "TCP connections are made to the listed ports only.",
                "The server can connect to any TCP port.", NULL, connect_mechanism,
        },
        [PROTECTION_TCP_BIND] = {
                by_network, has_bind, 4, "6.7", NULL, NULL,
                "TCP sockets are bound to the listed ports only; where there are any, listening without binding "
"still gets a port of the kernel's choice.",
                "The server can listen on any TCP port that its user can.", NULL, bind_mechanism,
        },
        [PROTECTION_NETWORK] = {
                by_network, has_seccomp, 0, NULL, "seccomp filters, which this kernel or build does not have", "seccomp",
                "No sockets but those that are granted: no UDP, ICMP, raw, MPTCP, netlink, packet or vsock.",
                "The server can use the network beside TCP: UDP, ICMP, raw sockets.",
        },
        [PROTECTION_UNIX_PATH] = {
                by_unix, has_unix_path, 9, "7.1", NULL, NULL,
                "No UNIX socket outside the sandbox can be reached but the listed ones.",
                "The server can connect to every UNIX socket that its user can: the session bus, agents, docker.",
                NULL, unix_mechanism,
        },
        [PROTECTION_UNIX_ABSTRACT] = {
                by_abstract, has_abstract, 6, "6.12", NULL, NULL,
                "No abstract UNIX socket outside the sandbox can be reached.",
                "The server can connect to abstract UNIX sockets of others.", NULL, abstract_mechanism,
        },
        [PROTECTION_SIGNAL] = {
                by_signal, has_signal, 6, "6.12", NULL, "Landlock scope",
                "Only processes inside the sandbox can be signalled; priority and CPU affinity of the user's other "
"processes can still be changed.",
                "The server can send signals to every process of its user.",
        },
        [PROTECTION_SYSCALLS] = {
                by_syscalls, has_seccomp, 0, NULL, "seccomp filters, which this kernel or build does not have", "seccomp",
                "io_uring, ptrace, mount, keyrings and the others of syscalls.conf are refused, and foreign "
"architectures' calls and those that are newer than that list; it is no allow list: all others stay.",
                "io_uring, ptrace, mount, keyrings and foreign architectures' calls stay open.",
        },
        [PROTECTION_RLIMITS] = {
                by_rlimits, has_always, 0, NULL, NULL, "setrlimit",
                "The listed resource limits hold for each process.", "The resource limits do not hold.",
        },
        [PROTECTION_MEMORY] = {
                by_memory, has_memory, 0, NULL, "the memory controller in the scope's cgroup", "cgroup memory.max",
                "The server and all its children stay below the limits of memory and swap that are set.",
                "The server can use all of the memory.",
        },
        [PROTECTION_TASKS] = {
                by_tasks, has_tasks, 0, NULL, "the pids controller in the scope's cgroup", "cgroup pids.max",
                "The server and all its children stay below the task limit.",
                "The server can start as many processes as its user can.",
        },
        [PROTECTION_CPU] = {
                by_cpu, has_cpu, 0, NULL, "the cpu controller in the scope's cgroup", "cgroup cpu.max",
                "The server and all its children stay below the CPU quota.", "The server can use all processors.",
        },
        [PROTECTION_LOOPBACK_ONLY] = {
                by_loopback, has_loopback, 0, NULL,
                "the system manager's IPAddressDeny= (BPF), and no connect or bind ports beside localhost",
                "cgroup IPAddressDeny=any, IPAddressAllow=localhost",
                "The localhost ports reach this machine only.",
                "The localhost ports reach every host: Landlock knows ports, not addresses.",
        },
        [PROTECTION_IDENTITY] = {
                by_identity, has_identity, 0, NULL, "a user of its own, which DynamicUser=yes gives it", "setresuid",
                "The server runs as its unit's user: one of its own, unless the definition names another.", "The server runs as the same user as its manager.",
        },
};

/* Why Landlock is not there, for people. */
static const char *landlock_reason(const LandlockFacts *f) {
        switch (f->unavailable) {
        case ENOSYS:
                return "this kernel is built without Landlock";
        case EOPNOTSUPP:
                return "Landlock is not in the kernel's lsm= list";
        case EPERM:
                return "a seccomp filter around us forbids Landlock";
        default:
                return f->forced ? "Landlock was turned off for a test" : "Landlock does not work here";
        }
}

static char *describe_needs(const PlanContext *c, ProtectionId id) {
        const LandlockFacts *f = &c->host->landlock;

        if (rows[id].abi == 0)
                return strformat("%s", rows[id].needs ? rows[id].needs : "nothing");
        if ((id == PROTECTION_TCP_CONNECT || id == PROTECTION_TCP_BIND) && !c->host->seccomp)
                return strformat("%s", rows[PROTECTION_NETWORK].needs);
        if (f->abi == 0)
                return strformat(
                                "Landlock ABI %d (Linux %s); %s",
                                rows[id].abi,
                                rows[id].linux_version,
                                landlock_reason(f));
        if (f->abi >= rows[id].abi)
                return strformat(
                                "Landlock ABI %d (Linux %s); this kernel says ABI %d but does not accept it",
                                rows[id].abi,
                                rows[id].linux_version,
                                f->kernel_abi);
        return strformat(
                        "Landlock ABI %d (Linux %s); found ABI %d%s",
                        rows[id].abi,
                        rows[id].linux_version,
                        f->abi,
                        f->forced ? " (forced for a test)" : "");
}

int plan_protections(PlanContext *c) {
        for (ProtectionId id = 0; id < _PROTECTION_MAX; id++) {
                Protection *p = c->plan->protections + id;

                *p = (Protection){
                        .id = id,
                        .wanted_by = rows[id].wanted_by(c),
                        .mechanism = rows[id].choose_mechanism ? rows[id].choose_mechanism(c)
                                                               : rows[id].mechanism,
                        .consequence = rows[id].holds,
                };
                if (!p->wanted_by)
                        continue;
                if (rows[id].enforced(c)) {
                        p->state = PROTECTION_ENFORCED;
                        continue;
                }
                p->state = PROTECTION_MISSING;
                p->consequence = rows[id].unconfined && !c->plan->confined ? rows[id].unconfined
                                                                           : rows[id].lacks;
                p->needs = describe_needs(c, id);
                if (!p->needs)
                        return -ENOMEM;
        }
        return 0;
}

size_t plan_count_missing(const Plan *p) {
        size_t n = 0;

        for (size_t i = 0; i < _PROTECTION_MAX; i++)
                n += p->protections[i].state == PROTECTION_MISSING;
        return n;
}
