/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The life of one session, as a table: what is done and which state comes next, for every event in every state. It
 * knows no descriptors and no processes; session.c performs the actions. */

#include "basic/macro.h"

typedef enum SessionState {
        SESSION_NEW,
        SESSION_HELLO,  /* NAME.connect: the client has not said hello yet */
        SESSION_QUEUED, /* admitted: its child will be made together with others' */
        SESSION_SCOPE,  /* the child is there and blocked, its scope is being started */
        SESSION_EXEC,   /* the child confines itself and executes the server */
        SESSION_RUNNING,
        SESSION_GRACE,    /* the server's input has ended (or cannot be ended): it may finish by itself */
        SESSION_STOPPING, /* StopUnit of the scope is under way */
        SESSION_RETRY,    /* StopUnit failed and will be tried again */
        SESSION_REAPING,  /* the scope is gone; the child's death is waited for */
        SESSION_ENDED,
        _SESSION_STATE_MAX,
} SessionState;

typedef enum SessionEvent {
        SESSION_EVENT_RAW,     /* accepted on NAME.sock */
        SESSION_EVENT_CONNECT, /* accepted on NAME.connect */
        SESSION_EVENT_HELLO,
        SESSION_EVENT_BAD_HELLO,
        SESSION_EVENT_NOT_ADMITTED, /* no room, back-off, or the child could not be made: there is no child */
        SESSION_EVENT_TURN,         /* of those that are queued */
        SESSION_EVENT_SCOPE_UP,
        SESSION_EVENT_SCOPE_TAKEN, /* the name is in use, or the child is not in the scope that was started */
        SESSION_EVENT_SCOPE_FAILED,
        SESSION_EVENT_NOT_ENFORCED, /* strict, and a limit does not hold in the scope */
        SESSION_EVENT_EXECUTED,
        SESSION_EVENT_EXEC_FAILED,
        SESSION_EVENT_CHILD_EXITED,
        SESSION_EVENT_INPUT_ENDED, /* nobody can write to the server's input any more */
        SESSION_EVENT_CLIENT_GONE,
        SESSION_EVENT_STOP,    /* systemctl stop */
        SESSION_EVENT_RUNTIME, /* limits.runtime is over */
        SESSION_EVENT_TIMER,   /* the state's own timer */
        SESSION_EVENT_UNIT_STOPPED,
        SESSION_EVENT_UNIT_NOT_STOPPED,
        _SESSION_EVENT_MAX,
        _SESSION_EVENT_NONE = -EINVAL,
} SessionEvent;

typedef enum SessionAction {
        SESSION_ACTION_IGNORE, /* decided: nothing is to be done */
        SESSION_ACTION_AWAIT_HELLO,
        SESSION_ACTION_QUEUE,  /* admission, and what can be done without a child */
        SESSION_ACTION_LAUNCH, /* the child; its scope is asked for when all others have theirs */
        SESSION_ACTION_RENAME, /* another scope name */
        SESSION_ACTION_GO,     /* the child is in its scope: checks, then lets it go */
        SESSION_ACTION_SETTLE, /* the child is dead: did it get as far as execve()? */
        SESSION_ACTION_ANNOUNCE,
        SESSION_ACTION_NOTE_INPUT_ENDED,
        SESSION_ACTION_GRACE,     /* the input has ended: starts the grace */
        SESSION_ACTION_END_INPUT, /* makes it end where that can be done, then the grace */
        SESSION_ACTION_ABORT,     /* tells the client why it gets no server; kills the child; StopUnit */
        SESSION_ACTION_STOP,      /* StopUnit */
        SESSION_ACTION_RETRY_LATER,
        SESSION_ACTION_HANG_UP_SOON, /* the server is dead: its client is to know, whatever still stops */
        SESSION_ACTION_HANG_UP,
        SESSION_ACTION_REAP,
        SESSION_ACTION_REFUSE, /* tells the client; there is nothing to stop */
        SESSION_ACTION_FINISH,
        _SESSION_ACTION_MAX,
} SessionAction;

typedef struct SessionTransition {
        SessionAction action;
        SessionState next;
} SessionTransition;

/* Which state comes before the action. false: state or event out of range. */
bool session_machine_next(SessionState state, SessionEvent event, SessionTransition *ret);

const char *session_state_to_string(SessionState state);
const char *session_event_to_string(SessionEvent event);
