/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/arena.h"
#include "test.h"

TEST(what_is_taken_is_aligned_and_apart) {
        enum { N = 500 };
        unsigned char *parts[N];
        Arena *arena = NULL;

        for (size_t i = 0; i < N; i++) {
                parts[i] = arena_take(&arena, i);
                ASSERT_NOT_NULL(parts[i]);
                ASSERT_EQ((uintptr_t) parts[i] % _Alignof(max_align_t), 0);
                memset(parts[i], (int) (i % 251), i);
        }
        for (size_t i = 0; i < N; i++)
                for (size_t k = 0; k < i; k++)
                        if (parts[i][k] != i % 251)
                                test_fail(__FILE__, __LINE__, "part %zu was written over", i);
        ASSERT_NULL(arena_free(arena));
}

TEST(copies_of_strings) {
        char *word, *empty, *behind;
        Arena *arena = NULL;

        word = arena_copy(&arena, "one two", 3);
        empty = arena_copy(&arena, "", 0);
        ASSERT_NOT_NULL(word);
        ASSERT_NOT_NULL(empty);
        behind = arena_take(&arena, 1);
        ASSERT_EQ((uintptr_t) behind % _Alignof(max_align_t), 0);
        *behind = 'x';
        ASSERT_STREQ(word, "one");
        ASSERT_STREQ(empty, "");
        arena_free(arena);
}

TEST(arrays_that_grow) {
        Arena *arena = NULL;
        int *items = NULL;

        for (size_t n = 0; n < 1000; n++) {
                items = arena_grow(&arena, items, n, sizeof(int));
                ASSERT_NOT_NULL(items);
                items[n] = (int) n;
                /* What is taken in between is behind the array's room. */
                memset(arena_take(&arena, 8), 0xff, 8);
        }
        for (size_t n = 0; n < 1000; n++)
                ASSERT_EQ(items[n], (int) n);
        arena_free(arena);
}

TEST(room_that_was_made_is_used) {
        Arena *arena = NULL, *begun;

        ASSERT_OK(arena_begin(&arena, 100000));
        begun = arena;
        for (int i = 0; i < 100; i++)
                ASSERT_NOT_NULL(arena_take(&arena, 1000 - 16));
        ASSERT_TRUE(arena == begun);
        ASSERT_NOT_NULL(arena_take(&arena, 10000));
        ASSERT_TRUE(arena != begun);
        arena_free(arena);
}

TEST(more_than_there_is) {
        Arena *arena = NULL;
        char one = 0;

        ASSERT_NULL(arena_take(&arena, SIZE_MAX));
        ASSERT_NULL(arena_copy(&arena, &one, SIZE_MAX));
        ASSERT_NULL(arena_grow(&arena, NULL, SIZE_MAX / 4 + 1, 16));
        ASSERT_ERROR(arena_begin(&arena, SIZE_MAX), ENOMEM);
        ASSERT_NULL(arena);
        ASSERT_NOT_NULL(arena_take(&arena, 1));
        ASSERT_NULL(arena_take(&arena, SIZE_MAX / 2 + 1));
        arena_free(arena);
}
