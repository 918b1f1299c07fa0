/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The messages on NAME.connect, a SOCK_SEQPACKET socket: one JSON object per packet, CONTROL_SIZE_MAX bytes at most.
 *
 * The client says hello once, with its stdin, stdout and stderr (in this order) as one SCM_RIGHTS block:
 *     {"version":1,"client":"mcp-connect 0.1.0","env":{"NAME":"value"},"probe":false}
 * env holds what the client passes through; the server takes what sessions.accept_env names. The supervisor answers
 * with states, the last of which is refused or exited, and closes:
 *     {"version":1,"state":"starting","session":"…","runner":"npx","start_timeout_usec":60000000}
 *     {"version":1,"state":"running","session":"…","scope":"…","isolated":true,"missing":["fs-truncate"]}
 *     {"version":1,"state":"refused","code":"MCP-R-BUSY","reason":"…","exit":69}
 *     {"version":1,"state":"exited","exit":0} or {…,"signal":9,"exit":137,"reason":"out of memory (limit 512M)"},
 *         with "stderr": the last lines, where the server failed
 * The connection's end is the client's end: closing it (or dying) ends the session. */

#include "basic/macro.h"

#define CONTROL_VERSION  1
#define CONTROL_SIZE_MAX (64U * 1024U)
#define CONTROL_N_FDS    3

typedef struct ControlHello {
        char *client;
        char **env; /* strv of NAME=value */
        bool probe;
} ControlHello;
void control_hello_done(ControlHello *h);

typedef enum ControlState {
        CONTROL_STARTING,
        CONTROL_RUNNING,
        CONTROL_REFUSED,
        CONTROL_EXITED,
        _CONTROL_STATE_MAX,
        _CONTROL_STATE_INVALID = -EINVAL,
} ControlState;

typedef struct ControlStatus {
        ControlState state;
        char *session, *scope;
        char *runner; /* starting: what may be downloading the server; NULL: nothing that is known to */
        uint64_t start_timeout_usec; /* likewise: the budget of the definition; 0: unknown */
        bool isolated;
        char **missing;      /* protections, by id */
        char *code, *reason; /* refused, exited */
        int exit_code;       /* what mcp-connect exits with */
        int signal;          /* 0: none */
        char **stderr_tail;
} ControlStatus;
void control_status_done(ControlStatus *s);

const char *control_state_to_string(ControlState state);
ControlState control_state_from_string(const char *s);

/* Encoding: a malloc'd text. -E2BIG where it would not fit (stderr_tail is cut before that); -EILSEQ: a variable's
 * value is not UTF-8; text of a status that is not is escaped. */
int control_hello_encode(const ControlHello *h, char **ret, size_t *ret_size);
int control_status_encode(const ControlStatus *s, char **ret, size_t *ret_size);

/* Decoding what an untrusted peer sent: -EBADMSG: not such a message; -EPROTONOSUPPORT: another version, *ret_version
 * (may be NULL) says which. Unknown keys are ignored. *ret is overwritten, not freed. */
int control_hello_decode(const char *text, size_t size, ControlHello *ret, int64_t *ret_version);
int control_status_decode(const char *text, size_t size, ControlStatus *ret, int64_t *ret_version);

/* Sending and receiving on the socket, never waiting: -EAGAIN. Receiving: every descriptor that came is closed unless it
 * is handed out; -EBADMSG: a hello without exactly CONTROL_N_FDS of them, or the packet or its descriptors were truncated.
 * *ret_size is 0: the peer is gone, and no descriptor is handed out. */
int control_send(int fd, const char *text, size_t size, const int fds[CONTROL_N_FDS]); /* fds NULL: none */
int control_receive_hello(int fd, char **ret, size_t *ret_size, int ret_fds[CONTROL_N_FDS]);
int control_receive(int fd, char **ret, size_t *ret_size);
