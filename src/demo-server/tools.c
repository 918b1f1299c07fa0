/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of tools. Their schemas and the check of their arguments come from the same rows. */

#include "demo-server/tools.h"
#include "basic/string-util.h"

static const Tool tools[] = {
        { "read_file",
          "Read a file. At most max_bytes of it are returned.",
          tool_read_file,
          { { "path", TOOL_STRING, true, 0, 0, "The file to read" },
            { "max_bytes",
              TOOL_INTEGER,
              false,
              1,
              32 * 1024 * 1024,
              "Where to stop; 16 MiB unless given" } } },
        { "write_file",
          "Write text to a file, which is created where it is missing.",
          tool_write_file,
          { { "path", TOOL_STRING, true, 0, 0, "The file to write" },
            { "content", TOOL_TEXT, true, 0, 0, "What to write" },
            { "append", TOOL_BOOLEAN, false, 0, 0, "Add to the end instead of replacing what is there" } } },
        { "list_directory",
          "List a directory, one name a line; the names of directories end in '/'.",
          tool_list_directory,
          { { "path", TOOL_STRING, true, 0, 0, "The directory to list" } } },
        { "connect",
          "Open a connection and close it again: TCP with host and port, or a UNIX socket with path.",
          tool_connect,
          { { "host", TOOL_STRING, false, 0, 0, "A host name or an IP address" },
            { "port", TOOL_INTEGER, false, 1, 65535, "A TCP port" },
            { "path",
              TOOL_STRING,
              false,
              0,
              0,
              "A UNIX socket; a leading '@' means the abstract name space" },
            { "timeout_ms", TOOL_INTEGER, false, 1, 600000, "How long to try; 5000 unless given" } } },
        { "spawn",
          "Run a program without a shell, wait for it, and return its output and exit status.",
          tool_spawn,
          { { "argv", TOOL_STRINGS, true, 0, 0, "The program (looked up in PATH) and its arguments" },
            { "timeout_ms", TOOL_INTEGER, false, 1, 600000, "When to kill it; 30000 unless given" } } },
        { "signal",
          "Send a signal to a process.",
          tool_signal,
          { { "pid", TOOL_INTEGER, true, 1, INT32_MAX, "The process" },
            { "signal",
              TOOL_INTEGER,
              true,
              0,
              64,
              "The signal's number; 0 only asks whether it could be sent" } } },
        { "whoami",
          "Tell who this process is: ids, groups, no_new_privs, seccomp mode, capabilities, cgroup.",
          tool_whoami,
          {} },
        { "list_environment",
          "List this process's environment variables with their values.",
          tool_list_environment,
          {} },
        { "echo",
          "Return a text as it came.",
          tool_echo,
          { { "text", TOOL_TEXT, true, 0, 0, "The text" } } },
        { "sleep",
          "Do nothing for a while; nothing else is answered meanwhile.",
          tool_sleep,
          { { "ms", TOOL_INTEGER, true, 0, 3600000, "Milliseconds" } } },
        { "stderr",
          "Write a line to standard error.",
          tool_stderr,
          { { "text", TOOL_TEXT, true, 0, 0, "The line" } } },
};

static const char *const param_type_table[_TOOL_PARAM_TYPE_MAX] = {
        [TOOL_TEXT] = "string",     [TOOL_STRING] = "string", [TOOL_INTEGER] = "integer",
        [TOOL_BOOLEAN] = "boolean", [TOOL_STRINGS] = "array",
};

static json_object *param_to_schema(const ToolParam *p) {
        _cleanup_jsonc_ json_object *schema = NULL;

        schema = jsonc_new_pair("type", param_type_table[p->type], "description", p->description);
        if (!schema)
                return NULL;
        if (p->type == TOOL_INTEGER &&
            (jsonc_add(schema, "minimum", json_object_new_int64(p->minimum)) < 0 ||
             jsonc_add(schema, "maximum", json_object_new_int64(p->maximum)) < 0))
                return NULL;
        if (p->type == TOOL_STRINGS &&
            (jsonc_add(schema, "items", jsonc_new_pair("type", "string", NULL, NULL)) < 0 ||
             jsonc_add(schema, "minItems", json_object_new_int(1)) < 0))
                return NULL;
        return TAKE_PTR(schema);
}

static json_object *tool_to_schema(const Tool *tool) {
        _cleanup_jsonc_ json_object *schema = NULL;
        json_object *properties, *required;

        schema = jsonc_new_pair("type", "object", NULL, NULL);
        properties = json_object_new_object();
        if (!schema || jsonc_add(schema, "properties", properties) < 0)
                return NULL;
        required = json_object_new_array();
        if (jsonc_add(schema, "required", required) < 0 ||
            jsonc_add(schema, "additionalProperties", json_object_new_boolean(false)) < 0)
                return NULL;
        for (const ToolParam *p = tool->params; p->name; p++) {
                if (jsonc_add(properties, p->name, param_to_schema(p)) < 0)
                        return NULL;
                if (p->required && jsonc_append(required, json_object_new_string(p->name)) < 0)
                        return NULL;
        }
        return TAKE_PTR(schema);
}

json_object *tools_to_json(void) {
        _cleanup_jsonc_ json_object *array = NULL;

        array = json_object_new_array();
        if (!array)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(tools); i++) {
                json_object *o = jsonc_new_pair("name", tools[i].name, "description", tools[i].description);

                if (jsonc_append(array, o) < 0 || jsonc_add(o, "inputSchema", tool_to_schema(tools + i)) < 0)
                        return NULL;
        }
        return TAKE_PTR(array);
}

static bool value_is_string(json_object *v) {
        return json_object_is_type(v, json_type_string) &&
               strlen(json_object_get_string(v)) == (size_t) json_object_get_string_len(v);
}

static bool value_is_strings(json_object *v) {
        if (!json_object_is_type(v, json_type_array) || json_object_array_length(v) == 0)
                return false;
        for (size_t i = 0; i < json_object_array_length(v); i++)
                if (!value_is_string(json_object_array_get_idx(v, i)))
                        return false;
        return true;
}

static bool value_fits(const ToolParam *p, json_object *v) {
        switch (p->type) {
        case TOOL_TEXT:
                return json_object_is_type(v, json_type_string);
        case TOOL_STRING:
                return value_is_string(v) && json_object_get_string_len(v) > 0;
        case TOOL_INTEGER:
                return json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= p->minimum &&
                       json_object_get_int64(v) <= p->maximum;
        case TOOL_BOOLEAN:
                return json_object_is_type(v, json_type_boolean);
        case TOOL_STRINGS:
                return value_is_strings(v);
        default:
                return false;
        }
}

static const ToolParam *tool_find_param(const Tool *tool, const char *name) {
        for (const ToolParam *p = tool->params; p->name; p++)
                if (streq(p->name, name))
                        return p;
        return NULL;
}

/* Wrong arguments are results too (since 2025-11-25), so that the model can read them and try again. 1: they fit;
 * 0: they don't, and the result says why. */
static int tool_check_arguments(const Tool *tool, json_object *arguments, ToolResult *result) {
        int r;

        if (arguments) {
                json_object_object_foreach(arguments, key, value) {
                        const ToolParam *p = tool_find_param(tool, key);

                        if (!p) {
                                r = tool_fail(result, EINVAL, "%s has no argument \"%s\"", tool->name, key);
                                return r < 0 ? r : 0;
                        }
                        if (!value_fits(p, value)) {
                                r = tool_fail(result,
                                              EINVAL,
                                              "\"%s\" of %s does not fit its schema",
                                              key,
                                              tool->name);
                                return r < 0 ? r : 0;
                        }
                }
        }
        for (const ToolParam *p = tool->params; p->name; p++)
                if (p->required && !json_object_object_get_ex(arguments, p->name, NULL)) {
                        r = tool_fail(result, EINVAL, "%s needs the argument \"%s\"", tool->name, p->name);
                        return r < 0 ? r : 0;
                }
        return 1;
}

int tools_call(const char *name, json_object *arguments, json_object **ret) {
        _cleanup_jsonc_ json_object *o = NULL;
        const Tool *tool = NULL;
        ToolResult result = {};
        int r;

        for (size_t i = 0; i < ELEMENTSOF(tools) && !tool; i++)
                if (streq(tools[i].name, name))
                        tool = tools + i;
        if (!tool)
                return -ENOENT;
        o = json_object_new_object();
        result.content = json_object_new_array();
        if (!o || jsonc_add(o, "content", result.content) < 0)
                return -ENOMEM;
        r = tool_check_arguments(tool, arguments, &result);
        if (r > 0)
                r = tool->handler(arguments, &result);
        if (r >= 0)
                r = jsonc_add(o, "isError", json_object_new_boolean(result.is_error));
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}
