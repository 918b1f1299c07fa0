/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/stat.h>
#include <sys/un.h>

#include "config/paths.h"
#include "test.h"

TEST(the_system_searches_below_etc_first) {
        _cleanup_config_paths_ ConfigPaths p = {};

        ASSERT_OK(config_paths_init(RUNTIME_SCOPE_SYSTEM, "/root", NULL, &p));
        ASSERT_EQ(strv_length(p.server_dirs), 4);
        ASSERT_STREQ(p.server_dirs[0], "/root/etc/mcp/servers.d");
        ASSERT_STREQ(p.server_dirs[1], "/root/run/mcp/servers.d");
        ASSERT_STREQ(p.server_dirs[2], "/root/usr/local/lib/mcp/servers.d");
        ASSERT_STREQ(p.server_dirs[3], "/root/usr/lib/mcp/servers.d");
        ASSERT_STREQ(p.client_files[0], "/root/etc/mcp/mcp.json");
        ASSERT_EQ(p.owner, 0);
}

TEST(a_user_searches_their_own_first) {
        char *env[] = { (char *) "HOME=/home/x", NULL };
        _cleanup_config_paths_ ConfigPaths p = {};

        ASSERT_OK(config_paths_init(RUNTIME_SCOPE_USER, NULL, env, &p));
        ASSERT_STREQ(p.server_dirs[0], "/home/x/.config/mcp/servers.d");
        ASSERT_STREQ(p.server_dirs[1], "/etc/mcp/user-servers.d");
        ASSERT_STREQ(p.server_dirs[2], "/run/mcp/user-servers.d");
        ASSERT_STREQ(p.server_dirs[3], "/usr/lib/mcp/user-servers.d");
        ASSERT_STREQ(p.client_files[0], "/home/x/.config/mcp/mcp.json");
        ASSERT_EQ(p.owner, getuid());
}

TEST(xdg_config_home_counts_where_it_is_absolute) {
        char *xdg[] = { (char *) "HOME=/home/x", (char *) "XDG_CONFIG_HOME=/c", NULL };
        char *relative[] = { (char *) "HOME=/home/x", (char *) "XDG_CONFIG_HOME=c", NULL };
        char *nothing[] = { (char *) "HOME=x", NULL };
        _cleanup_config_paths_ ConfigPaths a = {}, b = {}, c = {};

        ASSERT_OK(config_paths_init(RUNTIME_SCOPE_USER, NULL, xdg, &a));
        ASSERT_STREQ(a.server_dirs[0], "/c/mcp/servers.d");
        ASSERT_OK(config_paths_init(RUNTIME_SCOPE_USER, NULL, relative, &b));
        ASSERT_STREQ(b.server_dirs[0], "/home/x/.config/mcp/servers.d");
        ASSERT_ERROR(config_paths_init(RUNTIME_SCOPE_USER, NULL, nothing, &c), ENXIO);
        ASSERT_NULL(c.server_dirs);
}

TEST(names_go_there_and_back) {
        static const struct {
                const char *name, *instance;
        } table[] = {
                { "github-mcp", "github-mcp" },
                { "a_B9.c:d", "a_B9.c:d" },
                { "City Weather", "City\\x20Weather" },
                { "io.example/x", "io.example\\x2fx" },
                { "-x", "\\x2dx" },
                { ".x", "\\x2ex" },
                { "..", "\\x2e." },
                { ":", "\\x3a" },
                { "a\\x20b", "a\\x5cx20b" },
                { "\xc3\xa4", "\\xc3\\xa4" },
                { "a\nb%i", "a\\x0ab\\x25i" },
                { "a@b", "a\\x40b" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *instance = NULL, *name = NULL;

                ASSERT_OK(server_name_escape(table[i].name, &instance));
                ASSERT_STREQ(instance, table[i].instance);
                ASSERT_OK(server_name_unescape(instance, &name));
                ASSERT_STREQ(name, table[i].name);
        }
}

TEST(what_is_no_name_is_refused) {
        char long_name[SERVER_INSTANCE_MAX + 2] = "";
        _cleanup_free_ char *longest = NULL;
        char *s = NULL;

        ASSERT_ERROR(server_name_escape("", &s), EINVAL);
        ASSERT_ERROR(server_name_escape("\xff", &s), EINVAL);
        memset(long_name, 'a', SERVER_INSTANCE_MAX + 1);
        ASSERT_ERROR(server_name_escape(long_name, &s), ENAMETOOLONG);
        memset(long_name, ' ', SERVER_INSTANCE_MAX / 4 + 1);
        long_name[SERVER_INSTANCE_MAX / 4 + 1] = 0;
        ASSERT_ERROR(server_name_escape(long_name, &s), ENAMETOOLONG);
        long_name[SERVER_INSTANCE_MAX / 4] = 0;
        ASSERT_OK(server_name_escape(long_name, &longest));
        ASSERT_NULL(s);
}

TEST(only_one_spelling_is_an_instance) {
        static const char *const bad[] = { "",     "a b", "\\x61",  "\\x2D", "\\x00", "\\x2",
                                           "a\\x", "a\\", "a\\y20", "a/b",   ".a",    "\\xff" };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                char *s = NULL;

                if (server_name_unescape(bad[i], &s) != -EINVAL)
                        test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
                ASSERT_NULL(s);
        }
}

TEST(socket_paths_fit) {
        _cleanup_free_ char *raw = NULL, *longest = NULL;
        char name[SERVER_INSTANCE_MAX + 1] = "";

        ASSERT_OK(server_socket_path("/run", "a\\x20b", SOCKET_RAW, &raw));
        ASSERT_STREQ(raw, "/run/mcp/a\\x20b.sock");
        memset(name, 'a', SERVER_INSTANCE_MAX);
        ASSERT_OK(server_socket_path("/run/user/4294967294", name, SOCKET_CONNECT, &longest));
        ASSERT_TRUE(endswith(longest, ".connect"));
        ASSERT_LT(strlen(longest), sizeof(((struct sockaddr_un *) NULL)->sun_path));
}

TEST(the_runtime_directory_is_found_without_its_variable) {
        _cleanup_free_ char *system = NULL, *set = NULL, *usual = NULL, *expected = NULL;
        struct stat st;
        int r;

        ASSERT_OK(runtime_dir_find(RUNTIME_SCOPE_SYSTEM, &system));
        ASSERT_STREQ(system, "/run");
        ASSERT_OK(setenv("XDG_RUNTIME_DIR", "/somewhere", 1));
        ASSERT_OK(runtime_dir_find(RUNTIME_SCOPE_USER, &set));
        ASSERT_STREQ(set, "/somewhere");
        ASSERT_OK(unsetenv("XDG_RUNTIME_DIR"));
        r = runtime_dir_find(RUNTIME_SCOPE_USER, &usual);
        expected = strformat("/run/user/%u", getuid());
        ASSERT_NOT_NULL(expected);
        if (lstat(expected, &st) >= 0 && st.st_uid == getuid()) {
                ASSERT_OK(r);
                ASSERT_STREQ(usual, expected);
        } else {
                ASSERT_ERROR(r, ENXIO);
                ASSERT_NULL(usual);
        }
}
