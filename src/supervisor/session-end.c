/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Why a session ended, for its client, for the journal and for the back-off. */

#include <signal.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "manager/cgroup.h"
#include "supervisor/server.h"

#define EVENTS_TEXT_MAX 4096U

/* Kernel files of a group: gone with it, so this is read while its zombie is ours to keep. 0: nothing, or not known. */
static uint64_t read_event(int fd, const char *key) {
        char text[EVENTS_TEXT_MAX];
        ssize_t n;

        if (fd < 0)
                return 0;
        n = pread(fd, text, sizeof(text) - 1, 0);
        if (n <= 0)
                return 0;
        text[n] = 0;
        return cgroup_parse_event(text, key);
}

static void on_scope_result(void *userdata, int result, const char *value) {
        Session *s = userdata;

        s->result_call = manager_call_free(s->result_call);
        if (result >= 0)
                (void) free_and_strdup(&s->scope_result, value);
}

void session_note_exit(Session *s) {
        SessionChild *c = &s->child;

        c->exited = true;
        if (waitid(P_PIDFD, (id_t) c->pidfd, &c->status, WEXITED | WNOHANG | WNOWAIT) < 0)
                c->status = (siginfo_t){ .si_code = CLD_EXITED, .si_status = EXIT_FAILURE };
        s->oom_kills = read_event(c->memory_events, "oom_kill");
        s->task_refusals = read_event(c->pids_events, "max");
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

static char *format_size(uint64_t bytes) {
        static const struct {
                uint64_t unit;
                const char *suffix;
        } units[] = { { 1ULL << 30, "G" }, { 1ULL << 20, "M" }, { 1ULL << 10, "K" } };

        for (size_t i = 0; i < ELEMENTSOF(units); i++)
                if (bytes >= units[i].unit && bytes % units[i].unit == 0)
                        return strformat(
                                        "%llu%s",
                                        (unsigned long long) (bytes / units[i].unit),
                                        units[i].suffix);
        return strformat("%llu", (unsigned long long) bytes);
}

static char *format_time(uint64_t usec) {
        const unsigned long long seconds = usec / USEC_PER_SEC;

        if (usec % USEC_PER_SEC != 0)
                return strformat("%llums", (unsigned long long) (usec / 1000));
        if (seconds >= 3600 && seconds % 3600 == 0)
                return strformat("%lluh", seconds / 3600);
        if (seconds >= 60 && seconds % 60 == 0)
                return strformat("%llumin", seconds / 60);
        return strformat("%llus", seconds);
}

void session_end_done(SessionEnd *e) {
        free(e->reason);
        *e = (SessionEnd){};
}

static void end_by_limit(const Session *s, SessionEnd *e) {
        const Plan *plan = s->setup->plan;
        _cleanup_free_ char *limit = NULL;

        if (s->cause == STOP_CAUSE_RUNTIME) {
                limit = format_time(plan->runtime_max_usec);
                e->code = "MCP-E-RUNTIME";
                e->reason = strformat("ran longer than %s (limits.runtime)", strempty(limit));
        } else if (s->oom_kills > 0 || streq_ptr(s->scope_result, "oom-kill")) {
                limit = plan->memory_max < LIMIT_INFINITY ? format_size(plan->memory_max) : NULL;
                e->code = "MCP-E-MEMORY";
                e->reason = strformat(
                                "out of memory (limit %s)", limit ? limit : "of the slice or the machine");
        } else if (s->task_refusals > 0 && e->exit_code != 0 && s->cause == STOP_CAUSE_NONE) {
                e->code = "MCP-E-TASKS";
                e->reason = strformat("too many tasks (limit %llu)", (unsigned long long) plan->tasks_max);
        }
}

static void end_by_itself(SessionEnd *e) {
        e->code = "MCP-E-FAILED";
        if (e->signal > 0)
                e->reason = strformat("killed by SIG%s", sigabbrev_np(e->signal));
        else
                e->reason = strformat("exited with status %d", e->exit_code);
}

void session_end_find(const Session *s, SessionEnd *ret) {
        const siginfo_t *status = &s->child.status;
        SessionEnd e = {};

        if (!s->child.exited) {
                /* Its scope cannot be stopped; it was killed, and its status is not there yet. */
                e.signal = SIGKILL;
        } else if (status->si_code == CLD_EXITED)
                e.exit_code = status->si_status;
        else
                e.signal = status->si_status;
        if (e.signal > 0)
                e.exit_code = 128 + e.signal;
        end_by_limit(s, &e);
        if (e.code)
                e.event = EVENT_LIMIT_REACHED;
        else if (s->cause == STOP_CAUSE_NONE && e.exit_code != 0) {
                end_by_itself(&e);
                e.event = EVENT_SESSION_FAILED;
        } else
                e.event = EVENT_SESSION_ENDED;
        *ret = e;
}

/* Too early an end is a failure to start: also with status 0, when the client had not gone (a server that exits at once
 * and is asked for again and again is as bad as one that crashes). */
static void account(Session *s, const SessionEnd *e) {
        uint64_t age = s->exited_usec - s->executed_usec;
        _cleanup_free_ char *reason = NULL;

        if (s->executed_usec == 0)
                return;
        if (age >= BACKOFF_STABLE_USEC || (s->cause != STOP_CAUSE_NONE && e->exit_code == 0)) {
                server_session_stable(s->server);
                return;
        }
        if (age >= BACKOFF_EARLY_USEC || s->stopped_before_exit || (s->input_ended && e->exit_code == 0))
                return;
        reason =
                        strformat("The server %s right after its start",
                                  e->reason ? e->reason : "exited with status 0");
        server_session_failed(s->server, reason);
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
        if (s->killed)
                event_log(j,
                          EVENT_SESSION_KILLED,
                          &fields,
                          "Session %s of %s did not stop at SIGTERM, and was killed.",
                          s->unique,
                          s->server->name);
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
}
