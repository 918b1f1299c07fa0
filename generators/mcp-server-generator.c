/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Definitions in, unit files out: systemd.generator(7). Runs in early boot and at every daemon-reload, so it asks nobody
 * anything (no NSS, no bus), starts nothing, and writes to the given directory alone. */

#include <fcntl.h>
#include <getopt.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

#include "server-units.h"

#define KMSG_MAX 900U /* a record of /dev/kmsg is cut at 1024 bytes, its prefix included */

extern char **environ;

typedef struct Arguments {
        const char *root; /* "": the machine itself */
        const char *normal_dir;
        bool done; /* --help or --version was answered */
} Arguments;

/* The journal is not there yet in early boot, the kernel's log is (systemd.generator(7)). A user's generator may not
 * write to it; what it says on stderr is the user manager's. */
typedef struct Log {
        int kmsg_fd;
} Log;

static void log_line(const Log *log, ProblemLevel level, const char *text) {
        static const int priorities[_PROBLEM_LEVEL_MAX] = {
                [PROBLEM_ERROR] = 3,
                [PROBLEM_WARNING] = 4,
                [PROBLEM_NOTE] = 6,
        };
        char line[KMSG_MAX];
        int n;

        if (log->kmsg_fd < 0) {
                (void) fprintf(stderr, "mcp-server-generator: %s\n", text);
                return;
        }
        n = snprintf(line,
                     sizeof(line),
                     "<%d>mcp-server-generator[%d]: %s",
                     priorities[level],
                     (int) getpid(),
                     text);
        if (n > 0)
                (void) fd_write_all(log->kmsg_fd, line, MIN((size_t) n, sizeof(line) - 1));
}

/* A server's first error or warning, and how many more there are: the supervisor and mcpctl check say all of them. */
static void log_problems(const Log *log, const ProblemList *list) {
        const Problem *first = NULL;
        size_t n = 0;

        for (size_t i = 0; i < list->n_items; i++) {
                const Problem *p = &list->items[i];

                if (p->level == PROBLEM_NOTE)
                        continue;
                if (!first || p->level < first->level)
                        first = p;
                n++;
        }
        if (first) {
                _cleanup_free_ char *text = problem_format(first), *full = NULL;

                if (text && n > 1)
                        full = strformat("%s (and %zu more)", text, n - 1);
                log_line(log, first->level, full ?: text ?: "Out of memory.");
        }
}

static RuntimeScope find_scope(const char *normal_dir) {
        const char *scope = getenv("SYSTEMD_SCOPE");

        if (scope && streq(scope, runtime_scope_to_string(RUNTIME_SCOPE_USER)))
                return RUNTIME_SCOPE_USER;
        if (scope && streq(scope, runtime_scope_to_string(RUNTIME_SCOPE_SYSTEM)))
                return RUNTIME_SCOPE_SYSTEM;
        /* Only a generator that is called by hand gets here: the variable is there since systemd 251. */
        return geteuid() == 0 && path_startswith(normal_dir, "/run/systemd") ? RUNTIME_SCOPE_SYSTEM
                                                                             : RUNTIME_SCOPE_USER;
}

static void log_write_error(const Log *log, const ServerEntry *entry, int error) {
        _cleanup_free_ char *text = NULL, *escaped = NULL;

        text = error == -EEXIST ? strformat("%s: There are units of this name already.",
                                            strempty(entry->file))
                                : strformat("%s: Cannot write its units: %s.",
                                            strempty(entry->file),
                                            STRERROR(error));
        escaped = text ? string_escape_control(text) : NULL;
        log_line(log, PROBLEM_ERROR, escaped ?: "Out of memory.");
}

/* One server that fails costs no other one. Returns the first failure to write. */
static int write_all(const UnitsContext *context, const ServerList *list, const Log *log) {
        int result = 0;

        for (size_t i = 0; i < list->n_items; i++) {
                _cleanup_problems_ ProblemList problems = {};
                const ServerEntry *entry = &list->items[i];
                int r;

                log_problems(log, &entry->problems);
                if (!server_has_units(entry))
                        continue;
                r = server_units_write(context, entry, &problems);
                log_problems(log, &problems);
                if (r < 0) {
                        log_write_error(log, entry, r);
                        if (r != -EEXIST && result == 0)
                                result = r;
                }
        }
        return result;
}

static int generate(const Arguments *arguments, RuntimeScope scope, const Log *log) {
        _cleanup_config_paths_ ConfigPaths paths = {};
        _cleanup_server_list_ ServerList list = {};
        _cleanup_close_ int dir_fd = -EBADF;
        UnitsContext context = { .scope = scope, .root = arguments->root, .env = environ };
        int r;

        dir_fd = open(arguments->normal_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;
        context.dir_fd = dir_fd;
        r = config_paths_init(scope, arguments->root, environ, &paths);
        if (r < 0)
                return r;
        r = server_list_load(&paths, &list);
        log_problems(log, &list.problems);
        if (r < 0)
                return r;
        return write_all(&context, &list, log);
}

static int usage(FILE *f) {
        return fprintf(f,
                       "Usage: mcp-server-generator [--root=DIR] NORMAL-DIR [EARLY-DIR LATE-DIR]\n"
                       "\n"
                       "Writes units for all MCP server definitions to NORMAL-DIR. systemd calls it.\n"
                       "\n"
                       "  --root=DIR   read the definitions of the image in DIR\n"
                       "  --help       show this text\n"
                       "  --version    show the version\n"
                       "\n"
                       "SYSTEMD_SCOPE=system or user says whose definitions are read.\n") < 0
                               ? -EIO
                               : 0;
}

static int parse_arguments(int argc, char **argv, Arguments *ret) {
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, 'v' },
                { "root", required_argument, NULL, 'r' },
                {},
        };
        Arguments a = { .root = "" };
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        ret->done = true;
                        return usage(stdout);
                case 'v':
                        ret->done = true;
                        return printf("mcp-server-generator %s\n", PROJECT_VERSION) < 0 ? -EIO : 0;
                case 'r':
                        a.root = streq(optarg, "/") ? "" : optarg;
                        break;
                default:
                        return -EINVAL;
                }
        if (argc - optind != 1 && argc - optind != 3) {
                (void) usage(stderr);
                return -EINVAL;
        }
        a.normal_dir = argv[optind];
        *ret = a;
        return 0;
}

int main(int argc, char **argv) {
        _cleanup_close_ int kmsg_fd = -EBADF;
        Arguments arguments = {};
        const char *initrd;
        RuntimeScope scope;
        Log log;
        int r;

        r = parse_arguments(argc, argv, &arguments);
        if (r < 0 || arguments.done)
                return r < 0 ? 2 : 0;
        initrd = getenv("SYSTEMD_IN_INITRD");
        if (initrd && streq(initrd, "1"))
                return 0;
        scope = find_scope(arguments.normal_dir);
        if (scope == RUNTIME_SCOPE_SYSTEM && isempty(arguments.root))
                kmsg_fd = open("/dev/kmsg", O_WRONLY | O_NOCTTY | O_CLOEXEC);
        log = (Log){ .kmsg_fd = kmsg_fd };

        r = generate(&arguments, scope, &log);
        if (r < 0) {
                _cleanup_free_ char *text = NULL;

                text = strformat("Cannot write the units of all servers: %s.", STRERROR(r));
                log_line(&log, PROBLEM_ERROR, text ?: "Out of memory.");
                return 1;
        }
        return 0;
}
