/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report/report-problems.h"
#include "basic/string-util.h"

static const Tone level_tones[_PROBLEM_LEVEL_MAX] = {
        [PROBLEM_ERROR] = TONE_BAD,
        [PROBLEM_WARNING] = TONE_WARN,
        [PROBLEM_NOTE] = TONE_DIM,
};

static int print_place(FILE *f, const Problem *p) {
        _cleanup_free_ char *file = NULL;

        if (!p->file)
                return 0;
        file = string_escape_control(p->file);
        if (!file)
                return -ENOMEM;
        fputs(file, f);
        if (p->line > 0)
                fprintf(f, ":%u:%u", p->line, p->column);
        fputs(": ", f);
        return 0;
}

/* "[CODE at POINTER]", so that a person can search for the one and finds the other in the file. */
static char *problem_tag(const Problem *p) {
        if (isempty(p->pointer))
                return strformat("[%s]", p->code);
        return strformat("[%s at %s]", p->code, p->pointer);
}

static int print_problem(FILE *f, const Problem *p, const ReportStyle *style) {
        Tone tone = level_tones[p->level];
        _cleanup_free_ char *tag = problem_tag(p);
        int r;

        if (!tag)
                return -ENOMEM;
        r = print_place(f, p);
        if (r < 0)
                return r;
        fprintf(f,
                "%s%s:%s\n  ",
                style_on(style, tone),
                problem_level_to_string(p->level),
                style_off(style, tone));
        r = style_print_wrapped(f, style, 2, 2, p->message);
        if (r < 0)
                return r;
        if (p->remedy) {
                fputs("  ", f);
                r = style_print_wrapped(f, style, 2, 2, p->remedy);
                if (r < 0)
                        return r;
        }
        fprintf(f, "  %s", style_on(style, TONE_DIM));
        r = style_print_wrapped(f, style, 2, 2, tag);
        fputs(style_off(style, TONE_DIM), f);
        return r;
}

int report_problems_text(FILE *f, const ProblemList *problems, const ReportStyle *style) {
        for (size_t i = 0; i < problems->n_items; i++) {
                int r = print_problem(f, problems->items + i, style);
                if (r < 0)
                        return r;
        }
        return problems->failed ? -ENOMEM : 0;
}

int report_problems_json(const ProblemList *problems, json_object **ret) {
        _cleanup_json_out_ JsonOut out;

        json_out_init(&out, /* array= */ true);
        for (size_t i = 0; i < problems->n_items; i++) {
                const Problem *p = problems->items + i;
                json_object *o = json_out_object(&out, out.root, NULL);

                json_out_string(&out, o, "level", problem_level_to_string(p->level));
                json_out_string(&out, o, "code", p->code);
                json_out_string(&out, o, "file", p->file);
                if (p->line > 0) {
                        json_out_integer(&out, o, "line", p->line);
                        json_out_integer(&out, o, "column", p->column);
                } else {
                        json_out_string(&out, o, "line", NULL);
                        json_out_string(&out, o, "column", NULL);
                }
                json_out_string(&out, o, "pointer", p->pointer);
                json_out_string(&out, o, "message", p->message);
                json_out_string(&out, o, "remedy", p->remedy);
        }
        if (problems->failed)
                return -ENOMEM;
        return json_out_finish(&out, ret);
}

size_t report_problems_count(const ProblemList *problems, ProblemLevel level) {
        size_t n = 0;

        for (size_t i = 0; i < problems->n_items; i++)
                n += problems->items[i].level == level;
        return n;
}

char *report_problems_summary(const ProblemList *problems) {
        _cleanup_strv_free_ char **words = NULL;

        for (ProblemLevel level = 0; level < _PROBLEM_LEVEL_MAX; level++) {
                size_t n = report_problems_count(problems, level);

                if (n > 0 &&
                    strv_extendf(&words, "%zu %s%s", n, problem_level_to_string(level), n == 1 ? "" : "s") <
                                    0)
                        return NULL;
        }
        return words ? strv_join(words, ", ") : strdup("no problems");
}
