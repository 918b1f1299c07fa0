/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* json-c for messages on a wire, where nobody needs positions: parsing one, building one. Files that people write
 * are read with basic/json.h. */

#include <json-c/json.h>

#include "basic/macro.h"

#define JSONC_DEPTH_MAX 128
#define JSONC_WEIGHT_MAX \
        (2U * 1024U * 1024U) /* values, an array counted as 8 and an object as 16: about 150 MiB */

static inline void jsonc_putp(json_object **p) {
        if (*p)
                (void) json_object_put(*p);
}
#define _cleanup_jsonc_ _cleanup_(jsonc_putp)

/* Parses n bytes as one JSON value (white space around it is fine). The value JSON null is NULL. -EILSEQ: not UTF-8;
 * -EBADMSG: not JSON, or nested deeper than JSONC_DEPTH_MAX; -E2BIG: more values
 * than JSONC_WEIGHT_MAX allows; -EMSGSIZE: too large for json-c; -ENOMEM. A lone
 * surrogate escape becomes U+FFFD; of a duplicate key the last one wins. */
int jsonc_parse(const char *text, size_t n, json_object **ret);

/* Adds value to the object, and owns it from then on, also on failure. -ENOMEM, also where value is NULL. */
int jsonc_add(json_object *object, const char *key, json_object *value);
int jsonc_add_string(json_object *object, const char *key, const char *s);
int jsonc_append(json_object *array, json_object *value);

/* A new object that holds one string, or name and version: shapes that MCP uses again and again. NULL: no memory. */
json_object *jsonc_new_pair(const char *key1, const char *s1, const char *key2, const char *s2);

/* The member where it is of that type, NULL otherwise (also where object is NULL or no object). */
json_object *jsonc_get(json_object *object, const char *key, json_type type);

/* The member where it is a string without NUL. */
const char *jsonc_get_string(json_object *object, const char *key);

/* The compact text, on one line; it belongs to the value. NULL: no memory. */
const char *jsonc_to_text(json_object *value, size_t *ret_n);
