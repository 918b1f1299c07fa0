/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* This host and this installation: every check of the table, and for what is not well one line that helps. */

#include <stdarg.h>

#include "basic/string-util.h"
#include "ctl/doctor.h"
#include "ctl/pager.h"
#include "report/json-out.h"

static const struct {
        const char *id; /* stable, for monitoring */
        int (*run)(Doctor *d);
        bool alive; /* of a machine that runs: not with --root */
} checks[] = {
        { "installation", doctor_installation, .alive = true },
        { "systemd", doctor_systemd, .alive = true },
        { "linger", doctor_linger, .alive = true },
        { "group", doctor_group, .alive = true },
        { "landlock", doctor_landlock },
        { "landlock-errata", doctor_errata },
        { "seccomp", doctor_seccomp },
        { "cgroup", doctor_cgroup },
        { "hidepid", doctor_hidepid },
        { "audit", doctor_audit },
        { "snap", doctor_snap },
        { "definitions", doctor_definitions },
        { "secrets", doctor_secrets },
        { "servers", doctor_servers },
};

static const struct {
        const char *word;
        Tone tone;
} level_table[_FINDING_MAX] = {
        [FINDING_OK] = { "ok", TONE_GOOD },
        [FINDING_NOTE] = { "note", TONE_DIM },
        [FINDING_WARNING] = { "warning", TONE_WARN },
        [FINDING_PROBLEM] = { "problem", TONE_BAD },
};

const char *finding_level_to_string(FindingLevel level) {
        return level_table[level].word;
}

static void doctor_done(Doctor *d) {
        for (size_t i = 0; i < d->n_findings; i++) {
                free(d->findings[i].server);
                free(d->findings[i].message);
                free(d->findings[i].remedy);
        }
        free(d->findings);
        host_probe_done(&d->host);
}
#define _cleanup_doctor_ _cleanup_(doctor_done)

int doctor_add(Doctor *d,
               FindingLevel level,
               const char *server,
               const char *remedy,
               const char *format,
               ...) {
        Finding *findings, f = { .level = level, .id = d->id };
        va_list ap;
        int r;

        findings = reallocarray(d->findings, d->n_findings + 1, sizeof(*findings));
        if (!findings)
                return -ENOMEM;
        d->findings = findings;
        va_start(ap, format);
        r = vasprintf(&f.message, format, ap);
        va_end(ap);
        if (r < 0)
                return -ENOMEM;
        f.server = server ? strdup(server) : NULL;
        f.remedy = remedy ? strdup(remedy) : NULL;
        d->findings[d->n_findings++] = f;
        return (server && !f.server) || (remedy && !f.remedy) ? -ENOMEM : 0;
}

static FindingLevel worst(const Doctor *d) {
        FindingLevel level = FINDING_OK;

        for (size_t i = 0; i < d->n_findings; i++)
                level = MAX(level, d->findings[i].level);
        return level;
}

static int print_finding(Ctl *ctl, const Finding *f) {
        const unsigned indent = 9;
        Tone tone = level_table[f->level].tone;
        _cleanup_free_ char *text = strformat(
                        "%s%s%s: %s", f->id, f->server ? " " : "", strempty(f->server), f->message);
        int r;

        if (!text)
                return -ENOMEM;
        printf("%s%-8s%s ",
               style_on(&ctl->style, tone),
               level_table[f->level].word,
               style_off(&ctl->style, tone));
        r = style_print_wrapped(stdout, &ctl->style, indent, indent, text);
        if (r < 0 || !f->remedy)
                return r;
        printf("%*s", (int) indent + 2, "");
        return style_print_wrapped(stdout, &ctl->style, indent + 2, indent + 2, f->remedy);
}

static int print_text(const Doctor *d) {
        size_t counts[_FINDING_MAX] = {};
        int r = 0;

        for (size_t i = 0; i < d->n_findings && r >= 0; i++) {
                r = print_finding(d->ctl, d->findings + i);
                counts[d->findings[i].level]++;
        }
        if (r >= 0)
                printf("%zu problem%s, %zu warning%s.\n",
                       counts[FINDING_PROBLEM],
                       counts[FINDING_PROBLEM] == 1 ? "" : "s",
                       counts[FINDING_WARNING],
                       counts[FINDING_WARNING] == 1 ? "" : "s");
        return r;
}

static int print_json(const Doctor *d) {
        _cleanup_json_out_ JsonOut out;
        json_object *root, *list;
        int r;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "level", finding_level_to_string(worst(d)));
        list = json_out_array(&out, out.root, "findings");
        for (size_t i = 0; i < d->n_findings; i++) {
                const Finding *f = d->findings + i;
                json_object *o = json_out_object(&out, list, NULL);

                json_out_string(&out, o, "check", f->id);
                json_out_string(&out, o, "level", finding_level_to_string(f->level));
                json_out_string(&out, o, "server", f->server);
                json_out_string(&out, o, "message", f->message);
                json_out_string(&out, o, "remedy", f->remedy);
        }
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

int verb_doctor(Ctl *ctl, char **operands) {
        _cleanup_doctor_ Doctor d = { .ctl = ctl };
        char *const *env;
        int r;

        r = ctl_environment(ctl, &env);
        if (r >= 0)
                r = host_probe(ctl->scope, /* managed= */ true, env, &d.host);
        for (size_t i = 0; i < ELEMENTSOF(checks) && r >= 0; i++) {
                d.id = checks[i].id;
                if (!ctl->root || !checks[i].alive)
                        r = checks[i].run(&d);
        }
        if (r >= 0)
                r = pager_open(ctl);
        if (r >= 0)
                r = ctl->json ? print_json(&d) : print_text(&d);
        if (r < 0)
                return r;
        return worst(&d) == FINDING_PROBLEM ? 2 : worst(&d) == FINDING_WARNING ? 1 : 0;
}
