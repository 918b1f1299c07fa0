/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>
#include <sys/syscall.h>

#include "basic/errno-util.h"
#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "manager/manager.h"
#include "supervisor/peer.h"

/* Linux 6.5; Debian 12's headers do not have it. */
#ifndef SO_PEERPIDFD
#        define SO_PEERPIDFD 77
#endif

#define GROUPS_MAX 65536U

void peer_done(Peer *p) {
        free(p->gids);
        free(p->scope);
        *p = (Peer){};
}

static int read_groups(int fd, gid_t primary, Peer *p) {
        socklen_t size = 64 * sizeof(gid_t);

        for (;;) {
                gid_t *grown = realloc(p->gids, size + sizeof(gid_t));

                if (!grown)
                        return -ENOMEM;
                p->gids = grown;
                p->gids[0] = primary;
                if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, p->gids + 1, &size) >= 0) {
                        p->n_gids = 1 + size / sizeof(gid_t);
                        return 0;
                }
                if (errno != ERANGE || size > GROUPS_MAX * sizeof(gid_t))
                        return -errno;
                /* The kernel has put the size that it takes into size. */
        }
}

static int open_pidfd(int fd, pid_t pid) {
        int pidfd;
        socklen_t size = sizeof(pidfd);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) >= 0)
                return pidfd;
        if (errno != ENOPROTOOPT)
                return -errno;
        return RET_NERRNO((int) syscall(SYS_pidfd_open, pid, 0));
}

int peer_read(int fd, Peer *ret) {
        _cleanup_(peer_done) Peer p = {};
        _cleanup_free_ char *cgroup = NULL;
        _cleanup_close_ int pidfd = -EBADF;
        struct ucred cred;
        socklen_t size = sizeof(cred);
        int r;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
                return -errno;
        p.pid = cred.pid;
        p.uid = cred.uid;
        r = read_groups(fd, cred.gid, &p);
        if (r < 0)
                return r;
        pidfd = open_pidfd(fd, cred.pid);
        if (errno_is_shortage(pidfd))
                return pidfd;
        if (pidfd >= 0) {
                r = cgroup_of_pid(cred.pid, &cgroup);
                if (errno_is_shortage(r))
                        return r;
                /* Alive after its cgroup was read: it was its own. */
                p.alive = r >= 0 && pidfd_is_alive(pidfd);
                p.inside = cgroup && cgroup_is_ours(cgroup, &p.scope);
        }
        *ret = TAKE_GENERIC(p, Peer, (Peer){});
        return 0;
}

void access_rules_done(AccessRules *r) {
        free(r->uids);
        free(r->gids);
        *r = (AccessRules){};
}

/* 0 also where it is there already. */
static int add_id(uint32_t **list, size_t *n, uint32_t id) {
        uint32_t *grown;

        for (size_t i = 0; i < *n; i++)
                if ((*list)[i] == id)
                        return 0;
        grown = reallocarray(*list, *n + 1, sizeof(uint32_t));
        if (!grown)
                return -ENOMEM;
        *list = grown;
        (*list)[(*n)++] = id;
        return 0;
}

int access_rules_add_uid(AccessRules *r, uid_t uid) {
        return add_id(&r->uids, &r->n_uids, uid);
}

int access_rules_add_gid(AccessRules *r, gid_t gid) {
        return add_id(&r->gids, &r->n_gids, gid);
}

static bool is_listed(const AccessRules *rules, const Peer *peer) {
        for (size_t i = 0; i < rules->n_uids; i++)
                if (rules->uids[i] == peer->uid)
                        return true;
        for (size_t i = 0; i < rules->n_gids; i++)
                for (size_t j = 0; j < peer->n_gids; j++)
                        if (rules->gids[i] == peer->gids[j])
                                return true;
        return false;
}

PeerVerdict access_decide(const AccessRules *rules, const Peer *peer) {
        if (peer->inside)
                return PEER_INSIDE;
        if (!peer->alive)
                return PEER_GONE;
        if (peer->uid == 0)
                return PEER_ADMITTED;
        if (rules->user_scope)
                return peer->uid == rules->self ? PEER_ADMITTED : PEER_STRANGER;
        return is_listed(rules, peer) ? PEER_ADMITTED : PEER_STRANGER;
}

bool access_has_others(const AccessRules *rules, uid_t uid) {
        bool listed = false;

        if (rules->user_scope)
                return false;
        for (size_t i = 0; i < rules->n_uids; i++) {
                if (rules->uids[i] != uid && rules->uids[i] != 0)
                        return true;
                listed = listed || rules->uids[i] == uid;
        }
        return !listed;
}
