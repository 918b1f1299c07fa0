/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each Landlock right is, and which rights a plan's Access means for a kind of file. The masks are nono's (capability
 * manifests 0.1.0): "read" includes execute there because the plan says so, not here. */

#include <sys/types.h>

#include "basic/macro.h"
#include "plan/landlock-bits.h"

typedef enum LandlockField {
        LANDLOCK_FIELD_FS,
        LANDLOCK_FIELD_NET,
        LANDLOCK_FIELD_SCOPE,
        _LANDLOCK_FIELD_MAX,
} LandlockField;

typedef struct LandlockRight {
        LandlockField field;
        uint64_t bit;
        const char *name; /* "write-file" */
        const char *help; /* what it gates, one line */
        int abi;          /* that brought it */
        bool file_legal;  /* may stand in a rule on something that is no directory (else EINVAL) */
} LandlockRight;

extern const LandlockRight landlock_rights[];
extern const size_t n_landlock_rights;

/* All bits of a field that abi knows. */
uint64_t landlock_rights_mask(LandlockField field, int abi);

typedef enum LandlockKind {
        LANDLOCK_KIND_DIRECTORY,
        LANDLOCK_KIND_FILE,   /* regular files, FIFOs */
        LANDLOCK_KIND_DEVICE, /* character and block devices */
        LANDLOCK_KIND_SOCKET,
} LandlockKind;
LandlockKind landlock_kind_of_mode(mode_t mode);

/* The file rights that access (Access of plan/plan.h) means for something of that kind, cut to handled. 0: a rule would
 * be empty. */
uint64_t landlock_rights_for(unsigned access, LandlockKind kind, uint64_t handled);
