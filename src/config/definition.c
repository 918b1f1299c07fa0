/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/definition.h"
#include "basic/string-util.h"

static const char *const dialect_table[_DIALECT_MAX] = {
        [DIALECT_OWN] = "mcp-systemd",
        [DIALECT_MCPPROXY] = "MCPProxy",
        [DIALECT_CLIENT] = "mcpServers",
        [DIALECT_VSCODE] = "VS Code",
};

const char *dialect_to_string(Dialect dialect) {
        return dialect >= 0 && dialect < _DIALECT_MAX ? dialect_table[dialect] : NULL;
}

static void text_done(Text *t) {
        free(t->value);
        free(t->pointer);
}

static void text_list_done(TextList *l) {
        for (size_t i = 0; i < l->n_items; i++)
                text_done(l->items + i);
        free(l->items);
}

static void env_entries_free(EnvEntry *entries, size_t n) {
        for (size_t i = 0; i < n; i++) {
                free(entries[i].name);
                text_done(&entries[i].value);
        }
        free(entries);
}

Definition *definition_free(Definition *d) {
        if (!d)
                return NULL;
        free(d->name);
        free(d->instance);
        free(d->file);
        text_done(&d->command);
        text_list_done(&d->args);
        env_entries_free(d->env, d->n_env);
        text_done(&d->env_file);
        text_done(&d->working_dir);
        text_done(&d->isolation.mode);
        text_done(&d->isolation.manifest_path);
        text_list_done(&d->isolation.write);
        text_list_done(&d->isolation.unix_paths);
        free(d->limits.rlimits);
        strv_free(d->sessions.accept_env);
        strv_free(d->access.users);
        strv_free(d->access.groups);
        free(d->user);
        env_entries_free(d->credentials, d->n_credentials);
        strv_free(d->ignored);
        json_free(d->document);
        free(d);
        return NULL;
}

void global_isolation_done(GlobalIsolation *g) {
        free(g->mode);
        free(g->file);
        *g = (GlobalIsolation){ .enabled = TRISTATE_UNSET };
}
