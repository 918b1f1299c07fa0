/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs while we are built: prints every filter as C, in the order of FILTER_VARIANTS. */

#include <stdio.h>
#include <stdlib.h>

#include "basic/macro.h"
#include "sandbox/filter-build.h"

static const FilterVariant variants[] = { FILTER_VARIANTS };

static int print_filter(size_t number) {
        _cleanup_free_ struct sock_filter *filter = NULL;
        unsigned short length = 0;
        int r;

        r = filter_build(variants + number, &filter, &length);
        if (r < 0)
                return r;
        printf("static const struct sock_filter filter_%zu[] = {\n", number);
        for (unsigned short i = 0; i < length; i++)
                printf("        { 0x%x, %u, %u, 0x%x },\n",
                       filter[i].code,
                       filter[i].jt,
                       filter[i].jf,
                       filter[i].k);
        printf("};\n");
        return 0;
}

int main(void) {
        printf("/* Made by libseccomp from policy/syscalls.conf and src/sandbox/filter-build.c: do not "
               "edit. */\n");
        for (size_t i = 0; i < ELEMENTSOF(variants); i++)
                if (print_filter(i) < 0) {
                        (void) fprintf(stderr,
                                       "filter-compile: libseccomp cannot compile filter %zu. Is every name "
                                       "in "
                                       "policy/syscalls.conf right, and has each that it does not know its "
                                       "number?\n",
                                       i);
                        return EXIT_FAILURE;
                }
        printf("static const CompiledFilter compiled_filters[] = {\n");
        for (size_t i = 0; i < ELEMENTSOF(variants); i++)
                printf("        { filter_%zu, ELEMENTSOF(filter_%zu) },\n", i, i);
        printf("};\n");
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
