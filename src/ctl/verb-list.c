/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every server that there is, one line each: also the masked, the wrong and the shadowed. */

#include "basic/string-util.h"
#include "ctl/pager.h"
#include "ctl/server-plan.h"
#include "ctl/server-state.h"
#include "report/report-plan.h"
#include "report/report-problems.h"
#include "report/table.h"

/* One server's line. */
typedef struct ListRow {
        const ServerEntry *entry;
        ServerState state;
        Verdict verdict; /* no plan where the definition is wrong already */
        ProblemList problems;
} ListRow;

static void list_row_done(ListRow *row) {
        verdict_done(&row->verdict);
        problem_list_done(&row->problems);
}
#define _cleanup_list_row_ _cleanup_(list_row_done)

/* What a line is made of. units is NULL where the manager cannot be reached. */
typedef struct ListContext {
        Ctl *ctl;
        const ServerList *servers;
        const UnitList *units;
        bool problems; /* there were any */
} ListContext;

static int list_row(ListContext *c, const ServerEntry *e, ListRow *ret) {
        _cleanup_list_row_ ListRow row = { .entry = e };
        int r;

        r = server_state(e, c->units, &row.state);
        if (r < 0)
                return r;
        r = problem_list_copy(&row.problems, &e->problems);
        if (r < 0)
                return r;
        if (!e->masked && e->definition && !e->definition->remote && !problem_list_has_errors(&e->problems))
        {
                r = server_plan_of_enabled(c->ctl, e->definition, &c->servers->global, &row.verdict);
                if (r < 0)
                        return r;
                problem_list_take(&row.problems, &row.verdict.problems);
        }
        c->problems = c->problems || row.problems.n_items > 0;
        *ret = row;
        row = (ListRow){};
        return 0;
}

static void add_unit(JsonOut *out, json_object *parent, const char *key, const UnitState *u) {
        json_object *o;

        if (!u) {
                json_out_string(out, parent, key, NULL);
                return;
        }
        o = json_out_object(out, parent, key);
        json_out_string(out, o, "load", u->load);
        json_out_string(out, o, "active", u->active);
        json_out_string(out, o, "sub", u->sub);
}

static int add_server(JsonOut *out, json_object *array, const ListRow *row, bool units_known) {
        const ServerEntry *e = row->entry;
        const Plan *plan = row->verdict.plan;
        json_object *o = json_out_object(out, array, NULL), *problems;
        int r;

        r = report_problems_json(&row->problems, &problems);
        if (r < 0)
                return r;
        json_out_string(out, o, "name", e->name);
        json_out_string(out, o, "instance", e->instance);
        json_out_string(out, o, "file", e->file);
        json_out_strv(out, o, "shadowed", e->shadowed);
        json_out_string(out, o, "state", row->state.word);
        json_out_boolean(out, o, "masked", e->masked);
        json_out_boolean(out, o, "enabled", e->definition && e->definition->enabled);
        json_out_boolean(out, o, "quarantined", e->definition && e->definition->quarantined);
        json_out_boolean(out, o, "remote", e->definition && e->definition->remote);
        add_unit(out, o, "socket", row->state.socket);
        add_unit(out, o, "service", row->state.service);
        if (units_known)
                json_out_integer(out, o, "sessions", (int64_t) row->state.n_sessions);
        else
                json_out_string(out, o, "sessions", NULL);
        if (plan)
                json_out_value(out, o, "isolation", report_isolation_json(&plan->isolation));
        else
                json_out_string(out, o, "isolation", NULL);
        json_out_value(out, o, "problems", problems);
        return 0;
}

static int print_json(ListContext *c) {
        _cleanup_json_out_ JsonOut out;
        json_object *array, *root;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "scope", runtime_scope_to_string(c->ctl->scope));
        json_out_boolean(&out, out.root, "manager_reached", c->units);
        array = json_out_array(&out, out.root, "servers");
        for (size_t i = 0; i < c->servers->n_items; i++) {
                _cleanup_list_row_ ListRow row = {};

                r = list_row(c, c->servers->items + i, &row);
                if (r >= 0)
                        r = add_server(&out, array, &row, c->units);
                if (r < 0)
                        return r;
        }
        r = report_problems_json(&c->servers->problems, &array);
        if (r < 0)
                return r;
        json_out_value(&out, out.root, "problems", array);
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

static void isolation_cell(Table *t, const Plan *plan) {
        if (!plan) {
                table_cell(t, 3, TONE_DIM, NULL);
                return;
        }
        table_cellf(t,
                    3,
                    plan->isolation.isolated ? TONE_PLAIN : TONE_WARN,
                    "%s%s",
                    plan->isolation.mode,
                    plan->isolation.isolated ? "" : " (not isolated)");
}

static void problem_cell(Table *t, const ProblemList *problems) {
        size_t errors = report_problems_count(problems, PROBLEM_ERROR),
               warnings = report_problems_count(problems, PROBLEM_WARNING);

        if (errors > 0)
                table_cellf(t, 4, TONE_BAD, "%zu error%s", errors, errors == 1 ? "" : "s");
        else if (warnings > 0)
                table_cellf(t, 4, TONE_WARN, "%zu warning%s", warnings, warnings == 1 ? "" : "s");
        else
                table_cell(t, 4, TONE_DIM, NULL);
}

static int print_table(ListContext *c) {
        static const TableColumn columns[] = {
                { "NAME" },
                { "STATE" },
                { "SESSIONS", TABLE_RIGHT },
                { "ISOLATION" },
                { "PROBLEMS" },
                { "FILE", TABLE_BREAK },
                {},
        };
        _cleanup_table_ Table *t = NULL;
        int r;

        r = table_new(columns, &c->ctl->style, &t);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->servers->n_items; i++) {
                const ServerEntry *e = c->servers->items + i;
                _cleanup_list_row_ ListRow row = {};

                r = list_row(c, e, &row);
                if (r < 0)
                        return r;
                table_row(t);
                table_cell(t, 0, TONE_PLAIN, e->name);
                table_cell(t, 1, row.state.tone, row.state.word);
                if (c->units)
                        table_cellf(t, 2, TONE_PLAIN, "%zu", row.state.n_sessions);
                else
                        table_cell(t, 2, TONE_DIM, NULL);
                isolation_cell(t, row.verdict.plan);
                problem_cell(t, &row.problems);
                table_cell(t, 5, TONE_DIM, e->file);
        }
        return table_print(t, stdout);
}

/* text is freed; NULL is out of memory. */
static int print_sentence(FILE *f, const ReportStyle *style, char *text) {
        _cleanup_free_ char *owned = text;

        return owned ? style_print_wrapped(f, style, 0, 2, owned) : -ENOMEM;
}

/* What the table has no room for. A pipe gets the table alone, so that its lines are all servers. */
static int print_footer(const ListContext *c) {
        bool terminal = c->ctl->style.columns > 0;
        const ReportStyle *style = terminal ? &c->ctl->style : &c->ctl->error_style;
        FILE *f = terminal ? stdout : stderr;

        int r = 0;

        (void) fflush(stdout);
        for (size_t i = 0; i < c->servers->n_items; i++) {
                const ServerEntry *e = c->servers->items + i;

                STRV_FOREACH (file, e->shadowed) {
                        r = print_sentence(f, style, strformat("%s is hidden by %s.", *file, e->file));
                        if (r < 0)
                                return r;
                }
        }
        if (c->problems)
                r = print_sentence(f, style, strdup("\"mcpctl check\" says what the problems are."));
        if (r >= 0 && !c->units && !c->ctl->root)
                r = print_sentence(f, style, ctl_bus_trouble(c->ctl));
        if (r < 0)
                return r;
        return report_problems_text(f, &c->servers->problems, style);
}

static int print_text(ListContext *c) {
        int r;

        r = pager_open(c->ctl);
        if (r < 0)
                return r;
        if (c->servers->n_items == 0)
                fprintf(stderr,
                        "There are no servers; definitions go to %s/NAME.json.\n",
                        c->ctl->paths.server_dirs[0]);
        else {
                r = print_table(c);
                if (r < 0)
                        return r;
        }
        return print_footer(c);
}

int verb_list(Ctl *ctl, char **operands) {
        _cleanup_unit_list_ UnitList units = {};
        ListContext c = { .ctl = ctl };
        sd_bus *bus = ctl_bus(ctl);
        int r;

        r = ctl_servers(ctl, &c.servers);
        if (r != 0)
                return r;
        if (bus) {
                r = units_list(bus, &units);
                if (r < 0)
                        return r;
                c.units = &units;
        }
        return ctl->json ? print_json(&c) : print_text(&c);
}
