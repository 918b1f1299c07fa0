/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a fuzz target over its corpus: every file of the directory that is given, one TAP case each. */

#include <dirent.h>
#include <fcntl.h>

#include "basic/fd-util.h"
#include "fuzz.h"

#define INPUT_MAX (64U * 1024U * 1024U)

static int is_input(const struct dirent *entry) {
        return entry->d_name[0] != '.';
}

static int run_file(int dir_fd, const char *name) {
        _cleanup_free_ char *data = NULL;
        size_t n;
        int r;

        r = file_read_at(dir_fd, name, INPUT_MAX, &data, &n);
        if (r < 0)
                return r;
        (void) LLVMFuzzerTestOneInput((const uint8_t *) data, n);
        return 0;
}

int main(int argc, char **argv) {
        _cleanup_close_ int dir_fd = -EBADF;
        struct dirent **entries;
        int n, failed = 0;

        if (argc != 2) {
                fprintf(stderr, "Usage: %s CORPUS-DIRECTORY\n", program_invocation_short_name);
                return 2;
        }
        dir_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        n = dir_fd < 0 ? -1 : scandirat(dir_fd, ".", &entries, is_input, alphasort);
        if (n <= 0) {
                printf("Bail out! %s: %s\n", argv[1], n < 0 ? STRERROR(errno) : "there is no input in it");
                return 1;
        }
        printf("1..%d\n", n);
        (void) setvbuf(stdout, NULL, _IOLBF, 0);
        for (int i = 0; i < n; i++) {
                int r = run_file(dir_fd, entries[i]->d_name);

                printf("%sok %d - %s\n", r < 0 ? "not " : "", i + 1, entries[i]->d_name);
                if (r < 0)
                        printf("# %s\n", STRERROR(r));
                failed += r < 0;
                free(entries[i]);
        }
        free(entries);
        return failed > 0;
}
