/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager's room against a systemd that is made up here, on the other end of a socketpair: it can be slow, wrong,
 * silent, restarted, and tell of a job's end before the job's name. */

#include "test.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "basic/fd-util.h"
#include "manager/cgroup.h"
#include "manager/exec-status.h"
#include "manager/lost-scope.h"
#include "manager/manager.h"

#define UNIT       "mcp-a-0123456789abcdef.scope"
#define JOB        "/org/freedesktop/systemd1/job/7"
#define LONG_USEC  (5ULL * 1000000ULL)
#define SHORT_USEC (200ULL * 1000ULL)

typedef struct Fake {
        sd_event *event;
        sd_bus *bus;  /* systemd's end */
        sd_bus *near; /* the manager's, borrowed */
        Manager *manager;
        unsigned n_opened, n_start, n_stop, n_get;
        bool silent;       /* answers nothing */
        bool signal_first; /* JobRemoved before the reply */
        bool no_signal;    /* JobRemoved never comes */
        bool hang_up_once; /* drops the connection instead of answering a start */
        bool refuse_open;
        bool saw_pidfds, saw_after, saw_before;
        const char *unknown_property; /* refused while it is there */
        const char *start_error, *stop_error;
        const char *job_result;
        const char *active_state;
        sd_event_source *later;

        bool ended;
        int result;
        char *detail, **units;
} Fake;

static int send_job_removed(Fake *f) {
        return sd_bus_emit_signal(
                        f->bus,
                        "/org/freedesktop/systemd1",
                        "org.freedesktop.systemd1.Manager",
                        "JobRemoved",
                        "uoss",
                        7,
                        JOB,
                        UNIT,
                        f->job_result ? f->job_result : "done");
}

static int answer_job(Fake *f, sd_bus_message *m) {
        if (f->signal_first)
                ASSERT_OK(send_job_removed(f));
        ASSERT_OK(sd_bus_reply_method_return(m, "o", JOB));
        if (!f->signal_first && !f->no_signal)
                ASSERT_OK(send_job_removed(f));
        return 1;
}

static void look_at_properties(Fake *f, sd_bus_message *m, bool *ret_unknown) {
        const char *property, *contents;

        ASSERT_OK(sd_bus_message_skip(m, "ss"));
        ASSERT_OK(sd_bus_message_enter_container(m, 'a', "(sv)"));
        while (sd_bus_message_enter_container(m, 'r', "sv") > 0) {
                ASSERT_OK(sd_bus_message_read(m, "s", &property));
                ASSERT_OK(sd_bus_message_peek_type(m, NULL, &contents));
                ASSERT_OK(sd_bus_message_skip(m, "v"));
                ASSERT_OK(sd_bus_message_exit_container(m));
                f->saw_pidfds = f->saw_pidfds || streq(property, "PIDFDs");
                f->saw_after = f->saw_after || streq(property, "After");
                f->saw_before = f->saw_before || streq(property, "Before");
                *ret_unknown = *ret_unknown || streq_ptr(property, f->unknown_property);
        }
}

static int on_start(Fake *f, sd_bus_message *m) {
        bool unknown = false;

        f->n_start++;
        look_at_properties(f, m, &unknown);
        if (unknown)
                return sd_bus_reply_method_errorf(
                                m,
                                "org.freedesktop.DBus.Error.PropertyReadOnly",
                                "Cannot set property %s, or unknown property.",
                                f->unknown_property);
        if (f->start_error)
                return sd_bus_reply_method_errorf(m, f->start_error, "no: %s", f->start_error);
        return answer_job(f, m);
}

static int on_list(sd_bus_message *m) {
        static const char *const names[] = {
                UNIT, "mcp-a-b-0123456789abcdef.scope", "mcp-a-short.scope", "mcp-a-fedcba9876543210.scope"
        };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

        ASSERT_OK(sd_bus_message_new_method_return(m, &reply));
        ASSERT_OK(sd_bus_message_open_container(reply, 'a', "(ssssssouso)"));
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ASSERT_OK(sd_bus_message_append(
                                reply,
                                "(ssssssouso)",
                                names[i],
                                "",
                                "loaded",
                                "active",
                                "running",
                                "",
                                "/u",
                                0,
                                "",
                                "/"));
        ASSERT_OK(sd_bus_message_close_container(reply));
        return sd_bus_send(NULL, reply, NULL);
}

static int on_hang_up(sd_event_source *source, void *userdata) {
        Fake *f = userdata;

        f->bus = sd_bus_close_unref(f->bus);
        return 0;
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Fake *f = userdata;
        const char *member = sd_bus_message_get_member(m);

        if (!sd_bus_message_is_method_call(m, NULL, NULL))
                return 0;
        if (f->hang_up_once) {
                f->hang_up_once = false;
                f->n_start++;
                sd_event_source_unref(f->later);
                ASSERT_OK(sd_event_add_defer(f->event, &f->later, on_hang_up, f));
                return 1;
        }
        if (streq(member, "StartTransientUnit") && f->silent)
                f->n_start++;
        if (f->silent)
                return 1;
        if (streq(member, "StartTransientUnit"))
                return on_start(f, m);
        if (streq(member, "StopUnit")) {
                const char *unit, *mode;

                f->n_stop++;
                ASSERT_OK(sd_bus_message_read(m, "ss", &unit, &mode));
                /* Before= has every other stop wait for the service, which waits for this one. */
                ASSERT_STREQ(mode, "ignore-dependencies");
                if (f->stop_error)
                        return sd_bus_reply_method_errorf(m, f->stop_error, "no");
                return answer_job(f, m);
        }
        if (streq(member, "ListUnitsByPatterns"))
                return on_list(m);
        f->n_get++;
        return sd_bus_reply_method_return(m, "v", "s", f->active_state ? f->active_state : "inactive");
}

static int fake_open(void *userdata, sd_bus **ret) {
        _cleanup_(sd_bus_unrefp) sd_bus *near = NULL, *far = NULL;
        Fake *f = userdata;
        sd_id128_t id = SD_ID128_MAKE(01, 02, 03, 04, 05, 06, 07, 08, 09, 0a, 0b, 0c, 0d, 0e, 0f, 10);
        int pair[2];

        f->n_opened++;
        if (f->refuse_open && f->n_opened < 4)
                return -ECONNREFUSED;
        ASSERT_OK(RET_NERRNO(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)));
        ASSERT_OK(sd_bus_new(&far));
        ASSERT_OK(sd_bus_set_fd(far, pair[1], pair[1]));
        ASSERT_OK(sd_bus_set_server(far, true, id));
        ASSERT_OK(sd_bus_negotiate_fds(far, true));
        ASSERT_OK(sd_bus_set_anonymous(far, true));
        ASSERT_OK(sd_bus_add_filter(far, NULL, on_call, f));
        ASSERT_OK(sd_bus_start(far));
        ASSERT_OK(sd_bus_attach_event(far, f->event, SD_EVENT_PRIORITY_NORMAL));
        ASSERT_OK(sd_bus_new(&near));
        ASSERT_OK(sd_bus_set_fd(near, pair[0], pair[0]));
        ASSERT_OK(sd_bus_negotiate_fds(near, true));
        ASSERT_OK(sd_bus_set_anonymous(near, true));
        ASSERT_OK(sd_bus_start(near));
        sd_bus_close_unref(f->bus);
        f->bus = TAKE_PTR(far);
        f->near = near;
        *ret = TAKE_PTR(near);
        return 0;
}

static void fake_start(Fake *f) {
        ASSERT_OK(sd_event_new(&f->event));
        ASSERT_OK(manager_new_full(RUNTIME_SCOPE_USER, f->event, fake_open, f, &f->manager));
        while (sd_bus_is_ready(f->near) <= 0)
                ASSERT_OK(sd_event_run(f->event, 1000000));
}

static void fake_done(Fake *f) {
        f->later = sd_event_source_disable_unref(f->later);
        f->manager = manager_unref(f->manager);
        f->bus = sd_bus_close_unref(f->bus);
        f->event = sd_event_unref(f->event);
        free(f->detail);
        strv_free(f->units);
}
#define _cleanup_fake_ _cleanup_(fake_done)

static void on_done(void *userdata, int result, const char *detail) {
        Fake *f = userdata;

        f->ended = true;
        f->result = result;
        ASSERT_OK(free_and_strdup(&f->detail, detail));
}

static void on_units(void *userdata, int result, char *const *units) {
        Fake *f = userdata;

        f->ended = true;
        f->result = result;
        f->units = strv_copy(units);
}

static void on_string(void *userdata, int result, const char *value) {
        on_done(userdata, result, value);
}

static void wait_end(Fake *f) {
        for (unsigned i = 0; i < 10000 && !f->ended; i++)
                ASSERT_OK(sd_event_run(f->event, 3 * 1000 * 1000));
        ASSERT_TRUE(f->ended);
}

static ManagerCall *ask_for_scope(Fake *f, const char *name, uint64_t timeout_usec) {
        const ScopeSpec spec = {
                .name = name,
                .description = "test",
                .slice = "mcp.slice",
                .binds_to = "mcp-server@a.service",
                .pid = getpid(),
                .pidfd = STDIN_FILENO,
                .memory_max = 1 << 20,
                .swap_max = UINT64_MAX,
                .tasks_max = 10,
                .cpu_quota_usec_per_sec = UINT64_MAX,
                .runtime_max_usec = UINT64_MAX,
                .timeout_stop_usec = 1000000,
                .oom_kill = true,
                .loopback_only = true,
        };
        ManagerCall *call = NULL;

        ASSERT_OK(manager_start_scope(f->manager, &spec, timeout_usec, on_done, f, &call));
        ASSERT_FALSE(f->ended);
        return call;
}

static int start_scope(Fake *f, uint64_t timeout_usec) {
        ManagerCall *call = ask_for_scope(f, UNIT, timeout_usec);

        wait_end(f);
        manager_call_free(call);
        return f->result;
}

static int stop_unit(Fake *f, uint64_t timeout_usec) {
        ManagerCall *call = NULL;

        ASSERT_OK(manager_stop_unit(f->manager, UNIT, timeout_usec, on_done, f, &call));
        wait_end(f);
        manager_call_free(call);
        return f->result;
}

TEST(a_scope_is_started_when_its_job_is_done) {
        _cleanup_fake_ Fake f = {};

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_EQ(f.n_start, 1);
        ASSERT_TRUE(f.saw_pidfds);
        ASSERT_FALSE(f.saw_after);
        ASSERT_TRUE(f.saw_before);
}

TEST(the_manager_is_asked_at_once) {
        _cleanup_fake_ Fake f = { .silent = true };
        ManagerCall *call;

        fake_start(&f);
        call = ask_for_scope(&f, UNIT, LONG_USEC);
        /* Only systemd's end runs here. */
        for (unsigned i = 0; i < 100 && f.n_start == 0; i++)
                ASSERT_OK(sd_bus_process(f.bus, NULL));
        ASSERT_EQ(f.n_start, 1);
        manager_call_free(call);
}

TEST(what_was_prepared_is_asked_with_its_process) {
        _cleanup_fake_ Fake f = {};
        const ScopeSpec spec = {
                .name = UNIT,
                .pidfd = -EBADF,
                .memory_max = UINT64_MAX,
                .swap_max = UINT64_MAX,
                .tasks_max = UINT64_MAX,
                .cpu_quota_usec_per_sec = UINT64_MAX,
                .runtime_max_usec = UINT64_MAX,
                .timeout_stop_usec = UINT64_MAX,
        };
        ManagerCall *call, *unused;

        fake_start(&f);
        ASSERT_OK(manager_prepare_scope(f.manager, &spec, LONG_USEC, on_done, &f, &call));
        ASSERT_OK(manager_prepare_scope(f.manager, &spec, LONG_USEC, on_done, &f, &unused));
        for (unsigned i = 0; i < 20; i++)
                ASSERT_OK(sd_event_run(f.event, 1000));
        ASSERT_EQ(f.n_start, 0);
        manager_call_free(unused);
        ASSERT_OK(manager_start_prepared(f.manager, call, getpid(), STDIN_FILENO));
        wait_end(&f);
        ASSERT_EQ(f.result, 0);
        ASSERT_EQ(f.n_start, 1);
        ASSERT_TRUE(f.saw_pidfds);
        manager_call_free(call);
}

/* A supervisor that was frozen in between finds timers that are long over. */
TEST(what_was_prepared_has_its_time_from_the_start_on) {
        _cleanup_fake_ Fake f = {};
        const ScopeSpec spec = {
                .name = UNIT,
                .pidfd = -EBADF,
                .memory_max = UINT64_MAX,
                .swap_max = UINT64_MAX,
                .tasks_max = UINT64_MAX,
                .cpu_quota_usec_per_sec = UINT64_MAX,
                .runtime_max_usec = UINT64_MAX,
                .timeout_stop_usec = UINT64_MAX,
        };
        ManagerCall *call;

        fake_start(&f);
        ASSERT_OK(manager_prepare_scope(f.manager, &spec, 200 * 1000, on_done, &f, &call));
        ASSERT_OK(usleep(250 * 1000));
        for (unsigned i = 0; i < 20; i++)
                ASSERT_OK(sd_event_run(f.event, 1000));
        ASSERT_FALSE(f.ended);
        f.silent = true;
        ASSERT_OK(manager_start_prepared(f.manager, call, getpid(), STDIN_FILENO));
        wait_end(&f);
        ASSERT_EQ(f.result, -ETIMEDOUT);
        ASSERT_EQ(f.n_start, 1);
        manager_call_free(call);
}

TEST(what_was_prepared_outlives_the_connection) {
        _cleanup_fake_ Fake f = { .hang_up_once = true, .active_state = "inactive" };
        ManagerCall *call, *prepared = NULL;
        const ScopeSpec spec = { .name = UNIT, .pidfd = -EBADF };

        fake_start(&f);
        ASSERT_OK(manager_prepare_scope(f.manager, &spec, LONG_USEC, on_done, &f, &prepared));
        call = ask_for_scope(&f, UNIT, LONG_USEC);
        wait_end(&f);
        manager_call_free(call);
        ASSERT_EQ(f.n_opened, 2);
        f.ended = false;
        f.n_start = 0;
        ASSERT_OK(manager_start_prepared(f.manager, prepared, getpid(), -EBADF));
        wait_end(&f);
        ASSERT_EQ(f.result, 0);
        ASSERT_EQ(f.n_start, 1);
        manager_call_free(prepared);
}

TEST(what_cannot_be_asked_ends_in_the_loop) {
        _cleanup_fake_ Fake f = {};
        ManagerCall *call;

        fake_start(&f);
        /* No string for D-Bus. */
        call = ask_for_scope(&f, "mcp-\xff.scope", LONG_USEC);
        wait_end(&f);
        ASSERT_ERROR(f.result, EINVAL);
        ASSERT_EQ(f.n_start, 0);
        manager_call_free(call);
}

TEST(a_signal_before_the_reply_counts) {
        _cleanup_fake_ Fake f = { .signal_first = true, .no_signal = true };

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_EQ(f.n_get, 0);
}

TEST(a_signal_that_never_comes_is_asked_for) {
        _cleanup_fake_ Fake f = { .no_signal = true, .active_state = "active" };

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_GE(f.n_get, 1);
}

TEST(a_manager_without_pidfds_gets_pids_and_is_not_asked_again) {
        _cleanup_fake_ Fake f = { .unknown_property = "PIDFDs" };

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_EQ(f.n_start, 2);
        f.ended = f.saw_pidfds = false;
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_EQ(f.n_start, 3);
        ASSERT_FALSE(f.saw_pidfds);
}

TEST(starts_that_are_under_way_together_all_get_pids) {
        _cleanup_fake_ Fake f = { .unknown_property = "PIDFDs" };
        const ScopeSpec spec = { .name = UNIT, .pid = getpid(), .pidfd = STDIN_FILENO };
        ManagerCall *first = NULL;

        fake_start(&f);
        ASSERT_OK(manager_start_scope(f.manager, &spec, LONG_USEC, on_done, &f, &first));
        ASSERT_OK(manager_start_scope(f.manager, &spec, LONG_USEC, NULL, NULL, NULL));
        wait_end(&f);
        ASSERT_EQ(f.result, 0);
        for (unsigned i = 0; i < 50 && f.n_start < 4; i++)
                ASSERT_OK(sd_event_run(f.event, 100000));
        ASSERT_EQ(f.n_start, 4);
        manager_call_free(first);
}

TEST(a_limit_is_never_dropped) {
        _cleanup_fake_ Fake f = { .unknown_property = "MemoryMax" };

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, LONG_USEC), -EROFS);
        ASSERT_EQ(f.n_start, 1);
        ASSERT_CONTAINS(f.detail, "MemoryMax");
}

TEST(errors_keep_their_meaning) {
        static const struct {
                const char *name;
                int error;
        } table[] = {
                { "org.freedesktop.systemd1.UnitExists", EEXIST },
                { "org.freedesktop.systemd1.UnixProcessIdUnknown", ESRCH },
                { "org.freedesktop.systemd1.TransactionIsDestructive", ECANCELED },
                { "org.freedesktop.DBus.Error.AccessDenied", EACCES },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_fake_ Fake f = { .start_error = table[i].name };

                fake_start(&f);
                ASSERT_EQ(start_scope(&f, LONG_USEC), -table[i].error);
        }
}

TEST(a_job_that_fails_is_told_with_its_result) {
        static const struct {
                const char *result;
                int error;
        } table[] = {
                { "failed", EIO },         { "dependency", EIO },    { "skipped", EIO },
                { "canceled", ECANCELED }, { "timeout", ETIMEDOUT },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_fake_ Fake f = { .job_result = table[i].result };

                fake_start(&f);
                ASSERT_EQ(start_scope(&f, LONG_USEC), -table[i].error);
                ASSERT_CONTAINS(f.detail, table[i].result);
        }
}

/* A peer that accepts the connection and says nothing, not even what it takes to authenticate. */
static int mute_open(void *userdata, sd_bus **ret) {
        _cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
        int *pair = userdata;

        ASSERT_OK(RET_NERRNO(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)));
        ASSERT_OK(sd_bus_new(&bus));
        ASSERT_OK(sd_bus_set_fd(bus, pair[0], pair[0]));
        ASSERT_OK(sd_bus_negotiate_fds(bus, true));
        ASSERT_OK(sd_bus_start(bus));
        *ret = TAKE_PTR(bus);
        return 0;
}

TEST(a_connection_that_never_stands_holds_nobody_up) {
        _cleanup_fake_ Fake f = {};
        int pair[2];

        ASSERT_OK(sd_event_new(&f.event));
        ASSERT_OK(manager_new_full(RUNTIME_SCOPE_USER, f.event, mute_open, pair, &f.manager));
        ASSERT_EQ(start_scope(&f, SHORT_USEC), -ETIMEDOUT);
        (void) close(pair[1]);
}

TEST(silence_ends_at_the_deadline) {
        _cleanup_fake_ Fake f = { .silent = true };

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, SHORT_USEC), -ETIMEDOUT);
        ASSERT_EQ(f.n_start, 1);
}

TEST(a_lost_connection_is_reopened_and_the_unit_decides) {
        _cleanup_fake_ Fake f = { .hang_up_once = true, .active_state = "active" };

        fake_start(&f);
        /* The answer was lost, but the scope is there: it is not started twice. */
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_EQ(f.n_opened, 2);
        ASSERT_EQ(f.n_start, 1);
}

TEST(a_lost_start_that_was_not_carried_out_is_repeated) {
        _cleanup_fake_ Fake f = { .hang_up_once = true };

        fake_start(&f);
        ASSERT_EQ(start_scope(&f, LONG_USEC), 0);
        ASSERT_EQ(f.n_start, 2);
}

TEST(a_bus_that_is_away_for_a_while_is_waited_for) {
        _cleanup_fake_ Fake f = { .refuse_open = false };

        fake_start(&f);
        f.refuse_open = true;
        f.hang_up_once = true;
        ASSERT_EQ(stop_unit(&f, LONG_USEC), 0);
        ASSERT_GE(f.n_opened, 4);
}

TEST(stopping_what_is_not_there_is_success) {
        _cleanup_fake_ Fake f = { .stop_error = "org.freedesktop.systemd1.NoSuchUnit" };

        fake_start(&f);
        ASSERT_EQ(stop_unit(&f, LONG_USEC), 0);
}

TEST(a_stop_job_that_was_replaced_counts_when_the_unit_is_gone) {
        _cleanup_fake_ Fake f = { .job_result = "canceled", .active_state = "failed" };

        fake_start(&f);
        ASSERT_EQ(stop_unit(&f, LONG_USEC), 0);
        ASSERT_GE(f.n_get, 1);
}

TEST(a_unit_that_does_not_stop_is_a_timeout) {
        _cleanup_fake_ Fake f = { .no_signal = true, .active_state = "deactivating" };

        fake_start(&f);
        ASSERT_EQ(stop_unit(&f, SHORT_USEC), -ETIMEDOUT);
}

TEST(a_freed_call_says_nothing) {
        _cleanup_fake_ Fake f = {};
        ManagerCall *call = NULL;

        fake_start(&f);
        ASSERT_OK(manager_stop_unit(f.manager, UNIT, LONG_USEC, on_done, &f, &call));
        manager_call_free(call);
        for (unsigned i = 0; i < 20; i++)
                ASSERT_OK(sd_event_run(f.event, 10000));
        ASSERT_FALSE(f.ended);
        /* Freeing is no way to take it back. */
        ASSERT_EQ(f.n_stop, 1);
}

TEST(the_list_has_the_scopes_of_one_server) {
        _cleanup_fake_ Fake f = {};
        ManagerCall *call = NULL;

        fake_start(&f);
        ASSERT_OK(manager_list_scopes(f.manager, "a", LONG_USEC, on_units, &f, &call));
        wait_end(&f);
        manager_call_free(call);
        ASSERT_EQ(f.result, 0);
        ASSERT_EQ(strv_length(f.units), 2);
        ASSERT_STREQ(f.units[0], UNIT);
        ASSERT_STREQ(f.units[1], "mcp-a-fedcba9876543210.scope");
}

TEST(the_result_of_a_scope_is_told) {
        _cleanup_fake_ Fake f = { .active_state = "oom-kill" };
        ManagerCall *call = NULL;

        fake_start(&f);
        ASSERT_OK(manager_get_result(f.manager, UNIT, LONG_USEC, on_string, &f, &call));
        wait_end(&f);
        manager_call_free(call);
        ASSERT_EQ(f.result, 0);
        ASSERT_STREQ(f.detail, "oom-kill");
}

TEST(scope_names_are_told_apart) {
        static const struct {
                const char *scope, *instance;
                bool is;
        } table[] = {
                { "mcp-a-0123456789abcdef.scope", "a", true },
                { "mcp-a-0123456789abcdef.scope", NULL, true },
                { "mcp-a-b-0123456789abcdef.scope", "a", false },
                { "mcp-a-b-0123456789abcdef.scope", "a-b", true },
                { "mcp-a-0123456789abcdef-0123456789abcdef.scope", "a", false },
                { "mcp-a-0123456789abcdef-0123456789abcdef.scope", "a-0123456789abcdef", true },
                { "mcp-a-0123456789abcde.scope", NULL, false },
                { "mcp-a-0123456789abcdef0.scope", NULL, false },
                { "mcp-a-0123456789ABCDEF.scope", NULL, false },
                { "mcp--0123456789abcdef.scope", NULL, false },
                { "mcp-0123456789abcdef.scope", NULL, false },
                { "mcp-a-0123456789abcdef.service", NULL, false },
                { "mcp-.scope", NULL, false },
                { ".scope", NULL, false },
                { "", NULL, false },
                { "mcp-\\x20-0123456789abcdef.scope", "\\x20", true },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                ASSERT_EQ(scope_name_is_of(table[i].scope, table[i].instance), table[i].is);
        {
                _cleanup_free_ char *name = NULL;

                ASSERT_OK(scope_name_make("a-b", "0123456789abcdef", &name));
                ASSERT_TRUE(scope_name_is_of(name, "a-b"));
        }
}

TEST(a_transient_unit_without_its_file_is_gone) {
        char top[] = "/tmp/test-manager-XXXXXX";
        _cleanup_free_ char *directory = NULL, *file = NULL;
        _cleanup_close_ int fd = -EBADF;

        ASSERT_NOT_NULL(mkdtemp(top));
        ASSERT_OK(setenv("XDG_RUNTIME_DIR", top, 1));
        /* Nothing can be said without the directory. */
        ASSERT_FALSE(transient_unit_is_gone(RUNTIME_SCOPE_USER, "mcp-a.scope"));
        directory = strformat("%s/systemd/transient", top);
        ASSERT_OK(mkdir_parents(directory, 0700));
        ASSERT_TRUE(transient_unit_is_gone(RUNTIME_SCOPE_USER, "mcp-a.scope"));
        file = strformat("%s/mcp-a.scope", directory);
        fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        ASSERT_OK(fd);
        ASSERT_FALSE(transient_unit_is_gone(RUNTIME_SCOPE_USER, "mcp-a.scope"));
        ASSERT_OK(unlink(file));
        ASSERT_TRUE(transient_unit_is_gone(RUNTIME_SCOPE_USER, "mcp-a.scope"));
        ASSERT_OK(rmdir(directory));
        directory[strlen(directory) - strlen("/transient")] = 0;
        ASSERT_OK(rmdir(directory));
        ASSERT_OK(rmdir(top));
        ASSERT_OK(unsetenv("XDG_RUNTIME_DIR"));
        ASSERT_FALSE(transient_unit_is_gone(RUNTIME_SCOPE_USER, "mcp-a.scope"));
}

TEST(a_group_that_is_not_there_has_nobody_to_kill) {
        ASSERT_EQ(cgroup_kill_all("/mcp.slice/mcp-nobody-0123456789abcdef.scope"), 0);
}

TEST(cgroups_of_all_hierarchies) {
        static const struct {
                const char *text, *path;
                int error;
        } table[] = {
                { "0::/user.slice/x\n", "/user.slice/x", 0 },
                { "12:pids:/p\n1:name=systemd:/s\n0::/u\n", "/s", 0 },
                { "0::/with:colon\n", "/with:colon", 0 },
                { "0::/gone (deleted)\n", NULL, ENODATA },
                { "3:cpu:/c\n", NULL, ENOENT },
                { "", NULL, ENOENT },
                { "nonsense\n0::/u\n", "/u", 0 },
        };
        _cleanup_free_ char *path = NULL, *scope = NULL;

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *found = NULL;

                ASSERT_ERROR(cgroup_parse(table[i].text, &found), table[i].error);
                ASSERT_STREQ(found, table[i].path);
        }
        ASSERT_OK(cgroup_find("4:cpu,cpuacct:/c\n", "cpuacct", &path));
        ASSERT_STREQ(path, "/c");
        ASSERT_ERROR(cgroup_find("4:cpuset:/c\n", "cpu", &path), ENOENT);
        ASSERT_TRUE(cgroup_is_ours("/mcp.slice/mcp-a-0123456789abcdef.scope/sub", &scope));
        ASSERT_STREQ(scope, "mcp-a-0123456789abcdef.scope");
        ASSERT_FALSE(cgroup_is_ours("/mcp.slice/mcp-server@a.service", NULL));
        ASSERT_FALSE(cgroup_is_ours("/", NULL));
        free(TAKE_PTR(path));
        ASSERT_OK(cgroup_of_pid(getpid(), &path));
        ASSERT_EQ(path[0], '/');
}

TEST(limits_are_read_in_both_versions) {
        static const struct {
                const char *text;
                uint64_t value;
        } table[] = {
                { "max\n", UINT64_MAX },
                { "512\n", 512 },
                { "-1\n", UINT64_MAX },
                { "9223372036854771712\n", UINT64_MAX },
        };
        uint64_t value;

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                ASSERT_OK(cgroup_parse_limit(table[i].text, &value));
                ASSERT_TRUE(value == table[i].value);
        }
        ASSERT_ERROR(cgroup_parse_limit("x\n", &value), EBADMSG);
        ASSERT_ERROR(cgroup_parse_limit("", &value), EBADMSG);
        ASSERT_OK(cgroup_parse_cpu("50000 100000\n", false, &value));
        ASSERT_EQ(value, 500);
        ASSERT_OK(cgroup_parse_cpu("150000\n", true, &value));
        ASSERT_EQ(value, 1500);
        ASSERT_OK(cgroup_parse_cpu("max 100000\n", false, &value));
        ASSERT_TRUE(value == UINT64_MAX);
        ASSERT_ERROR(cgroup_parse_cpu("50000\n", false, &value), EBADMSG);
        ASSERT_EQ(cgroup_parse_event("low 1\noom 2\noom_kill 3\n", "oom_kill"), 3);
        ASSERT_EQ(cgroup_parse_event("low 1\noom 2\noom_kill 3\n", "oom"), 2);
        ASSERT_EQ(cgroup_parse_event("low 1\n", "max"), 0);
        ASSERT_EQ(cgroup_parse_event("", "max"), 0);
}

TEST(hints_are_for_people) {
        ASSERT_CONTAINS(manager_error_hint(RUNTIME_SCOPE_USER, -ENOMEDIUM), "enable-linger");
        ASSERT_CONTAINS(manager_error_hint(RUNTIME_SCOPE_USER, -ENOENT), "dbus-user-session");
        ASSERT_CONTAINS(manager_error_hint(RUNTIME_SCOPE_SYSTEM, -ETIMEDOUT), "did not answer");
        ASSERT_NULL(manager_error_hint(RUNTIME_SCOPE_SYSTEM, -EDOM));
}

TEST(exit_statuses_before_execution_have_systemds_names) {
        ASSERT_STREQ(exec_status_to_string(200), "CHDIR");
        ASSERT_STREQ(exec_status_to_string(EXEC_STATUS_USER), "USER");
        ASSERT_STREQ(exec_status_to_string(EXEC_STATUS_CREDENTIALS), "CREDENTIALS");
        ASSERT_STREQ(exec_status_to_string(EXEC_STATUS_MAX), "BPF");
        ASSERT_TRUE(exec_status_to_string(199) == NULL);
        ASSERT_TRUE(exec_status_to_string(223) == NULL);
        ASSERT_TRUE(exec_status_to_string(EXEC_STATUS_MAX + 1) == NULL);
        ASSERT_TRUE(exec_status_to_string(2) == NULL);
}
