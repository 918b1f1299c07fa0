/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a definition to what is served: read at once, and who may connect is looked up beside the loop. */

#include "basic/errno-util.h"
#include "basic/string-util.h"
#include "supervisor/server.h"
#include "supervisor/unserved.h"

#define QUERY_AGAIN_USEC (30ULL * USEC_PER_SEC)

/* What a reload forgets: refusals, back-off, what was alerted. */
static ServerEvent adopt(Server *s) {
        setup_unref(s->setup);
        s->setup = s->next_refusal.code ? NULL : setup_ref(s->next);
        s->next = setup_unref(s->next);
        refusal_done(&s->refusal);
        s->refusal = TAKE_GENERIC(s->next_refusal, Refusal, (Refusal){});
        shares_done(&s->failures);
        s->degraded = strv_free(s->degraded);
        s->idle = sd_event_source_disable_unref(s->idle);
        s->exit_code = EXIT_SUCCESS;
        return s->refusal.code ? SERVER_EVENT_CANNOT_SERVE : SERVER_EVENT_READY;
}

static void warn(Setup *setup, const char *format, ...) _printf_(2, 3);
static void warn(Setup *setup, const char *format, ...) {
        char *text;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r >= 0)
                (void) strv_consume(&setup->warnings, text);
}

static int start_query(Server *s, const Setup *setup);
static void query_later(Server *s);

static int on_query_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Server *s = userdata;

        s->query_again = sd_event_source_disable_unref(s->query_again);
        if (s->setup && !s->query && start_query(s, s->setup) < 0)
                query_later(s);
        return 0;
}

static void query_later(Server *s) {
        if (!s->query_again)
                /* Without a timer it stays so until a reload. */
                (void) sd_event_add_time_relative(
                                s->event,
                                &s->query_again,
                                CLOCK_MONOTONIC,
                                QUERY_AGAIN_USEC,
                                0,
                                on_query_again,
                                s);
}

static void on_access_known(void *userdata, int result, AccessRules *rules, char *const *unknown) {
        Server *s = userdata;
        Setup *setup = s->next ? s->next : s->setup;

        s->query = access_query_free(s->query);
        access_rules_done(&s->access);
        s->access = TAKE_GENERIC(*rules, AccessRules, (AccessRules){});
        s->access_known = true;
        s->access_is_default = !setup->definition;
        if (result < 0)
                query_later(s);
        if (!s->next)
                /* A second try, of what is served already. */
                return;
        if (result < 0)
                warn(setup,
                     "Not all who may connect to %s can be looked up (%s); until they can, it is root and "
                     "who "
                     "was found.",
                     s->name,
                     STRERROR(result));
        STRV_FOREACH (name, unknown)
                warn(setup,
                     "access of %s names the %s, which does not exist and lets nobody in. Create it, or "
                     "take the "
                     "name out of access.",
                     s->name,
                     *name);
        server_handle(s, adopt(s));
}

/* Where there is no definition, or none that says who may connect, it is whom its socket lets in by default. */
static int start_query(Server *s, const Setup *setup) {
        static const Definition none;

        s->query = access_query_free(s->query);
        s->query_again = sd_event_source_disable_unref(s->query_again);
        return access_query_new(
                        s->event,
                        setup->definition ? setup->definition : &none,
                        on_access_known,
                        s,
                        &s->query);
}

/* A shortage at the start is told to who waits, and the service is started again. A reload has an old plan to keep. */
static int load_setup(Server *s, Setup **ret, Refusal *ret_refusal) {
        int r;

        r = setup_load(s->scope, s->instance, ret, ret_refusal);
        if (r < 0 && r != -ECANCELED) {
                if (s->ready || !errno_is_shortage(r))
                        return r;
                *ret = setup_new();
                if (!*ret)
                        return -ENOMEM;
                refusal_set(ret_refusal,
                            "MCP-R-RESOURCES",
                            EXIT_UNAVAILABLE,
                            "The server's definition cannot be read for now: %s.",
                            STRERROR(r));
        }
        if (s->unserved > 0)
                unserved_explain(s->unserved, (*ret)->definition, ret_refusal);
        else if (!ret_refusal->code && !s->manager)
                (void) server_open_manager(s, ret_refusal);
        return 0;
}

int server_load(Server *s, ServerEvent *ret) {
        _cleanup_(refusal_done) Refusal refusal = {};
        _cleanup_(setup_unrefp) Setup *setup = NULL;
        int r;

        r = load_setup(s, &setup, &refusal);
        if (r < 0)
                return r;
        /* A definition that cannot be read any more changes nothing about who may know. */
        if (s->scope != RUNTIME_SCOPE_USER && (setup->definition || !s->access_known)) {
                r = start_query(s, setup);
                if (r < 0) {
                        s->next = setup_unref(s->next);
                        return r;
                }
                *ret = _SERVER_EVENT_NONE;
        } else
                s->query = access_query_free(s->query);
        setup_unref(s->next);
        s->next = TAKE_PTR(setup);
        refusal_done(&s->next_refusal);
        s->next_refusal = TAKE_GENERIC(refusal, Refusal, (Refusal){});
        if (!s->query)
                *ret = adopt(s);
        return 0;
}
