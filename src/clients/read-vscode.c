/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* VS Code's own sandbox: what it lets a server write is granted here, too; what it forbids has to be said anew. */

#include "basic/string-util.h"
#include "clients/read.h"

static int read_writable(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        const JsonValue *item;
        int r;

        JSON_FOREACH (item, v) {
                char *text;

                r = entry_string(reader, s, item, &text);
                if (r >= 0 && text)
                        r = strv_consume(&s->write, text);
                if (r < 0)
                        return r;
        }
        return 0;
}

int vscode_read_sandbox(EntryReader *reader, ClientServer *s, const JsonValue *v) {
        static const char *const groups[] = { "filesystem", "network" };
        const JsonValue *on = json_get(s->value, "sandboxEnabled"), *item;
        int r;

        /* Without the switch nothing of it has an effect in the editor either. */
        if (!on || on->type != JSON_BOOLEAN || !on->boolean)
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(groups); i++)
                JSON_FOREACH (item, json_get(v, groups[i])) {
                        if (i == 0 && streq_ptr(item->key, "allowWrite") && item->type == JSON_ARRAY) {
                                r = read_writable(reader, s, item);
                                if (r < 0)
                                        return r;
                        } else
                                problem_add(&s->problems,
                                            PROBLEM_WARNING,
                                            "MCP-I-LOST",
                                            reader->import->path,
                                            item,
                                            i == 0 ? "Give the server a manifest in \"isolation\"."
                                                   : "Set \"network\" in \"isolation\".",
                                            "\"%.64s\" restricts the server in the editor, and is not "
                                            "carried "
                                            "over.",
                                            strempty(item->key));
                }
        return 0;
}
