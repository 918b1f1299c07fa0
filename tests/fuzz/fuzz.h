/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A fuzz target is one function in fuzz-NAME.c. libFuzzer calls it with what it makes up (meson option "fuzzers",
 * program fuzzer-NAME); fuzz-main.c calls it with every file of corpus/NAME, as a test. */

#include <stdint.h>

#include "basic/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for any input: the fuzzer sees an abort, and the corpus test too. */
#define FUZZ_ASSERT(x)           \
        ({                       \
                if (!(x))        \
                        abort(); \
        })
