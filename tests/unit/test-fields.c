/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of keys, and what is written about it elsewhere. */

#include <fcntl.h>

#include "basic/fd-util.h"
#include "config/fields.h"
#include "test.h"

static char *read_source(const char *name) {
        const char *root = getenv("MCP_SOURCE_ROOT");
        _cleanup_free_ char *path = NULL;
        char *text = NULL;

        if (!root)
                SKIP("MCP_SOURCE_ROOT does not say where the source is");
        path = strformat("%s/%s", root, name);
        ASSERT_OK(file_read_at(AT_FDCWD, path, JSON_SIZE_MAX, &text, NULL));
        return text;
}

static JsonValue *read_schema(void) {
        _cleanup_free_ char *text = read_source("policy/mcp-server.schema.json");
        JsonValue *v = NULL;

        ASSERT_OK(json_parse(text, strlen(text), JSON_STRICT, &v, NULL));
        return v;
}

/* The schema of a group's object. */
static JsonValue *group_schema(const JsonValue *schema, FieldGroup group) {
        return group == FIELD_GROUP_TOP
                               ? (JsonValue *) schema
                               : json_get(json_get(schema, "properties"), field_group_to_string(group));
}

/* Is there an "enum" anywhere in v that has word? */
static bool has_word(const JsonValue *v, const char *word) {
        JsonValue *item, *choice;

        if (!v)
                return false;
        JSON_FOREACH (choice, json_get(v, "enum"))
                if (choice->type == JSON_STRING && streq(choice->string, word))
                        return true;
        JSON_FOREACH (item, json_get(v, "anyOf"))
                if (has_word(item, word))
                        return true;
        return false;
}

static char *full_name(const Field *f) {
        const char *group = field_group_to_string(f->group);

        return strformat("%s%s%s", group, *group ? "." : "", f->name);
}

TEST(every_row_is_whole) {
        FIELD_FOREACH(f) {
                ASSERT_NOT_NULL(f->name);
                ASSERT_NOT_NULL(f->types);
                ASSERT_NOT_NULL(f->read);
                ASSERT_TRUE(endswith(f->help, "."));
                ASSERT_TRUE(f->maximum == 0 || f->minimum <= f->maximum);
                ASSERT_TRUE(field_find(f->group, f->name) == f); /* and no other of that name */
        }
        ASSERT_NULL(field_find(FIELD_GROUP_LIMITS, "command"));
        ASSERT_TRUE(field_find(FIELD_GROUP_TOP, "transportType") == field_find(FIELD_GROUP_TOP, "type"));
}

TEST(the_schema_has_the_same_keys) {
        _cleanup_json_ JsonValue *schema = read_schema();

        for (FieldGroup g = 0; g < _FIELD_GROUP_MAX; g++) {
                JsonValue *properties = json_get(group_schema(schema, g), "properties"), *item;

                ASSERT_NOT_NULL(properties);
                JSON_FOREACH (item, properties)
                        if (!field_find(g, item->key))
                                test_fail(__FILE__, __LINE__, "only in the schema: %s", item->key);
                FIELD_FOREACH(f)
                if (f->group == g && !json_get(properties, f->name))
                        test_fail(__FILE__, __LINE__, "not in the schema: %s", f->name);
        }
}

TEST(the_schema_is_strict_where_the_reader_is) {
        _cleanup_json_ JsonValue *schema = read_schema();

        ASSERT_NULL(json_get(schema, "additionalProperties"));
        for (FieldGroup g = FIELD_GROUP_TOP + 1; g < _FIELD_GROUP_MAX; g++) {
                JsonValue *v = json_get(group_schema(schema, g), "additionalProperties");

                ASSERT_TRUE(v && v->type == JSON_BOOLEAN && !v->boolean);
        }
}

TEST(the_schema_has_the_same_words) {
        _cleanup_json_ JsonValue *schema = read_schema();

        FIELD_FOREACH(f)
        for (size_t i = 0; f->choices && f->choices[i]; i++)
                ASSERT_TRUE(has_word(
                                json_get(json_get(group_schema(schema, f->group), "properties"), f->name),
                                f->choices[i]));
}

TEST(the_schema_has_the_same_help) {
        _cleanup_json_ JsonValue *schema = read_schema();

        FIELD_FOREACH(f) {
                JsonValue *v = json_get(json_get(group_schema(schema, f->group), "properties"), f->name);

                ASSERT_CONTAINS(json_get(v, "description")->string, f->help);
        }
}

TEST(the_manual_has_every_key) {
        _cleanup_free_ char *page = read_source("src/config/mcp-server.json.5");

        FIELD_FOREACH(f) {
                _cleanup_free_ char *name = full_name(f), *alone = NULL;

                if ((f->flags & FIELD_FOREIGN) || f->types == strstr(f->types, "object")) {
                        ASSERT_CONTAINS(page, name);
                        continue;
                }
                alone = strformat("\n.It Sy %s\n", name);
                ASSERT_CONTAINS(page, alone);
        }
}

TEST(the_manual_has_no_other_key) {
        _cleanup_free_ char *page = read_source("src/config/mcp-server.json.5");
        _cleanup_strv_free_ char **lines = NULL;

        ASSERT_OK(strv_split(page, "\n", &lines));
        STRV_FOREACH (line, lines) {
                const char *name = startswith(*line, ".It Sy "), *dot = name ? strchr(name, '.') : NULL;
                bool known = false;

                if (!name || strchr(name, ','))
                        continue;
                for (FieldGroup g = 0; g < _FIELD_GROUP_MAX; g++) {
                        const char *group = field_group_to_string(g);
                        size_t n = dot ? (size_t) (dot - name) : 0;

                        if (strlen(group) == n && strncmp(group, name, n) == 0)
                                known = known || field_find(g, dot ? dot + 1 : name);
                }
                if (!known)
                        test_fail(__FILE__, __LINE__, "only in the manual: %s", name);
        }
}
