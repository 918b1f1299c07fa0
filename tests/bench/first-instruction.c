/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A server that says when its first instruction ran (CLOCK_MONOTONIC, nanoseconds, 8 bytes), and ends with its input.
 * Static and without libc's start-up, so that nothing of its own comes before. */

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Noreturn void _start(void);

#ifdef __x86_64__
/* The kernel aligns the stack as if for the instruction behind a call. */
__attribute__((force_align_arg_pointer))
#endif
_Noreturn void
_start(void) {
        struct timespec t; /* not set: without optimisation that calls memset(), and links all of libc's start-up */
        uint64_t now;
        char byte;

        (void) syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
        now = (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
        (void) syscall(SYS_write, STDOUT_FILENO, &now, sizeof(now));
        while (syscall(SYS_read, STDIN_FILENO, &byte, sizeof(byte)) > 0)
                continue;
        for (;;)
                (void) syscall(SYS_exit_group, 0);
}
