/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Would the server be allowed to do that? Answered from its Plan, with the rule that decides and with the JSON that would
 * change the answer: never JSON that the plan would be refused for. What the file system itself allows (owner, mode) is not
 * looked at. */

#include "plan/plan.h"

typedef enum WhyKind {
        WHY_PATH,
        WHY_CONNECT, /* TCP */
        WHY_SOCKET,  /* a UNIX socket with a path */
} WhyKind;

typedef struct WhyQuestion {
        WhyKind kind;
        const char *path; /* absolute: of WHY_PATH and WHY_SOCKET */
        unsigned access;  /* one of ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE */
        const char *host; /* of WHY_CONNECT: a name or an address */
        uint16_t port;
} WhyQuestion;

typedef enum WhyAnswer {
        WHY_ALLOWED,
        WHY_DENIED,
        WHY_NOT_ENFORCED, /* not granted, but this host cannot deny it */
} WhyAnswer;

typedef struct Why {
        WhyAnswer answer;
        char *reason;         /* a sentence, with the rule that decides */
        const PathRule *rule; /* that decides; borrowed from the plan; NULL: none does */

        /* Where it is not allowed: what to add, and where. NULL: see refused. */
        char *line;
        char *pointer; /* the object or array that gets it: of the definition, or of the manifest */
        bool in_manifest;
        bool replace;  /* line is the whole value at pointer, which is something else now */
        char *note;    /* what that would open besides; NULL */
        char *refused; /* why nothing that could be written would be accepted */
} Why;

void why_done(Why *w);
#define _cleanup_why_ _cleanup_(why_done)

/* d and host: those that the plan was made of. -ENOMEM; -EINVAL: no such question. */
int plan_why(const Plan *plan, const Definition *d, const HostFacts *host, const WhyQuestion *q, Why *ret);
