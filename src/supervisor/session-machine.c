/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/session-machine.h"

/* Columns: event, action, next state. An event that a state does not list is ignored there, because it cannot matter any
 * more (a client that goes while its server is being stopped), or because the state has no source for it (a hello in a
 * running session). SESSION_ENDED lists none. */
_Static_assert(_SESSION_EVENT_MAX == 20, "What does the new event mean in each state?");
_Static_assert(SESSION_ACTION_IGNORE == 0, "Cells that are not written are ignored events.");
static const SessionTransition table[_SESSION_STATE_MAX][_SESSION_EVENT_MAX] = {
        [SESSION_NEW] = {
                [SESSION_EVENT_RAW] = { SESSION_ACTION_QUEUE, SESSION_QUEUED },
                [SESSION_EVENT_CONNECT] = { SESSION_ACTION_AWAIT_HELLO, SESSION_HELLO },
                [SESSION_EVENT_NOT_ADMITTED] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
                [SESSION_EVENT_CLIENT_GONE] = { SESSION_ACTION_FINISH, SESSION_ENDED },
                [SESSION_EVENT_STOP] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
        },
        [SESSION_HELLO] = {
                [SESSION_EVENT_HELLO] = { SESSION_ACTION_QUEUE, SESSION_QUEUED },
                [SESSION_EVENT_BAD_HELLO] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
                [SESSION_EVENT_NOT_ADMITTED] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
                [SESSION_EVENT_CLIENT_GONE] = { SESSION_ACTION_FINISH, SESSION_ENDED },
                [SESSION_EVENT_STOP] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
                [SESSION_EVENT_TIMER] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
        },
        [SESSION_QUEUED] = {
                [SESSION_EVENT_TURN] = { SESSION_ACTION_LAUNCH, SESSION_SCOPE },
                [SESSION_EVENT_NOT_ADMITTED] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
                [SESSION_EVENT_CLIENT_GONE] = { SESSION_ACTION_FINISH, SESSION_ENDED },
                [SESSION_EVENT_STOP] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
        },
        [SESSION_SCOPE] = {
                [SESSION_EVENT_NOT_ADMITTED] = { SESSION_ACTION_REFUSE, SESSION_ENDED },
                [SESSION_EVENT_SCOPE_UP] = { SESSION_ACTION_GO, SESSION_EXEC },
                [SESSION_EVENT_SCOPE_TAKEN] = { SESSION_ACTION_RENAME, SESSION_SCOPE },
                [SESSION_EVENT_SCOPE_FAILED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_NOT_ENFORCED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_INPUT_ENDED] = { SESSION_ACTION_NOTE_INPUT_ENDED, SESSION_SCOPE },
                [SESSION_EVENT_CLIENT_GONE] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_STOP] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
        },
        [SESSION_EXEC] = {
                [SESSION_EVENT_SCOPE_TAKEN] = { SESSION_ACTION_RENAME, SESSION_SCOPE },
                [SESSION_EVENT_SCOPE_FAILED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_NOT_ENFORCED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_EXECUTED] = { SESSION_ACTION_ANNOUNCE, SESSION_RUNNING },
                [SESSION_EVENT_EXEC_FAILED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_SETTLE, SESSION_EXEC },
                [SESSION_EVENT_INPUT_ENDED] = { SESSION_ACTION_NOTE_INPUT_ENDED, SESSION_EXEC },
                [SESSION_EVENT_CLIENT_GONE] = { SESSION_ACTION_END_INPUT, SESSION_GRACE },
                [SESSION_EVENT_STOP] = { SESSION_ACTION_END_INPUT, SESSION_GRACE },
        },
        [SESSION_RUNNING] = {
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_STOP, SESSION_STOPPING },
                [SESSION_EVENT_INPUT_ENDED] = { SESSION_ACTION_GRACE, SESSION_GRACE },
                [SESSION_EVENT_CLIENT_GONE] = { SESSION_ACTION_END_INPUT, SESSION_GRACE },
                [SESSION_EVENT_STOP] = { SESSION_ACTION_END_INPUT, SESSION_GRACE },
                [SESSION_EVENT_RUNTIME] = { SESSION_ACTION_END_INPUT, SESSION_GRACE },
        },
        [SESSION_GRACE] = {
                [SESSION_EVENT_EXECUTED] = { SESSION_ACTION_ANNOUNCE, SESSION_GRACE },
                [SESSION_EVENT_EXEC_FAILED] = { SESSION_ACTION_ABORT, SESSION_STOPPING },
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_STOP, SESSION_STOPPING },
                [SESSION_EVENT_INPUT_ENDED] = { SESSION_ACTION_GRACE, SESSION_GRACE },
                [SESSION_EVENT_TIMER] = { SESSION_ACTION_STOP, SESSION_STOPPING },
        },
        [SESSION_STOPPING] = {
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_HANG_UP_SOON, SESSION_STOPPING },
                [SESSION_EVENT_TIMER] = { SESSION_ACTION_HANG_UP, SESSION_STOPPING },
                [SESSION_EVENT_UNIT_STOPPED] = { SESSION_ACTION_REAP, SESSION_REAPING },
                [SESSION_EVENT_UNIT_NOT_STOPPED] = { SESSION_ACTION_RETRY_LATER, SESSION_RETRY },
        },
        [SESSION_RETRY] = {
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_HANG_UP, SESSION_RETRY },
                [SESSION_EVENT_TIMER] = { SESSION_ACTION_STOP, SESSION_STOPPING },
        },
        [SESSION_REAPING] = {
                [SESSION_EVENT_CHILD_EXITED] = { SESSION_ACTION_FINISH, SESSION_ENDED },
                [SESSION_EVENT_TIMER] = { SESSION_ACTION_FINISH, SESSION_ENDED },
        },
};

bool session_machine_next(SessionState state, SessionEvent event, SessionTransition *ret) {
        if (state < 0 || state >= _SESSION_STATE_MAX || event < 0 || event >= _SESSION_EVENT_MAX)
                return false;
        *ret = table[state][event];
        if (ret->action == SESSION_ACTION_IGNORE)
                ret->next = state;
        return true;
}

static const char *const state_names[_SESSION_STATE_MAX] = {
        [SESSION_NEW] = "new",         [SESSION_HELLO] = "hello",       [SESSION_QUEUED] = "queued",
        [SESSION_SCOPE] = "scope",     [SESSION_EXEC] = "exec",         [SESSION_RUNNING] = "running",
        [SESSION_GRACE] = "grace",     [SESSION_STOPPING] = "stopping", [SESSION_RETRY] = "retry",
        [SESSION_REAPING] = "reaping", [SESSION_ENDED] = "ended",
};

const char *session_state_to_string(SessionState state) {
        return state >= 0 && state < _SESSION_STATE_MAX ? state_names[state] : NULL;
}

static const char *const event_names[_SESSION_EVENT_MAX] = {
        [SESSION_EVENT_RAW] = "raw",
        [SESSION_EVENT_CONNECT] = "connect",
        [SESSION_EVENT_HELLO] = "hello",
        [SESSION_EVENT_BAD_HELLO] = "bad-hello",
        [SESSION_EVENT_NOT_ADMITTED] = "not-admitted",
        [SESSION_EVENT_TURN] = "turn",
        [SESSION_EVENT_SCOPE_UP] = "scope-up",
        [SESSION_EVENT_SCOPE_TAKEN] = "scope-taken",
        [SESSION_EVENT_SCOPE_FAILED] = "scope-failed",
        [SESSION_EVENT_NOT_ENFORCED] = "not-enforced",
        [SESSION_EVENT_EXECUTED] = "executed",
        [SESSION_EVENT_EXEC_FAILED] = "exec-failed",
        [SESSION_EVENT_CHILD_EXITED] = "child-exited",
        [SESSION_EVENT_INPUT_ENDED] = "input-ended",
        [SESSION_EVENT_CLIENT_GONE] = "client-gone",
        [SESSION_EVENT_STOP] = "stop",
        [SESSION_EVENT_RUNTIME] = "runtime",
        [SESSION_EVENT_TIMER] = "timer",
        [SESSION_EVENT_UNIT_STOPPED] = "unit-stopped",
        [SESSION_EVENT_UNIT_NOT_STOPPED] = "unit-not-stopped",
};

const char *session_event_to_string(SessionEvent event) {
        return event >= 0 && event < _SESSION_EVENT_MAX ? event_names[event] : NULL;
}
