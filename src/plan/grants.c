/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the definition or the manifest adds to the baseline, and what is refused of it. */

#include <stdarg.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/house-keys.h"
#include "plan/plan-internal.h"

static bool is_device(mode_t mode) {
        return S_ISCHR(mode) || S_ISBLK(mode);
}

/* nono's rule: a writable device, or a directory of devices, comes with its ioctls (ABI 5 would deny them). */
static unsigned with_ioctl(PlanContext *c, const char *path, unsigned access) {
        _cleanup_path_facts_ PathFacts facts = {};

        if (!(access & ACCESS_WRITE) || c->host->resolve(c->host->userdata, path, &facts) < 0)
                return access;
        if (is_device(facts.mode) || (S_ISDIR(facts.mode) && path_startswith(facts.resolved, "/dev")))
                access |= ACCESS_IOCTL;
        return access;
}

static void report_grant(PlanContext *c, const Text *at, const char *key, const char *path, int error) {
        plan_problem(c,
                     PROBLEM_ERROR,
                     "MCP-P-GRANT-PATH",
                     at,
                     error == -ENOENT ? "Make it, or correct the path: nothing is granted that is not there."
                                      : "Correct the path.",
                     "The path %s (%s) cannot be granted: %s.",
                     path,
                     key,
                     error == -ENOENT ? "it does not exist" : STRERROR(error));
}

static int grant_list(PlanContext *c, const TextList *list, const char *key, unsigned access) {
        for (size_t i = 0; i < list->n_items; i++) {
                _cleanup_free_ char *path = NULL, *source = NULL;
                int r;

                source = strformat("%s[%zu]", key, i);
                if (!source)
                        return -ENOMEM;
                r = plan_expand(c, list->items + i, true, &path);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        continue;
                if (!path_is_absolute(path)) {
                        plan_problem(c,
                                     PROBLEM_ERROR,
                                     "MCP-P-GRANT-PATH",
                                     list->items + i,
                                     "Write an absolute path, or one that starts with \"~/\".",
                                     "The path %s (%s) is not absolute.",
                                     path,
                                     source);
                        continue;
                }
                r = plan_add_rule(c, path, with_ioctl(c, path, access), 0, strdup(source));
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        report_grant(c, list->items + i, source, path, r);
        }
        return 0;
}

static const unsigned manifest_access[] = {
        [GRANT_READ] = ACCESS_READ | ACCESS_EXECUTE,
        [GRANT_WRITE] = ACCESS_WRITE | ACCESS_MAKE_DEVICE,
        [GRANT_READWRITE] = ACCESS_READ | ACCESS_EXECUTE | ACCESS_WRITE | ACCESS_MAKE_DEVICE,
};

/* A problem at a grant: the manifest's own file and place. resolved: where the path leads; NULL: not known. */
static void grant_problem(
                PlanContext *c,
                const ManifestGrant *g,
                const char *resolved,
                const char *remedy,
                const char *why,
                const char *detail) {
        bool expanded = !streq(g->original, g->path), linked = resolved && !streq(resolved, g->path);

        problem_add_at(c->problems,
                       PROBLEM_ERROR,
                       "MCP-P-MANIFEST-PATH",
                       c->manifest->file ? c->manifest->file : c->d->file,
                       g->line,
                       g->column,
                       g->pointer,
                       remedy,
                       "The path %s%s%s%s%s%s (manifest %s) %s%s.",
                       g->original,
                       expanded ? " (" : "",
                       expanded ? g->path : "",
                       expanded ? ")" : "",
                       linked ? " -> " : "",
                       linked ? resolved : "",
                       g->pointer,
                       why,
                       detail);
}

static const ManifestGrant *grant_of_rule(const PlanContext *c, const PathRule *rule) {
        const char *pointer = c->manifest ? startswith(rule->source, "manifest ") : NULL;

        for (size_t i = 0; pointer && i < c->manifest->n_grants; i++)
                if (streq(c->manifest->grants[i].pointer, pointer))
                        return c->manifest->grants + i;
        return NULL;
}

void plan_refuse_rule(
                PlanContext *c,
                const PathRule *rule,
                const char *code,
                const char *remedy,
                const char *message,
                ...) {
        const ManifestGrant *g = grant_of_rule(c, rule);
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int r;

        va_start(ap, message);
        r = vasprintf(&text, message, ap);
        va_end(ap);
        if (r < 0) {
                text = NULL;
                c->problems->failed = true;
                return;
        }
        if (!g) {
                plan_refuse(c, code, plan_rule_text(c, rule), remedy, "%s", text);
                return;
        }
        c->refused = true;
        problem_add_at(c->problems,
                       PROBLEM_ERROR,
                       code,
                       c->manifest->file ? c->manifest->file : c->d->file,
                       g->line,
                       g->column,
                       g->pointer,
                       remedy,
                       "%s",
                       text);
}

static void unresolved_grant(PlanContext *c, const ManifestGrant *g, int error) {
        bool missing = error == -ENOENT,
             link = missing && c->host->is_link && c->host->is_link(c->host->userdata, g->path) == 1;

        grant_problem(c,
                      g,
                      NULL,
                      missing ? "Make it, or take the grant out."
                              : "Correct the path, or take the grant out.",
                      link      ? "is a link to what does not exist"
                      : missing ? "does not exist"
                                : "cannot be resolved: ",
                      missing ? "" : STRERROR(error));
}

static unsigned grant_access(PlanContext *c, const ManifestGrant *g) {
        unsigned access = with_ioctl(c, g->path, manifest_access[g->access]);

        /* Nothing can be made in a file. */
        return g->is_file ? access & ~(unsigned) ACCESS_MAKE_DEVICE : access;
}

static int grant_manifest(PlanContext *c) {
        for (size_t i = 0; i < c->manifest->n_grants; i++) {
                const ManifestGrant *g = c->manifest->grants + i;
                _cleanup_path_facts_ PathFacts facts = {};
                int r;

                r = c->host->resolve(c->host->userdata, g->path, &facts);
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        unresolved_grant(c, g, r);
                        continue;
                }
                if (!S_ISDIR(facts.mode) && (endswith(g->original, "/") || endswith(g->original, "/."))) {
                        grant_problem(c,
                                      g,
                                      facts.resolved,
                                      "Write it without the slash, and \"type\": \"file\", or name a "
                                      "directory.",
                                      "is no directory, which its end says that it is",
                                      "");
                        continue;
                }
                if (g->is_file && S_ISDIR(facts.mode)) {
                        grant_problem(c,
                                      g,
                                      facts.resolved,
                                      "Write \"type\": \"directory\", or name a file.",
                                      "is a directory, but the grant's type is file",
                                      "");
                        continue;
                }
                if (!g->is_file && !S_ISDIR(facts.mode)) {
                        grant_problem(c,
                                      g,
                                      facts.resolved,
                                      "Write \"type\": \"file\", or name a directory.",
                                      "is no directory, but the grant's type is directory",
                                      "");
                        continue;
                }
                r =
                                plan_add_rule(c,
                                              g->path,
                                              grant_access(c, g),
                                              g->is_file ? RULE_WANT_FILE : RULE_WANT_DIRECTORY,
                                              strformat("manifest %s", g->pointer));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Where even we may not look, the server of the same user may not go: there the path is taken as it is written. */
static int note_unseen(PlanContext *c, const ManifestGrant *deny) {
        _cleanup_path_facts_ PathFacts facts = {};

        if (c->host->resolve(c->host->userdata, deny->path, &facts) != -EACCES)
                return 0;
        return strv_extendf(
                        &c->plan->notes,
                        "%s (manifest %s): denied as it is written, since it cannot be looked at",
                        deny->path,
                        deny->pointer);
}

/* Landlock cannot subtract: a deny entry is accepted where nothing that is granted touches it. */
static int check_denies(PlanContext *c) {
        for (size_t i = 0; i < c->manifest->n_denies; i++) {
                const ManifestGrant *deny = c->manifest->denies + i;
                _cleanup_free_ char *resolved = NULL;
                int r;

                r = plan_resolve_future(c->host, deny->path, &resolved);
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        grant_problem(c,
                                      deny,
                                      NULL,
                                      "Correct the path, or take the deny entry out.",
                                      r == -ENOENT ? "is denied, but where it will lead depends on what "
                                                     "will be "
                                                     "made: it goes on behind what is not there"
                                                   : "cannot be resolved: ",
                                      r == -ENOENT ? "" : STRERROR(r));
                        continue;
                }
                r = strv_extend(&c->plan->denies, resolved);
                if (r >= 0)
                        r = note_unseen(c, deny);
                if (r < 0)
                        return r;
                for (size_t k = 0; k < c->plan->n_rules; k++) {
                        const PathRule *rule = c->plan->rules + k;
                        _cleanup_free_ char *why = NULL;

                        if (!rule->resolved || (!path_startswith(resolved, rule->resolved) &&
                                                !path_startswith(rule->resolved, resolved)))
                                continue;
                        why = strformat("%s %s, which is granted (%s)",
                                        path_startswith(resolved, rule->resolved) ? "lies in" : "contains",
                                        rule->path,
                                        rule->source);
                        if (!why)
                                return -ENOMEM;
                        grant_problem(c,
                                      deny,
                                      resolved,
                                      "Grant narrower directories beside it instead of one that covers it.",
                                      "is denied, but Landlock cannot take away from a grant: it ",
                                      why);
                        c->refused = true;
                        break;
                }
        }
        return 0;
}

/* The definition's own place for a rule, for messages. */
const Text *plan_rule_text(const PlanContext *c, const PathRule *rule) {
        unsigned long index;
        const char *s;

        if (streq(rule->source, "baseline: working directory") && c->d->working_dir.value)
                return &c->d->working_dir;
        s = startswith(rule->source, "isolation.write[");
        index = s ? strtoul(s, NULL, 10) : 0;
        return s && index < c->d->isolation.write.n_items ? c->d->isolation.write.items + index : NULL;
}

/* A working directory that no file names is mcp-sandbox's current one: nobody asked for it to be writable. */
bool plan_rule_is_implicit(const PlanContext *c, const PathRule *rule) {
        if (streq(rule->source, "baseline: working directory"))
                return !c->d->working_dir.at;
        return startswith(rule->source, "baseline: ") && (rule->flags & (RULE_OPTIONAL | RULE_CREATE));
}

static int check_keys(PlanContext *c) {
        const HouseKeys *keys;
        int r;

        r = plan_house_keys(c, &keys);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->plan->n_rules; i++) {
                PathRule *rule = c->plan->rules + i;
                const HouseKey *key;
                bool linked;

                if (!(rule->access & (ACCESS_WRITE | ACCESS_MAKE_DEVICE)) || !rule->resolved)
                        continue;
                key = house_keys_find(keys, rule->resolved);
                if (!key)
                        continue;
                if (plan_rule_is_implicit(c, rule)) {
                        rule->access &= ~(unsigned) (ACCESS_WRITE | ACCESS_MAKE_DEVICE | ACCESS_IOCTL);
                        rule->flags &= ~(unsigned) RULE_CREATE;
                        free(rule->note);
                        rule->note = strformat("not writable: it would open %s: %s", key->path, key->reason);
                        if (!rule->note)
                                return -ENOMEM;
                        continue;
                }
                linked = !streq(rule->path, rule->resolved);
                plan_refuse_rule(
                                c,
                                rule,
                                "MCP-P-KEY-TO-THE-HOUSE",
                                "Grant a directory of the server's own instead.",
                                "%s%s%s (%s) would be writable, and with it %s: %s.",
                                rule->path,
                                linked ? " -> " : "",
                                linked ? rule->resolved : "",
                                rule->source,
                                key->path,
                                key->reason);
        }
        return 0;
}

/* A socket that is asked for by name is given: whoever lists the session bus may have reasons. But it is said. */
static int check_sockets(PlanContext *c) {
        const HouseKeys *keys;
        const TextList *list = &c->d->isolation.unix_paths;
        int r;

        if (c->plan->unix_sockets == UNIX_ANY && c->host->scope == RUNTIME_SCOPE_USER)
                plan_problem(c,
                             PROBLEM_WARNING,
                             "MCP-P-SOCKET-KEY",
                             NULL,
                             "Say \"none\", or list the sockets that it needs.",
                             "isolation.unix_sockets is any: over the session bus the server can have the "
                             "user's manager start programs outside the sandbox.");
        if (c->plan->unix_sockets != UNIX_LIST)
                return 0;
        r = plan_house_keys(c, &keys);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->plan->n_rules; i++) {
                const PathRule *rule = c->plan->rules + i;
                const char *index = startswith(rule->source, "isolation.unix_sockets[");
                size_t item = index ? strtoul(index, NULL, 10) : list->n_items;
                const HouseKey *key;

                if (item >= list->n_items || !rule->resolved)
                        continue;
                key = house_keys_find(keys, rule->resolved);
                if (key)
                        plan_problem(c,
                                     PROBLEM_WARNING,
                                     "MCP-P-SOCKET-KEY",
                                     list->items + item,
                                     "Take it out if the server can do without.",
                                     "The server may connect to %s, and with it out of the sandbox: %s: %s.",
                                     rule->resolved,
                                     key->path,
                                     key->reason);
        }
        return 0;
}

static void check_manifest_conflicts(PlanContext *c) {
        const char *remedy = "Say it in the manifest.";

        if (c->d->isolation.write.n_items > 0)
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-MANIFEST-AND-KEY",
                             c->d->isolation.write.items,
                             remedy,
                             "isolation.write is for servers without a manifest.");
        if (c->d->isolation.network != NETWORK_UNSET)
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-MANIFEST-AND-KEY",
                             NULL,
                             remedy,
                             "isolation.network is for servers without a manifest.");
        if (c->d->command.value && !manifest_allows_command(c->manifest, c->d->command.value))
                plan_refuse(c,
                            "MCP-P-BLOCKED-COMMAND",
                            &c->d->command,
                            "Take it out of process.blocked_commands.",
                            "The manifest's process.blocked_commands has the command %s.",
                            path_basename(c->d->command.value));
}

int plan_grants(PlanContext *c) {
        int r;

        if (c->manifest) {
                check_manifest_conflicts(c);
                r = grant_manifest(c);
        } else
                r = grant_list(c,
                               &c->d->isolation.write,
                               "isolation.write",
                               ACCESS_READ | ACCESS_EXECUTE | ACCESS_WRITE);
        if (r >= 0 && c->d->isolation.unix_sockets == UNIX_LIST)
                r = grant_list(c, &c->d->isolation.unix_paths, "isolation.unix_sockets", ACCESS_UNIX);
        if (r >= 0)
                r = check_keys(c);
        if (r >= 0)
                r = check_sockets(c);
        if (r >= 0)
                r = plan_check_reach(c);
        if (r >= 0 && c->manifest)
                r = check_denies(c);
        return r;
}
