/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* nono capability manifests (version 0.1.0), read with nono's own semantics and turned into grants. Nothing is added
 * here: the baseline is the plan's. Nothing here touches the file system either: whether a path exists and is of the
 * granted type is for the plan to find out.
 *
 * Source: the published schema https://nono.sh/schemas/capability-manifest.schema.json and nono 0.74. */

#include <sys/types.h>

#include "basic/json.h"
#include "config/problem.h"

/* What one manifest may ask for; more is refused with a message rather than worked through. */
#define MANIFEST_GRANTS_MAX 4096U  /* grants, and as many deny entries */
#define MANIFEST_PORTS_MAX  16384U /* all lists together, ranges counted port by port */

typedef enum GrantAccess { GRANT_READ, GRANT_WRITE, GRANT_READWRITE } GrantAccess;

typedef struct ManifestGrant {
        char *original;     /* as written */
        char *path;         /* variables and ~ expanded; absolute */
        GrantAccess access; /* meaningless in a deny entry */
        bool is_file;       /* type: "file"; meaningless in a deny entry */
        char *pointer; /* "/filesystem/grants/2", from the root of the document that holds the manifest */
        unsigned line, column;
} ManifestGrant;

/* The network part means, with C = connect, B = bind, L = localhost:
 *   blocked, all empty           no network at all
 *   blocked, otherwise           connect to C and L, bind to B and L, nothing else
 *   unrestricted, C or B filled  connect to C, bind to B, nothing else (L is empty then: anything else is refused)
 *   unrestricted, both empty     no restriction */
typedef struct ManifestGrants {
        char *file; /* the file that the manifest stands in; NULL where the context named none */
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

        uint64_t memory_bytes, max_processes; /* 0: not given; at most what the kernel takes */
        char **allowed_commands,
                        **blocked_commands; /* compared with the launched program's basename only; allowed wins */
} ManifestGrants;

ManifestGrants *manifest_grants_free(ManifestGrants *m); /* m may be NULL; always NULL */
DEFINE_TRIVIAL_CLEANUP_FUNC(ManifestGrants *, manifest_grants_free);
#define _cleanup_manifest_ _cleanup_(manifest_grants_freep)

/* May this program (path or bare name) be launched? Not where blocked_commands has its basename, unless
 * allowed_commands has it too. allowed_commands alone blocks nothing, and children are never checked: as in nono. */
bool manifest_allows_command(const ManifestGrants *m, const char *command);

/* What a manifest's paths mean. */
typedef struct ManifestContext {
        const char *file; /* for the problems: the manifest's file, or the definition's where it is inline */
        char *const *env; /* the server's environment, for ~ and the CLI's variables */
        const char *working_dir; /* absolute; $WORKDIR and where relative paths start. NULL: neither may be used */
        uid_t uid;               /* $UID; (uid_t) -1: not known, and may not be used */
} ManifestContext;

/* v: the manifest's JSON (inline, or a file's root). All problems at once. 0, and warnings and notes may be in problems;
 * -EINVAL where problems hold errors: *ret, where it is set then, holds the grants and deny entries that are sound, for
 * finding out what else is wrong, or for those who confine nothing with it; -ENOMEM. */
int manifest_read(
                const JsonValue *v,
                const ManifestContext *context,
                ManifestGrants **ret,
                ProblemList *problems);

/* Parses text first (strict JSON: no comments, whatever the file around an inline manifest allows). */
int manifest_read_text(
                const char *text,
                size_t size,
                const ManifestContext *context,
                ManifestGrants **ret,
                ProblemList *problems);
