/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a session's end is called, and the kernel's files that tell it, of which there are copies here. */

#include "test.h"

#include <signal.h>
#include <sys/mman.h>

#include "manager/cgroup.h"
#include "supervisor/end-reason.h"

#define MEBIBYTE (1024ULL * 1024ULL)

static const siginfo_t succeeded = { .si_code = CLD_EXITED };

static siginfo_t exited(int status) {
        siginfo_t s = { .si_code = CLD_EXITED };

        s.si_status = status;
        return s;
}

static siginfo_t killed(int signal) {
        siginfo_t s = { .si_code = CLD_KILLED };

        s.si_status = signal;
        return s;
}

static void check(
                const EndFacts *facts, EventId event, int exit_code, const char *code, const char *reason) {
        _cleanup_(session_end_done) SessionEnd e = {};

        session_end_decide(facts, &e);
        ASSERT_EQ(e.event, event);
        ASSERT_EQ(e.exit_code, exit_code);
        if (!code) {
                ASSERT_NULL(e.code);
                ASSERT_NULL(e.reason);
                return;
        }
        ASSERT_STREQ(e.code, code);
        ASSERT_STREQ(e.reason, reason);
}

/* A file of a group, as it is at one moment. */
static int group_file(const char *text) {
        int fd = memfd_create("group-file", MFD_CLOEXEC);

        ASSERT_OK(RET_NERRNO(fd));
        ASSERT_EQ(write(fd, text, strlen(text)), (ssize_t) strlen(text));
        return fd;
}

TEST(an_oom_kill_is_told_with_limit_and_peak) {
        const siginfo_t status = killed(SIGKILL);
        _cleanup_close_ int peak = group_file("66998272\n");
        _cleanup_(session_end_done) SessionEnd e = {};
        const EndFacts f = {
                .status = &status,
                .oom_kills = 1,
                .memory_peak = cgroup_read_number(peak),
                .memory_max = 64 * MEBIBYTE,
                .tasks_max = UINT64_MAX,
                .runtime_max_usec = UINT64_MAX,
        };

        session_end_decide(&f, &e);
        ASSERT_STREQ(e.reason, "out of memory (limit 64M), peak 63.9M");
        ASSERT_EQ(e.limit, 64 * MEBIBYTE);
        ASSERT_EQ(e.peak, 66998272U);
        ASSERT_EQ(cgroup_read_number(-EBADF), 0U);
}

TEST(an_oom_kill_is_told_with_its_limit) {
        _cleanup_close_ int events =
                        group_file("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n");
        const siginfo_t status = killed(SIGKILL);
        EndFacts f = {
                .status = &status,
                .oom_kills = cgroup_read_event(events, "oom_kill"),
                .memory_max = 512 * MEBIBYTE,
        };

        check(&f, EVENT_LIMIT_REACHED, 137, "MCP-E-MEMORY", "out of memory (limit 512M)");
        f.memory_max = 512 * MEBIBYTE + 1;
        check(&f, EVENT_LIMIT_REACHED, 137, "MCP-E-MEMORY", "out of memory (limit 536870913)");
        f.memory_max = UINT64_MAX;
        check(&f,
              EVENT_LIMIT_REACHED,
              137,
              "MCP-E-MEMORY",
              "out of memory (limit of the slice or the machine)");
}

TEST(what_systemd_knows_of_an_oom_kill_counts_as_well) {
        const siginfo_t status = killed(SIGKILL);
        EndFacts f = { .status = &status, .scope_result = "oom-kill", .memory_max = 1024 * MEBIBYTE };

        check(&f, EVENT_LIMIT_REACHED, 137, "MCP-E-MEMORY", "out of memory (limit 1G)");
        f.scope_result = "success";
        check(&f, EVENT_SESSION_FAILED, 137, "MCP-E-FAILED", "killed by SIGKILL");
}

/* OOMPolicy=stop: the kernel killed a child of the server, and systemd sends SIGTERM to the rest. */
TEST(a_server_that_is_stopped_for_its_childs_memory_is_out_of_memory) {
        const siginfo_t status = killed(SIGTERM);
        const EndFacts f = { .status = &status, .oom_kills = 1, .memory_max = 64 * MEBIBYTE };

        check(&f, EVENT_LIMIT_REACHED, 143, "MCP-E-MEMORY", "out of memory (limit 64M)");
}

TEST(too_many_tasks_are_told_where_the_server_failed_by_them) {
        _cleanup_close_ int events = group_file("max 3\n");
        const siginfo_t failed = exited(1);
        EndFacts f = {
                .status = &failed,
                .task_refusals = cgroup_read_event(events, "max"),
                .tasks_max = 50,
        };

        check(&f, EVENT_LIMIT_REACHED, 1, "MCP-E-TASKS", "too many tasks (limit 50)");
        f.status = &succeeded;
        check(&f, EVENT_SESSION_ENDED, 0, NULL, NULL);
        f.status = &failed;
        f.cause = STOP_CAUSE_CLIENT;
        check(&f, EVENT_SESSION_ENDED, 1, NULL, NULL);
}

TEST(a_run_time_that_is_over_is_told_with_its_limit) {
        const siginfo_t status = killed(SIGTERM);
        EndFacts f = { .status = &status, .cause = STOP_CAUSE_RUNTIME };
        static const struct {
                uint64_t usec;
                const char *reason;
        } table[] = {
                { 1500000, "ran longer than 1500ms (limits.runtime)" },
                { 90 * 1000000ULL, "ran longer than 90s (limits.runtime)" },
                { 300 * 1000000ULL, "ran longer than 5min (limits.runtime)" },
                { 7200 * 1000000ULL, "ran longer than 2h (limits.runtime)" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                f.runtime_max_usec = table[i].usec;
                check(&f, EVENT_LIMIT_REACHED, 143, "MCP-E-RUNTIME", table[i].reason);
        }
}

TEST(a_server_that_went_on_without_what_was_killed_has_not_ended_by_a_limit) {
        const EndFacts f = {
                .status = &succeeded,
                .cause = STOP_CAUSE_CLIENT,
                .oom_kills = 2,
                .task_refusals = 2,
                .memory_max = MEBIBYTE,
        };

        check(&f, EVENT_SESSION_ENDED, 0, NULL, NULL);
}

TEST(without_a_limit_an_end_is_what_the_process_says) {
        const siginfo_t failed = exited(7), crashed = killed(SIGSEGV), stopped = killed(SIGTERM);
        EndFacts f = { .status = &failed };

        check(&f, EVENT_SESSION_FAILED, 7, "MCP-E-FAILED", "exited with status 7");
        f.status = &crashed;
        check(&f, EVENT_SESSION_FAILED, 139, "MCP-E-FAILED", "killed by SIGSEGV");
        f.status = &stopped;
        f.cause = STOP_CAUSE_REQUEST;
        check(&f, EVENT_SESSION_ENDED, 143, NULL, NULL);
        f.status = NULL;
        check(&f, EVENT_SESSION_ENDED, 137, NULL, NULL);
}

TEST(a_group_that_is_gone_tells_nothing) {
        _cleanup_close_ int empty = group_file(""), events = group_file("oom_kill 0\n");

        ASSERT_EQ(cgroup_read_event(-EBADF, "oom_kill"), 0);
        ASSERT_EQ(cgroup_read_event(empty, "oom_kill"), 0);
        ASSERT_FALSE(cgroup_is_there(-EBADF));
        ASSERT_FALSE(cgroup_is_there(empty));
        ASSERT_TRUE(cgroup_is_there(events));
}
