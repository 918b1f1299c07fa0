/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sandbox on the kernel that runs the test: definitions become plans, plans are applied in forked children, and
 * sandbox-attempt tries there what is allowed and what is not. */

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "config/definition-read.h"
#include "plan/plan-seal.h"
#include "sandbox/host-probe.h"
#include "sandbox/sandbox.h"
#include "test.h"

#define FAILED_STATUS 250 /* sandbox_exec() returned */

/* A tree of its own per case: home, work, outside. */
static char root[] = "/var/tmp/mcp-test-sandbox-XXXXXX";
static HostProbe probe;

/* The program that is run. */
static char command[4096] = SANDBOX_ATTEMPT;

static const char *in_root(const char *name) {
        static char paths[8][4096];
        static unsigned next;
        char *path = paths[next++ % ELEMENTSOF(paths)];

        (void) snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
        return path;
}

static void put(const char *name, mode_t mode) {
        _cleanup_close_ int fd = open(in_root(name), O_WRONLY | O_CREAT | O_CLOEXEC, mode);

        ASSERT_OK(fd);
        ASSERT_OK(fd_write_all(fd, "text\n", 5));
}

/* Nobody but root may be able to reach the build directory. */
static void put_attempt_within_reach(void) {
        _cleanup_close_ int from = open(SANDBOX_ATTEMPT, O_RDONLY | O_CLOEXEC), to = -EBADF;
        char buffer[65536];
        ssize_t n;

        ASSERT_OK(from);
        (void) snprintf(command, sizeof(command), "%s", in_root("attempt"));
        to = open(command, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
        ASSERT_OK(to);
        while ((n = read(from, buffer, sizeof(buffer))) > 0)
                ASSERT_OK(fd_write_all(to, buffer, (size_t) n));
        ASSERT_EQ(n, 0);
}

static void clean(void) {
        pid_t pid = fork();

        if (pid == 0) {
                (void) execl("/bin/rm", "rm", "-rf", root, NULL);
                _exit(1);
        }
        if (pid > 0)
                (void) waitpid(pid, NULL, 0);
}

/* Facts of this host, but with our tree for a home. */
static void set_up(const char *abi) {
        char *env[] = { (char *) abi,
                        (char *) "PATH=/usr/bin:/bin",
                        (char *) "LANG=C",
                        (char *) "SECRET_OF_OURS=x",
                        NULL };
        static bool made;

        if (made) {
                clean();
                host_probe_done(&probe);
                memcpy(root + strlen(root) - 6, "XXXXXX", 6);
        } else
                (void) atexit(clean);
        made = true;
        (void) snprintf(command, sizeof(command), "%s", SANDBOX_ATTEMPT);
        ASSERT_NOT_NULL(mkdtemp(root));
        ASSERT_OK(chmod(root, 0755));
        ASSERT_OK(host_probe(RUNTIME_SCOPE_USER, false, env, &probe));
        if (probe.facts.landlock.kernel_abi == 0)
                SKIP("this kernel has no Landlock");
        ASSERT_OK(free_and_strdup(&probe.home, in_root("home")));
        ASSERT_OK(free_and_strdup(&probe.tmp_dir, in_root("tmp")));
        probe.facts.home = probe.home;
        probe.facts.tmp_dir = probe.tmp_dir;
        ASSERT_OK(mkdir_parents(in_root("home"), 0755));
        ASSERT_OK(mkdir_parents(in_root("tmp"), 0755));
        ASSERT_OK(mkdir_parents(in_root("work/a"), 0755));
        ASSERT_OK(mkdir_parents(in_root("work/b"), 0755));
        ASSERT_OK(mkdir_parents(in_root("outside/dir"), 0755));
        put("work/a/file", 0644);
        put("outside/file", 0644);
}

/* isolation: members of that object, or "". */
static Plan *plan_for(const char *isolation) {
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *text = NULL;
        Plan *plan = NULL;

        text =
                        strformat("{ \"command\": \"%s\", \"working_dir\": \"%s\", \"isolation\": { %s } }",
                                  command,
                                  in_root("work"),
                                  isolation);
        ASSERT_NOT_NULL(text);
        ASSERT_OK(definition_read_text(text, strlen(text), "test", "test.json", &d, &problems));
        (void) plan_make(d, NULL, NULL, &probe.facts, &plan, &problems);
        for (size_t i = 0; i < problems.n_items; i++)
                if (problems.items[i].level == PROBLEM_ERROR)
                        test_fail(__FILE__, __LINE__, "%s", problems.items[i].message);
        ASSERT_NOT_NULL(plan);
        return plan;
}

static SandboxFailure last_failure;
static bool last_confined; /* it got as far as execve() */

/* Runs the attempt (NULL-terminated words) under the plan, sealed as the supervisor's children have it. Its exit status;
 * 128+n for a signal. */
static int run(const Plan *plan, char **words) {
        _cleanup_(sandbox_program_freep) SandboxProgram *program = NULL;
        _cleanup_(sealed_plan_done) SealedPlan sealed = {};
        const SandboxStdio stdio = { -EBADF, -EBADF, -EBADF };
        int status, pipes[2];
        Plan copy = *plan;
        pid_t pid;

        ASSERT_OK(sandbox_prepare(plan, &program));
        ASSERT_OK(RET_NERRNO(pipe2(pipes, O_CLOEXEC)));
        copy.argv = words;
        ASSERT_OK(plan_seal(&copy, NULL, &sealed));
        last_failure = (SandboxFailure){};
        last_confined = false;
        pid = fork();
        ASSERT_OK(pid);
        if (pid == 0) {
                SandboxFailure failure = {};

                (void) sandbox_exec(sealed.plan, program, &stdio, pipes[1], &failure);
                (void) fd_write_all(pipes[1], &failure, sizeof(failure));
                _exit(FAILED_STATUS);
        }
        (void) close(pipes[1]);
        /* What comes last counts: a record without a stage says that execve() was next. */
        while (read(pipes[0], &last_failure, sizeof(last_failure)) == sizeof(last_failure))
                last_confined = last_confined || last_failure.stage == SANDBOX_STAGE_NONE;
        (void) close(pipes[0]);
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#define ATTEMPT(plan, ...) run(plan, (char *[]){ (char *) "sandbox-attempt", __VA_ARGS__, NULL })
#define W(s)               ((char *) (s))

TEST(inside_a_grant_everything_works) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_TRUE(p->confined);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("work/new"))), 0);
        ASSERT_TRUE(last_confined);
        ASSERT_EQ(ATTEMPT(p, W("write"), W(in_root("work/a/file"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("atomic-save"), W(in_root("work/a/file"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("truncate"), W(in_root("work/a/file"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("link"), W(in_root("work/a/file")), W(in_root("work/b/linked"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("rename"), W(in_root("work/a/file")), W(in_root("work/b/moved"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("mkdir"), W(in_root("work/a/sub"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("rename"), W(in_root("work/a/sub")), W(in_root("work/b/sub"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("symlink"), W("anywhere"), W(in_root("work/b/sym"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("mkfifo"), W(in_root("work/b/fifo"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("unlink"), W(in_root("work/b/moved"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("rmdir"), W(in_root("work/b/sub"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("tmp/file"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("home/.npm/file"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("home/.cache/file"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("write"), W("/dev/null")), 0);
}

TEST(outside_it_nothing_is_written) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_EQ(ATTEMPT(p, W("read"), W(in_root("outside/file"))), 0); /* reads stay broad */
        ASSERT_EQ(ATTEMPT(p, W("list"), W(in_root("outside"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("write"), W(in_root("outside/file"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/new"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("truncate"), W(in_root("outside/file"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("open-truncate"), W(in_root("outside/file"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("unlink"), W(in_root("outside/file"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("mkdir"), W(in_root("outside/x"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("rmdir"), W(in_root("outside/dir"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("symlink"), W("x"), W(in_root("outside/x"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("home/file"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("rename"), W(in_root("work/a/file")), W(in_root("outside/x"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("rename"), W(in_root("outside/file")), W(in_root("work/x"))), EACCES);
        ASSERT_NE(ATTEMPT(p, W("link"), W(in_root("outside/file")), W(in_root("work/hard"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("write"), W("/proc/self/comm")), EACCES);
        /* A link in a grant leads out, but does not take the grant along. */
        ASSERT_OK(RET_NERRNO(symlink(in_root("outside/file"), in_root("work/out"))));
        ASSERT_EQ(ATTEMPT(p, W("write"), W(in_root("work/out"))), EACCES);
}

TEST(devices_are_neither_read_nor_written_unless_they_are_granted) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_EQ(ATTEMPT(p, W("read"), W("/dev/null")), 0);
        ASSERT_EQ(ATTEMPT(p, W("read"), W("/dev/urandom")), 0);
        ASSERT_EQ(ATTEMPT(p, W("read"), W("/dev/ptmx")), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("list"), W("/dev")), 0);
        ASSERT_EQ(ATTEMPT(p, W("list"), W("/")), 0);
        ASSERT_EQ(ATTEMPT(p, W("read"), W("/etc/passwd")), 0);
        plan_free(p);
        p = plan_for("\"write\": [\"/dev/ptmx\"]");
        ASSERT_EQ(ATTEMPT(p, W("read"), W("/dev/ptmx")), 0);
}

TEST(grants_of_every_kind_of_file) {
        static const char *const kinds[] = { "file",     "fifo",     "socket", "dir",
                                             "sym-file", "sym-fifo", "sym-dir" };
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;

        set_up("A=");
        put("outside/kind-file", 0644);
        ASSERT_OK(RET_NERRNO(mkfifo(in_root("outside/kind-fifo"), 0644)));
        ASSERT_OK(RET_NERRNO(mkdir(in_root("outside/kind-dir"), 0755)));
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_OK(fd);
        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_root("outside/kind-socket"));
        ASSERT_OK(RET_NERRNO(bind(fd, (struct sockaddr *) &address, sizeof(address))));
        ASSERT_OK(RET_NERRNO(symlink("kind-file", in_root("outside/kind-sym-file"))));
        ASSERT_OK(RET_NERRNO(symlink("kind-fifo", in_root("outside/kind-sym-fifo"))));
        ASSERT_OK(RET_NERRNO(symlink("kind-dir", in_root("outside/kind-sym-dir"))));
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
                _cleanup_plan_ Plan *p = NULL;
                _cleanup_free_ char *isolation =
                                strformat("\"write\": [\"%s/outside/kind-%s\"]", root, kinds[i]);

                printf("# %s\n", kinds[i]);
                p = plan_for(isolation);
                ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/still-not"))), EACCES);
                if (endswith(kinds[i], "file"))
                        ASSERT_EQ(ATTEMPT(p, W("write"), W(in_root("outside/kind-file"))), 0);
                if (endswith(kinds[i], "fifo"))
                        ASSERT_EQ(ATTEMPT(p, W("read"), W(in_root("outside/kind-fifo"))), 0);
                if (endswith(kinds[i], "dir")) {
                        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/kind-dir/x"))), 0);
                        ASSERT_EQ(ATTEMPT(p, W("unlink"), W(in_root("outside/kind-dir/x"))), 0);
                }
        }
}

TEST(a_device_comes_with_its_ioctls) {
        _cleanup_plan_ Plan *without = NULL, *with = NULL;

        set_up("A=");
        if (probe.facts.landlock.abi < 5)
                SKIP("needs Landlock ABI 5");
        without = plan_for("");
        with = plan_for("\"write\": [\"/dev/ptmx\"]");
        ASSERT_EQ(ATTEMPT(without, W("tcgets"), W("/dev/ptmx")), EACCES);
        ASSERT_EQ(ATTEMPT(with, W("tcgets"), W("/dev/ptmx")), 0);
        ASSERT_EQ(ATTEMPT(without, W("tcgets"), W("/dev/null")), ENOTTY); /* "no terminal", not "denied" */
}

TEST(forced_lower_abis_still_confine) {
        for (int abi = 1; abi <= 7; abi++) {
                char hook[] = "MCP_TEST_LANDLOCK_ABI=0";
                _cleanup_plan_ Plan *p = NULL;

                hook[sizeof(hook) - 2] = (char) ('0' + abi);
                set_up(hook);
                if (probe.facts.landlock.kernel_abi < abi)
                        break;
                printf("# ABI %d\n", abi);
                p = plan_for("");
                ASSERT_EQ(p->landlock.abi, abi);
                ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("work/new"))), 0);
                ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/new"))), EACCES);
                ASSERT_EQ(ATTEMPT(p, W("rename"), W(in_root("work/new")), W(in_root("work/a/new"))),
                          abi >= 2 ? 0 : EXDEV);
                ASSERT_EQ(ATTEMPT(p, W("truncate"), W(in_root("outside/file"))), abi >= 3 ? EACCES : 0);
                ASSERT_EQ(ATTEMPT(p, W("tcgets"), W("/dev/null")), ENOTTY);
        }
}

TEST(without_landlock_the_rest_holds) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("MCP_TEST_LANDLOCK_ABI=0");
        p = plan_for("");
        ASSERT_FALSE(p->confined);
        ASSERT_EQ(p->protections[PROTECTION_FS_WRITE].state, PROTECTION_MISSING);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/new"))), 0);
        ASSERT_EQ(ATTEMPT(p, W("abstract"), W("nobody")), EAFNOSUPPORT);
}

TEST(signals_and_abstract_sockets_stay_inside) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_plan_ Plan *p = NULL, *none = NULL;
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *name = NULL;
        char parent[32];

        set_up("A=");
        if (probe.facts.landlock.abi < 6)
                SKIP("needs Landlock ABI 6");
        p = plan_for("\"unix_sockets\": [\"/dev/null\"]"); /* so that the filter lets AF_UNIX pass */
        none = plan_for("");
        name = strformat("mcp-test-%d", getpid());
        ASSERT_NOT_NULL(name);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_OK(fd);
        memcpy(address.sun_path + 1, name, strlen(name));
        ASSERT_OK(RET_NERRNO(
                        bind(fd,
                             (struct sockaddr *) &address,
                             (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)))));
        ASSERT_OK(RET_NERRNO(listen(fd, 1)));
        ASSERT_EQ(ATTEMPT(p, W("abstract"), name), EPERM);
        ASSERT_EQ(ATTEMPT(none, W("abstract"), name), EAFNOSUPPORT);
        (void) snprintf(parent, sizeof(parent), "%d", getpid());
        ASSERT_EQ(ATTEMPT(p, W("signal"), parent), EPERM);
        ASSERT_EQ(ATTEMPT(p, W("signal"), W("1")), EPERM);
        ASSERT_EQ(ATTEMPT(p, W("signal"), W("0")), 0); /* its own group: it and its children */
}

TEST(nothing_is_inherited) {
        _cleanup_close_ int leaked = open("/dev/null", O_RDONLY), high = -EBADF;
        struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
        _cleanup_plan_ Plan *p = NULL;
        sigset_t all, mask;

        set_up("A=");
        high = fcntl(leaked, F_DUPFD, 900);
        ASSERT_OK(high);
        p = plan_for("");
        p->new_session = true;
        ASSERT_OK(RET_NERRNO(sigaction(SIGPIPE, &ignore, &before)));
        ASSERT_OK(RET_NERRNO(sigaction(SIGRTMAX, &ignore, NULL)));
        ASSERT_OK(RET_NERRNO(sigfillset(&all)));
        ASSERT_OK(RET_NERRNO(sigprocmask(SIG_BLOCK, &all, &mask)));
        ASSERT_EQ(ATTEMPT(p, W("signals")), 0);
        ASSERT_OK(RET_NERRNO(sigprocmask(SIG_SETMASK, &mask, NULL)));
        ASSERT_OK(RET_NERRNO(sigaction(SIGPIPE, &before, NULL)));
        ASSERT_OK(RET_NERRNO(sigaction(SIGRTMAX, &before, NULL)));
        ASSERT_EQ(ATTEMPT(p, W("fds")), 0);
        ASSERT_EQ(ATTEMPT(p, W("session")), 0);
        ASSERT_EQ(ATTEMPT(p, W("env"), W("SECRET_OF_OURS=")), 0);
        ASSERT_EQ(ATTEMPT(p, W("env"), W("LANG=C")), 0);
        ASSERT_EQ(ATTEMPT(p, W("rlimit"), W("7"), W("4096")), 0); /* RLIMIT_NOFILE */
        ASSERT_EQ(ATTEMPT(p, W("rlimit"), W("4"), W("0")), 0);    /* RLIMIT_CORE */
        ASSERT_EQ(ATTEMPT(p, W("capabilities"), W(geteuid() == 0 ? "none" : "CapBnd")), 0);
}

TEST(stdio_is_put_in_place) {
        _cleanup_plan_ Plan *p = NULL;
        int in[2], out[2], status;
        char buffer[16] = {};
        pid_t pid;

        set_up("A=");
        p = plan_for("");
        ASSERT_OK(free_and_strdup(&p->command, "/bin/cat"));
        ASSERT_OK(RET_NERRNO(pipe2(in, O_CLOEXEC)));
        ASSERT_OK(RET_NERRNO(pipe2(out, O_CLOEXEC)));
        pid = fork();
        ASSERT_OK(pid);
        if (pid == 0) {
                char *argv[] = { (char *) "cat", NULL };
                SandboxStdio stdio = { .err = -EBADF };
                SandboxFailure failure = {};

                /* The worst order: each descriptor sits where another one has to go. */
                if (dup2(out[1], 0) < 0 || dup2(in[0], 1) < 0)
                        _exit(1);
                stdio.in = 1;
                stdio.out = 0;
                p->argv = argv;
                p->syscall_floor = false;
                (void) sandbox_exec(p, NULL, &stdio, -EBADF, &failure);
                _exit(FAILED_STATUS);
        }
        (void) close(in[0]);
        (void) close(out[1]);
        ASSERT_OK(fd_write_all(in[1], "through", 7));
        (void) close(in[1]);
        ASSERT_EQ(read(out[0], buffer, sizeof(buffer) - 1), 7);
        ASSERT_STREQ(buffer, "through");
        (void) close(out[0]);
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_EQ(status, 0);
}

/* What the first half of it looks like from inside; 0: as it should. */
static int enter_and_look(
                const Plan *p, const SandboxProgram *program, const char *denied, SandboxKept *kept) {
        const SandboxStdio stdio = { -EBADF, -EBADF, -EBADF };
        SandboxFailure failure;
        char byte;

        if (sandbox_enter(p, program, &stdio, kept, &failure) < 0)
                return 1;
        if (open(denied, O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES)
                return 2;
        /* Not even who has the same user looks into it while it waits. */
        if (prctl(PR_GET_DUMPABLE) != 0)
                return 3;
        return kept->report <= 2 || kept->wait <= 2 || read(kept->wait, &byte, 1) != 1 || byte != 'g' ? 4
                                                                                                      : 0;
}

TEST(between_the_halves_everything_holds) {
        _cleanup_(sandbox_program_freep) SandboxProgram *program = NULL;
        _cleanup_free_ char *outside = NULL;
        _cleanup_plan_ Plan *p = NULL;
        int status, report[2], go[2];
        SandboxFailure confined;
        pid_t pid;

        set_up("A=");
        p = plan_for("");
        outside = strdup(in_root("outside/new"));
        ASSERT_NOT_NULL(outside);
        ASSERT_OK(close(open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)));
        ASSERT_OK(sandbox_prepare(p, &program));
        ASSERT_OK(pipe2(report, O_CLOEXEC));
        ASSERT_OK(pipe2(go, O_CLOEXEC));
        ASSERT_EQ(write(go[1], "g", 1), 1);
        pid = fork();
        ASSERT_OK(pid);
        if (pid == 0) {
                char *argv[] = { W("sandbox-attempt"), W("write"), outside, NULL };
                /* One where stdout is, which is moved; the other is left, with a hole before it and after it. */
                SandboxKept kept = { .report = dup2(report[1], STDOUT_FILENO), .wait = dup2(go[0], 77) };
                SandboxFailure failure;
                int r = dup2(report[1], 99) < 0 ? 5 : enter_and_look(p, program, outside, &kept);

                if (r != 0 || fcntl(99, F_GETFD) >= 0)
                        _exit(FAILED_STATUS + r);
                p->argv = argv;
                (void) sandbox_exec_entered(p, &kept, &failure);
                _exit(FAILED_STATUS);
        }
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_TRUE(WIFEXITED(status));
        ASSERT_EQ(WEXITSTATUS(status), EACCES);
        ASSERT_EQ(read(report[0], &confined, sizeof(confined)), (ssize_t) sizeof(confined));
        ASSERT_EQ(confined.stage, SANDBOX_STAGE_NONE);
        for (size_t i = 0; i < 2; i++) {
                (void) close(report[i]);
                (void) close(go[i]);
        }
}

TEST(a_program_that_sandboxes_itself_still_works) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_EQ(ATTEMPT(p, W("nested"), W(in_root("work/a/file"))), 0);
        /* Of sixteen layers exactly one is ours, however many are around this test. */
        ASSERT_GE(ATTEMPT(p, W("layers")), 1);
        if (geteuid() == 0)
                ASSERT_EQ(ATTEMPT(p, W("layers")), 15);
}

TEST(becomes_another_user_for_good) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        if (geteuid() != 0)
                SKIP("needs root");
        put_attempt_within_reach();
        ASSERT_OK(mkdir_parents(in_root("locked/inner"), 0755));
        ASSERT_OK(RET_NERRNO(chmod(in_root("locked"), 0700)));
        ASSERT_OK(RET_NERRNO(chown(in_root("locked/inner"), 65534, 65534)));
        ASSERT_OK(RET_NERRNO(chown(in_root("home"), 65534, 65534)));
        {
                _cleanup_free_ char *isolation = strformat("\"write\": [\"%s/locked/inner\"]", root);

                p = plan_for(isolation);
        }
        p->uid = 65534;
        p->gid = 65534;
        ASSERT_EQ(ATTEMPT(p, W("id"), W("65534"), W("65534")), 0);
        ASSERT_EQ(ATTEMPT(p, W("capabilities"), W("none")), 0);
        /* The path lies below a directory that only root can enter: enforced all the same, not skipped. */
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/new"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("home/.cache/own"))), 0);
        {
                struct stat st;

                ASSERT_OK(RET_NERRNO(stat(in_root("home/.npm"), &st)));
                ASSERT_EQ(st.st_uid, 65534);
                ASSERT_EQ(st.st_mode & 07777, 0700);
        }
}

/* An earlier session owned the directory above and planted a link. */
static void planted_link(uid_t uid) {
        _cleanup_free_ char *text = NULL;
        _cleanup_plan_ Plan *p = NULL;

        p = plan_for("");
        p->uid = uid;
        p->gid = uid == (uid_t) -1 ? (gid_t) -1 : 65534;
        ASSERT_OK(RET_NERRNO(symlink(in_root("outside/dir"), in_root("home/.cache"))));
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/dir/x"))), FAILED_STATUS);
        ASSERT_EQ(last_failure.stage, SANDBOX_STAGE_PATHS);
        ASSERT_EQ(last_failure.error, ESTALE);
        ASSERT_EQ(sandbox_failure_exit_code(&last_failure), 3);
        text = sandbox_failure_format(p, &last_failure);
        ASSERT_CONTAINS(text, "leads somewhere else");
}

TEST(a_link_planted_after_the_plan_is_not_followed) {
        set_up("A=");
        planted_link((uid_t) -1);
}

TEST(root_makes_nothing_through_a_planted_link) {
        struct stat st;

        set_up("A=");
        if (geteuid() != 0)
                SKIP("needs root");
        ASSERT_OK(RET_NERRNO(symlink(in_root("outside/dir/made"), in_root("home/.npm"))));
        {
                _cleanup_plan_ Plan *p = plan_for("");

                p->uid = p->gid = 65534;
                (void) ATTEMPT(p, W("fds"));
        }
        ASSERT_TRUE(stat(in_root("outside/dir/made"), &st) < 0);
}

TEST(a_file_that_was_made_a_directory_is_noticed) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_OK(RET_NERRNO(rename(in_root("work"), in_root("was-work"))));
        put("work", 0644);
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS);
        ASSERT_EQ(last_failure.stage, SANDBOX_STAGE_PATHS);
        ASSERT_EQ(last_failure.error, ENOTDIR);
}

TEST(a_working_directory_that_went_is_told_by_its_key) {
        _cleanup_free_ char *text = NULL;
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_OK(RET_NERRNO(rename(in_root("work"), in_root("was-work"))));
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS);
        ASSERT_EQ(last_failure.error, ENOENT);
        text = sandbox_failure_format(p, &last_failure);
        ASSERT_CONTAINS(text, in_root("work"));
        ASSERT_CONTAINS(text, "Correct working_dir");
        ASSERT_LACKS(text, "take the grant out");
}

TEST(failures_before_execution_have_their_codes) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_OK(free_and_strdup(&p->command, in_root("work/nothing")));
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS);
        ASSERT_EQ(last_failure.stage, SANDBOX_STAGE_EXEC);
        ASSERT_EQ(sandbox_failure_exit_code(&last_failure), 127);
        ASSERT_OK(free_and_strdup(&p->command, in_root("work/a/file")));
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS);
        ASSERT_EQ(sandbox_failure_exit_code(&last_failure), 126);
}

TEST(reads_are_confined_where_the_plan_says_so) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        /* What a manifest would have: no rule on "/". */
        for (size_t i = 0; i < p->n_rules; i++)
                if (streq(p->rules[i].path, "/"))
                        ASSERT_OK(free_and_strdup(&p->rules[i].path, "/usr"));
        for (size_t i = 0; i < p->n_rules; i++)
                if (streq_ptr(p->rules[i].resolved, "/"))
                        ASSERT_OK(free_and_strdup(&p->rules[i].resolved, "/usr"));
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS); /* the helper itself may not be executed */
        ASSERT_EQ(last_failure.error, EACCES);
        ASSERT_OK(free_and_strdup(&p->command, "/usr/bin/grep"));
        ASSERT_EQ(run(p, (char *[]){ W("grep"), W("-qs"), W("text"), W(in_root("work/a/file")), NULL }), 0);
        ASSERT_EQ(run(p, (char *[]){ W("grep"), W("-qs"), W("text"), W(in_root("outside/file")), NULL }), 2);
        ASSERT_EQ(run(p, (char *[]){ W("grep"), W("-qs"), W("."), W("/proc/self/environ"), NULL }), 2);
}

TEST(shells_and_their_children_work) {
        _cleanup_plan_ Plan *p = NULL;
        _cleanup_free_ char *script = NULL;

        set_up("A=");
        p = plan_for("");
        ASSERT_OK(free_and_strdup(&p->command, "/bin/sh"));
        script =
                        strformat("cd %s/work && nothing-of-that-name 2>/dev/null; echo x | cat >a/out && "
                                  "test -s a/out",
                                  root);
        ASSERT_EQ(run(p, (char *[]){ W("sh"), W("-c"), script, NULL }), 0);
        ASSERT_EQ(run(p, (char *[]){ W("sh"), W("-c"), W("(echo x >../outside/new) 2>/dev/null"), NULL }),
                  2);
}

/* A container's filter that knows nothing of Landlock. Runs in a child, since it stays. */
static int probe_below_filter(int error) {
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2),
                BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) error),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog program = { .len = ELEMENTSOF(filter), .filter = filter };
        LandlockFacts facts;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
                return 1;
        if (landlock_probe(-1, &facts) < 0)
                return 2;
        return facts.abi == 0 && facts.unavailable == error ? 0 : 3;
}

TEST(a_filter_around_us_is_no_landlock) {
        static const int errors[] = { ENOSYS, EOPNOTSUPP, EPERM };

        for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
                int status;
                pid_t pid = fork();

                ASSERT_OK(pid);
                if (pid == 0)
                        _exit(probe_below_filter(errors[i]));
                ASSERT_EQ(waitpid(pid, &status, 0), pid);
                ASSERT_EQ(status, 0);
        }
}

/* Between plan and start Landlock went away, or a plan was carried to another host: that is a failed step, and no step that
 * fails is a degraded one. */
TEST(a_step_that_fails_refuses) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        p->landlock.handled_fs |= UINT64_C(1) << 40;
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS);
        ASSERT_EQ(last_failure.stage, SANDBOX_STAGE_RULESET);
        ASSERT_EQ(last_failure.error, EINVAL);
        ASSERT_EQ(sandbox_failure_exit_code(&last_failure), 3);
}

TEST(a_confinement_that_denies_nothing_is_noticed) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for("");
        /* As if the rights of a rule were computed wrongly: "/" becomes writable, and the proof fails. */
        for (size_t i = 0; i < p->n_rules; i++)
                if (streq(p->rules[i].path, "/")) {
                        ASSERT_OK(free_and_strdup(&p->rules[i].path, "//"));
                        p->rules[i].access |= ACCESS_WRITE;
                        p->rules[i].flags &= ~(unsigned) RULE_BUT_DEVICES;
                        p->rules[i].path[0] = '.';
                }
        ASSERT_OK(RET_NERRNO(chdir("/")));
        ASSERT_EQ(ATTEMPT(p, W("fds")), FAILED_STATUS);
        ASSERT_EQ(last_failure.stage, SANDBOX_STAGE_VERIFY);
}

TEST(a_link_that_appears_after_the_plan_opens_nothing) {
        _cleanup_plan_ Plan *p = NULL;

        set_up("A=");
        p = plan_for(""); /* ~/.local/share/uv is optional, and not there */
        ASSERT_OK(mkdir_parents(in_root("home/.local/share"), 0755));
        ASSERT_OK(RET_NERRNO(symlink(in_root("outside"), in_root("home/.local/share/uv"))));
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("outside/new"))), EACCES);
        ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("work/new"))), 0);
}

/* Where a definition grants root/granted/a/b, and someone who may write to root/granted (nobody we know of) turns a part of
 * that path into a link to outside, between the plan and the start. */
static Plan *plan_with_grant(void) {
        _cleanup_free_ char *keys = NULL;

        ASSERT_OK(mkdir_parents(in_root("granted/a/b"), 0755));
        ASSERT_OK(mkdir_parents(in_root("outside/b"), 0755));
        keys = strformat("\"write\": [\"%s\"]", in_root("granted/a/b"));
        ASSERT_NOT_NULL(keys);
        return plan_for(keys);
}

TEST(a_component_that_is_swapped_after_the_plan_is_noticed) {
        static const struct {
                const char *moved, *to, *target;
        } swaps[] = {
                { "granted/a/b", "granted/a/was", "outside/b" },
                { "granted/a", "granted/was", "outside" },
                { "granted/a/b", "outside/was", "outside/was" }, /* the very directory, elsewhere */
        };

        for (size_t i = 0; i < ELEMENTSOF(swaps); i++) {
                _cleanup_plan_ Plan *p = NULL;

                set_up("A=");
                p = plan_with_grant();
                ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("granted/a/b/file"))), 0);
                ASSERT_OK(RET_NERRNO(rename(in_root(swaps[i].moved), in_root(swaps[i].to))));
                ASSERT_OK(RET_NERRNO(symlink(in_root(swaps[i].target), in_root(swaps[i].moved))));
                ASSERT_EQ(ATTEMPT(p, W("create"), W(in_root("granted/a/b/stolen"))), FAILED_STATUS);
                ASSERT_EQ(last_failure.stage, SANDBOX_STAGE_PATHS);
                ASSERT_EQ(last_failure.error, ESTALE);
                ASSERT_FALSE(last_confined);
        }
}

/* As fast as it can, until it is killed. */
static pid_t swap_for_ever(const char *one, const char *other) {
        pid_t pid = fork();

        if (pid == 0)
                for (;;)
                        (void) renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
        return pid;
}

TEST(a_component_that_is_swapped_all_the_time_opens_nothing) {
        _cleanup_plan_ Plan *p = NULL;
        unsigned started = 0;
        pid_t pid;

        set_up("A=");
        p = plan_with_grant();
        ASSERT_OK(RET_NERRNO(symlink(in_root("outside"), in_root("granted/link"))));
        pid = swap_for_ever(in_root("granted/a"), in_root("granted/link"));
        ASSERT_OK(pid);
        for (unsigned i = 0; i < 100; i++) {
                started += ATTEMPT(p, W("create"), W(in_root("outside/b/stolen"))) != FAILED_STATUS;
                ASSERT_EQ(access(in_root("outside/b/stolen"), F_OK), -1);
        }
        ASSERT_OK(RET_NERRNO(kill(pid, SIGKILL)));
        ASSERT_EQ(waitpid(pid, NULL, 0), pid);
        printf("# %u of 100 starts found it in its place\n", started);
}

TEST(what_is_no_file_is_not_even_opened) {
        struct inotify_event event;
        _cleanup_close_ int watch = -EBADF;
        char buffer[16];

        set_up("A=");
        ASSERT_OK(RET_NERRNO(mkfifo(in_root("outside/fifo"), 0644)));
        watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        ASSERT_OK(watch);
        ASSERT_OK(RET_NERRNO(inotify_add_watch(watch, in_root("outside"), IN_OPEN)));
        ASSERT_EQ(probe.facts.read_head(NULL, in_root("outside/fifo"), buffer, sizeof(buffer)), -EINVAL);
        ASSERT_EQ(read(watch, &event, sizeof(event)), -1);
        ASSERT_EQ(errno, EAGAIN);
        ASSERT_EQ(probe.facts.read_head(NULL, in_root("outside/file"), buffer, sizeof(buffer)), 5);
}
