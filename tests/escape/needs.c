/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a server needs and has to get in every mode: a sandbox that breaks it is switched off by its users. */

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "escape.h"

static int save_atomically(const World *w, const char *name) {
        const char *target = inside(w, name), *temporary = inside(w, "saved.tmp");
        int fd, r;

        r = write_file(target, "old") ?: write_file(temporary, "new");
        if (r)
                return r;
        fd = open(temporary, O_RDWR | O_CLOEXEC);
        return fd < 0 ? errno : outcome(fsync(fd)) ?: outcome(rename(temporary, target));
}

static int move_between_directories(const World *w, const char *name) {
        int r = outcome(mkdir(inside(w, "from"), 0700)) ?: outcome(mkdir(inside(w, "to"), 0700));

        return r ?: outcome(mkdir(inside(w, "from/directory"), 0700)) ?:
                    outcome(rename(inside(w, "from/directory"), inside(w, "to/directory")));
}

static int link_between_directories(const World *w, const char *name) {
        int r = outcome(mkdir(inside(w, "linked"), 0700)) ?: write_file(inside(w, "link-source"), "x");

        return r ?: outcome(link(inside(w, "link-source"), inside(w, "linked/name")));
}

static int truncate_inside(const World *w, const char *name) {
        int fd, r = write_file(inside(w, name), "text");

        if (r)
                return r;
        fd = open(inside(w, name), O_RDWR | O_TRUNC | O_CLOEXEC);
        return fd < 0 ? errno : outcome(ftruncate(fd, 10)) ?: outcome(truncate(inside(w, name), 1));
}

static int special_files(const World *w, const char *name) {
        return outcome(mkfifo(inside(w, "fifo"), 0600)) ?: outcome(symlink("fifo", inside(w, "symlink"))) ?:
               outcome(unlink(inside(w, "symlink"))) ?: outcome(unlink(inside(w, "fifo")));
}

/* What SQLite does in its write-ahead mode. */
static int lock_and_map(const World *w, const char *name) {
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
        int fd = open(inside(w, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        char *map;

        if (fd < 0)
                return errno;
        if (ftruncate(fd, 32768) < 0 || fcntl(fd, F_SETLK, &lock) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno;
        map = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
                return errno;
        map[0] = 1;
        return outcome(msync(map, 32768, MS_SYNC));
}

static int device(const World *w, const char *path) {
        int fd = open(path, (strcmp(path, "/dev/null") == 0 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
        char byte;

        if (fd < 0)
                return errno;
        /* A device that is no terminal has to say so, whatever error it says it with. */
        return isatty(fd) ? ENOTTY : outcome(read(fd, &byte, 1));
}

static int temporary_file(const World *w, const char *name) {
        const char *dir = getenv("TMPDIR") ?: "/tmp";
        char path[4200];
        int fd;

        snprintf(path, sizeof(path), "%s/escape-XXXXXX", dir);
        fd = mkostemp(path, O_CLOEXEC);
        return fd < 0 ? errno : outcome(unlink(path));
}

static int shell_redirection(const World *w, const char *name) {
        return run_program(
                        "/bin/sh",
                        (char *[]){ (char *) "sh",
                                    (char *) "-c",
                                    (char *) "ls /usr 2>/dev/null >/dev/null",
                                    NULL });
}

static void *thread_main(void *argument) {
        return argument;
}

static int threads(const World *w, const char *name) {
        pthread_t t;
        int r = pthread_create(&t, NULL, thread_main, NULL);

        return r ?: pthread_join(t, NULL);
}

/* What a just-in-time compiler does: a page is written, then run. */
static int just_in_time(const World *w, const char *name) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (page == MAP_FAILED)
                return errno;
        memset(page, 0, 4096);
        return outcome(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int reserve_memory(const World *w, const char *name) {
        void *p = mmap(NULL, 64UL << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        return p == MAP_FAILED ? errno : 0;
}

static int stream_pair(const World *w, const char *name) {
        int pair[2];
        char byte;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return errno;
        return outcome(write(pair[0], "x", 1)) ?: outcome(read(pair[1], &byte, 1));
}

static int signal_own_child(const World *w, const char *name) {
        pid_t pid = fork();
        int status;

        if (pid < 0)
                return errno;
        if (pid == 0) {
                pause();
                _exit(0);
        }
        if (kill(pid, SIGTERM) < 0)
                return errno;
        if (waitpid(pid, &status, 0) < 0)
                return errno;
        return WIFSIGNALED(status) ? 0 : EPERM;
}

static int own_proc(const World *w, const char *name) {
        int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        char byte;

        return fd < 0 ? errno : outcome(read(fd, &byte, 1));
}

/* A child that sandboxes itself: layers are left, and the calls are allowed. */
static int own_sandbox(const World *w, const char *name) {
        uint64_t handled = 1 << 1;
        int fd = (int) syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);

        if (fd < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? CANNOT_TRY : errno;
        return outcome(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
                               ?: outcome(syscall(SYS_landlock_restrict_self, fd, 0));
}

static int shared_memory(const World *w, const char *name) {
        int fd = shm_open("/escape-own", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        return fd < 0 ? errno : outcome(shm_unlink("/escape-own"));
}

static int resolve_localhost(const World *w, const char *name) {
        struct addrinfo *a = NULL;
        int r = getaddrinfo("localhost", NULL, NULL, &a);

        if (r == 0)
                freeaddrinfo(a);
        return r == 0 ? 0 : r == EAI_SYSTEM ? errno : ENOENT;
}

static int watch_inside(const World *w, const char *name) {
        int fd = inotify_init1(IN_CLOEXEC);

        return fd < 0 ? errno : outcome(inotify_add_watch(fd, w->inside, IN_CREATE));
}

static int limit_own_files(const World *w, const char *name) {
        return run_program(
                        "/bin/sh",
                        (char *[]){ (char *) "sh", (char *) "-c", (char *) "ulimit -Sn 64", NULL });
}

/* In the home that the server has, which need not be the one that is aimed at. The first one makes the cache. */
static int cache_directory(const World *w, const char *name) {
        char path[4200];
        int n;

        n = snprintf(path, sizeof(path), "%s/%s", getenv("HOME") ?: "", name);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return errno;
        snprintf(path + n, sizeof(path) - (size_t) n, "/escape");
        return outcome(mkdir(path, 0700)) ?: outcome(rmdir(path));
}

/* A script in the working directory; 254 says that what it runs is not installed. */
static int script(const World *w, const char *text) {
        return run_program("/bin/sh", (char *[]){ (char *) "sh", (char *) "-ec", (char *) text, NULL });
}

#define SCRIPT(program, text) "exec </dev/null; command -v " program " >/dev/null || exit 254; " text
#define SQLITE                                                                                              \
        SCRIPT("python3",                                                                                   \
               "exec python3 -c \"import sqlite3; c = sqlite3.connect('db'); c.execute('pragma "            \
               "journal_mode=wal'); c.execute('create table t(a)'); c.execute('insert into t values(1)'); " \
               "c.commit()\"")
#define MULTIPROCESSING                                                                                     \
        SCRIPT("python3",                                                                                   \
               "exec python3 -c \"import multiprocessing as m; q = m.Queue(); p = m.Process(target=q.put, " \
               "args=(1,)); p.start(); assert q.get() == 1; p.join()\"")
#define GIT                                                                                                \
        SCRIPT("git",                                                                                      \
               "git init -q repo; cd repo; echo x >file; git add file; "                                   \
               "git -c user.name=a -c user.email=a@b commit -qm x; git mv file moved; git status --short " \
               ">/dev/null")
#define NODE SCRIPT("node", "exec node -e 'let s = 0; for (let i = 0; i < 1e6; i++) s += i'")

#define NEED(name, run, ...)                             \
        {                                                \
                name, run, __VA_ARGS__, NEVER, MUST_WORK \
        }

const Attempt needs[] = {
        NEED("save atomically", save_atomically, "saved"),
        { "move between directories", move_between_directories, NULL, NEVER, MUST_WORK, .fails_on_abi = 1 },
        { "link between directories", link_between_directories, NULL, NEVER, MUST_WORK, .fails_on_abi = 1 },
        NEED("truncate", truncate_inside, "truncated"),
        NEED("pipes and links", special_files, NULL),
        NEED("lock and map a file", lock_and_map, "database"),
        NEED("read /dev/null", device, "/dev/null"),
        NEED("read /dev/urandom", device, "/dev/urandom"),
        NEED("make a temporary file", temporary_file, NULL),
        NEED("sh 2>/dev/null", shell_redirection, NULL),
        NEED("threads", threads, NULL),
        NEED("compile just in time", just_in_time, NULL),
        NEED("reserve 64 GiB", reserve_memory, NULL),
        NEED("stream pair", stream_pair, NULL),
        NEED("signal a child", signal_own_child, NULL),
        NEED("/proc/self/maps", own_proc, NULL),
        NEED("sandbox of its own", own_sandbox, NULL),
        NEED("watch a directory", watch_inside, NULL),
        NEED("lower a limit", limit_own_files, NULL),
        NEED("SQLite", script, SQLITE),
        NEED("git", script, GIT),
        NEED("Node", script, NODE),
        { "Python's multiprocessing", script, MULTIPROCESSING, READ_RIGHT, MUST_WORK },
        { "POSIX shared memory", shared_memory, NULL, READ_RIGHT, MUST_WORK },
        { "fill ~/.cache", cache_directory, ".cache", READ_RIGHT, MUST_WORK },
        { "fill ~/.npm", cache_directory, ".npm", READ_RIGHT, MUST_WORK },
        { "resolve localhost",
          resolve_localhost,
          NULL,
          { OPEN, OPEN, EITHER, OPEN, EITHER, EITHER, EITHER, OPEN },
          MUST_WORK },
        {},
};
