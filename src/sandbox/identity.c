/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Becomes the plan's user for good: groups, gids, uids, capabilities. Every step is looked at again afterwards. */

#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sandbox/apply-internal.h"

static int become(uid_t uid, gid_t gid) {
        uid_t ruid, euid, suid;
        gid_t rgid, egid, sgid;

        /* Not those that the user is a member of, as User= would have: some (disk, docker) are as good as root. */
        if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
                return -errno;
        if (getresuid(&ruid, &euid, &suid) < 0 || getresgid(&rgid, &egid, &sgid) < 0)
                return -errno;
        if (ruid != uid || euid != uid || suid != uid || rgid != gid || egid != gid || sgid != gid)
                return -EPERM;
        if (getgroups(0, NULL) != 0)
                return -EPERM;
        /* The way back has to be shut. */
        if (uid != 0 && (setuid(0) >= 0 || seteuid(0) >= 0))
                return -EPERM;
        return 0;
}

static int drop_bounding_set(void) {
        for (unsigned long cap = 0;; cap++)
                if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
                        return errno == EINVAL ? 0 : -errno; /* behind the last one that the kernel knows */
}

static int set_capabilities(bool verify) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

        if (!verify)
                return RET_NERRNO((int) syscall(__NR_capset, &header, data));
        if (syscall(__NR_capget, &header, data) < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(data); i++)
                if (data[i].effective || data[i].permitted || data[i].inheritable)
                        return -EPERM;
        return 0;
}

/* Capabilities make holes: with CAP_SYS_ADMIN other processes' environment is readable in spite of Landlock. */
static int drop_capabilities(void) {
        int r;

        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
                return -errno;
        r = set_capabilities(false);
        return r < 0 ? r : set_capabilities(true);
}

int identity_become(const Plan *plan, SandboxFailure *failure) {
        bool change = plan->uid != (uid_t) -1;
        int r = 0;

        /* Without a sandbox and without a user of its own the server is what its parent is. */
        if (!change && !plan->no_new_privs)
                return 0;
        /* The bounding set is left to root alone; for anyone else no_new_privs shuts the same door. */
        if (geteuid() == 0) {
                r = drop_bounding_set();
                if (r == -EPERM)
                        r = 0; /* root without CAP_SETPCAP has nothing left to give away but what it has, dropped below */
        }
        if (r >= 0 && change && (plan->uid != getuid() || plan->uid != geteuid() || geteuid() == 0))
                r = become(plan->uid, plan->gid);
        if (r >= 0)
                r = drop_capabilities();
        /* After a change of user the child would not die with its supervisor any more. */
        if (r >= 0 && plan->new_session)
                r = RET_NERRNO(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
        /* A change of user also hides /proc/self from us, where the proof of Landlock stands. Without one it stays hidden: the
         * server's other sessions, which no Landlock holds back either, would take it over outside its scope. */
        if (r >= 0)
                r = RET_NERRNO(prctl(PR_SET_DUMPABLE, plan->confined ? 1 : 0, 0, 0, 0));
        return r < 0 ? sandbox_fail(failure, SANDBOX_STAGE_IDENTITY, r, -1, NULL) : 0;
}
