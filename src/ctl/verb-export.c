/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a client's configuration has to say to use our servers. */

#include "basic/string-util.h"
#include "clients/export.h"
#include "ctl/ctl.h"

static int get_client(Ctl *ctl, Client *ret) {
        _cleanup_strv_free_ char **names = NULL;
        _cleanup_free_ char *all = NULL;

        *ret = ctl->client ? client_from_string(ctl->client) : _CLIENT_INVALID;
        if (*ret >= 0 && client_info(*ret)->key)
                return 0;
        for (Client c = 0; c < _CLIENT_MAX; c++)
                if (client_info(c)->key && strv_extend(&names, client_to_string(c)) < 0)
                        return -ENOMEM;
        all = strv_join(names, ", ");
        if (!all)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-CLIENT",
                        NULL,
                        "Name the client with --for; it can be %s.",
                        all);
}

/* Local, readable and not switched off. */
static bool is_usable(const ServerEntry *e) {
        return !e->masked && e->definition && !e->definition->remote && e->definition->enabled;
}

static int add_all(Ctl *ctl, ExportedServer **ret, size_t *ret_n) {
        ExportedServer *servers;
        const ServerList *list;
        int r;

        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        servers = calloc(list->n_items ?: 1, sizeof(*servers));
        if (!servers)
                return -ENOMEM;
        for (size_t i = 0; i < list->n_items; i++)
                if (is_usable(list->items + i))
                        servers[(*ret_n)++] = (ExportedServer){
                                .name = list->items[i].name,
                                .start_timeout_usec = list->items[i].definition->start_timeout_usec,
                        };
        *ret = servers;
        return 0;
}

static int add_named(Ctl *ctl, char **names, ExportedServer **ret, size_t *ret_n) {
        _cleanup_free_ ExportedServer *servers = calloc(strv_length(names), sizeof(*servers));
        size_t n = 0;
        int r;

        if (!servers)
                return -ENOMEM;
        STRV_FOREACH (name, names) {
                const ServerEntry *e;

                r = ctl_find_usable_server(ctl, *name, &e);
                if (r != 0)
                        return r;
                servers[n++] = (ExportedServer){
                        .name = e->name,
                        .start_timeout_usec = e->definition->start_timeout_usec,
                };
        }
        *ret = TAKE_PTR(servers);
        *ret_n = n;
        return 0;
}

int verb_export(Ctl *ctl, char **operands) {
        _cleanup_free_ ExportedServer *servers = NULL;
        _cleanup_free_ char *text = NULL;
        size_t n = 0;
        Client client;
        int r;

        r = get_client(ctl, &client);
        if (r == 0)
                r = *operands ? add_named(ctl, operands, &servers, &n) : add_all(ctl, &servers, &n);
        if (r != 0)
                return r;
        if (n == 0)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-NO-SERVERS",
                                NULL,
                                "There is no server that could be exported.");
        r = client_export(client, ctl->scope, servers, n, &text);
        if (r < 0)
                return r;
        fputs(text, stdout);
        return 0;
}
