/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* TOML through toml++ as the tree that basic/json.h has: tables are objects, times are strings. What toml++ does not
 * keep is added by it: where the text of each value ends. */

#include "basic/json.h"

typedef struct TomlSpan {
        const JsonValue *value;
        unsigned end_line,
                        end_column; /* behind the last character of a value; of a table's header likewise */
        bool header;                /* a table with a header of its own, [a.b] */
} TomlSpan;

typedef struct TomlSpans {
        TomlSpan *items;
        size_t n_items;
} TomlSpans;

/* -EINVAL: *ret_error says why; -EOPNOTSUPP: built without toml++, likewise; -ENOMEM. ret_spans may be NULL; its items
 * belong to the caller (free). */
int toml_parse(const char *text, size_t n, JsonValue **ret, TomlSpans *ret_spans, JsonError *ret_error);
