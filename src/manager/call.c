/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One operation: asking, waiting for its job, and finding out what became of it where an answer or a signal was lost. */

#include <fcntl.h>

#include "basic/string-util.h"
#include "manager/manager-internal.h"
#include "manager/scope-properties.h"

static void call_unlink(ManagerCall *c) {
        if (!c->manager)
                return;
        for (ManagerCall **p = &c->manager->calls; *p; p = &(*p)->next)
                if (*p == c) {
                        *p = c->next;
                        break;
                }
        c->manager = NULL;
}

ManagerCall *manager_call_free(ManagerCall *c) {
        if (!c)
                return NULL;
        call_unlink(c);
        sd_bus_slot_unref(c->slot);
        sd_bus_message_unref(c->prepared);
        sd_event_source_disable_unref(c->deadline);
        sd_event_source_disable_unref(c->check);
        scope_spec_done(&c->spec);
        free(c->unit);
        free(c->job);
        free(c->peer);
        free(c);
        return NULL;
}

/* The last thing that happens to a call: whoever owns it may free it in its callback. */
static void call_finish(
                ManagerCall *c, int result, const char *detail, const char *value, char *const *list) {
        bool floating = c->floating;
        ManagerCall *self = c;

        c->phase = CALL_ENDED;
        if (result >= 0 && c->manager)
                c->manager->reopen_delay_usec = REOPEN_MIN_USEC;
        call_unlink(c);
        c->slot = sd_bus_slot_unref(c->slot);
        c->deadline = sd_event_source_disable_unref(c->deadline);
        c->check = sd_event_source_disable_unref(c->check);
        if (c->got_string)
                c->got_string(c->userdata, result, value);
        else if (c->got_list)
                c->got_list(c->userdata, result, list);
        else if (c->done)
                c->done(c->userdata, result, detail);
        if (floating)
                manager_call_free(self);
}

static void call_end(ManagerCall *c, int result, const char *detail) {
        call_finish(c, result, detail, NULL, NULL);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        call_end(userdata, -ETIMEDOUT, "the manager did not answer in time");
        return 0;
}

/* Errors that say nothing about whether the call was carried out. */
static bool answer_was_lost(int error) {
        static const int lost[] = { ETIMEDOUT, ECONNRESET, ENOTCONN, EPIPE, ESHUTDOWN, ECONNABORTED };

        for (size_t i = 0; i < ELEMENTSOF(lost); i++)
                if (abs(error) == lost[i])
                        return true;
        return false;
}

static void call_check(ManagerCall *c);

static int on_check_time(sd_event_source *source, uint64_t usec, void *userdata) {
        call_check(userdata);
        return 0;
}

/* Asks again later: a signal can be lost, so no wait relies on one alone. */
static void call_check_later(ManagerCall *c) {
        c->check = sd_event_source_disable_unref(c->check);
        /* Without a timer the deadline remains. */
        (void) sd_event_add_time_relative(
                        c->manager->event,
                        &c->check,
                        CLOCK_MONOTONIC,
                        CHECK_PERIOD_USEC,
                        ACCURACY_USEC,
                        on_check_time,
                        c);
}

void call_connection_lost(ManagerCall *c) {
        if (c->phase == CALL_ENDED)
                return;
        if (c->phase != CALL_OFFLINE)
                c->uncertain = true;
        c->phase = CALL_OFFLINE;
        c->slot = sd_bus_slot_unref(c->slot);
        c->check = sd_event_source_disable_unref(c->check);
}

/* Sends what make_message() made; a dead connection puts the call off until there is a new one. */
static void call_send(ManagerCall *c, int r, sd_bus_message *message, sd_bus_message_handler_t handler) {
        c->slot = sd_bus_slot_unref(c->slot);
        if (r >= 0)
                /* No timeout of the library's: the deadline is the only clock. */
                r = sd_bus_call_async(c->manager->bus, &c->slot, message, handler, c, UINT64_MAX);
        if (r >= 0)
                return;
        if (answer_was_lost(r))
                manager_connection_failed(c->manager);
        else if (c->enlisting)
                /* Once more from the loop, where its owner can be told. */
                c->phase = CALL_OFFLINE;
        else
                call_end(c, r, NULL);
}

/* Waiting for a job */

static bool check_job_signal_seen(ManagerCall *c) {
        const char *result = manager_take_ended_job(c->manager, c->job, c->peer);

        if (!result)
                return false;
        call_job_ended(c, result);
        return true;
}

static int job_result_to_error(const char *result) {
        static const struct {
                const char *result;
                int error;
        } table[] = {
                { "done", 0 },
                { "canceled", -ECANCELED },
                { "timeout", -ETIMEDOUT },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (streq(table[i].result, result))
                        return table[i].error;
        return -EIO;
}

void call_job_ended(ManagerCall *c, const char *result) {
        int error = job_result_to_error(result);
        _cleanup_free_ char *detail = NULL;

        if (c->kind == CALL_STOP && error < 0) {
                /* Replaced or merged: what counts is whether the unit is gone. */
                call_check(c);
                return;
        }
        if (error < 0)
                detail = strformat("the job ended with result \"%s\"", result);
        call_end(c, error, detail);
}

static int on_job_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error);

/* All of it but the process. */
static int make_start(Manager *m, ManagerCall *c, sd_bus_message **ret) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int r;

        c->sent_oom_policy = !m->lacks_oom_policy;
        r = sd_bus_message_new_method_call(
                        m->bus, &message, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, "StartTransientUnit");
        if (r >= 0)
                r = scope_properties_begin(message, &c->spec, !c->sent_oom_policy);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(message);
        return 0;
}

static void ask_start(ManagerCall *c) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = TAKE_PTR(c->prepared);
        int r = 0;

        /* Sending descriptors before the connection stands would wait for it (sd_bus_can_send() does). The number is as
         * good: the process is a child that nobody reaps before this is over. */
        c->sent_pidfds = !c->manager->lacks_pidfds && sd_bus_is_ready(c->manager->bus) > 0;
        if (message && sd_bus_message_get_bus(message) != c->manager->bus)
                message = sd_bus_message_unref(message);
        if (!message)
                r = make_start(c->manager, c, &message);
        if (r >= 0)
                r = scope_properties_end(message, &c->spec, !c->sent_pidfds);
        call_send(c, r, message, on_job_reply);
}

static void ask_stop(ManagerCall *c) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int r;

        r = sd_bus_message_new_method_call(
                        c->manager->bus, &message, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, "StopUnit");
        if (r >= 0)
                /* It replaces a start job that is still queued, and does not wait for the service, which would wait for
                 * it (see binds_to). Nothing depends on the unit. */
                r = sd_bus_message_append(message, "ss", c->unit, "ignore-dependencies");
        call_send(c, r, message, on_job_reply);
}

/* A property that this manager's version does not know is left out; a limit never is. */
static bool drop_optional_property(ManagerCall *c, const char *message) {
        Manager *m = c->manager;

        if (c->kind != CALL_START || !message)
                return false;
        /* Several calls may be under way while the first learns it. */
        if (strstr(message, "PIDFDs") && c->sent_pidfds) {
                m->lacks_pidfds = true;
                return true;
        }
        if (strstr(message, "OOMPolicy") && c->sent_oom_policy) {
                m->lacks_oom_policy = true;
                return true;
        }
        return false;
}

/* Not all of systemd's own names are known to the library. */
static int error_to_errno(sd_bus_message *reply) {
        static const struct {
                const char *name;
                int error;
        } table[] = {
                { "org.freedesktop.systemd1.NoSuchUnit", -ENOENT },
                { "org.freedesktop.systemd1.UnitExists", -EEXIST },
                { "org.freedesktop.systemd1.UnixProcessIdUnknown", -ESRCH },
                /* A job of the service that it binds to is in the way: that of a stop. */
                { "org.freedesktop.systemd1.TransactionIsDestructive", -ECANCELED },
                { "org.freedesktop.DBus.Error.PropertyReadOnly", -EROFS },
        };
        const sd_bus_error *error = sd_bus_message_get_error(reply);

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (sd_bus_error_has_name(error, table[i].name))
                        return table[i].error;
        return -sd_bus_message_get_errno(reply);
}

static void job_error(ManagerCall *c, sd_bus_message *reply) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        int r = error_to_errno(reply);

        if (c->kind == CALL_STOP && r == -ENOENT)
                call_end(c, 0, NULL);
        else if (answer_was_lost(r)) {
                c->uncertain = true;
                call_check(c);
        } else if (c->kind == CALL_START && r == -EEXIST && c->uncertain)
                /* Ours, from the call whose answer was lost: the name is random. */
                call_check(c);
        else if (r == -EROFS && drop_optional_property(c, error->message))
                ask_start(c);
        else
                call_end(c, r < 0 ? r : -EIO, error->message);
}

static int on_job_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerCall *c = userdata;
        const char *job;
        int r;

        if (sd_bus_message_is_method_error(reply, NULL) > 0) {
                job_error(c, reply);
                return 0;
        }
        r = sd_bus_message_read(reply, "o", &job);
        if (r >= 0)
                r = free_and_strdup(&c->job, job);
        if (r >= 0)
                r = free_and_strdup(&c->peer, sd_bus_message_get_sender(reply));
        if (r < 0) {
                call_end(c, r, NULL);
                return 0;
        }
        c->phase = CALL_JOB;
        if (!check_job_signal_seen(c))
                call_check_later(c);
        return 0;
}

/* Finding out */

static void act_on_state(ManagerCall *c, const char *state) {
        bool gone = streq(state, "inactive") || streq(state, "failed");

        if (c->kind == CALL_STOP && gone)
                call_end(c, 0, NULL);
        else if (c->kind == CALL_START && streq(state, "active"))
                call_end(c, 0, NULL);
        else if (c->kind == CALL_STOP && streq(state, "active")) {
                c->phase = CALL_ASKED;
                ask_stop(c);
        } else if (c->kind == CALL_START && gone && !c->job) {
                c->phase = CALL_ASKED;
                ask_start(c);
        } else {
                c->phase = c->job ? CALL_JOB : CALL_PAUSING;
                call_check_later(c);
        }
}

static int on_state(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerCall *c = userdata;
        const char *state = "inactive";

        /* While this was asked the job may have ended. */
        if (c->job && check_job_signal_seen(c))
                return 0;
        if (sd_bus_message_is_method_error(reply, NULL) > 0) {
                if (answer_was_lost(sd_bus_message_get_errno(reply))) {
                        c->phase = CALL_PAUSING;
                        call_check_later(c);
                        return 0;
                }
        } else if (sd_bus_message_enter_container(reply, 'v', "s") < 0 ||
                   sd_bus_message_read(reply, "s", &state) < 0)
        {
                call_end(c, -EBADMSG, "the manager's answer makes no sense");
                return 0;
        }
        act_on_state(c, state);
        return 0;
}

static int make_get(ManagerCall *c, const char *interface, const char *property, sd_bus_message **ret) {
        _cleanup_free_ char *path = NULL;
        int r;

        r = sd_bus_path_encode(SYSTEMD_PATH "/unit", c->unit, &path);
        if (r >= 0)
                r = sd_bus_message_new_method_call(
                                c->manager->bus,
                                ret,
                                SYSTEMD_NAME,
                                path,
                                "org.freedesktop.DBus.Properties",
                                "Get");
        if (r >= 0)
                r = sd_bus_message_append(*ret, "ss", interface, property);
        return r;
}

static void call_check(ManagerCall *c) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int r;

        c->phase = CALL_CHECKING;
        c->check = sd_event_source_disable_unref(c->check);
        r = make_get(c, SYSTEMD_UNIT, "ActiveState", &message);
        call_send(c, r, message, on_state);
}

/* Questions */

static int on_result(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerCall *c = userdata;
        const char *value = NULL;
        int r = -sd_bus_message_get_errno(reply);

        if (r == 0)
                r = sd_bus_message_enter_container(reply, 'v', "s");
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &value);
        call_finish(c, MIN(r, 0), NULL, r < 0 ? NULL : value, NULL);
        return 0;
}

static int read_scopes(sd_bus_message *reply, const char *instance, char ***ret) {
        _cleanup_strv_free_ char **units = NULL;
        const char *name;
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(
                                reply,
                                "(ssssssouso)",
                                &name,
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL)) > 0)
        {
                if (!scope_name_is_of(name, instance))
                        continue;
                r = strv_extend(&units, name);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(units);
        return 0;
}

static int on_list(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerCall *c = userdata;
        _cleanup_strv_free_ char **units = NULL;
        int r = -sd_bus_message_get_errno(reply);

        if (r == 0)
                r = read_scopes(reply, c->unit, &units);
        call_finish(c, MIN(r, 0), NULL, NULL, units);
        return 0;
}

static void ask_result(ManagerCall *c) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int r = make_get(c, SYSTEMD_SCOPE, "Result", &message);

        call_send(c, r, message, on_result);
}

static void ask_list(ManagerCall *c) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int r;

        r = sd_bus_message_new_method_call(
                        c->manager->bus,
                        &message,
                        SYSTEMD_NAME,
                        SYSTEMD_PATH,
                        SYSTEMD_MANAGER,
                        "ListUnitsByPatterns");
        if (r >= 0)
                r = sd_bus_message_append(message, "asas", 0, 1, "mcp-*.scope");
        call_send(c, r, message, on_list);
}

void call_go(ManagerCall *c) {
        static void (*const ask[])(ManagerCall *) = {
                [CALL_START] = ask_start,
                [CALL_STOP] = ask_stop,
                [CALL_RESULT] = ask_result,
                [CALL_LIST] = ask_list,
        };

        if (c->uncertain && c->kind == CALL_START) {
                /* Job names do not survive the connection's end for sure; the unit's state does. */
                free(TAKE_PTR(c->job));
                call_check(c);
                return;
        }
        c->phase = CALL_ASKED;
        ask[c->kind](c);
}

/* Making calls */

static int call_new(
                Manager *m,
                CallKind kind,
                const char *unit,
                uint64_t timeout_usec,
                void *userdata,
                ManagerCall **ret) {
        _cleanup_(manager_call_freep) ManagerCall *c = NULL;
        int r;

        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->kind = kind;
        c->spec.pidfd = -EBADF;
        c->userdata = userdata;
        r = free_and_strdup(&c->unit, unit);
        if (r >= 0)
                r = sd_event_add_time_relative(
                                m->event, &c->deadline, CLOCK_MONOTONIC, timeout_usec, 0, on_deadline, c);
        if (r >= 0)
                r = manager_kick(m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}

/* Hands it over to the caller and to the end of the manager's list: calls keep their order on the bus. What can be sent
 * is sent at once; the end of a call always comes from the loop. */
static void call_enlist(Manager *m, ManagerCall *c, ManagerCall **ret) {
        ManagerCall **tail = &m->calls;
        bool first = m->online;

        for (; *tail; tail = &(*tail)->next)
                first = first && (*tail)->phase != CALL_OFFLINE;
        *tail = c;
        c->manager = m;
        c->floating = !ret;
        if (ret)
                *ret = c;
        if (!first)
                return;
        c->enlisting = true;
        call_go(c);
        c->enlisting = false;
}

int manager_prepare_scope(
                Manager *m,
                const ScopeSpec *spec,
                uint64_t timeout_usec,
                manager_done_t done,
                void *userdata,
                ManagerCall **ret) {
        _cleanup_(manager_call_freep) ManagerCall *c = NULL;
        int r;

        r = call_new(m, CALL_START, spec->name, timeout_usec, userdata, &c);
        if (r >= 0)
                r = scope_spec_copy(spec, &c->spec);
        if (r < 0)
                return r;
        c->done = done;
        /* Its time begins when it is started. */
        c->timeout_usec = timeout_usec;
        r = sd_event_source_set_enabled(c->deadline, SD_EVENT_OFF);
        if (r < 0)
                return r;
        /* Where it cannot be made now, it is made when it is sent. */
        if (m->online)
                (void) make_start(m, c, &c->prepared);
        *ret = TAKE_PTR(c);
        return 0;
}

static int begin_deadline(ManagerCall *c) {
        int r;

        r = sd_event_source_set_time_relative(c->deadline, c->timeout_usec);
        return r < 0 ? r : sd_event_source_set_enabled(c->deadline, SD_EVENT_ONESHOT);
}

int manager_start_prepared(Manager *m, ManagerCall *c, pid_t pid, int pidfd) {
        int fd = -EBADF, r;

        /* That of call_new() may be over, and what cannot be sent now is seen to by the loop. */
        r = manager_kick(m);
        if (r >= 0)
                r = begin_deadline(c);
        if (r < 0)
                return r;
        if (pidfd >= 0) {
                fd = fcntl(pidfd, F_DUPFD_CLOEXEC, 3);
                if (fd < 0)
                        return -errno;
        }
        (void) safe_close(c->spec.pidfd);
        c->spec.pidfd = fd;
        c->spec.pid = pid;
        call_enlist(m, c, &c);
        return 0;
}

int manager_start_scope(
                Manager *m,
                const ScopeSpec *spec,
                uint64_t timeout_usec,
                manager_done_t done,
                void *userdata,
                ManagerCall **ret) {
        _cleanup_(manager_call_freep) ManagerCall *c = NULL;
        int r;

        r = manager_prepare_scope(m, spec, timeout_usec, done, userdata, &c);
        if (r >= 0)
                r = begin_deadline(c);
        if (r < 0)
                return r;
        call_enlist(m, TAKE_PTR(c), ret);
        return 0;
}

int manager_stop_unit(
                Manager *m,
                const char *unit,
                uint64_t timeout_usec,
                manager_done_t done,
                void *userdata,
                ManagerCall **ret) {
        ManagerCall *c;
        int r;

        r = call_new(m, CALL_STOP, unit, timeout_usec, userdata, &c);
        if (r < 0)
                return r;
        c->done = done;
        call_enlist(m, c, ret);
        return 0;
}

int manager_get_result(
                Manager *m,
                const char *unit,
                uint64_t timeout_usec,
                manager_string_t done,
                void *userdata,
                ManagerCall **ret) {
        ManagerCall *c;
        int r;

        r = call_new(m, CALL_RESULT, unit, timeout_usec, userdata, &c);
        if (r < 0)
                return r;
        c->got_string = done;
        call_enlist(m, c, ret);
        return 0;
}

int manager_list_scopes(
                Manager *m,
                const char *instance,
                uint64_t timeout_usec,
                manager_list_t done,
                void *userdata,
                ManagerCall **ret) {
        ManagerCall *c;
        int r;

        r = call_new(m, CALL_LIST, instance, timeout_usec, userdata, &c);
        if (r < 0)
                return r;
        c->got_list = done;
        call_enlist(m, c, ret);
        return 0;
}
