/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/stat.h>

#include "plan/plan.h"
#include "sandbox/landlock-rights.h"
#include "test.h"

/* The table of nono's capability manifests, section "access to Landlock rights", and the kernel's for ABI 9 and 10. */
static const struct {
        int abi;
        uint64_t fs, net, scope;
        uint64_t dir_read, dir_write, dir_readwrite, dir_device;
        uint64_t file_read, file_write, file_readwrite, device_write;
} expected[] = {
        { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
        { 1, 0x1FFF, 0, 0, 0xD, 0x1FF2, 0x1FFF, 0x1FFF, 0x5, 0x2, 0x7, 0x2 },
        { 2, 0x3FFF, 0, 0, 0xD, 0x3FF2, 0x3FFF, 0x3FFF, 0x5, 0x2, 0x7, 0x2 },
        { 3, 0x7FFF, 0, 0, 0xD, 0x7FF2, 0x7FFF, 0x7FFF, 0x5, 0x4002, 0x4007, 0x4002 },
        { 4, 0x7FFF, 3, 0, 0xD, 0x7FF2, 0x7FFF, 0x7FFF, 0x5, 0x4002, 0x4007, 0x4002 },
        { 5, 0xFFFF, 3, 0, 0xD, 0x7FF2, 0x7FFF, 0xFFFF, 0x5, 0x4002, 0x4007, 0xC002 },
        { 6, 0xFFFF, 3, 3, 0xD, 0x7FF2, 0x7FFF, 0xFFFF, 0x5, 0x4002, 0x4007, 0xC002 },
        { 7, 0xFFFF, 3, 3, 0xD, 0x7FF2, 0x7FFF, 0xFFFF, 0x5, 0x4002, 0x4007, 0xC002 },
        { 8, 0xFFFF, 3, 3, 0xD, 0x7FF2, 0x7FFF, 0xFFFF, 0x5, 0x4002, 0x4007, 0xC002 },
        { 9, 0x1FFFF, 3, 3, 0xD, 0x7FF2, 0x7FFF, 0xFFFF, 0x5, 0x4002, 0x4007, 0xC002 },
        { 10, 0x1FFFF, 0xF, 3, 0xD, 0x7FF2, 0x7FFF, 0xFFFF, 0x5, 0x4002, 0x4007, 0xC002 },
};

TEST(masks_per_abi) {
        for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
                ASSERT_INTEGERS(landlock_rights_mask(LANDLOCK_FIELD_FS, expected[i].abi),
                                ==,
                                expected[i].fs);
                ASSERT_INTEGERS(landlock_rights_mask(LANDLOCK_FIELD_NET, expected[i].abi),
                                ==,
                                expected[i].net);
                ASSERT_INTEGERS(landlock_rights_mask(LANDLOCK_FIELD_SCOPE, expected[i].abi),
                                ==,
                                expected[i].scope);
        }
}

TEST(access_per_kind_and_abi) {
        const unsigned r = ACCESS_READ | ACCESS_EXECUTE, w = ACCESS_WRITE | ACCESS_MAKE_DEVICE;

        for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
                uint64_t fs = expected[i].fs;

                ASSERT_INTEGERS(landlock_rights_for(r, LANDLOCK_KIND_DIRECTORY, fs),
                                ==,
                                expected[i].dir_read);
                ASSERT_INTEGERS(landlock_rights_for(w, LANDLOCK_KIND_DIRECTORY, fs),
                                ==,
                                expected[i].dir_write);
                ASSERT_INTEGERS(landlock_rights_for(r | w, LANDLOCK_KIND_DIRECTORY, fs),
                                ==,
                                expected[i].dir_readwrite);
                ASSERT_INTEGERS(landlock_rights_for(r | w | ACCESS_IOCTL, LANDLOCK_KIND_DIRECTORY, fs),
                                ==,
                                expected[i].dir_device);
                ASSERT_INTEGERS(landlock_rights_for(r, LANDLOCK_KIND_FILE, fs), ==, expected[i].file_read);
                ASSERT_INTEGERS(landlock_rights_for(w, LANDLOCK_KIND_FILE, fs), ==, expected[i].file_write);
                ASSERT_INTEGERS(landlock_rights_for(r | w, LANDLOCK_KIND_FILE, fs),
                                ==,
                                expected[i].file_readwrite);
                ASSERT_INTEGERS(landlock_rights_for(w | ACCESS_IOCTL, LANDLOCK_KIND_DEVICE, fs),
                                ==,
                                expected[i].device_write);
                /* A regular file never carries it. */
                ASSERT_INTEGERS(landlock_rights_for(w | ACCESS_IOCTL, LANDLOCK_KIND_FILE, fs),
                                ==,
                                expected[i].file_write);
        }
}

TEST(unix_sockets_need_abi_9) {
        ASSERT_INTEGERS(landlock_rights_for(ACCESS_UNIX, LANDLOCK_KIND_SOCKET, 0xFFFF), ==, 0);
        ASSERT_INTEGERS(landlock_rights_for(ACCESS_UNIX, LANDLOCK_KIND_SOCKET, 0x1FFFF), ==, 0x10000);
        ASSERT_INTEGERS(landlock_rights_for(ACCESS_UNIX, LANDLOCK_KIND_DIRECTORY, 0x1FFFF), ==, 0x10000);
}

TEST(plain_write_makes_no_devices) {
        uint64_t rights = landlock_rights_for(ACCESS_WRITE, LANDLOCK_KIND_DIRECTORY, 0x1FFFF);

        ASSERT_INTEGERS(rights & (LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK), ==, 0);
        ASSERT_INTEGERS(rights & LL_FS_EXECUTE, ==, 0);
        ASSERT_INTEGERS(rights & LL_FS_READ_FILE, ==, 0);
}

TEST(kinds) {
        ASSERT_INTEGERS(landlock_kind_of_mode(S_IFDIR | 0755), ==, LANDLOCK_KIND_DIRECTORY);
        ASSERT_INTEGERS(landlock_kind_of_mode(S_IFREG | 0644), ==, LANDLOCK_KIND_FILE);
        ASSERT_INTEGERS(landlock_kind_of_mode(S_IFIFO | 0644), ==, LANDLOCK_KIND_FILE);
        ASSERT_INTEGERS(landlock_kind_of_mode(S_IFCHR | 0644), ==, LANDLOCK_KIND_DEVICE);
        ASSERT_INTEGERS(landlock_kind_of_mode(S_IFBLK | 0644), ==, LANDLOCK_KIND_DEVICE);
        ASSERT_INTEGERS(landlock_kind_of_mode(S_IFSOCK | 0644), ==, LANDLOCK_KIND_SOCKET);
}

TEST(every_right_is_described_once) {
        for (size_t i = 0; i < n_landlock_rights; i++) {
                ASSERT_TRUE(!isempty(landlock_rights[i].name) && !isempty(landlock_rights[i].help));
                ASSERT_TRUE(landlock_rights[i].abi >= 1 && landlock_rights[i].abi <= LL_ABI_MAX);
                ASSERT_INTEGERS(__builtin_popcountll(landlock_rights[i].bit), ==, 1);
                for (size_t k = 0; k < i; k++) {
                        ASSERT_FALSE(streq(landlock_rights[i].name, landlock_rights[k].name));
                        ASSERT_FALSE(landlock_rights[i].field == landlock_rights[k].field &&
                                     landlock_rights[i].bit == landlock_rights[k].bit);
                }
        }
}
