/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What becomes what, in words and as JSON. Values of variables, arguments and secrets are in neither. */

#include "basic/string-util.h"
#include "clients/export.h"
#include "ctl/import.h"
#include "ctl/own-file.h"
#include "report/json-out.h"
#include "report/report-problems.h"

/* Prints "  LABEL: text", wrapped. */
_printf_(4, 5) static int print_line(Ctl *ctl, unsigned indent, const char *label, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0) {
                text = NULL;
                return -ENOMEM;
        }
        printf("%*s%s", (int) indent, "", label);
        return style_print_wrapped(stdout, &ctl->style, indent + (unsigned) strlen(label), indent + 2, text);
}

static const char *fate_sentence(const ImportItem *item) {
        if (item->server->fate == SERVER_REMOTE)
                return "is a remote server: it is not started here, and stays as it is in the client";
        if (item->server->fate == SERVER_ALREADY)
                return "runs " CONNECT_PROGRAM " already";
        if (item->server->fate == SERVER_BROKEN || problem_list_has_errors(&item->problems))
                return "cannot be imported";
        return NULL;
}

static int print_head(Ctl *ctl, const ImportItem *item) {
        const ClientServer *s = item->server;
        _cleanup_free_ char *name = string_escape_control(s->name), *origin = NULL;
        const char *sentence = fate_sentence(item);
        Tone tone = item->write ? TONE_GOOD : sentence && s->fate != SERVER_BROKEN ? TONE_DIM : TONE_WARN;

        if (!name)
                return -ENOMEM;
        if (s->origin) {
                origin = string_escape_control(s->origin);
                if (!origin)
                        return -ENOMEM;
        }
        printf("%s%s%s", style_on(&ctl->style, tone), name, style_off(&ctl->style, tone));
        if (origin)
                printf(" (%s)", origin);
        if (sentence)
                printf(" %s\n", sentence);
        else if (item->same)
                printf(" is defined so already, in %s\n", item->path);
        else if (item->taken && !item->write)
                printf(" is defined already, in %s; --force replaces it\n", item->taken);
        else
                printf(" becomes %s%s\n", item->path, item->replace ? ", which is replaced" : "");
        return 0;
}

static int print_variables(Ctl *ctl, const ClientServer *s) {
        _cleanup_strv_free_ char **plain = NULL, **secret = NULL;
        _cleanup_free_ char *p = NULL, *q = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_env; i++)
                if (s->env[i].value)
                        r = strv_extend(s->env[i].secret ? &secret : &plain, s->env[i].name);
        for (size_t i = 0; r >= 0 && i < s->n_secret_args; i++)
                r = strv_extendf(&secret, "argument %zu", s->secret_args[i].index + 1);
        if (r < 0)
                return r;
        p = strv_join(plain, ", ");
        q = strv_join(secret, ", ");
        if (!p || !q)
                return -ENOMEM;
        if (plain)
                r = print_line(ctl, 2, "variables: ", "%s", p);
        if (r >= 0 && secret)
                r = print_line(ctl,
                               2,
                               "secrets: ",
                               "%s (%s)",
                               q,
                               ctl->inline_secrets
                                               ? "written into the definition, because of --inline-secrets"
                                               : "not written; see below");
        return r;
}

static int print_item(Ctl *ctl, const ImportItem *item) {
        const ClientServer *s = item->server;
        size_t n = strv_length(s->args);
        int r;

        r = print_head(ctl, item);
        if (r >= 0 && item->write) {
                r = print_line(ctl, 2, "runs: ", "%s with %zu argument%s", s->command, n, n == 1 ? "" : "s");
                if (r >= 0 && s->cwd)
                        r = print_line(ctl, 2, "works in: ", "%s, which it may write to", s->cwd);
                if (r >= 0 && s->env_file)
                        r = print_line(ctl, 2, "reads variables from: ", "%s", s->env_file);
                if (r >= 0)
                        r = print_variables(ctl, s);
                if (r >= 0 && !s->enabled)
                        r = print_line(ctl, 2, "", "It is disabled in the client, and stays so.");
                if (r >= 0 && s->quarantined)
                        r = print_line(ctl, 2, "", "It is quarantined in the client, and stays so.");
                if (r >= 0 && streq_ptr(s->mode, "none"))
                        r = print_line(ctl, 2, "", "It will NOT be confined: the client's file says so.");
        }
        if (r >= 0)
                r = report_problems_text(stdout, &s->problems, &ctl->style);
        return r < 0 ? r : report_problems_text(stdout, &item->problems, &ctl->style);
}

int import_report_text(Ctl *ctl, const ImportRun *run) {
        int r;

        if (run->import.client >= 0)
                printf("%s is a file of %s.\n\n", run->file, client_info(run->import.client)->title);
        r = report_problems_text(stdout, &run->import.problems, &ctl->style);
        for (size_t i = 0; r >= 0 && i < run->n_items; i++)
                r = print_item(ctl, run->items + i);
        if (r >= 0 && (run->rewritten || run->why_not))
                putchar('\n');
        if (r >= 0 && run->rewritten)
                r = print_line(ctl,
                               0,
                               "",
                               "%s will run " CONNECT_PROGRAM " instead; the old file is kept as %s.",
                               run->file,
                               run->backup);
        if (r >= 0 && run->why_not)
                r = print_line(ctl, 0, "", "%s", run->why_not);
        return r;
}

static void add_names(JsonOut *out, json_object *o, const ClientServer *s) {
        json_object *variables = json_out_array(out, o, "variables"),
                    *secrets = json_out_array(out, o, "secrets"), *needs = json_out_array(out, o, "needs");

        for (size_t i = 0; i < s->n_env; i++)
                if (s->env[i].value)
                        json_out_string(out, s->env[i].secret ? secrets : variables, NULL, s->env[i].name);
        for (size_t i = 0; i < s->n_needs; i++) {
                json_object *need = json_out_object(out, needs, NULL);

                json_out_string(out, need, "variable", s->needs[i].variable);
                json_out_string(out, need, "reason", s->needs[i].reason);
                json_out_boolean(out, need, "secret", s->needs[i].secret);
        }
}

static int add_problems(JsonOut *out, json_object *o, const ProblemList *a, const ProblemList *b) {
        _cleanup_problems_ ProblemList all = {};
        json_object *array;
        int r;

        r = problem_list_copy(&all, a);
        if (r >= 0 && b)
                r = problem_list_copy(&all, b);
        if (r >= 0)
                r = report_problems_json(&all, &array);
        if (r < 0)
                return r;
        json_out_value(out, o, "problems", array);
        return 0;
}

int import_report_json(Ctl *ctl, const ImportRun *run, bool written) {
        _cleanup_json_out_ JsonOut out;
        json_object *servers, *root;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "client", client_to_string(run->import.client));
        json_out_string(&out, out.root, "file", run->file);
        json_out_boolean(&out, out.root, "written", written);
        json_out_string(&out, out.root, "backup", written && run->rewritten ? run->backup : NULL);
        r = add_problems(&out, out.root, &run->import.problems, NULL);
        servers = json_out_array(&out, out.root, "servers");
        for (size_t i = 0; r >= 0 && i < run->n_items; i++) {
                const ImportItem *item = run->items + i;
                json_object *o = json_out_object(&out, servers, NULL);

                json_out_string(&out, o, "name", item->server->name);
                json_out_string(&out, o, "origin", item->server->origin);
                json_out_string(&out, o, "what", server_fate_to_string(item->server->fate));
                json_out_string(&out, o, "file", item->path);
                json_out_string(&out, o, "defined_in", item->taken);
                json_out_boolean(&out, o, "write", item->write);
                add_names(&out, o, item->server);
                r = add_problems(&out, o, &item->server->problems, &item->problems);
        }
        if (r < 0)
                return r;
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

/* What has to be set, once each. */
typedef struct NeedReport {
        Ctl *ctl;
        const ImportRun *run;
        char **variables; /* told already */
        char **servers;   /* that need some of them */
        bool any;
        bool credentials; /* the manager has to look for some */
} NeedReport;

static int print_need(NeedReport *report, const char *variable, const char *what) {
        if (!report->any)
                puts("\nBefore the servers can start, set:");
        report->any = true;
        return print_line(report->ctl, 2, "", "%s: %s", variable, what);
}

static int add_variable(NeedReport *report, const ClientServer *s, const char *variable, const char *what) {
        int r = 0;

        if (!strv_contains(report->servers, s->name))
                r = strv_extend(&report->servers, s->name);
        if (r < 0 || strv_contains(report->variables, variable))
                return r;
        r = strv_extend(&report->variables, variable);
        return r < 0 ? r : print_need(report, variable, what);
}

static int add_credential(
                NeedReport *report, const ClientServer *s, const char *variable, const char *what) {
        _cleanup_free_ char *command = credential_instruction(report->ctl->scope, s, variable);
        int r;

        if (!command)
                return -ENOMEM;
        report->credentials = true;
        r = print_need(report, variable, what);
        return r < 0 ? r : print_line(report->ctl, 6, "", "%s", command);
}

static int print_needs(NeedReport *report, const ClientServer *s) {
        const char *title = client_info(report->run->import.client)->title;
        _cleanup_free_ char *what = strformat("a secret that the file of %s gives to %s", title, s->name);
        int r = what ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < s->n_needs; i++)
                r = add_variable(report, s, s->needs[i].variable, s->needs[i].reason);
        if (report->ctl->inline_secrets)
                return r;
        for (size_t i = 0; r >= 0 && i < s->n_env; i++)
                if (s->env[i].secret)
                        r = add_credential(report, s, s->env[i].name, what);
        for (size_t i = 0; r >= 0 && i < s->n_secret_args; i++)
                r = add_variable(report, s, s->secret_args[i].variable, what);
        return r;
}

int import_report_needs(Ctl *ctl, const ImportRun *run) {
        NeedReport report = { .ctl = ctl, .run = run };
        _cleanup_strv_free_ char **lines = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < run->n_items; i++)
                if (run->items[i].write)
                        r = print_needs(&report, run->items[i].server);
        if (r >= 0 && report.variables)
                r = variable_instructions(ctl->scope, report.servers, &lines);
        STRV_FOREACH (line, lines)
                if (r >= 0)
                        r = print_line(ctl, 2, "", "%s", *line);
        if (r >= 0 && report.credentials)
                r = print_line(ctl,
                               2,
                               "",
                               "When all credentials are there: systemctl%s daemon-reload",
                               ctl->scope == RUNTIME_SCOPE_USER ? " --user" : "");
        strv_free(report.variables);
        strv_free(report.servers);
        return r;
}

/* One line, however long: it will be copied. */
static int print_undo(Ctl *ctl, char *command) {
        _cleanup_free_ char *owned = command, *line = owned ? ctl_over_ssh(ctl, owned) : NULL;
        _cleanup_free_ char *shown = line ? string_escape_control(line) : NULL;

        return shown ? printf("  %s\n", shown) < 0 ? -EIO : 0 : -ENOMEM;
}

int import_report_undo(Ctl *ctl, const ImportRun *run) {
        int r = 0;

        puts("\nTo undo it:");
        for (size_t i = 0; r >= 0 && i < run->n_items; i++) {
                _cleanup_free_ char *path = NULL;

                if (!run->items[i].write)
                        continue;
                path = shell_quote(run->items[i].path);
                if (!path)
                        return -ENOMEM;
                r = print_undo(ctl,
                               run->items[i].replace ? strformat("mv %s.bak %s", path, path)
                                                     : strformat("rm %s", path));
        }
        if (r >= 0 && run->rewritten) {
                _cleanup_free_ char *file = shell_quote(run->file), *backup = shell_quote(run->backup);

                if (!file || !backup)
                        return -ENOMEM;
                r = print_undo(ctl, strformat("mv %s %s", backup, file));
        }
        if (r >= 0 && !ctl->root)
                r = print_undo(ctl,
                               strformat("systemctl --%s daemon-reload",
                                         runtime_scope_to_string(ctl->scope)));
        return r;
}
