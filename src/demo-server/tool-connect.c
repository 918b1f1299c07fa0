/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tool that tries a connection: which ones the sandbox lets through is one of the first questions. */

#include <netdb.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "basic/string-util.h"
#include "demo-server/tools.h"

#define TIMEOUT_DEFAULT_MS 5000

DEFINE_TRIVIAL_CLEANUP_FUNC(struct addrinfo *, freeaddrinfo);

/* 0, or the negative errno of the call that *ret_call names. */
static int try_connect(
                int family, const struct sockaddr *sa, socklen_t n, int timeout_ms, const char **ret_call) {
        _cleanup_close_ int fd = -EBADF;
        struct pollfd p = { .events = POLLOUT };
        int error = 0;
        socklen_t size = sizeof(error);

        *ret_call = "socket";
        fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        *ret_call = "connect";
        if (connect(fd, sa, n) >= 0)
                return 0;
        if (errno != EINPROGRESS)
                return -errno;
        p.fd = fd;
        switch (RET_NERRNO(poll(&p, 1, timeout_ms))) {
        case 0:
                return -ETIMEDOUT;
        case 1:
                if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
                        return -errno;
                return -error;
        default:
                return -errno;
        }
}

static int connect_unix(const char *path, int timeout_ms, ToolResult *result) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        size_t n = strlen(path);
        const char *call;
        int r;

        if (n >= sizeof(sa.sun_path))
                return tool_fail(result, ENAMETOOLONG, "connect(%s)", path);
        memcpy(sa.sun_path, path, n);
        if (path[0] == '@')
                sa.sun_path[0] = 0;
        else
                n++;
        r = try_connect(AF_UNIX,
                        (const struct sockaddr *) &sa,
                        (socklen_t) (offsetof(struct sockaddr_un, sun_path) + n),
                        timeout_ms,
                        &call);
        if (r < 0)
                return tool_fail(result, r, "%s(%s)", call, path);
        return tool_text(result, "Connected to %s.", path);
}

static int connect_tcp(const char *host, int64_t port, int timeout_ms, ToolResult *result) {
        _cleanup_(freeaddrinfop) struct addrinfo *list = NULL;
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
        const char *call = "connect";
        char service[32];
        int r, error = -EADDRNOTAVAIL;

        (void) snprintf(service, sizeof(service), "%" PRIi64, port);
        r = getaddrinfo(host, service, &hints, &list);
        if (r == EAI_SYSTEM)
                return tool_fail(result, errno, "getaddrinfo(%s)", host);
        if (r != 0)
                return tool_fail(result, EADDRNOTAVAIL, "getaddrinfo(%s): %s", host, gai_strerror(r));
        for (const struct addrinfo *i = list; i; i = i->ai_next) {
                error = try_connect(i->ai_family, i->ai_addr, i->ai_addrlen, timeout_ms, &call);
                if (error >= 0)
                        return tool_text(result, "Connected to %s port %" PRIi64 ".", host, port);
        }
        return tool_fail(result, error, "%s(%s port %" PRIi64 ")", call, host, port);
}

int tool_connect(json_object *arguments, ToolResult *result) {
        const char *host = jsonc_get_string(arguments, "host"), *path = jsonc_get_string(arguments, "path");
        int64_t port = tool_integer(arguments, "port", 0);
        int timeout_ms = (int) tool_integer(arguments, "timeout_ms", TIMEOUT_DEFAULT_MS);

        if (path && !host && port == 0)
                return connect_unix(path, timeout_ms, result);
        if (host && port > 0 && !path)
                return connect_tcp(host, port, timeout_ms, result);
        return tool_fail(result, EINVAL, "connect needs either \"host\" and \"port\", or \"path\"");
}
