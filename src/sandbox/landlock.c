/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One ruleset with everything in it: a second layer without REFER would break every rename between directories. */

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "sandbox/apply-internal.h"
#include "sandbox/landlock-rights.h"
#include "sandbox/landlock-uapi.h"

/* What the ruleset takes control of. A right that is handled and never granted breaks programs, so what the plan leaves
 * open is not handled at all. */
static LandlockRulesetAttr ruleset_of_plan(const Plan *plan) {
        LandlockRulesetAttr attr = { .handled_access_fs = plan->landlock.handled_fs };

        if (plan->unix_sockets == UNIX_ANY)
                attr.handled_access_fs &= ~LL_FS_RESOLVE_UNIX;
        if (plan->network != NETWORK_MODE_UNRESTRICTED)
                attr.handled_access_net = plan->landlock.handled_net;
        if (plan->scope_signals)
                attr.scoped |= LL_SCOPE_SIGNAL;
        if (plan->scope_abstract)
                attr.scoped |= LL_SCOPE_ABSTRACT_UNIX;
        attr.scoped &= plan->landlock.scoped;
        return attr;
}

/* "/proc/self" and what is made of it mean another place in every process. */
static bool leads_to_caller(const char *path, const char *opened) {
        static const char *const descriptors[] = {
                "/proc/self/fd", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"
        };

        for (size_t i = 0; i < ELEMENTSOF(descriptors); i++)
                if (path_startswith(path, descriptors[i]))
                        return true;
        return (path_startswith(path, "/proc/self") || path_startswith(path, "/proc/thread-self")) &&
               path_startswith(opened, "/proc");
}

/* Is the thing behind fd what the plan looked at? Someone may have put a link there since. */
static int check_opened(const PathRule *rule, int fd, bool no_link, const struct stat *st) {
        char path[PATH_MAX];
        int r;

        if ((rule->flags & RULE_WANT_FILE) && S_ISDIR(st->st_mode))
                return -EISDIR;
        if ((rule->flags & RULE_WANT_DIRECTORY) && !S_ISDIR(st->st_mode))
                return -ENOTDIR;
        if (no_link && rule->resolved && streq(rule->path, rule->resolved))
                return 0;
        r = fd_read_path(fd, path);
        if (r < 0)
                return r;
        /* What was not there then, and is a link now, was put there by nobody knows whom. */
        if (!rule->resolved)
                return path_equal(path, rule->path) ? 0 : -ESTALE;
        return path_equal(path, rule->resolved) || leads_to_caller(rule->path, path) ? 0 : -ESTALE;
}

static bool may_be_missing(const PathRule *rule, int error) {
        return (rule->flags & RULE_OPTIONAL) && (error == -ENOENT || error == -ENOTDIR || error == -ENXIO ||
                                                 error == -ENODEV || error == -ELOOP);
}

/* What a rule was made from is closed later, with others: that is less work than one by one. */
static bool room_was_made(int error, FdBatch *done) {
        if (error != -EMFILE || done->n == 0)
                return false;
        fd_batch_close(done);
        return true;
}

typedef struct Children {
        int ruleset_fd, dir_fd;
        uint64_t rights;
        FdBatch *done;
} Children;

static int open_child(const Children *c, const char *name, bool directory) {
        return RET_NERRNO(openat(
                        c->dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (directory ? O_DIRECTORY : 0)));
}

static int add_child_rule(const char *name, unsigned char type, void *userdata) {
        const Children *c = userdata;
        LandlockPathBeneathAttr attr = { .allowed_access = c->rights };
        bool directory = type == DT_DIR;
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r;

        if (type == DT_LNK || streq(name, ".") || streq(name, "..") ||
            streq(name, path_basename(PLAN_DEVICES)))
                return 0;
        /* What is opened as a directory is one. */
        fd = open_child(c, name, directory);
        if (room_was_made(fd, c->done))
                fd = open_child(c, name, directory);
        r = fd < 0 ? fd : directory ? 0 : RET_NERRNO(fstat(fd, &st));
        /* Gone since, someone's own (FUSE), a server of files that is away: what cannot be opened gets no grant. */
        if (r < 0)
                return r == -EMFILE || r == -ENFILE || r == -ENOMEM ? r : 0;
        if (!directory && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
                return 0;
        if (!directory && !S_ISDIR(st.st_mode))
                attr.allowed_access &= ~LL_FS_READ_DIR;
        attr.parent_fd = fd;
        r = RET_NERRNO((int) landlock_add_rule(c->ruleset_fd, LL_RULE_PATH_BENEATH, &attr, 0));
        fd_batch_add(c->done, TAKE_FD(fd));
        return r;
}

/* Landlock takes nothing away from a grant: everything in "/" gets one, but for the devices, and "/" itself can be listed
 * with all below it. What a link in "/" leads to is below something else there. */
static int add_all_but_devices(int ruleset_fd, int root_fd, uint64_t rights, FdBatch *done) {
        LandlockPathBeneathAttr attr = { .allowed_access = rights & LL_FS_READ_DIR, .parent_fd = root_fd };
        _cleanup_close_ int fd = -EBADF;
        int r;

        r = RET_NERRNO((int) landlock_add_rule(ruleset_fd, LL_RULE_PATH_BENEATH, &attr, 0));
        if (r < 0)
                return r;
        fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return dir_each(fd, add_child_rule, &(Children){ ruleset_fd, fd, rights, done });
}

static int add_path_rule(
                int ruleset_fd,
                const Plan *plan,
                int i,
                uint64_t handled,
                FdBatch *done,
                SandboxFailure *failure) {
        const PathRule *rule = plan->rules + i;
        LandlockPathBeneathAttr attr = {};
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        bool no_link;
        int r;

        if (rule->access == 0)
                return 0;
        fd = open_place(rule->path, &no_link);
        if (room_was_made(fd, done))
                fd = open_place(rule->path, &no_link);
        r = fd < 0 ? fd : RET_NERRNO(fstat(fd, &st));
        if (r < 0 && may_be_missing(rule, r))
                return 0;
        if (r >= 0)
                r = check_opened(rule, fd, no_link, &st);
        /* An optional path that the plan saw as not there, or as one that may not be looked at, is as good as not there. */
        if ((r == -EACCES || r == -ESTALE) && (rule->flags & RULE_OPTIONAL) && !rule->resolved)
                return 0;
        if (r < 0)
                return sandbox_fail(failure, SANDBOX_STAGE_PATHS, r, i, rule->path);
        attr.allowed_access = landlock_rights_for(rule->access, landlock_kind_of_mode(st.st_mode), handled);
        if (attr.allowed_access == 0)
                return 0; /* for instance ioctl on a kernel that does not control it */
        if (rule->flags & RULE_BUT_DEVICES) {
                r = add_all_but_devices(ruleset_fd, fd, attr.allowed_access, done);
                return r < 0 ? sandbox_fail(failure, SANDBOX_STAGE_RULESET, r, i, rule->path) : 0;
        }
        attr.parent_fd = fd;
        /* EBADFD: a pipe or the like, which Landlock never restricts. */
        if (landlock_add_rule(ruleset_fd, LL_RULE_PATH_BENEATH, &attr, 0) < 0 && errno != EBADFD)
                return sandbox_fail(failure, SANDBOX_STAGE_RULESET, -errno, i, rule->path);
        fd_batch_add(done, TAKE_FD(fd));
        return 0;
}

/* A terminal that is already stdin, stdout or stderr can be opened again through /dev/stdout. Nothing is gained by it. */
static int add_stdio_rule(int ruleset_fd, int fd, uint64_t handled, SandboxFailure *failure) {
        LandlockPathBeneathAttr attr = {};
        _cleanup_close_ int path_fd = -EBADF;
        char path[sizeof("/proc/self/fd/0")] = "/proc/self/fd/0";

        if (!isatty(fd))
                return 0;
        path[sizeof(path) - 2] = (char) ('0' + fd);
        path_fd = open(path, O_PATH | O_CLOEXEC);
        if (path_fd < 0)
                return 0;
        attr.allowed_access = landlock_rights_for(
                        ACCESS_READ | ACCESS_WRITE | ACCESS_IOCTL, LANDLOCK_KIND_DEVICE, handled);
        attr.parent_fd = path_fd;
        if (landlock_add_rule(ruleset_fd, LL_RULE_PATH_BENEATH, &attr, 0) < 0)
                return sandbox_fail(failure, SANDBOX_STAGE_RULESET, -errno, -1, path);
        return 0;
}

static int add_port_rules(int ruleset_fd, const PortList *list, uint64_t right, SandboxFailure *failure) {
        for (size_t i = 0; right != 0 && i < list->n_ports; i++) {
                LandlockNetPortAttr attr = { .allowed_access = right, .port = list->ports[i] };

                if (landlock_add_rule(ruleset_fd, LL_RULE_NET_PORT, &attr, 0) >= 0)
                        continue;
                if (errno == EAFNOSUPPORT) /* a kernel without CONFIG_INET has nothing to restrict */
                        return 0;
                return sandbox_fail(failure, SANDBOX_STAGE_RULESET, -errno, -1, "TCP port");
        }
        return 0;
}

static int add_rules(
                int ruleset_fd, const Plan *plan, const LandlockRulesetAttr *attr, SandboxFailure *failure) {
        FdBatch done = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < plan->n_rules; i++)
                r = add_path_rule(ruleset_fd, plan, (int) i, attr->handled_access_fs, &done, failure);
        fd_batch_close(&done);
        for (int fd = 0; r >= 0 && fd <= STDERR_FILENO; fd++)
                r = add_stdio_rule(ruleset_fd, fd, attr->handled_access_fs, failure);
        if (r >= 0)
                r =
                                add_port_rules(ruleset_fd,
                                               &plan->connect_ports,
                                               attr->handled_access_net & LL_NET_CONNECT_TCP,
                                               failure);
        if (r >= 0)
                r =
                                add_port_rules(ruleset_fd,
                                               &plan->bind_ports,
                                               attr->handled_access_net & LL_NET_BIND_TCP,
                                               failure);
        return r;
}

int landlock_prepare(const Plan *plan, int *ret, SandboxFailure *failure) {
        LandlockRulesetAttr attr = ruleset_of_plan(plan);
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!plan->confined) {
                *ret = -EBADF;
                return 0;
        }
        fd = landlock_create_ruleset(&attr, sizeof(attr), 0);
        if (fd < 0)
                return sandbox_fail(failure, SANDBOX_STAGE_RULESET, -errno, -1, NULL);
        r = add_rules(fd, plan, &attr, failure);
        if (r < 0)
                return r;
        *ret = TAKE_FD(fd);
        return 0;
}

/* A plan that lets the witness be written cannot be proved by it; its notes say so. */
static bool witness_is_granted(const Plan *plan) {
        for (size_t i = 0; i < plan->n_rules; i++)
                if ((plan->rules[i].access & ACCESS_WRITE) &&
                    path_startswith(PLAN_WITNESS, plan->rules[i].path))
                        return true;
        return false;
}

static int try_witness(void) {
        _cleanup_close_ int fd = open(PLAN_WITNESS, O_WRONLY | O_CLOEXEC);

        return fd < 0 ? -errno : 0;
}

int landlock_enforce(const Plan *plan, int ruleset_fd, SandboxFailure *failure) {
        _cleanup_close_ int fd = ruleset_fd;
        bool provable = !witness_is_granted(plan);
        int r;

        if (fd < 0)
                return 0;
        r = provable ? try_witness() : 0;
        if (r < 0)
                return sandbox_fail(failure, SANDBOX_STAGE_VERIFY, r, -1, PLAN_WITNESS);
        /* What the server is denied belongs in the audit log; our own proof, which has to be denied, does not. */
        if (landlock_restrict_self(
                            fd,
                            plan->landlock.abi >= 7
                                            ? LL_RESTRICT_LOG_SAME_EXEC_OFF | LL_RESTRICT_LOG_NEW_EXEC_ON
                                            : 0) < 0)
                return sandbox_fail(failure, SANDBOX_STAGE_LANDLOCK, -errno, -1, NULL);
        r = provable ? try_witness() : -EACCES;
        if (r != -EACCES)
                return sandbox_fail(
                                failure,
                                SANDBOX_STAGE_VERIFY,
                                r < 0 ? r : -ENOTRECOVERABLE,
                                -1,
                                PLAN_WITNESS);
        return 0;
}
