/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/expand.h"
#include "plan/path-memo.h"
#include "plan/plan-internal.h"

static void _printf_(6, 0)
                add_problem(PlanContext *c,
                            ProblemLevel level,
                            const char *code,
                            const Text *at,
                            const char *remedy,
                            const char *message,
                            va_list ap) {
        _cleanup_free_ char *text = NULL;

        if (vasprintf(&text, message, ap) < 0) {
                text = NULL;
                c->problems->failed = true;
                return;
        }
        problem_add(c->problems, level, code, c->d->file, at ? at->at : NULL, remedy, "%s", text);
}

void plan_problem(
                PlanContext *c,
                ProblemLevel level,
                const char *code,
                const Text *at,
                const char *remedy,
                const char *message,
                ...) {
        va_list ap;

        va_start(ap, message);
        add_problem(c, level, code, at, remedy, message, ap);
        va_end(ap);
}

void plan_refuse(
                PlanContext *c,
                const char *code,
                const Text *at,
                const char *remedy,
                const char *message,
                ...) {
        va_list ap;

        c->refused = true;
        va_start(ap, message);
        add_problem(c, PROBLEM_ERROR, code, at, remedy, message, ap);
        va_end(ap);
}

int plan_expand(const PlanContext *c, const Text *text, bool path, char **ret) {
        /* What has no place in a file came from a command line, where the shell has done all the expanding. */
        if (!text->at) {
                *ret = strdup(text->value);
                return *ret ? 0 : -ENOMEM;
        }
        return text_expand(text, c->d, c->host->env, path ? EXPAND_PATH : EXPAND_TEXT, ret, c->problems);
}

Plan *plan_free(Plan *p) {
        if (!p)
                return NULL;
        free(p->name);
        free(p->instance);
        free(p->isolation_mode);
        free(p->isolation_global_mode);
        free(p->command);
        strv_free(p->argv);
        strv_free(p->env);
        free(p->working_dir);
        for (size_t i = 0; i < p->n_rules; i++) {
                free(p->rules[i].path);
                free(p->rules[i].resolved);
                free(p->rules[i].source);
                free(p->rules[i].note);
        }
        free(p->rules);
        free(p->connect_ports.ports);
        free(p->bind_ports.ports);
        free(p->rlimits);
        for (size_t i = 0; i < _PROTECTION_MAX; i++)
                free(p->protections[i].needs);
        strv_free(p->denies);
        strv_free(p->notes);
        free(p);
        return NULL;
}

/* Strict is never less than what the server's own file says: a setting of all servers, or the name of the command, does
 * not turn it into nothing. */
static void check_strict_is_something(PlanContext *c) {
        const Isolation *i = &c->plan->isolation;

        if (c->d->isolation.enforcement != ENFORCEMENT_STRICT || !streq(i->mode, "none") ||
            (i->source != ISOLATION_SOURCE_GLOBAL && i->source != ISOLATION_SOURCE_SERVER_OPT_IN_IGNORED &&
             i->source != ISOLATION_SOURCE_ALREADY_DOCKER))
                return;
        plan_refuse(c,
                    "MCP-P-STRICT-UNCONFINED",
                    c->d->isolation.mode.value ? &c->d->isolation.mode : NULL,
                    i->source == ISOLATION_SOURCE_ALREADY_DOCKER
                                    ? "Set isolation.enforcement to \"best-effort\": docker confines by "
                                      "itself."
                                    : "Set isolation.mode to \"sandbox\", or to \"none\" if that is meant.",
                    "isolation.enforcement is strict, but the isolation mode is none (source %s): nothing "
                    "would be enforced.",
                    isolation_source_to_string(i->source));
}

static int set_isolation(PlanContext *c, const GlobalIsolation *global) {
        Plan *p = c->plan;

        isolation_decide(c->d, global, c->host->landlock.abi > 0, &p->isolation);
        p->isolation_mode = strdup(p->isolation.mode);
        p->isolation_global_mode = strdup(p->isolation.global_mode);
        if (!p->isolation_mode || !p->isolation_global_mode)
                return -ENOMEM;
        p->isolation.mode = p->isolation_mode;
        p->isolation.global_mode = p->isolation_global_mode;

        if (streq(p->isolation.mode, "docker"))
                plan_refuse(c,
                            "MCP-P-DOCKER",
                            c->d->isolation.mode.value ? &c->d->isolation.mode : NULL,
                            "Set isolation.mode to \"sandbox\", or to \"none\" to run it unconfined.",
                            "Isolation mode docker is not provided yet%s.",
                            p->isolation.source == ISOLATION_SOURCE_GLOBAL
                                            ? " (it comes from docker_isolation)"
                                            : "");
        else if (p->isolation.source == ISOLATION_SOURCE_UNSUPPORTED_MODE)
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-UNSUPPORTED-MODE",
                             c->d->isolation.mode.value ? &c->d->isolation.mode : NULL,
                             "Write \"sandbox\" or \"none\", in small letters.",
                             "The isolation mode %s is not known.",
                             p->isolation.mode);

        p->no_new_privs = p->syscall_floor = streq(p->isolation.mode, "sandbox");
        p->landlock = c->host->landlock;
        p->confined = p->isolation.isolated =
                        p->syscall_floor && p->landlock.abi > 0 && p->landlock.handled_fs != 0;
        p->reads_confined = c->manifest && p->syscall_floor;
        p->strict = c->d->isolation.enforcement == ENFORCEMENT_STRICT ||
                    (c->d->isolation.enforcement == ENFORCEMENT_UNSET && c->manifest);
        check_strict_is_something(c);
        if (c->manifest && streq(p->isolation.mode, "none"))
                plan_refuse(c,
                            "MCP-P-MANIFEST-UNCONFINED",
                            c->d->isolation.mode.value ? &c->d->isolation.mode : NULL,
                            "Take the manifest out, or set isolation.mode to \"sandbox\".",
                            "There is a manifest, but the isolation mode is none (source %s): nothing of it "
                            "would be enforced.",
                            isolation_source_to_string(p->isolation.source));
        if (c->d->isolation.network == NETWORK_BLOCKED && streq(p->isolation.mode, "none"))
                plan_problem(c,
                             PROBLEM_WARNING,
                             "MCP-P-NOT-APPLIED",
                             c->d->isolation.mode.value ? &c->d->isolation.mode : NULL,
                             "Set isolation.mode to \"sandbox\", or take isolation.network out.",
                             "isolation.network is blocked, but the isolation mode is none (source %s): the "
                             "network stays open.",
                             isolation_source_to_string(p->isolation.source));
        return 0;
}

/* What config sets where a file says nothing (design 4.2). */
#define TASKS_DEFAULT 512U

static uint64_t lower_limit(uint64_t limit, uint64_t manifest) {
        return manifest > 0 && (limit == LIMIT_UNSET || limit == LIMIT_INFINITY || manifest < limit)
                               ? manifest
                               : limit;
}

static int set_limits(PlanContext *c) {
        const Definition *d = c->d;
        Plan *p = c->plan;

        p->memory_max = d->limits.memory;
        p->swap_max = d->limits.swap;
        /* The default is for scopes: without a manager there is none, and nobody asked for it. */
        p->tasks_max = c->host->managed || d->limits.tasks != TASKS_DEFAULT ? d->limits.tasks : LIMIT_UNSET;
        p->cpu_quota_permille = d->limits.cpu;
        p->runtime_max_usec = d->limits.runtime_usec;
        p->eof_grace_usec = d->stop.eof_grace_usec;
        p->kill_after_usec = d->stop.kill_after_usec;
        if (c->manifest) {
                p->memory_max = lower_limit(p->memory_max, c->manifest->memory_bytes);
                p->tasks_max = lower_limit(p->tasks_max, c->manifest->max_processes);
                if (c->manifest->memory_bytes > 0) {
                        p->swap_max = 0;
                        p->oom_kill_all = true;
                }
        }
        if (d->limits.n_rlimits > 0) {
                p->rlimits = calloc(d->limits.n_rlimits, sizeof(RlimitEntry));
                if (!p->rlimits)
                        return -ENOMEM;
                memcpy(p->rlimits, d->limits.rlimits, d->limits.n_rlimits * sizeof(RlimitEntry));
                p->n_rlimits = d->limits.n_rlimits;
        }
        return 0;
}

static int set_basics(PlanContext *c) {
        Plan *p = c->plan;
        bool own_user = c->host->managed && c->host->scope == RUNTIME_SCOPE_SYSTEM;

        p->scope = c->host->scope;
        p->new_session = c->host->managed;
        p->uid = own_user ? c->host->uid : (uid_t) -1;
        p->gid = own_user ? c->host->gid : (gid_t) -1;
        p->name = strdup(strempty(c->d->name));
        p->instance = strdup(strempty(c->d->instance));
        return p->name && p->instance ? 0 : -ENOMEM;
}

static void check_state(PlanContext *c) {
        if (!c->d->enabled)
                plan_refuse(c,
                            "MCP-P-DISABLED",
                            NULL,
                            "Set enabled to true.",
                            "The server is disabled (key enabled).");
        if (c->d->quarantined)
                plan_refuse(c,
                            "MCP-P-QUARANTINED",
                            NULL,
                            "Look at it, then set quarantined to false.",
                            "The server is quarantined (key quarantined) until someone approves it.");
}

/* Nothing on mcp-sandbox's command line takes back what a manifest there makes strict. */
static const char *strict_remedy(const PlanContext *c) {
        return c->d->entry   ? "Provide what it needs, or set isolation.enforcement to \"best-effort\"."
               : c->manifest ? "Provide what it needs, or write a definition with the manifest and "
                               "isolation.enforcement \"best-effort\" and use --definition=."
                             : "Provide what it needs, or leave out --strict.";
}

static void judge_protections(PlanContext *c) {
        const Plan *p = c->plan;

        if (streq(p->isolation.mode, "sandbox") && !p->confined && !p->strict)
                plan_problem(c,
                             PROBLEM_WARNING,
                             "MCP-P-UNCONFINED",
                             NULL,
                             "Use a kernel with Landlock, or set isolation.enforcement to \"strict\" so "
                             "that it does not start.",
                             "The server runs DEGRADED/unconfined: its file system access is not confined.");
        for (size_t i = 0; i < _PROTECTION_MAX; i++) {
                const Protection *row = p->protections + i;

                if (row->state != PROTECTION_MISSING)
                        continue;
                if (p->strict)
                        plan_refuse(c,
                                    "MCP-P-STRICT",
                                    NULL,
                                    strict_remedy(c),
                                    "The protection %s, wanted by %s, cannot be enforced: it needs %s. %s",
                                    protection_to_string(row->id),
                                    row->wanted_by,
                                    row->needs,
                                    row->consequence);
                else
                        plan_problem(c,
                                     PROBLEM_WARNING,
                                     "MCP-P-DEGRADED",
                                     NULL,
                                     NULL,
                                     "The protection %s, wanted by %s, is missing: it needs %s. %s",
                                     protection_to_string(row->id),
                                     row->wanted_by,
                                     row->needs,
                                     row->consequence);
        }
        if (c->manifest && c->manifest->require_signals &&
            p->protections[PROTECTION_SIGNAL].state == PROTECTION_MISSING && !p->strict)
                plan_refuse(c,
                            "MCP-P-SIGNAL-MODE",
                            NULL,
                            "Use signal_mode isolated or allow_all, or a newer kernel.",
                            "The manifest's signal_mode allow_same_sandbox needs Landlock ABI 6 (Linux "
                            "6.12); found ABI %d.",
                            p->landlock.abi);
}

static int collect_notes(PlanContext *c) {
        if (c->manifest && !c->manifest->scope_abstract && c->plan->unix_sockets == UNIX_NONE) {
                int r = strv_extend(
                                &c->plan->notes,
                                "manifest /process/ipc_mode: \"full\" opens nothing while "
                                "isolation.unix_sockets is none, which refuses UNIX sockets of all kinds");

                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < c->plan->n_rules; i++) {
                const PathRule *rule = c->plan->rules + i;
                int r;

                if ((rule->access & ACCESS_WRITE) && path_startswith(PLAN_WITNESS, rule->path)) {
                        r =
                                        strv_extendf(&c->plan->notes,
                                                     "%s: with this grant the confinement is not proved by "
                                                     "a denied write at the start",
                                                     rule->path);
                        if (r < 0)
                                return r;
                }
                if (!rule->note)
                        continue;
                r = strv_extendf(&c->plan->notes, "%s: %s", rule->path, rule->note);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make(PlanContext *c, const GlobalIsolation *global) {
        int r;

        r = set_basics(c);
        if (r >= 0)
                r = set_isolation(c, global);
        if (r >= 0)
                r = set_limits(c);
        if (r >= 0)
                r = plan_env(c);
        if (r >= 0)
                r = plan_working_dir(c);
        if (r >= 0)
                r = plan_command(c);
        /* Without a sandbox nothing keeps a server from any socket. */
        c->plan->unix_sockets = UNIX_ANY;
        if (r >= 0 && c->plan->syscall_floor) {
                r = plan_network(c);
                if (r >= 0)
                        r = plan_baseline(c);
                if (r >= 0)
                        r = plan_grants(c);
        }
        if (r >= 0)
                r = plan_protections(c);
        if (r < 0)
                return r;
        check_state(c);
        judge_protections(c);
        return collect_notes(c);
}

void plan_context_done(PlanContext *c) {
        free(c->home);
        free(c->tmp_dir);
        free(c->env_file);
        strv_free(c->programs);
        strv_free(c->runtimes);
        house_keys_done(&c->keys);
}

int plan_house_keys(PlanContext *c, const HouseKeys **ret) {
        if (!c->keys.items) {
                int r = house_keys_init(c->host, &c->keys);

                if (r < 0)
                        return r;
        }
        *ret = &c->keys;
        return 0;
}

int plan_make(const Definition *d,
              const GlobalIsolation *global,
              const ManifestGrants *manifest,
              const HostFacts *host,
              Plan **ret,
              ProblemList *problems) {
        _cleanup_path_memo_ PathMemo *memo = NULL;
        _cleanup_plan_ Plan *plan = NULL;
        ProblemList own = {};
        PlanContext c = { .d = d, .manifest = manifest, .has_manifest = manifest, .problems = &own };
        bool failed;
        int r;

        plan = calloc(1, sizeof(Plan));
        if (!plan)
                return -ENOMEM;
        r = path_memo_new(host, &memo);
        if (r < 0)
                return r;
        c.plan = plan;
        c.host = path_memo_host(memo);
        r = make(&c, global);
        plan_context_done(&c);
        failed = problem_list_has_errors(&own);
        problem_list_take(problems, &own);
        problem_list_done(&own);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(plan);
        if (!failed)
                return 0;
        return c.refused ? -EPERM : -EINVAL;
}
