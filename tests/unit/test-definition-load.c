/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The search path: what hides what, what masks, whom a file may belong to. */

#include <fcntl.h>
#include <ftw.h>

#include "basic/fd-util.h"
#include "config/definition.h"
#include "test.h"

#define N_DIRS 3

typedef struct World {
        char root[32];
        ConfigPaths paths; /* three directories 0, 1 and 2, and mcp.json beside them */
} World;

static void world_init(World *w) {
        *w = (World){ .root = "/tmp/test-load-XXXXXX", .paths.owner = getuid() };
        ASSERT_NOT_NULL(mkdtemp(w->root));
        for (int i = 0; i < N_DIRS; i++) {
                ASSERT_OK(strv_extendf(&w->paths.server_dirs, "%s/%d", w->root, i));
                ASSERT_OK(mkdir(w->paths.server_dirs[i], 0700));
                ASSERT_OK(chmod(w->paths.server_dirs[i], 0700));
        }
        ASSERT_OK(strv_extendf(&w->paths.client_files, "%s/mcp.json", w->root));
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *ftw) {
        return remove(path);
}

static void world_done(World *w) {
        (void) nftw(w->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        config_paths_done(&w->paths);
}
#define _cleanup_world_ _cleanup_(world_done)

static char *at(const World *w, const char *path) {
        return strformat("%s/%s", w->root, path);
}

static void put(const World *w, const char *path, const char *text) {
        _cleanup_free_ char *full = at(w, path);
        _cleanup_close_ int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ASSERT_OK(fd);
        ASSERT_OK(fd_write_all(fd, text, strlen(text)));
        ASSERT_OK(fchmod(fd, 0600));
}

static void put_server(const World *w, const char *path, const char *command) {
        _cleanup_free_ char *text = strformat("{ \"command\": \"%s\" }", command);

        put(w, path, text);
}

/* Loads name and says what its command is; NULL: nothing. */
static char *command_of(const World *w, const char *name, int *ret_r, ProblemList *problems) {
        _cleanup_definition_ Definition *d = NULL;
        GlobalIsolation global;

        *ret_r = definition_load(&w->paths, name, &d, &global, problems);
        global_isolation_done(&global);
        return d && d->command.value ? strdup(d->command.value) : NULL;
}

static void expect(const World *w, const char *name, int error, const char *command) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *s = NULL;
        int r;

        s = command_of(w, name, &r, &problems);
        ASSERT_EQ(r, -error);
        ASSERT_STREQ(s, command);
}

/* Loading name ends in error, and a problem has these words. */
static void expect_refusal(const World *w, const char *name, const char *code, const char *words) {
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *s = NULL;
        int r;

        s = command_of(w, name, &r, &problems);
        ASSERT_NULL(s);
        ASSERT_LT(r, 0);
        ASSERT_NE(r, -ENOENT);
        ASSERT_NE(r, -ERFKILL);
        ASSERT_EQ(problems.n_items, 1);
        ASSERT_STREQ(problems.items[0].code, code);
        ASSERT_CONTAINS(problems.items[0].message, words);
        ASSERT_EQ(problems.items[0].level, PROBLEM_ERROR);
}

static const ServerEntry *entry_of(const ServerList *list, const char *name) {
        for (size_t i = 0; i < list->n_items; i++)
                if (streq(list->items[i].name, name))
                        return list->items + i;
        test_fail(__FILE__, __LINE__, "%s is not listed", name);
}

TEST(the_strongest_directory_wins) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};
        _cleanup_free_ char *weaker = NULL;

        world_init(&w);
        put_server(&w, "2/a.json", "weak");
        put_server(&w, "1/a.json", "strong");
        put_server(&w, "2/b.json", "b");
        expect(&w, "a", 0, "strong");
        expect(&w, "b", 0, "b");
        expect(&w, "c", ENOENT, NULL);
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 2);
        ASSERT_EQ(list.problems.n_items, 0);
        ASSERT_STREQ(list.items[0].definition->command.value, "strong");
        weaker = at(&w, "2/a.json");
        ASSERT_EQ(strv_length(list.items[0].shadowed), 1);
        ASSERT_STREQ(list.items[0].shadowed[0], weaker);
}

TEST(missing_directories_are_no_problem) {
        _cleanup_config_paths_ ConfigPaths paths = { .owner = getuid() };
        _cleanup_server_list_ ServerList list = {};

        ASSERT_OK(strv_extend(&paths.server_dirs, "/nonexistent/servers.d"));
        ASSERT_OK(strv_extend(&paths.client_files, "/nonexistent/mcp.json"));
        ASSERT_OK(server_list_load(&paths, &list));
        ASSERT_EQ(list.n_items, 0);
        ASSERT_EQ(list.problems.n_items, 0);
}

TEST(empty_files_and_links_to_null_mask) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};
        _cleanup_free_ char *link = NULL;

        world_init(&w);
        put_server(&w, "1/a.json", "a");
        put_server(&w, "1/b.json", "b");
        put(&w, "mcp.json", "{ \"mcpServers\": { \"c\": { \"command\": \"c\" } } }");
        put(&w, "0/a.json", "");
        put(&w, "2/c.json", "");
        link = at(&w, "0/b.json");
        ASSERT_OK(symlink("/dev/null", link));
        expect(&w, "a", ERFKILL, NULL);
        expect(&w, "b", ERFKILL, NULL);
        expect(&w, "c", ERFKILL, NULL);
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 3);
        for (size_t i = 0; i < 3; i++) {
                ASSERT_TRUE(list.items[i].masked);
                ASSERT_NULL(list.items[i].definition);
                ASSERT_EQ(list.items[i].problems.n_items, 0);
        }
}

TEST(a_servers_own_file_wins_whole) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};

        world_init(&w);
        put(&w,
            "mcp.json",
            "{ \"mcpServers\": { \"a\": { \"command\": \"weak\", \"args\": [\"x\"] }, \"b\": { \"command\": "
            "\"b\" } } }");
        put_server(&w, "2/a.json", "strong");
        expect(&w, "a", 0, "strong");
        expect(&w, "b", 0, "b");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 2);
        ASSERT_EQ(entry_of(&list, "a")->definition->args.n_items, 0);
        ASSERT_EQ(strv_length(entry_of(&list, "a")->shadowed), 1);
}

TEST(one_bad_file_costs_its_server_alone) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};

        world_init(&w);
        put(&w, "0/bad.json", "{");
        put_server(&w, "1/bad.json", "weaker"); /* a broken file still hides it */
        put_server(&w, "0/good.json", "good");
        expect_refusal(&w, "bad", "MCP-C-JSON", "Expected a key");
        expect(&w, "good", 0, "good");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_TRUE(problem_list_has_errors(&entry_of(&list, "bad")->problems));
        ASSERT_NULL(entry_of(&list, "bad")->definition);
        ASSERT_EQ(entry_of(&list, "good")->problems.n_items, 0);
        ASSERT_EQ(list.problems.n_items, 0);
}

TEST(a_broken_client_file_costs_its_servers_alone) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *command = NULL;
        int r;

        world_init(&w);
        put(&w, "mcp.json", "{ \"mcpServers\": ");
        put_server(&w, "0/a.json", "a");
        command = command_of(&w, "a", &r, &problems);
        ASSERT_EQ(r, 0);
        ASSERT_STREQ(command, "a");
        ASSERT_FALSE(problem_list_has_errors(&problems));
        ASSERT_EQ(problems.items[0].level, PROBLEM_WARNING); /* its global setting is not known */
        expect_refusal(&w, "b", "MCP-C-JSON", "");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 1);
        ASSERT_TRUE(problem_list_has_errors(&list.problems));
}

TEST(the_global_block_concerns_everyone) {
        _cleanup_world_ World w;
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_problems_ ProblemList problems = {};
        GlobalIsolation global;

        world_init(&w);
        put(&w, "mcp.json", "{ \"docker_isolation\": { \"mode\": \"none\", \"moed\": 1 } }");
        put_server(&w, "0/a.json", "a");
        ASSERT_OK(definition_load(&w.paths, "a", &d, &global, &problems));
        ASSERT_TRUE(global.present);
        ASSERT_STREQ(global.mode, "none");
        ASSERT_TRUE(problem_list_has_errors(&problems));
        global_isolation_done(&global);
}

TEST(only_definitions_are_read) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};

        world_init(&w);
        put_server(&w, "0/.hidden.json", "x");
        put_server(&w, "0/a.json~", "x");
        put_server(&w, "0/a.json.dpkg-old", "x");
        put_server(&w, "0/README", "x");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 0);
        ASSERT_EQ(list.problems.n_items, 0);
}

TEST(names_and_their_files) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};

        world_init(&w);
        put_server(&w, "0/City Weather.json", "weather");
        put_server(&w, "0/io.example\\x2fx.json", "slash");
        put_server(&w, "0/\\x2ehidden.json", "dot");
        expect(&w, "City Weather", 0, "weather");
        expect(&w, "io.example/x", 0, "slash");
        expect(&w, ".hidden", 0, "dot");
        expect(&w, "io.example\\x2fx", ENOENT, NULL); /* that is a file's name, not a server's */
        expect(&w, "../0/City Weather", ENOENT, NULL);
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 3);
        ASSERT_STREQ(entry_of(&list, "io.example/x")->instance, "io.example\\x2fx");
}

TEST(two_files_for_one_name_collide) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *command = NULL;
        const ServerEntry *e;
        int r;

        world_init(&w);
        put_server(&w, "0/a b.json", "strong");
        put_server(&w, "1/a\\x20b.json", "weak");
        command = command_of(&w, "a b", &r, &problems);
        ASSERT_EQ(r, 0);
        ASSERT_TRUE(problem_list_has_errors(&problems));
        ASSERT_CONTAINS(problems.items[0].message, "1/a\\x20b.json");
        ASSERT_CONTAINS(problems.items[0].file, "0/a b.json");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 1);
        e = entry_of(&list, "a b");
        ASSERT_CONTAINS(e->problems.items[0].message, "1/a\\x20b.json");
        ASSERT_STREQ(list.problems.items[0].code, "MCP-C-COLLISION");
}

TEST(a_name_that_is_too_long_is_a_problem_of_nobody_else) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};
        char path[100] = "0/";

        world_init(&w);
        memset(path + 2, 'a', SERVER_INSTANCE_MAX + 1);
        strcat(path, ".json");
        put_server(&w, path, "x");
        put_server(&w, "0/b.json", "b");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 1);
        ASSERT_STREQ(list.problems.items[0].code, "MCP-C-NAME");
}

TEST(a_file_that_others_can_write_is_refused) {
        static const mode_t modes[] = { 0620, 0602, 0666 };
        _cleanup_world_ World w;
        _cleanup_free_ char *path = NULL;

        world_init(&w);
        put_server(&w, "0/a.json", "a");
        path = at(&w, "0/a.json");
        for (size_t i = 0; i < ELEMENTSOF(modes); i++) {
                _cleanup_free_ char *mode = strformat("mode %04o", (unsigned) modes[i]);

                ASSERT_OK(chmod(path, modes[i]));
                expect_refusal(&w, "a", "MCP-C-OWNER", mode);
        }
        ASSERT_OK(chmod(path, 0644));
        expect(&w, "a", 0, "a");
}

TEST(a_directory_that_others_can_write_is_refused) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};

        world_init(&w);
        put_server(&w, "0/a.json", "a");
        put_server(&w, "1/a.json", "weaker");
        put_server(&w, "1/b.json", "b");
        ASSERT_OK(chmod(w.paths.server_dirs[0], 01777));
        expect_refusal(&w, "a", "MCP-C-OWNER", "mode 1777");
        expect(&w, "b", 0, "b");
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_NULL(entry_of(&list, "a")->definition); /* nor does the weaker one step in */
        ASSERT_TRUE(problem_list_has_errors(&entry_of(&list, "a")->problems));
        ASSERT_STREQ(list.problems.items[0].code, "MCP-C-OWNER");
        ASSERT_NOT_NULL(entry_of(&list, "b")->definition);
}

TEST(a_client_file_that_others_can_write_is_refused) {
        _cleanup_world_ World w;
        _cleanup_free_ char *path = NULL;

        world_init(&w);
        put(&w, "mcp.json", "{ \"mcpServers\": { \"a\": { \"command\": \"a\" } } }");
        path = at(&w, "mcp.json");
        expect(&w, "a", 0, "a");
        ASSERT_OK(chmod(path, 0666));
        expect_refusal(&w, "a", "MCP-C-OWNER", "mode 0666");
}

TEST(a_foreign_owner_is_refused) {
        _cleanup_world_ World w;
        _cleanup_free_ char *path = NULL;

        world_init(&w);
        put_server(&w, "0/a.json", "a");
        path = at(&w, "0/a.json");
        if (chown(path, 4711, (gid_t) -1) < 0)
                SKIP("only root may give a file away");
        expect_refusal(&w, "a", "MCP-C-OWNER", "uid 4711");
        w.paths.owner = 4711; /* the user's own, in a directory of root's */
        expect(&w, "a", 0, "a");
}

TEST(links_are_followed_to_what_counts) {
        _cleanup_world_ World w;
        _cleanup_free_ char *real = NULL, *link = NULL, *dangling = NULL;

        world_init(&w);
        put_server(&w, "real", "linked");
        real = at(&w, "real");
        link = at(&w, "0/a.json");
        dangling = at(&w, "0/b.json");
        ASSERT_OK(symlink(real, link));
        ASSERT_OK(symlink("/nonexistent", dangling));
        expect(&w, "a", 0, "linked");
        expect_refusal(&w, "b", "MCP-C-READ", "leads nowhere");
        ASSERT_OK(chmod(real, 0666));
        expect_refusal(&w, "a", "MCP-C-OWNER", "mode 0666");
}

TEST(what_is_no_file_is_refused_without_waiting) {
        _cleanup_world_ World w;
        _cleanup_free_ char *fifo = NULL, *dir = NULL, *device = NULL;

        world_init(&w);
        fifo = at(&w, "0/fifo.json");
        dir = at(&w, "0/dir.json");
        device = at(&w, "0/device.json");
        ASSERT_OK(mkfifo(fifo, 0600));
        ASSERT_OK(mkdir(dir, 0700));
        ASSERT_OK(symlink("/dev/zero", device));
        expect_refusal(&w, "fifo", "MCP-C-READ", "no regular file");
        expect_refusal(&w, "dir", "MCP-C-READ", "no regular file");
        expect_refusal(&w, "device", "MCP-C-READ", "no regular file");
}

TEST(a_file_that_is_too_large_is_refused) {
        _cleanup_world_ World w;
        _cleanup_free_ char *text = malloc(JSON_SIZE_MAX + 2);

        world_init(&w);
        ASSERT_NOT_NULL(text);
        memset(text, ' ', JSON_SIZE_MAX + 1);
        text[JSON_SIZE_MAX + 1] = 0;
        put(&w, "0/a.json", text);
        expect_refusal(&w, "a", "MCP-C-JSON", "larger than");
}

TEST(a_file_that_a_person_names_needs_no_owner) {
        _cleanup_world_ World w;
        _cleanup_definition_ Definition *d = NULL, *named = NULL;
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *path = NULL;
        Definition *none = NULL;

        world_init(&w);
        put_server(&w, "0/a b.json", "a");
        path = at(&w, "0/a b.json");
        ASSERT_OK(chmod(path, 0666));
        ASSERT_OK(definition_load_file(path, NULL, &d, &problems));
        ASSERT_STREQ(d->name, "a b");
        ASSERT_OK(definition_load_file(path, "other", &named, &problems));
        ASSERT_STREQ(named->name, "other");
        ASSERT_EQ(problems.n_items, 0);
        ASSERT_LT(definition_load_file("/nonexistent", NULL, &none, &problems), 0);
        ASSERT_NULL(none);
        ASSERT_STREQ(problems.items[0].code, "MCP-C-READ");
}

TEST(many_servers) {
        _cleanup_world_ World w;
        _cleanup_server_list_ ServerList list = {};

        world_init(&w);
        for (int i = 0; i < 500; i++) {
                _cleanup_free_ char *path = strformat("%d/s%03d.json", i % N_DIRS, i);

                put_server(&w, path, "x");
        }
        ASSERT_OK(server_list_load(&w.paths, &list));
        ASSERT_EQ(list.n_items, 500);
        for (size_t i = 1; i < list.n_items; i++)
                ASSERT_LT(strcmp(list.items[i - 1].name, list.items[i].name), 0);
}
