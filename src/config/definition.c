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

int definition_set_text(Definition *d, Text *t, const char *value) {
        char *copy = arena_copy(&d->arena, value, strlen(value));

        if (!copy)
                return -ENOMEM;
        *t = (Text){ .value = copy };
        return 0;
}

Text *definition_add_text(Definition *d, TextList *l) {
        Text *grown = arena_grow(&d->arena, l->items, l->n_items, sizeof(Text));

        if (!grown)
                return NULL;
        l->items = grown;
        grown[l->n_items] = (Text){};
        return grown + l->n_items++;
}

EnvEntry *definition_add_env(Definition *d, EnvEntry **entries, size_t *n) {
        EnvEntry *grown = arena_grow(&d->arena, *entries, *n, sizeof(EnvEntry));

        if (!grown)
                return NULL;
        *entries = grown;
        grown[*n] = (EnvEntry){};
        return grown + (*n)++;
}

Definition *definition_free(Definition *d) {
        if (!d)
                return NULL;
        strv_free(d->sessions.accept_env);
        strv_free(d->access.users);
        strv_free(d->access.groups);
        strv_free(d->ignored);
        json_free(d->document);
        arena_free(d->arena);
        return NULL;
}

void global_isolation_done(GlobalIsolation *g) {
        free(g->mode);
        free(g->file);
        *g = (GlobalIsolation){ .enabled = TRISTATE_UNSET };
}
