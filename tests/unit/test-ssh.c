/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What ssh is given, and what a real shell makes of it. */

#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/ssh.h"
#include "basic/string-util.h"
#include "test.h"

static const char *const hostile[] = {
        "plain", "",         " ",         "two words", "it's",         "''",    "'; touch /tmp/x; '",
        "$(id)", "`id`",     "${HOME}",   "a\\b\\\\c", "\"",           "*",     "~",
        "!x",    "--option", "new\nline", "tab\t",     "\xc3\xa4\xff", "a'b'c", "#no",
        "&&",    "|",        ">f",        "-",         NULL,
};

/* The words that sh makes of a line, each ended by NUL. */
static char *words_of(const char *line, size_t *ret_size) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        _cleanup_free_ char *script =
                        strformat("set -- %s\nshift\nfor w do printf '%%s\\0' \"$w\"; done", line);
        char *text = NULL;
        int fds[2], status;
        pid_t pid;

        ASSERT_NOT_NULL(script);
        ASSERT_OK(pipe(fds));
        in = fds[0];
        out = fds[1];
        pid = fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
                (void) dup2(out, STDOUT_FILENO);
                (void) execl("/bin/sh", "sh", "-c", script, NULL);
                _exit(127);
        }
        out = safe_close(out);
        ASSERT_OK(fd_read_all(in, 65536, &text, ret_size));
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_EQ(status, 0);
        return text;
}

TEST(every_word_arrives_as_it_is) {
        const SshCommand command = { .host = "ada@host",
                                     .program = "mcpctl",
                                     .arguments = (char *const *) hostile };
        _cleanup_strv_free_ char **argv = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size, at = 0;

        ASSERT_OK(ssh_command(&command, &argv));
        ASSERT_EQ(strv_length(argv), 5);
        ASSERT_STREQ(argv[2], "--");
        ASSERT_STREQ(argv[3], "ada@host");
        text = words_of(argv[4], &size);
        for (size_t i = 0; hostile[i]; i++) {
                ASSERT_LT(at, size);
                ASSERT_STREQ(text + at, hostile[i]);
                at += strlen(text + at) + 1;
        }
        ASSERT_EQ(at, size);
}

TEST(what_is_sent_along) {
        char *variables[] = { (char *) "A", (char *) "B_C", NULL };
        const SshCommand command = { .host = "h", .program = "p", .variables = variables, .terminal = true };
        _cleanup_strv_free_ char **argv = NULL;
        _cleanup_free_ char *all = NULL;

        ASSERT_OK(ssh_command(&command, &argv));
        all = strv_join(argv, "|");
        ASSERT_STREQ(all, "ssh|-t|-oSendEnv=A|-oSendEnv=B_C|--|h|p");
}

TEST(hosts) {
        static const char *const wrong[] = { "", "-oProxyCommand=x", "a b", "a\nb", "a\tb", "\x7f" };
        _cleanup_strv_free_ char **argv = NULL;

        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                const SshCommand command = { .host = wrong[i], .program = "p" };

                ASSERT_FALSE(ssh_host_is_valid(wrong[i]));
                ASSERT_ERROR(ssh_command(&command, &argv), EINVAL);
        }
        ASSERT_FALSE(ssh_host_is_valid(NULL));
        ASSERT_TRUE(ssh_host_is_valid("ada@host.example"));
        ASSERT_TRUE(ssh_host_is_valid("ssh://ada@[::1]:2222"));
}

TEST(the_program) {
        ASSERT_OK(setenv("SYSTEMD_SSH", "relative", 1));
        ASSERT_STREQ(ssh_program(), "/usr/bin/ssh");
        ASSERT_OK(setenv("SYSTEMD_SSH", "/opt/ssh", 1));
        ASSERT_STREQ(ssh_program(), "/opt/ssh");
        ASSERT_OK(unsetenv("SYSTEMD_SSH"));
        ASSERT_STREQ(ssh_program(), "/usr/bin/ssh");
}
