/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report/json-out.h"
#include "basic/string-util.h"
#include "config/definition.h"

void json_out_init(JsonOut *out, bool array) {
        *out = (JsonOut){ .root = array ? json_object_new_array() : json_object_new_object() };
        out->failed = !out->root;
}

void json_out_done(JsonOut *out) {
        jsonc_putp(&out->root);
        out->root = NULL;
}

static void json_out_add(JsonOut *out, json_object *parent, const char *key, json_object *value) {
        int r;

        if (!parent) {
                jsonc_putp(&value);
                out->failed = true;
                return;
        }
        r = key ? json_object_object_add(parent, key, value) : json_object_array_add(parent, value);
        if (r < 0) {
                jsonc_putp(&value);
                out->failed = true;
        }
}

void json_out_value(JsonOut *out, json_object *parent, const char *key, json_object *value) {
        if (!value)
                out->failed = true;
        else
                json_out_add(out, parent, key, value);
}

json_object *json_out_object(JsonOut *out, json_object *parent, const char *key) {
        json_object *o = json_object_new_object();

        json_out_value(out, parent, key, o);
        return out->failed ? NULL : o;
}

json_object *json_out_array(JsonOut *out, json_object *parent, const char *key) {
        json_object *a = json_object_new_array();

        json_out_value(out, parent, key, a);
        return out->failed ? NULL : a;
}

void json_out_string(JsonOut *out, json_object *parent, const char *key, const char *value) {
        _cleanup_free_ char *safe = NULL;

        if (!value) {
                json_out_add(out, parent, key, NULL);
                return;
        }
        if (!string_is_utf8(value, strlen(value))) {
                safe = string_escape_control(value);
                if (!safe) {
                        out->failed = true;
                        return;
                }
                value = safe;
        }
        json_out_value(out, parent, key, json_object_new_string(value));
}

void json_out_integer(JsonOut *out, json_object *parent, const char *key, int64_t value) {
        json_out_value(out, parent, key, json_object_new_int64(value));
}

void json_out_boolean(JsonOut *out, json_object *parent, const char *key, bool value) {
        json_out_value(out, parent, key, json_object_new_boolean(value));
}

void json_out_strv(JsonOut *out, json_object *parent, const char *key, char *const *values) {
        json_object *a = json_out_array(out, parent, key);

        STRV_FOREACH (s, values)
                json_out_string(out, a, NULL, *s);
}

void json_out_limit(JsonOut *out, json_object *parent, const char *key, uint64_t value) {
        if (value == LIMIT_UNSET)
                json_out_string(out, parent, key, NULL);
        else if (value == LIMIT_INFINITY)
                json_out_string(out, parent, key, "infinity");
        else
                json_out_value(out, parent, key, json_object_new_uint64(value));
}

int json_out_finish(JsonOut *out, json_object **ret) {
        if (out->failed)
                return -ENOMEM;
        *ret = TAKE_PTR(out->root);
        return 0;
}

int json_out_print(FILE *f, json_object *value) {
        const char *text = json_object_to_json_string_ext(
                        value,
                        JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

        if (!text)
                return -ENOMEM;
        return fprintf(f, "%s\n", text) < 0 ? -EIO : 0;
}
