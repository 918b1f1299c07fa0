/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All that is wrong with definitions, and whether a start would be refused: by the same functions as the start. */

#include <grp.h>
#include <pwd.h>

#include "basic/string-util.h"
#include "ctl/pager.h"
#include "ctl/server-plan.h"
#include "report/report-plan.h"
#include "report/report-problems.h"

/* What is checked, and what came of it. */
typedef struct Check {
        const char *name;
        const char *file;
        ProblemList problems;
        Plan *plan;
        bool masked;
        bool disabled, quarantined;
        CtlExit status;
} Check;

static void check_done(Check *c) {
        problem_list_done(&c->problems);
        plan_free(c->plan);
}
#define _cleanup_check_ _cleanup_(check_done)

/* The server's own answer: 2 is worse than 3, because nothing is known about a definition that cannot be read. */
static CtlExit worse(CtlExit a, CtlExit b) {
        if (a == CTL_OK || b == CTL_OK)
                return a == CTL_OK ? b : a;
        return MIN(a, b);
}

/* The generator gives the socket to a group that is alone, and systemd does not open it without that; of several names
 * the supervisor leaves out what does not exist. */
static void check_access(Check *c, const Definition *d) {
        static char *default_groups[] = { (char *) "mcp", NULL };
        const bool open = d->access.users || d->access.groups;
        char **groups = open ? d->access.groups : default_groups;
        const bool alone = !d->access.users && strv_length(groups) == 1;

        STRV_FOREACH (group, groups)
                if (!getgrnam(*group))
                        problem_add_at(&c->problems,
                                       alone ? PROBLEM_ERROR : PROBLEM_WARNING,
                                       "MCP-C-NO-ACCOUNT",
                                       c->file,
                                       0,
                                       0,
                                       open ? "/access/groups" : NULL,
                                       "Make it with groupadd, or name another one in access.groups.",
                                       "There is no group \"%s\"%s.",
                                       *group,
                                       alone ? ", so the server's sockets cannot be opened for it" : "");
        STRV_FOREACH (user, d->access.users)
                if (!getpwnam(*user))
                        problem_add_at(&c->problems,
                                       PROBLEM_WARNING,
                                       "MCP-C-NO-ACCOUNT",
                                       c->file,
                                       0,
                                       0,
                                       "/access/users",
                                       "Correct the name, or take it out of access.users.",
                                       "There is no user \"%s\", so the name lets nobody in.",
                                       *user);
}

static int check_definition(Ctl *ctl, Check *c, const Definition *d, const GlobalIsolation *global) {
        _cleanup_verdict_ Verdict v = {};
        int r;

        if (problem_list_has_errors(&c->problems)) {
                c->status = CTL_DEFINITION;
                return d && !d->remote ? server_check_manifest(ctl, d, &c->problems) : 0;
        }
        if (!d || d->remote)
                return 0;
        c->disabled = !d->enabled;
        c->quarantined = d->quarantined;
        r = server_plan_of_enabled(ctl, d, global, &v);
        if (r < 0)
                return r;
        problem_list_take(&c->problems, &v.problems);
        c->plan = TAKE_PTR(v.plan);
        c->status = v.status;
        if (ctl->scope == RUNTIME_SCOPE_SYSTEM && !ctl->root)
                check_access(c, d);
        if (c->status == CTL_OK && problem_list_has_errors(&c->problems))
                c->status = CTL_DEFINITION;
        return 0;
}

static char *verdict_sentence(const Check *c) {
        _cleanup_free_ char *summary = report_problems_summary(&c->problems);
        size_t missing = c->plan ? plan_count_missing(c->plan) : 0;

        if (!summary)
                return NULL;
        if (c->masked)
                return strdup("masked, there will be no such server");
        if (c->status == CTL_DEFINITION)
                return strformat("a start will fail (%s)", summary);
        if (c->status == CTL_REFUSED)
                return strformat("a start will be refused (%s)", summary);
        if (!c->plan)
                return strformat("not a local server (%s)", summary);
        if (c->quarantined)
                return strformat(
                                "quarantined, a start will be refused until \"quarantined\" is false (%s)",
                                summary);
        if (c->disabled)
                return strformat(
                                "disabled, a start will be refused until \"enabled\" is true (%s)", summary);
        if (!c->plan->confined)
                return strformat("will start NOT confined (%s)", summary);
        if (missing > 0)
                return strformat(
                                "will start confined, %zu protection%s missing (%s)",
                                missing,
                                missing == 1 ? "" : "s",
                                summary);
        return strformat("will start confined (%s)", summary);
}

static int print_text(Ctl *ctl, const Check *c) {
        _cleanup_free_ char *sentence = verdict_sentence(c), *name = string_escape_control(c->name);
        Tone tone = c->status != CTL_OK ? TONE_BAD
                    : report_problems_count(&c->problems, PROBLEM_WARNING) > 0 ||
                                                    (c->plan && !c->plan->confined)
                                    ? TONE_WARN
                                    : TONE_GOOD;
        int r;

        if (!sentence || !name)
                return -ENOMEM;
        r = report_problems_text(stdout, &c->problems, &ctl->style);
        if (r < 0)
                return r;
        printf("%s%s%s: %s\n", style_on(&ctl->style, tone), name, style_off(&ctl->style, tone), sentence);
        return 0;
}

static int add_json(JsonOut *out, const Check *c) {
        json_object *o = json_out_object(out, out->root, NULL), *problems;
        int r;

        r = report_problems_json(&c->problems, &problems);
        if (r < 0)
                return r;
        json_out_string(out, o, "name", c->name);
        json_out_string(out, o, "file", c->file);
        json_out_boolean(out, o, "masked", c->masked);
        json_out_boolean(
                        out, o, "starts", c->status == CTL_OK && c->plan && !c->disabled && !c->quarantined);
        json_out_integer(out, o, "exit_status", c->status);
        json_out_value(out, o, "problems", problems);
        if (c->plan)
                json_out_value(out, o, "isolation", report_isolation_json(&c->plan->isolation));
        else
                json_out_string(out, o, "isolation", NULL);
        return 0;
}

static int finish_check(Ctl *ctl, JsonOut *out, const Check *c, CtlExit *status) {
        *status = worse(*status, c->status);
        return ctl->json ? add_json(out, c) : print_text(ctl, c);
}

static int check_server(
                Ctl *ctl, JsonOut *out, const ServerList *list, const ServerEntry *e, CtlExit *status) {
        _cleanup_check_ Check c = { .name = e->name, .file = e->file, .masked = e->masked };
        int r;

        r = problem_list_copy(&c.problems, &e->problems);
        if (r < 0)
                return r;
        if (!e->masked) {
                r = check_definition(ctl, &c, e->definition, &list->global);
                if (r < 0)
                        return r;
        }
        return finish_check(ctl, out, &c, status);
}

static int check_file(Ctl *ctl, JsonOut *out, const char *path, CtlExit *status) {
        _cleanup_check_ Check c = { .name = path, .file = path };
        _cleanup_definition_ Definition *d = NULL;
        const ServerList *list;
        int r;

        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        r = definition_load_file(path, NULL, &d, &c.problems);
        if (r == -ENOMEM)
                return r;
        if (r == -ENOENT)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-NO-SUCH-FILE",
                                NULL,
                                "There is no file %s.",
                                path);
        r = check_definition(ctl, &c, d, &list->global);
        return r < 0 ? r : finish_check(ctl, out, &c, status);
}

static bool looks_like_file(const char *operand) {
        return strchr(operand, '/') || endswith(operand, ".json");
}

/* Problems that belong to no server. */
static int check_common(Ctl *ctl, JsonOut *out, const ServerList *list, CtlExit *status) {
        Check c = { .name = "(all)", .problems = list->problems };

        if (list->problems.n_items == 0)
                return 0;
        if (problem_list_has_errors(&list->problems))
                *status = worse(*status, CTL_DEFINITION);
        return ctl->json ? add_json(out, &c) : report_problems_text(stdout, &list->problems, &ctl->style);
}

static int check_all(Ctl *ctl, JsonOut *out, CtlExit *status) {
        const ServerList *list;
        int r;

        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        r = check_common(ctl, out, list, status);
        for (size_t i = 0; i < list->n_items && r == 0; i++)
                r = check_server(ctl, out, list, list->items + i, status);
        if (r == 0 && !ctl->json && list->n_items == 0)
                printf("There are no servers; definitions go to %s/NAME.json.\n", ctl->paths.server_dirs[0]);
        return r;
}

static int check_operand(Ctl *ctl, JsonOut *out, const char *operand, CtlExit *status) {
        const ServerList *list;
        const ServerEntry *e;
        int r;

        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        /* A server may be named like a file, too. */
        if (looks_like_file(operand) && !ctl_has_server(list, operand))
                return check_file(ctl, out, operand, status);
        r = ctl_find_server(ctl, operand, &e);
        return r != 0 ? r : check_server(ctl, out, list, e, status);
}

int verb_check(Ctl *ctl, char **operands) {
        _cleanup_json_out_ JsonOut out;
        CtlExit status = CTL_OK;
        json_object *root;
        int r = 0;

        json_out_init(&out, /* array= */ true);
        r = pager_open(ctl);
        if (r < 0)
                return r;
        if (!*operands)
                r = check_all(ctl, &out, &status);
        for (char **o = operands; *o && r == 0; o++)
                r = check_operand(ctl, &out, *o, &status);
        if (r != 0)
                return r;
        if (ctl->json) {
                r = json_out_finish(&out, &root);
                if (r >= 0)
                        r = ctl_print_json(root);
        }
        return r < 0 ? r : (int) status;
}
