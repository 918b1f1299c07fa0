/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables as a whole: each event decided in each state, no way out of the end, and no way to it past the teardown. */

#include "test.h"

#include "supervisor/server-machine.h"
#include "supervisor/session-machine.h"

static SessionTransition go(SessionState state, SessionEvent event) {
        SessionTransition t;

        ASSERT_TRUE(session_machine_next(state, event, &t));
        ASSERT_TRUE(t.action >= 0 && t.action < _SESSION_ACTION_MAX);
        ASSERT_TRUE(t.next >= 0 && t.next < _SESSION_STATE_MAX);
        return t;
}

TEST(every_event_in_every_state_is_decided) {
        for (SessionState s = 0; s < _SESSION_STATE_MAX; s++) {
                ASSERT_NOT_NULL(session_state_to_string(s));
                for (SessionEvent e = 0; e < _SESSION_EVENT_MAX; e++) {
                        SessionTransition t = go(s, e);

                        ASSERT_NOT_NULL(session_event_to_string(e));
                        /* What is ignored changes nothing. */
                        if (t.action == SESSION_ACTION_IGNORE)
                                ASSERT_EQ(t.next, s);
                        if (s != SESSION_NEW)
                                ASSERT_NE(t.next, SESSION_NEW);
                }
        }
}

/* Which events do something in a state, written down a second time: a row that is lost, or strays into another state,
 * is found here. */
static const char *const heeded[_SESSION_STATE_MAX] = {
        [SESSION_NEW] = "raw connect not-admitted client-gone stop ",
        [SESSION_HELLO] = "hello bad-hello not-admitted client-gone stop timer ",
        [SESSION_QUEUED] = "not-admitted turn client-gone stop ",
        [SESSION_SCOPE] = "not-admitted scope-up scope-taken scope-failed not-enforced child-exited "
                          "input-ended "
                          "client-gone stop ",
        [SESSION_EXEC] = "scope-taken scope-failed not-enforced executed exec-failed child-exited "
                         "input-ended "
                         "client-gone stop ",
        [SESSION_RUNNING] = "child-exited input-ended client-gone stop runtime ",
        [SESSION_GRACE] = "executed exec-failed child-exited input-ended timer ",
        [SESSION_STOPPING] = "child-exited timer unit-stopped unit-not-stopped ",
        [SESSION_RETRY] = "child-exited timer ",
        [SESSION_REAPING] = "child-exited timer ",
        [SESSION_ENDED] = "",
};

TEST(each_state_heeds_its_events_and_no_others) {
        for (SessionState s = 0; s < _SESSION_STATE_MAX; s++) {
                char text[512] = "";

                for (SessionEvent e = 0; e < _SESSION_EVENT_MAX; e++)
                        if (go(s, e).action != SESSION_ACTION_IGNORE) {
                                strncat(text, session_event_to_string(e), sizeof(text) - strlen(text) - 1);
                                strncat(text, " ", sizeof(text) - strlen(text) - 1);
                        }
                ASSERT_STREQ(text, heeded[s]);
        }
}

TEST(out_of_range_is_no_transition) {
        SessionTransition t;

        ASSERT_FALSE(session_machine_next(_SESSION_STATE_MAX, SESSION_EVENT_TIMER, &t));
        ASSERT_FALSE(session_machine_next(SESSION_NEW, _SESSION_EVENT_NONE, &t));
        ASSERT_FALSE(session_machine_next(SESSION_NEW, _SESSION_EVENT_MAX, &t));
}

TEST(the_end_is_the_end) {
        for (SessionEvent e = 0; e < _SESSION_EVENT_MAX; e++)
                ASSERT_EQ(go(SESSION_ENDED, e).next, SESSION_ENDED);
}

/* Once there is a child in a scope, only a stopped unit leads to the end. */
TEST(no_session_ends_without_its_scope_being_stopped) {
        static const SessionState with_scope[] = {
                SESSION_EXEC, SESSION_RUNNING, SESSION_GRACE, SESSION_STOPPING, SESSION_RETRY
        };

        for (size_t i = 0; i < ELEMENTSOF(with_scope); i++)
                for (SessionEvent e = 0; e < _SESSION_EVENT_MAX; e++)
                        ASSERT_NE(go(with_scope[i], e).next, SESSION_ENDED);
        for (SessionState s = 0; s < _SESSION_STATE_MAX; s++)
                for (SessionEvent e = 0; e < _SESSION_EVENT_MAX; e++)
                        if (s != SESSION_REAPING && go(s, e).next == SESSION_REAPING) {
                                ASSERT_EQ(s, SESSION_STOPPING);
                                ASSERT_EQ(e, SESSION_EVENT_UNIT_STOPPED);
                        }
}

/* From every state a stop leads to the end, whatever fails on the way, as long as the state's awaited events come. */
TEST(a_stop_leads_to_the_end_from_everywhere) {
        for (SessionState s = 0; s < _SESSION_STATE_MAX; s++) {
                SessionState at = go(s, SESSION_EVENT_STOP).next;

                for (unsigned i = 0; i < 8 && at != SESSION_ENDED; i++)
                        at = go(at,
                                at == SESSION_GRACE || at == SESSION_RETRY ? SESSION_EVENT_TIMER
                                : at == SESSION_STOPPING                   ? SESSION_EVENT_UNIT_STOPPED
                                                                           : SESSION_EVENT_CHILD_EXITED)
                                             .next;
                ASSERT_EQ(at, SESSION_ENDED);
        }
}

TEST(the_usual_life) {
        static const struct {
                SessionEvent event;
                SessionAction action;
                SessionState next;
        } life[] = {
                { SESSION_EVENT_CONNECT, SESSION_ACTION_AWAIT_HELLO, SESSION_HELLO },
                { SESSION_EVENT_HELLO, SESSION_ACTION_QUEUE, SESSION_QUEUED },
                { SESSION_EVENT_TURN, SESSION_ACTION_LAUNCH, SESSION_SCOPE },
                { SESSION_EVENT_SCOPE_TAKEN, SESSION_ACTION_RENAME, SESSION_SCOPE },
                { SESSION_EVENT_SCOPE_UP, SESSION_ACTION_GO, SESSION_EXEC },
                { SESSION_EVENT_EXECUTED, SESSION_ACTION_ANNOUNCE, SESSION_RUNNING },
                { SESSION_EVENT_INPUT_ENDED, SESSION_ACTION_GRACE, SESSION_GRACE },
                { SESSION_EVENT_TIMER, SESSION_ACTION_STOP, SESSION_STOPPING },
                { SESSION_EVENT_UNIT_NOT_STOPPED, SESSION_ACTION_RETRY_LATER, SESSION_RETRY },
                { SESSION_EVENT_TIMER, SESSION_ACTION_STOP, SESSION_STOPPING },
                { SESSION_EVENT_UNIT_STOPPED, SESSION_ACTION_REAP, SESSION_REAPING },
                { SESSION_EVENT_CHILD_EXITED, SESSION_ACTION_FINISH, SESSION_ENDED },
        };
        SessionState state = SESSION_NEW;

        for (size_t i = 0; i < ELEMENTSOF(life); i++) {
                SessionTransition t = go(state, life[i].event);

                ASSERT_EQ(t.action, life[i].action);
                ASSERT_EQ(t.next, life[i].next);
                state = t.next;
        }
}

TEST(a_child_is_let_go_only_when_its_scope_is_up) {
        for (SessionState s = 0; s < _SESSION_STATE_MAX; s++)
                for (SessionEvent e = 0; e < _SESSION_EVENT_MAX; e++)
                        if (go(s, e).action == SESSION_ACTION_GO) {
                                ASSERT_EQ(s, SESSION_SCOPE);
                                ASSERT_EQ(e, SESSION_EVENT_SCOPE_UP);
                        }
}

TEST(every_event_in_every_state_of_the_supervisor_is_decided) {
        for (ServerState s = 0; s < _SERVER_STATE_MAX; s++)
                for (ServerEvent e = 0; e < _SERVER_EVENT_MAX; e++) {
                        ServerTransition t;

                        ASSERT_TRUE(server_machine_next(s, e, &t));
                        ASSERT_NOT_NULL(server_state_to_string(t.next));
                        if (t.action == SERVER_ACTION_IGNORE)
                                ASSERT_EQ(t.next, s);
                        if (s != SERVER_STARTING)
                                ASSERT_NE(t.next, SERVER_STARTING);
                        /* Nobody is accepted once the supervisor stops. */
                        if (s == SERVER_STOPPING || s == SERVER_DONE)
                                ASSERT_NE(t.action, SERVER_ACTION_ACCEPT);
                }
}

TEST(sigterm_stops_from_every_state_and_a_reload_is_finished) {
        static const ServerState states[] = { SERVER_STARTING, SERVER_SERVING, SERVER_REFUSING };
        ServerTransition t;

        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                ASSERT_TRUE(server_machine_next(states[i], SERVER_EVENT_TERMINATE, &t));
                ASSERT_EQ(t.action, SERVER_ACTION_STOP_SESSIONS);
                ASSERT_TRUE(server_machine_next(states[i], SERVER_EVENT_READY, &t));
                ASSERT_EQ(t.action, SERVER_ACTION_SERVE);
                ASSERT_EQ(t.next, SERVER_SERVING);
        }
}
