/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What an error says about what was asked for. */

#include <errno.h>
#include <stdbool.h>

/* The machine or the process lacks something for the moment: this says nothing about what was looked at, and the same may
 * work later. Takes results: negative errnos, and what is none. */
static inline bool errno_is_shortage(int result) {
        switch (-result) {
        case ENOMEM:
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOSPC:
        case EDQUOT:
        case EAGAIN:
                return true;
        default:
                return false;
        }
}
