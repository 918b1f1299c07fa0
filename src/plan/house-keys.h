/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Paths that are keys to the house (policy/keys.conf), expanded for one host: who may write there can have code run
 * outside the sandbox. */

#include "plan/host-facts.h"

typedef struct HouseKey {
        const char *path; /* as the policy says it, expanded; static, or in expanded */
        char *resolved;   /* where it leads; NULL: the same as path, or not there */
        const char *reason;
        const char *in_homes; /* without the "~/": in every home below /home, where no one person's is meant; NULL */
} HouseKey;

typedef struct HouseKeys {
        HouseKey *items;
        size_t n_items;
        char *expanded; /* the paths that had to be made, one behind the other */
} HouseKeys;

int house_keys_init(const HostFacts *host, HouseKeys *ret);
void house_keys_done(HouseKeys *keys);
#define _cleanup_house_keys_ _cleanup_(house_keys_done)

/* The first key that resolved contains or lies in, compared component by component; NULL: none. */
const HouseKey *house_keys_find(const HouseKeys *keys, const char *resolved);
