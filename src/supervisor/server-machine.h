/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The life of the supervisor itself, as a table; server.c performs the actions. */

#include "basic/macro.h"

typedef enum ServerState {
        SERVER_STARTING,
        SERVER_SERVING,
        SERVER_REFUSING, /* a reload made the definition unusable: running sessions go on, new clients are told why */
        SERVER_STOPPING, /* no new clients; the sessions are being stopped */
        SERVER_DONE,
        _SERVER_STATE_MAX,
} ServerState;

typedef enum ServerEvent {
        SERVER_EVENT_READY,
        SERVER_EVENT_CANNOT_SERVE, /* at the start, or found by a reload */
        SERVER_EVENT_CLIENTS,
        SERVER_EVENT_SESSION_ENDED,
        SERVER_EVENT_IDLE, /* no session for the idle timeout */
        SERVER_EVENT_RELOAD,
        SERVER_EVENT_TERMINATE,
        SERVER_EVENT_EMPTY,   /* the last session is gone, in a state that waits for that */
        SERVER_EVENT_GIVE_UP, /* stopping takes too long: BindsTo= takes the scopes along */
        _SERVER_EVENT_MAX,
        _SERVER_EVENT_NONE = -EINVAL,
} ServerEvent;

typedef enum ServerAction {
        SERVER_ACTION_IGNORE,
        SERVER_ACTION_SERVE,     /* says READY */
        SERVER_ACTION_TURN_AWAY, /* answers who waits with the reason; then EMPTY where no session is left */
        SERVER_ACTION_ACCEPT,
        SERVER_ACTION_COUNT, /* arms the idle timer, or EMPTY */
        SERVER_ACTION_LEAVE, /* looks for clients once more, then says STOPPING */
        SERVER_ACTION_RELOAD,
        SERVER_ACTION_STOP_SESSIONS,
        SERVER_ACTION_EXIT,
        _SERVER_ACTION_MAX,
} ServerAction;

typedef struct ServerTransition {
        ServerAction action;
        ServerState next;
} ServerTransition;

bool server_machine_next(ServerState state, ServerEvent event, ServerTransition *ret);
const char *server_state_to_string(ServerState state);
