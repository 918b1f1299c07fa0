/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* plan_make() on a made-up host. */

#include "plan-test.h"

#define R  ACCESS_READ
#define X  ACCESS_EXECUTE
#define WR ACCESS_WRITE

TEST(the_sandbox_of_mcpproxy) {
        ASSERT_OK(make7("{ \"command\": \"true\", \"working_dir\": \"/srv/project\" }"));
        ASSERT_STREQ(made.plan->command, "/usr/bin/true");
        ASSERT_STREQ(made.plan->argv[0], "true");
        ASSERT_TRUE(made.plan->confined);
        ASSERT_TRUE(made.plan->isolation.isolated);
        ASSERT_FALSE(made.plan->reads_confined);
        ASSERT_FALSE(made.plan->strict);
        ASSERT_EQ(granted("/"), R | X);
        ASSERT_EQ(granted("/srv/project"), R | X | WR);
        ASSERT_EQ(granted("/tmp"), R | X | WR);
        ASSERT_EQ(granted("/dev/null"), R | WR | ACCESS_IOCTL);
        ASSERT_EQ(granted("/home/ada/.npm"), R | WR);
        ASSERT_EQ(granted("/home/ada/.cache"), R | WR); /* to be made */
        ASSERT_EQ(granted("/home/ada/.local/share"), 0);
        ASSERT_EQ(granted("/home/ada"), 0);
        ASSERT_EQ(made.plan->network, NETWORK_MODE_UNRESTRICTED);
        ASSERT_TRUE(made.plan->scope_signals && made.plan->scope_abstract && made.plan->syscall_floor);
        ASSERT_EQ(plan_count_missing(made.plan), 0);
        ASSERT_EQ(made.plan->uid, (uid_t) -1);
}

static const FakeFile credential_files[] = {
        { "/usr/bin/true", NULL, S_IFREG | 0755, "\177ELF" },
        { "/home/ada/.local/state/mcp/test", NULL, 0, NULL },
        { "/home/ada/.config/credstore/late", NULL, S_IFREG | 0600, "x" },
        { "/home/ada/.config/credstore/denied", NULL, S_IFREG | 0600, "x" },
        { "/etc/credstore.encrypted/late", NULL, S_IFREG | 0600, "x" },
        { "/run/user/1000/credentials/u/token", NULL, S_IFREG | 0400, "t0k\nen\n" },
        { "/run/user/1000/credentials/u/bare", NULL, S_IFREG | 0400, "bare" },
        { "/run/user/1000/credentials/u/empty", NULL, S_IFREG | 0400, NULL },
        { "/run/user/1000/credentials/u/directory", NULL, S_IFDIR | 0500, NULL },
        {},
};

static HostFacts credential_host(void) {
        HostFacts host = fake_host(7);

        fake_files = credential_files;
        host.credentials_dir = "/run/user/1000/credentials/u";
        return host;
}

TEST(credentials_are_variables) {
        HostFacts host = credential_host();

        ASSERT_OK(make(&host,
                       NULL,
                       NULL,
                       "{ \"command\": \"true\", \"credentials\": { \"TOKEN\": \"token\", \"BARE\": "
                       "\"bare\", \"EMPTY\": \"empty\" } }"));
        fake_files = usual_files;
        ASSERT_STREQ(env_get(made.plan->env, "TOKEN"), "t0k\nen");
        ASSERT_STREQ(env_get(made.plan->env, "BARE"), "bare");
        ASSERT_STREQ(env_get(made.plan->env, "EMPTY"), "");
        ASSERT_NULL(env_get(made.plan->env, "CREDENTIALS_DIRECTORY"));
}

TEST(credentials_that_are_not_there_are_named_with_their_place) {
        static const struct {
                RuntimeScope scope;
                bool managed, directory;
                const char *name, *message, *remedy;
        } table[] = {
                { RUNTIME_SCOPE_USER, true, true, "none", "is missing", "~/.config/credstore/none" },
                { RUNTIME_SCOPE_USER, true, false, "token", "is missing", "systemctl --user daemon-reload" },
                { RUNTIME_SCOPE_USER, true, true, "late", "is missing", "was not given it" },
                { RUNTIME_SCOPE_USER, false, false, "token", "is missing", "LoadCredential=token" },
                { RUNTIME_SCOPE_SYSTEM,
                  true,
                  true,
                  "none",
                  "is missing",
                  "--name=none - /etc/credstore.encrypted/none" },
                { RUNTIME_SCOPE_SYSTEM,
                  true,
                  true,
                  "late",
                  "is missing",
                  "restart 'mcp-server@test.service'" },
                { RUNTIME_SCOPE_SYSTEM, true, true, "directory", "cannot be read: Is a directory", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *json = strformat(
                                "{ \"command\": \"true\", \"credentials\": { \"TOKEN\": \"%s\" } }",
                                table[i].name);
                HostFacts host = credential_host();

                host.scope = table[i].scope;
                host.managed = table[i].managed;
                if (!table[i].directory)
                        host.credentials_dir = NULL;
                ASSERT_ERROR(make(&host, NULL, NULL, json), EINVAL);
                ASSERT_CONTAINS(message("MCP-P-CREDENTIAL"), table[i].message);
                ASSERT_CONTAINS(message("MCP-P-CREDENTIAL"), "TOKEN");
                ASSERT_STREQ(problem("MCP-P-CREDENTIAL")->pointer, "/credentials/TOKEN");
                if (table[i].remedy)
                        ASSERT_CONTAINS(problem("MCP-P-CREDENTIAL")->remedy, table[i].remedy);
        }
        fake_files = usual_files;
}

static ssize_t read_nul(void *userdata, const char *path, char *buffer, size_t size) {
        if (strstr(path, "/credentials/"))
                return (ssize_t) memcpy(buffer, "s3c\0ret", 7) ? 7 : 0;
        return fake_read_head(userdata, path, buffer, size);
}

static ssize_t read_much(void *userdata, const char *path, char *buffer, size_t size) {
        if (!strstr(path, "/credentials/"))
                return fake_read_head(userdata, path, buffer, size);
        memset(buffer, 's', size);
        return (ssize_t) size;
}

TEST(credentials_that_are_no_variable_are_refused) {
        static const char json[] = "{ \"command\": \"true\", \"credentials\": { \"TOKEN\": \"token\" } }";
        HostFacts host = credential_host();

        host.read_head = read_nul;
        ASSERT_ERROR(make(&host, NULL, NULL, json), EINVAL);
        ASSERT_CONTAINS(message("MCP-P-CREDENTIAL"), "NUL");
        ASSERT_LACKS(message("MCP-P-CREDENTIAL"), "s3c");
        host.read_head = read_much;
        ASSERT_ERROR(make(&host, NULL, NULL, json), EINVAL);
        ASSERT_CONTAINS(message("MCP-P-CREDENTIAL"), "64 KiB");
        fake_files = usual_files;
}

TEST(from_outside_credentials_are_only_named) {
        static const struct {
                const char *name, *message;
                ProblemLevel level;
        } table[] = {
                { "late", "TOKEN is checked at start: only the service can read it", PROBLEM_NOTE },
                { "denied", "only the service can read it", PROBLEM_NOTE },
                { "none", "in none of the credential stores", PROBLEM_WARNING },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *json = strformat(
                                "{ \"command\": \"true\", \"credentials\": { \"TOKEN\": \"%s\" } }",
                                table[i].name);
                HostFacts host = credential_host();

                host.credentials_dir = NULL;
                host.credentials_later = true;
                ASSERT_OK(make(&host, NULL, NULL, json));
                ASSERT_CONTAINS(message("MCP-P-CREDENTIAL"), table[i].message);
                ASSERT_EQ(problem("MCP-P-CREDENTIAL")->level, table[i].level);
                ASSERT_STREQ(env_get(made.plan->env, "TOKEN"), "");
        }
        fake_files = usual_files;
}

TEST(every_rule_has_a_source) {
        ASSERT_OK(make7("{ \"command\": \"npx\", \"args\": [\"x\"], \"isolation\": { \"write\": "
                        "[\"/srv/project\"] } }"));
        for (size_t i = 0; i < made.plan->n_rules; i++)
                ASSERT_TRUE(!isempty(made.plan->rules[i].source));
        ASSERT_EQ(granted("/srv/project"), R | X | WR);
}

TEST(environment_is_an_allowlist) {
        char **env;

        ASSERT_OK(make7("{ \"command\": \"true\", \"env\": { \"A\": \"${LANG}\", \"B\": \"x\" } }"));
        env = made.plan->env;
        ASSERT_STREQ(env_get(env, "A"), "C.UTF-8");
        ASSERT_STREQ(env_get(env, "B"), "x");
        ASSERT_STREQ(env_get(env, "LANG"), "C.UTF-8");
        ASSERT_STREQ(env_get(env, "HOME"), "/home/ada");
        ASSERT_STREQ(env_get(env, "TMPDIR"), "/tmp");
        ASSERT_STREQ(env_get(env, "USER"), "ada");
        ASSERT_STREQ(env_get(env, "LOGNAME"), "ada");
        ASSERT_STREQ(env_get(env, "XDG_CONFIG_HOME"), "/home/ada/.config");
        ASSERT_NULL(env_get(env, "SSH_AUTH_SOCK"));
        ASSERT_NULL(env_get(env, "DOCKER_HOST"));
        ASSERT_NULL(env_get(env, "DBUS_SESSION_BUS_ADDRESS"));
        ASSERT_NULL(env_get(env, "XDG_RUNTIME_DIR"));
        ASSERT_NULL(env_get(env, "API_KEY"));
        ASSERT_NULL(env_get(env, "NOTIFY_SOCKET"));
        ASSERT_NULL(env_get(env, "LC_TIME")); /* an exported shell function */
}

/* Giving any env must not make programs unfindable. */
TEST(path_is_completed_not_replaced) {
        const char *path;

        ASSERT_OK(make7("{ \"command\": \"only-in-nvm\", \"env\": { \"A\": \"1\" } }"));
        path = env_get(made.plan->env, "PATH");
        ASSERT_TRUE(startswith(path, "/usr/bin:/bin:"));
        ASSERT_CONTAINS(path, ":/home/ada/.local/bin:");
        ASSERT_CONTAINS(path, "/home/ada/.nvm/versions/node/v20.1.0/bin");
        ASSERT_LACKS(path, "relative");
        ASSERT_STREQ(made.plan->command, "/home/ada/.nvm/versions/node/v20.1.0/bin/only-in-nvm");
}

TEST(env_wins_over_env_file_wins_over_base) {
        char **env;

        ASSERT_OK(make7("{ \"command\": \"true\", \"envFile\": \"/srv/project/env.list\", \"env\": { \"E\": "
                        "\"from env\", \"LANG\": "
                        "\"de\" } }"));
        env = made.plan->env;
        ASSERT_STREQ(env_get(env, "A"), "again");
        ASSERT_STREQ(env_get(env, "B"), "two words");
        ASSERT_STREQ(env_get(env, "C"), "single $x \\n");
        ASSERT_STREQ(env_get(env, "D"), "line\nnext \"q\"");
        ASSERT_STREQ(env_get(env, "E"), "from env");
        ASSERT_STREQ(env_get(env, "LANG"), "de");
}

TEST(env_file_problems_name_lines_and_no_values) {
        ASSERT_ERROR(make7("{ \"command\": \"true\", \"envFile\": \"/srv/project/env.bad\" }"), EINVAL);
        ASSERT_CONTAINS(message("MCP-P-ENV-FILE-LINE"), "Line 2");
        for (size_t i = 0; i < made.problems.n_items; i++) {
                ASSERT_LACKS(made.problems.items[i].message, "hunter2");
                ASSERT_LACKS(made.problems.items[i].message, "TOKEN");
        }
        ASSERT_ERROR(make7("{ \"command\": \"true\", \"envFile\": \"/srv/none\" }"), EINVAL);
        ASSERT_CONTAINS(message("MCP-P-ENV-FILE"), "/srv/none");
}

TEST(tmpdir_is_the_servers) {
        ASSERT_OK(make7("{ \"command\": \"true\", \"env\": { \"TMPDIR\": \"/srv/project/data\" } }"));
        ASSERT_EQ(granted("/srv/project/data"), R | X | WR);
        ASSERT_EQ(granted("/tmp"), 0);
}

TEST(home_is_the_servers) {
        ASSERT_OK(make7("{ \"command\": \"true\", \"env\": { \"HOME\": \"/srv/project\" } }"));
        ASSERT_EQ(granted("/srv/project/.npm"), R | WR);
        ASSERT_EQ(granted("/home/ada/.npm"), 0);
}

TEST(a_private_home_is_the_state_directory) {
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"home\": \"private\" } }"));
        ASSERT_STREQ(env_get(made.plan->env, "HOME"), "/home/ada/.local/state/mcp/test");
        ASSERT_STREQ(env_get(made.plan->env, "TMPDIR"), "/home/ada/.local/state/mcp/test/tmp");
        ASSERT_NULL(env_get(made.plan->env, "XDG_CONFIG_HOME"));
        ASSERT_EQ(granted("/home/ada/.npm"), 0);
        ASSERT_EQ(granted("/tmp"), 0);
        ASSERT_EQ(granted("/home/ada/.local/state/mcp/test"), R | X | WR);
        /* What it owns as a whole gets no rule of its own below: it could be turned into a link. */
        ASSERT_EQ(granted("/home/ada/.local/state/mcp/test/.cache"), 0);
}

TEST(working_directory_problems_have_their_own_words) {
        static const struct {
                const char *dir, *says;
        } cases[] = {
                { "/srv/none", "does not exist" },      { "/srv/project/file", "is not a directory" },
                { "/srv/closed", "search permission" }, { "/srv/up/denied", "permission denied" },
                { "/srv/loop", "cannot be used" },      { "/srv/dangling", "does not exist" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *json = strformat(
                                "{ \"command\": \"true\", \"working_dir\": \"%s\" }", cases[i].dir);

                ASSERT_ERROR(make7(json), EINVAL);
                ASSERT_CONTAINS(message("MCP-P-WORKING-DIR"), cases[i].dir);
                ASSERT_CONTAINS(message("MCP-P-WORKING-DIR"), "working_dir");
                ASSERT_CONTAINS(message("MCP-P-WORKING-DIR"), cases[i].says);
                ASSERT_EQ(problem("MCP-P-WORKING-DIR")->line, 1);
        }
}

TEST(command_problems_have_their_own_words) {
        static const struct {
                const char *command, *code, *says;
        } cases[] = {
                { "not-there", "MCP-P-COMMAND-NOT-FOUND", "/usr/bin:/bin:" },
                { "/srv/not-there", "MCP-P-COMMAND-NOT-FOUND", "does not exist" },
                { "/srv/dangling", "MCP-P-COMMAND-NOT-FOUND", "does not exist" },
                { "plain-text", "MCP-P-COMMAND-NOT-EXECUTABLE", "is not executable" },
                { "/srv/project/file", "MCP-P-COMMAND-NOT-EXECUTABLE", "is not executable" },
                { "directory", "MCP-P-COMMAND-NOT-EXECUTABLE", "is a directory" },
                { "/srv/project", "MCP-P-COMMAND-NOT-EXECUTABLE", "is a directory" },
                { "/srv/loop", "MCP-P-COMMAND-NOT-EXECUTABLE", "cannot be used" },
                { "/srv/project/run.sh", "MCP-P-INTERPRETER-NOT-FOUND", "/srv/missing/interpreter" },
                { "/srv/project/dos.sh", "MCP-P-INTERPRETER-NOT-FOUND", "carriage return" },
                { "/srv/project/dos-env.sh", "MCP-P-INTERPRETER-NOT-FOUND", "carriage return" },
                { "npx", "MCP-P-RUNNER-ARGS", "npx" },
        };

        ASSERT_OK(make7("{ \"command\": \"/srv/project/dos-option.sh\" }"));
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *json = strformat("{ \"command\": \"%s\" }", cases[i].command);

                printf("# %s\n", cases[i].command);
                ASSERT_ERROR(make7(json), EINVAL);
                ASSERT_CONTAINS(message(cases[i].code), cases[i].says);
        }
}

TEST(snap_is_refused_with_the_reason) {
        ASSERT_ERROR(make7("{ \"command\": \"/snap/bin/uvx\", \"args\": [\"x\"] }"), EPERM);
        ASSERT_CONTAINS(message("MCP-P-SNAP"), "no_new_privs");
        /* Without a sandbox there is no no_new_privs. */
        ASSERT_OK(make7("{ \"command\": \"/snap/bin/uvx\", \"args\": [\"x\"], \"isolation\": { \"mode\": "
                        "\"none\" } }"));
}

TEST(modes) {
        const GlobalIsolation docker = { .present = true, .enabled = TRISTATE_YES };
        HostFacts host = fake_host(7);

        ASSERT_ERROR(make(&host, &docker, NULL, "{ \"command\": \"true\" }"), EPERM);
        ASSERT_CONTAINS(message("MCP-P-DOCKER"), "docker_isolation");
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"mode\": \"none\" } }"));
        ASSERT_FALSE(made.plan->confined || made.plan->syscall_floor || made.plan->no_new_privs);
        ASSERT_EQ(made.plan->n_rules, 0);
        ASSERT_EQ(state(PROTECTION_FS_WRITE), PROTECTION_NOT_WANTED);
        ASSERT_EQ(state(PROTECTION_RLIMITS), PROTECTION_ENFORCED);
}

TEST(disabled_and_quarantined_are_refused) {
        ASSERT_ERROR(make7("{ \"command\": \"true\", \"enabled\": false }"), EPERM);
        ASSERT_NOT_NULL(problem("MCP-P-DISABLED"));
        ASSERT_ERROR(make7("{ \"command\": \"true\", \"quarantined\": true }"), EPERM);
        ASSERT_NOT_NULL(problem("MCP-P-QUARANTINED"));
}

/* Both directions, through links, in isolation.write and in working_dir. */
TEST(without_a_manifest_all_but_devices_is_read) {
        unsigned devices = 0;

        ASSERT_OK(make7("{ \"command\": \"true\" }"));
        for (size_t i = 0; i < made.plan->n_rules; i++) {
                const PathRule *rule = made.plan->rules + i;

                ASSERT_EQ(!!(rule->flags & RULE_BUT_DEVICES), path_equal(rule->path, "/"));
                devices += path_startswith(rule->path, "/dev") && rule->resolved;
        }
        ASSERT_EQ(granted("/dev/ptmx"), 0U);
        ASSERT_NE(granted("/dev/null") & ACCESS_READ, 0U);
        ASSERT_EQ(devices, 2U); /* of those in the policy that this host has */
}

TEST(missing_grants_are_fatal_missing_baseline_is_not) {
        static const char *const paths[] = { "/srv/none", "/srv/loop", "/srv/dangling" };

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                _cleanup_free_ char *json = strformat(
                                "{ \"command\": \"true\", \"isolation\": { \"write\": [\"%s\"] } }",
                                paths[i]);

                ASSERT_ERROR(make7(json), EINVAL);
                ASSERT_CONTAINS(message("MCP-P-GRANT-PATH"), paths[i]);
        }
        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                _cleanup_free_ char *json = strformat(
                                "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": [\"%s\"] } }",
                                paths[i]);

                ASSERT_ERROR(make7(json), EINVAL);
                ASSERT_CONTAINS(message("MCP-P-GRANT-PATH"), paths[i]);
                ASSERT_CONTAINS(message("MCP-P-GRANT-PATH"), "isolation.unix_sockets[0]");
        }
        ASSERT_OK(make7("{ \"command\": \"true\" }"));
        ASSERT_TRUE(strv_length(made.plan->notes) > 0); /* ~/.local/share/pnpm and others are not there */
}

TEST(without_a_sandbox_no_socket_is_shut) {
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"mode\": \"none\", \"network\": "
                        "\"blocked\", \"unix_sockets\": \"none\" } }"));
        ASSERT_EQ(made.plan->network, NETWORK_MODE_UNRESTRICTED);
        ASSERT_EQ(made.plan->unix_sockets, UNIX_ANY);
        ASSERT_CONTAINS(message("MCP-P-NOT-APPLIED"), "the network stays open");
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"mode\": \"none\" } }"));
        ASSERT_NULL(problem("MCP-P-NOT-APPLIED"));
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"network\": \"blocked\" } }"));
        ASSERT_EQ(made.plan->network, NETWORK_MODE_BLOCKED);
        ASSERT_NULL(problem("MCP-P-NOT-APPLIED"));
}

TEST(odd_mounts_are_noted) {
        _cleanup_free_ char *notes = NULL;

        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"write\": [\"/srv/ninep\", "
                        "\"/srv/fuse\", \"/srv/read-only\"] } }"));
        notes = strv_join(made.plan->notes, "\n");
        ASSERT_CONTAINS(notes, "/srv/ninep: it is on 9p");
        ASSERT_CONTAINS(notes, "/srv/fuse: it is on FUSE");
        ASSERT_CONTAINS(notes, "/srv/read-only: it is on a read-only mount");
}

TEST(all_problems_at_once) {
        ASSERT_ERROR(make7("{ \"command\": \"not-there\", \"working_dir\": \"/srv/none\", \"env\": { \"A\": "
                           "\"${UNSET_X}\" }, "
                           "\"isolation\": { \"write\": [\"/srv/none\", \"/home/ada\"] } }"),
                     EPERM);
        ASSERT_NOT_NULL(problem("MCP-P-COMMAND-NOT-FOUND"));
        ASSERT_NOT_NULL(problem("MCP-P-WORKING-DIR"));
        ASSERT_NOT_NULL(problem("MCP-P-GRANT-PATH"));
        ASSERT_NOT_NULL(problem("MCP-P-KEY-TO-THE-HOUSE"));
        ASSERT_GE(made.problems.n_items, 5);
}

/* Which rows a kernel of each ABI has to miss for plain sandbox mode. */
static const struct {
        ProtectionId id;
        int abi;
} sandbox_rows[] = {
        { PROTECTION_FS_WRITE, 1 },  { PROTECTION_FS_REFER, 2 }, { PROTECTION_FS_TRUNCATE, 3 },
        { PROTECTION_DEV_IOCTL, 5 }, { PROTECTION_SIGNAL, 6 },
};

TEST(protections_per_abi) {
        for (int abi = 0; abi <= 10; abi++) {
                HostFacts host = fake_host(abi);
                size_t missing = 0;

                ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
                ASSERT_EQ(made.plan->confined, abi > 0);
                for (size_t i = 0; i < ELEMENTSOF(sandbox_rows); i++) {
                        bool there = abi >= sandbox_rows[i].abi;

                        ASSERT_EQ(state(sandbox_rows[i].id),
                                  there ? PROTECTION_ENFORCED : PROTECTION_MISSING);
                        missing += !there;
                }
                /* The filter alone keeps UNIX sockets shut. */
                ASSERT_EQ(state(PROTECTION_UNIX_PATH), PROTECTION_ENFORCED);
                ASSERT_EQ(plan_count_missing(made.plan), missing);

                /* strict says the same by refusing, and names what it needs. */
                ASSERT_EQ(make(&host,
                               NULL,
                               NULL,
                               "{ \"command\": \"true\", \"isolation\": { \"enforcement\": \"strict\" } }"),
                          missing > 0 ? -EPERM : 0);
                if (abi == 2) {
                        ASSERT_CONTAINS(message("MCP-P-STRICT"), "fs-truncate");
                        ASSERT_CONTAINS(message("MCP-P-STRICT"), "ABI 3 (Linux 6.2)");
                        ASSERT_CONTAINS(message("MCP-P-STRICT"), "found ABI 2");
                }
        }
}

TEST(no_landlock_is_said_in_these_words) {
        HostFacts host = fake_host(0);

        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_CONTAINS(message("MCP-P-UNCONFINED"), "DEGRADED/unconfined");
        ASSERT_FALSE(made.plan->isolation.isolated);
        ASSERT_EQ(made.plan->isolation.source, ISOLATION_SOURCE_SANDBOX_UNAVAILABLE);
        /* What only the first ABI does, nothing does here. */
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_FS_REFER].consequence, "can move and link");
        host = fake_host(1);
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_FS_REFER].consequence, "EXDEV");
        host = fake_host(0);
        host.landlock.unavailable = EOPNOTSUPP;
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_FS_WRITE].needs, "lsm=");
        host.landlock.unavailable = EPERM;
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_FS_WRITE].needs, "forbids");
}

TEST(a_peeled_right_is_a_missing_row) {
        HostFacts host = fake_host(6);

        host.landlock.scoped = LL_SCOPE_ABSTRACT_UNIX;
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_EQ(state(PROTECTION_SIGNAL), PROTECTION_MISSING);
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_SIGNAL].needs, "does not accept it");
        ASSERT_EQ(plan_count_missing(made.plan), 1);
}

TEST(network_and_unix_sockets_per_host) {
        static const char blocked[] =
                        "{ \"command\": \"true\", \"isolation\": { \"network\": \"blocked\" } }";
        static const char list[] =
                        "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": [\"/dev/null\"] } }";
        HostFacts host = fake_host(1), without = fake_host(7), nine = fake_host(9), eight = fake_host(8);

        ASSERT_OK(make(&host, NULL, NULL, blocked));
        ASSERT_EQ(made.plan->network, NETWORK_MODE_BLOCKED);
        ASSERT_EQ(state(PROTECTION_NETWORK), PROTECTION_ENFORCED);
        ASSERT_EQ(state(PROTECTION_TCP_CONNECT), PROTECTION_ENFORCED);
        without.seccomp = false;
        ASSERT_OK(make(&without, NULL, NULL, blocked));
        ASSERT_EQ(state(PROTECTION_NETWORK), PROTECTION_MISSING);
        /* Landlock alone is gone around by fast open. */
        ASSERT_EQ(state(PROTECTION_TCP_CONNECT), PROTECTION_MISSING);
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_TCP_CONNECT].needs, "seccomp");
        ASSERT_EQ(state(PROTECTION_SYSCALLS), PROTECTION_MISSING);
        ASSERT_OK(make(&nine, NULL, NULL, list));
        ASSERT_EQ(state(PROTECTION_UNIX_PATH), PROTECTION_ENFORCED);
        ASSERT_EQ(granted("/dev/null") & ACCESS_UNIX, ACCESS_UNIX);
        ASSERT_OK(make(&eight, NULL, NULL, list));
        ASSERT_EQ(state(PROTECTION_UNIX_PATH), PROTECTION_MISSING);
        ASSERT_CONTAINS(made.plan->protections[PROTECTION_UNIX_PATH].needs, "ABI 9 (Linux 7.1)");
        ASSERT_OK(make(&eight,
                       NULL,
                       NULL,
                       "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": \"any\" } }"));
        ASSERT_EQ(state(PROTECTION_UNIX_PATH), PROTECTION_NOT_WANTED);
}

TEST(limits_need_controllers) {
        static const char json[] =
                        "{ \"command\": \"true\", \"limits\": { \"memory\": \"1G\", \"cpu\": \"50%\" } }";
        HostFacts host = fake_host(7);

        ASSERT_OK(make(&host, NULL, NULL, json));
        ASSERT_EQ(state(PROTECTION_MEMORY), PROTECTION_ENFORCED);
        ASSERT_EQ(state(PROTECTION_TASKS), PROTECTION_ENFORCED);
        host.cgroup_memory = host.cgroup_cpu = false;
        ASSERT_OK(make(&host, NULL, NULL, json));
        ASSERT_EQ(state(PROTECTION_MEMORY), PROTECTION_MISSING);
        ASSERT_EQ(state(PROTECTION_CPU), PROTECTION_MISSING);
        /* Without a manager the default limit is nobody's wish, an explicit one is. */
        host.managed = false;
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_EQ(state(PROTECTION_TASKS), PROTECTION_NOT_WANTED);
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\", \"limits\": { \"tasks\": 10 } }"));
        ASSERT_EQ(state(PROTECTION_TASKS), PROTECTION_MISSING);
}

TEST(identity_is_the_system_managers) {
        HostFacts host = fake_host(7);

        host.scope = RUNTIME_SCOPE_SYSTEM;
        host.uid = host.gid = 61184;
        host.home = host.state_dir = "/srv/project/data";
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_EQ(made.plan->uid, 61184);
        ASSERT_EQ(state(PROTECTION_IDENTITY), PROTECTION_ENFORCED);
        ASSERT_STREQ(env_get(made.plan->env, "HOME"), "/srv/project/data");
        ASSERT_STREQ(made.plan->working_dir, "/srv/project/data");
        host.uid = host.gid = 0;
        ASSERT_OK(make(&host, NULL, NULL, "{ \"command\": \"true\" }"));
        ASSERT_EQ(state(PROTECTION_IDENTITY), PROTECTION_MISSING);
}

TEST(a_wrong_definition_makes_no_crash_on_any_host) {
        HostFacts host = fake_host(7);

        host.home = host.state_dir = host.runtime_dir = host.tmp_dir = host.user_name = NULL;
        (void) make(&host, NULL, NULL, "{ \"command\": \"true\" }");
        ASSERT_NOT_NULL(made.plan);
        (void) make(&host, NULL, NULL, "{ \"url\": \"https://example.org/\" }");
        ASSERT_NOT_NULL(made.plan);
        (void) make(&host, NULL, NULL, "{ \"command\": \"\" }");
        (void) make(&host,
                    NULL,
                    NULL,
                    "{ \"command\": \"true\", \"isolation\": { \"home\": \"private\" } }");
        ASSERT_ERROR(made.result, EINVAL);
}

/* A tree in which an earlier session has put links into what it may write. */
static const FakeFile planted_files[] = {
        { "/", NULL, 0, NULL },
        { "/tmp", NULL, S_IFDIR | 01777, NULL },
        { "/usr/bin/true", NULL, S_IFREG | 0755, "\177ELF" },
        { "/usr/bin/uvx", NULL, S_IFREG | 0755, "\177ELF" },
        { "/home/ada/notes", NULL, 0, NULL },
        { "/home/ada/.cache/uv", "/home/ada/notes", 0, NULL },
        { "/home/ada/.npm", "/data/npm", 0, NULL }, /* the person's own: nobody else writes ~ */
        { "/data/npm", NULL, 0, NULL },
        { "/home/ada/.local/state/mcp/test", NULL, 0, NULL },
        { "/srv/project/out", "/home/ada/notes", 0, NULL },
        { "/srv/project/in", "/srv/project/real", 0, NULL },
        { "/srv/project/real", NULL, 0, NULL },
        { "/srv/project/.env", NULL, S_IFREG | 0600, "TMPDIR=/home/ada/notes\n" },
        { "/srv/project/harmless.env", NULL, S_IFREG | 0600, "A=1\n" },
        { "/etc/x/outside.env", NULL, S_IFREG | 0600, "TMPDIR=/home/ada/notes\n" },
        { "/etc/x/test.json", "/home/ada/dotfiles/test.json", 0, NULL },
        { "/home/ada/dotfiles/test.json", NULL, S_IFREG | 0644, NULL },
        {},
};

TEST(links_that_the_server_could_have_planted_are_not_followed) {
        fake_files = planted_files;
        ASSERT_OK(make7("{ \"command\": \"uvx\", \"args\": [\"x\"] }"));
        ASSERT_EQ(granted("/home/ada/.cache"), R | WR);
        ASSERT_EQ(granted("/home/ada/.cache/uv"), 0);
        ASSERT_EQ(granted("/home/ada/.npm"), R | WR);
        for (size_t i = 0; i < made.plan->n_rules; i++)
                ASSERT_FALSE(streq_ptr(made.plan->rules[i].resolved, "/home/ada/notes"));

        ASSERT_EQ(make7("{ \"command\": \"true\", \"working_dir\": \"/srv/project\", "
                        "\"isolation\": { \"write\": [\"/srv/project/out\"] } }"),
                  -EPERM);
        ASSERT_STREQ(problem("MCP-P-PLANTED-LINK")->pointer, "/isolation/write/0");
        ASSERT_OK(make7("{ \"command\": \"true\", \"working_dir\": \"/srv/project\", "
                        "\"isolation\": { \"write\": [\"/srv/project/in\"] } }"));
        ASSERT_OK(make7("{ \"command\": \"true\", \"isolation\": { \"write\": [\"/srv/project/out\"] } }"));
        ASSERT_EQ(granted("/srv/project/out"), R | X | WR); /* nobody but the person could have made it */
        fake_files = usual_files;
}

TEST(a_server_does_not_widen_itself_by_its_env_file) {
        static const char text[] = "{ \"command\": \"true\", \"working_dir\": \"/srv/project\", "
                                   "\"envFile\": \"%s\" }";
        static const struct {
                const char *file;
                RuntimeScope scope;
                int result;
        } table[] = {
                { "/srv/project/.env", RUNTIME_SCOPE_USER, -EPERM },
                { "/srv/project/harmless.env", RUNTIME_SCOPE_USER, 0 },
                { "/etc/x/outside.env", RUNTIME_SCOPE_USER, 0 },
                /* Read by root: it could be a link to anything. */
                { "/srv/project/harmless.env", RUNTIME_SCOPE_SYSTEM, -EPERM },
                { "/etc/x/outside.env", RUNTIME_SCOPE_SYSTEM, 0 },
        };

        fake_files = planted_files;
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *json = strformat(text, table[i].file);
                HostFacts host = fake_host(7);

                host.scope = table[i].scope;
                printf("# %zu\n", i);
                ASSERT_EQ(make(&host, NULL, NULL, json), table[i].result);
                ASSERT_EQ(problem("MCP-P-OWN-FILE") != NULL, table[i].result < 0);
        }
        fake_files = usual_files;
}

TEST(a_server_does_not_write_its_own_definition) {
        fake_files = planted_files;
        ASSERT_EQ(make7("{ \"command\": \"true\", \"isolation\": { \"write\": [\"/home/ada/dotfiles\"] } }"),
                  -EPERM);
        ASSERT_NOT_NULL(strstr(message("MCP-P-OWN-FILE"), "/etc/x/test.json"));
        fake_files = usual_files;
}

TEST(strict_is_not_made_nothing_by_others) {
        static const GlobalIsolation none = { .present = true, .mode = (char *) "none" };
        static const FakeFile files[] = {
                { "/", NULL, 0, NULL },
                { "/usr/bin/true", NULL, S_IFREG | 0755, "\177ELF" },
                { "/srv/tools/docker", NULL, S_IFREG | 0755, "\177ELF" },
                { "/home/ada/.local/state/mcp/test", NULL, 0, NULL },
                {},
        };
        static const struct {
                const char *command, *isolation;
                const GlobalIsolation *global;
                int result;
        } table[] = {
                { "true", "\"enforcement\": \"strict\"", &none, -EPERM },
                { "true", "\"enforcement\": \"strict\", \"mode\": \"sandbox\"", &none, 0 },
                { "true", "\"enforcement\": \"strict\", \"mode\": \"none\"", NULL, 0 },
                { "true", "\"enforcement\": \"best-effort\"", &none, 0 },
                { "/srv/tools/docker", "\"enforcement\": \"strict\", \"mode\": \"sandbox\"", NULL, -EPERM },
                { "/srv/tools/docker", "\"mode\": \"sandbox\"", NULL, 0 },
        };
        HostFacts host = fake_host(7);

        fake_files = files;
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *json =
                                strformat("{ \"command\": \"%s\", \"isolation\": { %s } }",
                                          table[i].command,
                                          table[i].isolation);

                printf("# %zu\n", i);
                ASSERT_EQ(make(&host, table[i].global, NULL, json), table[i].result);
                ASSERT_EQ(problem("MCP-P-STRICT-UNCONFINED") != NULL, table[i].result < 0);
        }
        fake_files = usual_files;
}
