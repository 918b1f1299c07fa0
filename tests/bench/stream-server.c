/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The server of stream-race: does what the Requests on its stdin ask for, until the end. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "stream.h"

static int serve(char *buffer) {
        Request request;
        int r = stream_read(STDIN_FILENO, &request, sizeof(request));

        if (r == 0 && (request.size > MESSAGE_MAX || request.answer > MESSAGE_MAX))
                r = EMSGSIZE;
        if (r == 0)
                r = stream_stay_on(request.processor);
        for (uint64_t i = 0; r == 0 && i < request.count; i++)
                r = stream_read(STDIN_FILENO, buffer, request.size);
        return r == 0 ? stream_write(STDOUT_FILENO, buffer, request.answer) : r;
}

int main(void) {
        char *buffer = calloc(1, MESSAGE_MAX);
        int r;

        if (!buffer)
                return EXIT_FAILURE;
        do
                r = serve(buffer);
        while (r == 0);
        free(buffer);
        return r == ENODATA ? EXIT_SUCCESS : EXIT_FAILURE;
}
