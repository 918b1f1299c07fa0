/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a child is between the change of user and execve(), where a server's other sessions have the same user. */

#include "test.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "sandbox/sandbox.h"

enum { NOBODY = 65534, FAILED_STATUS = 99 };

/* What it has become, or FAILED_STATUS; looks: at itself. */
static int enter(const Plan *p, int (*look)(void)) {
        int status;
        pid_t pid = fork();

        ASSERT_OK(pid);
        if (pid == 0) {
                const SandboxStdio stdio = { -EBADF, -EBADF, -EBADF };
                SandboxKept kept = { .report = -EBADF, .wait = -EBADF };
                SandboxFailure failure;

                _exit(sandbox_enter(p, NULL, &stdio, &kept, &failure) < 0 ? FAILED_STATUS : look());
        }
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_TRUE(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int is_nobody(void) {
        return getuid() == NOBODY && geteuid() == NOBODY && getgid() == NOBODY;
}

static int dumpable(void) {
        return prctl(PR_GET_DUMPABLE);
}

/* Whom Landlock does not hold back either could take it over, outside its scope. */
TEST(it_is_hidden_from_its_own_user_where_there_is_no_landlock) {
        const Plan p = { .uid = NOBODY, .gid = NOBODY, .new_session = true };

        if (geteuid() != 0)
                SKIP("needs root");
        ASSERT_EQ(enter(&p, is_nobody), 1);
        ASSERT_EQ(enter(&p, dumpable), 0);
}
