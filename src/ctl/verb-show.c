/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plan of a server: what a start would do, with every rule's source and every protection's state. */

#include "basic/string-util.h"
#include "ctl/pager.h"
#include "ctl/server-plan.h"
#include "report/report-plan.h"
#include "report/report-problems.h"

static int print_json(Ctl *ctl, const ServerEntry *e, const Verdict *v) {
        _cleanup_json_out_ JsonOut out;
        json_object *root, *part;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "file", e->file);
        json_out_boolean(&out, out.root, "starts", v->status == CTL_OK);
        json_out_string(&out,
                        out.root,
                        "environment_of",
                        ctl->environment_of_manager ? "manager" : "caller");
        if (v->plan) {
                r = report_plan_json(v->plan, REPORT_PLANNED, &part);
                if (r < 0)
                        return r;
                json_out_value(&out, out.root, "plan", part);
        } else
                json_out_string(&out, out.root, "plan", NULL);
        r = report_problems_json(&v->problems, &part);
        if (r < 0)
                return r;
        json_out_value(&out, out.root, "problems", part);
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

static int print_text(Ctl *ctl, const ServerEntry *e, const Verdict *v) {
        int r = 0;

        if (v->plan)
                r = report_plan_text(
                                stdout,
                                v->plan,
                                v->status == CTL_OK ? REPORT_PLANNED : REPORT_REFUSED,
                                &ctl->style);
        if (r < 0)
                return r;
        printf("\n%14s: %s\n", "Defined in", e->file);
        if (!ctl->environment_of_manager) {
                r = style_print_wrapped(
                                stdout,
                                &ctl->style,
                                0,
                                0,
                                "References were resolved with your own environment, because no manager was "
                                "asked; a "
                                "start uses the manager's.");
                if (r < 0)
                        return r;
        }
        if (v->problems.n_items == 0)
                return 0;
        fputc('\n', stdout);
        r = report_problems_text(stdout, &v->problems, &ctl->style);
        if (r >= 0 && v->status != CTL_OK)
                puts(v->status == CTL_REFUSED ? "A start will be refused." : "A start will fail.");
        return r;
}

int verb_show(Ctl *ctl, char **operands) {
        _cleanup_verdict_ Verdict v = {};
        const ServerList *list;
        const ServerEntry *e;
        int r;

        r = ctl_find_usable_server(ctl, operands[0], &e);
        if (r != 0)
                return r;
        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        if (problem_list_has_errors(&e->problems)) {
                r = report_problems_text(stderr, &e->problems, &ctl->error_style);
                return r < 0 ? r
                             : ctl_fail(ctl,
                                        CTL_DEFINITION,
                                        "MCP-X-NO-PLAN",
                                        "Correct it first.",
                                        "The definition of \"%s\" is wrong, so there is no plan.",
                                        e->name);
        }
        if (e->definition->remote)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-REMOTE",
                                NULL,
                                "The server \"%s\" is a remote one: nothing of it runs here.",
                                e->name);
        r = server_plan(ctl, e->definition, &list->global, &v);
        if (r < 0)
                return r;
        r = pager_open(ctl);
        if (r < 0)
                return r;
        r = ctl->json ? print_json(ctl, e, &v) : print_text(ctl, e, &v);
        return r < 0 ? r : (int) v.status;
}
