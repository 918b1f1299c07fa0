/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <syslog.h>
#include <time.h>

#include "basic/string-util.h"
#include "supervisor/stderr-log.h"

#define READ_SIZE          (64U * 1024U)
#define READS_PER_DISPATCH 8U
#define LINES_PER_SECOND   200U
#define LINES_BURST        2000U
#define BYTES_PER_SECOND   (256U * 1024U)
#define BYTES_BURST        (4U * 1024U * 1024U)
/* Behind everything that decides about sessions: a flood of one server must not hold up the others. */
#define STDERR_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 20)

static uint64_t now_monotonic(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000U + (uint64_t) ts.tv_nsec / 1000U;
}

static void send_record(StderrLog *l, int priority, const char *format, ...) _printf_(3, 4);
static void send_record(StderrLog *l, int priority, const char *format, ...) {
        _cleanup_strv_free_ char **list = NULL;
        _cleanup_free_ char *message = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&message, format, ap);
        va_end(ap);
        if (r < 0) {
                message = NULL;
                return;
        }
        r = strv_extendf(&list, "MESSAGE=%s", message);
        if (r >= 0)
                r = strv_extendf(&list, "PRIORITY=%d", priority);
        if (r >= 0)
                r = strv_extendf(&list, "SYSLOG_IDENTIFIER=%s", l->identifier);
        STRV_FOREACH (field, l->fields)
                if (r >= 0)
                        r = strv_extend(&list, *field);
        if (r >= 0)
                journal_send(l->journal, JOURNAL_LINE, list);
}

static void say_suppressed(StderrLog *l) {
        if (l->n_suppressed == 0)
                return;
        send_record(l,
                    LOG_WARNING,
                    "%llu lines of the server's stderr were suppressed: it writes too many.",
                    (unsigned long long) l->n_suppressed);
        l->n_suppressed = 0;
}

static void on_line(void *userdata, const char *line, size_t size, bool continued) {
        StderrLog *l = userdata;
        _cleanup_free_ char *copy = NULL, *escaped = NULL;
        uint64_t now;

        if (!continued)
                /* Journald shows emergencies on every terminal: a server's word is not enough for that. */
                l->priority = MAX(line_take_priority(&line, &size, LOG_INFO), LOG_ERR);
        if (size == 0)
                return;
        now = now_monotonic();
        line_tail_add(&l->tail, line, size);
        if ((continued && l->suppressing) || !rate_limit_take(&l->bytes, now, size) ||
            (!continued && !rate_limit_take(&l->lines, now, 1)))
        {
                l->suppressing = true;
                l->n_suppressed += !continued;
                return;
        }
        l->suppressing = false;
        say_suppressed(l);
        copy = strndup(line, size);
        escaped = copy ? string_escape_control(copy) : NULL;
        if (escaped)
                send_record(l, l->priority, "%s", escaped);
}

/* 1: there may be more; 0: nothing for now; negative: the end. */
static int read_some(StderrLog *l) {
        static char buffer[READ_SIZE];
        ssize_t n = read(l->fd, buffer, sizeof(buffer));

        if (n < 0)
                return errno == EINTR ? 1 : errno == EAGAIN ? 0 : -errno;
        if (n == 0)
                return -ENODATA;
        if (line_splitter_feed(&l->splitter, buffer, (size_t) n, on_line, l) < 0)
                /* Without memory lines are lost rather than the server blocked. */
                l->n_suppressed++;
        return 1;
}

static void stop_reading(StderrLog *l) {
        line_splitter_flush(&l->splitter, on_line, l);
        say_suppressed(l);
        l->source = sd_event_source_disable_unref(l->source);
        l->fd = safe_close(l->fd);
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        StderrLog *l = userdata;

        for (unsigned i = 0; i < READS_PER_DISPATCH; i++) {
                int r = read_some(l);

                if (r == 0)
                        return 0;
                if (r < 0) {
                        stop_reading(l);
                        return 0;
                }
        }
        return 0;
}

void stderr_log_drain(StderrLog *l) {
        /* A pipe holds 64 KiB unless it was grown; a server that goes on writing does not hold us here. */
        for (unsigned i = 0; i < 32 && l->fd >= 0; i++) {
                int r = read_some(l);

                if (r < 0)
                        stop_reading(l);
                if (r <= 0)
                        return;
        }
}

int stderr_log_start(
                StderrLog *l,
                sd_event *event,
                Journal *journal,
                int fd,
                const char *instance,
                pid_t pid,
                const EventFields *fields) {
        _cleanup_close_ int owned = fd;
        int r;

        l->journal = journal;
        l->lines = RATE_LIMIT_INIT(LINES_PER_SECOND, LINES_BURST);
        l->bytes = RATE_LIMIT_INIT(BYTES_PER_SECOND, BYTES_BURST);
        l->identifier = strformat("mcp-%s", instance);
        if (!l->identifier)
                return -ENOMEM;
        r = event_fields_append(fields, &l->fields);
        if (r >= 0)
                r = strv_extendf(&l->fields, "SYSLOG_PID=%d", pid);
        if (r >= 0)
                r = sd_event_add_io(event, &l->source, owned, EPOLLIN, on_readable, l);
        if (r >= 0)
                r = sd_event_source_set_priority(l->source, STDERR_PRIORITY);
        if (r < 0) {
                l->source = sd_event_source_disable_unref(l->source);
                return r;
        }
        l->fd = TAKE_FD(owned);
        return 0;
}

void stderr_log_done(StderrLog *l) {
        if (l->fd >= 0) {
                stderr_log_drain(l);
                if (l->fd >= 0)
                        stop_reading(l);
        }
        l->source = sd_event_source_disable_unref(l->source);
        line_splitter_done(&l->splitter);
        line_tail_done(&l->tail);
        free(l->identifier);
        strv_free(l->fields);
        *l = STDERR_LOG_INIT;
}
