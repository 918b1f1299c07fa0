/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The system call filters that there are, and how they are compiled: when we are built, so that no start has to load
 * libseccomp and compile one. Only where the build machine cannot run our programs it is done at the start. */

#include <linux/filter.h>

#include "plan/plan.h"

/* All that filters differ in. */
typedef struct FilterVariant {
        bool no_unix; /* UNIX sockets: none */
        NetworkMode network;
        bool may_listen; /* with NETWORK_MODE_PORTS: there are ports to bind */
} FilterVariant;

/* Each of them once. */
#define FILTER_VARIANTS                                                                                \
        { false, NETWORK_MODE_UNRESTRICTED, false }, { true, NETWORK_MODE_UNRESTRICTED, false },       \
                        { false, NETWORK_MODE_BLOCKED, false }, { true, NETWORK_MODE_BLOCKED, false }, \
                        { false, NETWORK_MODE_PORTS, false }, { true, NETWORK_MODE_PORTS, false },     \
                        { false, NETWORK_MODE_PORTS, true }, { true, NETWORK_MODE_PORTS, true },

/* *ret is the caller's. Negative errno, of libseccomp's. */
int filter_build(const FilterVariant *v, struct sock_filter **ret, unsigned short *ret_length);
