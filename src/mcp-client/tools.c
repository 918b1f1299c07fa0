/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* tools/list with its pages, and tools/call. */

#include "basic/string-util.h"
#include "mcp-client/client-internal.h"

void mcp_tools_done(McpTools *t) {
        for (size_t i = 0; i < t->n; i++) {
                free(t->items[i].name);
                free(t->items[i].description);
                jsonc_putp(&t->items[i].input_schema);
        }
        free(t->items);
        *t = (McpTools){};
}

static int tools_add(McpTools *t, const char *name, const char *description, json_object *schema) {
        McpTool tool = {}, *items;

        items = reallocarray(t->items, t->n + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        t->items = items;
        tool.name = strdup(name);
        if (!tool.name || free_and_strdup(&tool.description, description) < 0) {
                free(tool.name);
                return -ENOMEM;
        }
        tool.input_schema = json_object_get(schema);
        items[t->n++] = tool;
        return 0;
}

/* The tools of one page. */
static int take_page(McpClient *c, json_object *result, McpTools *t) {
        json_object *array = jsonc_get(result, "tools", json_type_array);
        int r;

        if (!array)
                return mcp_client_fail_result(c, "tools/list", "there is no array \"tools\"");
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                json_object *item = json_object_array_get_idx(array, i);
                const char *name = jsonc_get_string(item, "name");

                if (!name)
                        return mcp_client_fail_result(c, "tools/list", "a tool has no \"name\"");
                if (t->n == MCP_TOOLS_MAX)
                        return mcp_client_fail(c, MCP_FAILURE_PAGES, "tools/list", NULL);
                r = tools_add(t,
                              name,
                              jsonc_get_string(item, "description"),
                              jsonc_get(item, "inputSchema", json_type_object));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* One page; *cursor is the one to ask with and becomes the next one, NULL behind the last page. */
static int list_page(McpClient *c, char **cursor, uint64_t deadline_usec, McpTools *t) {
        _cleanup_mcp_message_ McpMessage m = {};
        _cleanup_jsonc_ json_object *params = NULL;
        const char *next;
        int r;

        if (*cursor) {
                params = jsonc_new_pair("cursor", *cursor, NULL, NULL);
                if (!params)
                        return -ENOMEM;
        }
        r = mcp_client_ask(c, "tools/list", params, deadline_usec, &m);
        if (r == 0)
                r = take_page(c, m.result, t);
        if (r != 0)
                return r;
        next = jsonc_get_string(m.result, "nextCursor");
        if (next && streq_ptr(next, *cursor))
                return mcp_client_fail(c, MCP_FAILURE_PAGES, "tools/list", NULL);
        return free_and_strdup(cursor, next);
}

int mcp_client_list_tools(McpClient *c, uint64_t timeout_usec, McpTools *ret) {
        _cleanup_mcp_tools_ McpTools t = {};
        _cleanup_free_ char *cursor = NULL;
        uint64_t deadline = mcp_deadline(timeout_usec);
        unsigned pages = 0;
        int r;

        if (!c->opened)
                return -ENOTCONN;
        do {
                if (pages++ == MCP_PAGES_MAX)
                        return mcp_client_fail(c, MCP_FAILURE_PAGES, "tools/list", NULL);
                r = list_page(c, &cursor, deadline, &t);
                if (r != 0)
                        return r;
        } while (cursor);
        *ret = TAKE_GENERIC(t, McpTools, (McpTools){});
        return 0;
}

int mcp_client_call_tool(
                McpClient *c,
                const char *name,
                json_object *arguments,
                uint64_t timeout_usec,
                json_object **ret) {
        _cleanup_jsonc_ json_object *params = NULL, *result = NULL;
        int r;

        params = jsonc_new_pair("name", name, NULL, NULL);
        if (!params)
                return -ENOMEM;
        r = jsonc_add(params,
                      "arguments",
                      arguments ? json_object_get(arguments) : json_object_new_object());
        if (r < 0)
                return r;
        r = mcp_client_request(c, "tools/call", params, timeout_usec, &result);
        if (r != 0)
                return r;
        if (!jsonc_get(result, "content", json_type_array))
                return mcp_client_fail_result(c, "tools/call", "there is no array \"content\"");
        *ret = TAKE_PTR(result);
        return 0;
}
