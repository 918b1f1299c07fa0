/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "basic/string-util.h"
#include "manager/manager.h"
#include "supervisor/peer.h"

/* Linux 6.5; Debian 12's headers do not have it. */
#ifndef SO_PEERPIDFD
#        define SO_PEERPIDFD 77
#endif

#define DEFAULT_GROUP "mcp"
#define GROUPS_MAX    65536U

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

static bool pidfd_is_alive(int pidfd) {
        struct pollfd p = { .fd = pidfd, .events = POLLIN };

        return poll(&p, 1, 0) == 0;
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
        if (pidfd == -ENOMEM || pidfd == -EMFILE || pidfd == -ENFILE)
                return pidfd;
        if (pidfd >= 0) {
                r = cgroup_of_pid(cred.pid, &cgroup);
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

static int add_uid(AccessRules *r, uid_t uid) {
        uid_t *grown = reallocarray(r->uids, r->n_uids + 1, sizeof(uid_t));

        if (!grown)
                return -ENOMEM;
        r->uids = grown;
        r->uids[r->n_uids++] = uid;
        return 0;
}

static int add_gid(AccessRules *r, gid_t gid) {
        gid_t *grown = reallocarray(r->gids, r->n_gids + 1, sizeof(gid_t));

        if (!grown)
                return -ENOMEM;
        r->gids = grown;
        r->gids[r->n_gids++] = gid;
        return 0;
}

static bool parse_id(const char *s, uint32_t *ret) {
        unsigned long value;
        char *end;

        if (*s < '0' || *s > '9')
                return false;
        errno = 0;
        value = strtoul(s, &end, 10);
        if (errno > 0 || *end != 0 || value >= UINT32_MAX)
                return false;
        *ret = (uint32_t) value;
        return true;
}

static int add_user(AccessRules *r, const char *name, const Definition *d, ProblemList *problems) {
        const struct passwd *pw;
        uint32_t uid;

        if (parse_id(name, &uid))
                return add_uid(r, uid);
        pw = getpwnam(name);
        if (pw)
                return add_uid(r, pw->pw_uid);
        problem_add(problems,
                    PROBLEM_WARNING,
                    "MCP-S-NO-USER",
                    d->file,
                    NULL,
                    "Create the user, or take the name out of access.users.",
                    "There is no user \"%s\", who is named in access.users.",
                    name);
        return 0;
}

/* Also the members as NSS lists them: whoever was added to the group after logging in has it not yet in his processes. */
static int add_group(AccessRules *r, const char *name, const Definition *d, ProblemList *problems) {
        const struct group *gr;
        _cleanup_strv_free_ char **members = NULL;
        uint32_t gid;
        int k;

        if (parse_id(name, &gid))
                return add_gid(r, gid);
        gr = getgrnam(name);
        if (!gr) {
                problem_add(problems,
                            PROBLEM_WARNING,
                            "MCP-S-NO-GROUP",
                            d->file,
                            NULL,
                            "Create the group, or take the name out of access.groups.",
                            "There is no group \"%s\", which may connect; only root can.",
                            name);
                return 0;
        }
        k = add_gid(r, gr->gr_gid);
        if (k < 0)
                return k;
        members = strv_copy(gr->gr_mem);
        if (!members && gr->gr_mem[0])
                return -ENOMEM;
        STRV_FOREACH (member, members) {
                const struct passwd *pw = getpwnam(*member);

                if (pw) {
                        k = add_uid(r, pw->pw_uid);
                        if (k < 0)
                                return k;
                }
        }
        return 0;
}

int access_rules_resolve(RuntimeScope scope, const Definition *d, AccessRules *ret, ProblemList *problems) {
        _cleanup_(access_rules_done) AccessRules rules = {
                .user_scope = scope == RUNTIME_SCOPE_USER,
                .self = getuid(),
        };
        int r = 0;

        if (scope == RUNTIME_SCOPE_SYSTEM) {
                STRV_FOREACH (user, d->access.users)
                        if (r >= 0)
                                r = add_user(&rules, *user, d, problems);
                STRV_FOREACH (group, d->access.groups)
                        if (r >= 0)
                                r = add_group(&rules, *group, d, problems);
                if (r >= 0 && !d->access.users && !d->access.groups)
                        r = add_group(&rules, DEFAULT_GROUP, d, problems);
        }
        if (r < 0)
                return r;
        *ret = TAKE_GENERIC(rules, AccessRules, (AccessRules){});
        return 0;
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
