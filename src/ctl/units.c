/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ctl/units.h"
#include "basic/string-util.h"

#define BUS_TIMEOUT_USEC (10U * 1000000U)

#define MANAGER_NAME      "org.freedesktop.systemd1"
#define MANAGER_PATH      "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"

int units_connect(RuntimeScope scope, sd_bus **ret) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = scope == RUNTIME_SCOPE_USER ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);
        if (r < 0)
                return r;
        r = sd_bus_set_method_call_timeout(bus, BUS_TIMEOUT_USEC);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(bus);
        return 0;
}

char *unit_service_name(const char *instance) {
        return strformat("mcp-server@%s.service", instance);
}

char *unit_socket_name(const char *instance) {
        return strformat("mcp-server@%s.socket", instance);
}

static int compare_units(const void *a, const void *b) {
        return strcmp(((const UnitState *) a)->name, ((const UnitState *) b)->name);
}

void unit_list_done(UnitList *list) {
        for (size_t i = 0; i < list->n_items; i++) {
                free(list->items[i].name);
                free(list->items[i].load);
                free(list->items[i].active);
                free(list->items[i].sub);
        }
        free(list->items);
        *list = (UnitList){};
}

static int unit_list_add(
                UnitList *list, const char *name, const char *load, const char *active, const char *sub) {
        UnitState *items, *u;

        items = reallocarray(list->items, list->n_items + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        list->items = items;
        u = items + list->n_items++;
        *u = (UnitState){
                .name = strdup(name),
                .load = strdup(load),
                .active = strdup(active),
                .sub = strdup(sub),
        };
        return u->name && u->load && u->active && u->sub ? 0 : -ENOMEM;
}

static int unit_list_read(sd_bus_message *reply, UnitList *list) {
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
        if (r < 0)
                return r;
        for (;;) {
                const char *name, *load, *active, *sub;

                r = sd_bus_message_read(
                                reply,
                                "(ssssssouso)",
                                &name,
                                NULL,
                                &load,
                                &active,
                                &sub,
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL);
                if (r <= 0)
                        return r;
                r = unit_list_add(list, name, load, active, sub);
                if (r < 0)
                        return r;
        }
}

int units_list(sd_bus *bus, UnitList *ret) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_unit_list_ UnitList list = {};
        int r;

        r = sd_bus_call_method(
                        bus,
                        MANAGER_NAME,
                        MANAGER_PATH,
                        MANAGER_INTERFACE,
                        "ListUnitsByPatterns",
                        NULL,
                        &reply,
                        "asas",
                        0,
                        2,
                        "mcp-server@*",
                        "mcp-*.scope");
        if (r < 0)
                return r;
        r = unit_list_read(reply, &list);
        if (r < 0)
                return r;
        if (list.n_items > 0)
                qsort(list.items, list.n_items, sizeof(*list.items), compare_units);
        *ret = list;
        list = (UnitList){};
        return 0;
}

const UnitState *unit_list_find(const UnitList *list, const char *name) {
        UnitState key = { .name = (char *) name };

        if (list->n_items == 0)
                return NULL;
        return bsearch(&key, list->items, list->n_items, sizeof(*list->items), compare_units);
}

void unit_details_done(UnitDetails *d) {
        free(d->load);
        free(d->active);
        free(d->sub);
        free(d->result);
        free(d->status_text);
        free(d->cgroup);
        *d = (UnitDetails){};
}

/* Properties differ by unit type: what a type has not stays as it is. */
static int get_string(
                sd_bus *bus, const char *path, const char *interface, const char *property, char **ret) {
        int r = sd_bus_get_property_string(bus, MANAGER_NAME, path, interface, property, NULL, ret);

        return r == -EINVAL || r == -EBADR || r == -ENOENT ? 0 : r;
}

static void get_trivial(
                sd_bus *bus,
                const char *path,
                const char *interface,
                const char *property,
                char type,
                void *ret) {
        (void) sd_bus_get_property_trivial(bus, MANAGER_NAME, path, interface, property, NULL, type, ret);
}

static const char *type_interface(const char *unit) {
        if (endswith(unit, ".scope"))
                return "org.freedesktop.systemd1.Scope";
        if (endswith(unit, ".socket"))
                return "org.freedesktop.systemd1.Socket";
        return "org.freedesktop.systemd1.Service";
}

int unit_details(sd_bus *bus, const char *unit, UnitDetails *ret) {
        static const char interface[] = "org.freedesktop.systemd1.Unit";
        _cleanup_unit_details_ UnitDetails d = { .memory = UINT64_MAX, .tasks = UINT64_MAX };
        const char *type = type_interface(unit);
        _cleanup_free_ char *path = NULL;
        int r;

        r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path);
        if (r < 0)
                return r;
        r = get_string(bus, path, interface, "LoadState", &d.load);
        if (r < 0)
                return r;
        r = get_string(bus, path, interface, "ActiveState", &d.active);
        if (r < 0)
                return r;
        r = get_string(bus, path, interface, "SubState", &d.sub);
        if (r < 0)
                return r;
        get_trivial(bus, path, interface, "StateChangeTimestamp", 't', &d.since_usec);
        r = get_string(bus, path, type, "Result", &d.result);
        if (r < 0)
                return r;
        get_trivial(bus, path, type, "MemoryCurrent", 't', &d.memory);
        get_trivial(bus, path, type, "TasksCurrent", 't', &d.tasks);
        r = get_string(bus, path, type, "ControlGroup", &d.cgroup);
        if (r < 0)
                return r;
        if (endswith(unit, ".service")) {
                get_trivial(bus, path, type, "MainPID", 'u', &d.main_pid);
                get_trivial(bus, path, type, "ExecMainStatus", 'i', &d.exit_status);
                r = get_string(bus, path, type, "StatusText", &d.status_text);
                if (r < 0)
                        return r;
        }
        *ret = d;
        d = (UnitDetails){};
        return 0;
}

int manager_environment(sd_bus *bus, char ***ret) {
        return sd_bus_get_property_strv(
                        bus, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE, "Environment", NULL, ret);
}

bool unit_has_private_tmp(sd_bus *bus, const char *instance) {
        _cleanup_free_ char *unit = unit_service_name(instance), *path = NULL;
        int value = true;

        if (bus && unit && sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path) >= 0)
                get_trivial(bus, path, "org.freedesktop.systemd1.Service", "PrivateTmp", 'b', &value);
        return value;
}

int unit_first_process(sd_bus *bus, const char *unit, pid_t *ret) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        uint32_t first = 0;
        int r;

        r = sd_bus_call_method(
                        bus,
                        MANAGER_NAME,
                        MANAGER_PATH,
                        MANAGER_INTERFACE,
                        "GetUnitProcesses",
                        NULL,
                        &reply,
                        "s",
                        unit);
        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(reply, 'a', "(sus)");
        if (r < 0)
                return r;
        for (;;) {
                uint32_t pid;

                r = sd_bus_message_read(reply, "(sus)", NULL, &pid, NULL);
                if (r < 0)
                        return r;
                if (r == 0)
                        break;
                if (first == 0 || pid < first)
                        first = pid;
        }
        *ret = (pid_t) first;
        return 0;
}
