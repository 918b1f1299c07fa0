/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of this room. The connection (manager.c) comes and goes; a call (call.c) is one operation that
 * survives that: each knows how to ask, and how to find out what became of what it asked. */

#include "basic/macro.h"
#include "manager/manager.h"

#define SYSTEMD_NAME      "org.freedesktop.systemd1"
#define SYSTEMD_PATH      "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER   "org.freedesktop.systemd1.Manager"
#define SYSTEMD_UNIT      "org.freedesktop.systemd1.Unit"
#define SYSTEMD_SCOPE     "org.freedesktop.systemd1.Scope"
#define RECENT_JOBS       32U
#define REOPEN_MIN_USEC   (50U * 1000U)
#define CHECK_PERIOD_USEC (500U * 1000U)
#define ACCURACY_USEC     (10U * 1000U) /* sd-event's own is 250 ms: a client waits meanwhile */

/* A job that ended before the reply which names it was looked at. */
typedef struct EndedJob {
        char *path, *result, *sender;
} EndedJob;

struct Manager {
        RuntimeScope scope;
        sd_event *event;
        manager_open_t open;
        void *open_userdata;

        sd_bus *bus;
        bool online; /* bus is of use: nothing has shown yet that it is dead */
        sd_event_source *kick, *reopen;
        uint64_t reopen_delay_usec;

        EndedJob recent[RECENT_JOBS]; /* a ring */
        size_t next_recent;

        ManagerCall *calls; /* those that have not ended */

        /* What this manager turned out not to know, so that it is asked in vain only once. */
        bool lacks_pidfds, lacks_oom_policy;
};

typedef enum CallKind { CALL_START, CALL_STOP, CALL_RESULT, CALL_LIST } CallKind;

typedef enum CallPhase {
        CALL_OFFLINE,  /* not asked yet, or waits for a connection */
        CALL_ASKED,    /* method call sent */
        CALL_JOB,      /* waits for JobRemoved of c->job */
        CALL_CHECKING, /* asked for the unit's state */
        CALL_PAUSING,  /* waits before it asks for the state again */
        CALL_ENDED,
} CallPhase;

struct ManagerCall {
        Manager *manager;
        ManagerCall *next;
        CallKind kind;
        CallPhase phase;
        bool floating;  /* frees itself at its end */
        bool enlisting; /* its owner doesn't know it yet */
        bool uncertain; /* it was asked once, and the answer was lost */
        bool sent_pidfds, sent_oom_policy;

        char *unit; /* CALL_LIST: the instance */
        char *job, *peer;
        sd_bus_slot *slot;
        sd_event_source *deadline, *check;

        ScopeSpec spec;           /* strings and pidfd are owned */
        sd_bus_message *prepared; /* CALL_START: what is asked first, but for the process */
        uint64_t timeout_usec;    /* of one that is prepared */

        manager_done_t done;
        manager_string_t got_string;
        manager_list_t got_list;
        void *userdata;
};

void call_go(ManagerCall *c); /* (re)starts it on the connection that there is now */
void call_connection_lost(ManagerCall *c);
void call_job_ended(ManagerCall *c, const char *result);
int manager_kick(Manager *m);               /* has calls that are offline go soon, in their order */
void manager_connection_failed(Manager *m); /* something showed that the connection is dead */
const char *manager_take_ended_job(Manager *m, const char *job, const char *sender);
