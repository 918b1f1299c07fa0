/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "basic/string-util.h"
#include "supervisor/events.h"

const EventType event_types[_EVENT_MAX] = {
        [EVENT_DEGRADED] = { "DEGRADED", "12676984562545b28d30f223c125b7b8", LOG_WARNING },
        [EVENT_UNCONFINED] = { "UNCONFINED", "33bcd2b2ec9144cd9c017d6e6838edd3", LOG_WARNING },
        [EVENT_REFUSED] = { "REFUSED", "f580030380b14ca09b9c2e7482170800", LOG_ERR },
        [EVENT_DEFINITION_INVALID] = { "DEFINITION_INVALID", "beb6ca091647435b84ec956e32fe6577", LOG_ERR },
        [EVENT_SESSION_STARTED] = { "SESSION_STARTED", "6a54e3c10f9f48adace4e770e9a03ab8", LOG_INFO },
        [EVENT_SESSION_ENDED] = { "SESSION_ENDED", "48a53ceb9f0c46998d3aff323de837e0", LOG_INFO },
        [EVENT_SESSION_FAILED] = { "SESSION_FAILED", "ec8777cc5c744b5a96f63194df80f44c", LOG_ERR },
        [EVENT_SESSION_KILLED] = { "SESSION_KILLED", "f215acce0c004d3bb6317d0d61d1decf", LOG_WARNING },
        [EVENT_LIMIT_REACHED] = { "LIMIT_REACHED", "f595e155274d4899a1145402a677edaa", LOG_ERR },
        [EVENT_CLIENT_REFUSED] = { "CLIENT_REFUSED", "498ba990996b4547a3986eff8d86b51e", LOG_WARNING },
};

static int append_text(char ***list, const char *field, const char *value) {
        return value ? strv_extendf(list, "%s=%s", field, value) : 0;
}

static int append_number(char ***list, const char *field, long long value) {
        return value >= 0 ? strv_extendf(list, "%s=%lld", field, value) : 0;
}

static int append_isolation(const EventFields *f, char ***list) {
        int r;

        if (!f->mode)
                return 0;
        r = append_text(list, "MCP_ISOLATION_MODE", f->mode);
        if (r >= 0)
                r = append_text(list, "MCP_ISOLATED", f->isolated ? "true" : "false");
        if (r >= 0)
                r = append_text(list, "MCP_ISOLATION_SOURCE", f->source);
        if (r >= 0)
                r = append_number(list, "MCP_LANDLOCK_ABI", f->landlock_abi);
        STRV_FOREACH (id, f->missing)
                if (r >= 0)
                        r = append_text(list, "MCP_MISSING", *id);
        return r;
}

int event_fields_append(const EventFields *f, char ***list) {
        const struct {
                const char *field, *value;
        } texts[] = {
                { "MCP_SERVER", f->server },
                /* journald finds out our unit by our cgroup, which is gone when we exit right after a record; with
                 * these fields journalctl -u finds it all the same. */
                { f->user ? "USER_UNIT" : "OBJECT_SYSTEMD_UNIT", f->unit },
                { "MCP_SESSION", f->session },
                { "MCP_SCOPE", f->scope },
                { "MCP_CODE", f->code },
        };
        const struct {
                const char *field;
                long long value;
        } numbers[] = {
                { "MCP_PID", f->pid > 0 ? f->pid : -1 },
                { "MCP_CLIENT_PID", f->client_pid > 0 ? f->client_pid : -1 },
                { "MCP_CLIENT_UID", f->client_uid == (uid_t) -1 ? -1 : (long long) f->client_uid },
                { "MCP_EXIT_CODE", f->exit_code },
                { "MCP_EXIT_SIGNAL", f->signal },
                { "MCP_LIMIT", f->limit > 0 ? (long long) f->limit : -1 },
                { "MCP_PEAK", f->peak > 0 ? (long long) f->peak : -1 },
        };
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(texts) && r >= 0; i++)
                r = append_text(list, texts[i].field, texts[i].value);
        for (size_t i = 0; i < ELEMENTSOF(numbers) && r >= 0; i++)
                r = append_number(list, numbers[i].field, numbers[i].value);
        return r < 0 ? r : append_isolation(f, list);
}

void event_log(Journal *j, EventId id, const EventFields *fields, const char *format, ...) {
        _cleanup_strv_free_ char **list = NULL;
        _cleanup_free_ char *message = NULL;
        const EventType *type = event_types + id;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&message, format, ap);
        va_end(ap);
        if (r < 0) {
                message = NULL;
                j->n_lost++;
                return;
        }
        r = strv_extendf(&list, "MESSAGE=%s", message);
        if (r >= 0)
                r = strv_extendf(&list, "PRIORITY=%d", type->priority);
        if (r >= 0)
                r = strv_extendf(&list, "MESSAGE_ID=%s", type->message_id);
        if (r >= 0)
                r = strv_extend(&list, "SYSLOG_IDENTIFIER=mcp-supervisor");
        if (r >= 0)
                r = event_fields_append(fields, &list);
        if (r < 0)
                j->n_lost++;
        else
                journal_send(j, JOURNAL_EVENT, list);
}
