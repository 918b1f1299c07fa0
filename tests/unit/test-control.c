/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "control/message.h"
#include "control/start-notice.h"

TEST(a_hello_comes_back_as_it_was) {
        char *env[] = { (char *) "A=1", (char *) "B=x=\"y\"\n", (char *) "C=", NULL };
        const ControlHello hello = { .client = (char *) "test 1", .env = env, .probe = true };
        _cleanup_(control_hello_done) ControlHello back = {};
        _cleanup_free_ char *text = NULL;
        int64_t version;
        size_t size;

        ASSERT_OK(control_hello_encode(&hello, &text, &size));
        ASSERT_OK(control_hello_decode(text, size, &back, &version));
        ASSERT_EQ(version, CONTROL_VERSION);
        ASSERT_STREQ(back.client, "test 1");
        ASSERT_TRUE(back.probe);
        ASSERT_EQ(strv_length(back.env), 3);
        for (size_t i = 0; i < 3; i++)
                ASSERT_STREQ(back.env[i], env[i]);
}

TEST(every_character_comes_back_as_it_was) {
        char all[0x80] = "A=", *env[] = { all, (char *) "B=\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\", NULL };
        _cleanup_(control_hello_done) ControlHello back = {};
        _cleanup_free_ char *text = NULL;
        size_t size;

        for (int c = 1; c < 0x7e; c++)
                all[c + 1] = (char) c;
        ASSERT_OK(control_hello_encode(&(ControlHello){ .client = all, .env = env }, &text, &size));
        ASSERT_EQ(text[size], 0);
        ASSERT_EQ(strlen(text), size);
        ASSERT_OK(control_hello_decode(text, size, &back, NULL));
        ASSERT_STREQ(back.client, all);
        ASSERT_EQ(strv_length(back.env), 2);
        ASSERT_STREQ(back.env[0], env[0]);
        ASSERT_STREQ(back.env[1], env[1]);
}

TEST(of_a_variable_that_is_passed_twice_the_last_value_counts) {
        char *env[] = {
                (char *) "A=1", (char *) "AB=2", (char *) "A=3", (char *) "A=", (char *) "B=4", NULL
        };
        _cleanup_(control_hello_done) ControlHello back = {};
        _cleanup_free_ char *text = NULL;
        size_t size;

        ASSERT_OK(control_hello_encode(&(ControlHello){ .env = env }, &text, &size));
        ASSERT_OK(control_hello_decode(text, size, &back, NULL));
        ASSERT_EQ(strv_length(back.env), 3);
        ASSERT_STREQ(back.env[0], "AB=2");
        ASSERT_STREQ(back.env[1], "A=");
        ASSERT_STREQ(back.env[2], "B=4");
}

TEST(a_hello_that_cannot_be_sent_is_refused) {
        char *bad[] = { (char *) "A=\xff", NULL }, *large[] = { NULL, NULL },
             *none[] = { (char *) "A", NULL };
        _cleanup_free_ char *text = NULL, *value = malloc(CONTROL_SIZE_MAX + 3);
        size_t size;

        ASSERT_NOT_NULL(value);
        ASSERT_ERROR(control_hello_encode(&(ControlHello){ .env = bad }, &text, &size), EILSEQ);
        ASSERT_ERROR(control_hello_encode(&(ControlHello){ .env = none }, &text, &size), EINVAL);
        memset(value, 'x', CONTROL_SIZE_MAX + 2);
        memcpy(value, "A=", 2);
        value[CONTROL_SIZE_MAX + 2] = 0;
        large[0] = value;
        ASSERT_ERROR(control_hello_encode(&(ControlHello){ .env = large }, &text, &size), E2BIG);
}

TEST(each_state_comes_back_with_what_belongs_to_it) {
        char *missing[] = { (char *) "fs-truncate", (char *) "tasks", NULL },
             *tail[] = { (char *) "last words", NULL };

        for (ControlState state = 0; state < _CONTROL_STATE_MAX; state++) {
                const ControlStatus s = {
                        .state = state,
                        .session = (char *) "0123456789abcdef",
                        .scope = (char *) "mcp-a-0123456789abcdef.scope",
                        .isolated = true,
                        .missing = missing,
                        .code = (char *) "MCP-R-BUSY",
                        .reason = (char *) "two\nlines",
                        .runner = (char *) "npx",
                        .start_timeout_usec = 60 * USEC_PER_SEC,
                        .exit_code = 137,
                        .signal = 9,
                        .stderr_tail = tail,
                };
                const bool end = state == CONTROL_REFUSED || state == CONTROL_EXITED;
                _cleanup_(control_status_done) ControlStatus back = {};
                _cleanup_free_ char *text = NULL;
                size_t size;

                ASSERT_OK(control_status_encode(&s, &text, &size));
                ASSERT_OK(control_status_decode(text, size, &back, NULL));
                ASSERT_EQ(back.state, state);
                ASSERT_STREQ(back.session, s.session);
                ASSERT_STREQ(back.runner, state == CONTROL_STARTING ? s.runner : NULL);
                ASSERT_EQ(back.start_timeout_usec, state == CONTROL_STARTING ? s.start_timeout_usec : 0);
                ASSERT_STREQ(back.scope, state == CONTROL_RUNNING ? s.scope : NULL);
                ASSERT_EQ(strv_length(back.missing), state == CONTROL_RUNNING ? 2 : 0);
                ASSERT_STREQ(back.reason, end ? s.reason : NULL);
                ASSERT_EQ(back.exit_code, end ? 137 : 0);
                ASSERT_EQ(back.signal, end ? 9 : 0);
                ASSERT_EQ(strv_length(back.stderr_tail), end ? 1 : 0);
        }
}

TEST(of_too_long_a_tail_the_newest_lines_stay) {
        _cleanup_strv_free_ char **tail = NULL;
        _cleanup_(control_status_done) ControlStatus back = {};
        _cleanup_free_ char *text = NULL, *line = malloc(4001);
        size_t size;

        ASSERT_NOT_NULL(line);
        memset(line, 'z', 4000);
        line[4000] = 0;
        for (unsigned i = 0; i < 30; i++)
                ASSERT_OK(strv_extend(&tail, line));
        ASSERT_OK(strv_extend(&tail, "the last"));
        ASSERT_OK(control_status_encode(
                        &(ControlStatus){ .state = CONTROL_EXITED, .stderr_tail = tail }, &text, &size));
        ASSERT_LE(size, CONTROL_SIZE_MAX);
        ASSERT_OK(control_status_decode(text, size, &back, NULL));
        ASSERT_GT(strv_length(back.stderr_tail), 10);
        ASSERT_STREQ(back.stderr_tail[strv_length(back.stderr_tail) - 1], "the last");
}

TEST(what_is_no_message_is_refused) {
        static const struct {
                const char *text;
                int error;
        } hellos[] = {
                { "", EBADMSG },
                { "nonsense", EBADMSG },
                { "[]", EBADMSG },
                { "{}", EBADMSG },
                { "{\"version\":\"1\"}", EBADMSG },
                { "{\"version\":2}", EPROTONOSUPPORT },
                { "{\"version\":0,\"env\":7}", EPROTONOSUPPORT },
                { "{\"version\":1,\"env\":[]}", EBADMSG },
                { "{\"version\":1,\"env\":{\"A\":1}}", EBADMSG },
                { "{\"version\":1,\"env\":{\"A B\":\"1\"}}", EBADMSG },
                { "{\"version\":1,\"env\":{\"\":\"1\"}}", EBADMSG },
                { "{\"version\":1,\"env\":{\"A\":\"x\\u0000y\"}}", EBADMSG },
                { "{\"version\":1,\"env\":{\"A\":\"1\",\"A\":\"2\"}}", EBADMSG },
                { "{\"version\":1,\"probe\":\"yes\"}", EBADMSG },
                { "{\"version\":1,\"client\":{}}", EBADMSG },
                { "{\"version\":1,\"other\":[1,2],\"client\":\"x\"}", 0 },
        };
        static const struct {
                const char *text;
                int error;
        } statuses[] = {
                { "{\"version\":1}", EBADMSG },
                { "{\"version\":1,\"state\":\"dancing\"}", EBADMSG },
                { "{\"version\":1,\"state\":\"exited\",\"exit\":256}", EBADMSG },
                { "{\"version\":1,\"state\":\"exited\",\"exit\":-1}", EBADMSG },
                { "{\"version\":1,\"state\":\"exited\",\"signal\":999}", EBADMSG },
                { "{\"version\":1,\"state\":\"exited\",\"stderr\":[1]}", EBADMSG },
                { "{\"version\":9,\"state\":\"exited\"}", EPROTONOSUPPORT },
                { "{\"version\":1,\"state\":\"exited\",\"exit\":255}", 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(hellos); i++) {
                _cleanup_(control_hello_done) ControlHello h = {};

                ASSERT_ERROR(control_hello_decode(hellos[i].text, strlen(hellos[i].text), &h, NULL),
                             hellos[i].error);
        }
        for (size_t i = 0; i < ELEMENTSOF(statuses); i++) {
                _cleanup_(control_status_done) ControlStatus s = {};

                ASSERT_ERROR(control_status_decode(statuses[i].text, strlen(statuses[i].text), &s, NULL),
                             statuses[i].error);
        }
}

static void make_pair(int ret[2]) {
        ASSERT_OK(RET_NERRNO(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret)));
}

static unsigned count_fds(void) {
        unsigned n = 0;

        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void send_with_fds(int fd, const char *text, size_t size, unsigned n_fds) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int) * 64)];
        } control = {};
        struct iovec iov = { .iov_base = (void *) text, .iov_len = size };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

        if (n_fds > 0) {
                struct cmsghdr *c = &control.header;

                mh.msg_control = &control;
                mh.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
                *c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int) * n_fds),
                                       .cmsg_level = SOL_SOCKET,
                                       .cmsg_type = SCM_RIGHTS };
                for (unsigned i = 0; i < n_fds; i++)
                        memcpy(CMSG_DATA(c) + i * sizeof(int), &(int){ STDIN_FILENO }, sizeof(int));
        }
        ASSERT_OK(RET_NERRNO((int) sendmsg(fd, &mh, 0)));
}

TEST(three_descriptors_arrive_in_their_order) {
        int pair[2], fds[CONTROL_N_FDS] = { -EBADF, -EBADF, -EBADF }, files[CONTROL_N_FDS];
        _cleanup_free_ char *text = NULL;
        size_t size;

        make_pair(pair);
        for (int i = 0; i < CONTROL_N_FDS; i++)
                ASSERT_OK(files[i] =
                                          RET_NERRNO(open(i == 0   ? "/dev/null"
                                                          : i == 1 ? "/dev/zero"
                                                                   : "/dev/full",
                                                          O_RDWR | O_CLOEXEC)));
        ASSERT_OK(control_send(pair[0], "{}", 2, files));
        ASSERT_OK(control_receive_hello(pair[1], &text, &size, fds));
        ASSERT_EQ(size, 2);
        for (int i = 0; i < CONTROL_N_FDS; i++) {
                struct stat a, b;

                ASSERT_OK(RET_NERRNO(fstat(files[i], &a)));
                ASSERT_OK(RET_NERRNO(fstat(fds[i], &b)));
                ASSERT_EQ(a.st_rdev, b.st_rdev);
                ASSERT_TRUE(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
                (void) close(files[i]);
                (void) close(fds[i]);
        }
        (void) close(pair[0]);
        (void) close(pair[1]);
}

TEST(wrong_packets_leave_no_descriptor) {
        static const unsigned wrong[] = { 0, 1, 2, 4, 16, 17, 60 };
        const unsigned before = count_fds();

        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                int pair[2], fds[CONTROL_N_FDS];
                char *text = NULL;
                size_t size;

                make_pair(pair);
                send_with_fds(pair[0], "{}", 2, wrong[i]);
                ASSERT_ERROR(control_receive_hello(pair[1], &text, &size, fds), EBADMSG);
                ASSERT_NULL(text);
                (void) close(pair[0]);
                (void) close(pair[1]);
                ASSERT_EQ(count_fds(), before);
        }
}

TEST(too_long_a_packet_is_refused_with_its_descriptors) {
        const unsigned before = count_fds();
        _cleanup_free_ char *large = calloc(1, CONTROL_SIZE_MAX + 1);
        int pair[2], fds[CONTROL_N_FDS];
        char *text = NULL;
        size_t size;

        ASSERT_NOT_NULL(large);
        make_pair(pair);
        send_with_fds(pair[0], large, CONTROL_SIZE_MAX + 1, 3);
        ASSERT_ERROR(control_receive_hello(pair[1], &text, &size, fds), EBADMSG);
        /* Unasked descriptors on the way back are closed, too. */
        send_with_fds(pair[0], "{}", 2, 2);
        ASSERT_OK(control_receive(pair[1], &text, &size));
        free(TAKE_PTR(text));
        (void) close(pair[0]);
        ASSERT_OK(control_receive(pair[1], &text, &size));
        ASSERT_EQ(size, 0);
        free(text);
        (void) close(pair[1]);
        ASSERT_EQ(count_fds(), before);
}

TEST(nothing_waits) {
        int pair[2], fds[CONTROL_N_FDS];
        char *text = NULL;
        size_t size;
        int r;

        make_pair(pair);
        ASSERT_ERROR(control_receive(pair[0], &text, &size), EAGAIN);
        ASSERT_ERROR(control_receive_hello(pair[0], &text, &size, fds), EAGAIN);
        do
                r = control_send(pair[0], "x", 1, NULL);
        while (r >= 0);
        ASSERT_EQ(r, -EAGAIN);
        (void) close(pair[0]);
        (void) close(pair[1]);
        make_pair(pair);
        (void) close(pair[1]);
        ASSERT_ERROR(control_send(pair[0], "x", 1, NULL), EPIPE);
        (void) close(pair[0]);
}

TEST(a_start_is_told_of_sparsely_and_its_budget_once) {
        static const unsigned due[] = { 2, 10, 30, 60, 90, 100 };
        _cleanup_(start_notice_done) StartNotice n = {};
        ControlStatus told = { .runner = strdup("npx"), .start_timeout_usec = 100 * USEC_PER_SEC };
        const uint64_t began = 7 * USEC_PER_SEC;

        start_notice_begin(&n, began, 90 * USEC_PER_SEC);
        start_notice_learn(&n, &told);
        control_status_done(&told);
        for (size_t i = 0; i < ELEMENTSOF(due); i++) {
                bool last = i + 1 == ELEMENTSOF(due);
                _cleanup_free_ char *text = NULL, *time = NULL;

                ASSERT_EQ(n.next_usec, began + due[i] * USEC_PER_SEC);
                text = start_notice_next(&n, n.next_usec);
                ASSERT_NOT_NULL(text);
                ASSERT_TRUE(asprintf(&time,
                                     last ? "within %u s" : "%u s of a budget of 100 s",
                                     due[i] + 0U) > 0);
                ASSERT_NOT_NULL(strstr(text, time));
                ASSERT_NOT_NULL(strstr(text, "npx"));
                ASSERT_EQ(strstr(text, "[MCP-E-SLOW-START]") != NULL, last);
        }
        ASSERT_EQ(n.next_usec, UINT64_MAX);
}

TEST(a_start_that_nobody_looked_at_for_long_is_told_of_once) {
        _cleanup_(start_notice_done) StartNotice n = {};
        _cleanup_free_ char *text = NULL;

        start_notice_begin(&n, 0, 300 * USEC_PER_SEC);
        text = start_notice_next(&n, 125 * USEC_PER_SEC);
        ASSERT_STREQ(text, "still starting (125 s of a budget of 300 s)");
        ASSERT_EQ(n.next_usec, 150 * USEC_PER_SEC);
}

TEST(a_small_budget_is_over_before_the_first_line) {
        _cleanup_(start_notice_done) StartNotice n = {};
        _cleanup_free_ char *text = NULL;

        start_notice_begin(&n, 0, USEC_PER_SEC);
        ASSERT_EQ(n.next_usec, USEC_PER_SEC);
        text = start_notice_next(&n, USEC_PER_SEC);
        ASSERT_NOT_NULL(strstr(text, "MCP-E-SLOW-START"));
}

TEST(what_downloads_is_known_by_its_name) {
        ASSERT_STREQ(start_notice_runner("npx"), "npx");
        ASSERT_STREQ(start_notice_runner("/usr/local/bin/uvx"), "uvx");
        ASSERT_NULL(start_notice_runner("/opt/npx-like/server"));
        ASSERT_NULL(start_notice_runner("node"));
        ASSERT_NULL(start_notice_runner(NULL));
}
