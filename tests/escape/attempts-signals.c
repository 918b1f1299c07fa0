/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signals that the kernel sends for a process: to whoever it named as the owner of a descriptor. The victim blocks them
 * all, so that what reached it stays pending and can be read in its status. Each attempt takes a signal of its own. */

#include <signal.h>
#include <sys/socket.h>

#include "escape.h"

/* 0: the signal is pending at the victim. Where its status is hidden (ProtectProc=) nobody can tell. */
static int delivered(const World *w, int sig) {
        static const char *const fields[] = { "SigPnd:", "ShdPnd:" };
        FILE *f = fopen(of_victim(w, "status"), "re");
        bool found = false;
        char line[256];

        if (!f)
                return CANNOT_TRY;
        while (fgets(line, sizeof(line), f))
                for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                        if (strncmp(line, fields[i], strlen(fields[i])) == 0)
                                found = found ||
                                        (strtoull(line + strlen(fields[i]), NULL, 16) >> (sig - 1) & 1);
        fclose(f);
        return found ? 0 : EPERM;
}

/* Makes the victim, or what it leads, the owner of fd. */
static int give_to_victim(const World *w, int fd, const char *as, int sig) {
        struct f_owner_ex thread = { .type = F_OWNER_TID, .pid = w->victim };
        int r;

        if (strcmp(as, "thread") == 0)
                r = outcome(fcntl(fd, F_SETOWN_EX, &thread));
        else
                r = outcome(fcntl(fd, F_SETOWN, strcmp(as, "group") == 0 ? -w->victim : w->victim));
        return r ?: outcome(fcntl(fd, F_SETSIG, sig));
}

static int by_pipe(const World *w, const char *as) {
        int sig = SIGRTMIN + (strcmp(as, "process") == 0 ? 1 : strcmp(as, "group") == 0 ? 2 : 3), p[2], r;

        if (pipe2(p, O_CLOEXEC) < 0)
                return BROKEN;
        r = give_to_victim(w, p[0], as, sig) ?: outcome(fcntl(p[0], F_SETFL, O_ASYNC));
        if (r)
                return r;
        return write(p[1], "x", 1) == 1 ? delivered(w, sig) : BROKEN;
}

static int by_directory(const World *w, const char *name) {
        int sig = SIGRTMIN + 4, fd = open(w->inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

        if (fd < 0)
                return BROKEN;
        r = give_to_victim(w, fd, "process", sig);
        if (r)
                return r;
        if (fcntl(fd, F_NOTIFY, DN_CREATE) < 0)
                return CANNOT_TRY;
        return write_file(inside(w, name), "x") == 0 ? delivered(w, sig) : BROKEN;
}

static int by_lease(const World *w, const char *name) {
        int sig = SIGRTMIN + 5, fd, r;

        if (write_file(inside(w, name), "x") != 0)
                return BROKEN;
        fd = open(inside(w, name), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return BROKEN;
        r = give_to_victim(w, fd, "process", sig);
        if (r)
                return r;
        if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
                return CANNOT_TRY;
        (void) open(inside(w, name), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        return delivered(w, sig);
}

static int by_urgent_byte(const World *w, const char *name) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return BROKEN;
        if (fcntl(pair[0], F_SETOWN, w->victim) < 0)
                return errno;
        return send(pair[1], "x", 1, MSG_OOB | MSG_NOSIGNAL) == 1 ? delivered(w, SIGURG) : CANNOT_TRY;
}

const Attempt signal_attempts[] = {
        { "SIGIO of a pipe to a process", by_pipe, "process", LANDLOCK(6) },
        { "SIGIO of a pipe to a group", by_pipe, "group", LANDLOCK(6) },
        { "SIGIO of a pipe to a thread", by_pipe, "thread", LANDLOCK(6) },
        { "SIGIO of a watched directory", by_directory, "watched", LANDLOCK(6) },
        { "SIGIO of a broken lease", by_lease, "leased", LANDLOCK(6) },
        { "SIGURG of an urgent byte", by_urgent_byte, NULL, LANDLOCK(6) },
        {},
};
