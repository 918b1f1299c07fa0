/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The Plan: everything that will be done to a server's process, as one value. It is made by pure functions from a
 * definition (and a manifest) and the host's facts; the child applies it, and every read surface (show, status, check,
 * --dry-run) prints the same one, so they cannot disagree. It contains secrets (env): printers show names only.
 *
 * A plan is never widened once a child runs under it. */

#include "config/definition.h"
#include "manifest/manifest.h"
#include "plan/host-facts.h"
#include "plan/isolation.h"

/* What a path rule allows, before any ABI is considered; sandbox/landlock-rights.h turns it into masks. */
typedef enum Access {
        ACCESS_READ = 1 << 0, /* read files and list directories */
        ACCESS_EXECUTE = 1 << 1,
        ACCESS_WRITE = 1 << 2,       /* write, truncate, create, remove, rename and link within */
        ACCESS_IOCTL = 1 << 3,       /* device ioctls (ABI 5) */
        ACCESS_UNIX = 1 << 4,        /* connect to UNIX sockets (ABI 9) */
        ACCESS_MAKE_DEVICE = 1 << 5, /* nono's write on a directory includes MAKE_CHAR and MAKE_BLOCK */
} Access;

typedef enum RuleFlags {
        RULE_OPTIONAL = 1
                        << 0, /* not there or cannot be opened: skipped with a note (baseline); else fatal */
        RULE_CREATE = 1
                      << 1, /* a directory that is made (0700) before the rules are built where it is not there */
        RULE_WANT_FILE = 1 << 2, /* a directory there is an error */
        RULE_WANT_DIRECTORY = 1 << 3,
        RULE_BUT_DEVICES =
                        1
                        << 4, /* for "/": what is below /dev can be listed, not opened; that has rules of its own */
} RuleFlags;

typedef struct PathRule {
        char *path; /* absolute, as it will be opened: links are followed then */
        char *resolved; /* where it leads, or with RULE_CREATE will lead; NULL: not there. Opening checks it again */
        unsigned access; /* Access */
        unsigned flags;  /* RuleFlags */
        char *source; /* "baseline: working directory", "isolation.write[0]", "manifest /filesystem/grants/2" … */
        char *note; /* why it is skipped or worth knowing; NULL */
} PathRule;

typedef enum NetworkMode {
        NETWORK_MODE_UNRESTRICTED,
        NETWORK_MODE_BLOCKED,
        NETWORK_MODE_PORTS, /* only the listed TCP ports */
} NetworkMode;

typedef struct PortList {
        uint16_t *ports; /* sorted, unique */
        size_t n_ports;
} PortList;

typedef enum ProtectionId {
        PROTECTION_FS_WRITE,
        PROTECTION_FS_READ,
        PROTECTION_FS_REFER,
        PROTECTION_FS_TRUNCATE,
        PROTECTION_DEV_IOCTL,
        PROTECTION_TCP_CONNECT,
        PROTECTION_TCP_BIND,
        PROTECTION_NETWORK,
        PROTECTION_UNIX_PATH,
        PROTECTION_UNIX_ABSTRACT,
        PROTECTION_SIGNAL,
        PROTECTION_SYSCALLS,
        PROTECTION_RLIMITS,
        PROTECTION_MEMORY,
        PROTECTION_TASKS,
        PROTECTION_CPU,
        PROTECTION_LOOPBACK_ONLY,
        PROTECTION_IDENTITY,
        _PROTECTION_MAX,
} ProtectionId;
const char *protection_to_string(ProtectionId id); /* "fs-write" … */

typedef enum ProtectionState {
        PROTECTION_NOT_WANTED, /* nobody asked for it: not listed as missing, says so in show */
        PROTECTION_ENFORCED,
        PROTECTION_MISSING, /* wanted, and this host cannot */
} ProtectionState;

/* One row per ProtectionId, always all of them. */
typedef struct Protection {
        ProtectionId id;
        ProtectionState state;
        const char *wanted_by; /* "sandbox mode", "isolation.network", "limits.memory" …; static */
        const char *mechanism; /* "Landlock WRITE_FILE and MAKE_*", "seccomp", "cgroup memory.max" …; static */
        char *needs; /* when missing: what it needs and what was found: "Landlock ABI 3 (Linux 6.2); found 2" */
        const char *consequence; /* one sentence, static: what holds, or what does not hold when it is missing */
} Protection;

typedef struct Plan {
        char *name, *instance;
        RuntimeScope scope;
        Isolation isolation; /* its strings are owned by isolation_mode and isolation_global_mode */
        char *isolation_mode, *isolation_global_mode;
        bool strict;
        bool confined;    /* Landlock file rules will be applied: isolation.isolated is the same */
        bool new_session; /* setsid(), clean umask, die with the parent; not for mcp-sandbox at a terminal */
        LandlockFacts landlock; /* what the host offers: the ruleset handles all of it that the plan has use for */

        char *command; /* resolved absolute path of the program */
        char **argv;   /* argv[0] as written */
        char **env;    /* complete; contains secrets */
        char *working_dir;

        PathRule *rules;
        size_t n_rules;
        bool reads_confined; /* with a manifest; without one reads stay broad, but for devices */

        NetworkMode network;
        PortList connect_ports, bind_ports;
        bool loopback_only; /* the localhost ports are held to loopback by the scope's IPAddressDeny= */

        UnixWish unix_sockets;
        bool scope_signals, scope_abstract; /* wanted; what the ABI lacks is a missing protection */
        bool syscall_floor;                 /* seccomp filter of design 5.3 */
        bool no_new_privs;

        RlimitEntry *rlimits;
        size_t n_rlimits;

        uid_t uid; /* (uid_t) -1: stays as it is */
        gid_t gid;

        uint64_t memory_max, swap_max, tasks_max, runtime_max_usec; /* LIMIT_UNSET, LIMIT_INFINITY */
        uint64_t cpu_quota_permille;
        bool oom_kill_all; /* OOMPolicy=kill: nono's resources */
        uint64_t eof_grace_usec, kill_after_usec;

        Protection protections[_PROTECTION_MAX];
        char **denies; /* of the manifest, resolved: nothing that is granted touches them */
        char **notes;  /* baseline entries that were skipped, mounts that deserve a warning … */
} Plan;

/* What a rule with RULE_BUT_DEVICES leaves out. */
#define PLAN_DEVICES "/dev"

/* The file whose opening for writing has to be denied to prove the confinement: opening it changes nothing. */
#define PLAN_WITNESS "/proc/self/comm"

Plan *plan_free(Plan *p);
DEFINE_TRIVIAL_CLEANUP_FUNC(Plan *, plan_free);
#define _cleanup_plan_ _cleanup_(plan_freep)

/* Makes the plan. 0: *ret is set, and the server may start: problems hold at most warnings and notes. -EINVAL: the
 * definition cannot be run (exit code 2), or -EPERM: confinement is refused (exit code 3): strict and something
 * missing, a grant that is a key to the house, a snap runtime, docker mode …; problems say why, all at once, and *ret
 * is set where a plan could be made all the same (for show), else untouched. -ENOMEM.
 *
 * manifest is what src/manifest made of isolation.manifest, NULL without one.
 *
 * A Text of the definition without a place (line 0) came from a command line: it is taken literally, and a working
 * directory given so is not made writable where that would be a key to the house. */

int plan_make(const Definition *d,
              const GlobalIsolation *global,
              const ManifestGrants *manifest,
              const HostFacts *host,
              Plan **ret,
              ProblemList *problems);

size_t plan_count_missing(const Plan *p);

/* A grant that would let a server have code run outside its sandbox. resolved is compared component by component, in
 * both directions. NULL: none; else a static sentence that says why. */
const char *plan_key_to_the_house(const HostFacts *host, const char *resolved, unsigned access);
