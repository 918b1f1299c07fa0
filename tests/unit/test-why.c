/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* plan_why() on a made-up host. What it proposes is put into the definition each time: then it has to be allowed, and the
 * plan must not be refused. */

#include "basic/jsonc-util.h"
#include "config/definition-read.h"
#include "fake-host.h"
#include "manifest/manifest.h"
#include "plan/plan-load.h"
#include "plan/why.h"

static Why why;
static Plan *plan;
static Definition *definition;
static int made;

static void make(const HostFacts *host, const char *json) {
        _cleanup_problems_ ProblemList problems = {};

        fake_files = usual_files;
        plan = plan_free(plan);
        definition = definition_free(definition);
        ASSERT_OK(definition_read_text(
                        json, strlen(json), "test", "/etc/x/test.json", &definition, &problems));
        ASSERT_FALSE(problem_list_has_errors(&problems));
        made = plan_load(definition, NULL, host, &plan, &problems);
        ASSERT_NOT_NULL(plan);
}

static WhyAnswer ask(const HostFacts *host, WhyQuestion q) {
        why_done(&why);
        ASSERT_OK(plan_why(plan, definition, host, &q, &why));
        ASSERT_NOT_NULL(why.reason);
        return why.answer;
}

#define PATH(p, a)    ((WhyQuestion){ .kind = WHY_PATH, .path = (p), .access = (a) })
#define CONNECT(h, p) ((WhyQuestion){ .kind = WHY_CONNECT, .host = (h), .port = (p) })
#define SOCKET(p)     ((WhyQuestion){ .kind = WHY_SOCKET, .path = (p) })

/* Puts the proposal where it says it goes. */
static char *apply(const char *json) {
        _cleanup_jsonc_ json_object *root = NULL, *piece = NULL;
        _cleanup_free_ char *wrapped = NULL;
        json_object *at, *manifest = NULL;

        ASSERT_OK(jsonc_parse(json, strlen(json), &root));
        at = root;
        if (why.in_manifest) {
                ASSERT_TRUE(json_object_object_get_ex(
                                json_object_object_get(root, "isolation"), "manifest", &manifest));
                at = manifest;
        }
        if (why.replace) {
                ASSERT_OK(jsonc_parse(why.line, strlen(why.line), &piece));
                ASSERT_OK(json_pointer_set(&at, why.pointer, json_object_get(piece)));
                return strdup(json_object_to_json_string(root));
        }
        if (*why.pointer) {
                json_object *inner = NULL;

                ASSERT_OK(json_pointer_get(at, why.pointer, &inner));
                at = inner;
        }
        wrapped = strformat(json_object_is_type(at, json_type_array) ? "[%s]" : "{%s}", why.line);
        ASSERT_OK(jsonc_parse(wrapped, strlen(wrapped), &piece));
        if (json_object_is_type(at, json_type_array))
                json_object_array_add(at, json_object_get(json_object_array_get_idx(piece, 0)));
        else {
                json_object_object_foreach(piece, key, value) {
                        json_object_object_add(at, key, json_object_get(value));
                }
        }
        return strdup(json_object_to_json_string(root));
}

static void denied_until_proposed(const HostFacts *host, const char *json, WhyQuestion q) {
        _cleanup_free_ char *better = NULL;

        make(host, json);
        ASSERT_OK(made);
        ASSERT_EQ(ask(host, q), WHY_DENIED);
        ASSERT_NULL(why.refused);
        ASSERT_NOT_NULL(why.line);
        better = apply(json);
        make(host, better);
        ASSERT_OK(made);
        ASSERT_EQ(ask(host, q), WHY_ALLOWED);
}

static void denied_for_good(const HostFacts *host, const char *json, WhyQuestion q, const char *words) {
        make(host, json);
        ASSERT_EQ(ask(host, q), WHY_DENIED);
        ASSERT_NULL(why.line);
        ASSERT_CONTAINS(why.refused, words);
}

#define PLAIN "{ \"command\": \"true\", \"working_dir\": \"/srv/project\" }"
#define WITH(manifest)                                                                  \
        "{ \"command\": \"true\", \"working_dir\": \"/srv/project\", \"isolation\": { " \
        "\"manifest\": " manifest " } }"
#define BLOCKED "{ \"version\": \"0.1.0\", \"network\": { \"mode\": \"blocked\" } }"

TEST(what_is_allowed_names_its_rule) {
        HostFacts host = fake_host(7);

        make(&host, PLAIN);
        ASSERT_EQ(ask(&host, PATH("/srv/project/new/file", ACCESS_WRITE)), WHY_ALLOWED);
        ASSERT_STREQ(why.rule->path, "/srv/project");
        ASSERT_CONTAINS(why.reason, "working directory");
        ASSERT_EQ(ask(&host, PATH("/etc/passwd", ACCESS_READ)), WHY_ALLOWED);
        ASSERT_EQ(ask(&host, PATH("/usr/bin/node", ACCESS_EXECUTE)), WHY_ALLOWED);
        ASSERT_EQ(ask(&host, CONNECT("example.com", 443)), WHY_ALLOWED);
}

/* Nobody asked for reads to be confined, and devices are all the same. */
TEST(reading_a_device) {
        HostFacts host = fake_host(7);

        denied_until_proposed(&host, PLAIN, PATH("/dev/ptmx", ACCESS_READ));
        denied_until_proposed(&host, PLAIN, PATH("/dev/ptmx", ACCESS_WRITE));
        make(&host, PLAIN);
        ASSERT_EQ(ask(&host, PATH("/dev/null", ACCESS_READ)), WHY_ALLOWED);
        ASSERT_EQ(ask(&host, PATH("/dev/shm/file", ACCESS_EXECUTE)), WHY_ALLOWED);
        ASSERT_EQ(ask(&host, PATH("/devices", ACCESS_READ)), WHY_ALLOWED);
}

TEST(writing_elsewhere) {
        HostFacts host = fake_host(7);

        denied_until_proposed(&host, PLAIN, PATH("/home/ada/notes/a.md", ACCESS_WRITE));
        denied_until_proposed(&host, PLAIN, PATH("/home/ada/notes", ACCESS_WRITE));
        denied_until_proposed(
                        &host,
                        "{ \"command\": \"true\", \"isolation\": { \"home\": \"shared\" } }",
                        PATH("/srv/project/data", ACCESS_WRITE));
        denied_until_proposed(
                        &host,
                        "{ \"command\": \"true\", \"isolation\": { \"write\": [\"/home/ada/notes\"] } }",
                        PATH("/srv/project/file", ACCESS_WRITE));
}

TEST(what_is_there_already_is_not_said_twice) {
        HostFacts host = fake_host(9);

        denied_until_proposed(
                        &host,
                        "{ \"command\": \"true\", \"isolation\": { \"write\": [], \"unix_sockets\": "
                        "\"none\" } }",
                        PATH("/srv/project/data", ACCESS_WRITE));
        denied_until_proposed(
                        &host,
                        "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": \"none\" } }",
                        SOCKET("/home/ada/notes"));
        denied_until_proposed(
                        &host, WITH("{ \"version\": \"0.1.0\" }"), PATH("/home/ada/notes", ACCESS_READ));
        denied_until_proposed(
                        &host,
                        WITH("{ \"version\": \"0.1.0\", \"filesystem\": {} }"),
                        PATH("/home/ada/notes", ACCESS_READ));
        denied_until_proposed(
                        &host,
                        WITH("{ \"version\": \"0.1.0\", \"network\": { \"mode\": \"blocked\", \"ports\": {} "
                             "} }"),
                        CONNECT("example.com", 443));
}

TEST(keys_to_the_house_are_never_proposed) {
        HostFacts host = fake_host(7);

        denied_for_good(&host, PLAIN, PATH("/etc/systemd/system/x.service", ACCESS_WRITE), "/etc/systemd");
        denied_for_good(&host, PLAIN, PATH("/home/ada/.ssh/config", ACCESS_WRITE), ".ssh");
        denied_for_good(&host, PLAIN, PATH("/srv/to-ssh/config", ACCESS_WRITE), ".ssh");
        denied_for_good(&host, PLAIN, PATH("/home/ada/.bashrc", ACCESS_WRITE), ".bashrc");
        denied_for_good(&host, PLAIN, PATH("/no/such/tree", ACCESS_WRITE), "/");
        denied_for_good(&host, WITH(BLOCKED), PATH("/home/ada/.ssh/config", ACCESS_WRITE), ".ssh");
        denied_for_good(&host, WITH(BLOCKED), PATH("/srv/missing", ACCESS_READ), "cannot be found");
}

TEST(a_manifest) {
        HostFacts host = fake_host(9);

        denied_until_proposed(
                        &host,
                        WITH("{ \"version\": \"0.1.0\", \"filesystem\": { \"grants\": [] } }"),
                        PATH("/home/ada/notes", ACCESS_READ));
        denied_until_proposed(
                        &host,
                        WITH("{ \"version\": \"0.1.0\", \"filesystem\": { \"grants\": [] } }"),
                        PATH("/home/ada/notes/new", ACCESS_WRITE));
        denied_until_proposed(&host, WITH(BLOCKED), CONNECT("example.com", 443));
        denied_until_proposed(
                        &host,
                        WITH("{ \"version\": \"0.1.0\", \"network\": { \"mode\": \"blocked\", \"ports\": { "
                             "\"connect\": [80] } } }"),
                        CONNECT("example.com", 443));
        denied_until_proposed(&host, WITH(BLOCKED), SOCKET("/home/ada/notes"));
}

TEST(what_a_manifest_denies_is_not_proposed) {
        HostFacts host = fake_host(9);

        denied_for_good(&host,
                        WITH("{ \"version\": \"0.1.0\", \"filesystem\": { \"grants\": [], \"deny\": [ { "
                             "\"path\": "
                             "\"/home/ada/notes\" } ] } }"),
                        PATH("/home/ada/notes", ACCESS_READ),
                        "denies");
}

TEST(a_strict_server_gets_no_proposal_that_it_would_not_start_with) {
        HostFacts host = fake_host(3);

        denied_for_good(&host, WITH(BLOCKED), CONNECT("example.com", 443), "ABI 4");
        denied_for_good(&host, WITH(BLOCKED), SOCKET("/home/ada/notes"), "ABI 9");
}

TEST(network_and_sockets_without_a_manifest) {
        HostFacts host = fake_host(9);

        denied_until_proposed(
                        &host,
                        "{ \"command\": \"true\", \"isolation\": { \"network\": \"blocked\" } }",
                        CONNECT("::1", 80));
        denied_until_proposed(&host, PLAIN, SOCKET("/home/ada/notes"));
        denied_until_proposed(
                        &host,
                        "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": [\"/srv/project\"] } }",
                        SOCKET("/home/ada/notes"));
}

TEST(what_cannot_be_enforced_is_not_called_denied) {
        HostFacts host = fake_host(0);

        make(&host, PLAIN);
        ASSERT_EQ(ask(&host, PATH("/home/ada/notes", ACCESS_WRITE)), WHY_ALLOWED);
        ASSERT_CONTAINS(why.reason, "not confined");
        host = fake_host(7);
        make(&host, "{ \"command\": \"true\", \"isolation\": { \"unix_sockets\": [\"/srv/project\"] } }");
        ASSERT_EQ(ask(&host, SOCKET("/home/ada/notes")), WHY_NOT_ENFORCED);
        make(&host, "{ \"command\": \"true\", \"isolation\": { \"mode\": \"none\" } }");
        ASSERT_EQ(ask(&host, SOCKET("/run/user/1000/bus")), WHY_ALLOWED);
}

TEST(questions_that_are_none) {
        HostFacts host = fake_host(7);
        const WhyQuestion questions[] = {
                PATH("relative", ACCESS_READ),
                PATH(NULL, ACCESS_READ),
                PATH("/x", 0),
                PATH("/x", ACCESS_READ | ACCESS_WRITE),
                CONNECT("", 80),
                CONNECT("h", 0),
                SOCKET("relative"),
                SOCKET(NULL),
        };

        make(&host, PLAIN);
        for (size_t i = 0; i < ELEMENTSOF(questions); i++)
                ASSERT_ERROR(plan_why(plan, definition, &host, questions + i, &why), EINVAL);
}
