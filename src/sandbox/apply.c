/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/prctl.h>

#include "basic/string-util.h"
#include "sandbox/apply-internal.h"

static const char *const sandbox_stage_table[_SANDBOX_STAGE_MAX] = {
        [SANDBOX_STAGE_NONE] = "none",
        [SANDBOX_STAGE_SESSION] = "session",
        [SANDBOX_STAGE_STDIO] = "stdio",
        [SANDBOX_STAGE_DIRECTORIES] = "directories",
        [SANDBOX_STAGE_PATHS] = "paths",
        [SANDBOX_STAGE_RULESET] = "ruleset",
        [SANDBOX_STAGE_RLIMITS] = "rlimits",
        [SANDBOX_STAGE_IDENTITY] = "identity",
        [SANDBOX_STAGE_NO_NEW_PRIVS] = "no-new-privs",
        [SANDBOX_STAGE_LANDLOCK] = "landlock",
        [SANDBOX_STAGE_VERIFY] = "verify",
        [SANDBOX_STAGE_CHDIR] = "chdir",
        [SANDBOX_STAGE_FDS] = "fds",
        [SANDBOX_STAGE_SECCOMP] = "seccomp",
        [SANDBOX_STAGE_EXEC] = "exec",
};

const char *sandbox_stage_to_string(SandboxStage stage) {
        return stage >= 0 && stage < _SANDBOX_STAGE_MAX ? sandbox_stage_table[stage] : NULL;
}

int sandbox_fail(SandboxFailure *failure, SandboxStage stage, int error, int rule, const char *path) {
        *failure = (SandboxFailure){ .stage = stage, .error = -error, .rule = rule };
        (void) snprintf(failure->path, sizeof(failure->path), "%s", strempty(path));
        return error;
}

static int become_and_confine(const Plan *plan, int ruleset_fd, SandboxFailure *failure) {
        int r;

        r = rlimits_apply(plan, failure);
        if (r >= 0)
                r = identity_become(plan, failure);
        if (r >= 0 && plan->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                r = sandbox_fail(failure, SANDBOX_STAGE_NO_NEW_PRIVS, -errno, -1, NULL);
        if (r < 0) {
                (void) safe_close(ruleset_fd);
                return r;
        }
        r = landlock_enforce(plan, ruleset_fd, failure);
        if (r >= 0 && plan->working_dir && chdir(plan->working_dir) < 0)
                r = sandbox_fail(failure, SANDBOX_STAGE_CHDIR, -errno, -1, plan->working_dir);
        return r;
}

/* In the order that each step needs: directories and paths with the caller's rights, limits while they can still be raised,
 * identity, then what cannot be undone. */
int sandbox_enter(
                const Plan *plan,
                const SandboxProgram *program,
                const SandboxStdio *stdio,
                SandboxKept *kept,
                SandboxFailure *failure) {
        int r, ruleset_fd = -EBADF;

        /* Fail closed: a plan that wants the filter is not run without it. */
        if (plan->syscall_floor && !program &&
            plan->protections[PROTECTION_SYSCALLS].state == PROTECTION_ENFORCED)
                return sandbox_fail(failure, SANDBOX_STAGE_SECCOMP, -EINVAL, -1, NULL);
        r = session_enter(plan, failure);
        if (r >= 0)
                r = session_stdio(stdio, kept, failure);
        if (r >= 0)
                r = directories_make(plan, failure);
        if (r >= 0)
                r = landlock_prepare(plan, &ruleset_fd, failure);
        if (r >= 0)
                r = become_and_confine(plan, ruleset_fd, failure);
        if (r >= 0)
                r = session_close_fds(kept, failure);
        /* Others of its user could otherwise take it over while it waits. execve() undoes it. */
        if (r >= 0 && kept->wait >= 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
                r = sandbox_fail(failure, SANDBOX_STAGE_SESSION, -errno, -1, NULL);
        if (r >= 0 && program)
                r = seccomp_enforce(program, failure);
        return r;
}

int sandbox_exec_entered(const Plan *plan, const SandboxKept *kept, SandboxFailure *failure) {
        static const SandboxFailure confined = { .stage = SANDBOX_STAGE_NONE, .rule = -1 };

        if (kept->report >= 0 && write(kept->report, &confined, sizeof(confined)) != sizeof(confined))
                return sandbox_fail(failure, SANDBOX_STAGE_FDS, -EPIPE, -1, NULL);
        (void) execve(plan->command, plan->argv, plan->env);
        return sandbox_fail(failure, SANDBOX_STAGE_EXEC, -errno, -1, plan->command);
}

int sandbox_exec(
                const Plan *plan,
                const SandboxProgram *program,
                const SandboxStdio *stdio,
                int report_fd,
                SandboxFailure *failure) {
        SandboxKept kept = { .report = report_fd, .wait = -EBADF };
        int r;

        r = sandbox_enter(plan, program, stdio, &kept, failure);
        return r < 0 ? r : sandbox_exec_entered(plan, &kept, failure);
}

int sandbox_failure_exit_code(const SandboxFailure *failure) {
        if (failure->stage != SANDBOX_STAGE_EXEC)
                return 3;
        return failure->error == ENOENT ? 127 : 126;
}

/* What each stage was about to do, and what helps. */
static const struct {
        const char *what, *remedy;
} stage_texts[_SANDBOX_STAGE_MAX] = {
        [SANDBOX_STAGE_SESSION] = { "starting a session of its own", NULL },
        [SANDBOX_STAGE_STDIO] = { "setting up stdin, stdout and stderr", NULL },
        [SANDBOX_STAGE_DIRECTORIES] = { "making the directory",
                                        "Make it by hand, or give the server's user the right to." },
        [SANDBOX_STAGE_PATHS] = { "opening the granted path", "Correct the path, or take the grant out." },
        [SANDBOX_STAGE_RULESET] = { "building the Landlock ruleset", NULL },
        [SANDBOX_STAGE_RLIMITS] = { "setting the limit", "Lower it in limits." },
        [SANDBOX_STAGE_IDENTITY] = { "becoming the server's user", NULL },
        [SANDBOX_STAGE_NO_NEW_PRIVS] = { "setting no_new_privs", NULL },
        [SANDBOX_STAGE_LANDLOCK] = { "entering the Landlock domain", NULL },
        [SANDBOX_STAGE_VERIFY] = { "proving the confinement by a write that has to be denied, to", NULL },
        [SANDBOX_STAGE_CHDIR] = { "changing to the working directory",
                                  "Correct working_dir, or the directory's permissions." },
        [SANDBOX_STAGE_FDS] = { "closing inherited descriptors", NULL },
        [SANDBOX_STAGE_SECCOMP] = { "loading the system call filter", NULL },
        [SANDBOX_STAGE_EXEC] = { "executing", NULL },
};

/* The working directory is granted before it is entered, so one that has gone since the plan was made fails there. */
static SandboxStage stage_to_tell(const Plan *plan, const SandboxFailure *f) {
        if (f->stage == SANDBOX_STAGE_PATHS && f->error != ESTALE && streq_ptr(plan->working_dir, f->path))
                return SANDBOX_STAGE_CHDIR;
        return f->stage;
}

static const char *failure_error(const SandboxFailure *f) {
        if (f->stage == SANDBOX_STAGE_VERIFY && f->error == ENOTRECOVERABLE)
                return "it was not denied";
        if (f->stage == SANDBOX_STAGE_PATHS && f->error == ESTALE)
                return "it leads somewhere else than when the plan was made";
        if (f->stage == SANDBOX_STAGE_EXEC && f->error == ENOENT)
                return "the program or its interpreter does not exist";
        if (f->stage == SANDBOX_STAGE_EXEC && f->error == ENOEXEC)
                return "it is no program for this machine, and has no #! line";
        return STRERROR(f->error);
}

char *sandbox_failure_format(const Plan *plan, const SandboxFailure *failure) {
        const char *source = NULL, *remedy, *what;
        SandboxStage stage;

        if (failure->stage <= SANDBOX_STAGE_NONE || failure->stage >= _SANDBOX_STAGE_MAX)
                return strdup("The server could not be started, for an unknown reason.");
        stage = stage_to_tell(plan, failure);
        what = stage_texts[stage].what;
        remedy = stage_texts[stage].remedy;
        if (failure->rule >= 0 && (size_t) failure->rule < plan->n_rules)
                source = plan->rules[failure->rule].source;
        return strformat(
                        "The server was not started: %s%s%s%s%s%s failed: %s.%s%s",
                        what,
                        failure->path[0] ? " " : "",
                        failure->path,
                        source ? " (" : "",
                        strempty(source),
                        source ? ")" : "",
                        failure_error(failure),
                        remedy ? " " : "",
                        strempty(remedy));
}
