/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* libsmartcols cuts and wraps between any two characters; sentences are easier to read when wrapped between words,
 * which is what this adds. */

#include <libsmartcols.h>
#include <stdarg.h>

#include "basic/string-util.h"
#include "report/table.h"

struct Table {
        struct libscols_table *table;
        struct libscols_line *line; /* the row that is being filled; owned by table */
        const ReportStyle *style;
        int error;
};

static const char *const color_table[_TONE_MAX] = {
        [TONE_GOOD] = "green",   [TONE_WARN] = "brown", [TONE_BAD] = "lightred",
        [TONE_DIM] = "darkgray", [TONE_BOLD] = "bold",
};

/* The widest word: below this the column must not shrink. */
static size_t widest_chunk(const struct libscols_column *column, const char *data, void *userdata) {
        size_t widest = 0;

        for (const char *p = data; *p;) {
                size_t n = strcspn(p, " ");

                widest = MAX(widest, n);
                p += n;
                p += strspn(p, " ");
        }
        return widest;
}

/* Ends the line at the last space that fits, and says where the next begins. Bytes stand for columns: a wrap that is
 * early because of a multi-byte character harms nobody. */
static char *next_chunk(const struct libscols_column *column, char *data, void *userdata) {
        size_t width = scols_column_get_width(column), n = strlen(data);
        char *cut = NULL;

        if (n <= width)
                return NULL;
        for (char *p = data; (size_t) (p - data) <= width; p++)
                if (*p == ' ')
                        cut = p;
        if (!cut)
                cut = strchr(data, ' ');
        if (!cut)
                return NULL;
        *cut = '\0';
        return cut[1] ? cut + 1 : NULL;
}

static int table_add_column(Table *t, const TableColumn *c) {
        struct libscols_column *column;
        bool wrap = (c->flags & (TABLE_WRAP | TABLE_BREAK)) && t->style->columns > 0;
        int r, flags = 0;

        if (wrap)
                flags |= SCOLS_FL_WRAP;
        if (c->flags & TABLE_RIGHT)
                flags |= SCOLS_FL_RIGHT;
        column = scols_table_new_column(t->table, c->name, wrap ? 0.5 : 0, flags);
        if (!column)
                return -ENOMEM;
        if (!wrap || (c->flags & TABLE_BREAK))
                return 0;
        r = scols_column_set_wrapfunc(column, widest_chunk, next_chunk, NULL);
        return r < 0 ? r : 0;
}

int table_new(const TableColumn *columns, const ReportStyle *style, Table **ret) {
        _cleanup_table_ Table *t = NULL;
        int r;

        t = calloc(1, sizeof(*t));
        if (!t)
                return -ENOMEM;
        t->style = style;
        t->table = scols_new_table();
        if (!t->table)
                return -ENOMEM;
        for (; columns->name; columns++) {
                r = table_add_column(t, columns);
                if (r < 0)
                        return r;
        }
        if (style->columns > 0) {
                scols_table_set_termforce(t->table, SCOLS_TERMFORCE_ALWAYS);
                scols_table_set_termwidth(t->table, style->columns);
        } else
                scols_table_set_termforce(t->table, SCOLS_TERMFORCE_NEVER);
        scols_table_enable_colors(t->table, style->colors);
        /* Cells are escaped here, as everything else that is shown: a backslash stays one. */
        scols_table_enable_noencoding(t->table, true);
        *ret = TAKE_PTR(t);
        return 0;
}

Table *table_free(Table *t) {
        if (!t)
                return NULL;
        scols_unref_table(t->table);
        free(t);
        return NULL;
}

void table_row(Table *t) {
        t->line = scols_table_new_line(t->table, NULL);
        if (!t->line)
                t->error = -ENOMEM;
}

void table_cell(Table *t, size_t column, Tone tone, const char *text) {
        _cleanup_free_ char *safe = NULL;
        int r;

        if (t->error < 0)
                return;
        safe = string_escape_control(isempty(text) ? "-" : text);
        if (!safe) {
                t->error = -ENOMEM;
                return;
        }
        r = scols_line_refer_data(t->line, column, TAKE_PTR(safe));
        if (r >= 0 && t->style->colors && color_table[tone])
                r = scols_cell_set_color(scols_line_get_cell(t->line, column), color_table[tone]);
        if (r < 0)
                t->error = r;
}

void table_cellf(Table *t, size_t column, Tone tone, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0) {
                text = NULL;
                t->error = -ENOMEM;
        }
        va_end(ap);
        if (text)
                table_cell(t, column, tone, text);
}

int table_print(Table *t, FILE *f) {
        int r;

        if (t->error < 0)
                return t->error;
        scols_table_set_stream(t->table, f);
        r = scols_print_table(t->table);
        return r < 0 ? r : 0;
}
