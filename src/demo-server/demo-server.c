/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mcp-demo-server: reads requests from stdin, one a line, and answers them on stdout, in order. */

#include <getopt.h>
#include <poll.h>
#include <signal.h>

#include "basic/fd-util.h"
#include "basic/line-buffer.h"
#include "basic/mcp-protocol.h"
#include "basic/string-util.h"
#include "demo-server/protocol.h"

#define MESSAGE_MAX (64U * 1024U * 1024U)

/* The descriptors come from a client, which may have made them non-blocking for its own sake. */
static int wait_for(int fd, short events) {
        struct pollfd p = { .fd = fd, .events = events };

        if (poll(&p, 1, -1) < 0 && errno != EINTR)
                return -errno;
        return 0;
}

static int write_all(int fd, const char *data, size_t n) {
        while (n > 0) {
                ssize_t k = write(fd, data, n);
                int r;

                if (k >= 0) {
                        data += k;
                        n -= (size_t) k;
                        continue;
                }
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN)
                        return -errno;
                r = wait_for(fd, POLLOUT);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int send_message(json_object *message) {
        const char *text;
        size_t n;
        int r;

        text = jsonc_to_text(message, &n);
        if (!text)
                return -ENOMEM;
        r = write_all(STDOUT_FILENO, text, n);
        return r < 0 ? r : write_all(STDOUT_FILENO, "\n", 1);
}

/* Answers all lines that the buffer holds. */
static int serve_lines(Server *server, LineBuffer *buffer, bool *first) {
        for (;;) {
                _cleanup_jsonc_ json_object *answer = NULL;
                char *line;
                size_t n;
                int r;

                r = line_buffer_next(buffer, &line, &n);
                if (r == 0)
                        return 0;
                if (r == -EMSGSIZE) {
                        answer = server_error(MCP_ERROR_PARSE, "The message is larger than 64 MiB.");
                        r = answer ? 0 : -ENOMEM;
                } else {
                        /* RFC 8259 lets a parser ignore a byte order mark. */
                        size_t mark = *first && startswith(line, "\xef\xbb\xbf") ? 3 : 0;

                        r = server_answer(server, line + mark, n - mark, &answer);
                }
                *first = false;
                if (r >= 0 && answer)
                        r = send_message(answer);
                if (r < 0)
                        return r;
        }
}

static int serve(Server *server) {
        _cleanup_line_buffer_ LineBuffer buffer = LINE_BUFFER_INIT(MESSAGE_MAX);
        bool first = true;

        for (;;) {
                ssize_t n;
                int r;

                n = line_buffer_read(&buffer, STDIN_FILENO);
                if (n == -EAGAIN) {
                        r = wait_for(STDIN_FILENO, POLLIN);
                        if (r < 0)
                                return r;
                        continue;
                }
                if (n < 0)
                        return (int) n;
                if (n == 0)
                        return 0;
                r = serve_lines(server, &buffer, &first);
                if (r < 0)
                        return r;
        }
}

static void help(void) {
        printf("%s [OPTION]\n\n"
               "A small MCP server on stdin and stdout. Its tools read and write files, connect, run\n"
               "programs and send signals, and say what the kernel answered: they show what a sandbox\n"
               "lets through.\n\n"
               "  -h --help         Show this help\n"
               "     --version      Show the version\n"
               "     --legacy-only  Speak only the protocol versions that start with initialize\n"
               "     --modern-only  Speak only protocol version " MCP_VERSION_MODERN "\n",
               program_invocation_short_name);
}

/* 1: go on; 0: done; -EINVAL: said on stderr. */
static int parse_argv(int argc, char **argv, ServerMode *ret_mode) {
        enum {
                ARG_VERSION = 0x100,
                ARG_LEGACY_ONLY,
                ARG_MODERN_ONLY,
        };
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, ARG_VERSION },
                { "legacy-only", no_argument, NULL, ARG_LEGACY_ONLY },
                { "modern-only", no_argument, NULL, ARG_MODERN_ONLY },
                {},
        };
        ServerMode mode = SERVER_DUAL;
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        help();
                        return 0;
                case ARG_VERSION:
                        puts("mcp-demo-server " PROJECT_VERSION);
                        return 0;
                case ARG_LEGACY_ONLY:
                case ARG_MODERN_ONLY:
                        if (mode != SERVER_DUAL) {
                                fprintf(stderr,
                                        "%s: --legacy-only and --modern-only exclude each other.\n",
                                        program_invocation_short_name);
                                return -EINVAL;
                        }
                        mode = c == ARG_LEGACY_ONLY ? SERVER_LEGACY_ONLY : SERVER_MODERN_ONLY;
                        break;
                default:
                        return -EINVAL;
                }
        if (optind < argc) {
                fprintf(stderr,
                        "%s: no arguments are taken, only options.\n",
                        program_invocation_short_name);
                return -EINVAL;
        }
        *ret_mode = mode;
        return 1;
}

int main(int argc, char **argv) {
        Server server = {};
        int r;

        r = parse_argv(argc, argv, &server.mode);
        if (r <= 0)
                return r < 0 ? 2 : stream_finish(stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        /* The client going away is an end, not an accident. */
        if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
                fprintf(stderr, "%s: cannot ignore SIGPIPE: %m\n", program_invocation_short_name);
                return EXIT_FAILURE;
        }
        r = serve(&server);
        if (r < 0 && r != -EPIPE && r != -ECONNRESET) {
                fprintf(stderr, "%s: %s\n", program_invocation_short_name, STRERROR(r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
