/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest/manifest.h"

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "manifest/rules.h"
#include "manifest/schema.h"
#include "manifest/variables.h"

/* More than these the kernel's files do not take; a larger limit limits nothing that it does not. */
#define MEMORY_BYTES_MAX  ((uint64_t) INT64_MAX) /* memory.max counts pages in a signed long */
#define MAX_PROCESSES_MAX 4194304U               /* PID_MAX_LIMIT; pids.max refuses what is above */

static void grant_done(ManifestGrant *g) {
        free(g->original);
        free(g->path);
        free(g->pointer);
}

static void grants_free(ManifestGrant *grants, size_t n) {
        for (size_t i = 0; i < n; i++)
                grant_done(grants + i);
        free(grants);
}

ManifestGrants *manifest_grants_free(ManifestGrants *m) {
        if (!m)
                return NULL;
        grants_free(m->grants, m->n_grants);
        grants_free(m->denies, m->n_denies);
        free(m->file);
        free(m->connect);
        free(m->bind);
        free(m->localhost);
        strv_free(m->allowed_commands);
        strv_free(m->blocked_commands);
        free(m);
        return NULL;
}

bool manifest_allows_command(const ManifestGrants *m, const char *command) {
        const char *name = path_basename(command);

        return strv_contains(m->allowed_commands, name) || !strv_contains(m->blocked_commands, name);
}

/* ---- grants ---- */

/* item is one element of grants or deny; what the schema found wrong with it is passed over. */
static int read_grant(
                const JsonValue *item, const ManifestContext *context, Reporter *r, ManifestGrant *ret) {
        const JsonValue *path = manifest_member(item, "path", JSON_STRING);
        int access = manifest_enum(item, "access", access_values, GRANT_READ);
        int type = manifest_enum(item, "type", type_values, 1);
        int q;

        *ret = (ManifestGrant){ .line = item->line, .column = item->column };
        if (!path || path->string_length == 0 || strlen(path->string) != path->string_length)
                return 0;
        ret->access = access < 0 ? GRANT_READ : (GrantAccess) access;
        ret->is_file = type == 0;
        ret->original = strdup(path->string);
        ret->pointer = json_pointer(item);
        if (!ret->original || !ret->pointer)
                return -ENOMEM;
        q = manifest_path(path, context, r, &ret->path);
        /* Whether it should be a file nobody knows: there is nothing more to find out about it. */
        if (q == 0 && type < 0)
                free(TAKE_PTR(ret->path));
        return q == -EINVAL ? 0 : q;
}

static int read_grants(
                const JsonValue *list,
                const ManifestContext *context,
                Reporter *r,
                ManifestGrant **grants,
                size_t *n_grants) {
        const JsonValue *item;
        int q;

        if (!list || list->n_items == 0 || list->n_items > MANIFEST_GRANTS_MAX)
                return 0;
        *grants = calloc(list->n_items, sizeof(ManifestGrant));
        if (!*grants)
                return -ENOMEM;
        JSON_FOREACH (item, list) {
                q = read_grant(item, context, r, *grants + (*n_grants)++);
                if (q < 0)
                        return q;
                if (!grants[0][*n_grants - 1].path) {
                        grant_done(*grants + --*n_grants);
                        grants[0][*n_grants] = (ManifestGrant){};
                }
        }
        return 0;
}

/* ---- ports ---- */

static int compare_ports(const void *a, const void *b) {
        return (int) *(const uint16_t *) a - (int) *(const uint16_t *) b;
}

static void sort_unique(uint16_t *ports, size_t *n_ports) {
        size_t kept = 0;

        if (*n_ports == 0)
                return;
        qsort(ports, *n_ports, sizeof(uint16_t), compare_ports);
        for (size_t i = 0; i < *n_ports; i++)
                if (i == 0 || ports[i] != ports[kept - 1])
                        ports[kept++] = ports[i];
        *n_ports = kept;
}

/* Both lists have been checked, and hold MANIFEST_PORTS_MAX ports at most. */
static int read_ports(const JsonValue *list, const JsonValue *ranges, uint16_t **ret, size_t *ret_n) {
        uint16_t *ports;
        const JsonValue *item;
        size_t n = 0;

        JSON_FOREACH (item, ranges)
                n += (size_t) (item->items[1]->integer - item->items[0]->integer) + 1;
        n += list ? list->n_items : 0;
        if (n == 0)
                return 0;
        ports = malloc(n * sizeof(uint16_t));
        if (!ports)
                return -ENOMEM;
        n = 0;
        JSON_FOREACH (item, list)
                ports[n++] = (uint16_t) item->integer;
        JSON_FOREACH (item, ranges)
                for (int64_t port = item->items[0]->integer; port <= item->items[1]->integer; port++)
                        ports[n++] = (uint16_t) port;
        sort_unique(ports, &n);
        *ret = ports;
        *ret_n = n;
        return 0;
}

/* ---- the rest; v has been checked ---- */

static int read_network(const JsonValue *network, ManifestGrants *m) {
        const JsonValue *ports = manifest_member(network, "ports", JSON_OBJECT);
        int r;

        m->network_blocked = manifest_enum(network, "mode", network_values, NETWORK_VALUE_UNRESTRICTED) ==
                             NETWORK_VALUE_BLOCKED;
        r = read_ports(manifest_member(ports, "connect", JSON_ARRAY), NULL, &m->connect, &m->n_connect);
        if (r < 0)
                return r;
        r = read_ports(manifest_member(ports, "bind", JSON_ARRAY), NULL, &m->bind, &m->n_bind);
        if (r < 0 || !m->network_blocked)
                return r;
        return read_ports(
                        manifest_member(ports, "localhost", JSON_ARRAY),
                        manifest_member(ports, "localhost_range", JSON_ARRAY),
                        &m->localhost,
                        &m->n_localhost);
}

static int read_strings(const JsonValue *list, char ***ret) {
        const JsonValue *item;
        int r;

        JSON_FOREACH (item, list) {
                r = strv_extend(ret, item->string);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_process(const JsonValue *process, ManifestGrants *m) {
        int signals = manifest_enum(process, "signal_mode", process_values, PROCESS_VALUE_ISOLATED);
        int ipc = manifest_enum(process, "ipc_mode", ipc_values, IPC_VALUE_SHARED_MEMORY);
        int r;

        m->scope_signals = signals != PROCESS_VALUE_ALL;
        m->require_signals = signals == PROCESS_VALUE_SAME_SANDBOX;
        m->scope_abstract = ipc == IPC_VALUE_SHARED_MEMORY;
        r = read_strings(manifest_member(process, "allowed_commands", JSON_ARRAY), &m->allowed_commands);
        if (r < 0)
                return r;
        return read_strings(manifest_member(process, "blocked_commands", JSON_ARRAY), &m->blocked_commands);
}

static uint64_t read_limit(const JsonValue *resources, const char *key, uint64_t max) {
        uint64_t n;

        return manifest_integer(json_get(resources, key), &n) ? MIN(n, max) : 0;
}

static int read_rest(const JsonValue *v, ManifestGrants *m) {
        const JsonValue *resources = manifest_member(v, "resources", JSON_OBJECT);
        int r;

        r = read_network(manifest_member(v, "network", JSON_OBJECT), m);
        if (r < 0)
                return r;
        r = read_process(manifest_member(v, "process", JSON_OBJECT), m);
        if (r < 0)
                return r;
        m->memory_bytes = read_limit(resources, "memory_bytes", MEMORY_BYTES_MAX);
        m->max_processes = read_limit(resources, "max_processes", MAX_PROCESSES_MAX);
        return 0;
}

int manifest_read(
                const JsonValue *v,
                const ManifestContext *context,
                ManifestGrants **ret,
                ProblemList *problems) {
        _cleanup_manifest_ ManifestGrants *m = calloc(1, sizeof(ManifestGrants));
        const JsonValue *filesystem = manifest_member(v, "filesystem", JSON_OBJECT);
        Reporter reporter = { .file = context->file, .problems = problems };
        int r;

        if (!m)
                return -ENOMEM;
        manifest_check_shape(v, &reporter);
        manifest_check_rules(v, &reporter);
        r = read_grants(manifest_member(filesystem, "grants", JSON_ARRAY),
                        context,
                        &reporter,
                        &m->grants,
                        &m->n_grants);
        if (r < 0)
                return r;
        r = read_grants(manifest_member(filesystem, "deny", JSON_ARRAY),
                        context,
                        &reporter,
                        &m->denies,
                        &m->n_denies);
        if (r < 0)
                return r;
        r = free_and_strdup(&m->file, context->file);
        if (r < 0)
                return r;
        if (reporter.n_errors > 0 || problems->failed) {
                *ret = TAKE_PTR(m);
                return -EINVAL;
        }
        r = read_rest(v, m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

int manifest_read_text(
                const char *text,
                size_t size,
                const ManifestContext *context,
                ManifestGrants **ret,
                ProblemList *problems) {
        _cleanup_json_ JsonValue *root = NULL;
        JsonError error;
        int r;

        r = json_parse(text, size, JSON_DUPLICATES, &root, &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                JsonValue place = { .line = error.line, .column = error.column };

                problem_add(problems,
                            PROBLEM_ERROR,
                            r == -E2BIG ? "MCP-M-LIMIT" : "MCP-M-JSON",
                            context->file,
                            &place,
                            r == -E2BIG ? "Make it smaller: one server needs no such manifest."
                                        : "Write strict JSON: keys and strings in double quotes, no "
                                          "comments, "
                                          "no comma behind the last one.",
                            "This is no JSON that a manifest may hold. %s.",
                            error.message);
                return -EINVAL;
        }
        return manifest_read(root, context, ret, problems);
}
