/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the host can do, as a value: the plan is a pure function of definition, manifest and these facts. They are
 * gathered in sandbox/host-probe.h, by system call, never by a version string; tests make them up. */

#include <sys/stat.h>

#include "basic/macro.h"
#include "config/paths.h"

/* Rights and scopes in Landlock's own bits (plan/landlock-bits.h); the plan only tests and combines them. */
typedef struct LandlockFacts {
        int abi;        /* after clamping to what this build knows and after forcing; 0: not available */
        int kernel_abi; /* as the kernel says it; 0 where it is not available */
        int unavailable; /* 0, or the errno of the probe: ENOSYS not built in, EOPNOTSUPP not in lsm=, EPERM … */
        bool forced;         /* a test hook lowered abi (MCP_TEST_LANDLOCK_ABI) */
        uint64_t handled_fs; /* what create_ruleset really accepted: less than the ABI's mask after peeling */
        uint64_t handled_net;
        uint64_t scoped;
        uint32_t errata; /* bit N-1: erratum N is fixed; 0 where the kernel cannot say. For doctor only */
} LandlockFacts;

/* The type and the resolved name of a path, as the server's plan needs it. */
typedef struct PathFacts {
        char *resolved; /* all links followed; owned by the caller of resolve() */
        mode_t mode;    /* st_mode of what is there */
        uid_t uid;      /* its owner */
        gid_t gid;
        bool read_only;    /* on a mount that is read-only here */
        uint64_t fs_magic; /* statfs f_type, to warn about 9p and the like; 0: unknown */
} PathFacts;
static inline void path_facts_done(PathFacts *p) {
        free(p->resolved);
        p->resolved = NULL;
}
#define _cleanup_path_facts_ _cleanup_(path_facts_done)

typedef struct HostFacts HostFacts;
struct HostFacts {
        RuntimeScope scope;
        bool managed; /* false: mcp-sandbox, no manager, so no cgroup limits, no scope */
        LandlockFacts landlock;
        bool seccomp; /* SECCOMP_SET_MODE_FILTER works and this build knows the architecture */

        /* What the manager can enforce on our scopes: from cgroup.controllers of where they will be. */
        bool cgroup_memory, cgroup_pids, cgroup_cpu;
        bool ip_filter; /* IPAddressDeny= works (system manager with BPF) */

        uid_t uid; /* that the child will have; the supervisor's own in the user scope */
        gid_t gid;
        const char *user_name; /* for messages and USER=; may be NULL */

        const char *home;      /* the person's, or in the system scope the state directory */
        const char *state_dir; /* the server's own, exists; NULL with mcp-sandbox unless --name made one */
        const char *tmp_dir; /* the OS temp directory as the server will see it: "/tmp" unless TMPDIR says otherwise */
        const char *runtime_dir;     /* %t: /run or $XDG_RUNTIME_DIR; may be NULL with mcp-sandbox */
        const char *credentials_dir; /* where the manager has put the unit's credentials; NULL: it has none */
        bool credentials_later; /* asked from outside of the unit: only its start can tell whether they are there */
        char *const *env; /* the environment that the allowlist picks from and references are resolved in */

        /* Looks a path up: 0, or negative errno (-ENOENT, -ELOOP, -EACCES …). The only way in which the plan sees the
         * file system, so that tests can show it a made-up tree. */
        int (*resolve)(void *userdata, const char *path, PathFacts *ret);
        /* Is the path's last component a link (1), or is something else there (0)? Negative errno as resolve(). It is
         * one system call instead of several. NULL: only resolve() can tell. */
        int (*is_link)(void *userdata, const char *path);
        /* What is_link() says of n paths that all are dir and one more component, in ret: for fewer system calls where they
         * are many. 0, or -ENOMEM. NULL: each has to be asked about. */
        int (*are_links)(void *userdata, const char *dir, const char *const *paths, size_t n, int *ret);
        /* The first bytes of an executable, for its #! line: number of bytes, or negative errno. */
        ssize_t (*read_head)(void *userdata, const char *path, char *buffer, size_t size);
        void *userdata;
};

/* Where a path leads, and nothing else of it: what resolve() says, for less where the path is no link. */
int host_real_path(const HostFacts *host, const char *path, char **ret);
