/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Why a session ended, for its client, for the journal and for the back-off. */

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "manager/cgroup.h"
#include "supervisor/server.h"

#define PROC_STAT_MAX 4096U
#define PROC_EXITING  4U

static void on_scope_result(void *userdata, int result, const char *value) {
        Session *s = userdata;

        s->result_call = manager_call_free(s->result_call);
        if (result >= 0)
                (void) free_and_strdup(&s->scope_result, value);
}

static uint64_t ooms_below_slice(const SessionChild *c) {
        return cgroup_read_event(c->slice_events, "oom") - cgroup_read_event(c->slice_local, "oom");
}

/* The counters only grow, and read as 0 once the group is gone. */
static void note_limits(Session *s) {
        const SessionChild *c = &s->child;

        s->oom_kills = MAX(s->oom_kills, cgroup_read_event(c->memory_events, "oom_kill"));
        s->task_refusals = MAX(s->task_refusals, cgroup_read_event(c->pids_events, "max"));
        s->memory_peak = MAX(s->memory_peak, cgroup_read_number(c->memory_peak));
        if (cgroup_is_there(c->memory_events)) {
                s->slice_oom_kills = cgroup_read_event(c->slice_events, "oom_kill");
                s->slice_ooms = ooms_below_slice(c);
        }
}

/* The kernel tells of a group's events at most every 10 ms, and systemd may have removed it by then (which before 253 knows
 * no scope's result oom-kill). Then who was killed, could be out of memory, and is the one more that the slice counts since
 * the group was last seen, was out of memory; and where a group below the slice ran into its limit, it was at its own. */
static void note_kill_unseen(Session *s) {
        const SessionChild *c = &s->child;
        const uint64_t limit = s->setup->plan->memory_max;

        if (s->oom_kills > 0 || c->status.si_code == CLD_EXITED || c->status.si_status != SIGKILL ||
            limit >= LIMIT_INFINITY || cgroup_is_there(c->memory_events) ||
            cgroup_read_event(c->slice_events, "oom_kill") <= s->slice_oom_kills)
                return;
        s->oom_kills = 1;
        s->memory_peak = ooms_below_slice(c) > s->slice_ooms ? limit : 0;
}

static int on_limit(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        note_limits(userdata);
        return 0;
}

/* systemd removes a group as soon as its last process is dead, and may be quicker than we are: what happens in it is
 * noted when it happens. On edges, because a file of a group that is gone is ready for ever. */
void session_watch_limits(Session *s, const char *cgroups) {
        SessionChild *c = &s->child;
        bool v1;

        c->memory_events = cgroup_open_attribute(cgroups, CGROUP_MEMORY_EVENTS, &v1);
        c->pids_events = cgroup_open_attribute(cgroups, CGROUP_PIDS_EVENTS, &v1);
        c->memory_peak = cgroup_open_attribute(cgroups, CGROUP_MEMORY_PEAK, &v1);
        c->slice_events = cgroup_open_parent_events(cgroups, /* local= */ false);
        c->slice_local = cgroup_open_parent_events(cgroups, /* local= */ true);
        /* The first reading is what later ones are compared with. */
        note_limits(s);
        if (c->memory_events >= 0)
                (void) sd_event_add_io(
                                s->server->event,
                                &c->memory_source,
                                c->memory_events,
                                EPOLLPRI | EPOLLET,
                                on_limit,
                                s);
        if (c->pids_events >= 0)
                (void) sd_event_add_io(
                                s->server->event,
                                &c->pids_source,
                                c->pids_events,
                                EPOLLPRI | EPOLLET,
                                on_limit,
                                s);
}

/* Its descriptors are closed before its death can be seen, and a client may be quicker. (The ninth field of /proc/PID/stat
 * has the kernel's PF_EXITING.) */
bool session_child_is_exiting(const Session *s) {
        char path[sizeof("/proc//stat") + 12];
        _cleanup_free_ char *text = NULL;
        const char *end;
        unsigned flags;

        (void) snprintf(path, sizeof(path), "/proc/%d/stat", s->child.pid);
        if (s->child.pid <= 0 || file_read_at(AT_FDCWD, path, PROC_STAT_MAX, &text, NULL) < 0)
                return false;
        end = strrchr(text, ')');
        return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && (flags & PROC_EXITING);
}

void session_note_exit(Session *s) {
        SessionChild *c = &s->child;

        c->exited = true;
        s->exited_usec = server_now(s->server);
        if (waitid(P_PIDFD, (id_t) c->pidfd, &c->status, WEXITED | WNOHANG | WNOWAIT) < 0)
                c->status = (siginfo_t){ .si_code = CLD_EXITED, .si_status = EXIT_FAILURE };
        note_limits(s);
        note_kill_unseen(s);
        /* The group may have been removed already: then systemd knows, until it forgets the scope. The question goes out
         * before any StopUnit. */
        if (s->oom_kills == 0 && c->status.si_code != CLD_EXITED && c->status.si_status == SIGKILL &&
            s->setup->plan->memory_max < LIMIT_INFINITY && !s->result_call)
                (void) manager_get_result(
                                s->server->manager,
                                s->scope,
                                MANAGER_TIMEOUT_USEC,
                                on_scope_result,
                                s,
                                &s->result_call);
}

void session_end_find(const Session *s, SessionEnd *ret) {
        const Plan *plan = s->setup->plan;
        const EndFacts facts = {
                .status = s->child.exited ? &s->child.status : NULL,
                .cause = s->cause,
                .oom_kills = s->oom_kills,
                .task_refusals = s->task_refusals,
                .memory_peak = s->memory_peak,
                .scope_result = s->scope_result,
                .memory_max = plan->memory_max,
                .tasks_max = plan->tasks_max,
                .runtime_max_usec = plan->runtime_max_usec,
        };

        session_end_decide(&facts, ret);
}

/* Too early an end is a failure to start: also with status 0, when the client had not gone (a server that exits at once
 * and is asked for again and again is as bad as one that crashes). */
static void account(Session *s, const SessionEnd *e) {
        uint64_t age = s->exited_usec - s->executed_usec;
        _cleanup_free_ char *reason = NULL;

        if (s->executed_usec == 0)
                return;
        if (age >= BACKOFF_STABLE_USEC ||
            (s->cause != STOP_CAUSE_NONE && e->exit_code == 0 && !s->died_meanwhile)) {
                server_session_stable(s->server, s);
                return;
        }
        if (age >= BACKOFF_EARLY_USEC || s->stopped_before_exit || (s->input_ended && e->exit_code == 0))
                return;
        reason =
                        strformat("The server %s right after its start",
                                  e->reason ? e->reason : "exited with status 0");
        server_session_failed(s->server, s, reason);
}

static void log_end(Session *s, const SessionEnd *e) {
        static const char *const causes[] = {
                [STOP_CAUSE_NONE] = "by itself",
                [STOP_CAUSE_CLIENT] = "its client has gone",
                [STOP_CAUSE_REQUEST] = "it was to stop",
                [STOP_CAUSE_RUNTIME] = "its time was over",
        };
        EventFields fields;
        Journal *j = &s->server->journal;

        session_event_fields(s, &fields);
        fields.exit_code = e->exit_code;
        fields.signal = e->signal > 0 ? e->signal : -1;
        fields.code = e->code;
        fields.limit = e->limit;
        fields.peak = e->peak;
        if (s->killed)
                event_log(j,
                          EVENT_SESSION_KILLED,
                          &fields,
                          "Session %s of %s did not stop %s, and was killed.",
                          s->unique,
                          s->server->name,
                          s->setup->plan->kill_after_usec > 0 ? "at SIGTERM"
                                                              : "at once at SIGTERM (stop.kill_after is 0)");
        if (e->event == EVENT_SESSION_ENDED) {
                event_log(j,
                          e->event,
                          &fields,
                          "Session %s of %s ended: %s (exit status %d).",
                          s->unique,
                          s->server->name,
                          causes[s->cause],
                          e->exit_code);
                return;
        }
        event_log(j,
                  e->event,
                  &fields,
                  "Session %s of %s ended: %s.",
                  s->unique,
                  s->server->name,
                  strempty(e->reason));
}

void session_report_end(Session *s) {
        _cleanup_(session_end_done) SessionEnd e = {};

        session_end_find(s, &e);
        stderr_log_drain(&s->stderr_log);
        session_tell_exit(s, &e);
        account(s, &e);
        log_end(s, &e);
        server_session_over(s->server, &e);
}
