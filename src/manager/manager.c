/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The connection: opened, lost, opened again, with its matches. */

#include "basic/string-util.h"
#include "manager/manager-internal.h"

#define REOPEN_MAX_USEC (2U * 1000U * 1000U)

static int open_real(void *userdata, sd_bus **ret) {
        Manager *m = userdata;

        return m->scope == RUNTIME_SCOPE_SYSTEM ? sd_bus_open_system(ret) : sd_bus_open_user(ret);
}

static void ended_job_done(EndedJob *j) {
        free(j->path);
        free(j->result);
        free(j->sender);
        *j = (EndedJob){};
}

/* The signal may be here before its job's name is (landlock-systemd facts 3.4): it is kept for a while. */
static void remember_job(Manager *m, const char *path, const char *result, const char *sender) {
        EndedJob *j = m->recent + m->next_recent;

        ended_job_done(j);
        if (free_and_strdup(&j->path, path) < 0 || free_and_strdup(&j->result, result) < 0 ||
            free_and_strdup(&j->sender, sender) < 0)
        {
                /* The call that waits for it finds out by asking. */
                ended_job_done(j);
                return;
        }
        m->next_recent = (m->next_recent + 1) % RECENT_JOBS;
}

const char *manager_take_ended_job(Manager *m, const char *job, const char *sender) {
        for (size_t i = 0; i < RECENT_JOBS; i++)
                if (streq_ptr(m->recent[i].path, job) && streq_ptr(m->recent[i].sender, sender))
                        return m->recent[i].result;
        return NULL;
}

static int on_job_removed(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        const char *path, *unit, *result, *sender = sd_bus_message_get_sender(message);
        uint32_t id;

        if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0)
                return 0;
        /* Anybody may send a signal to us alone, past all matches: the sender has to be who answered the call. */
        for (ManagerCall *c = m->calls; c; c = c->next)
                if (c->phase == CALL_JOB && streq_ptr(c->job, path) && streq_ptr(c->peer, sender)) {
                        call_job_ended(c, result);
                        return 0;
                }
        remember_job(m, path, result, sender);
        return 0;
}

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        manager_connection_failed(userdata);
        return 0;
}

static int manager_open(Manager *m) {
        _cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        r = m->open(m->open_userdata ? m->open_userdata : m, &bus);
        if (r >= 0)
                r = sd_bus_set_exit_on_disconnect(bus, false);
        if (r >= 0)
                r = sd_bus_attach_event(bus, m->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_match_signal_async(
                                bus,
                                NULL,
                                sd_bus_is_bus_client(bus) > 0 ? SYSTEMD_NAME : NULL,
                                SYSTEMD_PATH,
                                SYSTEMD_MANAGER,
                                "JobRemoved",
                                on_job_removed,
                                NULL,
                                m);
        if (r >= 0)
                r = sd_bus_match_signal_async(
                                bus,
                                NULL,
                                NULL,
                                "/org/freedesktop/DBus/Local",
                                "org.freedesktop.DBus.Local",
                                "Disconnected",
                                on_disconnected,
                                NULL,
                                m);
        if (r < 0)
                return r;
        m->bus = TAKE_PTR(bus);
        m->online = true;
        return 0;
}

static ManagerCall *first_offline(Manager *m) {
        for (ManagerCall *c = m->calls; c; c = c->next)
                if (c->phase == CALL_OFFLINE)
                        return c;
        return NULL;
}

static void manager_go(Manager *m) {
        ManagerCall *c;

        /* From the start each time: a callback may free other calls. */
        while (m->online && (c = first_offline(m)))
                call_go(c);
}

static int on_kick(sd_event_source *source, void *userdata) {
        manager_go(userdata);
        return 0;
}

int manager_kick(Manager *m) {
        if (!m->kick)
                return sd_event_add_defer(m->event, &m->kick, on_kick, m);
        return sd_event_source_set_enabled(m->kick, SD_EVENT_ONESHOT);
}

static int on_reopen(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;

        /* Only here is the old connection let go: its own callbacks may have been running before. */
        m->bus = sd_bus_close_unref(m->bus);
        if (manager_open(m) < 0) {
                manager_connection_failed(m);
                return 0;
        }
        manager_go(m);
        return 0;
}

void manager_connection_failed(Manager *m) {
        int enabled = SD_EVENT_OFF;

        m->online = false;
        for (ManagerCall *c = m->calls; c; c = c->next)
                call_connection_lost(c);
        if (m->reopen)
                (void) sd_event_source_get_enabled(m->reopen, &enabled);
        if (enabled != SD_EVENT_OFF)
                return;
        m->reopen = sd_event_source_disable_unref(m->reopen);
        /* Where no timer can be had, the calls' own deadlines end them. */
        if (sd_event_add_time_relative(
                            m->event,
                            &m->reopen,
                            CLOCK_MONOTONIC,
                            m->reopen_delay_usec,
                            ACCURACY_USEC,
                            on_reopen,
                            m) >= 0)
                m->reopen_delay_usec = MIN(m->reopen_delay_usec * 2, (uint64_t) REOPEN_MAX_USEC);
}

int manager_new_full(
                RuntimeScope scope, sd_event *event, manager_open_t open, void *userdata, Manager **ret) {
        _cleanup_(manager_unrefp) Manager *m = NULL;
        int r;

        m = calloc(1, sizeof(*m));
        if (!m)
                return -ENOMEM;
        m->scope = scope;
        m->event = sd_event_ref(event);
        m->open = open ? open : open_real;
        m->open_userdata = userdata;
        m->reopen_delay_usec = REOPEN_MIN_USEC;
        r = manager_open(m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

int manager_new(RuntimeScope scope, sd_event *event, Manager **ret) {
        return manager_new_full(scope, event, NULL, NULL, ret);
}

Manager *manager_unref(Manager *m) {
        if (!m)
                return NULL;
        for (ManagerCall *c = m->calls, *next; c; c = next) {
                bool floating = c->floating;

                next = c->next;
                c->manager = NULL;
                c->phase = CALL_ENDED;
                c->slot = sd_bus_slot_unref(c->slot);
                if (floating)
                        manager_call_free(c);
        }
        sd_event_source_disable_unref(m->kick);
        sd_event_source_disable_unref(m->reopen);
        for (size_t i = 0; i < RECENT_JOBS; i++)
                ended_job_done(m->recent + i);
        sd_bus_close_unref(m->bus);
        sd_event_unref(m->event);
        free(m);
        return NULL;
}

const char *manager_error_hint(RuntimeScope scope, int error) {
        static const struct {
                RuntimeScope scope; /* _RUNTIME_SCOPE_INVALID: both */
                int error;
                const char *hint;
        } table[] = {
                { RUNTIME_SCOPE_USER,
                  ENOMEDIUM,
                  "There is no user bus: XDG_RUNTIME_DIR is not set. Log in properly, or let the user's "
                  "manager run "
                  "without a login: loginctl enable-linger." },
                { RUNTIME_SCOPE_USER,
                  ENOENT,
                  "There is no user bus. Install dbus-user-session, and let the user's manager run: "
                  "loginctl "
                  "enable-linger." },
                { RUNTIME_SCOPE_USER,
                  ECONNREFUSED,
                  "Nobody listens on the user bus. See systemctl --user status dbus.socket." },
                { RUNTIME_SCOPE_SYSTEM,
                  ENOENT,
                  "There is no system bus. Install dbus, and see systemctl status dbus.socket." },
                { RUNTIME_SCOPE_SYSTEM,
                  EACCES,
                  "The system manager starts scopes for root only; without root, use the user manager "
                  "(--user)." },
                { _RUNTIME_SCOPE_INVALID,
                  ETIMEDOUT,
                  "The manager did not answer in time. See systemctl list-jobs and the journal of "
                  "dbus.service." },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (table[i].error == abs(error) &&
                    (table[i].scope == scope || table[i].scope == _RUNTIME_SCOPE_INVALID))
                        return table[i].hint;
        return NULL;
}
