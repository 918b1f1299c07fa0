/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Sizes, times and shares of a CPU as people write them. All take the whole string; -EINVAL: not one, -ERANGE: too
 * large for the type. Blanks around are not allowed. The results know nothing of "infinity"; callers ask
 * quantity_is_infinity() first. */

#include "basic/macro.h"

/* "infinity" (systemd) and "unlimited" (the shell's ulimit). */
bool quantity_is_infinity(const char *s);

/* Bytes: a number with K, M, G, T, P or E in either case behind it, each 1024 times the one before, and optionally "B" or
 * "iB" behind that: "512M", "1.5G", "64KiB", Docker's "512m". Without a unit: bytes, whole. */
int size_parse(const char *s, uint64_t *ret);

/* Microseconds. What Go ("1h30m", "500ms") and systemd ("5min", "1min 30s") understand; a number without a unit is in
 * seconds. Units: ns, us (µs, usec), ms (msec), s (sec, second, seconds), m (min, minute, minutes), h (hr, hour, hours),
 * d (day, days), w (week, weeks). */
int duration_parse(const char *s, uint64_t *ret_usec);

/* Per mille of one CPU: "150%" or "1.5" (a number of CPUs) are 1500. Rounded to the nearest. */
int cpu_parse(const char *s, uint64_t *ret_permille);
