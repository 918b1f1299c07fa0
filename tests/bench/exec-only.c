/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* exec-only COMMAND…: executes it, and does nothing before. What a sandbox costs beyond this is the sandbox. */

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[]) {
        if (argc > 1)
                (void) execv(argv[1], argv + 1);
        return EXIT_FAILURE;
}
