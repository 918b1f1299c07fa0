/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/wait.h>

#include "basic/string-util.h"
#include "config/definition.h"
#include "supervisor/end-reason.h"

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

static char *memory_reason(const EndFacts *f) {
        _cleanup_free_ char *limit = NULL;

        if (f->memory_max >= LIMIT_INFINITY)
                return strdup("out of memory (limit of the slice or the machine)");
        limit = format_size(f->memory_max);
        if (!limit)
                return NULL;
        if (f->memory_peak == 0)
                return strformat("out of memory (limit %s)", limit);
        return strformat(
                        "out of memory (limit %s), peak %.1fM",
                        limit,
                        (double) f->memory_peak / (double) (1ULL << 20));
}

void session_end_done(SessionEnd *e) {
        free(e->reason);
        *e = (SessionEnd){};
}

static void end_by_limit(const EndFacts *f, SessionEnd *e) {
        _cleanup_free_ char *limit = NULL;
        /* Processes that were killed or refused, and a server that went on until its client had enough. */
        bool survived = f->cause != STOP_CAUSE_NONE && e->exit_code == 0;

        if (f->cause == STOP_CAUSE_RUNTIME) {
                limit = format_time(f->runtime_max_usec);
                e->code = "MCP-E-RUNTIME";
                e->reason = strformat("ran longer than %s (limits.runtime)", strempty(limit));
                e->limit = f->runtime_max_usec;
        } else if (!survived && (f->oom_kills > 0 || streq_ptr(f->scope_result, "oom-kill"))) {
                e->code = "MCP-E-MEMORY";
                e->reason = memory_reason(f);
                e->limit = f->memory_max < LIMIT_INFINITY ? f->memory_max : 0;
                e->peak = f->memory_peak;
        } else if (f->task_refusals > 0 && e->exit_code != 0 && f->cause == STOP_CAUSE_NONE) {
                e->code = "MCP-E-TASKS";
                e->reason = strformat("too many tasks (limit %llu)", (unsigned long long) f->tasks_max);
                e->limit = f->tasks_max;
        }
}

static void end_by_itself(SessionEnd *e) {
        e->code = "MCP-E-FAILED";
        if (e->signal > 0)
                e->reason = strformat("killed by SIG%s", sigabbrev_np(e->signal));
        else
                e->reason = strformat("exited with status %d", e->exit_code);
}

void session_end_decide(const EndFacts *f, SessionEnd *ret) {
        SessionEnd e = {};

        if (!f->status)
                e.signal = SIGKILL;
        else if (f->status->si_code == CLD_EXITED)
                e.exit_code = f->status->si_status;
        else
                e.signal = f->status->si_status;
        if (e.signal > 0)
                e.exit_code = 128 + e.signal;
        end_by_limit(f, &e);
        if (e.code)
                e.event = EVENT_LIMIT_REACHED;
        else if (f->cause == STOP_CAUSE_NONE && e.exit_code != 0) {
                end_by_itself(&e);
                e.event = EVENT_SESSION_FAILED;
        } else
                e.event = EVENT_SESSION_ENDED;
        *ret = e;
}
