/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "basic/string-util.h"
#include "supervisor/journal.h"

#define JOURNAL_SOCKET  "/run/systemd/journal/socket"
#define AGAIN_USEC      (250ULL * 1000ULL)
#define CLOSE_TRIES     100U
#define CLOSE_WAIT_MSEC 10

/* Encoding */

static int encode_field(FILE *f, const char *field) {
        const char *value = strchr(field, '=');
        uint64_t size;

        if (!value)
                return -EINVAL;
        if (!strchr(value, '\n'))
                return fprintf(f, "%s\n", field) < 0 ? -ENOMEM : 0;
        size = htole64(strlen(value + 1));
        if (fprintf(f, "%.*s\n", (int) (value - field), field) < 0 ||
            fwrite(&size, sizeof(size), 1, f) != 1 || fprintf(f, "%s\n", value + 1) < 0)
                return -ENOMEM;
        return 0;
}

int journal_encode(char *const *fields, char **ret, size_t *ret_size) {
        _cleanup_free_ char *data = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&data, &size);
        int r = 0;

        if (!f)
                return -ENOMEM;
        STRV_FOREACH (field, fields) {
                r = encode_field(f, *field);
                if (r < 0)
                        break;
        }
        if (fclose(f) < 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret = TAKE_PTR(data);
        *ret_size = size;
        return 0;
}

/* Queue */

struct JournalRecord {
        JournalRecord *next;
        size_t size;
        char data[];
};

static void queue_pop(Journal *j, JournalClass kind) {
        JournalQueue *q = j->queues + kind;
        JournalRecord *record = q->first;

        q->first = record->next;
        if (!q->first)
                q->last = NULL;
        j->n_queued--;
        j->n_bytes -= record->size;
        free(record);
}

static bool queue_has_room(const Journal *j, size_t size) {
        return j->n_queued < JOURNAL_QUEUE_RECORDS && size <= JOURNAL_QUEUE_BYTES - j->n_bytes;
}

static void queue_push(Journal *j, JournalClass kind, const char *data, size_t size) {
        JournalQueue *q = j->queues + kind;
        JournalRecord *record;

        while (kind == JOURNAL_EVENT && !queue_has_room(j, size) && j->queues[JOURNAL_LINE].first) {
                queue_pop(j, JOURNAL_LINE);
                j->n_lost++;
        }
        record = queue_has_room(j, size) ? malloc(sizeof(*record) + size) : NULL;
        if (!record) {
                j->n_lost++;
                return;
        }
        *record = (JournalRecord){ .size = size };
        memcpy(record->data, data, size);
        if (q->last)
                q->last->next = record;
        else
                q->first = record;
        q->last = record;
        j->n_queued++;
        j->n_bytes += size;
}

/* Sending */

static int connect_socket(void) {
        const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
        const int size = 8 * 1024 * 1024;
        _cleanup_close_ int fd = -EBADF;

        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        /* A burst of long lines may be on its way; what the kernel does not grant makes no difference. */
        if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static bool is_among(int error, const int *list, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (error == list[i])
                        return true;
        return false;
}

/* 0: sent. -EAGAIN: when journald has read. -ENOTCONN: when there is a journald, or memory. Else: never. */
static int send_now(Journal *j, const char *data, size_t size) {
        static const int gone[] = { ECONNREFUSED, ENOTCONN, ECONNRESET, ENOENT, EPIPE };
        static const int scarce[] = { ENOBUFS, ENOMEM, EMFILE, ENFILE };

        for (unsigned i = 0; i < 2; i++) {
                int fd, error;

                if (send(j->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
                        return 0;
                error = errno;
                if (error == EAGAIN)
                        return -EAGAIN;
                if (is_among(error, scarce, ELEMENTSOF(scarce)))
                        return -ENOTCONN;
                if (!is_among(error, gone, ELEMENTSOF(gone)))
                        return -error;
                /* journald was restarted: its socket is another one now. */
                fd = connect_socket();
                if (fd < 0)
                        return -ENOTCONN;
                j->writable = sd_event_source_disable_unref(j->writable);
                (void) safe_close(j->fd);
                j->fd = fd;
        }
        return -ENOTCONN;
}

static int send_lost(Journal *j) {
        _cleanup_free_ char *data = NULL;
        char message[80];
        char *fields[] = { message, (char *) "PRIORITY=4", NULL };
        size_t size;
        int r;

        (void) snprintf(message,
                        sizeof(message),
                        "MESSAGE=%llu record(s) were lost: journald did not take them.",
                        (unsigned long long) j->n_lost);
        r = journal_encode(fields, &data, &size);
        if (r >= 0)
                r = send_now(j, data, size);
        if (r >= 0)
                j->n_lost = 0;
        return r;
}

/* 0: nothing waits any more. */
static int flush(Journal *j) {
        for (JournalClass kind = 0; kind < _JOURNAL_CLASS_MAX; kind++)
                while (j->queues[kind].first) {
                        JournalRecord *record = j->queues[kind].first;
                        int r = send_now(j, record->data, record->size);

                        if (r == -EAGAIN || r == -ENOTCONN)
                                return r;
                        if (r < 0)
                                j->n_lost++;
                        queue_pop(j, kind);
                }
        return j->n_lost > 0 ? send_lost(j) : 0;
}

static void flush_or_wait(Journal *j);

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        flush_or_wait(userdata);
        return 0;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Journal *j = userdata;

        j->again = sd_event_source_disable_unref(j->again);
        flush_or_wait(j);
        return 0;
}

static void flush_or_wait(Journal *j) {
        int r = flush(j);

        if (r != -EAGAIN)
                j->writable = sd_event_source_disable_unref(j->writable);
        if (r >= 0 || !j->event)
                return;
        /* A socket of a datagram type is writable when its peer has room. Without a peer, or without memory, it would
         * be for ever, so that is a matter of time. */
        if (r == -EAGAIN && !j->writable &&
            sd_event_add_io(j->event, &j->writable, j->fd, EPOLLOUT, on_writable, j) >= 0)
                return;
        if (!j->writable && !j->again)
                (void) sd_event_add_time_relative(
                                j->event, &j->again, CLOCK_MONOTONIC, AGAIN_USEC, 0, on_again, j);
}

int journal_open(Journal *j) {
        int fd = connect_socket();

        *j = JOURNAL_INIT;
        if (fd < 0)
                return fd;
        j->fd = fd;
        return 0;
}

void journal_attach(Journal *j, sd_event *event) {
        j->event = sd_event_ref(event);
        if (j->n_queued > 0)
                flush_or_wait(j);
}

void journal_close(Journal *j) {
        struct pollfd p = { .fd = j->fd, .events = POLLOUT };

        j->writable = sd_event_source_disable_unref(j->writable);
        j->again = sd_event_source_disable_unref(j->again);
        for (unsigned i = 0; i < CLOSE_TRIES && j->fd >= 0 && flush(j) == -EAGAIN; i++)
                (void) poll(&p, 1, CLOSE_WAIT_MSEC);
        for (JournalClass kind = 0; kind < _JOURNAL_CLASS_MAX; kind++)
                while (j->queues[kind].first)
                        queue_pop(j, kind);
        j->event = sd_event_unref(j->event);
        j->fd = safe_close(j->fd);
}

static void write_to_stderr(char *const *fields) {
        STRV_FOREACH (field, fields) {
                const char *message = startswith(*field, "MESSAGE=");

                if (message)
                        (void) dprintf(STDERR_FILENO, "%s\n", message);
        }
}

void journal_send(Journal *j, JournalClass kind, char *const *fields) {
        _cleanup_free_ char *data = NULL;
        size_t size;

        if (j->fd < 0) {
                int fd = connect_socket();

                if (fd < 0) {
                        write_to_stderr(fields);
                        return;
                }
                j->fd = fd;
        }
        if (journal_encode(fields, &data, &size) < 0) {
                j->n_lost++;
                return;
        }
        queue_push(j, kind, data, size);
        /* While the loop waits for journald there is no use in asking it with every record. */
        if (!j->writable && !j->again)
                flush_or_wait(j);
}
