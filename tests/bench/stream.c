/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "stream.h"

int stream_read(int fd, void *data, size_t size) {
        for (char *p = data; size > 0;) {
                ssize_t n = read(fd, p, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? errno : ENODATA;
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

int stream_write(int fd, const void *data, size_t size) {
        for (const char *p = data; size > 0;) {
                ssize_t n = write(fd, p, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno;
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

int stream_stay_on(uint64_t processor) {
        cpu_set_t set;

        if (processor == 0)
                return 0;
        CPU_ZERO(&set);
        CPU_SET(processor - 1, &set);
        return sched_setaffinity(0, sizeof(set), &set) < 0 ? errno : 0;
}
