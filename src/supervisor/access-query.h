/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who access.users and access.groups are. NSS may ask a directory on the network and take minutes, and a supervisor has
 * sessions meanwhile: a short-lived child of its own asks, and is killed when it takes too long.
 *
 * A client is let in by a group that the kernel counts it to, or that lists it as a member: whoever was added to a group
 * after logging in need not log in again, as far as the supervisor is concerned. The lists are those of the supervisor's
 * start, or of the last reload. */

#include <systemd/sd-event.h>

#include "supervisor/peer.h"

#define ACCESS_QUERY_USEC (10ULL * 1000ULL * 1000ULL)

typedef struct AccessQuery AccessQuery;

/* result: 0, -ETIMEDOUT, or what else went wrong. rules (the callback may take them) hold what is known by then, which
 * after another failure than -ETIMEDOUT is nobody. unknown: names that NSS does not have, which let nobody in:
 * "user NAME", "group NAME". The callback may free the query. */
typedef void (*access_done_t)(void *userdata, int result, AccessRules *rules, char *const *unknown);

/* d is borrowed until the end. */
int access_query_new(
                sd_event *event, const Definition *d, access_done_t done, void *userdata, AccessQuery **ret);
/* The same for tests, with something else in the place of NSS. look_up runs in the child: it writes answers by
 * access_answer(), and its result is the query's. */
typedef int (*access_look_up_t)(const Definition *d, int fd);
int access_query_new_full(
                sd_event *event,
                const Definition *d,
                access_look_up_t look_up,
                uint64_t timeout_usec,
                access_done_t done,
                void *userdata,
                AccessQuery **ret);

typedef enum AccessAnswer {
        ACCESS_UID,
        ACCESS_GID,
        ACCESS_NO_USER,     /* value: which of access.users */
        ACCESS_NO_GROUP,    /* which of access.groups */
        ACCESS_NAMES_KNOWN, /* from here on there are only members of groups, and time may run out */
        _ACCESS_ANSWER_MAX,
} AccessAnswer;
int access_answer(int fd, AccessAnswer answer, uint32_t value);

/* Ends it without the callback. */
AccessQuery *access_query_free(AccessQuery *q);
DEFINE_TRIVIAL_CLEANUP_FUNC(AccessQuery *, access_query_free);
