/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What test-sandbox runs inside: "sandbox-attempt WHAT [ARGUMENT...]" tries one thing. Exit status: 0 it worked, else the
 * errno; 200: the attempt itself is wrong. */

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "sandbox/landlock-uapi.h"

#define WRONG 200

static int opened(const char *path, int flags) {
        int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);

        if (fd < 0)
                return errno;
        return close(fd) < 0 ? errno : 0;
}

static int result(int r) {
        return r < 0 ? errno : 0;
}

static int do_read(char **a) {
        return opened(a[0], O_RDONLY);
}
static int do_write(char **a) {
        return opened(a[0], O_WRONLY);
}
static int do_read_write(char **a) {
        return opened(a[0], O_RDWR);
}
static int do_create(char **a) {
        return opened(a[0], O_WRONLY | O_CREAT | O_EXCL);
}
static int do_truncate(char **a) {
        return result(truncate(a[0], 0));
}
static int do_open_truncate(char **a) {
        return opened(a[0], O_RDONLY | O_TRUNC);
}
static int do_rename(char **a) {
        return result(rename(a[0], a[1]));
}
static int do_link(char **a) {
        return result(link(a[0], a[1]));
}
static int do_symlink(char **a) {
        return result(symlink(a[0], a[1]));
}
static int do_mkdir(char **a) {
        return result(mkdir(a[0], 0700));
}
static int do_rmdir(char **a) {
        return result(rmdir(a[0]));
}
static int do_unlink(char **a) {
        return result(unlink(a[0]));
}
static int do_mkfifo(char **a) {
        return result(mkfifo(a[0], 0600));
}
static int do_list(char **a) {
        return opened(a[0], O_RDONLY | O_DIRECTORY);
}

static int do_exec(char **a) {
        (void) execl(a[0], a[0], NULL);
        return errno;
}

/* What editors do: a temporary file beside, then rename over. */
static int do_atomic_save(char **a) {
        char temporary[4096];
        int r;

        (void) snprintf(temporary, sizeof(temporary), "%s.tmp", a[0]);
        r = opened(temporary, O_WRONLY | O_CREAT | O_TRUNC);
        return r ? r : result(rename(temporary, a[0]));
}

/* A file that was only looked at, opened again through its descriptor. */
static int do_reopen(char **a) {
        char path[64];
        int fd = open(a[0], O_PATH | O_CLOEXEC);

        if (fd < 0)
                return errno;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return opened(path, O_RDONLY);
}

static int do_signal(char **a) {
        return result(kill((pid_t) atoi(a[0]), 0));
}

/* TCGETS on a device that was opened inside. */
static int do_tcgets(char **a) {
        struct termios t;
        int fd = open(a[0], O_RDWR | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return errno;
        return result(tcgetattr(fd, &t));
}

static int do_abstract(char **a) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t n = strlen(a[0]);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
                return errno;
        memcpy(address.sun_path + 1, a[0], n);
        return result(
                        connect(fd,
                                (struct sockaddr *) &address,
                                (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + n)));
}

static int do_socket(char **a) {
        static const struct {
                const char *name;
                int family, type;
        } kinds[] = {
                { "inet-stream", AF_INET, SOCK_STREAM },   { "inet-dgram", AF_INET, SOCK_DGRAM },
                { "inet6-stream", AF_INET6, SOCK_STREAM }, { "netlink", AF_NETLINK, SOCK_RAW },
                { "unix-stream", AF_UNIX, SOCK_STREAM },
        };

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (strcmp(a[0], kinds[i].name) == 0)
                        return result(socket(kinds[i].family, kinds[i].type | SOCK_CLOEXEC, 0));
        return WRONG;
}

/* TCP, on this machine. Only what a sandbox says counts: that nobody listens, or that there is no network, was let through. */
static int tcp(const char *port, int (*call)(int fd, const struct sockaddr *address, socklen_t size)) {
        const struct sockaddr_in address = {
                .sin_family = AF_INET,
                .sin_port = htons((uint16_t) atoi(port)),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
                return errno;
        if (call(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 &&
            (errno == EACCES || errno == EPERM))
                return errno;
        return 0;
}
static int do_connect(char **a) {
        return tcp(a[0], connect);
}
static int do_bind(char **a) {
        return tcp(a[0], bind);
}

static int do_id(char **a) {
        uid_t r, e, s;
        gid_t rg, eg, sg;

        if (getresuid(&r, &e, &s) < 0 || getresgid(&rg, &eg, &sg) < 0)
                return errno;
        if (r != e || r != s || r != (uid_t) atoi(a[0]) || rg != eg || rg != sg || rg != (gid_t) atoi(a[1]))
                return EPERM;
        return getgroups(0, NULL) == 0 ? 0 : EPERM;
}

/* The number of descriptors beside stdin, stdout and stderr. */
static int do_fds(char **a) {
        int n = 0;

        for (int fd = 3; fd < 4096; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static int do_rlimit(char **a) {
        struct rlimit l;

        if (getrlimit((__rlimit_resource_t) atoi(a[0]), &l) < 0)
                return errno;
        if (l.rlim_cur != (rlim_t) atoll(a[1]) || l.rlim_max != (rlim_t) atoll(a[1]))
                return ERANGE;
        l.rlim_max = l.rlim_cur = (rlim_t) atoll(a[1]) + 1;
        return setrlimit((__rlimit_resource_t) atoi(a[0]), &l) < 0 && errno == EPERM ? 0 : EACCES;
}

/* As a program does that sandboxes itself: there have to be layers left, and the calls must not be forbidden. */
static int do_nested(char **a) {
        const LandlockRulesetAttr attr = { .handled_access_fs = LL_FS_WRITE_FILE | LL_FS_REFER };
        int fd = landlock_create_ruleset(&attr, sizeof(attr), 0);

        if (fd < 0)
                return errno;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_restrict_self(fd, 0) < 0)
                return errno;
        return opened(a[0], O_WRONLY) == EACCES ? 0 : WRONG;
}

/* Sixteen layers are all that there are: how many could be added? */
static int do_layers(char **a) {
        const LandlockRulesetAttr attr = { .handled_access_fs = LL_FS_MAKE_BLOCK };
        int n = 0, fd = landlock_create_ruleset(&attr, sizeof(attr), 0);

        if (fd < 0)
                return errno;
        while (n < 32 && landlock_restrict_self(fd, 0) >= 0)
                n++;
        return n;
}

static int do_signals(char **a) {
        sigset_t mask;

        if (sigprocmask(SIG_SETMASK, NULL, &mask) < 0)
                return errno;
        for (int sig = 1; sig < _NSIG; sig++) {
                struct sigaction action;

                if (sigismember(&mask, sig) == 1)
                        return sig;
                if (sigaction(sig, NULL, &action) >= 0 && action.sa_handler != SIG_DFL)
                        return 100 + sig;
        }
        return 0;
}

static int do_session(char **a) {
        return getsid(0) == getpid() ? 0 : EPERM;
}

/* NAME=VALUE: is it so? NAME=: is it not there? */
static int do_env(char **a) {
        char *equals = strchr(a[0], '=');
        const char *value;

        if (!equals)
                return WRONG;
        *equals = 0;
        value = getenv(a[0]);
        if (!equals[1])
                return value ? EEXIST : 0;
        return value && strcmp(value, equals + 1) == 0 ? 0 : ENOENT;
}

/* No capability is left, but in the set that is named: only root can empty its bounding set. */
static int do_capabilities(char **a) {
        char line[256];
        FILE *f = fopen("/proc/self/status", "re");

        if (!f)
                return errno;
        while (fgets(line, sizeof(line), f))
                if (strncmp(line, "Cap", 3) == 0 && strncmp(line, a[0], 6) != 0 &&
                    strcmp(line + 7, "\t0000000000000000\n") != 0)
                {
                        (void) fclose(f);
                        return EPERM;
                }
        (void) fclose(f);
        return 0;
}

static const struct {
        const char *what;
        int arguments;
        int (*attempt)(char **a);
} attempts[] = {
        { "read", 1, do_read },
        { "write", 1, do_write },
        { "read-write", 1, do_read_write },
        { "exec", 1, do_exec },
        { "socket", 1, do_socket },
        { "connect", 1, do_connect },
        { "bind", 1, do_bind },
        { "create", 1, do_create },
        { "truncate", 1, do_truncate },
        { "open-truncate", 1, do_open_truncate },
        { "rename", 2, do_rename },
        { "link", 2, do_link },
        { "symlink", 2, do_symlink },
        { "mkdir", 1, do_mkdir },
        { "rmdir", 1, do_rmdir },
        { "unlink", 1, do_unlink },
        { "mkfifo", 1, do_mkfifo },
        { "list", 1, do_list },
        { "atomic-save", 1, do_atomic_save },
        { "reopen", 1, do_reopen },
        { "signal", 1, do_signal },
        { "tcgets", 1, do_tcgets },
        { "abstract", 1, do_abstract },
        { "id", 2, do_id },
        { "fds", 0, do_fds },
        { "rlimit", 2, do_rlimit },
        { "nested", 1, do_nested },
        { "layers", 0, do_layers },
        { "signals", 0, do_signals },
        { "session", 0, do_session },
        { "env", 1, do_env },
        { "capabilities", 1, do_capabilities },
};

int main(int argc, char **argv) {
        for (size_t i = 0; argc > 1 && i < ELEMENTSOF(attempts); i++)
                if (strcmp(argv[1], attempts[i].what) == 0 && argc == 2 + attempts[i].arguments)
                        return attempts[i].attempt(argv + 2);
        return WRONG;
}
