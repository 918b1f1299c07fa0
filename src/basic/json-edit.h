/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Changes one member in a JSON text that a person wrote, and nothing else of it: order, blanks and comments stay. */

#include "basic/json.h"

/* Sets the member key of object, a value that json_parse() made of this very text, to literal, which is a JSON value as
 * text. Where there is no such member it becomes the first, laid out as the one that was first. -EINVAL: object is no
 * object, or the member is an array or an object; -ENOMEM. */
int json_edit_set(
                const char *text,
                size_t size,
                const JsonValue *object,
                const char *key,
                const char *literal,
                char **ret,
                size_t *ret_size);
