/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/stat.h>

#include "plan/plan.h"
#include "sandbox/landlock-rights.h"

#define FS    LANDLOCK_FIELD_FS
#define NET   LANDLOCK_FIELD_NET
#define SCOPE LANDLOCK_FIELD_SCOPE

const LandlockRight landlock_rights[] = {
        { FS, LL_FS_EXECUTE, "execute", "Execute a file.", 1, true },
        { FS, LL_FS_WRITE_FILE, "write-file", "Open a file for writing.", 1, true },
        { FS, LL_FS_READ_FILE, "read-file", "Open a file for reading.", 1, true },
        { FS, LL_FS_READ_DIR, "read-dir", "Open a directory and list it.", 1, false },
        { FS, LL_FS_REMOVE_DIR, "remove-dir", "Remove or rename an empty directory in it.", 1, false },
        { FS, LL_FS_REMOVE_FILE, "remove-file", "Remove or rename a file in it.", 1, false },
        { FS, LL_FS_MAKE_CHAR, "make-char", "Make a character device in it.", 1, false },
        { FS, LL_FS_MAKE_DIR, "make-dir", "Make a directory in it.", 1, false },
        { FS, LL_FS_MAKE_REG, "make-reg", "Make a regular file in it.", 1, false },
        { FS, LL_FS_MAKE_SOCK, "make-sock", "Make a UNIX socket in it.", 1, false },
        { FS, LL_FS_MAKE_FIFO, "make-fifo", "Make a named pipe in it.", 1, false },
        { FS, LL_FS_MAKE_BLOCK, "make-block", "Make a block device in it.", 1, false },
        { FS, LL_FS_MAKE_SYM, "make-sym", "Make a symbolic link in it.", 1, false },
        { FS, LL_FS_REFER, "refer", "Rename and link between directories.", 2, false },
        { FS, LL_FS_TRUNCATE, "truncate", "Truncate a file.", 3, true },
        { FS, LL_FS_IOCTL_DEV, "ioctl-dev", "Control a device by ioctl.", 5, true },
        { FS, LL_FS_RESOLVE_UNIX, "resolve-unix", "Connect to a UNIX socket by its path.", 9, true },
        { NET, LL_NET_BIND_TCP, "bind-tcp", "Bind a TCP socket to a port.", 4, false },
        { NET, LL_NET_CONNECT_TCP, "connect-tcp", "Connect a TCP socket to a port.", 4, false },
        { NET, LL_NET_BIND_UDP, "bind-udp", "Bind a UDP socket to a port.", 10, false },
        { NET, LL_NET_CONNECT_SEND_UDP, "connect-send-udp", "Connect or send to a UDP port.", 10, false },
        { SCOPE,
          LL_SCOPE_ABSTRACT_UNIX,
          "abstract-unix",
          "Connect to abstract UNIX sockets of others.",
          6,
          false },
        { SCOPE, LL_SCOPE_SIGNAL, "signal", "Send signals to processes of others.", 6, false },
};
const size_t n_landlock_rights = ELEMENTSOF(landlock_rights);

uint64_t landlock_rights_mask(LandlockField field, int abi) {
        uint64_t mask = 0;

        for (size_t i = 0; i < n_landlock_rights; i++)
                if (landlock_rights[i].field == field && landlock_rights[i].abi <= abi)
                        mask |= landlock_rights[i].bit;
        return mask;
}

static const struct {
        unsigned access;
        uint64_t rights;
} access_table[] = {
        { ACCESS_READ, LL_FS_READ_FILE | LL_FS_READ_DIR },
        { ACCESS_EXECUTE, LL_FS_EXECUTE },
        { ACCESS_WRITE,
          LL_FS_WRITE_FILE | LL_FS_TRUNCATE | LL_FS_REMOVE_DIR | LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR |
                          LL_FS_MAKE_REG | LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_SYM |
                          LL_FS_REFER },
        { ACCESS_MAKE_DEVICE, LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK },
        { ACCESS_IOCTL, LL_FS_IOCTL_DEV },
        { ACCESS_UNIX, LL_FS_RESOLVE_UNIX },
};

LandlockKind landlock_kind_of_mode(mode_t mode) {
        if (S_ISDIR(mode))
                return LANDLOCK_KIND_DIRECTORY;
        if (S_ISCHR(mode) || S_ISBLK(mode))
                return LANDLOCK_KIND_DEVICE;
        return S_ISSOCK(mode) ? LANDLOCK_KIND_SOCKET : LANDLOCK_KIND_FILE;
}

uint64_t landlock_rights_for(unsigned access, LandlockKind kind, uint64_t handled) {
        uint64_t rights = 0;

        for (size_t i = 0; i < ELEMENTSOF(access_table); i++)
                if (access & access_table[i].access)
                        rights |= access_table[i].rights;
        for (size_t i = 0; i < n_landlock_rights && kind != LANDLOCK_KIND_DIRECTORY; i++)
                if (landlock_rights[i].field == LANDLOCK_FIELD_FS && !landlock_rights[i].file_legal)
                        rights &= ~landlock_rights[i].bit;
        /* The kernel would take it, but it means nothing on a file that is no device. */
        if (kind == LANDLOCK_KIND_FILE || kind == LANDLOCK_KIND_SOCKET)
                rights &= ~LL_FS_IOCTL_DEV;
        return rights & handled;
}
