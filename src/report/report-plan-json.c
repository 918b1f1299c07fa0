/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plan as JSON. The shape is documented in mcpctl(1): members are only ever added. */

#include "basic/string-util.h"
#include "report/access.h"
#include "report/report-plan.h"

static const char *state_word(ProtectionState state, ReportTense tense) {
        switch (state) {
        case PROTECTION_ENFORCED:
                return tense == REPORT_RUNNING ? "enforced" : "planned";
        case PROTECTION_MISSING:
                return "missing";
        case PROTECTION_NOT_WANTED:
                return "not-wanted";
        }
        return "unknown";
}

static void add_isolation(JsonOut *out, json_object *o, const Isolation *isolation) {
        json_out_string(out, o, "mode", isolation->mode);
        json_out_boolean(out, o, "isolated", isolation->isolated);
        json_out_string(out, o, "global_mode", isolation->global_mode);
        json_out_boolean(out, o, "inherited", isolation->inherited);
        json_out_string(out, o, "source", isolation_source_to_string(isolation->source));
}

json_object *report_isolation_json(const Isolation *isolation) {
        _cleanup_json_out_ JsonOut out;
        json_object *o;

        json_out_init(&out, /* array= */ false);
        add_isolation(&out, out.root, isolation);
        return json_out_finish(&out, &o) < 0 ? NULL : o;
}

static void add_command(JsonOut *out, json_object *root, const Plan *plan) {
        json_object *names;
        size_t n = strv_length(plan->argv);

        json_out_string(out, root, "command", plan->command);
        json_out_integer(out, root, "arguments", n > 0 ? (int64_t) n - 1 : 0);
        json_out_string(out, root, "working_directory", plan->working_dir);
        names = json_out_array(out, root, "environment");
        STRV_FOREACH (e, plan->env) {
                _cleanup_free_ char *name = strndup(*e, strcspn(*e, "="));

                if (!name)
                        out->failed = true;
                json_out_string(out, names, NULL, name);
        }
}

static void add_rules(JsonOut *out, json_object *root, const Plan *plan) {
        json_object *files = json_out_object(out, root, "files"), *rules;

        json_out_boolean(out, files, "confined", plan->confined);
        json_out_boolean(out, files, "reads_confined", plan->confined && plan->reads_confined);
        rules = json_out_array(out, files, "rules");
        for (size_t i = 0; i < plan->n_rules; i++) {
                const PathRule *rule = plan->rules + i;
                json_object *o = json_out_object(out, rules, NULL), *access;

                json_out_string(out, o, "path", rule->path);
                json_out_string(out, o, "resolved", rule->resolved);
                access = json_out_array(out, o, "access");
                for (const AccessWord *w = access_words; w->word; w++)
                        if (rule->access & w->bit)
                                json_out_string(out, access, NULL, w->word);
                json_out_boolean(out, o, "optional", rule->flags & RULE_OPTIONAL);
                json_out_boolean(out, o, "created", rule->flags & RULE_CREATE);
                json_out_string(out, o, "but", rule->flags & RULE_BUT_DEVICES ? PLAN_DEVICES : NULL);
                json_out_string(out, o, "source", rule->source);
                json_out_string(out, o, "note", rule->note);
        }
}

static void add_ports(JsonOut *out, json_object *parent, const char *key, const PortList *ports) {
        json_object *a = json_out_array(out, parent, key);

        for (size_t i = 0; i < ports->n_ports; i++)
                json_out_integer(out, a, NULL, ports->ports[i]);
}

static void add_network(JsonOut *out, json_object *root, const Plan *plan) {
        json_object *o = json_out_object(out, root, "network");

        json_out_string(out, o, "mode", report_network_mode(plan->network));
        add_ports(out, o, "connect_ports", &plan->connect_ports);
        add_ports(out, o, "bind_ports", &plan->bind_ports);
        json_out_boolean(out, o, "loopback_only", plan->loopback_only);
        json_out_string(out, root, "unix_sockets", report_unix_wish(plan->unix_sockets));
}

static void add_identity(JsonOut *out, json_object *root, const Plan *plan) {
        json_object *o;

        if (plan->uid == (uid_t) -1) {
                json_out_string(out, root, "identity", NULL);
                return;
        }
        o = json_out_object(out, root, "identity");
        json_out_integer(out, o, "uid", plan->uid);
        json_out_integer(out, o, "gid", plan->gid);
}

static void add_limits(JsonOut *out, json_object *root, const Plan *plan) {
        json_object *o = json_out_object(out, root, "rlimits");

        for (size_t i = 0; i < plan->n_rlimits; i++)
                json_out_limit(out, o, plan->rlimits[i].name, plan->rlimits[i].value);

        o = json_out_object(out, root, "limits");
        json_out_limit(out, o, "memory_max", plan->memory_max);
        json_out_limit(out, o, "swap_max", plan->swap_max);
        json_out_limit(out, o, "tasks_max", plan->tasks_max);
        json_out_limit(out, o, "cpu_quota_permille", plan->cpu_quota_permille);
        json_out_limit(out, o, "runtime_max_usec", plan->runtime_max_usec);
        json_out_boolean(out, o, "oom_kills_all", plan->oom_kill_all);

        o = json_out_object(out, root, "stop");
        json_out_limit(out, o, "eof_grace_usec", plan->eof_grace_usec);
        json_out_limit(out, o, "kill_after_usec", plan->kill_after_usec);
}

static void add_protections(JsonOut *out, json_object *root, const Plan *plan, ReportTense tense) {
        json_object *rows = json_out_array(out, root, "protections"), *missing;

        for (size_t i = 0; i < ELEMENTSOF(plan->protections); i++) {
                const Protection *p = plan->protections + i;
                json_object *o = json_out_object(out, rows, NULL);

                json_out_string(out, o, "id", protection_to_string(p->id));
                json_out_string(out, o, "state", state_word(p->state, tense));
                json_out_string(out, o, "wanted_by", p->wanted_by);
                json_out_string(out, o, "mechanism", p->mechanism);
                json_out_string(out, o, "needs", p->needs);
                /* What nobody wants does not hold. */
                json_out_string(out,
                                o,
                                "consequence",
                                p->state == PROTECTION_NOT_WANTED ? NULL : p->consequence);
        }
        missing = json_out_array(out, root, "missing");
        for (size_t i = 0; i < ELEMENTSOF(plan->protections); i++)
                if (plan->protections[i].state == PROTECTION_MISSING)
                        json_out_string(out, missing, NULL, protection_to_string(plan->protections[i].id));
}

int report_plan_json(const Plan *plan, ReportTense tense, json_object **ret) {
        _cleanup_json_out_ JsonOut out;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "name", plan->name);
        json_out_string(&out, out.root, "instance", plan->instance);
        json_out_string(&out, out.root, "scope", runtime_scope_to_string(plan->scope));
        json_out_boolean(&out, out.root, "running", tense == REPORT_RUNNING);
        add_isolation(&out, json_out_object(&out, out.root, "isolation"), &plan->isolation);
        json_out_string(&out, out.root, "enforcement", plan->strict ? "strict" : "best-effort");
        add_command(&out, out.root, plan);
        add_rules(&out, out.root, plan);
        add_network(&out, out.root, plan);
        json_out_boolean(&out, out.root, "no_new_privileges", plan->no_new_privs);
        json_out_boolean(&out, out.root, "syscall_floor", plan->syscall_floor);
        add_identity(&out, out.root, plan);
        add_limits(&out, out.root, plan);
        add_protections(&out, out.root, plan, tense);
        json_out_strv(&out, out.root, "notes", plan->notes);
        return json_out_finish(&out, ret);
}
