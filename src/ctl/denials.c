/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include "basic/string-util.h"
#include "ctl/denials.h"

/* SESSION_STARTED of mcp-supervisor(8). */
#define MESSAGE_SESSION_STARTED "6a54e3c10f9f48adace4e770e9a03ab8"

/* A server can be denied something before the supervisor has logged its start, even by the last steps to its own
 * execve(); no process number comes again that soon. */
#define START_DELAY_USEC (10 * USEC_PER_SEC)

typedef struct SessionStart {
        uint64_t time_usec;
        pid_t pid;
        char *server, *session;
} SessionStart;

typedef struct Domain {
        uint64_t id;
        pid_t pid;
        uint64_t time_usec;
} Domain;

typedef struct Reading {
        SessionStart *starts;
        size_t n_starts;
        Domain *domains;
        size_t n_domains;
        Denials denials;
} Reading;

void denials_done(Denials *d) {
        for (size_t i = 0; i < d->n_items; i++) {
                audit_line_done(&d->items[i].line);
                free(d->items[i].server);
                free(d->items[i].session);
        }
        free(d->items);
        *d = (Denials){};
}

static void reading_done(Reading *r) {
        for (size_t i = 0; i < r->n_starts; i++) {
                free(r->starts[i].server);
                free(r->starts[i].session);
        }
        free(r->starts);
        free(r->domains);
        denials_done(&r->denials);
}
#define _cleanup_reading_ _cleanup_(reading_done)

/* -ENOENT: the entry has no such field. */
static int get_field(sd_journal *j, const char *field, char **ret) {
        const void *data;
        size_t size, prefix = strlen(field) + 1;
        int r;

        r = sd_journal_get_data(j, field, &data, &size);
        if (r < 0)
                return r;
        if (size < prefix)
                return -ENOENT;
        *ret = strndup((const char *) data + prefix, size - prefix);
        return *ret ? 0 : -ENOMEM;
}

static int on_start(sd_journal *j, uint64_t time_usec, Reading *reading) {
        _cleanup_free_ char *pid = NULL, *server = NULL, *session = NULL;
        SessionStart *starts;
        int r;

        r = get_field(j, "MCP_PID", &pid);
        if (r >= 0)
                r = get_field(j, "MCP_SERVER", &server);
        if (r >= 0)
                r = get_field(j, "MCP_SESSION", &session);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        starts = reallocarray(reading->starts, reading->n_starts + 1, sizeof(*starts));
        if (!starts)
                return -ENOMEM;
        reading->starts = starts;
        starts[reading->n_starts++] = (SessionStart){
                .time_usec = time_usec,
                .pid = atoi(pid),
                .server = TAKE_PTR(server),
                .session = TAKE_PTR(session),
        };
        return 0;
}

static int add_domain(Reading *reading, const AuditLine *l, uint64_t time_usec) {
        Domain *domains = reallocarray(reading->domains, reading->n_domains + 1, sizeof(*domains));

        if (!domains)
                return -ENOMEM;
        reading->domains = domains;
        domains[reading->n_domains++] = (Domain){ .id = l->domain, .pid = l->pid, .time_usec = time_usec };
        return 0;
}

static int on_audit(sd_journal *j, uint64_t time_usec, Reading *reading) {
        _cleanup_audit_line_ AuditLine l = {};
        _cleanup_free_ char *message = NULL;
        Denial *items;
        int r;

        r = get_field(j, "MESSAGE", &message);
        if (r >= 0)
                r = audit_line_parse(message, &l);
        if (r < 0)
                return r == -ENOMEM ? r : 0; /* of another shape than this kernel's documentation has */
        if (!l.blockers)
                return l.allocated && l.pid > 0 ? add_domain(reading, &l, time_usec) : 0;
        items = reallocarray(reading->denials.items, reading->denials.n_items + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        reading->denials.items = items;
        items[reading->denials.n_items++] = (Denial){ .time_usec = time_usec, .line = l };
        l = (AuditLine){};
        return 0;
}

/* Anybody may write a record with our id; the manager's user wrote the supervisor's. */
static int add_matches(sd_journal *j, uid_t supervisor) {
        char uid[sizeof("_UID=") + 3 * sizeof(uid_t)];
        const char *const groups[][3] = {
                { "_TRANSPORT=audit", "_AUDIT_TYPE=1423", "_AUDIT_TYPE=1424" },
                { "MESSAGE_ID=" MESSAGE_SESSION_STARTED, uid },
        };
        char boot[sizeof("_BOOT_ID=") + SD_ID128_STRING_MAX];
        sd_id128_t id;
        int r;

        r = sd_id128_get_boot(&id);
        if (r < 0)
                return r;
        (void) snprintf(uid, sizeof(uid), "_UID=%u", (unsigned) supervisor);
        (void) snprintf(boot, sizeof(boot), "_BOOT_ID=" SD_ID128_FORMAT_STR, SD_ID128_FORMAT_VAL(id));
        r = sd_journal_add_match(j, boot, 0);
        if (r >= 0)
                r = sd_journal_add_conjunction(j);
        for (size_t g = 0; g < ELEMENTSOF(groups) && r >= 0; g++) {
                for (size_t i = 0; i < ELEMENTSOF(groups[g]) && groups[g][i] && r >= 0; i++)
                        r = sd_journal_add_match(j, groups[g][i], 0);
                if (r >= 0 && g == 0)
                        r = sd_journal_add_disjunction(j);
        }
        return r;
}

static int read_journal(sd_journal *j, uid_t supervisor, Reading *reading) {
        int r;

        r = add_matches(j, supervisor);
        if (r < 0)
                return r;
        SD_JOURNAL_FOREACH(j) {
                _cleanup_free_ char *type = NULL;
                uint64_t time_usec;

                r = sd_journal_get_realtime_usec(j, &time_usec);
                if (r < 0)
                        return r;
                r = get_field(j, "_AUDIT_TYPE", &type);
                if (r < 0 && r != -ENOENT)
                        return r;
                r = r < 0 ? on_start(j, time_usec, reading) : on_audit(j, time_usec, reading);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The last session that had the process when the domain was first heard of; process numbers come again. */
static const SessionStart *find_session(const Reading *reading, uint64_t domain) {
        const SessionStart *found = NULL;

        for (size_t i = 0; i < reading->n_domains; i++) {
                const Domain *d = reading->domains + i;

                if (d->id != domain)
                        continue;
                for (size_t k = 0; k < reading->n_starts; k++)
                        if (reading->starts[k].pid == d->pid &&
                            reading->starts[k].time_usec <= d->time_usec + START_DELAY_USEC)
                                found = reading->starts + k;
                return found;
        }
        return NULL;
}

/* Keeps those of our servers, or of the one. */
static int assign(Reading *reading, const char *server) {
        Denials *d = &reading->denials;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; i < d->n_items; i++) {
                const SessionStart *s = r >= 0 ? find_session(reading, d->items[i].line.domain) : NULL;

                if (!s || (server && !streq(s->server, server))) {
                        d->n_foreign += !s;
                        audit_line_done(&d->items[i].line);
                        continue;
                }
                d->items[n] = d->items[i];
                d->items[n].server = strdup(s->server);
                d->items[n].session = strdup(s->session);
                if (!d->items[n].server || !d->items[n].session)
                        r = -ENOMEM;
                n++;
        }
        d->n_items = n;
        return r;
}

int denials_read(uid_t supervisor, const char *server, Denials *ret) {
        _cleanup_reading_ Reading reading = {};
        sd_journal *j;
        int r;

        r = sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY);
        if (r < 0)
                return r;
        r = read_journal(j, supervisor, &reading);
        sd_journal_close(j);
        if (r >= 0)
                r = assign(&reading, server);
        if (r < 0)
                return r;
        *ret = reading.denials;
        reading.denials = (Denials){};
        return 0;
}
