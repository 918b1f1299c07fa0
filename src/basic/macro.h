/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What every file uses: array sizes, ownership hand-over, cleanup attributes. Nothing here can fail.
 *
 * Ownership: a variable declared with one of the _cleanup_…_ attributes is released when its scope ends,
 * unless TAKE_PTR()/TAKE_FD() hands it on. File descriptors start at -EBADF. */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define _unused_       __attribute__((__unused__))
#define _noreturn_     __attribute__((__noreturn__))
#define _printf_(a, b) __attribute__((__format__(printf, a, b)))
#define _sentinel_     __attribute__((__sentinel__))
#define _cleanup_(x)   __attribute__((__cleanup__(x)))

#define USEC_PER_SEC 1000000ULL

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))
#define MIN(a, b)                                  \
        ({                                         \
                __typeof__(a) _min_a = (a);        \
                __typeof__(b) _min_b = (b);        \
                _min_a < _min_b ? _min_a : _min_b; \
        })
#define MAX(a, b)                                  \
        ({                                         \
                __typeof__(a) _max_a = (a);        \
                __typeof__(b) _max_b = (b);        \
                _max_a > _max_b ? _max_a : _max_b; \
        })

#define TAKE_GENERIC(var, type, nullvalue) \
        ({                                 \
                type *_take_p = &(var);    \
                type _take_v = *_take_p;   \
                *_take_p = (nullvalue);    \
                _take_v;                   \
        })
#define TAKE_PTR(ptr) TAKE_GENERIC(ptr, __typeof__(ptr), NULL)
#define TAKE_FD(fd)   TAKE_GENERIC(fd, int, -EBADF)

/* Defines funcp(type *p), which calls func(*p) when *p is not NULL: for _cleanup_(funcp). */
#define DEFINE_TRIVIAL_CLEANUP_FUNC(type, func) \
        static inline void func##p(type *p) {   \
                if (*p)                         \
                        func(*p);               \
        }                                       \
        struct __useless_struct_to_allow_trailing_semicolon__

static inline void freep(void *p) {
        free(*(void **) p);
}
#define _cleanup_free_ _cleanup_(freep)

/* Closes fd when it is one, keeping errno; returns -EBADF, so that "fd = safe_close(fd)" reads well. */
static inline int safe_close(int fd) {
        if (fd >= 0) {
                int saved = errno;
                (void) close(fd);
                errno = saved;
        }
        return -EBADF;
}

static inline void closep(int *fd) {
        (void) safe_close(*fd);
}
#define _cleanup_close_ _cleanup_(closep)

DEFINE_TRIVIAL_CLEANUP_FUNC(FILE *, fclose);
#define _cleanup_fclose_ _cleanup_(fclosep)

/* The negative errno of a failed libc call. */
#define RET_NERRNO(x)                         \
        ({                                    \
                int _ret_r = (x);             \
                _ret_r < 0 ? -errno : _ret_r; \
        })

/* strerror() of a negative or positive errno, thread-safe and without an allocation. */
#define STRERROR(e) strerrordesc_np_or_unknown(e)
const char *strerrordesc_np_or_unknown(int error);
