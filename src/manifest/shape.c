/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The walk over a JSON value with the tables of schema.c in hand. Recursion is bounded by the tables' own depth. */

#include <ctype.h>
#include <inttypes.h>

#include "basic/string-util.h"
#include "manifest/schema.h"

#define NEAR_MISS_EDITS 2U

/* "path" or "an element": how messages call what a field describes. */
static char *field_name(const Field *f) {
        return f->key ? strformat("\"%s\"", f->key) : strdup("Each element here");
}

static char *values_list(const char *const *values) {
        _cleanup_free_ char *joined = strv_join((char *const *) values, "\", \"");

        return joined ? strformat("Write one of \"%s\".", joined) : NULL;
}

/* What to write instead of something of another type. NULL: out of memory, or nothing short to say. */
static char *type_remedy(const Field *f) {
        static const char *const words[_JSON_TYPE_MAX] = {
                [JSON_BOOLEAN] = "Write true or false.",
                [JSON_INTEGER] = "Write a number, without quotes.",
                [JSON_STRING] = "Write a string in double quotes.",
                [JSON_ARRAY] = "Write a list in brackets: […].",
                [JSON_OBJECT] = "Write an object in braces: {…}.",
        };

        return f->values ? values_list(f->values) : strdup(words[f->type]);
}

static char *keys_list(const ObjectShape *o) {
        _cleanup_strv_free_ char **keys = NULL;
        _cleanup_free_ char *joined = NULL;

        for (size_t i = 0; i < o->n_fields; i++)
                if (strv_extend(&keys, o->fields[i].key) < 0)
                        return NULL;
        joined = strv_join(keys, "\", \"");
        return joined ? strformat("Known here are \"%s\".", joined) : NULL;
}

static void check_string(const Field *f, const JsonValue *v, Reporter *r) {
        _cleanup_free_ char *name = field_name(f), *quoted = report_quote(v), *list = NULL;

        if (strlen(v->string) != v->string_length) {
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-NUL",
                       v,
                       "Take it out.",
                       "%s has a NUL character in it.",
                       strempty(name));
                return;
        }
        if ((f->flags & FIELD_NOT_EMPTY) && v->string_length == 0)
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-EMPTY",
                       v,
                       "Write at least one character.",
                       "%s is empty.",
                       strempty(name));
        if (!f->values || strv_contains((char *const *) f->values, v->string))
                return;
        list = values_list(f->values);
        report(r,
               PROBLEM_ERROR,
               "MCP-M-VALUE",
               v,
               list,
               "%s does not know the value \"%s\".",
               strempty(name),
               strempty(quoted));
}

static void check_integer(const Field *f, const JsonValue *v, Reporter *r) {
        _cleanup_free_ char *name = field_name(f);
        uint64_t n;

        if (v->type == JSON_REAL && !manifest_integer(v, &n)) {
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-INTEGER",
                       v,
                       "Write it with digits alone.",
                       "%s has to be an integer without fraction and exponent, at most %" PRIu64 ".",
                       strempty(name),
                       f->max);
                return;
        }
        if (!manifest_integer(v, &n) || n < f->min || n > f->max)
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-RANGE",
                       v,
                       "Write a number in that range, or take it out.",
                       "%s has to be from %" PRIu64 " to %" PRIu64 ".",
                       strempty(name),
                       f->min,
                       f->max);
}

static void check_field(const Field *f, const JsonValue *v, Reporter *r);

static void check_array(const Field *f, const JsonValue *v, Reporter *r) {
        _cleanup_free_ char *name = field_name(f);
        const JsonValue *item;

        if (f->exact_items > 0 && v->n_items != f->exact_items)
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-COUNT",
                       v,
                       "Write the first and the last: [8000, 8010].",
                       "%s has to hold exactly %zu values, not %zu.",
                       strempty(name),
                       f->exact_items,
                       v->n_items);
        if (f->max_items > 0 && v->n_items > f->max_items) {
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-LIMIT",
                       v,
                       "Grant the directories that these paths have in common.",
                       "%s has %zu entries; at most %zu are taken here.",
                       strempty(name),
                       v->n_items,
                       f->max_items);
                return;
        }
        JSON_FOREACH (item, v)
                check_field(f->element, item, r);
}

/* The known key that an unknown one was probably meant to be. Case and two edits do not hide a typo: "Mode" and "moed"
 * would otherwise be passed over as unknown, and the network left open. */
static const char *near_miss(const ObjectShape *o, const char *key) {
        _cleanup_free_ char *lower = strdup(key);
        const char *best = NULL;
        size_t best_edits = NEAR_MISS_EDITS + 1;

        if (!lower)
                return NULL;
        for (char *c = lower; *c; c++)
                *c = (char) tolower((unsigned char) *c);
        for (size_t i = 0; i < o->n_fields; i++) {
                size_t edits =
                                MIN(string_distance(key, o->fields[i].key),
                                    string_distance(lower, o->fields[i].key));

                if (edits < best_edits) {
                        best = o->fields[i].key;
                        best_edits = edits;
                }
        }
        return best;
}

/* The pointer of the object where a key would be known. */
static const char *key_home(const ObjectShape *o, const char *key) {
        for (size_t i = 0; i < o->n_fields; i++) {
                const Field *f = o->fields + i, *below = f->element ? f->element : f;
                const char *home;

                if (streq(f->key, key))
                        return *o->pointer ? o->pointer : "the top level";
                home = below->object ? key_home(below->object, key) : NULL;
                if (home)
                        return home;
        }
        return NULL;
}

static void unknown_key(const ObjectShape *o, const JsonValue *v, Reporter *r) {
        const char *near = near_miss(o, v->key), *home = key_home(&manifest_shape, v->key);
        _cleanup_free_ char *remedy = NULL;

        if (near) {
                remedy = strformat("Write \"%s\", if that is meant.", near);
                report_key(r,
                           PROBLEM_ERROR,
                           "MCP-M-NEAR-MISS",
                           v,
                           remedy,
                           "The key \"%.64s\" is not known here, and is too close to \"%s\" to be passed "
                           "over.",
                           v->key,
                           near);
                return;
        }
        if (home)
                remedy = strformat("The key \"%s\" belongs to %s.", v->key, home);
        else if (o->closed)
                remedy = keys_list(o);
        if (o->closed)
                report_key(r,
                           PROBLEM_ERROR,
                           "MCP-M-UNKNOWN-KEY",
                           v,
                           remedy,
                           "The key \"%.64s\" is not known here, and %s takes no others.",
                           v->key,
                           o->pointer);
        else
                report_key(r,
                           PROBLEM_WARNING,
                           "MCP-M-UNKNOWN-KEY",
                           v,
                           remedy,
                           "The key \"%.64s\" is not known to version 0.1.0 of manifests and has no effect.",
                           v->key);
}

static void missing_key(const Field *f, const JsonValue *v, Reporter *r) {
        _cleanup_free_ char *values = f->values ? strv_join((char *const *) f->values, "\", \"") : NULL;
        _cleanup_free_ char *remedy =
                        values ? strformat("Add \"%s\": one of \"%s\".", f->key, values)
                               : strformat("Add \"%s\": \"%s\".", f->key, f->example ? f->example : "…");

        report(r, PROBLEM_ERROR, "MCP-M-REQUIRED", v, remedy, "The key \"%s\" is missing here.", f->key);
}

static void check_object(const ObjectShape *o, const JsonValue *v, Reporter *r) {
        const JsonValue *item;

        for (size_t i = 0; i < o->n_fields; i++)
                if ((o->fields[i].flags & FIELD_REQUIRED) && !json_get(v, o->fields[i].key))
                        missing_key(o->fields + i, v, r);
        JSON_FOREACH (item, v) {
                const Field *f = NULL;

                for (size_t i = 0; i < o->n_fields && !f; i++)
                        if (streq(o->fields[i].key, item->key))
                                f = o->fields + i;
                if (!f)
                        unknown_key(o, item, r);
                else if (item->hidden_line > 0 || json_get(v, item->key) != item)
                        report_key(r,
                                   PROBLEM_ERROR,
                                   "MCP-M-DUPLICATE-KEY",
                                   item,
                                   "Keep one of them.",
                                   "The key \"%s\" is there twice.",
                                   item->key);
                else
                        check_field(f, item, r);
        }
}

static void check_field(const Field *f, const JsonValue *v, Reporter *r) {
        _cleanup_free_ char *name = NULL, *remedy = NULL;
        bool number = f->type == JSON_INTEGER && v->type == JSON_REAL;

        if (v->type == JSON_NULL && (f->flags & FIELD_NULLABLE))
                return;
        if (v->type != f->type && !number) {
                name = field_name(f);
                remedy = v->type == JSON_NULL && !(f->flags & FIELD_REQUIRED) && f->key
                                         ? strdup("Leave the key out instead.")
                                         : type_remedy(f);
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-TYPE",
                       v,
                       remedy,
                       "%s has to be %s, not %s.",
                       strempty(name),
                       json_type_to_string(f->type),
                       json_type_to_string(v->type));
                return;
        }
        if (f->type == JSON_STRING)
                check_string(f, v, r);
        else if (f->type == JSON_INTEGER)
                check_integer(f, v, r);
        else if (f->type == JSON_ARRAY)
                check_array(f, v, r);
        else if (f->type == JSON_OBJECT)
                check_object(f->object, v, r);
}

void manifest_check_shape(const JsonValue *v, Reporter *r) {
        if (v->type == JSON_OBJECT)
                check_object(&manifest_shape, v, r);
        else
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-TYPE",
                       v,
                       "The smallest manifest is {\"version\": \"0.1.0\"}.",
                       "A manifest has to be an object, not %s.",
                       json_type_to_string(v->type));
}

const JsonValue *manifest_member(const JsonValue *v, const char *key, JsonType type) {
        const JsonValue *item = json_get(v, key);

        return item && item->type == type ? item : NULL;
}

bool manifest_integer(const JsonValue *v, uint64_t *ret) {
        bool zero = v && v->type == JSON_INTEGER && v->integer == 0;

        if (!v || (v->natural == 0 && !zero))
                return false;
        *ret = v->natural;
        return true;
}

int manifest_enum(const JsonValue *v, const char *key, const char *const *values, int fallback) {
        const JsonValue *item = json_get(v, key);

        if (!item)
                return fallback;
        if (item->type != JSON_STRING || strlen(item->string) != item->string_length)
                return -EINVAL;
        for (int i = 0; values[i]; i++)
                if (streq(values[i], item->string))
                        return i;
        return -EINVAL;
}
