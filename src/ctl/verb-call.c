/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One call of one tool: the quickest way to see what the sandbox lets through. */

#include "basic/string-util.h"
#include "ctl/talk.h"

/* The server's text, line by line, so that nothing in it reaches a terminal as a command. A pipe gets it as it is. */
static int print_text_part(Ctl *ctl, const char *text) {
        if (ctl->style.columns == 0) {
                fputs(text, stdout);
                fputs(*text && endswith(text, "\n") ? "" : "\n", stdout);
                return 0;
        }
        for (const char *p = text; *p;) {
                size_t n = strcspn(p, "\n");
                _cleanup_free_ char *line = strndup(p, n), *safe = NULL;

                safe = line ? string_escape_control(line) : NULL;
                if (!safe)
                        return -ENOMEM;
                puts(safe);
                p += n;
                p += *p == '\n';
        }
        return 0;
}

static int print_part(Ctl *ctl, json_object *part) {
        const char *type = jsonc_get_string(part, "type"), *text = jsonc_get_string(part, "text");
        _cleanup_free_ char *safe = NULL;

        if (text && streq_ptr(type, "text"))
                return print_text_part(ctl, text);
        safe = string_escape_control(type ?: "unknown");
        if (!safe)
                return -ENOMEM;
        printf("(%s content; --json shows it)\n", safe);
        return 0;
}

static int print_result(Ctl *ctl, json_object *result) {
        json_object *content = jsonc_get(result, "content", json_type_array);
        size_t n = content ? json_object_array_length(content) : 0;
        int r = 0;

        if (ctl->json)
                return ctl_print_json(json_object_get(result));
        for (size_t i = 0; i < n && r >= 0; i++)
                r = print_part(ctl, json_object_array_get_idx(content, i));
        return r;
}

static int parse_arguments(Ctl *ctl, const char *text, json_object **ret) {
        _cleanup_jsonc_ json_object *value = NULL;
        int r;

        r = jsonc_parse(text, strlen(text), &value);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || !json_object_is_type(value, json_type_object))
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                "Write it in quotes, for example '{\"path\":\"/tmp/x\"}'.",
                                "The tool's arguments are not a JSON object.");
        *ret = TAKE_PTR(value);
        return 0;
}

int verb_call(Ctl *ctl, char **operands) {
        _cleanup_jsonc_ json_object *arguments = NULL, *result = NULL;
        _cleanup_talk_ Talk t = {};
        json_object *is_error;
        int r;

        if (operands[2]) {
                r = parse_arguments(ctl, operands[2], &arguments);
                if (r != 0)
                        return r;
        }
        r = talk_open(ctl, operands[0], /* probe= */ false, &t);
        if (r != 0)
                return r;
        if (!t.failed) {
                r = mcp_client_call_tool(t.client, operands[1], arguments, t.timeout_usec, &result);
                if (r > 0)
                        r = talk_fail(&t, mcp_client_diagnosis(t.client));
                if (r < 0)
                        return r;
        }
        if (t.failed)
                return talk_report(ctl, &t);
        r = print_result(ctl, result);
        if (r < 0)
                return r;
        is_error = jsonc_get(result, "isError", json_type_boolean);
        return is_error && json_object_get_boolean(is_error) ? CTL_FAILED : CTL_OK;
}
