/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Landlock's rights as the kernel numbers them, up to ABI 10. Own copy under own names: <linux/landlock.h> of Debian 12
 * stops at ABI 2, and enum members cannot be tested for with #ifdef.
 *
 * Source: include/uapi/linux/landlock.h of Linux 7.2 and Documentation/userspace-api/landlock.rst. */

#include <stdint.h>

#define LL_ABI_MAX 10 /* the newest that this build knows; a newer kernel is treated as this one */

/* What a right is called and what it gates: sandbox/landlock-rights.h. */
#define LL_FS_EXECUTE      (UINT64_C(1) << 0)
#define LL_FS_WRITE_FILE   (UINT64_C(1) << 1)
#define LL_FS_READ_FILE    (UINT64_C(1) << 2)
#define LL_FS_READ_DIR     (UINT64_C(1) << 3)
#define LL_FS_REMOVE_DIR   (UINT64_C(1) << 4)
#define LL_FS_REMOVE_FILE  (UINT64_C(1) << 5)
#define LL_FS_MAKE_CHAR    (UINT64_C(1) << 6)
#define LL_FS_MAKE_DIR     (UINT64_C(1) << 7)
#define LL_FS_MAKE_REG     (UINT64_C(1) << 8)
#define LL_FS_MAKE_SOCK    (UINT64_C(1) << 9)
#define LL_FS_MAKE_FIFO    (UINT64_C(1) << 10)
#define LL_FS_MAKE_BLOCK   (UINT64_C(1) << 11)
#define LL_FS_MAKE_SYM     (UINT64_C(1) << 12)
#define LL_FS_REFER        (UINT64_C(1) << 13) /* ABI 2 */
#define LL_FS_TRUNCATE     (UINT64_C(1) << 14) /* ABI 3 */
#define LL_FS_IOCTL_DEV    (UINT64_C(1) << 15) /* ABI 5 */
#define LL_FS_RESOLVE_UNIX (UINT64_C(1) << 16) /* ABI 9 */

#define LL_NET_BIND_TCP         (UINT64_C(1) << 0) /* ABI 4 */
#define LL_NET_CONNECT_TCP      (UINT64_C(1) << 1) /* ABI 4 */
#define LL_NET_BIND_UDP         (UINT64_C(1) << 2) /* ABI 10 */
#define LL_NET_CONNECT_SEND_UDP (UINT64_C(1) << 3) /* ABI 10 */

#define LL_SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL        (UINT64_C(1) << 1) /* ABI 6 */
