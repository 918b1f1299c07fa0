/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From LISTEN_FDS to a supervisor that serves, or knows why it cannot. */

#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "manager/lost-scope.h"
#include "supervisor/server.h"

#define REFUSALS_PER_SECOND 5U
#define REFUSALS_BURST      50U

/* Both sockets come from one unit, which gives all of its descriptors one name: their types tell them apart. */
static int take_sockets(Server *s) {
        static const int types[] = { [SOCKET_RAW] = SOCK_STREAM, [SOCKET_CONNECT] = SOCK_SEQPACKET };
        int n = sd_listen_fds(true), found = 0;

        if (n < 0)
                return n;
        for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + n; fd++) {
                bool taken = false;

                for (size_t i = 0; i < ELEMENTSOF(types); i++)
                        if (s->listen[i] < 0 && sd_is_socket_unix(fd, types[i], 1, NULL, 0) > 0) {
                                int r = fd_set_nonblock(fd, true);

                                if (r < 0)
                                        return r;
                                s->listen[i] = fd;
                                taken = true;
                                found++;
                                break;
                        }
                if (!taken)
                        (void) safe_close(fd);
        }
        return found > 0 ? 0 : -ENOTSOCK;
}

int server_new(RuntimeScope scope, const char *instance, int unserved, sd_event *event, Server **ret) {
        _cleanup_(server_freep) Server *s = NULL;
        int r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        s->scope = scope;
        s->unserved = unserved;
        s->access = (AccessRules){ .user_scope = scope == RUNTIME_SCOPE_USER, .self = getuid() };
        s->event = sd_event_ref(event);
        s->listen[SOCKET_RAW] = s->listen[SOCKET_CONNECT] = -EBADF;
        s->refusal_rate = RATE_LIMIT_INIT(REFUSALS_PER_SECOND, REFUSALS_BURST);
        /* Without a journald records go to stderr. */
        (void) journal_open(&s->journal);
        journal_attach(&s->journal, event);
        r = free_and_strdup(&s->instance, instance);
        if (r < 0)
                return r;
        if (server_name_unescape(instance, &s->name) < 0 && free_and_strdup(&s->name, instance) < 0)
                return -ENOMEM;
        s->unit = strformat("mcp-server@%s.service", instance);
        if (!s->unit)
                return -ENOMEM;
        r = take_sockets(s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

Server *server_free(Server *s) {
        if (!s)
                return NULL;
        for (Session *session = s->sessions, *next; session; session = next) {
                next = session->next;
                session_free(session);
        }
        for (size_t i = 0; i < ELEMENTSOF(s->listen); i++) {
                sd_event_source_disable_unref(s->listen_source[i]);
                (void) safe_close(s->listen[i]);
        }
        sd_event_source_disable_unref(s->idle);
        sd_event_source_disable_unref(s->give_up);
        sd_event_source_disable_unref(s->accept_again);
        sd_event_source_disable_unref(s->status);
        sd_event_source_disable_unref(s->query_again);
        sd_event_source_disable_unref(s->linger);
        sd_event_source_disable_unref(s->launch);
        sd_event_source_disable_unref(s->launch_latest);
        access_query_free(s->query);
        setup_unref(s->next);
        manager_unref(s->manager);
        setup_unref(s->setup);
        refusal_done(&s->refusal);
        refusal_done(&s->next_refusal);
        access_rules_done(&s->access);
        shares_done(&s->failures);
        journal_close(&s->journal);
        strv_free(s->degraded);
        free(s->last_end);
        free(s->status_text);
        free(s->instance);
        free(s->name);
        free(s->unit);
        sd_event_unref(s->event);
        free(s);
        return NULL;
}

static int on_listen(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        server_handle(userdata, SERVER_EVENT_CLIENTS);
        return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata) {
        server_handle(userdata, si->ssi_signo == SIGHUP ? SERVER_EVENT_RELOAD : SERVER_EVENT_TERMINATE);
        return 0;
}

static int add_sources(Server *s) {
        static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
        int r;

        for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
                /* Blocked by main(); children get them back in sandbox_exec(). */
                r = sd_event_add_signal(s->event, NULL, signals[i], on_signal, s);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < ELEMENTSOF(s->listen); i++) {
                if (s->listen[i] < 0)
                        continue;
                r = sd_event_add_io(s->event, &s->listen_source[i], s->listen[i], EPOLLIN, on_listen, s);
                if (r >= 0)
                        /* Clients wait in the queue until there is an answer for them. */
                        r = sd_event_source_set_enabled(s->listen_source[i], SD_EVENT_OFF);
                if (r < 0)
                        return r;
        }
        r = sd_event_set_watchdog(s->event, true);
        return r < 0 ? r : 0;
}

/* Of our own sessions some may have begun while the question was on its way. */
static bool is_own_scope(const Server *s, const char *unit) {
        for (const Session *session = s->sessions; session; session = session->next)
                if (streq_ptr(session->scope, unit))
                        return true;
        return false;
}

/* What a predecessor's scopes left behind that systemd has forgotten. */
static void sweep_groups(const Server *s, char *const *units) {
        _cleanup_strv_free_ char **groups = NULL;

        if (cgroup_list_scopes(s->instance, &groups) < 0)
                return;
        STRV_FOREACH (group, groups) {
                const char *unit = path_basename(*group);

                if (!is_own_scope(s, unit) && !strv_contains(units, unit))
                        (void) cgroup_kill_all(*group);
        }
}

/* Scopes of a supervisor that died and could not stop them. */
static void on_swept(void *userdata, int result, char *const *units) {
        Server *s = userdata;

        if (result < 0)
                return;
        sweep_groups(s, units);
        STRV_FOREACH (unit, units)
                if (!is_own_scope(s, *unit))
                        (void) manager_stop_unit(s->manager, *unit, MANAGER_TIMEOUT_USEC, NULL, NULL, NULL);
}

int server_open_manager(Server *s, Refusal *ret_refusal) {
        const char *hint;
        int r;

        r = manager_new(s->scope, s->event, &s->manager);
        if (r >= 0)
                return manager_list_scopes(s->manager, s->instance, MANAGER_TIMEOUT_USEC, on_swept, s, NULL);
        hint = manager_error_hint(s->scope, r);
        refusal_set(ret_refusal,
                    "MCP-R-BUS",
                    EXIT_UNAVAILABLE,
                    "The manager cannot be reached: %s.%s%s",
                    STRERROR(r),
                    hint ? " " : "",
                    strempty(hint));
        return -ECANCELED;
}

int server_start(Server *s) {
        ServerEvent event;
        int r;

        r = add_sources(s);
        if (r < 0)
                return r;
        r = server_load(s, &event);
        if (r < 0)
                return r;
        if (event != _SERVER_EVENT_NONE)
                server_handle(s, event);
        return 0;
}
