/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Edits of TOML: a member of a table with a header is a line, a table of variables several. */

#include "basic/string-util.h"
#include "clients/export.h"
#include "clients/rewrite-internal.h"

static int value_range(const Rewriter *w, const JsonValue *v, Range *ret) {
        for (size_t i = 0; i < w->spans.n_items; i++) {
                const TomlSpan *span = w->spans.items + i;

                if (span->value != v)
                        continue;
                if (text_offset(w->text, w->size, v->line, v->column, &ret->from) < 0 ||
                    text_offset(w->text, w->size, span->end_line, span->end_column, &ret->to) < 0 ||
                    ret->to < ret->from)
                        return -EBADMSG;
                return 0;
        }
        return -EBADMSG;
}

static size_t line_start(const Rewriter *w, size_t at) {
        while (at > 0 && w->text[at - 1] != '\n')
                at--;
        return at;
}

static size_t line_end(const Rewriter *w, size_t at) {
        const char *end = memchr(w->text + at, '\n', w->size - at);

        return end ? (size_t) (end - w->text) + 1 : w->size;
}

static int drop_lines(Rewriter *w, size_t from, size_t to) {
        return text_edit_add(&w->edits, line_start(w, from), line_end(w, to), NULL);
}

/* Is the object in braces? */
static bool is_inline(const Rewriter *w, const JsonValue *v) {
        Range range;

        return v->type == JSON_OBJECT && value_range(w, v, &range) == 0 && w->text[range.from] == '{';
}

/* A key with its value, or all of a table's lines. */
static int drop_value(Rewriter *w, const JsonValue *v) {
        const JsonValue *item;
        Range range;
        size_t key;
        int r;

        r = value_range(w, v, &range);
        if (r < 0)
                return r;
        if (v->type != JSON_OBJECT || is_inline(w, v)) {
                r = json_key_start(w, v, &key);
                return r < 0 ? r : drop_lines(w, key, range.to);
        }
        /* A header goes; a table of dotted keys has none. */
        if (w->text[range.from] == '[') {
                r = drop_lines(w, range.from, range.from);
                if (r < 0)
                        return r;
        }
        JSON_FOREACH (item, v) {
                r = drop_value(w, item);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int insert_args(Rewriter *w, const JsonValue *command, const Range *range) {
        _cleanup_free_ char *text = NULL;
        size_t start, key, end = line_end(w, range->to), prefix;
        int r;

        r = json_key_start(w, command, &key);
        if (r < 0)
                return r;
        start = line_start(w, key);
        /* The prefix of a dotted key is repeated: "mcp_servers.x." */
        prefix = key - start;
        text =
                        strformat("%s%.*sargs = %s\n",
                                  end > 0 && w->text[end - 1] == '\n' ? "" : "\n",
                                  (int) prefix,
                                  w->text + start,
                                  w->args);
        return text ? text_edit_add(&w->edits, end, end, text) : -ENOMEM;
}

static int rewrite_table(Rewriter *w, const JsonValue *entry) {
        const JsonValue *command = json_get(entry, "command"), *args = json_get(entry, "args"), *item;
        Range range;
        int r;

        r = value_range(w, command, &range);
        if (r >= 0)
                r = text_edit_add(&w->edits, range.from, range.to, "\"" CONNECT_PROGRAM "\"");
        if (r >= 0 && !args)
                r = insert_args(w, command, &range);
        if (r >= 0 && args) {
                r = value_range(w, args, &range);
                if (r >= 0)
                        r = text_edit_add(&w->edits, range.from, range.to, w->args);
        }
        JSON_FOREACH (item, entry)
                if (r >= 0 && rewrite_drops(w->import->client, item->key))
                        r = drop_value(w, item);
        return r;
}

int rewrite_toml_entry(Rewriter *w, const JsonValue *entry) {
        if (!json_get(entry, "command"))
                return -EBADMSG;
        if (is_inline(w, entry))
                return rewrite_members(
                                w, entry, value_range, "command", "\"" CONNECT_PROGRAM "\"", "args", true);
        return rewrite_table(w, entry);
}
