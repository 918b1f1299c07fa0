/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "supervisor/fork.h"

#define MAPS_MAX (1024U * 1024U)

/* libsystemd, what it is linked with (to libm since version 257, to compressors and libgcrypt before), and json-c. */
static bool only_the_loop_uses(const char *library) {
        static const char *const names[] = {
                "libsystemd.so.", "libcap.so.",  "libgcrypt.so.", "libgpg-error.so.", "libjson-c.so.",
                "liblz4.so.",     "liblzma.so.", "libm.so.",      "libzstd.so.",
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (startswith(library, names[i]))
                        return true;
        return false;
}

static int advise_library(struct dl_phdr_info *library, size_t size, void *userdata) {
        const uintptr_t page = (uintptr_t) getpagesize();
        const int *advice = userdata;

        if (!only_the_loop_uses(path_basename(strempty(library->dlpi_name))))
                return 0;
        for (size_t i = 0; i < library->dlpi_phnum; i++) {
                const ElfW(Phdr) *segment = library->dlpi_phdr + i;
                uintptr_t start = library->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;

                if (segment->p_type != PT_LOAD)
                        continue;
                start &= ~(page - 1);
                end = (end + page - 1) & ~(page - 1);
                if (madvise((void *) start, end - start, *advice) < 0)
                        return -errno;
        }
        return 0;
}

/* malloc()'s. NULL: it is not known, or not of this kind. */
static struct { char *start, *end; } heap;

/* Where brk(2) began only the kernel tells; sbrk(0) knows where it ends. Not random (kernel.randomize_va_space below 2) it
 * began where static data ends, and what the kernel tells are both as one. */
static char *find_heap(void) {
        extern char end[]; /* end(3) */
        const uintptr_t page = (uintptr_t) getpagesize(),
                        data_end = ((uintptr_t) end + page - 1) & ~(page - 1);
        _cleanup_free_ char *maps = NULL;
        unsigned long start;
        char *line;

        if (file_read_at(AT_FDCWD, "/proc/self/maps", MAPS_MAX, &maps, NULL) < 0)
                return NULL;
        line = strstr(maps, " [heap]\n");
        if (!line)
                return NULL;
        while (line > maps && line[-1] != '\n')
                line--;
        return sscanf(line, "%lx-", &start) == 1 ? (char *) MAX(start, data_end) : NULL;
}

static int advise_heap(int advice) {
        const uintptr_t page = (uintptr_t) getpagesize();

        heap.end = sbrk(0);
        if (!heap.start || heap.end <= heap.start)
                return 0;
        return RET_NERRNO(madvise(
                        heap.start, ((uintptr_t) (heap.end - heap.start) + page - 1) & ~(page - 1), advice));
}

/* In what a machine preloads everywhere anything can be behind execve() and all else that a child calls: loggers of commands
 * look symbols up and allocate there. What is loaded stays, whatever becomes of the file. */
static bool machine_preloads(void) {
        static int preloads = -1;
        struct stat st;

        if (preloads < 0)
                preloads = stat("/etc/ld.so.preload", &st) >= 0 && st.st_size > 0;
        return preloads > 0;
}

static bool all_symbols_are_bound(void) {
        return !isempty(getenv("LD_BIND_NOW")) && isempty(getenv("LD_PRELOAD")) &&
               isempty(getenv("LD_AUDIT")) && !machine_preloads();
}

/* What is left out now. */
static bool lean;

pid_t fork_lean(void) {
        int advice = MADV_DONTFORK;

        /* Where it does not work, or for some of it only, that costs time, and nothing else. */
        if (!lean && all_symbols_are_bound()) {
                lean = true;
                (void) dl_iterate_phdr(advise_library, &advice);
                heap.start = heap.start ?: find_heap();
                (void) advise_heap(advice);
        } else if (lean && sbrk(0) != heap.end)
                (void) advise_heap(advice);
        return _Fork();
}

pid_t fork_whole(void) {
        int advice = MADV_DOFORK, r;

        if (lean) {
                r = dl_iterate_phdr(advise_library, &advice);
                if (r >= 0)
                        r = advise_heap(advice);
                if (r < 0) {
                        errno = -r;
                        return -1;
                }
                lean = false;
        }
        return fork();
}
