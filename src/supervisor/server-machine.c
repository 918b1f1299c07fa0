/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/server-machine.h"

/* Columns: event, action, next state. An event that a state does not list is ignored there; SERVER_DONE lists none. In
 * SERVING, EMPTY is the end of LEAVE and READY that of RELOAD. */
_Static_assert(_SERVER_EVENT_MAX == 9, "What does the new event mean in each state?");
_Static_assert(SERVER_ACTION_IGNORE == 0, "Cells that are not written are ignored events.");
static const ServerTransition table[_SERVER_STATE_MAX][_SERVER_EVENT_MAX] = {
        [SERVER_STARTING] = {
                [SERVER_EVENT_READY] = { SERVER_ACTION_SERVE, SERVER_SERVING },
                [SERVER_EVENT_CANNOT_SERVE] = { SERVER_ACTION_TURN_AWAY, SERVER_REFUSING },
                [SERVER_EVENT_TERMINATE] = { SERVER_ACTION_STOP_SESSIONS, SERVER_STOPPING },
        },
        [SERVER_SERVING] = {
                [SERVER_EVENT_READY] = { SERVER_ACTION_SERVE, SERVER_SERVING },
                [SERVER_EVENT_CANNOT_SERVE] = { SERVER_ACTION_TURN_AWAY, SERVER_REFUSING },
                [SERVER_EVENT_CLIENTS] = { SERVER_ACTION_ACCEPT, SERVER_SERVING },
                [SERVER_EVENT_SESSION_ENDED] = { SERVER_ACTION_COUNT, SERVER_SERVING },
                [SERVER_EVENT_IDLE] = { SERVER_ACTION_LEAVE, SERVER_SERVING },
                [SERVER_EVENT_RELOAD] = { SERVER_ACTION_RELOAD, SERVER_SERVING },
                [SERVER_EVENT_TERMINATE] = { SERVER_ACTION_STOP_SESSIONS, SERVER_STOPPING },
                [SERVER_EVENT_EMPTY] = { SERVER_ACTION_EXIT, SERVER_DONE },
        },
        [SERVER_REFUSING] = {
                [SERVER_EVENT_READY] = { SERVER_ACTION_SERVE, SERVER_SERVING },
                [SERVER_EVENT_CANNOT_SERVE] = { SERVER_ACTION_TURN_AWAY, SERVER_REFUSING },
                [SERVER_EVENT_CLIENTS] = { SERVER_ACTION_TURN_AWAY, SERVER_REFUSING },
                [SERVER_EVENT_SESSION_ENDED] = { SERVER_ACTION_COUNT, SERVER_REFUSING },
                [SERVER_EVENT_RELOAD] = { SERVER_ACTION_RELOAD, SERVER_REFUSING },
                [SERVER_EVENT_TERMINATE] = { SERVER_ACTION_STOP_SESSIONS, SERVER_STOPPING },
                [SERVER_EVENT_EMPTY] = { SERVER_ACTION_EXIT, SERVER_DONE },
        },
        [SERVER_STOPPING] = {
                [SERVER_EVENT_SESSION_ENDED] = { SERVER_ACTION_COUNT, SERVER_STOPPING },
                [SERVER_EVENT_EMPTY] = { SERVER_ACTION_EXIT, SERVER_DONE },
                [SERVER_EVENT_GIVE_UP] = { SERVER_ACTION_EXIT, SERVER_DONE },
        },
};

bool server_machine_next(ServerState state, ServerEvent event, ServerTransition *ret) {
        if (state < 0 || state >= _SERVER_STATE_MAX || event < 0 || event >= _SERVER_EVENT_MAX)
                return false;
        *ret = table[state][event];
        if (ret->action == SERVER_ACTION_IGNORE)
                ret->next = state;
        return true;
}

static const char *const state_names[_SERVER_STATE_MAX] = {
        [SERVER_STARTING] = "starting", [SERVER_SERVING] = "serving", [SERVER_REFUSING] = "refusing",
        [SERVER_STOPPING] = "stopping", [SERVER_DONE] = "done",
};

const char *server_state_to_string(ServerState state) {
        return state >= 0 && state < _SERVER_STATE_MAX ? state_names[state] : NULL;
}
