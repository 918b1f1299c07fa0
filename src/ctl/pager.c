/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The pager is executed directly, no shell: its words are split at blanks and that is all. */

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "basic/string-util.h"
#include "ctl/pager.h"

extern char **environ;

static pid_t pager_pid;

/* NULL: none is wanted. */
static const char *pager_command(void) {
        const char *command = getenv("SYSTEMD_PAGER");

        if (!command)
                command = getenv("PAGER");
        if (!command)
                command = "less";
        if (isempty(command) || streq(command, "cat"))
                return NULL;
        /* Whoever may run us by sudo(8) may not for that reason run anything else: see also LESSSECURE below. */
        return getenv("SUDO_UID") ? "less" : command;
}

static int pager_spawn(char *const *argv, int fd) {
        _cleanup_strv_free_ char **env = strv_copy(environ);
        posix_spawn_file_actions_t actions;
        int r;

        if (!env)
                return -ENOMEM;
        /* Quit where it fits the screen, keep colours, leave the text there: systemd's own set. */
        if (!env_get(env, "LESS")) {
                r = env_set(&env, "LESS", "FRSXMK");
                if (r < 0)
                        return r;
        }
        if (env_get(env, "SUDO_UID")) {
                r = env_set(&env, "LESSSECURE", "1");
                if (r < 0)
                        return r;
        }
        r = posix_spawn_file_actions_init(&actions);
        if (r != 0)
                return -r;
        r = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
        if (r == 0)
                r = posix_spawnp(&pager_pid, argv[0], &actions, NULL, argv, env);
        (void) posix_spawn_file_actions_destroy(&actions);
        return -r;
}

int pager_open(Ctl *ctl) {
        _cleanup_strv_free_ char **argv = NULL;
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        const char *command = pager_command();
        int fds[2], r;

        if (!ctl->pager || ctl->json || ctl->style.columns == 0 || !command || pager_pid > 0)
                return 0;
        r = strv_split(command, " \t", &argv);
        if (r < 0)
                return r;
        if (!argv)
                return 0;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        in = fds[0];
        out = fds[1];
        r = pager_spawn(argv, in);
        if (r < 0) {
                pager_pid = 0;
                return r == -ENOMEM ? r : 0; /* not installed: the output is worth more than the comfort */
        }
        if (fflush(stdout) != 0 || dup2(out, STDOUT_FILENO) < 0)
                return -errno;
        /* A reader who leaves early is no failure. */
        (void) signal(SIGPIPE, SIG_IGN);
        return 0;
}

void pager_close(void) {
        int null;

        if (pager_pid <= 0)
                return;
        (void) fflush(stdout);
        clearerr(stdout); /* its reader may have left early */
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0) {
                (void) dup2(null, STDOUT_FILENO);
                safe_close(null);
        } else
                (void) close(STDOUT_FILENO);
        while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
                ;
        pager_pid = 0;
}
