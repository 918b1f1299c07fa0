/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How a plan is made, between the files of this room. */

#include "plan/house-keys.h"
#include "plan/plan.h"

/* What one call of plan_make() works on. Steps add their problems and go on, so that all are seen at once. */
typedef struct PlanContext {
        const Definition *d;
        const ManifestGrants *manifest;
        const HostFacts *host;
        Plan *plan;
        ProblemList *problems;
        char *home;     /* the server's HOME */
        char *tmp_dir;  /* the server's TMPDIR */
        char *env_file; /* as opened; NULL: none */
        bool env_file_has_tmp_dir;
        bool home_private;
        bool has_manifest;       /* the definition names or holds one, also where it was not read yet */
        bool refused;            /* something was refused: -EPERM rather than -EINVAL */
        bool working_dir_closed; /* mcp-sandbox's, and a key to the house is in it: it will not be writable */
        char **programs; /* every program file on the way to the process: command, links, interpreters */
        char **runtimes; /* basenames that choose runtime presets */
        HouseKeys keys;  /* for plan_house_keys() */
} PlanContext;

void plan_context_done(PlanContext *c); /* all but plan and problems */

/* Adds a problem that stands at a Text of the definition. remedy may be NULL. */
void plan_problem(
                PlanContext *c,
                ProblemLevel level,
                const char *code,
                const Text *at,
                const char *remedy,
                const char *message,
                ...) _printf_(6, 7);

/* The same, and the plan is refused (exit code 3). */
void plan_refuse(
                PlanContext *c,
                const char *code,
                const Text *at,
                const char *remedy,
                const char *message,
                ...) _printf_(5, 6);

/* Expands a Text, as text_expand() does. */
int plan_expand(const PlanContext *c, const Text *text, bool path, char **ret);

/* env.c: home, tmp_dir and plan->env. */
int plan_env(PlanContext *c);

/* The environment that the server will have, without a plan around it: what a manifest's paths are expanded with. */
int plan_server_env(const Definition *d, const HostFacts *host, char ***ret, ProblemList *problems);

/* command.c: working directory, argv, command, programs, runtimes. */
int plan_working_dir(PlanContext *c);
int plan_command(PlanContext *c);

/* baseline.c: the rules that every server gets. */
int plan_baseline(PlanContext *c);
/* The keys to the house, expanded once; owned by the context. */
int plan_house_keys(PlanContext *c, const HouseKeys **ret);
/* What the definition or the manifest adds; refuses keys to the house; deny entries. */
int plan_grants(PlanContext *c);
/* For messages: the definition's own place for a rule (NULL: none), and whether nobody asked for it. */
const Text *plan_rule_text(const PlanContext *c, const PathRule *rule);
/* Refuses a rule, at its place in the definition or in the manifest. */
void plan_refuse_rule(
                PlanContext *c,
                const PathRule *rule,
                const char *code,
                const char *remedy,
                const char *message,
                ...) _printf_(5, 6);
bool plan_rule_is_implicit(const PlanContext *c, const PathRule *rule);
/* Is it named like an interpreter or a package runner (policy/runtimes.conf), whatever its version? */
bool plan_is_runtime(const char *program);
/* own-reach.c: takes back, or refuses, what the server itself could have widened. */
int plan_check_reach(PlanContext *c);
/* Network, UNIX sockets and scopes. */
int plan_network(PlanContext *c);

/* Appends a rule. path is copied; source is consumed (NULL: -ENOMEM). The path is looked up: where it is not there and
 * flags have neither RULE_OPTIONAL nor RULE_CREATE, -ENOENT (or what the lookup said) and no rule. */
int plan_add_rule(PlanContext *c, const char *path, unsigned access, unsigned flags, char *source);

/* Where path leads, or would lead once it is made: the deepest part that can be seen, resolved, and the rest. -ENOENT: that
 * depends on what will be made, since it goes on through a link to nowhere, or with ".." behind what is not there. */
int plan_resolve_future(const HostFacts *host, const char *path, char **ret);

/* protections.c: fills plan->protections from the plan and the host. */
int plan_protections(PlanContext *c);
