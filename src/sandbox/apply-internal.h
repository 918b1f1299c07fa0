/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The steps of sandbox_exec(), one file per duty. Each returns 0, or negative errno with *failure filled by fail(). */

#include <linux/filter.h>

#include "sandbox/sandbox.h"

/* Static, or in pages of its own with its filter: a child may be without its parent's heap. */
struct SandboxProgram {
        const struct sock_filter *filter;
        unsigned short length;
        size_t size; /* of these pages; 0: static */
};

/* Fills *failure and returns error (negative errno). path may be NULL. */
int sandbox_fail(SandboxFailure *failure, SandboxStage stage, int error, int rule, const char *path);

/* session.c */
void session_learn_signals(
                void); /* those that the calling process ignores: its children have to reset them */
int session_enter(const Plan *plan, SandboxFailure *failure); /* setsid, signals, umask */
int session_stdio(const SandboxStdio *stdio, SandboxKept *kept, SandboxFailure *failure);
int session_close_fds(const SandboxKept *kept, SandboxFailure *failure);

/* landlock.c: a ruleset with all rules in it, from paths that are opened now. -EBADF in *ret: the plan has none. */
int landlock_prepare(const Plan *plan, int *ret, SandboxFailure *failure);
/* Enforces it, and proves it by a write that worked before and has to fail now. Closes ruleset_fd. */
int landlock_enforce(const Plan *plan, int ruleset_fd, SandboxFailure *failure);

/* directories.c: makes what RULE_CREATE asks for, as the plan's user. */
int directories_make(const Plan *plan, SandboxFailure *failure);

/* identity.c */
int identity_become(const Plan *plan, SandboxFailure *failure);

/* rlimits.c */
int rlimits_apply(const Plan *plan, SandboxFailure *failure);

/* seccomp.c */
int seccomp_enforce(const SandboxProgram *program, SandboxFailure *failure);
