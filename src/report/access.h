/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a path rule allows, in letters and words. */

#include "plan/plan.h"

typedef struct AccessWord {
        unsigned bit; /* Access */
        char letter;
        const char *word;
} AccessWord;

extern const AccessWord access_words[]; /* ends with word NULL */

/* The letters of access, in the table's order; buffer holds one more than there are. */
#define ACCESS_LETTERS_MAX 8
void access_letters(unsigned access, char buffer[static ACCESS_LETTERS_MAX]);
