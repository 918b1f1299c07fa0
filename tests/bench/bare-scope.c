/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The least that a server in a scope of its own costs: fork, StartTransientUnit, the job's end, execve; and what of it is
 * left where a spare child was in its scope before the client came: descriptors handed over, execve. Nothing is confined,
 * nobody is looked at, nothing is accepted. Arguments: "system" or "user", and the program. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "session-start.h"

#define SYSTEMD_NAME      "org.freedesktop.systemd1"
#define SYSTEMD_PATH      "/org/freedesktop/systemd1"
#define SYSTEMD_INTERFACE "org.freedesktop.systemd1.Manager"
#define TASKS_MAX         512U /* as a definition has it that says nothing */

static struct {
        sd_bus *bus;
        Start *starts;
        bool spare; /* the children stay where they are when their scopes are up */
        unsigned n, n_up;
} loop;

static void release(Start *s) {
        if (write(s->go, "g", 1) != 1)
                die("write to the child", errno);
        (void) close(s->go);
        s->go = -EBADF;
}

static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *job, *result;
        uint32_t id;
        int r = sd_bus_message_read(m, "uoss", &id, &job, NULL, &result);

        if (r < 0)
                die("JobRemoved", -r);
        for (unsigned i = 0; i < loop.n; i++)
                if (strcmp(loop.starts[i].job, job) == 0) {
                        if (strcmp(result, "done") != 0)
                                die(result, EIO);
                        loop.starts[i].job[0] = 0;
                        loop.n_up++;
                        if (!loop.spare)
                                release(loop.starts + i);
                        break;
                }
        return 0;
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        Start *s = userdata;
        const char *job;
        int r = -sd_bus_message_get_errno(reply);

        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &job);
        if (r < 0)
                die("StartTransientUnit", -r);
        (void) snprintf(s->job, sizeof(s->job), "%s", job);
        return 0;
}

static void open_bus(const char *manager) {
        int r = strcmp(manager, "user") == 0 ? sd_bus_open_user(&loop.bus) : sd_bus_open_system(&loop.bus);

        if (r >= 0)
                r = sd_bus_match_signal(
                                loop.bus,
                                NULL,
                                SYSTEMD_NAME,
                                SYSTEMD_PATH,
                                SYSTEMD_INTERFACE,
                                "JobRemoved",
                                on_job_removed,
                                NULL);
        if (r < 0)
                die("the bus", -r);
}

static void ask(Start *s) {
        static unsigned number;
        char name[64];
        int r;

        (void) snprintf(name, sizeof(name), "bare-%d-%u.scope", getpid(), ++number);
        r = sd_bus_call_method_async(
                        loop.bus,
                        NULL,
                        SYSTEMD_NAME,
                        SYSTEMD_PATH,
                        SYSTEMD_INTERFACE,
                        "StartTransientUnit",
                        on_reply,
                        s,
                        "ssa(sv)a(sa(sv))",
                        name,
                        "fail",
                        3,
                        "PIDs",
                        "au",
                        1,
                        (uint32_t) s->pid,
                        "CollectMode",
                        "s",
                        "inactive-or-failed",
                        "TasksMax",
                        "t",
                        (uint64_t) TASKS_MAX,
                        0);
        if (r < 0)
                die("StartTransientUnit", -r);
}

static _Noreturn void run_child(const char *program, const int stdio[2], int go) {
        char byte;

        if (dup2(stdio[0], STDIN_FILENO) < 0 || dup2(stdio[1], STDOUT_FILENO) < 0 || read(go, &byte, 1) != 1)
                _exit(EXIT_FAILURE);
        (void) execl(program, program, (char *) NULL);
        _exit(EXIT_FAILURE);
}

static void fork_child(const char *program, Start *s) {
        int stdio[2], go[2];

        start_pipes(s, stdio);
        if (pipe2(go, O_CLOEXEC) < 0)
                die("pipe", errno);
        s->pid = fork();
        if (s->pid < 0)
                die("fork", errno);
        if (s->pid == 0) {
                (void) close(go[1]);
                run_child(program, stdio, go[0]);
        }
        s->go = go[1];
        (void) close(go[0]);
        (void) close(stdio[0]);
        (void) close(stdio[1]);
}

static void begin(const char *manager, Start starts[], unsigned n, bool spare) {
        if (!loop.bus)
                open_bus(manager);
        loop.starts = starts;
        loop.n = n;
        loop.n_up = 0;
        loop.spare = spare;
}

static void wait_for_scopes(void) {
        while (loop.n_up < loop.n) {
                int r = sd_bus_process(loop.bus, NULL);

                if (r == 0)
                        r = sd_bus_wait(loop.bus, UINT64_MAX);
                if (r < 0)
                        die("the bus", -r);
        }
}

void start_scopes(char *const arguments[], Start starts[], unsigned n) {
        uint64_t begun;

        begin(arguments[0], starts, n, false);
        /* Clients that come together all wait from here on, whose turn ever it is. */
        begun = now_ns();
        for (unsigned i = 0; i < n; i++) {
                starts[i].begun_ns = begun;
                fork_child(arguments[1], starts + i);
                ask(starts + i);
        }
        wait_for_scopes();
}

typedef union Descriptors {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
} Descriptors;

static _Noreturn void run_spare(const char *program, int from) {
        Descriptors descriptors;
        char byte;
        struct iovec iov = { &byte, 1 };
        struct msghdr message = { .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = &descriptors,
                                  .msg_controllen = sizeof(descriptors) };
        int stdio[2];

        if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 ||
            message.msg_controllen < CMSG_LEN(sizeof(stdio)))
                _exit(EXIT_FAILURE);
        memcpy(stdio, CMSG_DATA(&descriptors.header), sizeof(stdio));
        if (dup2(stdio[0], STDIN_FILENO) >= 0 && dup2(stdio[1], STDOUT_FILENO) >= 0)
                (void) execl(program, program, (char *) NULL);
        _exit(EXIT_FAILURE);
}

static void fork_spare(const char *program, Start *s) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                die("socketpair", errno);
        s->pid = fork();
        if (s->pid < 0)
                die("fork", errno);
        if (s->pid == 0)
                run_spare(program, pair[1]);
        (void) close(pair[1]);
        s->go = pair[0];
}

static void hand_over(Start *s) {
        Descriptors descriptors = { .header = { .cmsg_len = CMSG_LEN(2 * sizeof(int)),
                                                .cmsg_level = SOL_SOCKET,
                                                .cmsg_type = SCM_RIGHTS } };
        struct iovec iov = { (char *) "g", 1 };
        const struct msghdr message = { .msg_iov = &iov,
                                        .msg_iovlen = 1,
                                        .msg_control = &descriptors,
                                        .msg_controllen = sizeof(descriptors) };
        int stdio[2];

        start_pipes(s, stdio);
        memcpy(CMSG_DATA(&descriptors.header), stdio, sizeof(stdio));
        s->begun_ns = now_ns();
        if (sendmsg(s->go, &message, MSG_NOSIGNAL) != 1)
                die("sendmsg", errno);
        (void) close(s->go);
        s->go = -EBADF;
        (void) close(stdio[0]);
        (void) close(stdio[1]);
}

void start_spares(char *const arguments[], Start starts[], unsigned n) {
        begin(arguments[0], starts, n, true);
        for (unsigned i = 0; i < n; i++) {
                fork_spare(arguments[1], starts + i);
                ask(starts + i);
        }
        wait_for_scopes();
        for (unsigned i = 0; i < n; i++)
                hand_over(starts + i);
}
