/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the confined server offers. */

#include "basic/string-util.h"
#include "ctl/pager.h"
#include "ctl/talk.h"
#include "report/table.h"

static int print_json(const McpTools *tools) {
        _cleanup_json_out_ JsonOut out;
        json_object *root;
        int r;

        json_out_init(&out, /* array= */ true);
        for (size_t i = 0; i < tools->n; i++) {
                const McpTool *tool = tools->items + i;
                json_object *o = json_out_object(&out, out.root, NULL);

                json_out_string(&out, o, "name", tool->name);
                json_out_string(&out, o, "description", tool->description);
                if (tool->input_schema)
                        json_out_value(&out, o, "inputSchema", json_object_get(tool->input_schema));
                else
                        json_out_string(&out, o, "inputSchema", NULL);
        }
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

static int print_text(Ctl *ctl, const McpTools *tools) {
        static const TableColumn columns[] = { { "TOOL" }, { "DESCRIPTION", TABLE_WRAP }, {} };
        _cleanup_table_ Table *t = NULL;
        int r;

        r = pager_open(ctl);
        if (r < 0)
                return r;
        r = table_new(columns, &ctl->style, &t);
        if (r < 0)
                return r;
        for (size_t i = 0; i < tools->n; i++) {
                const char *description = strempty(tools->items[i].description);

                table_row(t);
                table_cell(t, 0, TONE_BOLD, tools->items[i].name);
                /* The first line; --json has all of it. */
                table_cellf(t, 1, TONE_PLAIN, "%.*s", (int) strcspn(description, "\r\n"), description);
        }
        return table_print(t, stdout);
}

int verb_tools(Ctl *ctl, char **operands) {
        _cleanup_mcp_tools_ McpTools tools = {};
        _cleanup_talk_ Talk t = {};
        int r;

        r = talk_open(ctl, operands[0], /* probe= */ false, &t);
        if (r != 0)
                return r;
        if (!t.failed) {
                r = mcp_client_list_tools(t.client, t.timeout_usec, &tools);
                if (r > 0)
                        r = talk_fail(&t, mcp_client_diagnosis(t.client));
                if (r < 0)
                        return r;
        }
        if (t.failed)
                return talk_report(ctl, &t);
        return ctl->json ? print_json(&tools) : print_text(ctl, &tools);
}
