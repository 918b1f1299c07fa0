/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "connect/watch-start.h"

/* Often at first, when most servers begin to read. */
#define LOOK_SOON_USEC  (250ULL * 1000ULL)
#define LOOK_LATER_USEC USEC_PER_SEC

void start_watch_begin(StartWatch *w, uint64_t now_usec, uint64_t budget_usec, bool quiet) {
        mode_t type;

        *w = (StartWatch){ .in = -EBADF, .next_usec = UINT64_MAX };
        if (quiet || fd_get_type(STDIN_FILENO, &type) < 0 || (!S_ISFIFO(type) && !S_ISSOCK(type)))
                return;
        w->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        if (w->in < 0)
                return;
        start_notice_begin(&w->notice, now_usec, budget_usec);
        w->next_usec = now_usec + LOOK_SOON_USEC;
}

void start_watch_end(StartWatch *w) {
        w->in = safe_close(w->in);
        w->next_usec = UINT64_MAX;
        start_notice_done(&w->notice);
}

void start_watch_look(StartWatch *w, uint64_t now_usec, char **ret) {
        int unread = 0;

        *ret = NULL;
        if (w->in < 0 || now_usec < w->next_usec)
                return;
        if (ioctl(w->in, FIONREAD, &unread) < 0 || unread < w->unread) {
                start_watch_end(w);
                return;
        }
        w->unread = unread;
        w->next_usec = now_usec + (w->notice.n_said > 0 ? LOOK_LATER_USEC : LOOK_SOON_USEC);
        if (now_usec < w->notice.next_usec)
                return;
        if (unread == 0) {
                /* It was read between two looks, or nobody has asked anything: from here on, unread bytes could as well be
                 * those of a server that is busy. */
                start_watch_end(w);
                return;
        }
        *ret = start_notice_next(&w->notice, now_usec);
        if (w->notice.next_usec == UINT64_MAX)
                start_watch_end(w);
}
