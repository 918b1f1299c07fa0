/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tables for people, drawn by libsmartcols: aligned, fitted to the terminal, without colours and cuts for a pipe. */

#include "report/style.h"

typedef enum TableColumnFlags {
        TABLE_WRAP = 1 << 0,  /* takes what is left of the width and wraps between words */
        TABLE_BREAK = 1 << 1, /* the same, but anywhere: paths */
        TABLE_RIGHT = 1 << 2, /* numbers */
} TableColumnFlags;

typedef struct TableColumn {
        const char *name;
        unsigned flags;
} TableColumn;

typedef struct Table Table;

/* columns: at least one, ends with a NULL name. -ENOMEM. */
int table_new(const TableColumn *columns, const ReportStyle *style, Table **ret);
Table *table_free(Table *t);
DEFINE_TRIVIAL_CLEANUP_FUNC(Table *, table_free);
#define _cleanup_table_ _cleanup_(table_freep)

/* A new row; its cells are set by column number. text NULL: "-". Errors are kept and come out of table_print(). */
void table_row(Table *t);
void table_cell(Table *t, size_t column, Tone tone, const char *text);
void table_cellf(Table *t, size_t column, Tone tone, const char *format, ...) _printf_(4, 5);

int table_print(Table *t, FILE *f);
