/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every server that there is, one line each: also the masked, the wrong and the shadowed. */

#include "basic/string-util.h"
#include "ctl/pager.h"
#include "ctl/server-state.h"
#include "report/report-plan.h"
#include "report/report-problems.h"
#include "report/table.h"
#include "sandbox/host-probe.h"

/* What a line is made of. units is NULL where the manager cannot be reached. */
typedef struct ListContext {
        Ctl *ctl;
        const ServerList *servers;
        const UnitList *units;
        bool landlock;
} ListContext;

static void decide(const ListContext *c, const ServerEntry *e, Isolation *ret) {
        isolation_decide(e->definition, &c->servers->global, c->landlock, ret);
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

static int add_server(const ListContext *c, JsonOut *out, json_object *array, const ServerEntry *e) {
        json_object *o = json_out_object(out, array, NULL), *problems;
        ServerState state;
        Isolation isolation;
        int r;

        r = server_state(e, c->units, &state);
        if (r < 0)
                return r;
        r = report_problems_json(&e->problems, &problems);
        if (r < 0)
                return r;
        json_out_string(out, o, "name", e->name);
        json_out_string(out, o, "instance", e->instance);
        json_out_string(out, o, "file", e->file);
        json_out_strv(out, o, "shadowed", e->shadowed);
        json_out_string(out, o, "state", state.word);
        json_out_boolean(out, o, "masked", e->masked);
        json_out_boolean(out, o, "enabled", e->definition && e->definition->enabled);
        json_out_boolean(out, o, "quarantined", e->definition && e->definition->quarantined);
        json_out_boolean(out, o, "remote", e->definition && e->definition->remote);
        add_unit(out, o, "socket", state.socket);
        add_unit(out, o, "service", state.service);
        if (c->units)
                json_out_integer(out, o, "sessions", (int64_t) state.n_sessions);
        else
                json_out_string(out, o, "sessions", NULL);
        if (e->definition && !problem_list_has_errors(&e->problems)) {
                decide(c, e, &isolation);
                json_out_value(out, o, "isolation", report_isolation_json(&isolation));
        } else
                json_out_string(out, o, "isolation", NULL);
        json_out_value(out, o, "problems", problems);
        return 0;
}

static int print_json(const ListContext *c) {
        _cleanup_json_out_ JsonOut out;
        json_object *array, *root;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "scope", runtime_scope_to_string(c->ctl->scope));
        json_out_boolean(&out, out.root, "manager_reached", c->units);
        array = json_out_array(&out, out.root, "servers");
        for (size_t i = 0; i < c->servers->n_items; i++) {
                r = add_server(c, &out, array, c->servers->items + i);
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

static void isolation_cell(const ListContext *c, Table *t, const ServerEntry *e) {
        Isolation isolation;

        if (!e->definition || e->definition->remote || problem_list_has_errors(&e->problems)) {
                table_cell(t, 3, TONE_DIM, NULL);
                return;
        }
        decide(c, e, &isolation);
        table_cellf(t,
                    3,
                    isolation.isolated ? TONE_PLAIN : TONE_WARN,
                    "%s%s",
                    isolation.mode,
                    isolation.isolated ? "" : " (not isolated)");
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

static int print_table(const ListContext *c) {
        static const TableColumn columns[] = {
                { "NAME" },
                { "STATE" },
                { "SESSIONS", TABLE_RIGHT },
                { "ISOLATION" },
                { "PROBLEMS" },
                { "FILE", TABLE_WRAP },
                {},
        };
        _cleanup_table_ Table *t = NULL;
        int r;

        r = table_new(columns, &c->ctl->style, &t);
        if (r < 0)
                return r;
        for (size_t i = 0; i < c->servers->n_items; i++) {
                const ServerEntry *e = c->servers->items + i;
                ServerState state;

                r = server_state(e, c->units, &state);
                if (r < 0)
                        return r;
                table_row(t);
                table_cell(t, 0, TONE_PLAIN, e->name);
                table_cell(t, 1, state.tone, state.word);
                if (c->units)
                        table_cellf(t, 2, TONE_PLAIN, "%zu", state.n_sessions);
                else
                        table_cell(t, 2, TONE_DIM, NULL);
                isolation_cell(c, t, e);
                problem_cell(t, &e->problems);
                table_cell(t, 5, TONE_DIM, e->file);
        }
        return table_print(t, stdout);
}

/* What the table has no room for. A pipe gets the table alone, so that its lines are all servers. */
static int print_footer(const ListContext *c) {
        bool terminal = c->ctl->style.columns > 0;
        const ReportStyle *style = terminal ? &c->ctl->style : &c->ctl->error_style;
        FILE *f = terminal ? stdout : stderr;
        size_t wrong = 0;

        for (size_t i = 0; i < c->servers->n_items; i++) {
                const ServerEntry *e = c->servers->items + i;

                wrong += e->problems.n_items > 0;
                STRV_FOREACH (file, e->shadowed)
                        fprintf(f, "%s is hidden by %s.\n", *file, e->file);
        }
        if (wrong > 0)
                fprintf(f, "\"mcpctl check\" says what the problems are.\n");
        if (!c->units && !c->ctl->root) {
                _cleanup_free_ char *trouble = ctl_bus_trouble(c->ctl);

                if (!trouble)
                        return -ENOMEM;
                fprintf(f, "%s\n", trouble);
        }
        return report_problems_text(f, &c->servers->problems, style);
}

static int print_text(const ListContext *c) {
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
        LandlockFacts landlock = {};
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
        r = landlock_probe(-1, &landlock);
        if (r < 0)
                return r;
        c.landlock = landlock.abi > 0;
        return ctl->json ? print_json(&c) : print_text(&c);
}
