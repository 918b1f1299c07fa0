/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ctl/jobs.h"
#include "basic/string-util.h"
#include "ctl/own-file.h"
#include "ctl/units.h"
#include "manager/manager.h"

#define MANAGER_NAME      "org.freedesktop.systemd1"
#define MANAGER_PATH      "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"

#define RELOAD_TIMEOUT_USEC (120ULL * USEC_PER_SEC) /* all generators have 90 s */
#define JOB_TIMEOUT_USEC    (120ULL * USEC_PER_SEC)

static const struct {
        const char *method, *verb, *done;
} job_table[] = {
        [JOB_START] = { "StartUnit", "started", "listens now" },
        [JOB_STOP] = { "StopUnit", "stopped", "is stopped" },
        [JOB_RESTART] = { "RestartUnit", "restarted", "has been restarted and listens" },
};

static int manager_call(
                sd_bus *bus,
                const char *method,
                const char *unit,
                uint64_t timeout_usec,
                sd_bus_message **ret,
                sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, MANAGER_NAME, MANAGER_PATH, MANAGER_INTERFACE, method);
        if (r < 0)
                return r;
        /* polkit may ask the person, as it does for systemctl. */
        r = sd_bus_message_set_allow_interactive_authorization(m, true);
        if (r >= 0 && unit)
                r = sd_bus_message_append(m, "ss", unit, "replace");
        return r < 0 ? r : sd_bus_call(bus, m, timeout_usec, ret_error, ret);
}

int manager_reload(sd_bus *bus, sd_bus_error *ret_error) {
        int r = manager_call(bus, "Reload", NULL, RELOAD_TIMEOUT_USEC, NULL, ret_error);

        return r < 0 ? r : 0;
}

/* JobRemoved may come before the answer that names the job, so all are noted until then. */
typedef struct JobWait {
        char **removed; /* pairs: path, result */
} JobWait;

static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error) {
        JobWait *w = userdata;
        const char *path, *result;
        int r;

        r = sd_bus_message_read(m, "uoss", NULL, &path, NULL, &result);
        if (r >= 0)
                r = strv_extend(&w->removed, path);
        return r < 0 ? r : strv_extend(&w->removed, result);
}

static const char *job_result(const JobWait *w, const char *job) {
        for (char **p = w->removed; p && p[0] && p[1]; p += 2)
                if (streq(p[0], job))
                        return p[1];
        return NULL;
}

static int wait_for_job(sd_bus *bus, const JobWait *w, const char *job, const char **ret) {
        for (;;) {
                int r;

                *ret = job_result(w, job);
                if (*ret)
                        return 0;
                r = sd_bus_process(bus, NULL);
                if (r == 0) {
                        r = sd_bus_wait(bus, JOB_TIMEOUT_USEC);
                        if (r == 0)
                                return -ETIMEDOUT;
                }
                if (r < 0)
                        return r;
        }
}

int unit_job(sd_bus *bus, UnitJob job, const char *unit, char **ret_result, sd_bus_error *ret_error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
        const char *path, *result = NULL;
        JobWait w = {};
        int r;

        r = sd_bus_match_signal(
                        bus,
                        &slot,
                        MANAGER_NAME,
                        MANAGER_PATH,
                        MANAGER_INTERFACE,
                        "JobRemoved",
                        on_job_removed,
                        &w);
        if (r >= 0)
                r = manager_call(bus, job_table[job].method, unit, JOB_TIMEOUT_USEC, &reply, ret_error);
        if (r < 0 && job == JOB_STOP &&
            sd_bus_error_has_name(ret_error, "org.freedesktop.systemd1.NoSuchUnit"))
                return 0;
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        if (r >= 0)
                r = wait_for_job(bus, &w, path, &result);
        if (r >= 0 && !streq(result, "done")) {
                *ret_result = strdup(result);
                r = *ret_result ? -EIO : -ENOMEM;
        }
        w.removed = strv_free(w.removed);
        return r < 0 ? r : 0;
}

bool unit_needs_reload(sd_bus *bus, const char *unit) {
        _cleanup_unit_details_ UnitDetails d = {};
        _cleanup_free_ char *path = NULL;
        int stale = true;

        if (unit_details(bus, unit, &d) < 0 || !streq_ptr(d.load, "loaded") ||
            sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path) < 0)
                return true;
        if (sd_bus_get_property_trivial(
                            bus,
                            MANAGER_NAME,
                            path,
                            "org.freedesktop.systemd1.Unit",
                            "NeedDaemonReload",
                            NULL,
                            'b',
                            &stale) < 0)
                return true;
        return stale;
}

static int fail_bus(Ctl *ctl, int error, const sd_bus_error *e, const char *what) {
        bool denied = sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED) ||
                      sd_bus_error_has_name(e, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED);
        const char *why = e->message ?: STRERROR(error);
        _cleanup_free_ char *unmask = NULL;

        if (denied)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-NOT-ALLOWED",
                                ctl->scope == RUNTIME_SCOPE_SYSTEM
                                                ? "Be root, or a member of the group \"mcp\" where polkit's "
                                                  "rule is installed (for start, stop and restart)."
                                                : NULL,
                                "%s is not allowed: %s",
                                what,
                                why);
        if (sd_bus_error_has_name(e, "org.freedesktop.systemd1.UnitMasked")) {
                unmask = strformat(
                                "systemctl --%s unmask has it back.", runtime_scope_to_string(ctl->scope));
                if (!unmask)
                        return -ENOMEM;
        }
        return ctl_fail(ctl, CTL_FAILED, "MCP-X-MANAGER", unmask, "%s failed: %s", what, why);
}

int ctl_reload(Ctl *ctl, sd_bus *bus) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = manager_reload(bus, &error);

        return r < 0 ? fail_bus(ctl, r, &error, "Reloading the manager") : 0;
}

static int fail_job(Ctl *ctl, UnitJob job, const char *unit, const char *result) {
        _cleanup_free_ char *remedy =
                        strformat("\"systemctl%s status %s\" says why.",
                                  ctl->scope == RUNTIME_SCOPE_USER ? " --user" : "",
                                  unit);

        if (!remedy)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-JOB",
                        remedy,
                        "%s was not %s: the result of the job is \"%s\".",
                        unit,
                        job_table[job].verb,
                        result);
}

/* The socket is what people mean: it comes with its service when that is stopped or restarted (Requires=), and the service
 * comes with the first client. */
static int socket_job(Ctl *ctl, sd_bus *bus, UnitJob job, const char *name, const char *instance) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *unit = unit_socket_name(instance), *service = unit_service_name(instance);
        _cleanup_free_ char *result = NULL, *shown = string_escape_control(name);
        const char *units[] = { unit, job == JOB_STOP ? service : NULL };
        int r;

        if (!unit || !service || !shown)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                if (!units[i])
                        continue;
                r = unit_job(bus, job, units[i], &result, &error);
                if (r == -EIO && result)
                        return fail_job(ctl, job, units[i], result);
                if (r < 0)
                        return fail_bus(ctl, r, &error, units[i]);
        }
        return ctl_say(ctl, "%s %s (%s).", shown, job_table[job].done, unit);
}

int ctl_unit_job(Ctl *ctl, sd_bus *bus, UnitJob job, const ServerEntry *server) {
        _cleanup_free_ char *unit = unit_socket_name(server->instance);
        int r;

        if (!unit)
                return -ENOMEM;
        if (job != JOB_STOP && unit_needs_reload(bus, unit)) {
                r = ctl_reload(ctl, bus);
                if (r != 0)
                        return r;
        }
        return socket_job(ctl, bus, job, server->name, server->instance);
}

int ctl_apply(Ctl *ctl, UnitJob job, const char *name, const char *instance) {
        _cleanup_free_ char *trouble = NULL;
        sd_bus *bus = ctl_bus(ctl);
        int r;

        if (!bus) {
                trouble = ctl_bus_trouble(ctl);
                if (!trouble)
                        return -ENOMEM;
                return ctl_say(ctl, "%s It takes effect when the manager is started, or reloaded.", trouble);
        }
        /* First stopped, then forgotten: a unit without a file could not be asked about any more. */
        if (job == JOB_STOP) {
                r = socket_job(ctl, bus, job, name, instance);
                return r != 0 ? r : ctl_reload(ctl, bus);
        }
        r = ctl_reload(ctl, bus);
        return r != 0 ? r : socket_job(ctl, bus, job, name, instance);
}
