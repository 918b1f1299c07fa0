/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "supervisor/access-query.h"
#include "supervisor/fork.h"

/* What the definition says where it says nothing. */
static char *const default_groups[] = { (char *) "mcp", NULL };

#define ANSWERS_MAX (1024U * 1024U) /* bytes */

typedef struct Answer {
        uint32_t kind, value;
} Answer;

struct AccessQuery {
        sd_event *event;
        const Definition *definition;
        access_done_t done;
        void *userdata;
        pid_t pid;
        int pidfd, answers; /* answers: a memfd, which takes any number without anybody reading meanwhile */
        sd_event_source *exited, *deadline;
};

static char *const *groups_of(const Definition *d) {
        return d->access.users || d->access.groups ? d->access.groups : default_groups;
}

/* In the child */

int access_answer(int fd, AccessAnswer answer, uint32_t value) {
        const Answer a = { (uint32_t) answer, value };

        return fd_write_all(fd, &a, sizeof(a));
}

static int look_up_user(int fd, const char *name, uint32_t index) {
        const struct passwd *pw = getpwnam(name);

        return pw ? access_answer(fd, ACCESS_UID, pw->pw_uid) : access_answer(fd, ACCESS_NO_USER, index);
}

static int look_up_group(int fd, const char *name, uint32_t index) {
        const struct group *gr = getgrnam(name);

        return gr ? access_answer(fd, ACCESS_GID, gr->gr_gid) : access_answer(fd, ACCESS_NO_GROUP, index);
}

static int look_up_members(int fd, const char *name) {
        const struct group *gr = getgrnam(name);
        _cleanup_strv_free_ char **members = NULL;

        if (!gr)
                return 0;
        members = strv_copy(gr->gr_mem);
        if (!members && gr->gr_mem[0])
                return -ENOMEM;
        STRV_FOREACH (member, members) {
                const struct passwd *pw = getpwnam(*member);
                int r = pw ? access_answer(fd, ACCESS_UID, pw->pw_uid) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Members come last: a group of a big directory may have more than can be asked for in time, and those who logged in as
 * members are known by their group already. */
static int look_up_all(const Definition *d, int fd) {
        uint32_t i = 0;
        int r = 0;

        STRV_FOREACH (user, d->access.users)
                if (r >= 0)
                        r = look_up_user(fd, *user, i++);
        i = 0;
        STRV_FOREACH (group, groups_of(d))
                if (r >= 0)
                        r = look_up_group(fd, *group, i++);
        if (r >= 0)
                r = access_answer(fd, ACCESS_NAMES_KNOWN, 0);
        STRV_FOREACH (group, groups_of(d))
                if (r >= 0)
                        r = look_up_members(fd, *group);
        return r;
}

static _noreturn_ void run_child(const Definition *d, int answers, pid_t parent, access_look_up_t look_up) {
        /* Clients must not wait for this process to see the ends of their connections. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                _exit(EXIT_FAILURE);
        if (answers != STDERR_FILENO + 1 && dup2(answers, STDERR_FILENO + 1) < 0)
                _exit(EXIT_FAILURE);
        if (syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0) < 0)
                _exit(EXIT_FAILURE);
        _exit(look_up(d, STDERR_FILENO + 1) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* In the supervisor */

typedef struct Found {
        AccessRules rules;
        char **unknown;
        bool names_known;
} Found;

static void found_done(Found *f) {
        access_rules_done(&f->rules);
        f->unknown = strv_free(f->unknown);
}

static int take_answer(const Definition *d, const Answer *a, Found *f) {
        char *const *names = a->kind == ACCESS_NO_USER ? d->access.users : groups_of(d);

        switch (a->kind) {
        case ACCESS_UID:
                return access_rules_add_uid(&f->rules, a->value);
        case ACCESS_GID:
                return access_rules_add_gid(&f->rules, a->value);
        case ACCESS_NO_USER:
        case ACCESS_NO_GROUP:
                if (a->value >= strv_length(names))
                        return -EBADMSG;
                return strv_extendf(
                                &f->unknown,
                                "%s %s",
                                a->kind == ACCESS_NO_USER ? "user" : "group",
                                names[a->value]);
        case ACCESS_NAMES_KNOWN:
                f->names_known = true;
                return 0;
        default:
                return -EBADMSG;
        }
}

static int read_answers(const AccessQuery *q, Found *f) {
        _cleanup_free_ char *data = NULL;
        struct stat st;
        size_t size;
        ssize_t n;

        if (fstat(q->answers, &st) < 0)
                return -errno;
        size = MIN((size_t) st.st_size, (size_t) ANSWERS_MAX);
        data = malloc(size + 1);
        if (!data)
                return -ENOMEM;
        /* Not read(): the position is the child's, which may still be writing. */
        n = pread(q->answers, data, size, 0);
        if (n < 0)
                return -errno;
        for (size_t i = 0; i + sizeof(Answer) <= (size_t) n; i += sizeof(Answer)) {
                Answer a;
                int r;

                memcpy(&a, data + i, sizeof(a));
                r = take_answer(q->definition, &a, f);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void finish(AccessQuery *q, int result) {
        _cleanup_(found_done) Found f = {};

        q->exited = sd_event_source_disable_unref(q->exited);
        q->deadline = sd_event_source_disable_unref(q->deadline);
        /* What was answered before the time was over is as true as the rest would have been. */
        if (result >= 0 || result == -ETIMEDOUT) {
                int r = read_answers(q, &f);

                if (r < 0) {
                        found_done(&f);
                        f = (Found){};
                        result = r;
                } else if (f.names_known)
                        result = 0;
        }
        q->done(q->userdata, result, &f.rules, f.unknown);
}

static int on_exited(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        AccessQuery *q = userdata;
        siginfo_t status = {};

        if (waitid(P_PIDFD, (id_t) q->pidfd, &status, WEXITED | WNOHANG) < 0)
                status.si_code = CLD_KILLED;
        q->pid = 0;
        finish(q, status.si_code == CLD_EXITED && status.si_status == EXIT_SUCCESS ? 0 : -EIO);
        return 0;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        finish(userdata, -ETIMEDOUT);
        return 0;
}

AccessQuery *access_query_free(AccessQuery *q) {
        if (!q)
                return NULL;
        sd_event_source_disable_unref(q->exited);
        sd_event_source_disable_unref(q->deadline);
        if (q->pid > 0) {
                (void) kill(q->pid, SIGKILL);
                /* Not what hangs in the kernel (a dead network file system): init gets it when we exit. */
                for (unsigned i = 0; i < 50 && waitpid(q->pid, NULL, WNOHANG) == 0; i++)
                        (void) usleep(1000);
        }
        (void) safe_close(q->pidfd);
        (void) safe_close(q->answers);
        sd_event_unref(q->event);
        free(q);
        return NULL;
}

int access_query_new_full(
                sd_event *event,
                const Definition *d,
                access_look_up_t look_up,
                uint64_t timeout_usec,
                access_done_t done,
                void *userdata,
                AccessQuery **ret) {
        _cleanup_(access_query_freep) AccessQuery *q = malloc(sizeof(*q));
        const pid_t parent = getpid();
        int r;

        if (!q)
                return -ENOMEM;
        *q = (AccessQuery){
                .event = sd_event_ref(event),
                .definition = d,
                .done = done,
                .userdata = userdata,
                .pidfd = -EBADF,
                .answers = memfd_create("mcp-access", MFD_CLOEXEC),
        };
        if (q->answers < 0)
                return -errno;
        q->pid = fork_whole(); /* modules of NSS may call anything */
        if (q->pid < 0)
                return -errno;
        if (q->pid == 0)
                run_child(d, q->answers, parent, look_up);
        q->pidfd = (int) syscall(SYS_pidfd_open, q->pid, 0);
        if (q->pidfd < 0)
                return -errno;
        r = sd_event_add_io(event, &q->exited, q->pidfd, EPOLLIN, on_exited, q);
        if (r >= 0)
                r = sd_event_add_time_relative(
                                event, &q->deadline, CLOCK_MONOTONIC, timeout_usec, 0, on_deadline, q);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(q);
        return 0;
}

int access_query_new(
                sd_event *event,
                const Definition *d,
                access_done_t done,
                void *userdata,
                AccessQuery **ret) {
        return access_query_new_full(event, d, look_up_all, ACCESS_QUERY_USEC, done, userdata, ret);
}
