/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plan as text: a head of "Key: value" lines as systemctl prints them, then the rules, then the protections, and
 * at the end in full sentences what will not hold. */

#include <inttypes.h>

#include "basic/string-util.h"
#include "report/access.h"
#include "report/report-plan.h"
#include "report/table.h"

#define KEY_WIDTH 14U

const AccessWord access_words[] = {
        { ACCESS_READ, 'r', "read" },
        { ACCESS_WRITE, 'w', "write" },
        { ACCESS_EXECUTE, 'x', "execute" },
        { ACCESS_IOCTL, 'i', "ioctl" },
        { ACCESS_UNIX, 'u', "unix" },
        { ACCESS_MAKE_DEVICE, 'm', "make-device" },
        {},
};

void access_letters(unsigned access, char buffer[static ACCESS_LETTERS_MAX]) {
        char *p = buffer;

        for (const AccessWord *w = access_words; w->word; w++)
                if (access & w->bit)
                        *p++ = w->letter;
        *p = '\0';
}

/* One "Key: value" line; value is freed, NULL is out of memory. */
static int print_key(FILE *f, const ReportStyle *style, const char *key, char *value) {
        _cleanup_free_ char *owned = value;

        if (!owned)
                return -ENOMEM;
        fprintf(f, "%*s: ", (int) KEY_WIDTH, key);
        return style_print_wrapped(f, style, KEY_WIDTH + 2, KEY_WIDTH + 2, owned);
}

static char *isolation_sentence(const Isolation *i) {
        return strformat(
                        "%s (isolated: %s, source: %s, global mode: %s, inherited: %s)",
                        strempty(i->mode),
                        i->isolated ? "yes" : "no",
                        isolation_source_to_string(i->source),
                        isempty(i->global_mode) ? "-" : i->global_mode,
                        i->inherited ? "yes" : "no");
}

static char *command_sentence(const Plan *plan) {
        size_t n = strv_length(plan->argv);
        size_t arguments = n > 0 ? n - 1 : 0;

        if (arguments == 0)
                return strdup(strempty(plan->command));
        return strformat(
                        "%s (and %zu argument%s, not shown: they may hold secrets)",
                        strempty(plan->command),
                        arguments,
                        arguments == 1 ? "" : "s");
}

static char *environment_names(const Plan *plan) {
        _cleanup_strv_free_ char **names = NULL;

        STRV_FOREACH (e, plan->env)
                if (strv_consume(&names, strndup(*e, strcspn(*e, "="))) < 0)
                        return NULL;
        return names ? strv_join(names, " ") : strdup("empty");
}

/* What is wished for, where nothing enforces it. */
static const char *unenforced(const Plan *plan, ProtectionId id) {
        return plan->protections[id].state == PROTECTION_MISSING ? " (not enforced)" : "";
}

static char *port_words(const char *verb, const PortList *ports) {
        _cleanup_strv_free_ char **words = NULL;
        _cleanup_free_ char *joined = NULL;

        for (size_t i = 0; i < ports->n_ports; i++)
                if (strv_extendf(&words, "%u", ports->ports[i]) < 0)
                        return NULL;
        joined = words ? strv_join(words, " ") : strdup("none");
        return joined ? strformat("%s: %s", verb, joined) : NULL;
}

static char *network_sentence(const Plan *plan) {
        _cleanup_free_ char *connect_to = NULL, *bind_to = NULL;
        const char *unless = unenforced(plan, PROTECTION_NETWORK);

        if (plan->network != NETWORK_MODE_PORTS)
                return strformat("%s%s", report_network_mode(plan->network), unless);
        connect_to = port_words("connect", &plan->connect_ports);
        bind_to = port_words("bind", &plan->bind_ports);
        if (!connect_to || !bind_to)
                return NULL;
        return strformat(
                        "only TCP%s ports (%s%s; %s%s)%s",
                        unless,
                        connect_to,
                        unenforced(plan, PROTECTION_TCP_CONNECT),
                        bind_to,
                        unenforced(plan, PROTECTION_TCP_BIND),
                        plan->loopback_only ? ", loopback only" : "");
}

static char *unix_sentence(const Plan *plan) {
        return strformat(
                        "%s%s",
                        report_unix_wish(plan->unix_sockets),
                        unenforced(plan, PROTECTION_UNIX_PATH));
}

static int append_limit(char ***words, const char *name, char *value, const char *unless) {
        _cleanup_free_ char *owned = value;

        return owned ? strv_extendf(words, "%s %s%s", name, owned, unless) : -ENOMEM;
}

static char *number_word(uint64_t n) {
        return n == LIMIT_INFINITY ? strdup("infinity") : strformat("%" PRIu64, n);
}

static char *limits_sentence(const Plan *plan) {
        _cleanup_strv_free_ char **words = NULL;
        const char *no_memory = unenforced(plan, PROTECTION_MEMORY);
        int r = 0;

        if (plan->memory_max != LIMIT_UNSET)
                r = append_limit(&words, "memory", report_format_bytes(plan->memory_max), no_memory);
        if (r >= 0 && plan->swap_max != LIMIT_UNSET)
                r = append_limit(&words, "swap", report_format_bytes(plan->swap_max), no_memory);
        if (r >= 0 && plan->tasks_max != LIMIT_UNSET)
                r =
                                append_limit(&words,
                                             "tasks",
                                             number_word(plan->tasks_max),
                                             unenforced(plan, PROTECTION_TASKS));
        if (r >= 0 && plan->cpu_quota_permille == LIMIT_INFINITY)
                r = strv_extend(&words, "cpu infinity");
        else if (r >= 0 && plan->cpu_quota_permille != LIMIT_UNSET)
                r =
                                append_limit(&words,
                                             "cpu",
                                             strformat("%" PRIu64 "%%", plan->cpu_quota_permille / 10),
                                             unenforced(plan, PROTECTION_CPU));
        if (r >= 0 && plan->runtime_max_usec != LIMIT_UNSET)
                r = append_limit(&words, "runtime", report_format_usec(plan->runtime_max_usec), "");
        if (r < 0)
                return NULL;
        return words ? strv_join(words, ", ") : strdup("none");
}

static char *rlimits_sentence(const Plan *plan) {
        _cleanup_strv_free_ char **words = NULL;

        for (size_t i = 0; i < plan->n_rlimits; i++)
                if (append_limit(&words, plan->rlimits[i].name, number_word(plan->rlimits[i].value), "") < 0)
                        return NULL;
        return words ? strv_join(words, ", ") : strdup("none");
}

static char *stop_sentence(const Plan *plan) {
        _cleanup_free_ char *grace = report_format_usec(plan->eof_grace_usec);
        _cleanup_free_ char *kill_after = report_format_usec(plan->kill_after_usec);

        if (!grace || !kill_after)
                return NULL;
        return strformat("end of input, after %s SIGTERM, after %s more SIGKILL", grace, kill_after);
}

static char *identity_sentence(const Plan *plan) {
        if (plan->uid == (uid_t) -1)
                return strdup(plan->scope == RUNTIME_SCOPE_SYSTEM ? "its own, which the unit allocates"
                                                                  : "the one whose manager starts it");
        return strformat("uid %u, gid %u", plan->uid, plan->gid);
}

static int print_head(FILE *f, const Plan *plan, const ReportStyle *style) {
        const struct {
                const char *key;
                char *(*value)(const Plan *plan);
        } lines[] = {
                { "Command", command_sentence }, { "Environment", environment_names },
                { "Network", network_sentence }, { "UNIX sockets", unix_sentence },
                { "User", identity_sentence },   { "Limits", limits_sentence },
                { "Rlimits", rlimits_sentence }, { "Stop", stop_sentence },
        };
        int r;

        r = print_key(f, style, "Server", strdup(strempty(plan->name)));
        if (r < 0)
                return r;
        r = print_key(f, style, "Isolation", isolation_sentence(&plan->isolation));
        if (r < 0)
                return r;
        r = print_key(f, style, "Enforcement", strdup(plan->strict ? "strict" : "best-effort"));
        if (r < 0)
                return r;
        r = print_key(f, style, "Directory", strdup(isempty(plan->working_dir) ? "-" : plan->working_dir));
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                r = print_key(f, style, lines[i].key, lines[i].value(plan));
                if (r < 0)
                        return r;
        }
        return 0;
}

static void print_title(FILE *f, const ReportStyle *style, const char *title) {
        fprintf(f, "\n%s%s%s\n", style_on(style, TONE_BOLD), title, style_off(style, TONE_BOLD));
}

static const char *files_title(const Plan *plan, ReportTense tense) {
        static const char *const all[] = {
                [REPORT_PLANNED] = "Files: only what is listed will be readable, writable or executable",
                [REPORT_RUNNING] = "Files: only what is listed is readable, writable or executable",
                [REPORT_REFUSED] = "Files: only what is listed would be readable, writable or executable",
        };
        static const char *const writes[] = {
                [REPORT_PLANNED] = "Files: reads will not be confined but for devices, writes only where it "
                                   "says w",
                [REPORT_RUNNING] =
                                "Files: reads are not confined but for devices, writes only where it says w",
                [REPORT_REFUSED] = "Files: reads would not be confined but for devices, writes only where "
                                   "it says w",
        };

        if (!plan->confined)
                return "Files: not confined; these rules will not be applied";
        return plan->reads_confined ? all[tense] : writes[tense];
}

static int print_rules(FILE *f, const Plan *plan, ReportTense tense, const ReportStyle *style) {
        static const TableColumn columns[] = {
                { "ACCESS" },
                { "PATH", TABLE_BREAK },
                { "SOURCE", TABLE_WRAP },
                {},
        };
        _cleanup_table_ Table *t = NULL;
        int r;

        if (plan->n_rules == 0 && !plan->confined)
                return 0;
        print_title(f, style, files_title(plan, tense));
        r = table_new(columns, style, &t);
        if (r < 0)
                return r;
        for (size_t i = 0; i < plan->n_rules; i++) {
                const PathRule *rule = plan->rules + i;
                char letters[ACCESS_LETTERS_MAX];
                Tone tone = rule->note ? TONE_DIM : TONE_PLAIN;

                access_letters(rule->access, letters);
                table_row(t);
                table_cell(t, 0, tone, letters);
                if (rule->flags & RULE_BUT_DEVICES)
                        table_cellf(t, 1, tone, "%s (but %s)", rule->path, PLAN_DEVICES);
                else if (rule->resolved && !streq(rule->resolved, rule->path))
                        table_cellf(t, 1, tone, "%s -> %s", rule->path, rule->resolved);
                else
                        table_cell(t, 1, tone, rule->path);
                if (rule->note)
                        table_cellf(t, 2, tone, "%s (%s)", strempty(rule->source), rule->note);
                else
                        table_cell(t, 2, tone, rule->source);
        }
        r = table_print(t, f);
        if (r < 0)
                return r;
        fputs("(r read, w write, x execute, i device ioctl, u UNIX socket, m make device)\n", f);
        return 0;
}

static const Tone state_tones[] = {
        [PROTECTION_NOT_WANTED] = TONE_DIM,
        [PROTECTION_ENFORCED] = TONE_GOOD,
        [PROTECTION_MISSING] = TONE_BAD,
};

static int print_protections(FILE *f, const Plan *plan, ReportTense tense, const ReportStyle *style) {
        static const TableColumn columns[] = {
                { "PROTECTION" }, { "STATE" }, { "BY", TABLE_WRAP }, { "WANTED BY", TABLE_WRAP }, {},
        };
        _cleanup_table_ Table *t = NULL;
        int r;

        print_title(f, style, "Protections");
        r = table_new(columns, style, &t);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(plan->protections); i++) {
                const Protection *p = plan->protections + i;

                table_row(t);
                table_cell(t, 0, TONE_PLAIN, protection_to_string(p->id));
                table_cell(t, 1, state_tones[p->state], report_protection_state(p->state, tense));
                table_cell(t, 2, TONE_PLAIN, p->mechanism);
                table_cell(t, 3, TONE_PLAIN, p->wanted_by);
        }
        return table_print(t, f);
}

/* What each row means, in a sentence; the missing ones first and with what they need. */
static int print_consequences(
                FILE *f,
                const Plan *plan,
                ProtectionState state,
                const char *title,
                const ReportStyle *style) {
        bool any = false;

        for (size_t i = 0; i < ELEMENTSOF(plan->protections); i++) {
                const Protection *p = plan->protections + i;
                _cleanup_free_ char *text = NULL;
                const char *id = protection_to_string(p->id);
                int r;

                if (p->state != state || (isempty(p->consequence) && isempty(p->needs)))
                        continue;
                if (!any)
                        print_title(f, style, title);
                any = true;
                text =
                                strformat("%s%s%s%s",
                                          strempty(p->consequence),
                                          isempty(p->needs) ? "" : " It needs ",
                                          strempty(p->needs),
                                          isempty(p->needs) || endswith(p->needs, ".") ? "" : ".");
                if (!text)
                        return -ENOMEM;
                fprintf(f,
                        "  %s%s%s: ",
                        style_on(style, state_tones[state]),
                        id,
                        style_off(style, state_tones[state]));
                r = style_print_wrapped(f, style, strlen(id) + 4, 4, text);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_notes(FILE *f, const Plan *plan, const ReportStyle *style) {
        int r;

        if (!plan->notes || !*plan->notes)
                return 0;
        print_title(f, style, "Notes");
        STRV_FOREACH (note, plan->notes) {
                fputs("  ", f);
                r = style_print_wrapped(f, style, 2, 4, *note);
                if (r < 0)
                        return r;
        }
        return 0;
}

int report_plan_text(FILE *f, const Plan *plan, ReportTense tense, const ReportStyle *style) {
        static const char *const held[] = {
                [REPORT_PLANNED] = "What will hold",
                [REPORT_RUNNING] = "What holds",
                [REPORT_REFUSED] = "What would hold",
        };
        int r;

        if (tense == REPORT_REFUSED) {
                r = print_key(f,
                              style,
                              "Start",
                              strdup("it will not: this is what would be, were nothing wrong"));
                if (r < 0)
                        return r;
        }
        r = print_head(f, plan, style);
        if (r < 0)
                return r;
        r = print_rules(f, plan, tense, style);
        if (r < 0)
                return r;
        r = print_protections(f, plan, tense, style);
        if (r < 0)
                return r;
        r = print_consequences(f, plan, PROTECTION_MISSING, "Missing", style);
        if (r < 0)
                return r;
        r = print_consequences(f, plan, PROTECTION_ENFORCED, held[tense], style);
        if (r < 0)
                return r;
        return print_notes(f, plan, style);
}
