/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looking up who may connect, with NSS and with what is worse than NSS. */

#include "test.h"

#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>

#include "supervisor/access-query.h"

typedef struct Answered {
        sd_event *event;
        int result;
        AccessRules rules;
        char **unknown;
} Answered;

static void on_known(void *userdata, int result, AccessRules *rules, char *const *unknown) {
        Answered *a = userdata;

        a->result = result;
        a->rules = TAKE_GENERIC(*rules, AccessRules, (AccessRules){});
        a->unknown = strv_copy(unknown);
        (void) sd_event_exit(a->event, 0);
}

/* Whatever it was, nobody goes on asking. The query waits for the end of a child that it killed, but not for long: on a
 * machine that is busy the rest is ours. */
static bool no_child_lives(void) {
        for (unsigned i = 0; i < 500; i++) {
                if (waitpid(-1, NULL, WNOHANG) != 0)
                        return waitpid(-1, NULL, WNOHANG) < 0;
                (void) usleep(10 * 1000);
        }
        return false;
}

static Answered ask(const Definition *d, access_look_up_t look_up, uint64_t timeout_usec) {
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(access_query_freep) AccessQuery *q = NULL;
        Answered a = { .result = 1 };

        ASSERT_OK(sd_event_new(&event));
        a.event = event;
        if (look_up)
                ASSERT_OK(access_query_new_full(event, d, look_up, timeout_usec, on_known, &a, &q));
        else
                ASSERT_OK(access_query_new(event, d, on_known, &a, &q));
        ASSERT_OK(sd_event_loop(event));
        q = access_query_free(q);
        ASSERT_TRUE(no_child_lives());
        return a;
}

static void answered_done(Answered *a) {
        access_rules_done(&a->rules);
        a->unknown = strv_free(a->unknown);
}

static PeerVerdict verdict_of(const Answered *a, uid_t uid, gid_t gid) {
        gid_t gids[] = { gid };
        const Peer peer = { .uid = uid, .gids = gids, .n_gids = 1, .alive = true };

        return access_decide(&a->rules, &peer);
}

TEST(names_become_ids) {
        char *users[] = { (char *) "daemon", (char *) "no-such-user-here", NULL };
        char *groups[] = { (char *) "root", (char *) "no-such-group-here", NULL };
        const struct passwd *daemon = getpwnam("daemon");
        const Definition d = { .access = { .users = users, .groups = groups } };
        _cleanup_(answered_done) Answered a = ask(&d, NULL, 0);

        ASSERT_NOT_NULL(daemon);
        ASSERT_EQ(a.result, 0);
        ASSERT_EQ(strv_length(a.unknown), 2);
        ASSERT_STREQ(a.unknown[0], "user no-such-user-here");
        ASSERT_STREQ(a.unknown[1], "group no-such-group-here");
        ASSERT_EQ(verdict_of(&a, daemon->pw_uid, 9), PEER_ADMITTED);
        ASSERT_EQ(verdict_of(&a, 4713, 0), PEER_ADMITTED);
        ASSERT_EQ(verdict_of(&a, 4713, 9), PEER_STRANGER);
}

static int member_by_list(const Definition *d, int fd) {
        int r = access_answer(fd, ACCESS_GID, 77);

        return r < 0 ? r : access_answer(fd, ACCESS_UID, 5001);
}

TEST(a_member_by_list_needs_no_new_login) {
        const Definition d = {};
        _cleanup_(answered_done) Answered a = ask(&d, member_by_list, 10 * 1000000ULL);

        ASSERT_EQ(a.result, 0);
        ASSERT_EQ(verdict_of(&a, 5001, 5001), PEER_ADMITTED);
        ASSERT_EQ(verdict_of(&a, 5002, 77), PEER_ADMITTED);
        ASSERT_EQ(verdict_of(&a, 5002, 5002), PEER_STRANGER);
}

static int hang(const Definition *d, int fd) {
        (void) access_answer(fd, ACCESS_UID, 5001);
        for (;;)
                (void) pause();
        return 0;
}

TEST(an_nss_that_does_not_answer_lets_in_who_is_known) {
        char *users[] = { (char *) "somebody", NULL };
        const Definition d = { .access = { .users = users } };
        _cleanup_(answered_done) Answered a = ask(&d, hang, 100 * 1000);

        ASSERT_EQ(a.result, -ETIMEDOUT);
        ASSERT_EQ(verdict_of(&a, 5001, 5001), PEER_ADMITTED);
        ASSERT_EQ(verdict_of(&a, 5002, 5002), PEER_STRANGER);
        ASSERT_EQ(verdict_of(&a, 0, 0), PEER_ADMITTED);
}

static int hang_among_members(const Definition *d, int fd) {
        (void) access_answer(fd, ACCESS_GID, 77);
        (void) access_answer(fd, ACCESS_NAMES_KNOWN, 0);
        return hang(d, fd);
}

TEST(a_group_with_more_members_than_there_is_time_for_is_good_enough) {
        const Definition d = {};
        _cleanup_(answered_done) Answered a = ask(&d, hang_among_members, 100 * 1000);

        ASSERT_EQ(a.result, 0);
        ASSERT_EQ(verdict_of(&a, 5002, 77), PEER_ADMITTED);
        ASSERT_EQ(verdict_of(&a, 5002, 5002), PEER_STRANGER);
}

static int crash(const Definition *d, int fd) {
        (void) access_answer(fd, ACCESS_UID, 5001);
        (void) raise(SIGKILL);
        return 0;
}

static int talk_nonsense(const Definition *d, int fd) {
        int r = access_answer(fd, ACCESS_UID, 5001);

        return r < 0 ? r : access_answer(fd, ACCESS_NO_USER, 99);
}

TEST(a_query_that_fails_lets_nobody_in) {
        static const struct {
                access_look_up_t look_up;
                int result;
        } table[] = { { crash, -EIO }, { talk_nonsense, -EBADMSG } };
        const Definition d = {};

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(answered_done) Answered a = ask(&d, table[i].look_up, 10 * 1000000ULL);

                ASSERT_EQ(a.result, table[i].result);
                ASSERT_EQ(verdict_of(&a, 5001, 5001), PEER_STRANGER);
                ASSERT_EQ(strv_length(a.unknown), 0);
        }
}

TEST(a_query_that_is_given_up_leaves_no_child) {
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        AccessQuery *q;
        const Definition d = {};
        Answered a = {};

        ASSERT_OK(sd_event_new(&event));
        ASSERT_OK(access_query_new_full(event, &d, hang, 10 * 1000000ULL, on_known, &a, &q));
        q = access_query_free(q);
        ASSERT_NULL(q);
        ASSERT_TRUE(no_child_lives());
}
