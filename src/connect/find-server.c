/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "basic/string-util.h"
#include "connect/find-server.h"

#define SUFFIX ".connect"

static int list_servers(RuntimeScope scope, char ***ret) {
        _cleanup_free_ char *dir = NULL, *path = NULL;
        DIR *d;
        const struct dirent *e;
        int r;

        r = runtime_dir_find(scope, &dir);
        if (r < 0)
                return r;
        path = strformat("%s/mcp", dir);
        d = path ? opendir(path) : NULL;
        if (!d)
                return 0;
        while ((e = readdir(d))) {
                _cleanup_free_ char *instance = NULL, *name = NULL;

                if (!endswith(e->d_name, SUFFIX))
                        continue;
                instance = strndup(e->d_name, strlen(e->d_name) - strlen(SUFFIX));
                if (instance && server_name_unescape(instance, &name) >= 0)
                        (void) strv_consume(ret, TAKE_PTR(name));
        }
        (void) closedir(d);
        return 0;
}

static void say_not_there(RuntimeScope scope, const char *name, const char *instance) {
        _cleanup_strv_free_ char **names = NULL;
        _cleanup_free_ char *shown = string_escape_control(name);
        bool no_runtime_dir = false;
        const char *near;

        if (scope != RUNTIME_SCOPE_SYSTEM)
                no_runtime_dir = list_servers(RUNTIME_SCOPE_USER, &names) == -ENXIO;
        if (scope != RUNTIME_SCOPE_USER)
                (void) list_servers(RUNTIME_SCOPE_SYSTEM, &names);
        near = names ? string_nearest(name, (const char *const *) names) : NULL;
        fprintf(stderr, "mcp-connect: No server \"%s\" is listening.", strempty(shown));
        if (near)
                fprintf(stderr, " Did you mean \"%s\"? [MCP-X-NOT-LISTENING]\n", near);
        else
                fprintf(stderr,
                        " If it is defined, start its socket: systemctl%s start 'mcp-server@%s.socket'; "
                        "what is "
                        "defined, mcpctl list shows. [MCP-X-NOT-LISTENING]\n",
                        scope == RUNTIME_SCOPE_SYSTEM ? "" : " --user",
                        instance);
        if (no_runtime_dir)
                fprintf(stderr,
                        "mcp-connect: XDG_RUNTIME_DIR is not set, so servers of this user cannot be found. "
                        "Without a "
                        "login, let the user's manager run with: loginctl enable-linger "
                        "[MCP-X-NO-RUNTIME-DIR]\n");
}

static void say_why_not(
                RuntimeScope scope, const char *name, const char *instance, const char *path, int error) {
        _cleanup_free_ char *shown = string_escape_control(name);

        switch (-error) {
        case EACCES:
        case EPERM:
                fprintf(stderr,
                        "mcp-connect: You may not connect to \"%s\" (%s). %s [MCP-X-NO-ACCESS]\n",
                        strempty(shown),
                        path,
                        scope == RUNTIME_SCOPE_SYSTEM ? "Its definition's \"access\" says who may; without "
                                                        "one that is the group mcp "
                                                        "(usermod -aG mcp USER, then log in again)."
                                                      : "It belongs to another user.");
                break;
        case ECONNREFUSED:
                fprintf(stderr,
                        "mcp-connect: Nobody listens on %s. See: systemctl%s status "
                        "'mcp-server@%s.socket' [MCP-X-NOT-LISTENING]\n",
                        path,
                        scope == RUNTIME_SCOPE_SYSTEM ? "" : " --user",
                        instance);
                break;
        default:
                fprintf(stderr,
                        "mcp-connect: Cannot connect to %s: %s. [MCP-X-FAILED]\n",
                        path,
                        STRERROR(error));
        }
}

static int connect_to(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;

        if (strlen(path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        memcpy(address.sun_path, path, strlen(path) + 1);
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static int try_scope(RuntimeScope scope, const char *instance, char **ret_path) {
        _cleanup_free_ char *dir = NULL;
        int r;

        r = runtime_dir_find(scope, &dir);
        if (r < 0)
                return r == -ENXIO ? -ENOENT : r;
        r = server_socket_path(dir, instance, SOCKET_CONNECT, ret_path);
        return r < 0 ? r : connect_to(*ret_path);
}

int server_connect(RuntimeScope scope, const char *name) {
        _cleanup_free_ char *instance = NULL;
        int r;

        r = server_name_escape(name, &instance);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                _cleanup_free_ char *shown = string_escape_control(name);

                fprintf(stderr,
                        "mcp-connect: \"%s\" is not the name of a server. [MCP-X-USAGE]\n",
                        strempty(shown));
                return -EINVAL;
        }
        for (RuntimeScope s = _RUNTIME_SCOPE_MAX - 1; s >= 0; s--) {
                _cleanup_free_ char *path = NULL;

                if (scope >= 0 && scope != s)
                        continue;
                r = try_scope(s, instance, &path);
                if (r >= 0)
                        return r;
                if (r != -ENOENT) {
                        say_why_not(s, name, instance, strempty(path), r);
                        return r;
                }
        }
        say_not_there(scope, name, instance);
        return -ENOENT;
}
