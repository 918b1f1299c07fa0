/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Why something is allowed or denied: by the plan where it is asked for, by the kernel's own record where it happened. */

#include <time.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/audit-state.h"
#include "ctl/denials.h"
#include "ctl/pager.h"
#include "ctl/server-plan.h"
#include "report/json-out.h"
#include "report/table.h"
#include "sandbox/host-probe.h"

#define DENIALS_SHOWN 20U

static const struct {
        const char *word, *json;
        Tone tone;
        CtlExit status;
} answer_table[] = {
        [WHY_ALLOWED] = { "Allowed", "allowed", TONE_GOOD, CTL_OK },
        [WHY_DENIED] = { "Denied", "denied", TONE_BAD, CTL_FAILED },
        [WHY_NOT_ENFORCED] = { "Not prevented", "not-enforced", TONE_WARN, CTL_OK },
};

static char *where_sentence(const Why *w, const Definition *d) {
        const char *what = w->replace ? "To allow it, replace" : "To allow it, add to";
        const char *place = isempty(w->pointer) ? "the top" : w->pointer;

        if (w->in_manifest)
                return strformat("%s %s of its manifest (isolation.manifest in %s):", what, place, d->file);
        return strformat(
                        "%s %s of %s%s%s",
                        what,
                        place,
                        d->dialect == DIALECT_OWN ? "" : "its entry in ",
                        d->file,
                        w->replace ? " by:" : ":");
}

static int print_answer(Ctl *ctl, const Definition *d, const Why *w) {
        const ReportStyle *s = &ctl->style;
        Tone tone = answer_table[w->answer].tone;
        _cleanup_free_ char *where = NULL, *line = NULL;
        int r;

        printf("%s%s.%s ", style_on(s, tone), answer_table[w->answer].word, style_off(s, tone));
        r = style_print_wrapped(
                        stdout, s, (unsigned) strlen(answer_table[w->answer].word) + 2, 0, w->reason);
        if (r >= 0 && w->refused)
                r = style_print_wrapped(stdout, s, 0, 0, w->refused);
        if (r < 0 || !w->line)
                return r;
        where = where_sentence(w, d);
        line = string_escape_control(w->line);
        if (!where || !line)
                return -ENOMEM;
        r = style_print_wrapped(stdout, s, 0, 0, where);
        /* One line, however long: it will be copied. */
        printf("    %s\n", line);
        return r < 0 || !w->note ? r : style_print_wrapped(stdout, s, 0, 0, w->note);
}

static int print_answer_json(const Definition *d, const Why *w) {
        _cleanup_json_out_ JsonOut out;
        json_object *root, *o;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "server", d->name);
        json_out_string(&out, out.root, "answer", answer_table[w->answer].json);
        json_out_string(&out, out.root, "reason", w->reason);
        json_out_string(&out, out.root, "rule", w->rule ? w->rule->path : NULL);
        json_out_string(&out, out.root, "source", w->rule ? w->rule->source : NULL);
        json_out_string(&out, out.root, "refused", w->refused);
        if (w->line) {
                o = json_out_object(&out, out.root, "to_allow");
                json_out_string(&out, o, "file", d->file);
                json_out_boolean(&out, o, "manifest", w->in_manifest);
                json_out_string(&out, o, "pointer", w->pointer);
                json_out_boolean(&out, o, "replace", w->replace);
                json_out_string(&out, o, "line", w->line);
                json_out_string(&out, o, "note", w->note);
        } else
                json_out_string(&out, out.root, "to_allow", NULL);
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

/* HOST:PORT, [ADDRESS]:PORT. */
static int parse_connect(Ctl *ctl, const char *text, char **ret_host, uint16_t *ret_port) {
        const char *colon = strrchr(text, ':');
        unsigned long port = colon && strspn(colon + 1, "0123456789") == strlen(colon + 1)
                                             ? strtoul(colon + 1, NULL, 10)
                                             : 0;

        if (!colon || colon == text || port == 0 || port > UINT16_MAX)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                "Write HOST:PORT.",
                                "--connect=%s names no host and port.",
                                text);
        *ret_host = strndup(text, (size_t) (colon - text));
        *ret_port = (uint16_t) port;
        return *ret_host ? 0 : -ENOMEM;
}

/* "~/" as in a definition, where a shell has left it: it was in quotes. */
static int absolute_path(const char *path, char **ret) {
        const char *home = getenv("HOME"), *rest = isempty(home) ? NULL : startswith(path, "~/");
        _cleanup_free_ char *base = NULL, *joined = NULL;

        base = rest ? strdup(home) : path_is_absolute(path) ? strdup("/") : get_current_dir_name();
        joined = base ? path_join(base, rest ?: path) : NULL;
        *ret = joined ? path_simplify(joined) : NULL;
        return *ret ? 0 : -ENOMEM;
}

static int make_question(Ctl *ctl, WhyQuestion *q, char **owned) {
        static const struct {
                const char *word;
                unsigned access;
        } table[] = { { "read", ACCESS_READ }, { "write", ACCESS_WRITE }, { "execute", ACCESS_EXECUTE } };
        const char *path = ctl->path ?: ctl->socket;
        int r;

        if (!!ctl->path + !!ctl->socket + !!ctl->connect != 1)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                NULL,
                                "Ask one thing: --path, --connect or --socket.");
        if (ctl->connect) {
                q->kind = WHY_CONNECT;
                r = parse_connect(ctl, ctl->connect, owned, &q->port);
                q->host = *owned;
                return r;
        }
        r = absolute_path(path, owned);
        if (r < 0)
                return r;
        q->kind = ctl->path ? WHY_PATH : WHY_SOCKET;
        q->path = *owned;
        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (streq(ctl->access ?: "read", table[i].word))
                        q->access = table[i].access;
        return q->access != 0 ? 0
                              : ctl_fail(ctl,
                                         CTL_DEFINITION,
                                         "MCP-X-USAGE",
                                         "Write read, write or execute.",
                                         "There is no access \"%s\".",
                                         ctl->access);
}

static int answer_question(Ctl *ctl, const char *name) {
        _cleanup_free_ char *owned = NULL;
        _cleanup_verdict_ Verdict v = {};
        _cleanup_why_ Why w = {};
        WhyQuestion q = {};
        const ServerList *list;
        const ServerEntry *e;
        int r;

        r = make_question(ctl, &q, &owned);
        if (r == 0)
                r = ctl_find_usable_server(ctl, name, &e);
        if (r == 0)
                r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        if (!problem_list_has_errors(&e->problems)) {
                r = server_why(ctl, e->definition, &list->global, &q, &v, &w);
                if (r < 0)
                        return r;
        }
        if (!v.plan)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-NO-PLAN",
                                "\"mcpctl check\" says what to correct first.",
                                "The definition of \"%s\" is wrong, so there is no plan.",
                                e->name);
        r = ctl->json ? print_answer_json(e->definition, &w) : print_answer(ctl, e->definition, &w);
        return r < 0 ? r : (int) answer_table[w.answer].status;
}

static char *time_text(uint64_t usec) {
        time_t t = (time_t) (usec / USEC_PER_SEC);
        struct tm tm;
        char buffer[32];

        if (!localtime_r(&t, &tm) || strftime(buffer, sizeof(buffer), "%b %d %H:%M:%S", &tm) == 0)
                return strdup("-");
        return strdup(buffer);
}

static char *denial_object(const AuditLine *l) {
        if (l->path)
                return strdup(l->path);
        if (l->address && l->port > 0)
                return strformat("%s port %u", l->address, l->port);
        if (l->port > 0)
                return strformat("port %u", l->port);
        return strdup(l->process ?: "-");
}

static size_t first_shown(const Ctl *ctl, const Denials *d) {
        unsigned long n = ctl->lines && !streq(ctl->lines, "all") ? strtoul(ctl->lines, NULL, 10)
                                                                  : DENIALS_SHOWN;

        return (ctl->lines && streq(ctl->lines, "all")) || d->n_items <= n ? 0 : d->n_items - n;
}

static int print_denials(Ctl *ctl, const Denials *d) {
        static const TableColumn columns[] = {
                { "TIME", 0 }, { "SERVER", 0 }, { "DENIED", 0 }, { "WHAT", TABLE_BREAK }, {},
        };
        _cleanup_table_ Table *t = NULL;
        int r;

        r = table_new(columns, &ctl->style, &t);
        for (size_t i = first_shown(ctl, d); i < d->n_items && r >= 0; i++) {
                const Denial *x = d->items + i;
                _cleanup_free_ char *when = time_text(x->time_usec), *what = denial_object(&x->line),
                                    *blockers = strv_join(x->line.blockers, ",");

                if (!when || !what || !blockers)
                        return -ENOMEM;
                table_row(t);
                table_cell(t, 0, TONE_DIM, when);
                table_cell(t, 1, TONE_BOLD, x->server);
                table_cell(t, 2, TONE_PLAIN, blockers);
                table_cell(t, 3, TONE_PLAIN, what);
        }
        if (r >= 0)
                r = pager_open(ctl);
        if (r >= 0)
                r = table_print(t, stdout);
        return r < 0 ? r
                     : style_print_wrapped(
                                       stdout,
                                       &ctl->style,
                                       0,
                                       0,
                                       "\"mcpctl why NAME --path=WHAT --access=write\" says what would "
                                       "allow it.");
}

static int print_denials_json(Ctl *ctl, const Denials *d, const char *needs) {
        _cleanup_json_out_ JsonOut out;
        json_object *root, *list;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "needs", needs);
        list = json_out_array(&out, out.root, "denials");
        for (size_t i = first_shown(ctl, d); i < d->n_items; i++) {
                const Denial *x = d->items + i;
                json_object *o = json_out_object(&out, list, NULL);

                json_out_integer(&out, o, "time_usec", (int64_t) x->time_usec);
                json_out_string(&out, o, "server", x->server);
                json_out_string(&out, o, "session", x->session);
                json_out_strv(&out, o, "blockers", x->line.blockers);
                json_out_string(&out, o, "path", x->line.path);
                json_out_string(&out, o, "access", audit_line_access(&x->line));
                json_out_string(&out, o, "address", x->line.address);
                json_out_integer(&out, o, "port", x->line.port);
                json_out_string(&out, o, "process", x->line.process);
        }
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

static int find_needs(Ctl *ctl, char **ret) {
        _cleanup_host_probe_ HostProbe host = {};
        char *const *env;
        int r;

        r = ctl_environment(ctl, &env);
        if (r >= 0)
                r = host_probe(ctl->scope, /* managed= */ true, env, &host);
        return r < 0 ? r : audit_needs(&host.facts.landlock, ret);
}

static int show_denials(Ctl *ctl, const char *name) {
        _cleanup_denials_ Denials d = {};
        _cleanup_free_ char *needs = NULL, *text = NULL;
        const ServerEntry *e = NULL;
        int r;

        r = name ? ctl_find_server(ctl, name, &e) : 0;
        if (r != 0)
                return r;
        r = denials_read(ctl->scope == RUNTIME_SCOPE_USER ? getuid() : 0, e ? e->name : NULL, &d);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-JOURNAL",
                                "Members of systemd-journal may read it.",
                                "The journal cannot be read: %s.",
                                STRERROR(r));
        r = find_needs(ctl, &needs);
        if (r < 0)
                return r;
        if (ctl->json)
                return print_denials_json(ctl, &d, needs);
        if (d.n_items > 0)
                return print_denials(ctl, &d);
        text = strformat(
                        "Nothing was denied since the machine was booted, as far as the journal knows.%s%s",
                        needs ? " But denials are not known to be logged. " : "",
                        strempty(needs));
        r = text ? style_print_wrapped(stdout, &ctl->style, 0, 0, text) : -ENOMEM;
        return r < 0 ? r
                     : style_print_wrapped(
                                       stdout,
                                       &ctl->style,
                                       0,
                                       0,
                                       "What seccomp refuses is never logged (UNIX sockets, a network that "
                                       "is blocked). "
                                       "Ask with --path, --connect or --socket.");
}

int verb_why(Ctl *ctl, char **operands) {
        bool question = ctl->path || ctl->connect || ctl->socket || ctl->access;

        if (!question)
                return show_denials(ctl, operands[0]);
        if (!operands[0])
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                NULL,
                                "Name the server that you ask about.");
        return answer_question(ctl, operands[0]);
}
