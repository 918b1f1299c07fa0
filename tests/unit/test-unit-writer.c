/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "basic/fd-util.h"

#include "test.h"
#include "unit-writer.h"

/* What has been written so far; borrowed. */
static const char *text(UnitText *t) {
        ASSERT_FALSE(t->failed);
        return t->data;
}

TEST(string_is_one_line_without_specifiers) {
        static const struct {
                const char *value, *expected;
        } table[] = {
                { "plain name", "K=plain name\n" },
                { "100% %n", "K=100%% %%n\n" },
                { "a\nUser=root", "K=a\\x0aUser=root\n" },
                { "a\r\n[Service]\nExecStart=/bin/sh", "K=a\\x0d\\x0a[Service]\\x0aExecStart=/bin/sh\n" },
                { "continued\\", "K=continued\\x5c\n" },
                { "\"quoted' $HOME ${HOME}", "K=\"quoted' $HOME ${HOME}\n" },
                { "\033[31mred", "K=\\x1b[31mred\n" },
                { "gr\xc3\xbc\xc3\x9f", "K=gr\xc3\xbc\xc3\x9f\n" },
                { "cut \xc3", "K=cut \\xc3\n" },
                { "", "K=\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_unit_text_ UnitText t = {};

                ASSERT_OK(unit_text_open(&t));
                ASSERT_OK(unit_text_string(&t, "K=", table[i].value));
                ASSERT_STREQ(text(&t), table[i].expected);
        }
}

TEST(path_that_cannot_be_said_is_refused) {
        static const char *const bad[] = {
                "relative/path", "", "/a\nb", "/a\\", "/a ", "/a\tb", "/\xff", "/a\x7f",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_unit_text_ UnitText t = {};

                ASSERT_OK(unit_text_open(&t));
                ASSERT_ERROR(unit_text_path(&t, "K", bad[i]), EINVAL);
                ASSERT_STREQ(text(&t), "");
        }
}

TEST(path_is_literal) {
        _cleanup_unit_text_ UnitText t = {};

        ASSERT_OK(unit_text_open(&t));
        ASSERT_OK(unit_text_path(&t, "SourcePath", "/etc/50% off/a\\b \"c\".json"));
        ASSERT_STREQ(text(&t), "SourcePath=/etc/50%% off/a\\b \"c\".json\n");
}

TEST(quoted_path_is_one_word) {
        _cleanup_unit_text_ UnitText t = {};

        ASSERT_OK(unit_text_open(&t));
        ASSERT_OK(unit_text_quoted_path(&t, "K", "-", "/srv//a b/./%h\"x\\y/"));
        ASSERT_STREQ(text(&t), "K=\"-/srv/a b/%%h\\\"x\\\\y\"\n");
        ASSERT_ERROR(unit_text_quoted_path(&t, "K", "-", "/srv/../etc"), EINVAL);
        ASSERT_ERROR(unit_text_quoted_path(&t, "K", "-", "srv"), EINVAL);
        ASSERT_ERROR(unit_text_quoted_path(&t, "K", "-", "/srv\n"), EINVAL);
}

TEST(times_are_exact) {
        _cleanup_unit_text_ UnitText t = {};

        ASSERT_OK(unit_text_open(&t));
        unit_text_usec(&t, "A", 30000000);
        unit_text_usec(&t, "B", 1500000);
        unit_text_usec(&t, "C", 0);
        unit_text_usec(&t, "D", UINT64_MAX);
        unit_text_usec(&t, "E", UINT64_MAX - 1);
        ASSERT_STREQ(text(&t), "A=30s\nB=1500000us\nC=0s\nD=infinity\nE=18446744073709551614us\n");
}

TEST(written_once_and_whole) {
        _cleanup_unit_text_ UnitText t = {}, other = {};
        char dir[] = "/tmp/test-unit-writer-XXXXXX";
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *got = NULL;
        struct stat st;
        size_t size;

        ASSERT_NOT_NULL(mkdtemp(dir));
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT_OK(fd);
        ASSERT_OK(unit_text_open(&t));
        ASSERT_OK(unit_text_open(&other));
        unit_text_line(&t, "[", "Unit", "]");
        unit_text_line(&other, "other");
        umask(022);
        ASSERT_OK(unit_text_write(&t, fd, "a.socket", NULL));
        ASSERT_ERROR(unit_text_write(&other, fd, "a.socket", NULL), EEXIST);
        ASSERT_OK(file_read_at(fd, "a.socket", 4096, &got, &size));
        ASSERT_STREQ(got, "[Unit]\n");
        ASSERT_EQ(fstatat(fd, "a.socket", &st, AT_SYMLINK_NOFOLLOW), 0);
        ASSERT_EQ(st.st_mode & 07777, 0644);

        /* A link that is in the way is not followed. */
        ASSERT_EQ(symlinkat("elsewhere", fd, "b.socket"), 0);
        ASSERT_ERROR(unit_text_write(&t, fd, "b.socket", NULL), EEXIST);
        ASSERT_EQ(faccessat(fd, "elsewhere", F_OK, 0), -1);

        ASSERT_EQ(unlinkat(fd, "a.socket", 0), 0);
        ASSERT_EQ(unlinkat(fd, "b.socket", 0), 0);
        ASSERT_EQ(rmdir(dir), 0);
}

TEST(every_server_has_a_user_of_its_own) {
        static const char *const servers[] = {
                "github",
                "GitHub",
                "git-hub",
                "git.hub",
                "git_hub",
                "a:b",
                "a\\x20b",
                "exactly-twenty-seven-bytes-",
                "one-more-than-twenty-seven-b",
                "sixteen-hex-0123456789abcdef",
                "0123456789abcdef",
        };
        char *names[ELEMENTSOF(servers)];

        for (size_t i = 0; i < ELEMENTSOF(servers); i++) {
                ASSERT_OK(dynamic_user_name(servers[i], &names[i]));
                ASSERT_TRUE(account_name_is_plain(names[i]));
                ASSERT_NULL(strchr(names[i], '.'));
                for (size_t k = 0; k < i; k++)
                        ASSERT_FALSE(streq(names[i], names[k]));
        }
        ASSERT_STREQ(names[0], "mcp-github");
        ASSERT_STREQ(names[7], "mcp-exactly-twenty-seven-bytes-");
        ASSERT_NOT_NULL(startswith(names[8], "mcp_"));
        for (size_t i = 0; i < ELEMENTSOF(servers); i++)
                free(names[i]);
}

TEST(account_names) {
        static const char *const good[] = { "alice", "_mcp", "1000", "first.last", "a-b", "Alice" };
        static const char *const bad[] = {
                "",
                "-a",
                ".a",
                "a b",
                "a\nb",
                "a%h",
                "a/b",
                "a\\b",
                "a:b",
                "\xc3\xa4",
                "thirty-two-bytes-is-one-too-much",
        };

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                ASSERT_TRUE(account_name_is_plain(good[i]));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ASSERT_FALSE(account_name_is_plain(bad[i]));
}
