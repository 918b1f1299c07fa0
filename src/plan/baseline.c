/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The path rules that every server gets, from policy/ and from what the definition names. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/house-keys.h"
#include "plan/plan-internal.h"

typedef enum When { WHEN_SANDBOX = 1 << 0, WHEN_MANIFEST = 1 << 1 } When;

static const struct {
        unsigned when, access, flags;
        const char *path, *reason;
} baseline_table[] = {
#define BASELINE_PATH(w, a, f, p, r) { w, a, f, p, r },
#include <policy-baseline.inc>
#undef BASELINE_PATH
};

#define RUNTIME_COMMAND(runtime, command)
#define RUNTIME_PATH(runtime, access, flags, path, reason)
#define RUNTIME_MANAGER(path, reason)

static const struct {
        const char *runtime, *command;
} runtime_commands[] = {
#undef RUNTIME_COMMAND
#define RUNTIME_COMMAND(runtime, command) { runtime, command },
#include <policy-runtimes.inc>
#undef RUNTIME_COMMAND
#define RUNTIME_COMMAND(runtime, command)
};

static const struct {
        const char *runtime;
        unsigned access, flags;
        const char *path, *reason;
} runtime_paths[] = {
#undef RUNTIME_PATH
#define RUNTIME_PATH(r, a, f, p, why) { r, a, f, p, why },
#include <policy-runtimes.inc>
#undef RUNTIME_PATH
#define RUNTIME_PATH(runtime, access, flags, path, reason)
};

static const struct {
        const char *path, *reason;
} runtime_managers[] = {
#undef RUNTIME_MANAGER
#define RUNTIME_MANAGER(p, r) { p, r },
#include <policy-runtimes.inc>
#undef RUNTIME_MANAGER
};

int plan_resolve_future(const HostFacts *host, const char *path, char **ret) {
        _cleanup_free_ char *head = path_simplify(path), *simple = path_simplify(path);

        if (!head || !simple)
                return -ENOMEM;
        for (size_t cut = strlen(head);;) {
                _cleanup_path_facts_ PathFacts facts = {};
                int r;

                r = host->resolve(host->userdata, cut == 0 ? "/" : head, &facts);
                if (r >= 0) {
                        const char *rest = simple + cut + strspn(simple + cut, "/");

                        /* Where ".." leads is known once there is something to go up from. */
                        if (path_has_dotdot(rest))
                                return -ENOENT;
                        *ret = *rest ? path_join(facts.resolved, rest) : strdup(facts.resolved);
                        return *ret ? 0 : -ENOMEM;
                }
                if ((r != -ENOENT && r != -EACCES) || cut == 0)
                        return r;
                /* A link to nowhere: nor is it known where that will lead. */
                if (host->is_link && host->is_link(host->userdata, head) == 1)
                        return -ENOENT;
                while (cut > 0 && head[cut - 1] != '/')
                        cut--;
                while (cut > 0 && head[cut - 1] == '/')
                        cut--;
                head[cut] = 0;
        }
}

/* File systems that make new inodes for the same file, so that a rule on the old one no longer fits. */
#define FS_MAGIC_9P 0x01021997U /* V9FS_MAGIC of <linux/magic.h> */
/* Its files are what a process outside makes of them: where it passes on what is written, Landlock does not see, and a
 * file that it names anew is another inode, whose grant is lost. */
#define FS_MAGIC_FUSE 0x65735546U /* FUSE_SUPER_MAGIC */

/* What is worth knowing of something that is there; NULL: nothing (or no memory: it is only a note). */
static char *note_on_path(const PathFacts *facts, unsigned access) {
        if (facts->fs_magic == FS_MAGIC_9P)
                return strdup("it is on 9p, where grants may have no effect");
        if (facts->fs_magic == FS_MAGIC_FUSE)
                return strdup("it is on FUSE: the program behind it decides where what is written goes, and "
                              "whether a grant lasts");
        if (facts->read_only && (access & ACCESS_WRITE) && (S_ISDIR(facts->mode) || S_ISREG(facts->mode)))
                return strdup("it is on a read-only mount: writing will fail all the same");
        return NULL;
}

int plan_add_rule(PlanContext *c, const char *path, unsigned access, unsigned flags, char *source) {
        _cleanup_free_ char *owned_source = source, *resolved = NULL, *copy = NULL, *note = NULL;
        _cleanup_path_facts_ PathFacts facts = {};
        PathRule *grown;
        int r;

        copy = path_simplify(path);
        if (!owned_source || !copy)
                return -ENOMEM;
        r = c->host->resolve(c->host->userdata, copy, &facts);
        if (r == -ENOMEM)
                return r;
        if (r >= 0) {
                note = note_on_path(&facts, access);
                resolved = TAKE_PTR(facts.resolved);
        } else if (r == -ENOENT && (flags & RULE_CREATE)) {
                r = plan_resolve_future(c->host, copy, &resolved);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        note = strformat("cannot be made: %s", STRERROR(r));
        } else if (flags & RULE_OPTIONAL)
                note = strformat("skipped: %s", STRERROR(r));
        else
                return r;
        grown = reallocarray(c->plan->rules, c->plan->n_rules + 1, sizeof(PathRule));
        if (!grown)
                return -ENOMEM;
        c->plan->rules = grown;
        grown[c->plan->n_rules++] = (PathRule){
                .path = TAKE_PTR(copy),
                .resolved = TAKE_PTR(resolved),
                .access = access,
                .flags = flags,
                .source = TAKE_PTR(owned_source),
                .note = TAKE_PTR(note),
        };
        return 0;
}

/* "~/x" in the server's home. */
static int expand_home(const PlanContext *c, const char *path, char **ret) {
        *ret = startswith(path, "~/") ? path_join(c->home, path + 2) : strdup(path);
        return *ret ? 0 : -ENOMEM;
}

/* What the server may write as a whole already needs no rule of its own below. More than that: it could turn such a place
 * into a link, and the next session's rule would follow it. */
static bool already_writable(const PlanContext *c, const char *path) {
        const Plan *p = c->plan;

        if (c->host->state_dir && path_startswith(path, c->host->state_dir))
                return true;
        return p->working_dir && !c->working_dir_closed && path_startswith(path, p->working_dir);
}

static int add_policy_path(PlanContext *c, const char *path, unsigned access, unsigned flags, char *source) {
        _cleanup_free_ char *expanded = NULL, *owned_source = source;
        int r;

        r = expand_home(c, path, &expanded);
        if (r < 0)
                return r;
        if (startswith(path, "~/") && already_writable(c, expanded))
                return 0;
        return plan_add_rule(c, expanded, access, flags, TAKE_PTR(owned_source));
}

static int add_own_directories(PlanContext *c) {
        const unsigned access = ACCESS_READ | ACCESS_EXECUTE | ACCESS_WRITE;
        Plan *p = c->plan;
        int r = 0;

        if (p->working_dir)
                r =
                                plan_add_rule(c,
                                              p->working_dir,
                                              access,
                                              RULE_WANT_DIRECTORY,
                                              strdup("baseline: working directory"));
        if (r == -ENOMEM)
                return r;
        if (c->host->state_dir && !streq_ptr(c->host->state_dir, p->working_dir)) {
                r =
                                plan_add_rule(c,
                                              c->host->state_dir,
                                              access,
                                              RULE_WANT_DIRECTORY,
                                              strdup("baseline: state directory"));
                if (r == -ENOMEM)
                        return r;
        }
        return plan_add_rule(
                        c,
                        c->tmp_dir,
                        access,
                        RULE_CREATE | RULE_WANT_DIRECTORY,
                        strdup("baseline: temp directory"));
}

bool plan_is_runtime(const char *program) {
        const char *name = path_basename(program);

        for (size_t i = 0; i < ELEMENTSOF(runtime_commands); i++) {
                const char *version = startswith(name, runtime_commands[i].command);

                if (version && strspn(version, "0123456789.") == strlen(version))
                        return true;
        }
        return false;
}

/* The presets of the command and of the interpreters behind it. */
static int add_runtimes(PlanContext *c) {
        for (size_t i = 0; i < ELEMENTSOF(runtime_paths); i++) {
                bool chosen = false;
                int r;

                if (!c->manifest && !(runtime_paths[i].access & ACCESS_WRITE))
                        continue;
                for (size_t k = 0; k < ELEMENTSOF(runtime_commands) && !chosen; k++)
                        chosen = streq(runtime_commands[k].runtime, runtime_paths[i].runtime) &&
                                 strv_contains(c->runtimes, runtime_commands[k].command);
                if (!chosen)
                        continue;
                r =
                                add_policy_path(c,
                                                runtime_paths[i].path,
                                                runtime_paths[i].access,
                                                runtime_paths[i].flags,
                                                strformat("baseline: runtime %s (%s)",
                                                          runtime_paths[i].runtime,
                                                          runtime_paths[i].reason));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* "PREFIX/bin/program" is installed in PREFIX, with its libraries beside: a virtual environment, a version of node. Not
 * where PREFIX is the home or holds it, or is ~/.local, which are no installations. NULL: none. */
static char *installation_prefix(const PlanContext *c, const char *program) {
        _cleanup_free_ char *dir = NULL, *local = NULL;
        char *slash;

        dir = strndup(program, (size_t) (path_basename(program) - program));
        local = path_join(c->home, ".local");
        if (!dir || !local)
                return NULL;
        while (endswith(dir, "/"))
                dir[strlen(dir) - 1] = 0;
        slash = strrchr(dir, '/');
        if (!slash || slash == dir || !streq(slash, "/bin"))
                return NULL;
        *slash = 0;
        if (path_startswith(c->home, dir) || path_equal(dir, local))
                return NULL;
        if (c->host->home && path_startswith(c->host->home, dir))
                return NULL;
        return TAKE_PTR(dir);
}

static int add_programs(PlanContext *c) {
        const unsigned access = ACCESS_READ | ACCESS_EXECUTE;
        int r;

        STRV_FOREACH (program, c->programs) {
                _cleanup_free_ char *prefix = NULL;

                r =
                                plan_add_rule(c,
                                              *program,
                                              access,
                                              RULE_OPTIONAL,
                                              strdup("baseline: command and interpreters"));
                if (r < 0)
                        return r;
                prefix = installation_prefix(c, *program);
                if (prefix) {
                        r = plan_add_rule(
                                        c,
                                        prefix,
                                        access,
                                        RULE_OPTIONAL,
                                        strformat("baseline: where %s is installed", *program));
                        if (r < 0)
                                return r;
                }
                for (size_t i = 0; i < ELEMENTSOF(runtime_managers); i++) {
                        _cleanup_free_ char *manager = NULL;

                        if (!c->host->home)
                                break;
                        manager = path_join(c->host->home, runtime_managers[i].path + strlen("~/"));
                        if (!manager)
                                return -ENOMEM;
                        if (!path_startswith(*program, manager))
                                continue;
                        r =
                                        plan_add_rule(c,
                                                      manager,
                                                      access,
                                                      RULE_OPTIONAL,
                                                      strformat("baseline: %s", runtime_managers[i].reason));
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

/* Files and directories that args name by their absolute path: a server that is told to read them must be able to. The
 * directory of a runtime's script comes along (its modules are there), unless that is the home. */
static int add_arguments(PlanContext *c) {
        bool script_seen = false;
        int r;

        for (size_t i = 1; c->plan->argv && c->plan->argv[i]; i++) {
                _cleanup_path_facts_ PathFacts facts = {};
                _cleanup_free_ char *dir = NULL;
                const char *arg = c->plan->argv[i];

                if (!path_is_absolute(arg) || path_startswith("/", arg))
                        continue;
                r = c->host->resolve(c->host->userdata, arg, &facts);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        continue;
                r =
                                plan_add_rule(c,
                                              arg,
                                              ACCESS_READ | ACCESS_EXECUTE,
                                              RULE_OPTIONAL,
                                              strformat("baseline: args[%zu]", i - 1));
                if (r < 0)
                        return r;
                if (script_seen || !S_ISREG(facts.mode))
                        continue;
                script_seen = true;
                dir = strndup(facts.resolved, (size_t) (path_basename(facts.resolved) - facts.resolved));
                if (!dir)
                        return -ENOMEM;
                if (path_startswith(c->home, dir) || (c->host->home && path_startswith(c->host->home, dir)))
                        continue;
                r =
                                plan_add_rule(c,
                                              dir,
                                              ACCESS_READ | ACCESS_EXECUTE,
                                              RULE_OPTIONAL,
                                              strformat("baseline: directory of args[%zu]", i - 1));
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_policy(PlanContext *c) {
        unsigned when = c->manifest ? WHEN_MANIFEST : WHEN_SANDBOX;

        for (size_t i = 0; i < ELEMENTSOF(baseline_table); i++) {
                int r;

                if (!(baseline_table[i].when & when))
                        continue;
                r =
                                add_policy_path(c,
                                                baseline_table[i].path,
                                                baseline_table[i].access,
                                                baseline_table[i].flags,
                                                strformat("baseline: %s", baseline_table[i].reason));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Nobody asked for mcp-sandbox's current directory to be writable, so check_keys() takes that away rather than refuse
 * where a key to the house is in it. What the server needs below it then has rules of its own. */
static int find_closed_working_dir(PlanContext *c) {
        _cleanup_path_facts_ PathFacts facts = {};
        const HouseKeys *keys;
        int r;

        if (!c->plan->working_dir || c->d->working_dir.at)
                return 0;
        r = c->host->resolve(c->host->userdata, c->plan->working_dir, &facts);
        if (r >= 0)
                r = plan_house_keys(c, &keys);
        if (r >= 0)
                c->working_dir_closed = house_keys_find(keys, facts.resolved);
        return r == -ENOMEM ? r : 0;
}

int plan_baseline(PlanContext *c) {
        int r;

        r = find_closed_working_dir(c);
        if (r >= 0)
                r = add_policy(c);
        if (r >= 0)
                r = add_own_directories(c);
        if (r == -ENOMEM)
                return r;
        r = add_runtimes(c);
        if (r >= 0 && c->manifest) {
                r = add_programs(c);
                if (r >= 0)
                        r = add_arguments(c);
        }
        return r;
}
