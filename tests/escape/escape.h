/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The escape suite: a program that runs inside a sandbox and tries to get out, one attempt a row. Each row says from
 * which Landlock ABI on it has to fail in which mode. Run without a sandbox (mode none) the same rows have to succeed,
 * which proves that they try what they say. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "basic/macro.h"

typedef enum Mode {
        MODE_NONE,      /* no sandbox at all */
        MODE_SANDBOX,   /* a definition without anything about isolation */
        MODE_BLOCKED,   /* isolation.network: blocked */
        MODE_UNIX_ANY,  /* isolation.unix_sockets: any */
        MODE_MANIFEST,  /* a manifest without grants, network blocked */
        MODE_PORTS,     /* a manifest, network blocked, one port to connect to */
        MODE_BIND,      /* a manifest, network blocked, one port to listen on */
        MODE_UNIX_LIST, /* isolation.unix_sockets: one socket */
        _MODE_MAX,
} Mode;

/* What may be tried to reach. Directories of a world that the driver made; the rest belongs to the victim, a process of
 * the same user outside. */
typedef struct World {
        const char *inside;  /* working directory: everything is allowed in it */
        const char *outside; /* a directory of the same user that nobody granted */
        const char *home;    /* HOME, with the usual files in it */
        pid_t victim, parent;
        uint16_t tcp_port, udp_port; /* the victim listens there */
        uint16_t listed_port;        /* likewise, and mode ports lists it for connecting */
        uint16_t bind_port;          /* free, and mode bind lists it for listening */
        int shm_id;                  /* the victim's System V shared memory */
        const char *terminal;        /* one that the victim has opened */
        const char *abstract;        /* the name, without the NUL before it, of the victim's sockets */
} World;

/* From which ABI on a row is denied; one number per mode. */
enum {
        SHUT = 0,    /* always: by the filter, by the environment … */
        OPEN = 127,  /* never */
        EITHER = -1, /* not asked */
};

typedef enum AttemptFlags {
        LOOSE = 1
                << 0, /* where nothing of ours denies it something else may: user id, sysctl, kernel options */
        MUST_WORK = 1 << 1, /* no attempt to escape: something that a server needs */
        SETUID = 1 << 2,    /* needs the setuid program that only root could make for the world */
} AttemptFlags;

/* What run() returns: 0 where it got through, a positive errno where it was denied, or one of these. */
enum {
        CANNOT_TRY = -1, /* this machine lacks what the attempt is about */
        BROKEN = -2,     /* what leads up to the attempt failed: the test is wrong */
};

typedef struct Attempt {
        const char *name;
        int (*run)(const World *w, const char *argument);
        const char *argument;
        int8_t denied_from[_MODE_MAX];
        unsigned flags;
        int fails_on_abi;  /* for MUST_WORK: the one ABI that cannot do it; 0: none */
        const char *known; /* why a row that one would rather see denied is open */
} Attempt;

/* Ends with a row without a name. */
extern const Attempt file_attempts[], process_attempts[], signal_attempts[], network_attempts[],
                kernel_attempts[], needs[];

/* Rows of denied_from. */
#define WRITE_RIGHT                       \
        {                                 \
                OPEN, 1, 1, 1, 1, 1, 1, 1 \
        }
/* Without a manifest reads stay broad. */
#define READ_RIGHT                                    \
        {                                             \
                OPEN, OPEN, OPEN, OPEN, 1, 1, 1, OPEN \
        }
#define LANDLOCK(abi)                                                 \
        {                                                             \
                OPEN, (abi), (abi), (abi), (abi), (abi), (abi), (abi) \
        }
/* Without a manifest from one ABI on, with one always: what cannot be opened cannot be used either. */
#define USE_RIGHT(abi)                                    \
        {                                                 \
                OPEN, (abi), (abi), (abi), 1, 1, 1, (abi) \
        }
#define ALWAYS                                                 \
        {                                                      \
                OPEN, SHUT, SHUT, SHUT, SHUT, SHUT, SHUT, SHUT \
        }
#define NEVER                                                  \
        {                                                      \
                OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN \
        }
#define NETWORK_FILTER                                         \
        {                                                      \
                OPEN, OPEN, SHUT, OPEN, SHUT, SHUT, SHUT, OPEN \
        }
/* abi: from which on a list of sockets keeps it shut. */
#define UNIX_FILTER(abi)                                        \
        {                                                       \
                OPEN, SHUT, SHUT, OPEN, SHUT, SHUT, SHUT, (abi) \
        }

static inline int outcome(long r) {
        return r < 0 ? errno : 0;
}

/* "inside/NAME" and so on, in a static buffer that the next eight calls leave alone. */
const char *inside(const World *w, const char *name);
const char *outside(const World *w, const char *name);
const char *at_home(const World *w, const char *name);
const char *of_victim(const World *w, const char *name); /* /proc/PID/NAME */

int write_file(const char *path, const char *text); /* creates; 0 or errno */

/* Runs the program with what follows in its argv: its exit status, or 128 and the signal. */
int run_program(const char *path, char *const argv[]);

/* The victim's side: makes everything that World names, says so on stdout, and waits for the end of stdin. */
int victim_main(const char *outside_dir, const char *home);

/* Of its System V message queue and semaphore. */
#define VICTIM_KEY(pid) ((key_t) (0x4d430000 + (pid)))
