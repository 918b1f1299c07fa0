/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Network, UNIX sockets and scopes: what the definition or the manifest says of them (manifest/manifest.h has nono's
 * table). */

#include "plan/plan-internal.h"

static int compare_ports(const void *a, const void *b) {
        return (int) *(const uint16_t *) a - (int) *(const uint16_t *) b;
}

/* The union of two lists, sorted and unique. */
static int ports_union(const uint16_t *a, size_t n_a, const uint16_t *b, size_t n_b, PortList *ret) {
        uint16_t *ports;
        size_t n = 0;

        ports = malloc((n_a + n_b + 1) * sizeof(uint16_t));
        if (!ports)
                return -ENOMEM;
        if (n_a > 0)
                memcpy(ports, a, n_a * sizeof(uint16_t));
        if (n_b > 0)
                memcpy(ports + n_a, b, n_b * sizeof(uint16_t));
        qsort(ports, n_a + n_b, sizeof(uint16_t), compare_ports);
        for (size_t i = 0; i < n_a + n_b; i++)
                if (n == 0 || ports[n - 1] != ports[i])
                        ports[n++] = ports[i];
        *ret = (PortList){ .ports = ports, .n_ports = n };
        return 0;
}

static int network_manifest(PlanContext *c) {
        const ManifestGrants *m = c->manifest;
        Plan *p = c->plan;
        int r;

        if (m->n_connect + m->n_bind + m->n_localhost == 0) {
                p->network = m->network_blocked ? NETWORK_MODE_BLOCKED : NETWORK_MODE_UNRESTRICTED;
                return 0;
        }
        p->network = NETWORK_MODE_PORTS;
        r = ports_union(m->connect, m->n_connect, m->localhost, m->n_localhost, &p->connect_ports);
        if (r >= 0)
                r = ports_union(m->bind, m->n_bind, m->localhost, m->n_localhost, &p->bind_ports);
        /* The scope's address filter is for the whole server: it would cut off the ports that are for any host. */
        p->loopback_only = m->n_localhost > 0 && m->n_connect == 0 && m->n_bind == 0 && c->host->managed &&
                           c->host->ip_filter;
        return r;
}

int plan_network(PlanContext *c) {
        Plan *p = c->plan;

        p->unix_sockets = c->d->isolation.unix_sockets;
        p->scope_signals = c->manifest ? c->manifest->scope_signals : true;
        p->scope_abstract = c->manifest ? c->manifest->scope_abstract : p->unix_sockets != UNIX_ANY;
        if (c->manifest)
                return network_manifest(c);
        p->network = c->d->isolation.network == NETWORK_BLOCKED ? NETWORK_MODE_BLOCKED
                                                                : NETWORK_MODE_UNRESTRICTED;
        return 0;
}
