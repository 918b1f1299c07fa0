/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "sandbox/path-probe.h"

/* A directory of more names costs more to read than what is asked about it. */
#define LISTING_MAX 500U
#define NOT_KNOWN   2 /* beside what is_link() returns: has to be asked alone */

/* On others, whose directories may not tell upper from lower case, the kernel knows better how a name is written. */
static bool is_exact(uint64_t fs_magic) {
        return fs_magic == EXT4_SUPER_MAGIC || fs_magic == BTRFS_SUPER_MAGIC ||
               fs_magic == F2FS_SUPER_MAGIC || fs_magic == TMPFS_MAGIC || fs_magic == OVERLAYFS_SUPER_MAGIC;
}

static int resolve_path(void *userdata, const char *path, PathFacts *ret) {
        _cleanup_close_ int fd = -EBADF;
        PathFacts facts = {};
        struct statfs sfs;
        struct stat st;
        bool no_link;
        int r;

        fd = open_place(path, &no_link);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        facts.mode = st.st_mode;
        facts.uid = st.st_uid;
        facts.gid = st.st_gid;
        if (fstatfs(fd, &sfs) >= 0) {
                facts.fs_magic = (uint64_t) sfs.f_type;
                facts.read_only = sfs.f_flags & ST_RDONLY;
        }
        if (no_link && is_exact(facts.fs_magic)) {
                facts.resolved = strdup(path);
                r = facts.resolved ? 0 : -ENOMEM;
        } else
                r = fd_get_path(fd, &facts.resolved);
        if (r < 0)
                return r;
        *ret = facts;
        return 0;
}

static int is_link(void *userdata, const char *path) {
        char target[1];

        if (readlink(path, target, sizeof(target)) >= 0)
                return 1;
        return errno == EINVAL ? 0 : -errno;
}

static ssize_t read_head(void *userdata, const char *path, char *buffer, size_t size) {
        _cleanup_close_ int place = -EBADF, fd = -EBADF;
        char link[sizeof("/proc/self/fd/") + 12];
        size_t done = 0;
        struct stat st;

        /* Looked at before it is opened: the path may be a link that a server has put there, and opening a device as root
         * does things (a watchdog begins to run). */
        place = open(path, O_PATH | O_CLOEXEC);
        if (place < 0 || fstat(place, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
        fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return -errno;
        while (done < size) {
                ssize_t n = read(fd, buffer + done, size - done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                done += (size_t) n;
        }
        return (ssize_t) done;
}

/* Where what is not listed is not there. Elsewhere looking a name up can make it appear (automounts, FUSE), or another
 * machine can. */
static bool lists_all(int dir_fd) {
        static const long magics[] = {
                EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                F2FS_SUPER_MAGIC, TMPFS_MAGIC,     OVERLAYFS_SUPER_MAGIC,
        };
        struct statfs sfs;

        if (fstatfs(dir_fd, &sfs) < 0)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(magics); i++)
                if ((long) sfs.f_type == magics[i])
                        return true;
        return false;
}

static char fold(char c) {
        return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static bool equal_but_for_case(const char *a, const char *b) {
        for (; fold(*a) == fold(*b); a++, b++)
                if (*a == 0)
                        return true;
        return false;
}

/* FNV-1a of the name, case left out; *ret_ascii becomes false where it is not ASCII alone. */
static uint32_t hash_of(const char *name, bool *ret_ascii) {
        uint32_t hash = 2166136261U;
        unsigned char all = 0;

        for (; *name; name++) {
                all |= (unsigned char) *name;
                hash = (hash ^ (unsigned char) fold(*name)) * 16777619U;
        }
        if (all >= 0x80)
                *ret_ascii = false;
        return hash;
}

/* Paths that all are in one directory, and what is known of each: what is_link() would say, or NOT_KNOWN. */
typedef struct Questions {
        const char *const *paths;
        size_t n;
        size_t offset;    /* of the name in each path */
        uint32_t *hashes; /* of the names */
        int *answers;
        size_t n_listed;
        bool ascii; /* all that was listed */
} Questions;

/* Where a directory does not tell upper from lower case, a name is found that is listed as another: that is left to the
 * kernel. */
static int take_listed(const char *listed, unsigned char type, void *userdata) {
        Questions *q = userdata;
        uint32_t hash = hash_of(listed, &q->ascii);

        for (size_t i = 0; i < q->n; i++) {
                const char *name = q->paths[i] + q->offset;

                if (q->hashes[i] != hash || !equal_but_for_case(name, listed))
                        continue;
                if (!streq(name, listed) || type == DT_UNKNOWN)
                        q->answers[i] = NOT_KNOWN;
                else
                        q->answers[i] = type == DT_LNK;
        }
        return ++q->n_listed > LISTING_MAX ? -E2BIG : 0;
}

/* Is what was not listed not there? In names beyond ASCII more than case can be folded. */
static bool take_listing(Questions *q, int dir_fd) {
        return dir_each(dir_fd, take_listed, q) >= 0 && q->ascii && lists_all(dir_fd);
}

static int are_links(void *userdata, const char *dir, const char *const *paths, size_t n, int *ret) {
        const size_t offset = n > 0 ? (size_t) (path_basename(paths[0]) - paths[0]) : 0;
        _cleanup_free_ uint32_t *hashes = calloc(n + 1, sizeof(uint32_t));
        Questions q = { paths, n, offset, hashes, ret, 0, true };
        _cleanup_close_ int fd = -EBADF;
        bool sure = true;

        if (!hashes)
                return -ENOMEM;
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t i = 0; i < n; i++) {
                hashes[i] = hash_of(paths[i] + offset, &sure);
                ret[i] = fd >= 0 || errno == ENOENT ? -ENOENT : NOT_KNOWN;
        }
        if (fd >= 0)
                sure = take_listing(&q, fd) && sure;
        for (size_t i = 0; i < n; i++)
                if (ret[i] == NOT_KNOWN || (ret[i] == -ENOENT && !sure))
                        ret[i] = is_link(userdata, paths[i]);
        return 0;
}

void path_probe_init(HostFacts *facts) {
        facts->resolve = resolve_path;
        facts->is_link = is_link;
        facts->are_links = are_links;
        facts->read_head = read_head;
}
