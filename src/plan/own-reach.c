/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a server can write must not decide what its next session may do: links that it could have planted on the way to a
 * granted path, and files that its own plan is made of. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/plan-internal.h"

/* The rule that lets the server write something that path leads through, its end included; NULL: none. Links are followed
 * component by component. A rule that covers outside as well is left out (outside may be NULL). */
static int find_writable_on_the_way(
                const PlanContext *c, const char *path, const char *outside, const PathRule **ret) {
        _cleanup_free_ char *head = path_simplify(path);

        if (!head)
                return -ENOMEM;
        *ret = NULL;
        for (char *end = head; *end;) {
                _cleanup_free_ char *resolved = NULL;
                char c_end;
                int r;

                end += strspn(end, "/");
                end += strcspn(end, "/");
                /* The way up from a directory is nobody's to change. */
                if (path_startswith(end, ".."))
                        continue;
                c_end = *end;
                *end = 0;
                r = host_real_path(c->host, head, &resolved);
                *end = c_end;
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        return 0;
                for (size_t i = 0; i < c->plan->n_rules; i++) {
                        const PathRule *rule = c->plan->rules + i;

                        if (!(rule->access & ACCESS_WRITE) || !rule->resolved ||
                            !path_startswith(resolved, rule->resolved) ||
                            (outside && path_startswith(outside, rule->resolved)))
                                continue;
                        *ret = rule;
                        return 0;
                }
        }
        return 0;
}

static int drop_rule(PathRule *rule, char *note) {
        rule->access = 0;
        rule->flags = RULE_OPTIONAL;
        free(TAKE_PTR(rule->resolved));
        free(rule->note);
        rule->note = note;
        return note ? 0 : -ENOMEM;
}

static PathRule *find_rule(const PlanContext *c, const char *source) {
        for (size_t i = 0; i < c->plan->n_rules; i++)
                if (streq(c->plan->rules[i].source, source))
                        return c->plan->rules + i;
        return NULL;
}

/* What was granted only because another rule led there, and is none of what the server may write anyway. */
static int drop_follower(const PlanContext *c, char *source, const char *why) {
        _cleanup_free_ char *owned = source;
        PathRule *rule = owned ? find_rule(c, owned) : NULL;
        const PathRule *writable;
        int r;

        if (!owned)
                return -ENOMEM;
        if (!rule || rule->access == 0)
                return 0;
        r = find_writable_on_the_way(c, rule->path, NULL, &writable);
        return r < 0 || writable ? r : drop_rule(rule, strformat("not granted: %s", why));
}

static int judge_rule(PlanContext *c, PathRule *rule) {
        const PathRule *writable;
        const char *args;
        int r;

        r = find_writable_on_the_way(c, rule->path, rule->resolved, &writable);
        if (r < 0 || !writable)
                return r;
        if (!plan_rule_is_implicit(c, rule)) {
                plan_refuse_rule(
                                c,
                                rule,
                                "MCP-P-PLANTED-LINK",
                                "Name the place itself, or remove the link.",
                                "%s (%s) leads to %s through %s, which the server may write: the server "
                                "could "
                                "have put the link there.",
                                rule->path,
                                rule->source,
                                rule->resolved,
                                writable->path);
                return 0;
        }
        args = startswith(rule->source, "baseline: args");
        if (args) {
                r =
                                drop_follower(c,
                                              strformat("baseline: directory of args%s", args),
                                              "the argument is a link that the server could have put there");
                if (r < 0)
                        return r;
        }
        return drop_rule(
                        rule,
                        strformat("not granted: it leads to %s through %s, which the server may write; if "
                                  "that is meant, grant the place itself",
                                  rule->resolved,
                                  writable->path));
}

/* Behind a program that the server can replace, links and #! lines name what the server likes. Where an interpreter is
 * installed it may look all the same: a virtual environment in the working directory needs that. */
static int judge_programs(PlanContext *c) {
        bool replaceable = false;

        STRV_FOREACH (program, c->programs) {
                const PathRule *writable;
                int r;

                r = find_writable_on_the_way(c, *program, NULL, &writable);
                if (r >= 0 && replaceable && !plan_is_runtime(*program))
                        r = drop_follower(
                                        c,
                                        strformat("baseline: where %s is installed", *program),
                                        "the server could have chosen this program; if it is meant, grant "
                                        "the place itself");
                if (r < 0)
                        return r;
                replaceable = replaceable || writable;
        }
        return 0;
}

static int judge_own_file(PlanContext *c, const char *path, const char *what) {
        const PathRule *writable;
        int r;

        if (!path || !path_is_absolute(path))
                return 0;
        r = find_writable_on_the_way(c, path, NULL, &writable);
        if (r >= 0 && writable)
                plan_refuse(c,
                            "MCP-P-OWN-FILE",
                            NULL,
                            "Move it to a place that the server may not write.",
                            "%s %s could be changed by the server, which may write %s (%s).",
                            what,
                            path,
                            writable->path,
                            writable->source);
        return r;
}

/* Without a manifest all that the file decides is the temp directory. A supervisor that is root would read for the server
 * whatever file it puts a link to. */
static int judge_env_file(PlanContext *c) {
        if (c->manifest || c->plan->uid != (uid_t) -1)
                return judge_own_file(c, c->env_file, "The envFile");
        return c->env_file_has_tmp_dir ? judge_own_file(c, c->env_file, "The envFile, which sets TMPDIR,")
                                       : 0;
}

/* The directories of definitions are keys to the house. But a file in them may be a link to somewhere else. */
static int judge_definition(PlanContext *c) {
        _cleanup_path_facts_ PathFacts facts = {};
        int r;

        if (!c->d->file)
                return 0;
        r = c->host->resolve(c->host->userdata, c->d->file, &facts);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return path_equal(facts.resolved, c->d->file) ? 0 : judge_own_file(c, c->d->file, "The definition");
}

int plan_check_reach(PlanContext *c) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < c->plan->n_rules; i++)
                if (c->plan->rules[i].resolved && c->plan->rules[i].access != 0)
                        r = judge_rule(c, c->plan->rules + i);
        if (r >= 0)
                r = judge_programs(c);
        if (r >= 0)
                r = judge_env_file(c);
        /* At a shell the person who names the file is there and looks. */
        if (r >= 0 && c->host->managed)
                r = judge_definition(c);
        if (r >= 0 && c->host->managed && c->manifest && !streq_ptr(c->manifest->file, c->d->file))
                r = judge_own_file(c, c->manifest->file, "The manifest");
        return r;
}
