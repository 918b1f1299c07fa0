/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What of the supervisor needs no process: lines, rates, back-off, access, records. */

#include "test.h"

#include <endian.h>
#include <sys/socket.h>

#include "supervisor/backoff.h"
#include "supervisor/events.h"
#include "supervisor/lines.h"
#include "supervisor/peer.h"
#include "supervisor/share.h"

typedef struct Collected {
        char **lines;
        unsigned n_continued;
} Collected;

static void collect(void *userdata, const char *line, size_t size, bool continued) {
        Collected *c = userdata;
        _cleanup_free_ char *copy = strndup(line, size);

        ASSERT_OK(strv_extend(&c->lines, copy));
        c->n_continued += continued;
}

static void collected_done(Collected *c) {
        strv_free(c->lines);
}

TEST(lines_are_cut_at_newlines_and_nul_however_they_come) {
        static const char text[] = "one\ntwo\0three\n\nrest";

        for (size_t chunk = 1; chunk <= sizeof(text); chunk++) {
                _cleanup_(line_splitter_done) LineSplitter s = {};
                _cleanup_(collected_done) Collected c = {};
                _cleanup_free_ char *joined = NULL;

                for (size_t at = 0; at < sizeof(text) - 1; at += chunk)
                        ASSERT_OK(line_splitter_feed(
                                        &s, text + at, MIN(chunk, sizeof(text) - 1 - at), collect, &c));
                ASSERT_EQ(strv_length(c.lines), 4);
                line_splitter_flush(&s, collect, &c);
                joined = strv_join(c.lines, "|");
                ASSERT_STREQ(joined, "one|two|three||rest");
                ASSERT_EQ(c.n_continued, 0);
        }
}

TEST(a_long_line_is_split_and_not_lost) {
        const size_t size = 3 * LINE_SIZE_MAX + 17;
        _cleanup_(line_splitter_done) LineSplitter s = {};
        _cleanup_(collected_done) Collected c = {};
        _cleanup_free_ char *text = malloc(size + 1), *joined = NULL;

        ASSERT_NOT_NULL(text);
        memset(text, 'x', size);
        text[size] = 0;
        ASSERT_OK(line_splitter_feed(&s, text, size, collect, &c));
        ASSERT_OK(line_splitter_feed(&s, "\nnext\n", 6, collect, &c));
        ASSERT_EQ(strv_length(c.lines), 5);
        ASSERT_EQ(c.n_continued, 3);
        ASSERT_STREQ(c.lines[4], "next");
        free(TAKE_PTR(c.lines[4]));
        joined = strv_join(c.lines, "");
        ASSERT_STREQ(joined, text);
}

TEST(no_piece_ends_inside_a_character) {
        static const char *const characters[] = { "ä", "€", "😀" };

        for (size_t i = 0; i < ELEMENTSOF(characters); i++)
                for (size_t shift = 0; shift < 4; shift++) {
                        _cleanup_(line_splitter_done) LineSplitter s = {};
                        _cleanup_(collected_done) Collected c = {};

                        ASSERT_OK(line_splitter_feed(&s, "abcd", shift, collect, &c));
                        for (size_t n = 0; n < LINE_SIZE_MAX; n += strlen(characters[i]))
                                ASSERT_OK(line_splitter_feed(
                                                &s, characters[i], strlen(characters[i]), collect, &c));
                        line_splitter_flush(&s, collect, &c);
                        STRV_FOREACH (line, c.lines)
                                ASSERT_TRUE(string_is_utf8(*line, strlen(*line)));
                }
}

TEST(bytes_that_are_no_utf8_still_pass) {
        _cleanup_(line_splitter_done) LineSplitter s = {};
        _cleanup_(collected_done) Collected c = {};
        _cleanup_free_ char *text = malloc(LINE_SIZE_MAX + 10);

        ASSERT_NOT_NULL(text);
        memset(text, 0xbf, LINE_SIZE_MAX + 10);
        ASSERT_OK(line_splitter_feed(&s, text, LINE_SIZE_MAX + 10, collect, &c));
        line_splitter_flush(&s, collect, &c);
        ASSERT_EQ(strv_length(c.lines), 2);
        ASSERT_EQ(strlen(c.lines[0]) + strlen(c.lines[1]), LINE_SIZE_MAX + 10);
}

TEST(priorities_are_taken_and_other_brackets_are_not) {
        static const struct {
                const char *line, *rest;
                int priority;
        } table[] = {
                { "<3>bad", "bad", 3 },  { "<7>", "", 7 }, { "<8>x", "<8>x", 6 }, { "<33>x", "<33>x", 6 },
                { "plain", "plain", 6 }, { "<", "<", 6 },  { "<3x", "<3x", 6 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const char *text = table[i].line;
                size_t size = strlen(text);

                ASSERT_EQ(line_take_priority(&text, &size, 6), table[i].priority);
                ASSERT_STREQ(text, table[i].rest);
                ASSERT_EQ(size, strlen(table[i].rest));
        }
}

TEST(a_rate_has_a_burst_and_recovers) {
        RateLimit l = RATE_LIMIT_INIT(10, 3);
        uint64_t now = 1000000;

        for (unsigned i = 0; i < 3; i++)
                ASSERT_TRUE(rate_limit_take(&l, now, 1));
        ASSERT_FALSE(rate_limit_take(&l, now, 1));
        /* Asked often, time must not be lost: 100 ms earn one. */
        for (unsigned i = 0; i < 99; i++)
                ASSERT_FALSE(rate_limit_take(&l, now += 1000, 1));
        ASSERT_TRUE(rate_limit_take(&l, now += 1000, 1));
        ASSERT_FALSE(rate_limit_take(&l, now, 1));
        now += 3600ULL * 1000000;
        for (unsigned i = 0; i < 3; i++)
                ASSERT_TRUE(rate_limit_take(&l, now, 1));
        ASSERT_FALSE(rate_limit_take(&l, now, 1));
}

TEST(the_tail_has_the_last_lines_cut_and_harmless) {
        _cleanup_(line_tail_done) LineTail t = {};
        _cleanup_strv_free_ char **lines = NULL;
        char text[TAIL_LINE_SIZE * 2];

        for (unsigned i = 0; i < TAIL_LINES + 5; i++) {
                int n = snprintf(text, sizeof(text), "line %u", i);

                line_tail_add(&t, text, (size_t) n);
        }
        memset(text, 'y', sizeof(text));
        line_tail_add(&t, text, sizeof(text));
        line_tail_add(&t, "\x1b[2Jboo", 7);
        ASSERT_OK(line_tail_get(&t, &lines));
        ASSERT_EQ(strv_length(lines), TAIL_LINES);
        ASSERT_STREQ(lines[0], "line 7");
        ASSERT_EQ(strlen(lines[TAIL_LINES - 2]), TAIL_LINE_SIZE);
        ASSERT_LACKS(lines[TAIL_LINES - 1], "\x1b");
        ASSERT_CONTAINS(lines[TAIL_LINES - 1], "boo");
}

/* How many of max places each of some users gets, one after the other, until it is refused. */
static unsigned take_all(unsigned max, unsigned *used) {
        unsigned own = 0;

        while (share_allows(max, *used, own)) {
                own++;
                (*used)++;
        }
        return own;
}

TEST(who_comes_late_finds_a_place) {
        static const struct {
                unsigned max, got[5];
        } table[] = {
                { 1, { 1, 0, 0, 0, 0 } }, { 2, { 1, 1, 0, 0, 0 } },    { 4, { 2, 1, 1, 0, 0 } },
                { 8, { 4, 2, 1, 1, 0 } }, { 64, { 32, 16, 8, 4, 2 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                unsigned used = 0;

                for (size_t user = 0; user < ELEMENTSOF(table[i].got); user++)
                        ASSERT_EQ(take_all(table[i].max, &used), table[i].got[user]);
                ASSERT_TRUE(used <= table[i].max);
        }
        /* What was had before others came may be more than a share, and is no way to more. */
        ASSERT_FALSE(share_allows(8, 6, 6));
        ASSERT_TRUE(share_allows(8, 6, 0));
        ASSERT_FALSE(share_allows(8, 8, 0));
}

TEST(each_user_fails_alone) {
        _cleanup_(shares_done) Shares s = {};
        char *const tail[] = { (char *) "no key given", NULL };
        const uint64_t now = 1000;

        ASSERT_TRUE(shares_find(&s, 1) == NULL);
        for (unsigned i = 0; i <= BACKOFF_BURST; i++)
                shares_failed(&s, 1, now, "It broke.", tail);
        ASSERT_TRUE(shares_find(&s, 2) == NULL);
        ASSERT_STREQ(shares_find(&s, 1)->last_failure, "It broke");
        ASSERT_TRUE(backoff_remaining(&shares_find(&s, 1)->backoff, now) > 0);
        shares_failed(&s, 2, now, "", NULL);
        ASSERT_STREQ(shares_find(&s, 1)->stderr_tail[0], "no key given");
        ASSERT_STREQ(shares_find(&s, 2)->last_failure, "");
        ASSERT_EQ(strv_length(shares_find(&s, 2)->stderr_tail), 0);
        shares_succeeded(&s, 3);
        shares_succeeded(&s, 1);
        ASSERT_TRUE(shares_find(&s, 1) == NULL);
        ASSERT_NOT_NULL(shares_find(&s, 2));
        shares_succeeded(&s, 2);
        ASSERT_EQ(s.n_items, 0);
}

TEST(failures_of_any_number_of_users_take_so_much_memory_and_no_more) {
        _cleanup_(shares_done) Shares s = {};

        for (uid_t uid = 0; uid < 4 * SHARES_MAX; uid++)
                shares_failed(&s, uid, 1000 + uid, "It broke.", NULL);
        ASSERT_EQ(s.n_items, SHARES_MAX);
        ASSERT_NOT_NULL(shares_find(&s, 4 * SHARES_MAX - 1));
        ASSERT_TRUE(shares_find(&s, 0) == NULL);
}

TEST(whether_others_may_connect_is_known_or_assumed) {
        uint32_t one[] = { 1000 }, two[] = { 1000, 1001 }, with_root[] = { 0, 1000 };
        const AccessRules user = { .user_scope = true, .self = 1000 };
        const AccessRules alone = { .uids = one, .n_uids = 1 }, pair = { .uids = two, .n_uids = 2 };
        const AccessRules rooted = { .uids = with_root, .n_uids = 2 }, unknown = {};

        ASSERT_FALSE(access_has_others(&user, 1000));
        ASSERT_FALSE(access_has_others(&alone, 1000));
        ASSERT_FALSE(access_has_others(&rooted, 1000));
        ASSERT_TRUE(access_has_others(&pair, 1000));
        ASSERT_TRUE(access_has_others(&alone, 1001));
        ASSERT_TRUE(access_has_others(&unknown, 1000));
}

TEST(backoff_doubles_is_bounded_and_resets) {
        Backoff b = {};
        uint64_t now = 5000000;

        for (unsigned i = 0; i < BACKOFF_BURST; i++) {
                ASSERT_EQ(backoff_remaining(&b, now), 0);
                backoff_failed(&b, now);
        }
        ASSERT_EQ(backoff_remaining(&b, now), 0);
        backoff_failed(&b, now);
        ASSERT_EQ(backoff_remaining(&b, now), BACKOFF_MIN_USEC);
        /* Others that fail in the same moment do not add to it. */
        backoff_failed(&b, now + 1);
        ASSERT_EQ(backoff_remaining(&b, now), BACKOFF_MIN_USEC);
        for (unsigned i = 0; i < 20; i++) {
                now = b.until_usec;
                ASSERT_EQ(backoff_remaining(&b, now), 0);
                backoff_failed(&b, now);
        }
        ASSERT_EQ(backoff_remaining(&b, now), BACKOFF_MAX_USEC);
        backoff_succeeded(&b);
        ASSERT_EQ(backoff_remaining(&b, now), 0);
        for (unsigned i = 0; i <= BACKOFF_BURST; i++)
                backoff_failed(&b, now);
        ASSERT_EQ(backoff_remaining(&b, now), BACKOFF_MIN_USEC);
}

TEST(access_is_decided_by_uid_and_groups) {
        static uid_t uids[] = { 1000 };
        static gid_t gids[] = { 500 };
        static gid_t member[] = { 1001, 7, 500 }, primary[] = { 500 }, none[] = { 1002, 501 };
        const AccessRules system = { .uids = uids, .n_uids = 1, .gids = gids, .n_gids = 1 };
        const AccessRules user = { .user_scope = true, .self = 1000, .gids = gids, .n_gids = 1 };
        const struct {
                const AccessRules *rules;
                Peer peer;
                PeerVerdict verdict;
        } table[] = {
                { &system, { .uid = 0, .alive = true }, PEER_ADMITTED },
                { &system, { .uid = 1000, .alive = true }, PEER_ADMITTED },
                { &system, { .uid = 1001, .gids = member, .n_gids = 3, .alive = true }, PEER_ADMITTED },
                { &system, { .uid = 1001, .gids = primary, .n_gids = 1, .alive = true }, PEER_ADMITTED },
                { &system, { .uid = 1002, .gids = none, .n_gids = 2, .alive = true }, PEER_STRANGER },
                { &system, { .uid = 1000, .alive = false }, PEER_GONE },
                { &system, { .uid = 0, .alive = false }, PEER_GONE },
                { &system, { .uid = 0, .alive = true, .inside = true }, PEER_INSIDE },
                { &system, { .uid = 1000, .alive = true, .inside = true }, PEER_INSIDE },
                { &user, { .uid = 1000, .alive = true }, PEER_ADMITTED },
                { &user, { .uid = 0, .alive = true }, PEER_ADMITTED },
                { &user, { .uid = 1001, .gids = member, .n_gids = 3, .alive = true }, PEER_STRANGER },
                { &user, { .uid = 1000, .alive = true, .inside = true }, PEER_INSIDE },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                ASSERT_EQ(access_decide(table[i].rules, &table[i].peer), table[i].verdict);
}

TEST(a_peer_is_read_from_its_socket) {
        _cleanup_close_ int a = -EBADF, b = -EBADF;
        _cleanup_(peer_done) Peer peer = {};
        int pair[2];

        ASSERT_OK(RET_NERRNO(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)));
        a = pair[0];
        b = pair[1];
        ASSERT_OK(peer_read(a, &peer));
        ASSERT_EQ(peer.pid, getpid());
        ASSERT_EQ(peer.uid, geteuid());
        ASSERT_EQ(peer.gids[0], getegid());
        ASSERT_TRUE(peer.alive);
        ASSERT_FALSE(peer.inside);
        ASSERT_ERROR(peer_read(STDIN_FILENO, &peer), ENOTSOCK);
}

TEST(records_are_encoded_as_journald_wants_them) {
        char *fields[] = { (char *) "A=1", (char *) "B=two\nlines", NULL },
             *bad[] = { (char *) "nothing", NULL };
        const uint64_t size = htole64(9);
        _cleanup_free_ char *data = NULL;
        size_t n;

        ASSERT_OK(journal_encode(fields, &data, &n));
        ASSERT_EQ(n, 4 + 2 + 8 + 9 + 1);
        ASSERT_EQ(memcmp(data, "A=1\nB\n", 6), 0);
        ASSERT_EQ(memcmp(data + 6, &size, 8), 0);
        ASSERT_EQ(memcmp(data + 14, "two\nlines\n", 10), 0);
        free(TAKE_PTR(data));
        ASSERT_ERROR(journal_encode(bad, &data, &n), EINVAL);
}

/* A journald of our own, which is busy: its queue is full to begin with. */
typedef struct FakeJournald {
        Journal journal;
        int reader;
} FakeJournald;

static void fake_journald_open(FakeJournald *f) {
        int pair[2];

        ASSERT_OK(RET_NERRNO(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair)));
        *f = (FakeJournald){ .journal = JOURNAL_INIT, .reader = pair[1] };
        f->journal.fd = pair[0];
        while (send(pair[0], "filler", 6, MSG_DONTWAIT) >= 0)
                continue;
}

static void fake_journald_send(FakeJournald *f, JournalClass kind, const char *message, unsigned number) {
        _cleanup_free_ char *text = strformat("MESSAGE=%s %u", message, number);
        char *fields[] = { text, NULL };

        journal_send(&f->journal, kind, fields);
}

/* The next record's message, or "". */
static const char *fake_journald_read(FakeJournald *f) {
        static char buffer[256];

        do {
                ssize_t n = recv(f->reader, buffer, sizeof(buffer) - 1, MSG_DONTWAIT);

                buffer[MAX(n, 0)] = 0;
        } while (startswith(buffer, "filler"));
        buffer[strcspn(buffer, "\n")] = 0;
        return buffer[0] ? buffer + strlen("MESSAGE=") : buffer;
}

TEST(what_journald_does_not_take_at_once_waits_and_keeps_its_order) {
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        FakeJournald f;

        fake_journald_open(&f);
        ASSERT_OK(sd_event_new(&event));
        journal_attach(&f.journal, event);
        for (unsigned i = 0; i < JOURNAL_QUEUE_RECORDS; i++)
                fake_journald_send(&f, JOURNAL_LINE, "line", i);
        ASSERT_EQ(f.journal.n_queued, JOURNAL_QUEUE_RECORDS);
        ASSERT_OK(sd_event_run(event, 0));
        ASSERT_EQ(f.journal.n_queued, JOURNAL_QUEUE_RECORDS);
        ASSERT_STREQ(fake_journald_read(&f), "");
        for (unsigned i = 0; i < JOURNAL_QUEUE_RECORDS; i++) {
                _cleanup_free_ char *expected = strformat("line %u", i);
                const char *found;

                while (isempty(found = fake_journald_read(&f)))
                        ASSERT_OK(sd_event_run(event, 0));
                ASSERT_STREQ(found, expected);
        }
        ASSERT_EQ(f.journal.n_queued, 0);
        ASSERT_EQ(f.journal.n_bytes, 0);
        ASSERT_EQ(f.journal.n_lost, 0);
        ASSERT_STREQ(fake_journald_read(&f), "");
        journal_close(&f.journal);
        close(f.reader);
}

TEST(events_go_before_lines_and_take_their_place) {
        FakeJournald f;
        unsigned n_events = 0, n_lost = 0;

        fake_journald_open(&f);
        for (unsigned i = 0; i < 2 * JOURNAL_QUEUE_RECORDS; i++)
                fake_journald_send(&f, JOURNAL_LINE, "line", i);
        ASSERT_EQ(f.journal.n_queued, JOURNAL_QUEUE_RECORDS);
        ASSERT_GT(f.journal.n_lost, 0);
        for (unsigned i = 0; i < 50; i++)
                fake_journald_send(&f, JOURNAL_EVENT, "event", i);
        ASSERT_EQ(f.journal.n_queued, JOURNAL_QUEUE_RECORDS);
        ASSERT_STREQ(fake_journald_read(&f), "");
        while (f.journal.n_queued > 0 || f.journal.n_lost > 0) {
                fake_journald_send(&f, JOURNAL_LINE, "more", 0);
                for (const char *m; !isempty(m = fake_journald_read(&f));) {
                        if (startswith(m, "event "))
                                ASSERT_EQ((unsigned) atoi(m + 6), n_events++);
                        else if (n_events < 50)
                                test_fail(__FILE__, __LINE__, "\"%s\" came before the events", m);
                        if (strstr(m, " record(s) were lost"))
                                n_lost = (unsigned) atoi(m);
                }
        }
        ASSERT_EQ(n_events, 50);
        ASSERT_GE(n_lost, 50);
        journal_close(&f.journal);
        close(f.reader);
}

TEST(a_journald_that_takes_nothing_costs_records_and_no_memory) {
        FakeJournald f;

        fake_journald_open(&f);
        for (unsigned i = 0; i < 10000; i++)
                fake_journald_send(&f, JOURNAL_EVENT, "event", i);
        ASSERT_LE(f.journal.n_queued, JOURNAL_QUEUE_RECORDS);
        ASSERT_GT(f.journal.n_lost, 9000);
        journal_close(&f.journal);
        close(f.reader);
}

TEST(events_have_ids_of_their_own) {
        for (size_t i = 0; i < _EVENT_MAX; i++) {
                ASSERT_NOT_NULL(event_types[i].name);
                ASSERT_EQ(strspn(event_types[i].message_id, "0123456789abcdef"), 32);
                ASSERT_EQ(strlen(event_types[i].message_id), 32);
                for (size_t j = 0; j < i; j++)
                        ASSERT_FALSE(streq(event_types[i].message_id, event_types[j].message_id));
        }
}

static bool file_has(const char *path, const char *text) {
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        static char content[65536];
        size_t n;

        if (!f)
                test_fail(__FILE__, __LINE__, "cannot open %s", path);
        n = fread(content, 1, sizeof(content) - 1, f);
        content[n] = 0;
        return strstr(content, text);
}

TEST(each_event_is_in_the_catalog_and_in_the_manual) {
        for (size_t i = 0; i < _EVENT_MAX; i++) {
                _cleanup_free_ char *entry = strformat("\n-- %s\nSubject: ", event_types[i].message_id);
                _cleanup_free_ char *row = strformat(
                                "\n.B %s\n.I %s\n", event_types[i].name, event_types[i].message_id);

                ASSERT_TRUE(file_has(SOURCE_ROOT "/units/mcp-systemd.catalog", entry));
                ASSERT_TRUE(file_has(SOURCE_ROOT "/src/supervisor/mcp-supervisor.8", row));
        }
}
