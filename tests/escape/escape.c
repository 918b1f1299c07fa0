/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "escape.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

/* Exit statuses of an attempt's process that are no errno. */
enum { STATUS_CANNOT_TRY = 254, STATUS_BROKEN = 253 };

#define ATTEMPT_SECONDS 10U

static const char *const mode_names[_MODE_MAX] = {
        [MODE_NONE] = "none",         [MODE_SANDBOX] = "sandbox",     [MODE_BLOCKED] = "blocked",
        [MODE_UNIX_ANY] = "unix-any", [MODE_MANIFEST] = "manifest",   [MODE_PORTS] = "ports",
        [MODE_BIND] = "bind",         [MODE_UNIX_LIST] = "unix-list",
};

/* ---- what the attempts use ---- */

static const char *place(const char *directory, const char *name) {
        static char buffers[8][4096];
        static unsigned next;
        char *buffer = buffers[next++ % ELEMENTSOF(buffers)];

        snprintf(buffer, sizeof(buffers[0]), "%s/%s", directory, name);
        return buffer;
}

const char *inside(const World *w, const char *name) {
        return place(w->inside, name);
}

const char *outside(const World *w, const char *name) {
        return place(w->outside, name);
}

const char *at_home(const World *w, const char *name) {
        return place(w->home, name);
}

const char *of_victim(const World *w, const char *name) {
        char directory[32];

        snprintf(directory, sizeof(directory), "/proc/%d", w->victim);
        return place(directory, name);
}

int write_file(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), r;

        if (fd < 0)
                return errno;
        r = outcome(write(fd, text, strlen(text)));
        return close(fd) < 0 ? errno : r;
}

int run_program(const char *path, char *const argv[]) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
                execv(path, argv);
                _exit(errno);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return BROKEN;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- running ---- */

typedef struct Result {
        bool through;
        int error;  /* where it did not get through: errno, 0 where it was killed instead */
        int signal; /* then by this */
        bool cannot_try, broken;
} Result;

static Result result_of(int status) {
        Result r = {};

        if (WIFSIGNALED(status)) {
                r.signal = WTERMSIG(status);
                /* Only a filter kills; anything else is the test's own fault. */
                r.broken = r.signal != SIGSYS && r.signal != SIGSEGV;
        } else {
                r.error = WEXITSTATUS(status);
                r.cannot_try = r.error == STATUS_CANNOT_TRY;
                r.broken = r.error == STATUS_BROKEN;
                r.through = r.error == 0;
        }
        return r;
}

/* Each in a process of its own: whatever it does to itself, the next one starts afresh. */
static Result attempt_run(const Attempt *a, const World *w) {
        pid_t pid;
        int status;

        fflush(stdout);
        pid = fork();
        if (pid == 0) {
                int r;

                alarm(ATTEMPT_SECONDS);
                r = a->run(w, a->argument);
                _exit(r == CANNOT_TRY ? STATUS_CANNOT_TRY : r == BROKEN ? STATUS_BROKEN : r);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return (Result){ .broken = true };
        return result_of(status);
}

/* The victim's user is another one than ours (the system manager's dynamic user): what nothing of ours denies may be
 * denied all the same. */
static bool all_loose;

/* NULL: as it should be. Else what is wrong. */
static const char *judge(const Attempt *a, Mode mode, int abi, const Result *r) {
        int from = a->denied_from[mode];
        bool denied = from != OPEN && abi >= from;

        if (r->broken)
                return "the attempt itself is broken";
        if (from == EITHER)
                return NULL;
        if (a->fails_on_abi > 0 && a->fails_on_abi == abi && mode != MODE_NONE)
                denied = true;
        if (a->flags & MUST_WORK)
                return r->through == !denied ? NULL
                       : denied              ? "it works, though it cannot"
                                             : "it has to work";
        if (denied)
                return r->through ? "it got through" : NULL;
        if (!r->through && !(a->flags & LOOSE) && !all_loose)
                return "nothing of ours should have denied it: is this attempt still what it says?";
        return NULL;
}

static void print_result(unsigned n, const Attempt *a, const Result *r, const char *wrong) {
        printf("%sok %u - %s", wrong ? "not " : "", n, a->name);
        if (r->signal)
                printf(": killed by SIG%s", sigabbrev_np(r->signal) ?: "?");
        else if (r->through)
                printf(a->flags & MUST_WORK ? ": works" : ": got through");
        else if (!r->broken)
                printf(": %s", strerrorname_np(r->error) ?: "denied");
        if (r->through && a->known)
                printf(" (%s)", a->known);
        printf("\n");
        if (wrong)
                printf("# %s: %s\n", a->name, wrong);
}

static unsigned run_table(
                const Attempt *table, const World *w, Mode mode, int abi, const char *only, unsigned *n) {
        unsigned failed = 0;

        for (const Attempt *a = table; a->name; a++) {
                const char *wrong;
                Result r;

                if (only && strcmp(only, a->name) != 0)
                        continue;
                ++*n;
                if ((a->flags & SETUID) && access(inside(w, a->argument), F_OK) < 0) {
                        printf("ok %u - %s # SKIP only root can make the setuid program\n", *n, a->name);
                        continue;
                }
                r = attempt_run(a, w);
                if (r.cannot_try) {
                        printf("ok %u - %s # SKIP this machine has nothing to try it on\n", *n, a->name);
                        continue;
                }
                wrong = judge(a, mode, abi, &r);
                failed += !!wrong;
                print_result(*n, a, &r, wrong);
        }
        return failed;
}

static unsigned run_all(const World *w, Mode mode, int abi, const char *only) {
        /* Needs first: some attempts leave traces when they succeed. */
        const Attempt *const tables[] = {
                needs, file_attempts, process_attempts, signal_attempts, network_attempts, kernel_attempts,
        };
        unsigned failed = 0, n = 0;

        for (size_t i = 0; i < ELEMENTSOF(tables); i++)
                failed += run_table(tables[i], w, mode, abi, only, &n);
        printf("1..%u\n", n);
        return failed;
}

/* ---- command line ---- */

typedef struct Arguments {
        World world;
        const char *mode, *only, *write, *victim;
        int abi, is_root, loose;
} Arguments;

static const struct {
        const char *name;
        enum { TEXT, NUMBER, PORT } type;
        size_t offset; /* in Arguments */
} arguments[] = {
        { "--mode=", TEXT, offsetof(Arguments, mode) },
        { "--abi=", NUMBER, offsetof(Arguments, abi) },
        { "--loose=", NUMBER, offsetof(Arguments, loose) },
        { "--only=", TEXT, offsetof(Arguments, only) },
        { "--inside=", TEXT, offsetof(Arguments, world.inside) },
        { "--outside=", TEXT, offsetof(Arguments, world.outside) },
        { "--home=", TEXT, offsetof(Arguments, world.home) },
        { "--victim=", NUMBER, offsetof(Arguments, world.victim) },
        { "--tcp=", PORT, offsetof(Arguments, world.tcp_port) },
        { "--listed=", PORT, offsetof(Arguments, world.listed_port) },
        { "--udp=", PORT, offsetof(Arguments, world.udp_port) },
        { "--bind=", PORT, offsetof(Arguments, world.bind_port) },
        { "--shm=", NUMBER, offsetof(Arguments, world.shm_id) },
        { "--terminal=", TEXT, offsetof(Arguments, world.terminal) },
        { "--abstract=", TEXT, offsetof(Arguments, world.abstract) },
        /* What the attempts start this program for. */
        { "--write=", TEXT, offsetof(Arguments, write) },
        { "--is-root=", NUMBER, offsetof(Arguments, is_root) },
        /* What the driver starts it for, outside. */
        { "--be-victim=", TEXT, offsetof(Arguments, victim) },
};

static bool argument_set(Arguments *a, const char *s) {
        for (size_t i = 0; i < ELEMENTSOF(arguments); i++) {
                size_t n = strlen(arguments[i].name);
                void *p = (char *) a + arguments[i].offset;

                if (strncmp(s, arguments[i].name, n) != 0)
                        continue;
                if (arguments[i].type == TEXT)
                        *(const char **) p = s + n;
                else if (arguments[i].type == NUMBER)
                        *(int *) p = atoi(s + n);
                else
                        *(uint16_t *) p = (uint16_t) atoi(s + n);
                return true;
        }
        return false;
}

static Mode mode_from_string(const char *s) {
        for (int i = 0; s && i < _MODE_MAX; i++)
                if (strcmp(mode_names[i], s) == 0)
                        return (Mode) i;
        return _MODE_MAX;
}

int main(int argc, char *argv[]) {
        Arguments a = {};
        Mode mode;

        for (int i = 1; i < argc; i++)
                if (!argument_set(&a, argv[i])) {
                        fprintf(stderr, "escape: unknown argument %s\n", argv[i]);
                        return 2;
                }
        if (a.write)
                return outcome(open(a.write, O_WRONLY | O_CLOEXEC));
        if (a.is_root)
                return geteuid() == 0 ? 0 : EPERM;
        if (a.victim)
                return victim_main(a.victim, a.world.home);

        mode = mode_from_string(a.mode);
        if (mode == _MODE_MAX || !a.world.inside || !a.world.outside || !a.world.home || !a.world.abstract ||
            a.world.victim <= 0)
        {
                fprintf(stderr, "escape: run by run_escape.py, which makes the world.\n");
                return 2;
        }
        all_loose = a.loose;
        a.world.parent = getppid();
        setvbuf(stdout, NULL, _IOLBF, 0);
        return run_all(&a.world, mode, a.abi, a.only) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
