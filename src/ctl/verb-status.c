/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A server's units, its sessions and its confinement, in the form of systemctl status. */

#include <fcntl.h>
#include <time.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "ctl/pager.h"
#include "ctl/server-plan.h"
#include "ctl/server-state.h"
#include "manager/exec-status.h"
#include "manager/manager.h"
#include "report/report-plan.h"
#include "report/report-problems.h"

typedef struct StatusContext {
        Ctl *ctl;
        sd_bus *bus;
        const ServerList *servers;
        UnitList units;
} StatusContext;

static int print_key(Ctl *ctl, const char *key, char *value) {
        _cleanup_free_ char *owned = value;

        if (!owned)
                return -ENOMEM;
        printf("%13s: ", key);
        return style_print_wrapped(stdout, &ctl->style, 15, 15, owned);
}

static char *since_text(uint64_t usec) {
        time_t t = (time_t) (usec / USEC_PER_SEC);
        struct tm tm;
        char buffer[64];

        if (usec == 0 || !localtime_r(&t, &tm) ||
            strftime(buffer, sizeof(buffer), "%a %Y-%m-%d %H:%M:%S %Z", &tm) == 0)
                return strdup("");
        return strformat(" since %s", buffer);
}

static char *unit_sentence(const UnitDetails *d) {
        _cleanup_free_ char *since = since_text(d->since_usec);
        bool trouble = d->result && !streq(d->result, "success");
        const char *step;

        if (!since)
                return NULL;
        if (streq_ptr(d->load, "masked"))
                return strdup("masked (systemctl unmask has it back)");
        if (!d->load || !streq(d->load, "loaded"))
                return strdup("not loaded (a daemon-reload makes the unit of a new definition)");
        step = streq_ptr(d->result, "exit-code") ? exec_status_to_string(d->exit_status) : NULL;
        return strformat(
                        "%s (%s)%s%s%s%s%s%s",
                        strempty(d->active),
                        strempty(d->sub),
                        since,
                        trouble ? ", result: " : "",
                        trouble ? d->result : "",
                        step ? " (systemd could not execute it: step " : "",
                        strempty(step),
                        step ? ")" : "");
}

/* The name of a process; its arguments may hold secrets. */
static char *process_name(pid_t pid) {
        _cleanup_free_ char *path = strformat("/proc/%d/comm", (int) pid), *text = NULL;
        size_t size;

        if (!path)
                return NULL;
        if (file_read_at(AT_FDCWD, path, 64, &text, &size) < 0)
                return strdup("?");
        text[strcspn(text, "\n")] = '\0';
        return TAKE_PTR(text);
}

typedef struct SessionInfo {
        UnitDetails details;
        pid_t pid;
        char *process;
} SessionInfo;

static void session_info_done(SessionInfo *s) {
        unit_details_done(&s->details);
        free(s->process);
}
#define _cleanup_session_info_ _cleanup_(session_info_done)

static int session_info(sd_bus *bus, const char *scope, SessionInfo *ret) {
        _cleanup_session_info_ SessionInfo s = {};
        int r;

        r = unit_details(bus, scope, &s.details);
        if (r < 0)
                return r;
        /* It may end while it is looked at. */
        if (unit_first_process(bus, scope, &s.pid) >= 0 && s.pid > 0) {
                s.process = process_name(s.pid);
                if (!s.process)
                        return -ENOMEM;
        }
        *ret = s;
        s = (SessionInfo){};
        return 0;
}

static int print_session(const char *scope, const SessionInfo *s) {
        _cleanup_free_ char *memory =
                        s->details.memory == UINT64_MAX ? NULL : report_format_bytes(s->details.memory);
        _cleanup_free_ char *process = string_escape_control(strempty(s->process));

        if (!process)
                return -ENOMEM;
        printf("%15s%s %s", "", scope, strempty(s->details.active));
        if (s->pid > 0)
                printf(", pid %d (%s)", (int) s->pid, process);
        if (memory)
                printf(", memory %s", memory);
        if (s->details.tasks != UINT64_MAX)
                printf(", %llu tasks", (unsigned long long) s->details.tasks);
        putchar('\n');
        return 0;
}

static void add_amount(JsonOut *out, json_object *o, const char *key, uint64_t value) {
        if (value == UINT64_MAX)
                json_out_string(out, o, key, NULL);
        else
                json_out_integer(out, o, key, (int64_t) value);
}

static void add_session(JsonOut *out, json_object *array, const char *scope, const SessionInfo *s) {
        json_object *o = json_out_object(out, array, NULL);

        json_out_string(out, o, "scope", scope);
        json_out_string(out, o, "active", s->details.active);
        json_out_string(out, o, "cgroup", s->details.cgroup);
        json_out_integer(out, o, "pid", s->pid);
        json_out_string(out, o, "process", s->process);
        add_amount(out, o, "memory", s->details.memory);
        add_amount(out, o, "tasks", s->details.tasks);
}

/* Each session of a server, printed or added to array. */
static int for_each_session(StatusContext *c, const ServerEntry *e, JsonOut *out, json_object *array) {
        for (size_t i = 0; i < c->units.n_items; i++) {
                const char *scope = c->units.items[i].name;
                _cleanup_session_info_ SessionInfo s = {};
                int r;

                if (!scope_name_is_of(scope, e->instance))
                        continue;
                r = session_info(c->bus, scope, &s);
                if (r < 0)
                        return r;
                if (out)
                        add_session(out, array, scope, &s);
                else {
                        r = print_session(scope, &s);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static char *protection_sentence(const Plan *plan) {
        _cleanup_strv_free_ char **missing = NULL;
        _cleanup_free_ char *joined = NULL;
        size_t enforced = 0;

        for (size_t i = 0; i < ELEMENTSOF(plan->protections); i++) {
                const Protection *p = plan->protections + i;

                enforced += p->state == PROTECTION_ENFORCED;
                if (p->state == PROTECTION_MISSING && strv_extend(&missing, protection_to_string(p->id)) < 0)
                        return NULL;
        }
        if (!missing)
                return strformat("a start enforces all %zu that are wanted", enforced);
        joined = strv_join(missing, ", ");
        return joined ? strformat("a start enforces %zu; missing: %s", enforced, joined) : NULL;
}

static int print_plan(StatusContext *c, const ServerEntry *e) {
        _cleanup_verdict_ Verdict v = {};
        Ctl *ctl = c->ctl;
        int r;

        if (!e->definition || e->definition->remote || problem_list_has_errors(&e->problems))
                return 0;
        r = server_plan_of_enabled(ctl, e->definition, &c->servers->global, &v);
        if (r < 0)
                return r;
        if (v.plan) {
                r = print_key(ctl,
                              "Isolation",
                              strformat("%s (isolated: %s, source: %s)",
                                        strempty(v.plan->isolation.mode),
                                        v.plan->isolation.isolated ? "yes" : "no",
                                        isolation_source_to_string(v.plan->isolation.source)));
                if (r >= 0)
                        r = print_key(ctl, "Protections", protection_sentence(v.plan));
                if (r < 0)
                        return r;
        }
        if (v.status != CTL_OK)
                r = print_key(ctl,
                              "Problem",
                              strformat("a start fails; \"mcpctl check %s\" says why", e->name));
        return r;
}

static int print_server(StatusContext *c, const ServerEntry *e, const ServerState *state) {
        _cleanup_unit_details_ UnitDetails service = {}, socket = {};
        _cleanup_free_ char *service_name = unit_service_name(e->instance),
                            *socket_name = unit_socket_name(e->instance);
        Ctl *ctl = c->ctl;
        int r;

        if (!service_name || !socket_name)
                return -ENOMEM;
        r = unit_details(c->bus, service_name, &service);
        if (r < 0)
                return r;
        r = unit_details(c->bus, socket_name, &socket);
        if (r < 0)
                return r;
        printf("%s%s%s %s - %s\n",
               style_on(&ctl->style, state->tone),
               ctl->style.utf8 ? "●" : "*",
               style_off(&ctl->style, state->tone),
               e->name,
               state->word);
        r = print_key(ctl, "Definition", strdup(e->file));
        if (r >= 0)
                r = print_key(ctl, "Socket", unit_sentence(&socket));
        if (r >= 0)
                r = print_key(ctl, "Service", unit_sentence(&service));
        if (r >= 0 && !isempty(service.status_text))
                r = print_key(ctl, "Status", strdup(service.status_text));
        if (r >= 0)
                r = print_plan(c, e);
        if (r >= 0 && e->problems.n_items > 0)
                r = print_key(ctl, "Problems", report_problems_summary(&e->problems));
        if (r >= 0)
                r = print_key(ctl, "Sessions", strformat("%zu", state->n_sessions));
        if (r >= 0)
                r = for_each_session(c, e, NULL, NULL);
        if (r >= 0)
                r = print_key(ctl, "Journal", strformat("mcpctl logs %s -n 20", e->name));
        return r;
}

static int add_unit(StatusContext *c, JsonOut *out, json_object *parent, const char *key, char *name) {
        _cleanup_unit_details_ UnitDetails d = {};
        _cleanup_free_ char *owned = name;
        json_object *o;
        int r;

        if (!owned)
                return -ENOMEM;
        r = unit_details(c->bus, owned, &d);
        if (r < 0)
                return r;
        o = json_out_object(out, parent, key);
        json_out_string(out, o, "unit", owned);
        json_out_string(out, o, "load", d.load);
        json_out_string(out, o, "active", d.active);
        json_out_string(out, o, "sub", d.sub);
        json_out_string(out, o, "result", d.result);
        json_out_integer(out, o, "exit_status", d.exit_status);
        json_out_integer(out, o, "since_usec", (int64_t) d.since_usec);
        json_out_integer(out, o, "main_pid", d.main_pid);
        json_out_string(out, o, "status_text", d.status_text);
        return 0;
}

static int add_plan(StatusContext *c, JsonOut *out, json_object *parent, const ServerEntry *e) {
        _cleanup_verdict_ Verdict v = {};
        json_object *plan;
        int r;

        if (e->definition && !e->definition->remote && !problem_list_has_errors(&e->problems)) {
                r = server_plan_of_enabled(c->ctl, e->definition, &c->servers->global, &v);
                if (r < 0)
                        return r;
        }
        if (!v.plan) {
                json_out_string(out, parent, "plan", NULL);
                return 0;
        }
        r = report_plan_json(v.plan, REPORT_PLANNED, &plan);
        if (r < 0)
                return r;
        json_out_value(out, parent, "plan", plan);
        return 0;
}

static int add_server(StatusContext *c, JsonOut *out, const ServerEntry *e, const ServerState *state) {
        json_object *o = json_out_object(out, out->root, NULL), *problems;
        int r;

        json_out_string(out, o, "name", e->name);
        json_out_string(out, o, "file", e->file);
        json_out_string(out, o, "state", state->word);
        r = add_unit(c, out, o, "socket", unit_socket_name(e->instance));
        if (r >= 0)
                r = add_unit(c, out, o, "service", unit_service_name(e->instance));
        if (r >= 0)
                r = for_each_session(c, e, out, json_out_array(out, o, "sessions"));
        if (r >= 0)
                r = add_plan(c, out, o, e);
        if (r >= 0)
                r = report_problems_json(&e->problems, &problems);
        if (r < 0)
                return r;
        json_out_value(out, o, "problems", problems);
        return 0;
}

static bool is_well(const ServerState *state) {
        return streq(state->word, "running") || streq(state->word, "listening");
}

/* ret_well is set to false where this one is not. */
static int one_server(StatusContext *c, JsonOut *out, const ServerEntry *e, bool *well) {
        ServerState state;
        int r;

        r = server_state(e, &c->units, &state);
        if (r < 0)
                return r;
        if (!is_well(&state))
                *well = false;
        if (!e->instance)
                return 0;
        return c->ctl->json ? add_server(c, out, e, &state) : print_server(c, e, &state);
}

static int all_servers(StatusContext *c, JsonOut *out) {
        bool well, first = true;
        int r = 0;

        for (size_t i = 0; i < c->servers->n_items && r == 0; i++) {
                if (!first && !c->ctl->json)
                        putchar('\n');
                first = false;
                r = one_server(c, out, c->servers->items + i, &well);
        }
        if (first && !c->ctl->json)
                printf("There are no servers; definitions go to %s/NAME.json.\n",
                       c->ctl->paths.server_dirs[0]);
        return r;
}

static int named_servers(StatusContext *c, JsonOut *out, char **names, bool *well) {
        for (char **name = names; *name; name++) {
                const ServerEntry *e;
                int r;

                r = ctl_find_server(c->ctl, *name, &e);
                if (r != 0)
                        return r;
                if (name != names && !c->ctl->json)
                        putchar('\n');
                r = one_server(c, out, e, well);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int run_status(StatusContext *c, char **names) {
        _cleanup_json_out_ JsonOut out;
        bool well = true;
        json_object *root;
        int r;

        json_out_init(&out, /* array= */ true);
        r = pager_open(c->ctl);
        if (r < 0)
                return r;
        r = *names ? named_servers(c, &out, names, &well) : all_servers(c, &out);
        if (r != 0)
                return r;
        if (c->ctl->json) {
                r = json_out_finish(&out, &root);
                if (r >= 0)
                        r = ctl_print_json(root);
                if (r < 0)
                        return r;
        }
        return well ? CTL_OK : CTL_FAILED;
}

int verb_status(Ctl *ctl, char **operands) {
        StatusContext c = { .ctl = ctl };
        int r;

        r = ctl_servers(ctl, &c.servers);
        if (r != 0)
                return r;
        r = ctl_require_bus(ctl, &c.bus);
        if (r != 0)
                return r;
        r = units_list(c.bus, &c.units);
        if (r < 0)
                return r;
        r = run_status(&c, operands);
        unit_list_done(&c.units);
        return r;
}
