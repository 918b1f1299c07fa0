/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a definition to what is served: read at once, and who may connect is looked up beside the loop. */

#include "basic/string-util.h"
#include "supervisor/server.h"

#define QUERY_AGAIN_USEC (30ULL * USEC_PER_SEC)

/* What a reload forgets: refusals, back-off, what was alerted. */
static void adopt(Server *s, Setup *setup, Refusal *refusal) {
        setup_unref(s->setup);
        s->setup = setup;
        refusal_done(&s->refusal);
        if (refusal)
                s->refusal = TAKE_GENERIC(*refusal, Refusal, (Refusal){});
        backoff_succeeded(&s->backoff);
        s->degraded = strv_free(s->degraded);
        s->idle = sd_event_source_disable_unref(s->idle);
        s->exit_code = EXIT_SUCCESS;
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

static int on_query_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Server *s = userdata;

        s->query_again = sd_event_source_disable_unref(s->query_again);
        if (s->setup && !s->query)
                (void) start_query(s, s->setup);
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
        access_rules_done(&setup->access);
        setup->access = TAKE_GENERIC(*rules, AccessRules, (AccessRules){});
        if (result < 0)
                query_later(s);
        if (!s->next)
                /* A second try, of what is served already. */
                return;
        if (result < 0)
                warn(setup,
                     "Not all who may connect to %s can be looked up (%s); until they can, it is root, ids "
                     "that "
                     "the definition names as numbers, and who was found.",
                     s->name,
                     STRERROR(result));
        STRV_FOREACH (name, unknown)
                warn(setup,
                     "access of %s names the %s, which does not exist and lets nobody in. Create it, or "
                     "take the "
                     "name out of access.",
                     s->name,
                     *name);
        adopt(s, TAKE_PTR(s->next), NULL);
        server_handle(s, SERVER_EVENT_READY);
}

static int start_query(Server *s, const Setup *setup) {
        s->query = access_query_free(s->query);
        s->query_again = sd_event_source_disable_unref(s->query_again);
        return access_query_new(s->event, setup->definition, on_access_known, s, &s->query);
}

int server_load(Server *s, ServerEvent *ret) {
        _cleanup_(refusal_done) Refusal refusal = {};
        _cleanup_(setup_unrefp) Setup *setup = NULL;
        int r;

        r = setup_load(s->scope, s->instance, &setup, &refusal);
        if (r == -ECANCELED) {
                s->query = access_query_free(s->query);
                s->next = setup_unref(s->next);
                adopt(s, NULL, &refusal);
                *ret = SERVER_EVENT_CANNOT_SERVE;
                return 0;
        }
        if (r < 0)
                return r;
        if (s->scope == RUNTIME_SCOPE_USER) {
                adopt(s, TAKE_PTR(setup), NULL);
                *ret = SERVER_EVENT_READY;
                return 0;
        }
        r = start_query(s, setup);
        setup_unref(s->next);
        s->next = r < 0 ? NULL : TAKE_PTR(setup);
        if (r < 0)
                return r;
        *ret = _SERVER_EVENT_NONE;
        return 0;
}
