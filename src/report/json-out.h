/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Builds JSON answers without a check after every member: the first failure sticks and comes out at the end. Text that
 * is not UTF-8 (a path) is escaped as \xNN, so that the answer is always JSON. */

#include "basic/jsonc-util.h"

typedef struct JsonOut {
        json_object *root;
        bool failed;
} JsonOut;

/* Starts with an object (or, array, an array) as root. */
void json_out_init(JsonOut *out, bool array);
void json_out_done(JsonOut *out);
#define _cleanup_json_out_ _cleanup_(json_out_done)

/* parent: an object (key is the member's name) or an array (key NULL); NULL after a failure, which is fine. */
json_object *json_out_object(JsonOut *out, json_object *parent, const char *key);
json_object *json_out_array(JsonOut *out, json_object *parent, const char *key);
void json_out_string(JsonOut *out, json_object *parent, const char *key, const char *value); /* NULL: null */
void json_out_integer(JsonOut *out, json_object *parent, const char *key, int64_t value);
void json_out_boolean(JsonOut *out, json_object *parent, const char *key, bool value);
void json_out_strv(JsonOut *out, json_object *parent, const char *key, char *const *values);

/* A limit: null where unset, "infinity" without one, else the number. */
void json_out_limit(JsonOut *out, json_object *parent, const char *key, uint64_t value);

/* Adds a value that was built elsewhere, and owns it. NULL is a failure. */
void json_out_value(JsonOut *out, json_object *parent, const char *key, json_object *value);

/* Hands the root out. -ENOMEM where anything failed. */
int json_out_finish(JsonOut *out, json_object **ret);

/* Prints value and a newline, indented for people. */
int json_out_print(FILE *f, json_object *value);
