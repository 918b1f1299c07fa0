/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The child and its scope, in the order of design 6.3: the child executes nothing foreign outside its scope. */

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "manager/cgroup.h"
#include "manager/lost-scope.h"
#include "supervisor/fork.h"
#include "supervisor/server.h"

#define SCOPE_TIMEOUT_USEC (20ULL * USEC_PER_SEC)
#define DEATH_PRIORITY     (SD_EVENT_PRIORITY_NORMAL - 10)
/* How much later than the supervisor's own timer systemd's RuntimeMaxSec= strikes, should the supervisor hang. */
#define RUNTIME_SLACK_USEC (5ULL * USEC_PER_SEC)

/* In the child. */

static void sort_fds(int *fds, size_t n) {
        for (size_t i = 1; i < n; i++)
                for (size_t j = i; j > 0 && fds[j - 1] > fds[j]; j--) {
                        int fd = fds[j];

                        fds[j] = fds[j - 1];
                        fds[j - 1] = fd;
                }
}

/* The child is a copy of the supervisor: the other sessions' descriptors are closed at once, or their clients would
 * not see their ends while this one waits for its scope. */
static int close_others(int *keep, size_t n_keep) {
        unsigned next = STDERR_FILENO + 1;

        sort_fds(keep, n_keep);
        for (size_t i = 0; i < n_keep; i++) {
                if (keep[i] < 0 || (unsigned) keep[i] < next)
                        continue;
                if ((unsigned) keep[i] > next &&
                    syscall(SYS_close_range, next, (unsigned) keep[i] - 1, 0) < 0)
                        return -errno;
                next = (unsigned) keep[i] + 1;
        }
        return RET_NERRNO((int) syscall(SYS_close_range, next, ~0U, 0));
}

/* All that a child has: on the stack, or in pages of its own. It is without its parent's heap (supervisor/fork.h). */
typedef struct ChildOrder {
        const Plan *plan;
        const SandboxProgram *program;
        SandboxStdio stdio;
        SandboxKept kept; /* report: what failed; wait: for the scope */
} ChildOrder;

static _noreturn_ void run_child(ChildOrder *o) {
        int keep[] = { o->stdio.in, o->stdio.out, o->stdio.err, o->kept.wait, o->kept.report };
        SandboxFailure failure = { .stage = SANDBOX_STAGE_FDS, .rule = -1 };
        char byte;
        ssize_t n;
        int r;

        r = close_others(keep, ELEMENTSOF(keep));
        if (r < 0)
                failure.error = -r;
        else
                /* While the manager makes the scope. */
                r = sandbox_enter(o->plan, o->program, &o->stdio, &o->kept, &failure);
        do
                n = read(o->kept.wait, &byte, 1);
        while (n < 0 && errno == EINTR);
        if (n != 1)
                /* The supervisor has changed its mind, or is gone. */
                _exit(EXIT_FAILURE);
        if (r >= 0)
                (void) sandbox_exec_entered(o->plan, &o->kept, &failure);
        (void) fd_write_all(o->kept.report, &failure, sizeof(failure));
        _exit(sandbox_failure_exit_code(&failure));
}

/* In the supervisor. */

typedef struct LaunchPipes {
        int go[2], failure[2], err[2];
} LaunchPipes;

static void launch_pipes_done(LaunchPipes *p) {
        for (size_t i = 0; i < 2; i++) {
                (void) safe_close(p->go[i]);
                (void) safe_close(p->failure[i]);
                (void) safe_close(p->err[i]);
        }
}

static bool stderr_is_the_clients(const Session *s) {
        return s->client.kind == SOCKET_CONNECT && s->setup->definition->stderr_to == STDERR_CLIENT;
}

static int make_pipes(const Session *s, LaunchPipes *p) {
        const Plan *plan = s->setup->plan;

        if (pipe2(p->go, O_CLOEXEC) < 0 || pipe2(p->failure, O_CLOEXEC) < 0)
                return -errno;
        /* What the child waits on must not be what its stdin is put over. */
        if (p->go[0] <= STDERR_FILENO || p->failure[1] <= STDERR_FILENO)
                return -EBADF;
        if (stderr_is_the_clients(s))
                return fd_set_nonblock(p->failure[0], true);
        if (pipe2(p->err, O_CLOEXEC) < 0)
                return -errno;
        /* A server that opens /dev/stderr opens this pipe anew, as its own user. */
        if (plan->uid != (uid_t) -1 && plan->uid != geteuid() && fchown(p->err[1], plan->uid, plan->gid) < 0)
                return -errno;
        if (fd_set_nonblock(p->err[0], true) < 0)
                return -errno;
        return fd_set_nonblock(p->failure[0], true);
}

static int on_child_dead(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Session *s = userdata;

        s->child.pidfd_source = sd_event_source_disable_unref(s->child.pidfd_source);
        session_note_exit(s);
        session_handle(s, SESSION_EVENT_CHILD_EXITED);
        return 0;
}

static int on_failure_pipe(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Session *s = userdata;
        SessionEvent event = session_read_failure(s);

        if (event != _SESSION_EVENT_NONE)
                session_handle(s, event);
        return 0;
}

static int add_child_sources(Session *s) {
        sd_event *event = s->server->event;
        int r;

        r = sd_event_add_io(event, &s->child.pidfd_source, s->child.pidfd, EPOLLIN, on_child_dead, s);
        if (r >= 0)
                /* A client that hangs up because its server is dead is not why that ended: the death comes first. */
                r = sd_event_source_set_priority(s->child.pidfd_source, DEATH_PRIORITY);
        if (r < 0)
                return r;
        return sd_event_add_io(
                        event, &s->child.failure_source, s->child.failure, EPOLLIN, on_failure_pipe, s);
}

static int merge_env(const Session *s, char ***ret) {
        _cleanup_strv_free_ char **env = strv_copy(s->setup->plan->env);

        if (!env)
                return -ENOMEM;
        STRV_FOREACH (e, s->client.env) {
                _cleanup_free_ char *name = strndup(*e, strcspn(*e, "="));
                int r = name ? env_set(&env, name, *e + strlen(name) + 1) : -ENOMEM;

                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(env);
        return 0;
}

/* Mostly the client passes nothing, and the server's own plan is as good. */
static int seal_for_client(const Session *s, SealedPlan *ret) {
        _cleanup_strv_free_ char **env = NULL;
        int r;

        if (strv_length(s->client.env) == 0)
                return 0;
        r = merge_env(s, &env);
        return r < 0 ? r : plan_seal(s->setup->plan, env, ret);
}

static int fork_child(Session *s, LaunchPipes *p) {
        const SessionClient *c = &s->client;
        const bool raw = c->kind == SOCKET_RAW;
        _cleanup_(sealed_plan_done) SealedPlan sealed = {};
        ChildOrder order;
        pid_t pid;
        int r;

        r = seal_for_client(s, &sealed);
        if (r < 0)
                return r;
        order = (ChildOrder){
                .plan = sealed.plan ?: s->setup->sealed.plan,
                .program = s->setup->program,
                .stdio = { .in = raw ? c->fd : c->stdio[0],
                           .out = raw ? c->fd : c->stdio[1],
                           .err = stderr_is_the_clients(s) ? c->stdio[2] : p->err[1] },
                .kept = { .report = p->failure[1], .wait = p->go[0] },
        };
        pid = fork_lean();
        if (pid < 0)
                return -errno;
        if (pid == 0)
                run_child(&order);
        s->child.pid = pid;
        s->child.go = TAKE_FD(p->go[1]);
        s->child.failure = TAKE_FD(p->failure[0]);
        s->child.pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
        return s->child.pidfd < 0 ? -errno : 0;
}

static int give_up_child(Session *s, int error) {
        refusal_set(&s->refusal,
                    "MCP-R-START",
                    EXIT_UNAVAILABLE,
                    "The server's process cannot be made: %s.",
                    STRERROR(error));
        if (s->child.pid > 0) {
                /* It waits for the go that never comes, so this ends at once. */
                s->child.go = safe_close(s->child.go);
                (void) kill(s->child.pid, SIGKILL);
                (void) waitpid(s->child.pid, NULL, 0);
        }
        session_child_done(s);
        return -ECANCELED;
}

int session_make_child(Session *s) {
        _cleanup_(launch_pipes_done) LaunchPipes p = {
                { -EBADF, -EBADF },
                { -EBADF, -EBADF },
                { -EBADF, -EBADF },
        };
        int r;

        r = make_pipes(s, &p);
        if (r >= 0)
                r = fork_child(s, &p);
        if (r < 0)
                return give_up_child(s, r);
        s->child.err = TAKE_FD(p.err[0]);
        return 0;
}

int session_watch_child(Session *s) {
        EventFields fields;
        int r;

        /* The client's output and error are the child's alone. */
        fds_close_aside(s->client.stdio, CONTROL_N_FDS);
        r = add_child_sources(s);
        if (r < 0 || s->child.err < 0)
                return r;
        session_event_fields(s, &fields);
        return stderr_log_start(
                        &s->stderr_log,
                        s->server->event,
                        &s->server->journal,
                        TAKE_FD(s->child.err),
                        s->server->instance,
                        s->child.pid,
                        &fields);
}

void session_child_done(Session *s) {
        SessionChild *c = &s->child;

        c->pidfd_source = sd_event_source_disable_unref(c->pidfd_source);
        c->failure_source = sd_event_source_disable_unref(c->failure_source);
        c->go = safe_close(c->go);
        c->failure = safe_close(c->failure);
        c->err = safe_close(c->err);
        c->pidfd = safe_close(c->pidfd);
        c->memory_source = sd_event_source_disable_unref(c->memory_source);
        c->pids_source = sd_event_source_disable_unref(c->pids_source);
        c->memory_events = safe_close(c->memory_events);
        c->pids_events = safe_close(c->pids_events);
        c->memory_peak = safe_close(c->memory_peak);
        c->slice_events = safe_close(c->slice_events);
        c->slice_local = safe_close(c->slice_local);
        c->pid = 0;
}

/* Scope */

static int new_scope_name(Session *s) {
        char unique[17];
        uint64_t random;

        if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
                return -errno;
        (void) snprintf(unique, sizeof(unique), "%016llx", (unsigned long long) random);
        if (!s->unique[0])
                memcpy(s->unique, unique, sizeof(unique));
        free(TAKE_PTR(s->scope));
        return scope_name_make(s->server->instance, unique, &s->scope);
}

static void on_scope_started(void *userdata, int result, const char *detail) {
        Session *s = userdata;
        const char *hint = manager_error_hint(s->server->scope, result), *why = detail ?: STRERROR(result);

        s->start_call = manager_call_free(s->start_call);
        if (result >= 0) {
                session_handle(s, SESSION_EVENT_SCOPE_UP);
                return;
        }
        if (result == -EEXIST) {
                session_handle(s, SESSION_EVENT_SCOPE_TAKEN);
                return;
        }
        if (result == -ECANCELED) {
                /* What binds it to the service stops it with that. Our SIGTERM may be no quicker. */
                session_handle(s, SESSION_EVENT_STOP);
                return;
        }
        refusal_set(&s->refusal,
                    "MCP-R-START",
                    EXIT_UNAVAILABLE,
                    "The manager did not start the server's scope: %s%s%s%s",
                    why,
                    endswith(why, ".") ? "" : ".", /* some of systemd's are whole sentences */
                    hint ? " " : "",
                    strempty(hint));
        session_handle(s, SESSION_EVENT_SCOPE_FAILED);
}

static uint64_t add_usec(uint64_t a, uint64_t b) {
        return a >= LIMIT_INFINITY ? a : MIN(a + b, LIMIT_INFINITY - 1);
}

int session_prepare_scope(Session *s) {
        const Plan *plan = s->setup->plan;
        _cleanup_free_ char *description = NULL;
        ScopeSpec spec;
        int r;

        r = new_scope_name(s);
        if (r < 0)
                return r;
        s->n_names++;
        description = strformat("MCP Server %s, session %s", s->server->instance, s->unique);
        if (!description)
                return -ENOMEM;
        spec = (ScopeSpec){
                .name = s->scope,
                .description = description,
                .slice = "mcp.slice",
                .binds_to = s->server->unit,
                .pidfd = -EBADF,
                .memory_max = plan->memory_max,
                .swap_max = plan->swap_max,
                .tasks_max = plan->tasks_max,
                .cpu_quota_usec_per_sec = plan->cpu_quota_permille >= LIMIT_INFINITY
                                                          ? plan->cpu_quota_permille
                                                          : plan->cpu_quota_permille * 1000,
                .runtime_max_usec =
                                add_usec(plan->runtime_max_usec, plan->eof_grace_usec + RUNTIME_SLACK_USEC),
                .timeout_stop_usec = plan->kill_after_usec,
                .oom_kill = plan->oom_kill_all,
                .loopback_only = plan->loopback_only,
        };
        return manager_prepare_scope(
                        s->server->manager, &spec, SCOPE_TIMEOUT_USEC, on_scope_started, s, &s->start_call);
}

int session_start_scope(Session *s) {
        return manager_start_prepared(s->server->manager, s->start_call, s->child.pid, s->child.pidfd);
}

static bool limit_holds(const char *cgroups, CgroupAttribute attribute, uint64_t wanted) {
        uint64_t found;

        if (wanted >= LIMIT_INFINITY)
                return true;
        return cgroup_read_limit(cgroups, attribute, &found) >= 0 && found <= wanted;
}

/* The plan says what the manager should be able to enforce; this is whether it did (a controller that is not there is
 * ignored silently). */
static int check_limits(Session *s, const char *cgroups) {
        const Plan *plan = s->setup->plan;
        const struct {
                ProtectionId id;
                CgroupAttribute attribute;
                uint64_t wanted;
                const char *name;
        } table[] = {
                { PROTECTION_MEMORY, CGROUP_MEMORY_MAX, plan->memory_max, "limits.memory" },
                { PROTECTION_TASKS, CGROUP_PIDS_MAX, plan->tasks_max, "limits.tasks" },
                { PROTECTION_CPU, CGROUP_CPU_MAX, plan->cpu_quota_permille, "limits.cpu" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *message = NULL;

                if (plan->protections[table[i].id].state != PROTECTION_ENFORCED ||
                    limit_holds(cgroups, table[i].attribute, table[i].wanted))
                        continue;
                /* Stopping a scope kills first and removes the group then, its limits with it. */
                if (!pidfd_is_alive(s->child.pidfd))
                        return -ESRCH;
                if (plan->strict) {
                        refusal_set(&s->refusal,
                                    "MCP-R-CONFINEMENT",
                                    EXIT_CONFINEMENT,
                                    "%s does not hold in the server's scope, and enforcement is strict.",
                                    table[i].name);
                        return -EPERM;
                }
                message =
                                strformat("%s does not hold in the server's scope: the manager accepted it, "
                                          "but the kernel's "
                                          "control group does not have it",
                                          table[i].name);
                /* From here on it is missing, for this plan's clients, events and status alike. */
                if (!strv_contains(s->setup->missing, protection_to_string(table[i].id)) &&
                    strv_extend(&s->setup->missing, protection_to_string(table[i].id)) < 0)
                        return -ENOMEM;
                server_degraded(s->server, s, protection_to_string(table[i].id), message);
        }
        return 0;
}

/* Where the child is cannot be seen. Its scope may be as it should be: another name would not help. */
static SessionEvent give_up_scope(Session *s, int error) {
        if (error == -ENODATA || error == -ENOENT || error == -ESRCH)
                refusal_set(&s->refusal,
                            "MCP-R-START",
                            EXIT_UNAVAILABLE,
                            "The server's process was killed before it began.");
        else
                refusal_set(&s->refusal,
                            "MCP-R-START",
                            EXIT_UNAVAILABLE,
                            "It cannot be found out whether the server's process is in its scope: %s.",
                            STRERROR(error));
        return SESSION_EVENT_SCOPE_FAILED;
}

SessionEvent session_check_scope(Session *s) {
        _cleanup_free_ char *cgroups = NULL, *cgroup = NULL, *found = NULL;
        int r;

        r = cgroup_read_of_pid(s->child.pid, &cgroups);
        if (r >= 0)
                r = cgroup_of_unit(cgroups, &cgroup);
        if (r < 0)
                return give_up_scope(s, r);
        if (!cgroup_is_ours(cgroup, &found) || !streq_ptr(found, s->scope) ||
            transient_unit_is_gone(s->server->scope, s->scope))
        {
                /* systemd can take a scope for empty at its start and forget it (systemd/systemd#36781), and whoever may
                 * can move a process. Another name is another chance. */
                (void) manager_stop_unit(
                                s->server->manager, s->scope, MANAGER_TIMEOUT_USEC, NULL, NULL, NULL);
                return SESSION_EVENT_SCOPE_TAKEN;
        }
        free(s->cgroup);
        s->cgroup = TAKE_PTR(cgroup);
        r = check_limits(s, cgroups);
        if (r == -ESRCH)
                return give_up_scope(s, r);
        if (r < 0)
                return SESSION_EVENT_NOT_ENFORCED;
        session_watch_limits(s, cgroups);
        return _SESSION_EVENT_NONE;
}

int session_release_child(Session *s) {
        ssize_t n = write(s->child.go, "g", 1);
        int r = n == 1 ? 0 : n < 0 ? -errno : -EIO;

        s->child.go = safe_close(s->child.go);
        return r;
}

SessionEvent session_read_failure(Session *s) {
        SandboxFailure failure;
        ssize_t n;

        if (s->child.failure < 0)
                return _SESSION_EVENT_NONE;
        n = read(s->child.failure, &failure, sizeof(failure));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return _SESSION_EVENT_NONE;
        if (n == sizeof(failure) && failure.stage == SANDBOX_STAGE_NONE) {
                s->child.confined = true;
                return session_read_failure(s);
        }
        s->child.failure_source = sd_event_source_disable_unref(s->child.failure_source);
        s->child.failure = safe_close(s->child.failure);
        if (n == 0 && s->child.confined)
                /* Closed by execve(). */
                return SESSION_EVENT_EXECUTED;
        if (n == 0)
                /* No step failed: it was killed, as children are when their service is stopped. */
                failure = (SandboxFailure){ .stage = SANDBOX_STAGE_NONE, .rule = -1 };
        else if (n != sizeof(failure))
                failure = (SandboxFailure){ .stage = SANDBOX_STAGE_EXEC, .error = EIO, .rule = -1 };
        failure.path[sizeof(failure.path) - 1] = 0;
        s->child.failed = failure;
        return SESSION_EVENT_EXEC_FAILED;
}
