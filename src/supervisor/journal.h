/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Records for journald that never wait. sd_journal_sendv() blocks while journald's queue is full (it is stopped, busy at
 * boot, or a disk is slow; the kernel's net.unix.max_dgram_qlen can be as low as ten records), and a supervisor must
 * not: a session of one server would stand still for the log of another. So the native protocol is written here, which
 * is a few lines, and what journald does not take at once waits in a bounded queue. Events go before lines of a server's
 * stderr, and take their place where it is full. Only what finds no place is lost: it is counted, and the number is told
 * as soon as there is room. Source: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/ */

#include <systemd/sd-event.h>

#include "basic/macro.h"

#define JOURNAL_QUEUE_RECORDS 256U
#define JOURNAL_QUEUE_BYTES   (1024U * 1024U)

typedef enum JournalClass {
        JOURNAL_EVENT, /* what the supervisor itself says */
        JOURNAL_LINE,  /* what a server wrote to its stderr */
        _JOURNAL_CLASS_MAX,
} JournalClass;

typedef struct JournalRecord JournalRecord;

typedef struct JournalQueue {
        JournalRecord *first, *last;
} JournalQueue;

typedef struct Journal {
        int fd;
        sd_event *event; /* NULL: the queue is sent with the next record only */
        sd_event_source *writable, *again;
        JournalQueue queues[_JOURNAL_CLASS_MAX];
        size_t n_queued, n_bytes;
        uint64_t n_lost;
} Journal;

#define JOURNAL_INIT ((Journal){ .fd = -EBADF })

/* -ENOENT …: no journald here; journal_send() then writes MESSAGE= to stderr. */
int journal_open(Journal *j);
/* From here on the loop sends what waits. */
void journal_attach(Journal *j, sd_event *event);
/* Waits at most a second for journald to take what is still queued. */
void journal_close(Journal *j);

/* fields: strv of NAME=value; values may hold newlines. */
void journal_send(Journal *j, JournalClass kind, char *const *fields);

/* The datagram's bytes, for tests. */
int journal_encode(char *const *fields, char **ret, size_t *ret_size);
