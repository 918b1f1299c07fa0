/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How a tool says what came out, and reads its arguments. */

#include "basic/string-util.h"
#include "demo-server/tools.h"

#define REPLACEMENT "\xef\xbf\xbd"

static int tool_add_text(ToolResult *result, const char *text, size_t n) {
        json_object *item, *value;

        if (n > INT32_MAX)
                return -ENOMEM;
        item = jsonc_new_pair("type", "text", NULL, NULL);
        if (jsonc_append(result->content, item) < 0)
                return -ENOMEM;
        value = json_object_new_string_len(text, (int) n);
        return jsonc_add(item, "text", value);
}

int tool_text(ToolResult *result, const char *format, ...) {
        _cleanup_free_ char *s = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&s, format, ap);
        va_end(ap);
        if (r < 0) {
                s = NULL;
                return -ENOMEM;
        }
        return tool_add_text(result, s, strlen(s));
}

/* The length of the UTF-8 character at s, or 0 where there is none. */
static size_t character_length(const char *s, size_t n) {
        for (size_t k = 1; k <= MIN(n, (size_t) 4); k++)
                if (string_is_utf8(s, k))
                        return k;
        return 0;
}

int tool_data(ToolResult *result, const char *data, size_t n) {
        _cleanup_free_ char *text = NULL;
        size_t length = 0, replaced = 0;
        int r;

        if (string_is_utf8(data, n))
                return tool_add_text(result, data, n);
        text = malloc(n * strlen(REPLACEMENT) + 1);
        if (!text)
                return -ENOMEM;
        for (size_t i = 0; i < n;) {
                size_t k = character_length(data + i, n - i);

                if (k > 0)
                        memcpy(text + length, data + i, k);
                else {
                        memcpy(text + length, REPLACEMENT, strlen(REPLACEMENT));
                        replaced++;
                }
                length += k > 0 ? k : strlen(REPLACEMENT);
                i += k > 0 ? k : 1;
        }
        r = tool_add_text(result, text, length);
        if (r < 0)
                return r;
        return tool_text(result, "%zu bytes that are not UTF-8 are shown as " REPLACEMENT ".", replaced);
}

int tool_fail(ToolResult *result, int error, const char *format, ...) {
        _cleanup_free_ char *s = NULL;
        const char *name = strerrorname_np(abs(error));
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&s, format, ap);
        va_end(ap);
        if (r < 0) {
                s = NULL;
                return -ENOMEM;
        }
        result->is_error = true;
        return tool_text(result, "%s: %s: %s", name ? name : "EUNKNOWN", s, STRERROR(error));
}

int64_t tool_integer(json_object *arguments, const char *name, int64_t otherwise) {
        json_object *v = jsonc_get(arguments, name, json_type_int);

        return v ? json_object_get_int64(v) : otherwise;
}

bool tool_boolean(json_object *arguments, const char *name) {
        json_object *v = jsonc_get(arguments, name, json_type_boolean);

        return v && json_object_get_boolean(v);
}
