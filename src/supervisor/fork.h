/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* fork() for the two kinds of children that the supervisor has. Returns as fork() does.
 *
 * What fork() mostly costs is page tables: to copy them, to copy the pages that either side writes to afterwards, and to take
 * all of it down in execve(). Most of these pages are libraries that a server's child never calls (those of the loop, the
 * bus and JSON), and the heap, where the loop goes on writing. fork_lean() leaves them out (madvise(2), MADV_DONTFORK): its
 * child has the stack, static data, libc and what was mapped by itself; it cannot malloc(), and does nothing of what
 * pthread_atfork() was told. A child that tries dies of it, before it has executed anything.
 *
 * All is there where symbols may still have to be looked up, which reads every library: without LD_BIND_NOW (ld.so(8); our
 * units set it); or where something foreign is loaded, by LD_PRELOAD, LD_AUDIT or /etc/ld.so.preload. */

#include <sys/types.h>

pid_t fork_lean(void);
pid_t fork_whole(void);
