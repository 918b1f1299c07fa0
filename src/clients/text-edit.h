/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Changes of a text at places, so that everything else of a person's file stays byte for byte. */

#include "basic/macro.h"

typedef struct TextEdit {
        size_t from, to; /* bytes that go; equal: an insertion */
        char *text;      /* what comes there; NULL: nothing */
} TextEdit;

typedef struct TextEdits {
        TextEdit *items;
        size_t n_items;
} TextEdits;

void text_edits_done(TextEdits *edits);
#define _cleanup_text_edits_ _cleanup_(text_edits_done)

int text_edit_add(TextEdits *edits, size_t from, size_t to, const char *text); /* -ENOMEM */

/* -EINVAL where two edits overlap or lie outside. */
int text_edits_apply(TextEdits *edits, const char *text, size_t size, char **ret);

/* The byte at a line and column that count as basic/json.h does. -EINVAL: there is none. */
int text_offset(const char *text, size_t size, unsigned line, unsigned column, size_t *ret);
