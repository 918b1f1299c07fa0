/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* nono capability manifests (version 0.1.0), read with nono's own semantics and turned into grants. Nothing is added
 * here: the baseline is the plan's. */

#include "basic/json.h"
#include "config/problem.h"

typedef enum GrantAccess { GRANT_READ, GRANT_WRITE, GRANT_READWRITE } GrantAccess;

typedef struct ManifestGrant {
        char *original; /* as written */
        char *path;     /* variables and ~ expanded; absolute */
        GrantAccess access;
        bool is_file;  /* type: "file" */
        char *pointer; /* "/filesystem/grants/2" */
        unsigned line, column;
} ManifestGrant;

typedef struct ManifestGrants {
        char *file; /* where it was read; NULL: inline in a definition */
        ManifestGrant *grants;
        size_t n_grants;
        ManifestGrant *denies; /* accepted only where provably satisfied already: plan compares */
        size_t n_denies;

        bool network_blocked;                 /* mode blocked; false: unrestricted */
        uint16_t *connect, *bind, *localhost; /* sorted, unique; localhost includes localhost_range */
        size_t n_connect, n_bind, n_localhost;

        bool scope_signals;   /* signal_mode isolated or allow_same_sandbox */
        bool require_signals; /* allow_same_sandbox: refuse to start below ABI 6 */
        bool scope_abstract;  /* ipc_mode shared_memory_only */

        uint64_t memory_bytes, max_processes;        /* 0: not given */
        char **allowed_commands, **blocked_commands; /* compared with the launched program's basename only */
} ManifestGrants;

ManifestGrants *manifest_grants_free(ManifestGrants *m);
DEFINE_TRIVIAL_CLEANUP_FUNC(ManifestGrants *, manifest_grants_free);
#define _cleanup_manifest_ _cleanup_(manifest_grants_freep)

/* v: the manifest's JSON (inline, or a file's root). env: the server's environment, for ~ and the CLI's variables.
 * working_dir: for $WORKDIR and relative paths. All problems at once. 0, or -EINVAL where problems hold errors. */
int manifest_read(
                const JsonValue *v,
                const char *file,
                char *const *env,
                const char *working_dir,
                ManifestGrants **ret,
                ProblemList *problems);

/* Parses text first (strict JSON). */
int manifest_read_text(
                const char *text,
                size_t size,
                const char *file,
                char *const *env,
                const char *working_dir,
                ManifestGrants **ret,
                ProblemList *problems);
