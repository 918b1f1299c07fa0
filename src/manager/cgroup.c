/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where processes are in the cgroup hierarchies, and what holds there: v2, and v1 or hybrid up to systemd 257. */

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "manager/cgroup.h"
#include "manager/manager.h"

#define CGROUP_ROOT     "/sys/fs/cgroup"
#define CGROUP_TEXT_MAX (64U * 1024U)
#define EVENTS_TEXT_MAX 4096U

/* A line of /proc/PID/cgroup, which ends at end, is ID:CONTROLLERS:PATH; v2's has no controllers. NULL: it is not this
 * controller's. */
static const char *line_path(const char *line, const char *end, const char *controller) {
        const char *list = memchr(line, ':', (size_t) (end - line)), *list_end;
        size_t n = strlen(controller);

        if (!list)
                return NULL;
        list++;
        list_end = memchr(list, ':', (size_t) (end - list));
        if (!list_end)
                return NULL;
        if (n == 0)
                return list_end == list ? list_end + 1 : NULL;
        for (const char *p = list; p < list_end;) {
                const char *comma = memchr(p, ',', (size_t) (list_end - p));
                size_t length = (size_t) ((comma ? comma : list_end) - p);

                if (length == n && strncmp(p, controller, n) == 0)
                        return list_end + 1;
                p += length + 1;
        }
        return NULL;
}

int cgroup_find(const char *text, const char *controller, char **ret) {
        for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
                _cleanup_free_ char *found = NULL;
                const char *path;

                end = line + strcspn(line, "\n");
                path = line_path(line, end, controller);
                if (!path)
                        continue;
                found = strndup(path, (size_t) (end - path));
                if (!found)
                        return -ENOMEM;
                /* What the kernel says of a group that was removed under its last zombie; it is none of a unit. */
                if (found[0] != '/' || endswith(found, " (deleted)"))
                        return -ENODATA;
                free(*ret);
                *ret = TAKE_PTR(found);
                return 0;
        }
        return -ENOENT;
}

int cgroup_read_of_pid(pid_t pid, char **ret) {
        char path[sizeof("/proc//cgroup") + 12];

        (void) snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
        return file_read_at(AT_FDCWD, path, CGROUP_TEXT_MAX, ret, NULL);
}

int cgroup_parse(const char *text, char **ret) {
        int r = cgroup_find(text, "name=systemd", ret);

        return r == -ENOENT ? cgroup_find(text, "", ret) : r;
}

/* A container may have v2 alone on a machine that has v1's hierarchies as well, which its manager doesn't use. As
 * systemd tells: cg_unified_cached() of its src/basic/cgroup-util.c. That does not change either while anybody runs. */
static bool only_v2_is_mounted(void) {
        static int cached = -1;
        struct statfs fs;

        if (cached < 0) {
                if (statfs(CGROUP_ROOT, &fs) < 0)
                        return false;
                cached = fs.f_type == CGROUP2_SUPER_MAGIC;
        }
        return cached > 0;
}

int cgroup_of_unit(const char *text, char **ret) {
        return only_v2_is_mounted() ? cgroup_find(text, "", ret) : cgroup_parse(text, ret);
}

int cgroup_of_pid(pid_t pid, char **ret) {
        _cleanup_free_ char *text = NULL;
        int r = cgroup_read_of_pid(pid, &text);

        return r < 0 ? r : cgroup_of_unit(text, ret);
}

bool cgroup_is_ours(const char *cgroup, char **ret_scope) {
        _cleanup_strv_free_ char **parts = NULL;

        /* Out of memory is no way in: the answer that refuses. */
        if (strv_split(cgroup, "/", &parts) < 0)
                return true;
        STRV_FOREACH (part, parts)
                if (scope_name_is_of(*part, NULL)) {
                        if (ret_scope && free_and_strdup(ret_scope, *part) < 0)
                                *ret_scope = NULL;
                        return true;
                }
        return false;
}

int cgroup_open_group(const char *cgroup) {
        static const char *const hybrid[] = { "/systemd", "/unified" };
        static const char *const unified[] = { "" };
        const bool v2 = only_v2_is_mounted();
        int fd = -ENOENT;

        for (size_t i = 0; i < (v2 ? ELEMENTSOF(unified) : ELEMENTSOF(hybrid)) && fd == -ENOENT; i++) {
                _cleanup_free_ char *path =
                                strformat("%s%s%s", CGROUP_ROOT, v2 ? unified[i] : hybrid[i], cgroup);

                if (!path)
                        return -ENOMEM;
                fd = RET_NERRNO(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        }
        return fd;
}

/* Attributes */

typedef struct Place {
        const char *controller; /* as /proc/PID/cgroup spells it; "": v2 */
        const char *mount;      /* below CGROUP_ROOT */
} Place;

static int open_attribute(const char *text, const Place *place, const char *attribute) {
        _cleanup_free_ char *cgroup = NULL, *path = NULL;
        int r;

        r = cgroup_find(text, place->controller, &cgroup);
        if (r < 0)
                return r;
        path = strformat(
                        "%s%s%s/%s", CGROUP_ROOT, place->mount, streq(cgroup, "/") ? "" : cgroup, attribute);
        if (!path)
                return -ENOMEM;
        return RET_NERRNO(open(path, O_RDONLY | O_CLOEXEC));
}

int cgroup_open_parent_events(const char *text, bool local) {
        _cleanup_free_ char *cgroup = NULL, *path = NULL;
        int r;

        r = cgroup_find(text, "", &cgroup);
        if (r < 0)
                return r;
        path = strformat("%s%s/../memory.events%s", CGROUP_ROOT, cgroup, local ? ".local" : "");
        return path ? RET_NERRNO(open(path, O_RDONLY | O_CLOEXEC)) : -ENOMEM;
}

int cgroup_open_attribute(const char *text, CgroupAttribute attribute, bool *ret_v1) {
        static const struct {
                const char *v2, *v1;
                Place place_v1;
        } table[_CGROUP_ATTRIBUTE_MAX] = {
                [CGROUP_MEMORY_MAX] = { "memory.max", "memory.limit_in_bytes", { "memory", "/memory" } },
                [CGROUP_MEMORY_EVENTS] = { "memory.events", "memory.oom_control", { "memory", "/memory" } },
                [CGROUP_MEMORY_PEAK] = { "memory.peak",
                                         "memory.max_usage_in_bytes",
                                         { "memory", "/memory" } },
                [CGROUP_PIDS_MAX] = { "pids.max", "pids.max", { "pids", "/pids" } },
                [CGROUP_PIDS_EVENTS] = { "pids.events", "pids.events", { "pids", "/pids" } },
                [CGROUP_CPU_MAX] = { "cpu.max", "cpu.cfs_quota_us", { "cpu", "/cpu,cpuacct" } },
        };
        static const Place alone = { "", "" }, hybrid = { "", "/unified" };
        const bool only_v2 = only_v2_is_mounted();
        int r;

        r = open_attribute(text, only_v2 ? &alone : &hybrid, table[attribute].v2);
        if (r >= 0)
                *ret_v1 = false;
        if (r >= 0 || only_v2)
                return r;
        r = open_attribute(text, &table[attribute].place_v1, table[attribute].v1);
        if (r >= 0)
                *ret_v1 = true;
        return r;
}

int cgroup_read_limit(const char *text, CgroupAttribute attribute, uint64_t *ret) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *value = NULL;
        bool v1;
        int r;

        fd = cgroup_open_attribute(text, attribute, &v1);
        if (fd < 0)
                return fd;
        r = fd_read_all(fd, CGROUP_TEXT_MAX, &value, NULL);
        if (r < 0)
                return r;
        return attribute == CGROUP_CPU_MAX ? cgroup_parse_cpu(value, v1, ret)
                                           : cgroup_parse_limit(value, ret);
}

int cgroup_parse_limit(const char *text, uint64_t *ret) {
        char *end;
        unsigned long long value;

        if (startswith(text, "max") || text[0] == '-') {
                *ret = UINT64_MAX;
                return 0;
        }
        errno = 0;
        value = strtoull(text, &end, 10);
        if (errno > 0 || end == text || (*end != 0 && *end != '\n'))
                return -EBADMSG;
        /* v1 says "no limit" as the largest multiple of a page. */
        *ret = value >= (uint64_t) INT64_MAX - 65536 ? UINT64_MAX : value;
        return 0;
}

int cgroup_parse_cpu(const char *text, bool v1, uint64_t *ret) {
        long long quota, period = 100000;
        int n;

        if (startswith(text, "max")) {
                *ret = UINT64_MAX;
                return 0;
        }
        n = sscanf(text, "%lld %lld", &quota, &period);
        if (n < (v1 ? 1 : 2) || period <= 0)
                return -EBADMSG;
        *ret = quota < 0 ? UINT64_MAX : (uint64_t) (quota * 1000 / period);
        return 0;
}

uint64_t cgroup_parse_event(const char *text, const char *key) {
        size_t n = strlen(key);

        for (const char *p = text; *p; p++) {
                if (strncmp(p, key, n) == 0 && p[n] == ' ')
                        return strtoull(p + n + 1, NULL, 10);
                p += strcspn(p, "\n");
                if (!*p)
                        break;
        }
        return 0;
}

static bool read_again(int fd, char text[static EVENTS_TEXT_MAX]) {
        ssize_t n;

        if (fd < 0)
                return false;
        n = pread(fd, text, EVENTS_TEXT_MAX - 1, 0);
        if (n <= 0)
                return false;
        text[n] = 0;
        return true;
}

uint64_t cgroup_read_event(int fd, const char *key) {
        char text[EVENTS_TEXT_MAX];

        return read_again(fd, text) ? cgroup_parse_event(text, key) : 0;
}

bool cgroup_is_there(int fd) {
        char text[EVENTS_TEXT_MAX];

        return read_again(fd, text);
}

uint64_t cgroup_read_number(int fd) {
        char text[EVENTS_TEXT_MAX];

        return read_again(fd, text) ? strtoull(text, NULL, 10) : 0;
}
