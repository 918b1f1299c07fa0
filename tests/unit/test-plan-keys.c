/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keys to the house: what no definition may grant, and what is said of what it may. */

#include "plan-test.h"

TEST(keys_to_the_house_are_refused) {
        static const char *const paths[] = {
                "/home/ada/.ssh",
                "/home/ada/.config/systemd/user",
                "/home/ada",
                "/home",
                "/",
                "/etc",
                "/etc/systemd/system",
                "/srv/to-ssh",
                "/home/ada/dotfiles",
                "/home/ada/dotfiles/autostart",
                "/home/ada/.config",
                "/home/ada/.bashrc",
                "/home/ada/.config/containers/systemd",
                "/proc",
                "/usr",
                "~/.ssh",
        };

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                _cleanup_free_ char *json = strformat(
                                "{ \"command\": \"true\", \"isolation\": { \"write\": [\"%s\"] } }",
                                paths[i]);

                printf("# %s\n", paths[i]);
                ASSERT_ERROR(make7(json), EPERM);
                ASSERT_CONTAINS(message("MCP-P-KEY-TO-THE-HOUSE"), "isolation.write[0]");
        }
        ASSERT_ERROR(make7("{ \"command\": \"true\", \"working_dir\": \"/home/ada\" }"), EPERM);
        ASSERT_CONTAINS(message("MCP-P-KEY-TO-THE-HOUSE"), "working directory");
        ASSERT_OK(make7("{ \"command\": \"true\", \"working_dir\": \"/home/ada/notes\" }"));
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"write\": [\"/home/ada/notes\", "
                        "\"/srv\"] } }"));
}

#define SOCKETS(value) "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": " value " } }"

TEST(sockets_that_lead_out_are_said) {
        HostFacts host = fake_host(9);

        ASSERT_OK(make(&host, NULL, NULL, SOCKETS("[\"/run/user/1000/db.sock\"]")));
        ASSERT_NULL(problem("MCP-P-SOCKET-KEY"));
        ASSERT_OK(make(&host, NULL, NULL, SOCKETS("[\"/run/user/1000/db.sock\", \"/run/user/1000/bus\"]")));
        ASSERT_CONTAINS(message("MCP-P-SOCKET-KEY"), "/run/user/1000/bus");
        ASSERT_STREQ(problem("MCP-P-SOCKET-KEY")->pointer, "/isolation/unix_sockets/1");
        ASSERT_OK(make(&host, NULL, NULL, SOCKETS("\"any\"")));
        ASSERT_CONTAINS(message("MCP-P-SOCKET-KEY"), "session bus");
        ASSERT_OK(make(&host, NULL, NULL, SOCKETS("\"none\"")));
        ASSERT_NULL(problem("MCP-P-SOCKET-KEY"));
        host.scope = RUNTIME_SCOPE_SYSTEM;
        ASSERT_OK(make(&host, NULL, NULL, SOCKETS("\"any\"")));
        ASSERT_NULL(problem("MCP-P-SOCKET-KEY"));
}

TEST(keys_by_function) {
        HostFacts host = fake_host(7);

        fake_files = usual_files;
        ASSERT_NOT_NULL(plan_key_to_the_house(&host, "/home/ada/.ssh/x", ACCESS_WRITE));
        ASSERT_NOT_NULL(plan_key_to_the_house(&host, "/run/user/1000/systemd", ACCESS_WRITE));
        ASSERT_NULL(plan_key_to_the_house(&host, "/home/ada/.ssh/x", ACCESS_READ));
        ASSERT_NULL(plan_key_to_the_house(&host, "/home/ada/.sshx", ACCESS_WRITE));
        ASSERT_NULL(plan_key_to_the_house(&host, "/home/ada/notes", ACCESS_WRITE));
        /* What other programs of the person run without any sandbox. */
        ASSERT_NOT_NULL(plan_key_to_the_house(&host, "/home/ada/.claude.json", ACCESS_WRITE));
        ASSERT_NOT_NULL(plan_key_to_the_house(&host, "/home/ada/.nvm/versions", ACCESS_WRITE));
        ASSERT_NOT_NULL(plan_key_to_the_house(&host, "/usr/local/bin", ACCESS_WRITE));
        ASSERT_NULL(plan_key_to_the_house(
                        &host, "/usr/lib/some-server", ACCESS_WRITE)); /* a program's own */
}

TEST(keys_of_persons_hold_in_the_system_manager) {
        static const struct {
                const char *path;
                bool key;
        } table[] = {
                { "/home", true },
                { "/home/eve", true },
                { "/home/eve/.ssh/x", true },
                { "/home/eve/.bashrc", true },
                { "/root", true },
                { "/root/.ssh", true },
                { "/home/eve/notes", false },
                { "/home/.ssh", true },
                { "/var/lib/mcp/test/.ssh", false },
                { "/homes/eve", false },
                { "/home/eve/.sshx", false },
                { "/root/notes", false },
        };
        HostFacts host = fake_host(7);

        host.scope = RUNTIME_SCOPE_SYSTEM;
        host.home = host.state_dir = "/var/lib/mcp/test";
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                printf("# %s\n", table[i].path);
                ASSERT_EQ(plan_key_to_the_house(&host, table[i].path, ACCESS_WRITE) != NULL, table[i].key);
        }
}
