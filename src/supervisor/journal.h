/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Records for journald that never wait: sd_journal_sendv() blocks while journald's queue is full (it is stopped, or a
 * disk is slow), and a supervisor must not. A record that cannot be sent is counted, and the number is told with the next
 * one that can. Source: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/ */

#include "basic/macro.h"

typedef struct Journal {
        int fd;
        uint64_t n_lost;
} Journal;

int journal_open(
                Journal *ret); /* -ENOENT …: no journald here; journal_send() then writes MESSAGE= to stderr */
void journal_close(Journal *j);

/* fields: strv of NAME=value; values may hold newlines. */
void journal_send(Journal *j, char *const *fields);

/* The datagram's bytes, for tests. */
int journal_encode(char *const *fields, char **ret, size_t *ret_size);
