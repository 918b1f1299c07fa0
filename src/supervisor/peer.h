/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who connects, and whether that is allowed. The socket's mode is the first filter; this is the second, and the only one
 * that knows where the peer runs: whoever runs in one of our scopes is refused, whatever its uid, since a server could
 * otherwise start another one with fewer limits. What cannot be found out is refused. */

#include <sys/types.h>

#include "config/definition.h"

typedef struct Peer {
        pid_t pid;
        uid_t uid;
        gid_t *gids; /* primary first, then supplementary, as the kernel has them */
        size_t n_gids;
        bool alive;  /* and its cgroup is its own, not that of a process with a recycled pid */
        char *scope; /* of ours that it runs in; NULL: none */
        bool inside;
} Peer;

void peer_done(Peer *p);
int peer_read(int fd, Peer *ret);

/* access.users and access.groups as numbers; supervisor/access-query.h finds them out. */
typedef struct AccessRules {
        bool user_scope; /* root and self only */
        uid_t self;
        uid_t *uids; /* users, and the members of the groups */
        size_t n_uids;
        gid_t *gids;
        size_t n_gids;
} AccessRules;

void access_rules_done(AccessRules *r);
int access_rules_add_uid(AccessRules *r, uid_t uid);
int access_rules_add_gid(AccessRules *r, gid_t gid);

typedef enum PeerVerdict {
        PEER_ADMITTED,
        PEER_STRANGER, /* not among access */
        PEER_INSIDE,   /* runs in a scope of ours */
        PEER_GONE,     /* died before it could be looked at */
        _PEER_VERDICT_MAX,
} PeerVerdict;

PeerVerdict access_decide(const AccessRules *rules, const Peer *peer);

/* May others than this user connect as well, root excepted? Of a group whose members cannot be listed that is assumed. */
bool access_has_others(const AccessRules *rules, uid_t uid);
