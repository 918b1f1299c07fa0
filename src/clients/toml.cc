/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include <toml++/toml.h>

extern "C" {
#include "clients/toml.h"
}

namespace {

struct Builder {
        Builder() = default;
        Builder(const Builder &) = delete;
        Builder &operator=(const Builder &) = delete;
        ~Builder() {
                std::free(spans.items);
                arena_free(arena);
        }

        Arena *arena = nullptr;
        TomlSpans spans{};
        size_t n_allocated = 0;
        bool want_spans = false;
        bool deep = false;
};

JsonValue *value_new(Builder &b, const toml::node &node, JsonType type, JsonValue *parent) {
        auto *v = static_cast<JsonValue *>(arena_take(&b.arena, sizeof(JsonValue)));

        if (!v)
                return nullptr;
        *v = JsonValue{};
        v->type = type;
        v->line = node.source().begin.line;
        v->column = node.source().begin.column;
        v->parent = parent;
        return v;
}

char *copy_text(Builder &b, std::string_view s) {
        auto *out = static_cast<char *>(arena_take(&b.arena, s.size() + 1));

        if (!out)
                return nullptr;
        std::memcpy(out, s.data(), s.size());
        out[s.size()] = '\0';
        return out;
}

bool note_span(Builder &b, const toml::node &node, const JsonValue *v) {
        const auto *table = node.as_table();

        if (!b.want_spans)
                return true;
        if (b.spans.n_items == b.n_allocated) {
                size_t n = b.n_allocated ? 2 * b.n_allocated : 64;
                auto *grown = static_cast<TomlSpan *>(std::realloc(b.spans.items, n * sizeof(TomlSpan)));

                if (!grown)
                        return false;
                b.spans.items = grown;
                b.n_allocated = n;
        }
        b.spans.items[b.spans.n_items++] = TomlSpan{
                v, node.source().end.line, node.source().end.column, table && !table->is_inline()
        };
        return true;
}

bool fill_string(Builder &b, JsonValue *v, std::string_view s) {
        v->type = JSON_STRING;
        v->string = copy_text(b, s);
        v->string_length = s.size();
        return v->string;
}

bool fill_scalar(Builder &b, JsonValue *v, const toml::node &node) {
        if (const auto *s = node.as_string())
                return fill_string(b, v, s->get());
        if (const auto *i = node.as_integer()) {
                v->type = JSON_INTEGER;
                v->integer = i->get();
                v->natural = i->get() > 0 ? static_cast<uint64_t>(i->get()) : 0;
                return true;
        }
        if (const auto *f = node.as_floating_point()) {
                v->type = JSON_REAL;
                v->real = f->get();
                return true;
        }
        if (const auto *x = node.as_boolean()) {
                v->type = JSON_BOOLEAN;
                v->boolean = x->get();
                return true;
        }
        std::ostringstream text;

        node.visit([&](const auto &n) { text << n; });
        return fill_string(b, v, text.str());
}

bool stands_before(const JsonValue *a, const JsonValue *b) {
        return a->key_line != b->key_line ? a->key_line < b->key_line : a->key_column < b->key_column;
}

JsonValue *build(Builder &b, const toml::node &node, JsonValue *parent, unsigned depth);

bool fill_items(Builder &b, JsonValue *v, const toml::node &node, unsigned depth) {
        size_t n = 0;
        const auto *table = node.as_table();
        const auto *array = node.as_array();
        size_t size = table ? table->size() : array->size();

        v->items = static_cast<JsonValue **>(arena_take(&b.arena, size * sizeof(JsonValue *)));
        if (!v->items)
                return false;
        auto add = [&](const toml::node &child, const toml::key *key) {
                JsonValue *item = build(b, child, v, depth + 1);

                if (!item)
                        return false;
                item->index = n;
                v->items[n++] = item;
                v->n_items = n;
                if (!key)
                        return true;
                item->key = copy_text(b, key->str());
                item->key_line = key->source().begin.line;
                item->key_column = key->source().begin.column;
                return item->key != nullptr;
        };
        if (table) {
                for (const auto &[key, child] : *table)
                        if (!add(child, &key))
                                return false;
                /* toml++ sorts by name; here the text's order counts. */
                std::stable_sort(v->items, v->items + n, stands_before);
                for (size_t i = 0; i < n; i++)
                        v->items[i]->index = i;
        } else
                for (const auto &child : *array)
                        if (!add(child, nullptr))
                                return false;
        return true;
}

JsonValue *build(Builder &b, const toml::node &node, JsonValue *parent, unsigned depth) {
        bool container = node.is_table() || node.is_array();
        JsonValue *v;

        if (depth > JSON_DEPTH_MAX) {
                b.deep = true;
                return nullptr;
        }
        v = value_new(b, node, node.is_table() ? JSON_OBJECT : JSON_ARRAY, parent);
        if (!v)
                return nullptr;
        if (!note_span(b, node, v) || !(container ? fill_items(b, v, node, depth) : fill_scalar(b, v, node)))
                return nullptr;
        return v;
}

void fail(JsonError *e, unsigned line, unsigned column, std::string_view message) {
        if (!e)
                return;
        e->line = line;
        e->column = column;
        std::snprintf(e->message,
                      sizeof(e->message),
                      "%.*s",
                      static_cast<int>(message.size()),
                      message.data());
}

} // namespace

static int parse(const char *text, size_t n, JsonValue **ret, TomlSpans *ret_spans, JsonError *ret_error) {
        toml::table table = toml::parse(std::string_view(text, n));
        Builder b;
        JsonValue *root;

        b.want_spans = ret_spans != nullptr;
        root = build(b, table, nullptr, 1);
        if (!root) {
                if (!b.deep)
                        return -ENOMEM;
                fail(ret_error, 1, 1, "The text is nested too deeply");
                return -E2BIG;
        }
        if (ret_spans)
                *ret_spans = std::exchange(b.spans, TomlSpans{});
        root->arena = std::exchange(b.arena, nullptr);
        *ret = root;
        return 0;
}

extern "C" int toml_parse(
                const char *text, size_t n, JsonValue **ret, TomlSpans *ret_spans, JsonError *ret_error) {
        if (n > JSON_SIZE_MAX) {
                fail(ret_error, 1, 1, "The text is too large");
                return -E2BIG;
        }
        try {
                return parse(text, n, ret, ret_spans, ret_error);
        } catch (const toml::parse_error &e) {
                /* Its own words may quote the text, and so a secret. */
                fail(ret_error, e.source().begin.line, e.source().begin.column, "This is no TOML");
                return -EINVAL;
        } catch (const std::exception &) {
                return -ENOMEM;
        }
}
