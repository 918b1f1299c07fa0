/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <endian.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "basic/string-util.h"
#include "supervisor/journal.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

int journal_open(Journal *ret) {
        const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
        const int size = 8 * 1024 * 1024;
        _cleanup_close_ int fd = -EBADF;

        *ret = (Journal){ .fd = -EBADF };
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        /* A burst of long lines may be on its way; what the kernel does not grant makes no difference. */
        if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        ret->fd = TAKE_FD(fd);
        return 0;
}

void journal_close(Journal *j) {
        j->fd = safe_close(j->fd);
}

static int encode_field(FILE *f, const char *field) {
        const char *value = strchr(field, '=');
        uint64_t size;

        if (!value)
                return -EINVAL;
        if (!strchr(value, '\n'))
                return fprintf(f, "%s\n", field) < 0 ? -ENOMEM : 0;
        size = htole64(strlen(value + 1));
        if (fprintf(f, "%.*s\n", (int) (value - field), field) < 0 ||
            fwrite(&size, sizeof(size), 1, f) != 1 || fprintf(f, "%s\n", value + 1) < 0)
                return -ENOMEM;
        return 0;
}

int journal_encode(char *const *fields, char **ret, size_t *ret_size) {
        _cleanup_free_ char *data = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&data, &size);
        int r = 0;

        if (!f)
                return -ENOMEM;
        STRV_FOREACH (field, fields) {
                r = encode_field(f, *field);
                if (r < 0)
                        break;
        }
        if (fclose(f) < 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret = TAKE_PTR(data);
        *ret_size = size;
        return 0;
}

static bool try_send(Journal *j, char *const *fields) {
        _cleanup_free_ char *data = NULL;
        size_t size;

        if (journal_encode(fields, &data, &size) < 0)
                return false;
        if (send(j->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
                return true;
        if (errno == ECONNREFUSED || errno == ENOTCONN || errno == ECONNRESET || errno == ENOENT) {
                /* journald was restarted: its socket is another one now. */
                Journal again;

                if (journal_open(&again) < 0)
                        return false;
                (void) safe_close(j->fd);
                j->fd = again.fd;
                return send(j->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
        }
        return false;
}

static void say_lost(Journal *j) {
        char message[80];
        char *fields[] = { message, (char *) "PRIORITY=4", NULL };

        (void) snprintf(message,
                        sizeof(message),
                        "MESSAGE=%llu record(s) were lost: journald did not take them.",
                        (unsigned long long) j->n_lost);
        if (try_send(j, fields))
                j->n_lost = 0;
}

static void write_to_stderr(char *const *fields) {
        STRV_FOREACH (field, fields) {
                const char *message = startswith(*field, "MESSAGE=");

                if (message)
                        (void) dprintf(STDERR_FILENO, "%s\n", message);
        }
}

void journal_send(Journal *j, char *const *fields) {
        if (j->fd < 0) {
                write_to_stderr(fields);
                return;
        }
        if (j->n_lost > 0)
                say_lost(j);
        if (!try_send(j, fields))
                j->n_lost++;
}
