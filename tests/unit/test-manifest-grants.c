/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest-test.h"

/* ---- what comes out ---- */

TEST(sample) {
        _cleanup_reading_ Reading x;

        read_with("{ \"version\": \"0.1.0\",\n"
                  "  \"filesystem\": { \"grants\": [\n"
                  "    { \"path\": \"/srv/notes\", \"access\": \"read\" },\n"
                  "    { \"path\": \"/srv/notes-out\", \"access\": \"readwrite\" },\n"
                  "    { \"path\": \"/srv/token.txt\", \"access\": \"read\", \"type\": \"file\" } ] },\n"
                  "  \"network\": { \"mode\": \"blocked\", \"ports\": { \"connect\": [443] } } }\n",
                  &test_context,
                  &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.problems.n_items, 0);
        ASSERT_STREQ(x.m->file, "m.json");
        ASSERT_EQ(x.m->n_grants, 3);
        ASSERT_STREQ(x.m->grants[1].path, "/srv/notes-out");
        ASSERT_STREQ(x.m->grants[1].pointer, "/filesystem/grants/1");
        ASSERT_EQ(x.m->grants[1].access, GRANT_READWRITE);
        ASSERT_EQ(x.m->grants[1].line, 4);
        ASSERT_EQ(x.m->grants[1].column, 5);
        ASSERT_FALSE(x.m->grants[1].is_file);
        ASSERT_TRUE(x.m->grants[2].is_file);
        ASSERT_EQ(x.m->n_denies, 0);
        ASSERT_TRUE(x.m->network_blocked);
        ASSERT_EQ(x.m->n_connect, 1);
        ASSERT_EQ(x.m->connect[0], 443);
        ASSERT_EQ(x.m->n_bind + x.m->n_localhost, 0);
        ASSERT_TRUE(x.m->scope_signals);
        ASSERT_FALSE(x.m->require_signals);
        ASSERT_TRUE(x.m->scope_abstract);
        ASSERT_EQ(x.m->memory_bytes, 0);
        ASSERT_EQ(x.m->max_processes, 0);
}

TEST(exported_manifest) {
        _cleanup_reading_ Reading x;

        read_members("\"$schema\": \"https://nono.sh/schemas/capability-manifest.schema.json\", "
                     "\"filesystem\": "
                     "{\"grants\": [{\"path\": \"/usr\", \"access\": \"read\", \"type\": \"directory\"}], "
                     "\"deny\": "
                     "[{\"path\": \"/home/alice/.ssh\"}, {\"path\": \"~/.aws\"}]}, \"network\": {\"mode\": "
                     "\"blocked\", \"dns\": true}, \"process\": {\"exec_strategy\": \"monitor\", "
                     "\"blocked_commands\": [\"rm\", \"dd\"]}",
                     &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->n_denies, 2);
        ASSERT_STREQ(x.m->denies[1].path, "/home/alice/.aws");
        ASSERT_STREQ(x.m->denies[1].original, "~/.aws");
        ASSERT_STREQ(x.m->denies[1].pointer, "/filesystem/deny/1");
        ASSERT_EQ(strv_length(x.m->blocked_commands), 2);
        ASSERT_FALSE(manifest_allows_command(x.m, "/bin/dd"));
        ASSERT_TRUE(manifest_allows_command(x.m, "/bin/rm/node"));
}

TEST(allowed_commands_lift_blocked_ones_alone) {
        _cleanup_reading_ Reading x;

        read_members(PROCESS("\"allowed_commands\": [\"rm\"], \"blocked_commands\": [\"rm\", \"dd\"]"), &x);
        ASSERT_OK(x.r);
        ASSERT_TRUE(manifest_allows_command(x.m, "rm"));
        ASSERT_TRUE(manifest_allows_command(x.m, "node"));
        ASSERT_FALSE(manifest_allows_command(x.m, "dd"));
}

TEST(port_lists_are_sorted_and_unique) {
        static const uint16_t localhost[] = { 8000, 8001, 8002, 9000, 65535 };
        _cleanup_reading_ Reading x;

        read_members(PORTS("\"connect\": [443, 80, 443], \"localhost\": [9000, 8001], \"localhost_range\": "
                           "[[65535, "
                           "65535], [8000, 8002]]"),
                     &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->n_connect, 2);
        ASSERT_EQ(x.m->connect[0], 80);
        ASSERT_EQ(x.m->n_localhost, ELEMENTSOF(localhost));
        ASSERT_EQ(memcmp(x.m->localhost, localhost, sizeof(localhost)), 0);
        ASSERT_NULL(x.m->bind);
}

TEST(localhost_means_nothing_while_unrestricted) {
        _cleanup_reading_ Reading x;

        read_members(NETWORK("\"ports\": {\"localhost\": [1], \"localhost_range\": [[5, 6]]}"), &x);
        ASSERT_OK(x.r);
        ASSERT_FALSE(x.m->network_blocked);
        ASSERT_EQ(x.m->n_localhost, 0);
}

TEST(process_modes) {
        static const struct {
                const char *members;
                bool scope_signals, require_signals, scope_abstract;
        } cases[] = {
                { "", true, false, true },
                { "\"process\": null", true, false, true },
                { PROCESS("\"signal_mode\": \"isolated\""), true, false, true },
                { PROCESS("\"signal_mode\": \"allow_same_sandbox\""), true, true, true },
                { PROCESS("\"signal_mode\": \"allow_all\""), false, false, true },
                { PROCESS("\"ipc_mode\": \"full\""), true, false, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_reading_ Reading x;

                read_members(cases[i].members, &x);
                ASSERT_OK(x.r);
                ASSERT_EQ(x.m->scope_signals, cases[i].scope_signals);
                ASSERT_EQ(x.m->require_signals, cases[i].require_signals);
                ASSERT_EQ(x.m->scope_abstract, cases[i].scope_abstract);
        }
}

TEST(limits_stay_within_the_kernels) {
        _cleanup_reading_ Reading x, y;

        read_members(RESOURCES("\"memory_bytes\": 268435456, \"max_processes\": 64"), &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->memory_bytes, 268435456);
        ASSERT_EQ(x.m->max_processes, 64);
        read_members(RESOURCES("\"memory_bytes\": 18446744073709551615, \"max_processes\": 4194305"), &y);
        ASSERT_OK(y.r);
        ASSERT_EQ(y.m->memory_bytes, INT64_MAX);
        ASSERT_EQ(y.m->max_processes, 4194304);
}

TEST(inline_manifest_keeps_the_definitions_places) {
        static const char text[] =
                        "{\"isolation\": {\n  \"manifest\": {\"version\": \"0.1.0\", \"filesystem\": "
                        "{\"grants\": [{\"path\": \"/a\", \"access\": \"read\"}]}, \"x\": 1}}}";
        _cleanup_json_ JsonValue *root = NULL;
        _cleanup_reading_ Reading x = {};

        ASSERT_OK(json_parse(text, strlen(text), JSON_STRICT, &root, NULL));
        x.r = manifest_read(
                        json_get(json_get(root, "isolation"), "manifest"), &test_context, &x.m, &x.problems);
        ASSERT_OK(x.r);
        ASSERT_STREQ(x.m->grants[0].pointer, "/isolation/manifest/filesystem/grants/0");
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-UNKNOWN-KEY", "/isolation/manifest/x"));
}

/* ---- paths ---- */

TEST(paths) {
        static const struct {
                const char *path, *expanded;
        } cases[] = {
                { "/a//b/./c/", "/a/b/c" },
                { "/", "/" },
                { "~", "/home/alice" },
                { "~/x", "/home/alice/x" },
                { "/a/~/x", "/a/~/x" },
                { "notes", "/srv/project/notes" },
                { "./notes/../x", "/srv/project/notes/../x" },
                { ".", "/srv/project" },
                { "$WORKDIR/x", "/srv/project/x" },
                { "$HOME/x", "/home/alice/x" },
                { "$HOMEX", "/home/aliceX" },
                { "/mnt$HOME", "/mnt/home/alice" },
                { "$TMPDIR/x", "/var/tmp/alice/x" },
                { "$TMPDIRx", "/var/tmp/alicex" },
                { "/run/user/$UID/x", "/run/user/1000/x" },
                { "$UID", "/srv/project/1000" },
                { "$XDG_CONFIG_HOME/x", "/home/alice/.config/x" },
                { "$XDG_STATE_HOME/x", "/home/alice/.local/state/x" },
                { "$XDG_CACHE_HOME/x", "/srv/cache/x" },
                { "$XDG_DATA_HOME/x", "/home/alice/.local/share/x" },
                { "$XDG_RUNTIME_DIR/x", "/run/user/1000/x" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *members =
                                strformat(GRANT("\"path\": \"%s\", \"access\": \"read\""), cases[i].path);
                _cleanup_reading_ Reading x;

                read_members(members, &x);
                ASSERT_OK(x.r);
                ASSERT_EQ(x.problems.n_items, 0);
                ASSERT_STREQ(x.m->grants[0].path, cases[i].expanded);
                ASSERT_STREQ(x.m->grants[0].original, cases[i].path);
        }
}

TEST(paths_with_text_that_only_looks_like_a_variable) {
        static const struct {
                const char *path, *expanded;
        } cases[] = {
                { "~bob/x", "/srv/project/~bob/x" },
                { "/a/${HOME}", "/a/${HOME}" },
                { "/a/$NOPE$NOPE", "/a/$NOPE$NOPE" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *members =
                                strformat(GRANT("\"path\": \"%s\", \"access\": \"read\""), cases[i].path);
                _cleanup_reading_ Reading x;

                read_members(members, &x);
                ASSERT_OK(x.r);
                ASSERT_EQ(x.problems.n_items, 1);
                ASSERT_STREQ(x.problems.items[0].code, "MCP-M-LITERAL");
                ASSERT_STREQ(x.m->grants[0].path, cases[i].expanded);
        }
}

TEST(paths_that_cannot_be_expanded) {
        static const char *const bare_env[] = { "HOME=alice", "TMPDIR=tmp", "XDG_DATA_HOME=data", NULL };
        static const ManifestContext bare = { .env = (char *const *) bare_env, .uid = (uid_t) -1 };
        static const char *const paths[] = {
                "~/x",      "$HOME/x",          "$TMPDIR/x", "$XDG_CONFIG_HOME/x", "$XDG_DATA_HOME/x",
                "$WORKDIR", "$XDG_RUNTIME_DIR", "$UID",      "relative",           "$NONO_CONFIG/x",
                "/x$UID",   "$NONO_PACKAGES",
        };

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                _cleanup_free_ char *text =
                                strformat("{\"version\": \"0.1.0\", " GRANT(
                                                          "\"path\": \"%s\", \"access\": \"read\"") "}",
                                          paths[i]);
                _cleanup_reading_ Reading x;

                read_with(text, &bare, &x);
                ASSERT_ERROR(x.r, EINVAL);
                ASSERT_EQ(x.problems.n_items, 1);
                ASSERT_STREQ(x.problems.items[0].code, "MCP-M-VARIABLE");
                ASSERT_NOT_NULL(x.problems.items[0].remedy);
                ASSERT_STREQ(x.problems.items[0].pointer, "/filesystem/grants/0/path");
        }
}

TEST(empty_environment_has_the_usual_defaults) {
        static const ManifestContext bare = { .working_dir = "/w" };
        _cleanup_reading_ Reading x;

        read_with("{\"version\": \"0.1.0\", " GRANT("\"path\": \"$TMPDIR\", \"access\": \"read\"") "}",
                  &bare,
                  &x);
        ASSERT_OK(x.r);
        ASSERT_STREQ(x.m->grants[0].path, "/tmp");
        ASSERT_NULL(x.m->file);
}

TEST(path_too_long) {
        _cleanup_free_ char *many = NULL, *members = NULL;
        _cleanup_reading_ Reading x;

        many = malloc(5 * 1000 + 1);
        ASSERT_NOT_NULL(many);
        for (size_t i = 0; i < 1000; i++)
                memcpy(many + 5 * i, "$HOME", 6);
        members = strformat(GRANT("\"path\": \"%s\", \"access\": \"read\""), many);
        read_members(members, &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_NOT_NULL(find_problem(&x, "MCP-M-PATH", "/filesystem/grants/0/path"));
}

/* ---- bounds ---- */

static char *repeat(const char *before, const char *item, size_t n, const char *after) {
        size_t length = strlen(item) + 1;
        char *s = malloc(strlen(before) + n * length + strlen(after) + 1), *p = s;

        if (!s)
                return NULL;
        p = stpcpy(p, before);
        for (size_t i = 0; i < n; i++) {
                p = stpcpy(p, item);
                if (i + 1 < n)
                        *p++ = ',';
        }
        stpcpy(p, after);
        return s;
}

TEST(number_of_grants) {
        static const char item[] = "{\"path\": \"/a\", \"access\": \"read\"}";
        _cleanup_free_ char *most =
                        repeat("\"filesystem\": {\"grants\": [", item, MANIFEST_GRANTS_MAX, "]}");
        _cleanup_free_ char *more =
                        repeat("\"filesystem\": {\"grants\": [", item, MANIFEST_GRANTS_MAX + 1, "]}");
        _cleanup_reading_ Reading x, y;

        read_members(most, &x);
        ASSERT_OK(x.r);
        ASSERT_EQ(x.m->n_grants, MANIFEST_GRANTS_MAX);
        read_members(more, &y);
        ASSERT_ERROR(y.r, EINVAL);
        ASSERT_NOT_NULL(find_problem(&y, "MCP-M-LIMIT", "/filesystem/grants"));
}

TEST(number_of_ports) {
        static const Case cases[] = {
                { PORTS("\"localhost_range\": [[1, 16384]]") },
                { PORTS("\"localhost_range\": [[1, 16385]]"), "MCP-M-LIMIT", "/network/ports" },
                { PORTS("\"localhost_range\": [[1, 16384]], \"connect\": [1]"),
                  "MCP-M-LIMIT",
                  "/network/ports" },
                { PORTS("\"localhost_range\": [[1, 65535], [1, 65535]]"), "MCP-M-LIMIT", "/network/ports" },
        };

        RUN(cases);
}

TEST(number_of_problems) {
        _cleanup_free_ char *bad = repeat("\"network\": {\"ports\": {\"connect\": [", "0", 20000, "]}}");
        _cleanup_reading_ Reading x;

        read_members(bad, &x);
        ASSERT_ERROR(x.r, EINVAL);
        ASSERT_EQ(x.problems.n_items, 201);
        ASSERT_STREQ(x.problems.items[200].code, "MCP-M-TOO-MANY");
}

TEST(messages_do_not_repeat_secrets) {
        _cleanup_reading_ Reading x;

        read_members("\"credentials\": [{\"name\": \"n\", \"upstream\": \"u\", \"source\": \"op://SECRET\", "
                     "\"inject\": "
                     "{\"mode\": \"url_path\", \"format\": \"SECRET\"}}]",
                     &x);
        ASSERT_ERROR(x.r, EINVAL);
        for (size_t i = 0; i < x.problems.n_items; i++) {
                _cleanup_free_ char *line = problem_format(x.problems.items + i);

                ASSERT_LACKS(line, "SECRET");
        }
}
