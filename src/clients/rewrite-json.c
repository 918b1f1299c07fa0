/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Edits within braces: JSON with and without comments, and TOML's inline tables. */

#include "basic/string-util.h"
#include "clients/export.h"
#include "clients/rewrite-internal.h"

static bool is_blank(char c) {
        return c == ' ' || c == '\t';
}

/* Behind white space and comments. */
static size_t skip_space(const Rewriter *w, size_t at) {
        for (;;) {
                const char *end;

                if (at < w->size && strchr(" \t\r\n", w->text[at]))
                        at++;
                else if (startswith(w->text + at, "//")) {
                        end = strchr(w->text + at, '\n');
                        at = end ? (size_t) (end - w->text) : w->size;
                } else if (startswith(w->text + at, "/*")) {
                        end = strstr(w->text + at, "*/");
                        at = end ? (size_t) (end - w->text) + 2 : w->size;
                } else
                        return at;
        }
}

/* Behind the string that starts at at. */
static size_t skip_string(const Rewriter *w, size_t at) {
        for (at++; at < w->size && w->text[at] != '"'; at++)
                if (w->text[at] == '\\')
                        at++;
        return MIN(at + 1, w->size);
}

/* Behind the value that starts at at. The text was parsed before: it is well-formed. */
static size_t skip_value(const Rewriter *w, size_t at) {
        size_t depth = 0;

        if (w->text[at] != '{' && w->text[at] != '[')
                return w->text[at] == '"' ? skip_string(w, at) : at + strcspn(w->text + at, ",]} \t\r\n/");
        do {
                at = skip_space(w, at);
                if (at >= w->size)
                        break;
                if (w->text[at] == '"') {
                        at = skip_string(w, at);
                        continue;
                }
                if (strchr("{[", w->text[at]))
                        depth++;
                else if (strchr("}]", w->text[at]))
                        depth--;
                at++;
        } while (depth > 0);
        return at;
}

int json_value_range(const Rewriter *w, const JsonValue *v, Range *ret) {
        int r = text_offset(w->text, w->size, v->line, v->column, &ret->from);

        if (r < 0 || ret->from >= w->size)
                return -EBADMSG;
        ret->to = skip_value(w, ret->from);
        return 0;
}

int json_key_start(const Rewriter *w, const JsonValue *v, size_t *ret) {
        return text_offset(w->text, w->size, v->key_line, v->key_column, ret) < 0 ? -EBADMSG : 0;
}

/* Only white space before at on its line? */
static bool starts_line(const Rewriter *w, size_t at, size_t *ret_start) {
        while (at > 0 && is_blank(w->text[at - 1]))
                at--;
        *ret_start = at;
        return at == 0 || w->text[at - 1] == '\n';
}

/* A member goes with its comma, and with its line where that is all there was. */
static int drop_member(Rewriter *w, size_t from, size_t to, bool *ret_comma) {
        size_t comma = skip_space(w, to), start, end;

        *ret_comma = comma < w->size && w->text[comma] == ',';
        end = *ret_comma ? comma + 1 : to;
        while (end < w->size && is_blank(w->text[end]))
                end++;
        if (starts_line(w, from, &start)) {
                size_t newline = end;

                if (newline < w->size && w->text[newline] == '\r')
                        newline++;
                if (newline < w->size && w->text[newline] == '\n') {
                        from = start;
                        end = newline + 1;
                }
        }
        return text_edit_add(&w->edits, from, end, NULL);
}

/* "args" behind the command, on a line of its own where the command has one. */
static int insert_args(Rewriter *w, size_t key, size_t behind, const char *args_key, bool is_toml) {
        _cleanup_free_ char *text = NULL;
        size_t start;

        if (!is_toml && starts_line(w, key, &start))
                text =
                                strformat(",\n%.*s\"%s\": %s",
                                          (int) (key - start),
                                          w->text + start,
                                          args_key,
                                          w->args);
        else
                text = strformat(is_toml ? ", %s = %s" : ", \"%s\": %s", args_key, w->args);
        return text ? text_edit_add(&w->edits, behind, behind, text) : -ENOMEM;
}

static int replace(Rewriter *w, const Range *range, const char *text) {
        return text_edit_add(&w->edits, range->from, range->to, text);
}

/* The comma that would be left over before the closing brace. Where the file has it anyway, it stays. */
static int drop_last_comma(Rewriter *w, size_t behind) {
        size_t comma = skip_space(w, behind);

        return comma < w->size && w->text[comma] == ',' ? text_edit_add(&w->edits, comma, comma + 1, NULL)
                                                        : 0;
}

int rewrite_members(
                Rewriter *w,
                const JsonValue *object,
                RangeOf range_of,
                const char *command_key,
                const char *command,
                const char *args_key,
                bool is_toml) {
        const JsonValue *args = args_key ? json_get(object, args_key) : NULL, *item;
        bool last_dropped = false, comma = true;
        size_t kept_end = 0;
        int r = 0;

        JSON_FOREACH (item, object) {
                Range range;
                size_t key;

                r = range_of(w, item, &range);
                if (r >= 0)
                        r = json_key_start(w, item, &key);
                if (r < 0)
                        return r;
                last_dropped = rewrite_drops(w->import->client, item->key);
                if (last_dropped)
                        r = drop_member(w, key, range.to, &comma);
                else {
                        kept_end = range.to;
                        if (args_key && streq(item->key, args_key))
                                r = replace(w, &range, w->args);
                        else if (streq(item->key, command_key) && command) {
                                r = replace(w, &range, command);
                                if (r >= 0 && args_key && !args)
                                        r = insert_args(w, key, range.to, args_key, is_toml);
                        }
                }
                if (r < 0)
                        return r;
        }
        return last_dropped && !comma && kept_end > 0 ? drop_last_comma(w, kept_end) : 0;
}

/* MCPProxy would start mcp-connect in a container, where that is its setting for all. */
static int exempt_from_container(Rewriter *w, const JsonValue *entry) {
        const JsonValue *command = json_get(entry, "command");
        _cleanup_free_ char *text = NULL;
        size_t key, start;
        int r;

        r = json_key_start(w, command, &key);
        if (r < 0)
                return r;
        if (starts_line(w, key, &start))
                text =
                                strformat("\"isolation\": { \"enabled\": false, \"mode\": \"none\" },\n%.*s",
                                          (int) (key - start),
                                          w->text + start);
        else
                text = strdup("\"isolation\": { \"enabled\": false, \"mode\": \"none\" }, ");
        return text ? text_edit_add(&w->edits, key, key, text) : -ENOMEM;
}

int rewrite_json_entry(Rewriter *w, const JsonValue *entry) {
        const JsonValue *command = json_get(entry, "command");
        int r;

        if (!command)
                return -EBADMSG;
        /* Zed's oldest generation. */
        if (command->type == JSON_OBJECT) {
                r =
                                rewrite_members(w,
                                                command,
                                                json_value_range,
                                                "path",
                                                "\"" CONNECT_PROGRAM "\"",
                                                "args",
                                                false);
                return r;
        }
        /* OpenCode's has the arguments in it. */
        if (command->type == JSON_ARRAY) {
                _cleanup_free_ char *all = strformat("[\"" CONNECT_PROGRAM "\", %s", w->args + 1);

                return all ? rewrite_members(w, entry, json_value_range, "command", all, NULL, false)
                           : -ENOMEM;
        }
        r = rewrite_members(w, entry, json_value_range, "command", "\"" CONNECT_PROGRAM "\"", "args", false);
        return r >= 0 && w->import->client == CLIENT_MCPPROXY ? exempt_from_container(w, entry) : r;
}
