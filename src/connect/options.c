/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <getopt.h>

#include "basic/ssh.h"
#include "basic/string-util.h"
#include "connect/options.h"

#define DEFAULT_TIMEOUT_USEC (90ULL * 1000000ULL)
#define TIMEOUT_SECONDS_MAX  86400UL

void connect_options_done(ConnectOptions *o) {
        o->env = strv_free(o->env);
        o->env_names = strv_free(o->env_names);
}

static void help(FILE *f) {
        fprintf(f,
                "mcp-connect [OPTION...] NAME\n\n"
                "Hands standard input, output and error to the MCP server NAME, waits for it, and\n"
                "exits with its status. This is the command for the configuration of an MCP\n"
                "client.\n\n"
                "      --user            the server of this user's manager\n"
                "      --system          the server of the system manager\n"
                "                        (without either: the user's, else the system's)\n"
                "  -H, --host HOST       the server of another machine, over ssh ([USER@]HOST)\n"
                "      --env NAME        pass this variable through; the server's\n"
                "                        sessions.accept_env must name it\n"
                "      --timeout SECONDS how long the server's start may take (90)\n"
                "  -q, --quiet           do not say that the server is still starting\n"
                "  -h, --help            show this\n"
                "      --version         show the version\n\n"
                "See mcp-connect(1).\n");
}

static int take_env(ConnectOptions *o, const char *name) {
        const char *value = getenv(name);

        if (!env_name_is_valid(name)) {
                fprintf(stderr, "mcp-connect: \"%s\" is not the name of a variable. [MCP-X-USAGE]\n", name);
                return -EINVAL;
        }
        if (strv_extend(&o->env_names, name) < 0)
                return -ENOMEM;
        /* Not set here: nothing to pass, as with every program that inherits an environment. */
        return value ? strv_extendf(&o->env, "%s=%s", name, value) : 0;
}

static int take_timeout(ConnectOptions *o, const char *text) {
        unsigned long seconds;
        char *end;

        errno = 0;
        seconds = strtoul(text, &end, 10);
        if (errno > 0 || end == text || *end != 0 || *text == '-' || seconds == 0 ||
            seconds > TIMEOUT_SECONDS_MAX) {
                fprintf(stderr,
                        "mcp-connect: --timeout takes seconds from 1 to %lu. [MCP-X-USAGE]\n",
                        TIMEOUT_SECONDS_MAX);
                return -EINVAL;
        }
        o->timeout = text;
        o->timeout_usec = (uint64_t) seconds * 1000000U;
        return 0;
}

static int take_host(ConnectOptions *o, const char *text) {
        if (!ssh_host_is_valid(text)) {
                fprintf(stderr, "mcp-connect: --host takes HOST or USER@HOST. [MCP-X-USAGE]\n");
                return -EINVAL;
        }
        o->host = text;
        return 0;
}

int connect_options_parse(int argc, char **argv, ConnectOptions *ret) {
        enum { OPTION_SYSTEM = 256, OPTION_USER, OPTION_ENV, OPTION_TIMEOUT, OPTION_VERSION };
        static const struct option options[] = {
                { "system", no_argument, NULL, OPTION_SYSTEM },
                { "user", no_argument, NULL, OPTION_USER },
                { "host", required_argument, NULL, 'H' },
                { "env", required_argument, NULL, OPTION_ENV },
                { "timeout", required_argument, NULL, OPTION_TIMEOUT },
                { "quiet", no_argument, NULL, 'q' },
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, OPTION_VERSION },
                {},
        };
        _cleanup_(connect_options_done) ConnectOptions o = {
                .scope = _RUNTIME_SCOPE_INVALID,
                .timeout_usec = DEFAULT_TIMEOUT_USEC,
        };
        int c, r = 0;

        while (r >= 0 && (c = getopt_long(argc, argv, "+hqH:", options, NULL)) >= 0)
                switch (c) {
                case OPTION_SYSTEM:
                        o.scope = RUNTIME_SCOPE_SYSTEM;
                        break;
                case OPTION_USER:
                        o.scope = RUNTIME_SCOPE_USER;
                        break;
                case 'H':
                        r = take_host(&o, optarg);
                        break;
                case OPTION_ENV:
                        r = take_env(&o, optarg);
                        break;
                case OPTION_TIMEOUT:
                        r = take_timeout(&o, optarg);
                        break;
                case 'q':
                        o.quiet = true;
                        break;
                case 'h':
                        help(stdout);
                        return 0;
                case OPTION_VERSION:
                        printf("mcp-systemd " PROJECT_VERSION "\n");
                        return 0;
                default:
                        r = -EINVAL;
                }
        if (r < 0)
                return r;
        if (optind != argc - 1) {
                fprintf(stderr,
                        "mcp-connect: Name one server: mcp-connect [OPTION...] NAME; \"mcpctl list\" shows "
                        "them. [MCP-X-USAGE]\n");
                return -EINVAL;
        }
        o.name = argv[optind];
        *ret = TAKE_GENERIC(o, ConnectOptions, (ConnectOptions){});
        return 1;
}
