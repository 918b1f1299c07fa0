/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Landlock's system calls and structures up to ABI 10, under own names (see plan/landlock-bits.h why).
 *
 * Source: include/uapi/linux/landlock.h of Linux 7.2; the numbers are the same on every architecture. */

#include <sys/syscall.h>
#include <unistd.h>

#include "basic/macro.h"
#include "plan/landlock-bits.h"

#ifndef __NR_landlock_create_ruleset
#        define __NR_landlock_create_ruleset 444
#endif
#ifndef __NR_landlock_add_rule
#        define __NR_landlock_add_rule 445
#endif
#ifndef __NR_landlock_restrict_self
#        define __NR_landlock_restrict_self 446
#endif

#define LL_CREATE_RULESET_VERSION (1U << 0)
#define LL_CREATE_RULESET_ERRATA  (1U << 1)

#define LL_RULE_PATH_BENEATH 1
#define LL_RULE_NET_PORT     2

#define LL_RESTRICT_LOG_SAME_EXEC_OFF \
        (1U << 0) /* ABI 7: denials of the program that restricts itself are not */
#define LL_RESTRICT_LOG_NEW_EXEC_ON (1U << 1) /* ABI 7: denials are audited also after execve() */

/* Always passed whole: the kernel takes a longer structure whose tail is zero. */
typedef struct LandlockRulesetAttr {
        uint64_t handled_access_fs;
        uint64_t handled_access_net; /* ABI 4 */
        uint64_t scoped;             /* ABI 6 */
        uint64_t quiet_access_fs;    /* ABI 10, and the rest */
        uint64_t quiet_access_net;
        uint64_t quiet_scoped;
} LandlockRulesetAttr;

typedef struct LandlockPathBeneathAttr {
        uint64_t allowed_access;
        int32_t parent_fd;
} __attribute__((__packed__)) LandlockPathBeneathAttr;

typedef struct LandlockNetPortAttr {
        uint64_t allowed_access;
        uint64_t port; /* host byte order */
} LandlockNetPortAttr;

static inline int landlock_create_ruleset(const LandlockRulesetAttr *attr, size_t size, uint32_t flags) {
        return (int) syscall(__NR_landlock_create_ruleset, attr, size, flags);
}

static inline int landlock_add_rule(int ruleset_fd, int type, const void *attr, uint32_t flags) {
        return (int) syscall(__NR_landlock_add_rule, ruleset_fd, type, attr, flags);
}

static inline int landlock_restrict_self(int ruleset_fd, uint32_t flags) {
        return (int) syscall(__NR_landlock_restrict_self, ruleset_fd, flags);
}
