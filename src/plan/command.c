/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which program it is: the working directory, the arguments, PATH lookup with the server's own PATH, the interpreters
 * behind a script, snap. The file system is seen through HostFacts alone. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/plan-internal.h"

/* The kernel follows "#!" this deep (BINPRM_MAX_RECURSION in fs/exec.c). */
#define INTERPRETER_DEPTH 5

/* May the server's user search the directory, or execute the file? Supplementary groups are not known here: a group that
 * may is taken for one of the user's. */
static bool has_execute_bit(const HostFacts *host, const PathFacts *facts) {
        if (host->uid == 0)
                return S_ISDIR(facts->mode) || (facts->mode & 0111) != 0;
        if (host->uid == facts->uid)
                return (facts->mode & 0100) != 0;
        return (facts->mode & 0011) != 0;
}

static int working_dir_check(PlanContext *c) {
        const char *remedy = "Make the directory, or correct working_dir.";
        _cleanup_path_facts_ PathFacts facts = {};
        _cleanup_free_ char *why = NULL;
        int r;

        r = c->host->resolve(c->host->userdata, c->plan->working_dir, &facts);
        if (r == -ENOMEM)
                return r;
        if (r == -ENOENT)
                why = strdup("does not exist");
        else if (r == -ENOTDIR)
                why = strdup("leads through something that is no directory");
        else if (r == -EACCES) {
                why = strdup("may not be entered: permission denied");
                remedy = "Give the server's user search permission (x) on every directory of the path.";
        } else if (r < 0)
                why = strformat("cannot be used: %s", STRERROR(r));
        else if (!S_ISDIR(facts.mode))
                why = strdup("is not a directory");
        else if (!has_execute_bit(c->host, &facts)) {
                why = strformat("may not be entered: its user has no search permission on it (mode %04o)",
                                (unsigned) (facts.mode & 07777));
                remedy = "Give the server's user search permission (x) on it.";
        } else
                return 0;
        if (!why)
                return -ENOMEM;
        plan_problem(c,
                     PROBLEM_ERROR,
                     "MCP-P-WORKING-DIR",
                     c->d->working_dir.value ? &c->d->working_dir : NULL,
                     remedy,
                     "The working directory %s (key working_dir) %s.",
                     c->plan->working_dir,
                     why);
        return 0;
}

int plan_working_dir(PlanContext *c) {
        _cleanup_free_ char *dir = NULL;
        int r;

        if (c->d->working_dir.value) {
                r = plan_expand(c, &c->d->working_dir, true, &dir);
                if (r < 0)
                        return r == -ENOMEM ? r : 0;
        } else {
                dir = strdup(c->host->state_dir ? c->host->state_dir : "/");
                if (!dir)
                        return -ENOMEM;
        }
        if (!path_is_absolute(dir)) {
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-WORKING-DIR",
                             &c->d->working_dir,
                             "Write an absolute path, or one that starts with \"~/\".",
                             "The working directory %s (key working_dir) is not an absolute path.",
                             dir);
                return 0;
        }
        c->plan->working_dir = path_simplify(dir);
        return c->plan->working_dir ? working_dir_check(c) : -ENOMEM;
}

static int plan_argv(PlanContext *c, const char *command) {
        int r;

        r = strv_extend(&c->plan->argv, command);
        for (size_t i = 0; r >= 0 && i < c->d->args.n_items; i++) {
                _cleanup_free_ char *arg = NULL;

                r = plan_expand(c, c->d->args.items + i, false, &arg);
                if (r == -EINVAL) {
                        r = 0; /* is in the problems */
                        continue;
                }
                if (r >= 0)
                        r = strv_consume(&c->plan->argv, TAKE_PTR(arg));
        }
        return r;
}

/* 0: path is a program. -ENOENT …: it is none, for the reason that errno names; -EISDIR, -EACCES (not executable). */
static int program_check(const HostFacts *host, const char *path, char **ret_resolved) {
        _cleanup_path_facts_ PathFacts facts = {};
        int r;

        r = host->resolve(host->userdata, path, &facts);
        if (r < 0)
                return r;
        if (S_ISDIR(facts.mode))
                return -EISDIR;
        if (!S_ISREG(facts.mode) || !has_execute_bit(host, &facts))
                return -EACCES;
        if (ret_resolved)
                *ret_resolved = TAKE_PTR(facts.resolved);
        return 0;
}

/* Looks name up in PATH. -ENOENT: nowhere; *ret_near is then something of that name that is no program, or NULL. */
static int path_lookup(
                const HostFacts *host, const char *path, const char *name, char **ret, char **ret_near) {
        _cleanup_strv_free_ char **dirs = NULL;
        int r;

        r = strv_split(strempty(path), ":", &dirs);
        if (r < 0)
                return r;
        STRV_FOREACH (dir, dirs) {
                _cleanup_free_ char *candidate = NULL;

                if (!path_is_absolute(*dir))
                        continue;
                candidate = path_join(*dir, name);
                if (!candidate)
                        return -ENOMEM;
                r = program_check(host, candidate, NULL);
                if (r == -ENOMEM)
                        return r;
                if (r >= 0) {
                        *ret = TAKE_PTR(candidate);
                        return 0;
                }
                if (r != -ENOENT && r != -ENOTDIR && ret_near && !*ret_near)
                        *ret_near = TAKE_PTR(candidate);
        }
        return -ENOENT;
}

static void report_program(PlanContext *c, const char *path, int error) {
        const Text *at = &c->d->command;

        switch (error) {
        case -EISDIR:
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-COMMAND-NOT-EXECUTABLE",
                             at,
                             "Name a program in command.",
                             "The command %s is a directory.",
                             path);
                break;
        case -EACCES:
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-COMMAND-NOT-EXECUTABLE",
                             at,
                             "Make it executable (chmod +x), or name its interpreter in command and the "
                             "file in args.",
                             "The command %s is not executable for the server's user.",
                             path);
                break;
        case -ENOENT:
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-COMMAND-NOT-FOUND",
                             at,
                             "Install it, or correct command.",
                             "The command %s does not exist (a link that leads nowhere counts as that).",
                             path);
                break;
        default:
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-COMMAND-NOT-EXECUTABLE",
                             at,
                             "Correct command.",
                             "The command %s cannot be used: %s.",
                             path,
                             STRERROR(error));
        }
}

static int find_command(PlanContext *c, const char *command, char **ret) {
        _cleanup_free_ char *path = NULL, *near = NULL;
        const char *search = env_get(c->plan->env, "PATH");
        int r;

        if (strchr(command, '/')) {
                path = path_join(c->plan->working_dir ? c->plan->working_dir : "/", command);
                if (!path)
                        return -ENOMEM;
                r = program_check(c->host, path, NULL);
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        report_program(c, path, r);
                        return -ENOENT;
                }
                *ret = TAKE_PTR(path);
                return 0;
        }
        r = path_lookup(c->host, search, command, &path, &near);
        if (r >= 0)
                *ret = TAKE_PTR(path);
        else if (r == -ENOENT && near)
                report_program(c, near, program_check(c->host, near, NULL));
        else if (r == -ENOENT)
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-COMMAND-NOT-FOUND",
                             &c->d->command,
                             "Install it, write its absolute path in command, or set PATH in the key env.",
                             "The command %s was not found; the server's PATH was searched: %s.",
                             command,
                             strempty(search));
        return r;
}

static bool path_is_snap(const char *resolved) {
        return path_startswith(resolved, "/snap") || path_startswith(resolved, "/var/lib/snapd") ||
               streq(resolved, "/usr/bin/snap");
}

static int note_program(PlanContext *c, const char *path) {
        _cleanup_free_ char *resolved = NULL;
        int r;

        r = strv_contains(c->programs, path) ? 0 : strv_extend(&c->programs, path);
        if (r >= 0)
                r = strv_extend(&c->runtimes, path_basename(path));
        if (r < 0)
                return r;
        r = program_check(c->host, path, &resolved);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (path_is_snap(resolved) && c->plan->no_new_privs)
                plan_refuse(c,
                            "MCP-P-SNAP",
                            &c->d->command,
                            "Use the program's own installer or the distribution's package instead of the "
                            "snap.",
                            "%s is a snap (%s), and a snap cannot start under no_new_privs, which the "
                            "sandbox needs: snap-confine "
                            "would fail for lack of permissions.",
                            path,
                            resolved);
        if (strv_contains(c->programs, resolved))
                return 0;
        return strv_extend(&c->programs, resolved);
}

/* Finds the program that "env" will run in a #! line: options and assignments come first. */
static const char *env_operand(char *const *words) {
        STRV_FOREACH (w, words)
                if (**w != '-' && !strchr(*w, '='))
                        return *w;
        return NULL;
}

/* The kernel takes a carriage return for a part of the interpreter's name, and says that this does not exist. Behind an
 * option it is the interpreter's affair: perl, for one, does not mind. */
static bool refuse_carriage_return(PlanContext *c, const char *path, char **words) {
        const char *name = streq(path_basename(words[0]), "env") ? env_operand(words + 1) : NULL;

        if (!endswith(name ?: words[0], "\r"))
                return false;
        plan_problem(c,
                     PROBLEM_ERROR,
                     "MCP-P-INTERPRETER-NOT-FOUND",
                     &c->d->command,
                     "Save the script with the line ends of UNIX: sed -i 's/\\r$//' FILE.",
                     "The first line of the script %s ends in a carriage return, as on Windows, so its "
                     "interpreter "
                     "cannot be found.",
                     path);
        return true;
}

/* Where env finds the program of "#!/usr/bin/env NAME": as script_interpreter(). */
static int env_interpreter(PlanContext *c, const char *path, char *const *words, char **ret) {
        const char *name = env_operand(words), *search = env_get(c->plan->env, "PATH");
        int r;

        if (!name)
                return 0;
        if (strchr(name, '/')) {
                *ret = strdup(name);
                return *ret ? 1 : -ENOMEM;
        }
        r = path_lookup(c->host, search, name, ret, NULL);
        if (r != -ENOENT)
                return r < 0 ? r : 1;
        plan_problem(c,
                     PROBLEM_ERROR,
                     "MCP-P-INTERPRETER-NOT-FOUND",
                     &c->d->command,
                     "Install it, or set PATH in the key env.",
                     "The script %s wants the interpreter %s, which was not found; the server's PATH was "
                     "searched: %s.",
                     path,
                     name,
                     strempty(search));
        return 0;
}

/* The interpreter that a script names. 0: none (no script, or it cannot be read; then the kernel decides). */
static int script_interpreter(PlanContext *c, const char *path, char **ret) {
        _cleanup_strv_free_ char **words = NULL;
        char head[256];
        ssize_t n;
        int r;

        n = c->host->read_head(c->host->userdata, path, head, sizeof(head) - 1);
        if (n < 3 || head[0] != '#' || head[1] != '!')
                return 0;
        head[n] = 0;
        head[strcspn(head, "\n")] = 0;
        r = strv_split(head + 2, " \t", &words);
        if (r < 0)
                return r;
        if (!words || !path_is_absolute(words[0]) || refuse_carriage_return(c, path, words))
                return 0;
        r = note_program(c, words[0]);
        if (r < 0)
                return r;
        if (streq(path_basename(words[0]), "env"))
                return env_interpreter(c, path, words + 1, ret);
        r = program_check(c->host, words[0], NULL);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-INTERPRETER-NOT-FOUND",
                             &c->d->command,
                             "Install the interpreter, or correct the first line of the script.",
                             "The script %s wants the interpreter %s, which cannot be used: %s.",
                             path,
                             words[0],
                             STRERROR(r));
                return 0;
        }
        *ret = strdup(words[0]);
        return *ret ? 1 : -ENOMEM;
}

static int follow_interpreters(PlanContext *c) {
        _cleanup_free_ char *path = strdup(c->plan->command);
        int r;

        if (!path)
                return -ENOMEM;
        for (unsigned depth = 0; depth < INTERPRETER_DEPTH; depth++) {
                _cleanup_free_ char *next = NULL;

                r = note_program(c, path);
                if (r < 0)
                        return r;
                r = script_interpreter(c, path, &next);
                if (r <= 0)
                        return r;
                free(path);
                path = TAKE_PTR(next);
        }
        return 0;
}

/* MCPProxy's rule: a package runner without a package would wait at a prompt for ever. */
static void check_runner_args(PlanContext *c, const char *command) {
        static const char *const runners[] = { "npx", "uvx", "pipx", "bunx", NULL };

        for (size_t i = 0; runners[i]; i++)
                if (streq(path_basename(command), runners[i]) && c->d->args.n_items == 0)
                        plan_problem(c,
                                     PROBLEM_ERROR,
                                     "MCP-P-RUNNER-ARGS",
                                     &c->d->command,
                                     "Name the package in args.",
                                     "%s without arguments runs no server.",
                                     command);
}

int plan_command(PlanContext *c) {
        _cleanup_free_ char *command = NULL;
        int r;

        if (c->d->remote || !c->d->command.value) {
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-NOT-STDIO",
                             NULL,
                             "Only servers that are started as a program (key command) can be run.",
                             "The definition names no command.");
                return 0;
        }
        r = plan_expand(c, &c->d->command, true, &command);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (isempty(command)) {
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-COMMAND-NOT-FOUND",
                             &c->d->command,
                             "Name a program.",
                             "The command is empty.");
                return 0;
        }
        check_runner_args(c, command);
        r = plan_argv(c, command);
        if (r < 0)
                return r;
        r = find_command(c, command, &c->plan->command);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return follow_interpreters(c);
}
