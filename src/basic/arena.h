/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Memory that is given up as a whole: for trees and records of many small parts, each of which would cost more to
 * allocate and to free than to fill. At first an arena is NULL. Memory is not initialized, and NULL means that there is
 * none. */

#include "basic/macro.h"

typedef struct Arena Arena;

/* Makes room for that much at once, where it is known about how much it will be. */
int arena_begin(Arena **arena, size_t room);

void *arena_take(Arena **arena, size_t size);
char *arena_copy(Arena **arena, const char *s, size_t n); /* n bytes and a NUL */

/* The n items of an array that only ever grew here (NULL: none), where there is room for one more now. */
void *arena_grow(Arena **arena, void *items, size_t n, size_t item_size);

Arena *arena_free(Arena *arena); /* takes NULL, and returns it */
