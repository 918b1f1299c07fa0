/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the supervisor's two kinds of children have of its memory. */

#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "basic/fd-util.h"
#include "supervisor/fork.h"

static int in_data = 3;
static char in_bss[64 * 1024]; /* enough for pages of its own, behind which the heap may begin */

static bool is_there(const void *p) {
        const uintptr_t page = (uintptr_t) getpagesize();

        return msync((void *) ((uintptr_t) p & ~(page - 1)), page, MS_ASYNC) >= 0;
}

static bool bss_is_there(void) {
        for (size_t i = 0; i < sizeof(in_bss); i += (size_t) getpagesize())
                if (!is_there(in_bss + i))
                        return false;
        return is_there(in_bss + sizeof(in_bss) - 1);
}

enum {
        HAS_STACK = 1 << 0,
        HAS_DATA = 1 << 1,
        HAS_MAPPED = 1 << 2,
        HAS_HEAP = 1 << 3,
        HAS_LIBRARY = 1 << 4,
        HAS_ALL = HAS_STACK | HAS_DATA | HAS_MAPPED | HAS_HEAP | HAS_LIBRARY,
        HAS_WHAT_IT_NEEDS = HAS_STACK | HAS_DATA | HAS_MAPPED,
};

/* What of the caller's memory a child finds. */
static int look(pid_t (*fork_child)(void)) {
        int on_stack = 1, status, *mapped;
        int *allocated = malloc(sizeof(int));
        pid_t pid;

        ASSERT_NOT_NULL(allocated);
        mapped = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_TRUE(mapped != MAP_FAILED);
        *mapped = 2;
        pid = fork_child();
        ASSERT_OK(pid);
        if (pid == 0)
                _exit((on_stack == 1 ? HAS_STACK : 0) | (in_data == 3 && bss_is_there() ? HAS_DATA : 0) |
                      (is_there(mapped) && *mapped == 2 ? HAS_MAPPED : 0) |
                      (is_there(allocated) ? HAS_HEAP : 0) |
                      (is_there((const void *) (uintptr_t) sd_bus_get_unique_name) ? HAS_LIBRARY : 0));
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_TRUE(WIFEXITED(status));
        (void) munmap(mapped, sizeof(int));
        free(allocated);
        return WEXITSTATUS(status);
}

/* A sanitizer's allocator is not brk(2)'s, and stays. A machine that preloads for every program has whole children. */
static int lean(void) {
        struct stat st;
        char *p;
        bool from_brk;

        if (stat("/etc/ld.so.preload", &st) >= 0 && st.st_size > 0)
                return HAS_ALL;
        p = malloc(1);
        from_brk = p < (char *) sbrk(0) && p > (char *) &in_data;

        free(p);
        return from_brk ? HAS_WHAT_IT_NEEDS : HAS_WHAT_IT_NEEDS | HAS_HEAP;
}

TEST(a_lean_child_has_what_it_needs_and_no_more) {
        ASSERT_OK(setenv("LD_BIND_NOW", "1", 1));
        ASSERT_EQ(look(fork_lean), lean());
}

TEST(a_whole_child_has_all_also_after_a_lean_one) {
        ASSERT_OK(setenv("LD_BIND_NOW", "1", 1));
        ASSERT_EQ(look(fork_whole), HAS_ALL);
        ASSERT_EQ(look(fork_lean), lean());
        ASSERT_EQ(look(fork_whole), HAS_ALL);
}

TEST(what_the_heap_has_grown_by_is_left_out_as_well) {
        enum { BLOCKS = 256, BLOCK = 16 * 1024 };
        char *blocks[BLOCKS];

        ASSERT_OK(setenv("LD_BIND_NOW", "1", 1));
        ASSERT_EQ(look(fork_lean), lean());
        for (size_t i = 0; i < BLOCKS; i++) {
                blocks[i] = malloc(BLOCK);
                ASSERT_NOT_NULL(blocks[i]);
                memset(blocks[i], 1, BLOCK);
        }
        ASSERT_EQ(look(fork_lean), lean());
        for (size_t i = 0; i < BLOCKS; i++)
                free(blocks[i]);
        ASSERT_EQ(look(fork_lean), lean());
}

/* With kernel.randomize_va_space below 2, or by personality(2), the heap is right behind static data, and some kernels call both
 * by its name. */
TEST(static_data_is_not_taken_for_the_heap_behind_it) {
        int status;
        pid_t pid;

        if (personality(0xffffffff) & ADDR_NO_RANDOMIZE)
                SKIP("this is that run already");
        pid = fork_whole();
        ASSERT_OK(pid);
        if (pid == 0) {
                if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || personality(ADDR_NO_RANDOMIZE) < 0)
                        _exit(77);
                (void) execl("/proc/self/exe", "test-fork", NULL);
                _exit(EXIT_FAILURE);
        }
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
                SKIP("personality(2) is not allowed");
        ASSERT_EQ(status, 0);
}

/* Whoever looks up a symbol reads every library's tables. */
TEST(nothing_is_left_out_where_symbols_may_be_looked_up) {
        static const char *const loads[] = { "LD_PRELOAD", "LD_AUDIT" };

        ASSERT_EQ(look(fork_whole), HAS_ALL);
        ASSERT_OK(unsetenv("LD_BIND_NOW"));
        ASSERT_EQ(look(fork_lean), HAS_ALL);
        ASSERT_OK(setenv("LD_BIND_NOW", "1", 1));
        for (size_t i = 0; i < ELEMENTSOF(loads); i++) {
                ASSERT_OK(setenv(loads[i], "libsomething.so", 1));
                ASSERT_EQ(look(fork_lean), HAS_ALL);
                ASSERT_OK(unsetenv(loads[i]));
        }
}

/* A last close() that may wait is left to a child, which has no heap to look into either. */
TEST(descriptors_are_closed_aside_without_the_heap) {
        int fds[2];

        ASSERT_OK(setenv("LD_BIND_NOW", "1", 1));
        ASSERT_EQ(look(fork_lean), lean());
        fds[0] = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        fds[1] = -EBADF;
        ASSERT_OK(fds[0]);
        fds_close_aside(fds, ELEMENTSOF(fds));
        ASSERT_EQ(fds[0], -EBADF);
        ASSERT_EQ(waitpid(-1, NULL, WNOHANG), -1);
}
