/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mcp-supervisor: the program behind mcp-server@NAME.service. */

#include <getopt.h>
#include <signal.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "supervisor/server.h"
#include "supervisor/unserved.h"

static void help(void) {
        printf("mcp-supervisor --system|--user INSTANCE\n\n"
               "Serves one MCP server: what mcp-server@INSTANCE.service runs.\n\n"
               "      --system      for the system manager\n"
               "      --user        for the user's manager\n"
               "      --unserved    only tells clients why the service could not be started\n"
               "  -h, --help        show this\n"
               "      --version     show the version\n\n"
               "See mcp-supervisor(8).\n");
}

typedef struct Options {
        RuntimeScope scope;
        const char *instance;
        bool unserved;
} Options;

/* 1: go on; 0: done; -EINVAL. */
static int parse_options(int argc, char **argv, Options *ret) {
        enum { OPTION_SYSTEM = 256, OPTION_USER, OPTION_UNSERVED, OPTION_VERSION };
        static const struct option options[] = {
                { "system", no_argument, NULL, OPTION_SYSTEM },
                { "user", no_argument, NULL, OPTION_USER },
                { "unserved", no_argument, NULL, OPTION_UNSERVED },
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, OPTION_VERSION },
                {},
        };
        int c;

        *ret = (Options){ .scope = _RUNTIME_SCOPE_INVALID };
        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case OPTION_SYSTEM:
                        ret->scope = RUNTIME_SCOPE_SYSTEM;
                        break;
                case OPTION_USER:
                        ret->scope = RUNTIME_SCOPE_USER;
                        break;
                case OPTION_UNSERVED:
                        ret->unserved = true;
                        break;
                case 'h':
                        help();
                        return 0;
                case OPTION_VERSION:
                        printf("mcp-systemd " PROJECT_VERSION "\n");
                        return 0;
                default:
                        return -EINVAL;
                }
        if (ret->scope < 0 || optind != argc - 1) {
                fprintf(stderr,
                        "mcp-supervisor: expected --system or --user, and one instance (see --help).\n");
                return -EINVAL;
        }
        ret->instance = argv[optind];
        return 1;
}

/* A session holds six descriptors or so, and the soft limit is for programs that select(). Its child gets the limit that
 * the definition says. */
static void raise_descriptor_limit(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
}

static int run(const Options *options) {
        const int unserved = options->unserved ? unserved_status(environ) : 0;
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(server_freep) Server *server = NULL;
        int r;

        if (options->unserved && unserved == 0) {
                /* The supervisor was executed, and has answered its clients itself. */
                (void) sd_notify(false, "READY=1");
                return 0;
        }
        r = sd_event_default(&event);
        if (r >= 0)
                r = server_new(options->scope, options->instance, unserved, event, &server);
        if (r >= 0)
                r = server_start(server);
        return r < 0 ? r : sd_event_loop(event);
}

int main(int argc, char **argv) {
        static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
        Options options;
        sigset_t set;
        int r;

        r = parse_options(argc, argv, &options);
        if (r <= 0)
                return r < 0 ? EXIT_DEFINITION : stream_finish(stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        (void) sigemptyset(&set);
        for (size_t i = 0; i < ELEMENTSOF(signals); i++)
                (void) sigaddset(&set, signals[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return EXIT_FAILURE;
        raise_descriptor_limit();
        r = run(&options);
        if (r == -ENOTSOCK)
                fprintf(stderr,
                        "mcp-supervisor: there are no sockets to serve; start mcp-server@%s.socket.\n",
                        options.instance);
        else if (r < 0)
                fprintf(stderr, "mcp-supervisor: %s: %s.\n", options.instance, STRERROR(r));
        return r < 0 ? EXIT_FAILURE : r;
}
