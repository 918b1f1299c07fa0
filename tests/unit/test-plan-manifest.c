/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Baseline and manifest together, on a made-up host. */

#include "config/definition-read.h"
#include "fake-host.h"
#include "plan/plan-load.h"

static Plan *plan;
static ProblemList problems;
static Definition *definition;
static const FakeFile *used_files = usual_files;

/* command and more keys, the manifest's members. */
static int load(int abi, const char *keys, const char *manifest) {
        _cleanup_free_ char *json = NULL;
        HostFacts host = fake_host(abi);

        plan = plan_free(plan);
        problem_list_done(&problems);
        definition = definition_free(definition);
        fake_files = used_files;
        json =
                        strformat("{ %s, \"isolation\": { \"manifest\": { \"version\": \"0.1.0\"%s%s } } }",
                                  keys,
                                  *manifest ? ", " : "",
                                  manifest);
        ASSERT_NOT_NULL(json);
        ASSERT_OK(definition_read_text(
                        json, strlen(json), "test", "/etc/x/test.json", &definition, &problems));
        return plan_load(definition, NULL, &host, &plan, &problems);
}

#define TRUE_COMMAND "\"command\": \"true\""
#define GRANT(path, access, more)                                                                           \
        "\"filesystem\": { \"grants\": [ { \"path\": \"" path "\", \"access\": \"" access "\"" more " } ] " \
        "}"

static const Problem *problem(const char *code) {
        for (size_t i = 0; i < problems.n_items; i++)
                if (streq(problems.items[i].code, code))
                        return problems.items + i;
        return NULL;
}

static const char *message(const char *code) {
        const Problem *p = problem(code);

        return p ? p->message : NULL;
}

static unsigned granted(const char *path) {
        unsigned access = 0;

        for (size_t i = 0; plan && i < plan->n_rules; i++)
                if (path_equal(plan->rules[i].path, path) && plan->rules[i].resolved)
                        access |= plan->rules[i].access;
        return access;
}

#define RX (ACCESS_READ | ACCESS_EXECUTE)
#define W  (ACCESS_WRITE | ACCESS_MAKE_DEVICE)

TEST(the_baseline_alone) {
        ASSERT_OK(load(7, TRUE_COMMAND, ""));
        ASSERT_TRUE(plan->strict); /* a manifest wants to be enforced */
        ASSERT_TRUE(plan->reads_confined);
        ASSERT_EQ(granted("/"), 0);
        ASSERT_EQ(granted("/usr"), RX);
        ASSERT_EQ(granted("/home/ada"), 0);
        ASSERT_EQ(granted("/tmp"), 0);
        ASSERT_EQ(granted("/home/ada/.npm"), 0);
        ASSERT_EQ(granted("/home/ada/.local/state/mcp/test"), RX | ACCESS_WRITE);
        ASSERT_EQ(granted("/home/ada/.local/state/mcp/test/tmp"), RX | ACCESS_WRITE);
        ASSERT_EQ(plan->protections[PROTECTION_FS_READ].state, PROTECTION_ENFORCED);
        ASSERT_EQ(plan->network, NETWORK_MODE_UNRESTRICTED);
}

TEST(grants_are_added_with_their_source) {
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("/srv/project", "readwrite", "")));
        ASSERT_EQ(granted("/srv/project"), RX | W);
        ASSERT_STREQ(plan->rules[plan->n_rules - 1].source,
                     "manifest /isolation/manifest/filesystem/grants/0");
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("/srv/project", "write", "")));
        ASSERT_EQ(granted("/srv/project"), W);
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("/srv/project/file", "read", ", \"type\": \"file\"")));
        ASSERT_EQ(granted("/srv/project/file"), RX);
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("~/notes", "read", "")));
        ASSERT_EQ(granted("/home/ada/notes"), RX);
}

TEST(devices_come_with_ioctls_only_for_writing) {
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("/dev/ptmx", "readwrite", ", \"type\": \"file\"")));
        ASSERT_EQ(granted("/dev/ptmx"), RX | ACCESS_WRITE | ACCESS_IOCTL);
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("/dev/ptmx", "read", ", \"type\": \"file\"")));
        ASSERT_EQ(granted("/dev/ptmx"), RX);
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("/srv/project/file", "write", ", \"type\": \"file\"")));
        ASSERT_EQ(granted("/srv/project/file"), ACCESS_WRITE);
}

TEST(paths_that_cannot_be_granted_say_which_and_why) {
        ASSERT_ERROR(load(7, TRUE_COMMAND, GRANT("/srv/none", "read", "")), EINVAL);
        ASSERT_CONTAINS(message("MCP-P-MANIFEST-PATH"), "/filesystem/grants/0");
        ASSERT_CONTAINS(message("MCP-P-MANIFEST-PATH"), "does not exist");
        ASSERT_CONTAINS(problem("MCP-P-MANIFEST-PATH")->pointer, "/filesystem/grants/0");
        ASSERT_EQ(problem("MCP-P-MANIFEST-PATH")->line, 1);
        ASSERT_ERROR(load(7, TRUE_COMMAND, GRANT("/srv/loop", "read", "")), EINVAL);
        ASSERT_CONTAINS(message("MCP-P-MANIFEST-PATH"), "cannot be resolved");
        ASSERT_ERROR(load(7, TRUE_COMMAND, GRANT("/srv/project/file", "read", "")), EINVAL);
        ASSERT_CONTAINS(problem("MCP-P-MANIFEST-PATH")->remedy, "\"type\": \"file\"");
        ASSERT_ERROR(load(7, TRUE_COMMAND, GRANT("/srv/project", "read", ", \"type\": \"file\"")), EINVAL);
        ASSERT_CONTAINS(problem("MCP-P-MANIFEST-PATH")->remedy, "\"type\": \"directory\"");
}

/* What of the baseline is not there is skipped; a grant that is not there never is, whatever its kind. */
TEST(a_missing_path_is_fatal_for_every_kind_of_grant) {
        static const char *const accesses[] = { "read", "write", "readwrite" };
        static const char *const types[] = { "file", "directory" };
        static const char *const paths[] = { "/srv/none", "/srv/dangling", "/srv/loop" };

        for (size_t a = 0; a < ELEMENTSOF(accesses); a++)
                for (size_t t = 0; t < ELEMENTSOF(types); t++)
                        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                                _cleanup_free_ char *text = strformat(
                                                "\"filesystem\": { \"grants\": [ { \"path\": \"%s\", "
                                                "\"access\": \"%s\", \"type\": \"%s\" } ] }",
                                                paths[i],
                                                accesses[a],
                                                types[t]);

                                printf("# %s of a %s, %s\n", accesses[a], types[t], paths[i]);
                                ASSERT_ERROR(load(7, TRUE_COMMAND, text), EINVAL);
                                ASSERT_CONTAINS(message("MCP-P-MANIFEST-PATH"), paths[i]);
                                ASSERT_CONTAINS(problem("MCP-P-MANIFEST-PATH")->pointer,
                                                "/filesystem/grants/0");
                        }
}

TEST(keys_to_the_house_are_refused_for_writing_only) {
        ASSERT_ERROR(load(7, TRUE_COMMAND, GRANT("~", "readwrite", "")), EPERM);
        ASSERT_CONTAINS(message("MCP-P-KEY-TO-THE-HOUSE"), "manifest");
        ASSERT_STREQ(problem("MCP-P-KEY-TO-THE-HOUSE")->pointer, "/isolation/manifest/filesystem/grants/0");
        ASSERT_EQ(problem("MCP-P-KEY-TO-THE-HOUSE")->line, 1U);
        ASSERT_ERROR(load(7, TRUE_COMMAND, GRANT("/srv/to-ssh", "write", "")), EPERM);
        ASSERT_OK(load(7, TRUE_COMMAND, GRANT("~", "read", "")));
}

TEST(deny_is_satisfied_or_refused) {
        static const char both[] = "\"filesystem\": { \"grants\": [ { \"path\": \"/srv/project\", "
                                   "\"access\": \"readwrite\" } ], "
                                   "\"deny\": [ { \"path\": \"%s\" } ] }";
        static const struct {
                const char *path, *says;
        } cases[] = {
                { "/home/ada/.ssh", NULL },
                { "/srv/projects", NULL },
                { "/home/ada/.not-there", NULL },
                { "/srv/up/denied", NULL },
                { "/srv/project", "/srv/project" },
                { "/srv/project/data", "lies in /srv/project" },
                { "/srv/project/not-there", "lies in /srv/project" },
                { "/srv", "contains /srv/project" },
                { "/usr/bin", "lies in /usr" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *before = strndup(both, (size_t) (strstr(both, "%s") - both)),
                                    *text = NULL;

                text = strformat("%s%s%s", before, cases[i].path, strstr(both, "%s") + 2);
                printf("# %s\n", cases[i].path);
                ASSERT_EQ(load(7, TRUE_COMMAND, text), cases[i].says ? -EPERM : 0);
                if (cases[i].says) {
                        ASSERT_CONTAINS(message("MCP-P-MANIFEST-PATH"), cases[i].says);
                        ASSERT_CONTAINS(message("MCP-P-MANIFEST-PATH"), cases[i].path);
                }
        }
}

TEST(ports) {
        ASSERT_OK(load(7, TRUE_COMMAND, "\"network\": { \"mode\": \"blocked\" }"));
        ASSERT_EQ(plan->network, NETWORK_MODE_BLOCKED);
        ASSERT_OK(load(7,
                       TRUE_COMMAND,
                       "\"network\": { \"mode\": \"blocked\", \"ports\": { \"connect\": [443, 80, 443], "
                       "\"bind\": [8080] } }"));
        ASSERT_EQ(plan->network, NETWORK_MODE_PORTS);
        ASSERT_EQ(plan->connect_ports.n_ports, 2);
        ASSERT_EQ(plan->connect_ports.ports[0], 80);
        ASSERT_EQ(plan->bind_ports.n_ports, 1);
        ASSERT_EQ(plan->protections[PROTECTION_LOOPBACK_ONLY].state, PROTECTION_NOT_WANTED);
        ASSERT_OK(load(7, TRUE_COMMAND, "\"network\": { \"ports\": { \"connect\": [443] } }"));
        ASSERT_EQ(plan->network, NETWORK_MODE_PORTS);
        ASSERT_EQ(plan->bind_ports.n_ports, 0);
        /* Below ABI 4 ports cannot be kept, and a manifest is strict. */
        ASSERT_ERROR(load(3, TRUE_COMMAND, "\"network\": { \"ports\": { \"connect\": [443] } }"), EPERM);
        ASSERT_CONTAINS(message("MCP-P-STRICT"), "ABI");
}

TEST(localhost_needs_an_address_filter) {
        /* A user's manager has none: strict refuses. */
        ASSERT_ERROR(load(7,
                          TRUE_COMMAND,
                          "\"network\": { \"mode\": \"blocked\", \"ports\": { \"localhost\": [8181] } }"),
                     EPERM);
        ASSERT_EQ(plan->protections[PROTECTION_LOOPBACK_ONLY].state, PROTECTION_MISSING);
        ASSERT_EQ(plan->connect_ports.n_ports, 1);
        ASSERT_EQ(plan->bind_ports.n_ports, 1);
}

TEST(scopes_follow_the_manifest) {
        ASSERT_OK(load(7, TRUE_COMMAND, ""));
        ASSERT_TRUE(plan->scope_signals && plan->scope_abstract);
        ASSERT_OK(load(7,
                       TRUE_COMMAND,
                       "\"process\": { \"signal_mode\": \"allow_all\", \"ipc_mode\": \"full\" }"));
        ASSERT_FALSE(plan->scope_signals || plan->scope_abstract);
        ASSERT_EQ(plan->protections[PROTECTION_SIGNAL].state, PROTECTION_NOT_WANTED);
        ASSERT_ERROR(load(5, TRUE_COMMAND, "\"process\": { \"signal_mode\": \"allow_same_sandbox\" }"),
                     EPERM);
}

TEST(resources_are_the_scopes) {
        static const char resources[] = "\"process\": { \"exec_strategy\": \"supervised\" }, \"resources\": "
                                        "{ \"memory_bytes\": 1073741824, "
                                        "\"max_processes\": 9 }";

        ASSERT_OK(load(7, TRUE_COMMAND, resources));
        ASSERT_EQ(plan->memory_max, 1073741824);
        ASSERT_EQ(plan->swap_max, 0);
        ASSERT_EQ(plan->tasks_max, 9);
        ASSERT_TRUE(plan->oom_kill_all);
        /* The lower of both holds. */
        ASSERT_OK(load(7,
                       TRUE_COMMAND ", \"limits\": { \"memory\": 536870912, \"tasks\": 100 }",
                       resources));
        ASSERT_EQ(plan->memory_max, 536870912);
        ASSERT_EQ(plan->tasks_max, 9);
}

TEST(a_shim_brings_its_environment_along) {
        ASSERT_OK(load(7, "\"command\": \"shim\"", ""));
        ASSERT_STREQ(plan->command, "/home/ada/.local/bin/shim");
        ASSERT_EQ(granted("/home/ada/.local/bin/shim"), RX);
        ASSERT_EQ(granted("/home/ada/.local/share/uv/tools/shim"), RX);
        ASSERT_EQ(granted("/home/ada/.local/share/uv/python/cpython-3.12"), RX);
        ASSERT_EQ(granted("/home/ada/.local"), 0);
        ASSERT_EQ(granted("/home/ada"), 0);
}

TEST(a_runtime_brings_its_caches_along) {
        ASSERT_OK(load(7, "\"command\": \"npx\", \"args\": [\"-y\", \"x\"]", ""));
        ASSERT_EQ(granted("/home/ada/.npm"), ACCESS_READ | ACCESS_WRITE | ACCESS_EXECUTE);
        ASSERT_EQ(granted("/home/ada/.cache"), 0);
        ASSERT_EQ(granted("/usr/lib/node_modules/npm/bin/npx-cli.js"), RX);
        ASSERT_EQ(granted("/usr/bin/node"), RX);
}

TEST(arguments_that_name_paths_are_readable) {
        ASSERT_OK(load(7,
                       "\"command\": \"node\", \"args\": [\"/srv/project/file\", \"/home/ada/notes\", "
                       "\"--x\"]",
                       ""));
        ASSERT_EQ(granted("/srv/project/file"), RX);
        ASSERT_EQ(granted("/srv/project"), RX); /* its modules */
        ASSERT_EQ(granted("/home/ada/notes"), RX);
        /* A file in the home does not open the home. */
        ASSERT_OK(load(7, "\"command\": \"node\", \"args\": [\"/home/ada/.bashrc\"]", ""));
        ASSERT_EQ(granted("/home/ada"), 0);
}

TEST(a_manifest_is_not_left_unenforced) {
        ASSERT_ERROR(load(0, TRUE_COMMAND, ""), EPERM);
        ASSERT_CONTAINS(message("MCP-P-STRICT"), "built without Landlock");
}

TEST(blocked_commands) {
        ASSERT_ERROR(load(7, TRUE_COMMAND, "\"process\": { \"blocked_commands\": [\"true\"] }"), EPERM);
        ASSERT_NOT_NULL(problem("MCP-P-BLOCKED-COMMAND"));
}

TEST(links_that_the_server_could_have_planted_are_not_followed) {
        static const FakeFile files[] = {
                { "/", NULL, 0, NULL },
                { "/usr/bin/true", NULL, S_IFREG | 0755, "\177ELF" },
                { "/usr/bin/sh", NULL, S_IFREG | 0755, "\177ELF" },
                { "/home/ada/private/bin/tool", NULL, S_IFREG | 0755, "\177ELF" },
                { "/srv/project/.venv/bin/python", "/home/ada/forge/bin/python3.12", 0, NULL },
                { "/home/ada/forge/bin/python3.12", NULL, S_IFREG | 0755, "\177ELF" },
                { "/home/ada/private/letter", NULL, S_IFREG | 0600, "x" },
                { "/home/ada/.local/state/mcp/test/tmp", "/home/ada/private", 0, NULL },
                { "/srv/project/data", "/home/ada/private/letter", 0, NULL },
                { "/srv/project/server", NULL, S_IFREG | 0755, "#!/home/ada/private/bin/tool\n" },
                {},
        };

        used_files = files;
        ASSERT_OK(load(7,
                       "\"command\": \"/srv/project/server\", \"args\": [\"/srv/project/data\"], "
                       "\"working_dir\": \"/srv/project\"",
                       ""));
        ASSERT_EQ(granted("/srv/project"), RX | ACCESS_WRITE);
        ASSERT_EQ(granted("/home/ada/private/bin/tool"), RX);
        for (size_t i = 0; i < plan->n_rules; i++) {
                const char *leads_to = plan->rules[i].resolved;

                ASSERT_FALSE(streq_ptr(leads_to, "/home/ada/private") ||
                             streq_ptr(leads_to, "/home/ada/private/letter"));
        }
        /* An interpreter finds its library. */
        ASSERT_OK(load(7,
                       "\"command\": \"/srv/project/.venv/bin/python\", \"working_dir\": \"/srv/project\"",
                       ""));
        ASSERT_EQ(granted("/home/ada/forge"), RX);
        used_files = usual_files;
}
