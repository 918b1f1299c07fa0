/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* json-c and smartcols, loaded when the first of their functions is called. Mostly none is: a program is confined and
 * executed, and nothing is printed. Loading the two would take longer than all that we do ourselves.
 *
 * Each function below stands for the library's of the same name, in this program only. The libraries' names are those of
 * the interfaces that their headers describe. */

#include <dlfcn.h>
#include <json.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>

enum {
        EXIT_INCOMPLETE = 3, /* as for a confinement that is refused: nothing was started */
};

/* The caller has no way to go on without. */
static void *find(void **library, const char *name, const char *symbol) {
        void *found;

        if (!*library)
                *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        found = *library ? dlsym(*library, symbol) : NULL;
        if (!found) {
                (void) fprintf(stderr, "mcp-sandbox: cannot load %s: %s\n", name, dlerror());
                exit(EXIT_INCOMPLETE);
        }
        return found;
}

static void *json_c, *smartcols;

#define LATE(library, name, type, function, parameters, arguments)                          \
        type function parameters {                                                          \
                static __typeof__(&(function)) real;                                        \
                if (!real)                                                                  \
                        real = (__typeof__(&(function))) find(&(library), name, #function); \
                return real arguments;                                                      \
        }
#define JSON_C(type, function, parameters, arguments) \
        LATE(json_c, "libjson-c.so.5", type, function, parameters, arguments)
#define SMARTCOLS(type, function, parameters, arguments) \
        LATE(smartcols, "libsmartcols.so.1", type, function, parameters, arguments)

JSON_C(int, json_object_array_add, (struct json_object * o, struct json_object *value), (o, value))
JSON_C(struct json_object *, json_object_new_array, (void), ())
JSON_C(struct json_object *, json_object_new_boolean, (json_bool b), (b))
JSON_C(struct json_object *, json_object_new_int64, (int64_t i), (i))
JSON_C(struct json_object *, json_object_new_object, (void), ())
JSON_C(struct json_object *, json_object_new_string, (const char *s), (s))
JSON_C(struct json_object *, json_object_new_uint64, (uint64_t i), (i))
JSON_C(int,
       json_object_object_add,
       (struct json_object * o, const char *key, struct json_object *value),
       (o, key, value))
JSON_C(int, json_object_put, (struct json_object * o), (o))
JSON_C(const char *, json_object_to_json_string_ext, (struct json_object * o, int flags), (o, flags))

SMARTCOLS(int, scols_cell_set_color, (struct libscols_cell * cell, const char *color), (cell, color))
SMARTCOLS(size_t, scols_column_get_width, (const struct libscols_column *column), (column))
SMARTCOLS(int,
          scols_column_set_wrapfunc,
          (struct libscols_column * column,
           size_t (*size)(const struct libscols_column *, const char *, void *),
           char *(*next)(const struct libscols_column *, char *, void *),
           void *userdata),
          (column, size, next, userdata))
SMARTCOLS(struct libscols_cell *, scols_line_get_cell, (struct libscols_line * line, size_t n), (line, n))
SMARTCOLS(int, scols_line_refer_data, (struct libscols_line * line, size_t n, char *data), (line, n, data))
SMARTCOLS(struct libscols_table *, scols_new_table, (void), ())
SMARTCOLS(int, scols_print_table, (struct libscols_table * table), (table))
SMARTCOLS(int, scols_table_enable_colors, (struct libscols_table * table, int enable), (table, enable))
SMARTCOLS(int, scols_table_enable_noencoding, (struct libscols_table * table, int enable), (table, enable))
SMARTCOLS(struct libscols_column *,
          scols_table_new_column,
          (struct libscols_table * table, const char *name, double width, int flags),
          (table, name, width, flags))
SMARTCOLS(struct libscols_line *,
          scols_table_new_line,
          (struct libscols_table * table, struct libscols_line *parent),
          (table, parent))
SMARTCOLS(int, scols_table_set_stream, (struct libscols_table * table, FILE *stream), (table, stream))
SMARTCOLS(int, scols_table_set_termforce, (struct libscols_table * table, int force), (table, force))
SMARTCOLS(int, scols_table_set_termwidth, (struct libscols_table * table, size_t width), (table, width))
SMARTCOLS(void, scols_unref_table, (struct libscols_table * table), (table))
