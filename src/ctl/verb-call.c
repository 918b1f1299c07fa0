/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One call of one tool: the quickest way to see what the sandbox lets through. */

#include <fcntl.h>

#include "basic/fd-util.h"
#include "basic/json.h"
#include "basic/string-util.h"
#include "ctl/talk.h"

#define ARGUMENTS_MAX (15U * 1024U * 1024U) /* what a message may hold, with room for the rest of it */

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

static int fail_read(Ctl *ctl, const char *what, int error) {
        return ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-FILE",
                        NULL,
                        "%s cannot be read: %s.",
                        what,
                        error == -EFBIG ? "it is too large" : STRERROR(error));
}

/* The operand: JSON itself, "-" for our standard input, or "@FILE". */
static int read_arguments(Ctl *ctl, const char *operand, char **ret, size_t *ret_size) {
        bool in = streq(operand, "-");
        int r;

        if (!in && operand[0] != '@') {
                *ret = strdup(operand);
                *ret_size = strlen(operand);
                return *ret ? 0 : -ENOMEM;
        }
        r = in ? fd_read_all(STDIN_FILENO, ARGUMENTS_MAX, ret, ret_size)
               : file_read_at(AT_FDCWD, operand + 1, ARGUMENTS_MAX, ret, ret_size);
        return r >= 0 || r == -ENOMEM ? r : fail_read(ctl, in ? "Standard input" : operand + 1, r);
}

static int fail_json(Ctl *ctl, const char *where) {
        return ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-ARGUMENTS",
                        "Write one in quotes, for example '{\"path\":\"/tmp/x\"}', or put it into a file "
                        "and "
                        "write @FILE, or \"-\" for standard input.",
                        "The tool's arguments are not a JSON object%s%s.",
                        *where ? ": " : "",
                        where);
}

static int parse_arguments(Ctl *ctl, const char *operand, json_object **ret) {
        _cleanup_jsonc_ json_object *value = NULL;
        _cleanup_json_ JsonValue *checked = NULL;
        _cleanup_free_ char *text = NULL, *where = NULL;
        JsonError error;
        size_t size;
        int r;

        r = read_arguments(ctl, operand, &text, &size);
        if (r != 0)
                return r;
        /* It knows the place of what is wrong. */
        r = json_parse(text, size, JSON_LARGE, &checked, &error);
        if (r == -EINVAL || r == -E2BIG) {
                where = strformat("line %u, column %u: %s", error.line, error.column, error.message);
                return where ? fail_json(ctl, where) : -ENOMEM;
        }
        if (r >= 0)
                r = jsonc_parse(text, size, &value);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || !json_object_is_type(value, json_type_object))
                return fail_json(ctl, r < 0 ? "" : "it is another value");
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
