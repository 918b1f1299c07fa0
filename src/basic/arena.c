/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/arena.h"

#define ROOM_MIN  2048U
#define ROOM_MAX  (1024U * 1024U)
#define ITEMS_MIN 4U

struct Arena {
        Arena *older;
        size_t used, room; /* of data */
        _Alignas(max_align_t) char data[];
};

int arena_begin(Arena **arena, size_t room) {
        Arena *a;

        if (room > SIZE_MAX / 2)
                return -ENOMEM;
        a = malloc(sizeof(Arena) + room);
        if (!a)
                return -ENOMEM;
        *a = (Arena){ .older = *arena, .room = room };
        *arena = a;
        return 0;
}

/* Of the newest block, or of another one. */
static char *take_bytes(Arena **arena, size_t size) {
        Arena *a = *arena;
        char *p;

        if (!a || a->room - a->used < size) {
                size_t room = a ? MIN(a->room * 2, (size_t) ROOM_MAX) : ROOM_MIN;

                if (arena_begin(arena, MAX(room, size)) < 0)
                        return NULL;
                a = *arena;
        }
        p = a->data + a->used;
        a->used += size;
        return p;
}

void *arena_take(Arena **arena, size_t size) {
        const size_t mask = _Alignof(max_align_t) - 1;
        Arena *a = *arena;

        /* At most its end. */
        if (a)
                a->used = MIN((a->used + mask) & ~mask, a->room);
        return take_bytes(arena, size);
}

char *arena_copy(Arena **arena, const char *s, size_t n) {
        char *copy = n < SIZE_MAX ? take_bytes(arena, n + 1) : NULL;

        if (!copy)
                return NULL;
        memcpy(copy, s, n);
        copy[n] = 0;
        return copy;
}

/* The capacity is the next power of two of n, and ITEMS_MIN at least. */
void *arena_grow(Arena **arena, void *items, size_t n, size_t item_size) {
        size_t wanted = MAX(n * 2, (size_t) ITEMS_MIN), size;
        void *grown;

        if (n > 0 && (n < ITEMS_MIN || (n & (n - 1)) != 0))
                return items;
        if (__builtin_mul_overflow(wanted, item_size, &size))
                return NULL;
        grown = arena_take(arena, size);
        if (grown && n > 0)
                memcpy(grown, items, n * item_size);
        return grown;
}

Arena *arena_free(Arena *arena) {
        while (arena) {
                Arena *older = arena->older;

                free(arena);
                arena = older;
        }
        return NULL;
}
