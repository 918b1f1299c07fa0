/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the journal is told that a program may look for. Each has a MESSAGE_ID, an entry in units/mcp-systemd.catalog
 * and one in mcp-supervisor(8); a test holds the three together. */

#include <sys/types.h>

#include "supervisor/journal.h"

typedef enum EventId {
        EVENT_DEGRADED,
        EVENT_UNCONFINED,
        EVENT_REFUSED,
        EVENT_DEFINITION_INVALID,
        EVENT_SESSION_STARTED,
        EVENT_SESSION_ENDED,
        EVENT_SESSION_FAILED,
        EVENT_SESSION_KILLED,
        EVENT_LIMIT_REACHED,
        EVENT_CLIENT_REFUSED,
        _EVENT_MAX,
} EventId;

typedef struct EventType {
        const char *name;       /* as the manual page has it */
        const char *message_id; /* 32 hexadecimal digits */
        int priority;           /* syslog's */
} EventType;

extern const EventType event_types[_EVENT_MAX];

/* The fields of a record; NULL, 0 and -1 are left out. No secret may be in any of them. */
typedef struct EventFields {
        const char *server;  /* MCP_SERVER */
        const char *unit;    /* of the service */
        bool user;           /* unit is a user unit */
        const char *session; /* MCP_SESSION */
        const char *scope;   /* MCP_SCOPE */
        const char *code;    /* MCP_CODE: MCP-R-… */
        pid_t pid;           /* MCP_PID: the server's own process */
        pid_t client_pid;    /* MCP_CLIENT_PID */
        uid_t client_uid;    /* MCP_CLIENT_UID */
        const char *mode;    /* MCP_ISOLATION_MODE, MCP_ISOLATED, MCP_ISOLATION_SOURCE */
        const char *source;
        bool isolated;
        int landlock_abi;      /* MCP_LANDLOCK_ABI */
        char *const *missing;  /* MCP_MISSING, repeated */
        int exit_code, signal; /* MCP_EXIT_CODE, MCP_EXIT_SIGNAL; -1 */
        uint64_t limit, peak;  /* MCP_LIMIT, MCP_PEAK */
} EventFields;

#define EVENT_FIELDS_INIT \
        ((EventFields){ .client_uid = (uid_t) -1, .landlock_abi = -1, .exit_code = -1, .signal = -1 })

void event_log(Journal *j, EventId id, const EventFields *fields, const char *format, ...) _printf_(4, 5);

/* The fields alone, for records that are no events (a server's stderr). */
int event_fields_append(const EventFields *fields, char ***list);
