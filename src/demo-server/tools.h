/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The demo server's tools: what they are called, what they take, and what calling one gives.
 *
 * A tool tries one thing and tells the truth about it: an operation that the kernel refuses is a result with isError
 * and the name of the errno in its text, never a protocol error. */

#include <inttypes.h>

#include "basic/jsonc-util.h"

typedef enum ToolParamType {
        TOOL_TEXT,    /* a string */
        TOOL_STRING,  /* a string without NUL: a path, a name */
        TOOL_INTEGER, /* between minimum and maximum */
        TOOL_BOOLEAN,
        TOOL_STRINGS, /* an array of one or more TOOL_STRING */
        _TOOL_PARAM_TYPE_MAX,
} ToolParamType;

typedef struct ToolParam {
        const char *name;
        ToolParamType type;
        bool required;
        int64_t minimum, maximum;
        const char *description;
} ToolParam;

typedef struct ToolResult {
        json_object *content; /* array of text items */
        bool is_error;
} ToolResult;

/* Does the work and fills the result. 0, or -ENOMEM. The arguments fit the parameters. */
typedef int (*ToolHandler)(json_object *arguments, ToolResult *result);

typedef struct Tool {
        const char *name;
        const char *description;
        ToolHandler handler;
        ToolParam params[5]; /* up to the first without a name */
} Tool;

/* The value of "tools" in the answer to tools/list. NULL: no memory. */
json_object *tools_to_json(void);

/* -ENOENT: there is no such tool; -ENOMEM. arguments may be NULL. *ret has content and isError. */
int tools_call(const char *name, json_object *arguments, json_object **ret);

/* For the handlers. */
int tool_text(ToolResult *result, const char *format, ...) _printf_(2, 3);
int tool_data(ToolResult *result,
              const char *data,
              size_t n); /* any bytes: what isn't UTF-8 becomes U+FFFD, and a note says so */
int tool_fail(ToolResult *result, int error, const char *format, ...) _printf_(3, 4);
int64_t tool_integer(json_object *arguments, const char *name, int64_t otherwise);
bool tool_boolean(json_object *arguments, const char *name);

int tool_read_file(json_object *arguments, ToolResult *result);
int tool_write_file(json_object *arguments, ToolResult *result);
int tool_list_directory(json_object *arguments, ToolResult *result);
int tool_connect(json_object *arguments, ToolResult *result);
int tool_spawn(json_object *arguments, ToolResult *result);
int tool_signal(json_object *arguments, ToolResult *result);
int tool_whoami(json_object *arguments, ToolResult *result);
int tool_list_environment(json_object *arguments, ToolResult *result);
int tool_echo(json_object *arguments, ToolResult *result);
int tool_sleep(json_object *arguments, ToolResult *result);
int tool_stderr(json_object *arguments, ToolResult *result);
