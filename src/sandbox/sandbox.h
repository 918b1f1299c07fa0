/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Applies a Plan to the calling process, which is single-threaded and about to execve().
 *
 * Two parts, so that what can be done once is not done per session: sandbox_prepare() chooses the seccomp filter;
 * sandbox_exec() opens the rules' paths (with the identity the caller still has), then becomes the plan's user, then
 * enforces. Every step that fails is fatal; what the host lacks was decided by the plan before. */

#include "plan/plan.h"

typedef enum SandboxStage {
        SANDBOX_STAGE_NONE,
        SANDBOX_STAGE_SESSION, /* setsid, signal mask and dispositions, umask */
        SANDBOX_STAGE_STDIO,
        SANDBOX_STAGE_DIRECTORIES, /* caches and working directory made */
        SANDBOX_STAGE_PATHS,       /* opening the rules' paths */
        SANDBOX_STAGE_RULESET,     /* landlock_create_ruleset, landlock_add_rule */
        SANDBOX_STAGE_RLIMITS,
        SANDBOX_STAGE_IDENTITY,
        SANDBOX_STAGE_NO_NEW_PRIVS,
        SANDBOX_STAGE_LANDLOCK, /* landlock_restrict_self */
        SANDBOX_STAGE_VERIFY,   /* a write that has to be denied was not */
        SANDBOX_STAGE_CHDIR,
        SANDBOX_STAGE_FDS,
        SANDBOX_STAGE_SECCOMP,
        SANDBOX_STAGE_EXEC,
        _SANDBOX_STAGE_MAX,
} SandboxStage;
const char *sandbox_stage_to_string(SandboxStage stage);

/* Where it failed. Plain data: travels through a pipe from the child to its supervisor. */
typedef struct SandboxFailure {
        int stage;      /* SandboxStage */
        int error;      /* positive errno */
        int rule;       /* index in plan->rules, -1: not about a rule */
        char path[256]; /* what it was about, cut; "" */
} SandboxFailure;

typedef struct SandboxProgram SandboxProgram; /* a compiled seccomp filter; NULL where the plan wants none */

/* Also notes which signals the caller ignores or handles: afterwards it changes none before its children are made. */
int sandbox_prepare(const Plan *plan, SandboxProgram **ret);
SandboxProgram *sandbox_program_free(SandboxProgram *p);
DEFINE_TRIVIAL_CLEANUP_FUNC(SandboxProgram *, sandbox_program_free);

typedef struct SandboxStdio {
        int in, out, err; /* become 0, 1, 2; -EBADF: left as they are */
} SandboxStdio;

/* Descriptors of a child that survive until execve(), which closes them; -EBADF: none. */
typedef struct SandboxKept {
        int report; /* a failure is reported through it */
        int wait;   /* what the child waits on between the two halves */
} SandboxKept;

/* Applies everything and executes. Returns only on failure: negative errno, *failure filled. Through report_fd (-EBADF:
 * none) goes one record of SANDBOX_STAGE_NONE when everything holds and execve() is next: an end without it is a death on
 * the way. */
int sandbox_exec(
                const Plan *plan,
                const SandboxProgram *program,
                const SandboxStdio *stdio,
                int report_fd,
                SandboxFailure *failure);

/* The same in two halves, for a child that waits for something in between. After the first everything holds, and nobody
 * can look into it; the second executes. Descriptors of kept below 3 are moved. A failure of either is final. */
int sandbox_enter(
                const Plan *plan,
                const SandboxProgram *program,
                const SandboxStdio *stdio,
                SandboxKept *kept,
                SandboxFailure *failure);
int sandbox_exec_entered(const Plan *plan, const SandboxKept *kept, SandboxFailure *failure);

/* The exit code for a failure (design 8): 127 command not found, 126 cannot execute, 3 anything else. */
int sandbox_failure_exit_code(const SandboxFailure *failure);
/* A sentence for people: stage, path, errno, remedy. NULL: out of memory. */
char *sandbox_failure_format(const Plan *plan, const SandboxFailure *failure);
