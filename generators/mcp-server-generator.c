/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Definitions in, unit files out: systemd.generator(7). Runs in early boot and at every daemon-reload, so it asks nobody
 * anything (no NSS, no bus), starts nothing, and writes to the given directory alone. */

#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

#include "server-units.h"

#define KMSG_MAX 900U /* a record of /dev/kmsg is cut at 1024 bytes, its prefix included */

/* A process more costs as much as some dozens of servers. */
enum {
        SERVERS_PER_WRITER = 200,
        WRITERS_MAX = 8,
        OPEN_ENOUGH = 256,
};

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

typedef struct Output {
        UnitsContext context;
        const Log *log;
        int result; /* the first failure to write */
} Output;

/* One server that fails costs no other one. */
static int write_server(ServerEntry *entry, void *userdata) {
        _cleanup_problems_ ProblemList problems = {};
        Output *output = userdata;
        int r;

        log_problems(output->log, &entry->problems);
        if (!server_has_units(entry))
                return 0;
        r = server_units_write(&output->context, entry, &problems);
        log_problems(output->log, &problems);
        if (r < 0) {
                log_write_error(output->log, entry, r);
                if (r != -EEXIST && output->result == 0)
                        output->result = r;
        }
        return 0;
}

/* How many processes may write at once: the kernel's part is most of the work, and is done on as many processors. */
static size_t count_writers(size_t n_servers) {
        size_t n = MIN(n_servers / SERVERS_PER_WRITER, (size_t) WRITERS_MAX);
        cpu_set_t processors;

        if (n <= 1 || sched_getaffinity(0, sizeof(processors), &processors) < 0)
                return 1;
        return MIN(n, (size_t) CPU_COUNT(&processors));
}

/* Writes share i of n. Returns the first failure to write, or why it ended before. */
static int write_share(ServerWalk *walk, Output *output, ProblemList *problems, size_t i, size_t n) {
        size_t size = server_walk_size(walk);
        int r;

        r = server_walk_each(
                        walk, size * i / n, size * (i + 1) / n, output->context.done, write_server, output);
        log_problems(output->log, problems);
        return r < 0 ? r : output->result;
}

/* What the other writer returned from write_share(). */
static int wait_for_writer(pid_t pid) {
        int status;

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* The last share is this process's own, and so is each for which there can be no other. */
static int write_all(ServerWalk *walk, Output *output, ProblemList *problems) {
        size_t n = count_writers(server_walk_size(walk));
        pid_t writers[WRITERS_MAX];
        int result = 0, r;

        for (size_t i = 0; i < n; i++) {
                writers[i] = i + 1 < n ? fork() : -1;
                if (writers[i] == 0)
                        _exit(-write_share(walk, output, problems, i, n));
                if (writers[i] > 0)
                        continue;
                r = write_share(walk, output, problems, i, n);
                result = result < 0 ? result : r;
        }
        for (size_t i = 0; i < n; i++)
                if (writers[i] > 0) {
                        r = wait_for_writer(writers[i]);
                        result = result < 0 ? result : r;
                }
        return result;
}

/* May as many files be open at once as a batch holds, beside all others? */
static bool may_keep_open(void) {
        struct rlimit limit;

        return getrlimit(RLIMIT_NOFILE, &limit) >= 0 && limit.rlim_cur >= OPEN_ENOUGH;
}

static int generate(const Arguments *arguments, RuntimeScope scope, const Log *log) {
        _cleanup_config_paths_ ConfigPaths paths = {};
        _cleanup_server_walk_ ServerWalk *walk = NULL;
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_close_ int dir_fd = -EBADF;
        Output output = { .log = log };
        FdBatch done = {};
        int r;

        dir_fd = open(arguments->normal_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0)
                return -errno;
        output.context = (UnitsContext){
                .scope = scope,
                .root = arguments->root,
                .env = environ,
                .dir_fd = dir_fd,
                .done = may_keep_open() ? &done : NULL,
        };
        r = config_paths_init(scope, arguments->root, environ, &paths);
        if (r < 0)
                return r;
        r = server_walk_open(&paths, &walk, &problems);
        log_problems(log, &problems);
        problem_list_done(&problems);
        if (r >= 0)
                r = write_all(walk, &output, &problems);
        fd_batch_close(&done);
        return r;
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

        if (stdio_fill(O_RDONLY | O_CLOEXEC) < 0)
                return 1;
        r = parse_arguments(argc, argv, &arguments);
        if (r < 0 || arguments.done)
                return r < 0 ? 2 : stream_finish(stdout) < 0;
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
