/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is asked about many paths at once has to be what is said of each alone: house keys are found by it. */

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "basic/fd-util.h"
#include "basic/string-util.h"
#include "plan/plan.h"
#include "sandbox/path-probe.h"
#include "test.h"

static char dir[] = "/tmp/mcp-test-path-probe.XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static void tear_down(void) {
        (void) chmod(dir, 0700);
        (void) nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void set_up(void) {
        static bool used;

        if (used)
                tear_down();
        else
                (void) atexit(tear_down);
        used = true;
        memcpy(dir + sizeof(dir) - sizeof("XXXXXX"), "XXXXXX", sizeof("XXXXXX"));
        ASSERT_NOT_NULL(mkdtemp(dir));
        ASSERT_OK(chdir(dir));
}

static void make_file(const char *name) {
        _cleanup_close_ int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

        ASSERT_OK(fd);
}

static const char *const asked[] = {
        "file", "directory", "link",   "dangling", "missing", "CASE",   "case",
        ".ssh", "loop",      "socket", "f",        "file2",   "umlaut", "missing-too",
};

/* Compares both ways to ask about all of asked in below. */
static void compare(const char *below) {
        HostFacts host = {};
        const char *paths[ELEMENTSOF(asked)];
        int answers[ELEMENTSOF(asked)];

        path_probe_init(&host);
        for (size_t i = 0; i < ELEMENTSOF(asked); i++)
                ASSERT_NOT_NULL(paths[i] = strformat("%s/%s", below, asked[i]));
        ASSERT_OK(host.are_links(host.userdata, below, paths, ELEMENTSOF(asked), answers));
        for (size_t i = 0; i < ELEMENTSOF(asked); i++) {
                printf("# %s: %d\n", paths[i], answers[i]);
                ASSERT_EQ(answers[i], host.is_link(host.userdata, paths[i]));
                free((char *) paths[i]);
        }
}

static void populate(void) {
        make_file("file");
        make_file("Case");
        ASSERT_OK(mkdir("directory", 0700));
        ASSERT_OK(mkdir(".ssh", 0700));
        ASSERT_OK(symlink("file", "link"));
        ASSERT_OK(symlink("nowhere", "dangling"));
        ASSERT_OK(symlink("loop", "loop"));
        ASSERT_OK(mkfifo("socket", 0600));
}

TEST(many_are_answered_as_each_alone) {
        set_up();
        populate();
        compare(dir);
}

TEST(a_directory_through_links_as_well) {
        _cleanup_free_ char *link = NULL;

        set_up();
        populate();
        ASSERT_OK(symlink(dir, "again"));
        ASSERT_NOT_NULL(link = strformat("%s/again", dir));
        compare(link);
}

TEST(a_directory_that_is_missing_or_none) {
        static const char *const others[] = { "missing", "file", "loop", "dangling", "missing/deeper" };

        set_up();
        populate();
        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                _cleanup_free_ char *below = strformat("%s/%s", dir, others[i]);

                compare(below);
        }
}

TEST(a_directory_that_is_too_large_to_be_read) {
        set_up();
        for (unsigned i = 0; i < 2000; i++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "a-name-that-takes-some-room-%u", i);
                make_file(name);
        }
        populate();
        compare(dir);
}

TEST(names_beyond_ascii_beside_them) {
        set_up();
        populate();
        make_file("\xc5\xbf"); /* U+017F, which is folded to "s" where case is not told apart */
        ASSERT_OK(symlink("file", "Umlaut"));
        compare(dir);
}

TEST(file_systems_that_need_not_list_all) {
        compare("/proc/self");
        compare("/proc/self/fd");
        compare("/sys");
        compare("/dev");
}

TEST(a_directory_that_may_not_be_read) {
        set_up();
        populate();
        ASSERT_OK(chmod(dir, 0111));
        compare(dir); /* root may all the same */
        ASSERT_OK(chmod(dir, 0700));
}

TEST(places_are_named_as_the_kernel_names_them) {
        static const struct {
                const char *below, *after; /* the directory's path is put between them */
        } table[] = {
                { "", "" },
                { "", "/file" },
                { "", "/link" },
                { "", "//file" },
                { "", "/./file" },
                { "", "/directory/" },
                { "", "/directory/../file" },
                { "/proc/self/cwd/../..", "/file" },
                { "/", "/file" },
                { "/proc/self/root", "/file" },
        };

        set_up();
        populate();
        ASSERT_OK(symlink(dir, "again"));
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *path = strformat("%s%s%s", table[i].below, dir, table[i].after),
                                    *real = NULL;
                _cleanup_path_facts_ PathFacts facts = {};
                _cleanup_close_ int fd = -EBADF;
                HostFacts host = {};
                bool no_link;

                printf("# %s\n", path);
                path_probe_init(&host);
                fd = open_place(path, &no_link);
                if (fd == -ENOENT)
                        continue;
                ASSERT_OK(fd);
                ASSERT_OK(fd_get_path(fd, &real));
                if (no_link)
                        ASSERT_STREQ(real, path);
                ASSERT_EQ(no_link, streq(real, path));
                ASSERT_OK(host.resolve(host.userdata, path, &facts));
                ASSERT_STREQ(facts.resolved, real);
        }
}

TEST(a_link_on_the_way_is_no_plain_place) {
        _cleanup_free_ char *path = NULL, *wanted = NULL;
        _cleanup_path_facts_ PathFacts facts = {};
        _cleanup_close_ int fd = -EBADF;
        HostFacts host = {};
        bool no_link;

        set_up();
        populate();
        ASSERT_OK(symlink(".", "again"));
        ASSERT_NOT_NULL(path = strformat("%s/again/file", dir));
        ASSERT_NOT_NULL(wanted = strformat("%s/file", dir));
        fd = open_place(path, &no_link);
        ASSERT_OK(fd);
        ASSERT_FALSE(no_link);
        path_probe_init(&host);
        ASSERT_OK(host.resolve(host.userdata, path, &facts));
        ASSERT_STREQ(facts.resolved, wanted);
        ASSERT_ERROR(open_place("/proc/self/missing", &no_link), ENOENT);
}

/* Keys that are links, below links, and below what is missing: the same whether directories are read or keys asked about
 * one by one, and each that leads into what would be granted is found. */
TEST(keys_behind_links_are_found) {
        static const struct {
                const char *granted;
                bool key;
        } table[] = {
                { "dotfiles", true },        /* .bashrc is a link into it */
                { "dotfiles/bashrc", true }, /* it is .bashrc */
                { "dotfiles/other", false },
                { "settings", true }, /* .config is a link to it */
                { "settings/systemd", true },
                { "settings/harmless", false },
                { "one-more/ssh", true }, /* .ssh is a link to a link to it */
                { "one-more/ssh/keys", true },
                { "one-more", true },
                { "notes", false },
                { "nowhere", false }, /* .profile is a link to what is not there */
                { "home/.zshrc", true },
                { "home/.zshrcs", false },
                { "home", true },
        };
        _cleanup_free_ char *home = NULL;
        HostFacts reading = {}, asking;

        set_up();
        ASSERT_OK(mkdir("home", 0700));
        for (const char *const *name = (const char *const[]){ "dotfiles",
                                                              "settings",
                                                              "settings/systemd",
                                                              "settings/harmless",
                                                              "one-more",
                                                              "one-more/ssh",
                                                              "one-more/ssh/keys",
                                                              "notes",
                                                              NULL };
             *name;
             name++)
                ASSERT_OK(mkdir(*name, 0700));
        make_file("dotfiles/bashrc");
        make_file("dotfiles/other");
        make_file("home/.zshrc");
        ASSERT_OK(symlink("../dotfiles/bashrc", "home/.bashrc"));
        ASSERT_OK(symlink("../settings", "home/.config"));
        ASSERT_OK(symlink("ssh", "one-more/again"));
        ASSERT_OK(symlink("../one-more/again", "home/.ssh"));
        ASSERT_OK(symlink("../nowhere", "home/.profile"));
        ASSERT_NOT_NULL(home = strformat("%s/home", dir));
        path_probe_init(&reading);
        reading.home = home;
        reading.env = (char *const[]){ NULL };
        asking = reading;
        asking.are_links = NULL;
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *path = strformat("%s/%s", dir, table[i].granted);

                printf("# %s\n", table[i].granted);
                ASSERT_EQ(plan_key_to_the_house(&asking, path, ACCESS_WRITE) != NULL, table[i].key);
                ASSERT_EQ(plan_key_to_the_house(&reading, path, ACCESS_WRITE) != NULL, table[i].key);
        }
}
