/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/string-util.h"
#include "plan/path-memo.h"
#include "test.h"

/* A file system of one file and one link; counts how often it is asked. */
typedef struct Counted {
        unsigned resolved, looked;
} Counted;

static int counted_resolve(void *userdata, const char *path, PathFacts *ret) {
        Counted *counted = userdata;
        const char *real = streq(path, "/home/ada/link") ? "/srv/there" : path;

        counted->resolved++;
        if (startswith(path, "/missing"))
                return -ENOENT;
        *ret = (PathFacts){ .resolved = strdup(real), .mode = S_IFDIR | 0755, .uid = 7 };
        return ret->resolved ? 0 : -ENOMEM;
}

static int counted_is_link(void *userdata, const char *path) {
        Counted *counted = userdata;

        counted->looked++;
        if (startswith(path, "/missing"))
                return -ENOENT;
        return streq(path, "/home/ada/link");
}

static ssize_t no_head(void *userdata, const char *path, char *buffer, size_t size) {
        return -EISDIR;
}

static HostFacts counted_host(Counted *counted) {
        return (HostFacts){
                .resolve = counted_resolve,
                .is_link = counted_is_link,
                .read_head = no_head,
                .userdata = counted,
        };
}

static int real_path_is(const HostFacts *host, const char *path, const char *wanted) {
        _cleanup_free_ char *real = NULL;
        int r;

        r = host_real_path(host, path, &real);
        return r < 0 ? r : streq(real, wanted);
}

TEST(a_path_is_looked_up_once) {
        _cleanup_path_memo_ PathMemo *memo = NULL;
        Counted counted = {};
        const HostFacts host = counted_host(&counted);
        const HostFacts *remembering;

        ASSERT_OK(path_memo_new(&host, &memo));
        remembering = path_memo_host(memo);
        for (unsigned i = 0; i < 3; i++) {
                _cleanup_path_facts_ PathFacts facts = {};

                ASSERT_OK(remembering->resolve(remembering->userdata, "/home/ada/link", &facts));
                ASSERT_STREQ(facts.resolved, "/srv/there");
                ASSERT_EQ(facts.uid, 7U);
        }
        ASSERT_EQ(counted.resolved, 1U);
}

TEST(what_was_missing_stays_missing_for_one_plan) {
        _cleanup_path_memo_ PathMemo *memo = NULL;
        Counted counted = {};
        const HostFacts host = counted_host(&counted);
        const HostFacts *remembering;
        PathFacts facts = {};

        ASSERT_OK(path_memo_new(&host, &memo));
        remembering = path_memo_host(memo);
        ASSERT_EQ(remembering->resolve(remembering->userdata, "/missing", &facts), -ENOENT);
        ASSERT_EQ(remembering->resolve(remembering->userdata, "/missing", &facts), -ENOENT);
        ASSERT_EQ(remembering->is_link(remembering->userdata, "/missing"), -ENOENT);
        ASSERT_EQ(remembering->is_link(remembering->userdata, "/missing"), -ENOENT);
        ASSERT_EQ(counted.resolved, 1U);
        ASSERT_EQ(counted.looked, 1U); /* a link to nowhere is missing as well, and is one */
}

TEST(many_paths_are_kept_apart) {
        _cleanup_path_memo_ PathMemo *memo = NULL;
        Counted counted = {};
        const HostFacts host = counted_host(&counted);
        const HostFacts *remembering;

        ASSERT_OK(path_memo_new(&host, &memo));
        remembering = path_memo_host(memo);
        for (unsigned i = 0; i < 1000; i++) {
                _cleanup_path_facts_ PathFacts facts = {};
                char path[32];

                (void) snprintf(path, sizeof(path), "/p/%u", i % 500);
                ASSERT_OK(remembering->resolve(remembering->userdata, path, &facts));
                ASSERT_STREQ(facts.resolved, path);
        }
        ASSERT_EQ(counted.resolved, 500U);
}

TEST(a_real_path_follows_links_and_is_cheap_without) {
        _cleanup_path_memo_ PathMemo *memo = NULL;
        Counted counted = {};
        const HostFacts host = counted_host(&counted);

        ASSERT_OK(path_memo_new(&host, &memo));
        ASSERT_EQ(real_path_is(path_memo_host(memo), "/home/ada/link", "/srv/there"), 1);
        ASSERT_EQ(counted.resolved, 1U);
        ASSERT_EQ(real_path_is(path_memo_host(memo), "/home/ada/a", "/home/ada/a"), 1);
        ASSERT_EQ(real_path_is(path_memo_host(memo), "/home/ada/b", "/home/ada/b"), 1);
        ASSERT_EQ(counted.resolved, 2U); /* the link, and "/" */
        ASSERT_EQ(counted.looked, 5U);   /* link, a, b; "/home/ada" and "/home", once for both */
        ASSERT_EQ(real_path_is(path_memo_host(memo), "/missing", ""), -ENOENT);
        ASSERT_EQ(real_path_is(path_memo_host(memo), "/", "/"), 1);
        ASSERT_EQ(real_path_is(path_memo_host(memo), "/etc", "/etc"), 1);
}

TEST(a_host_that_knows_no_links_is_asked_for_the_whole) {
        Counted counted = {};
        HostFacts host = counted_host(&counted);

        host.is_link = NULL;
        ASSERT_EQ(real_path_is(&host, "/home/ada/link", "/srv/there"), 1);
        ASSERT_EQ(real_path_is(&host, "/home/ada/x/..", "/home/ada/x/.."), 1);
        ASSERT_EQ(counted.looked, 0U);
        ASSERT_EQ(counted.resolved, 2U);
}
