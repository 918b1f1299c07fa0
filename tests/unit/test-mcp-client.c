/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The MCP client against servers that misbehave in every way it has a word for, and against the real demo server. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "basic/fd-util.h"
#include "mcp-client/client.h"
#include "mcp-client/message.h"
#include "test.h"

#define SECOND_USEC 1000000U
#define SHORT_USEC  200000U

/* A server: talks to the client over in and out, and is ended with its process. */
typedef void (*Server)(int in, int out);

typedef struct Fixture {
        pid_t pid;
        int to_fd, from_fd, pidfd;
        McpClient *client;
        McpPeer peer;
        char *told; /* the diagnosis as a text */
} Fixture;

/* One line of what the client says; false at the end. */
static bool hear(int in, char *line, size_t size) {
        size_t n = 0;
        char c;

        while (read(in, &c, 1) == 1) {
                if (c == '\n') {
                        line[n] = 0;
                        return true;
                }
                if (n + 1 < size)
                        line[n++] = c;
        }
        return false;
}

/* Waits for a line that has word in it: a server that hears something else ends, and the test sees that. */
static void expect(int in, const char *word) {
        char line[4096];

        if (!hear(in, line, sizeof(line)) || !strstr(line, word))
                _exit(99);
}

static void say(int out, const char *text) {
        if (fd_write_all(out, text, strlen(text)) < 0)
                _exit(98);
}

static void wait_for_end(int in) {
        char line[4096];

        while (hear(in, line, sizeof(line)))
                ;
}

static void fixture_start(Fixture *f, Server server) {
        int to[2], from[2];

        *f = (Fixture){ .pidfd = -EBADF };
        ASSERT_OK(pipe2(to, O_CLOEXEC));
        ASSERT_OK(pipe2(from, O_CLOEXEC));
        f->pid = fork();
        ASSERT_OK(f->pid);
        if (f->pid == 0) {
                (void) alarm(30);
                (void) close(to[1]);
                (void) close(from[0]);
                server(to[0], from[1]);
                _exit(0);
        }
        (void) close(to[0]);
        (void) close(from[1]);
        f->to_fd = to[1];
        f->from_fd = from[0];
        f->pidfd = pidfd_open(f->pid, 0);
        ASSERT_OK(f->pidfd);
        ASSERT_OK(mcp_client_new(f->to_fd, f->from_fd, f->pidfd, &f->client));
}

/* Ends the server by the end of its input, and returns its wait status. */
static int fixture_end(Fixture *f) {
        int status = 0;

        f->client = mcp_client_free(f->client);
        mcp_peer_done(&f->peer);
        free(f->told);
        (void) close(f->to_fd);
        (void) close(f->from_fd);
        (void) close(f->pidfd);
        ASSERT_EQ(waitpid(f->pid, &status, 0), f->pid);
        return status;
}

static int shake(Fixture *f, Server server, McpProtocol protocol, uint64_t timeout_usec) {
        McpTimeouts timeouts = { .start_usec = timeout_usec, .second_usec = timeout_usec };
        int r;

        fixture_start(f, server);
        r = mcp_client_handshake(f->client, protocol, &timeouts, &f->peer);
        if (r > 0) {
                f->told = mcp_diagnosis_describe(mcp_client_diagnosis(f->client));
                ASSERT_NOT_NULL(f->told);
                ASSERT_EQ(mcp_client_diagnosis(f->client)->failure, r);
        }
        return r;
}

#define INITIALIZED(id, version)                                                                           \
        "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"protocolVersion\":\"" version                    \
        "\",\"capabilities\":{\"tools\":{},\"logging\":{}},\"serverInfo\":{\"name\":\"fake\",\"version\":" \
        "\"1.2\"}}}\n"
#define ERROR(id, code, rest)                                          \
        "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code \
        ",\"message\":\"no such thing\"" rest "}}\n"
#define DISCOVERED(id)                                                                           \
        "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"resultType\":\"complete\","            \
        "\"supportedVersions\":[\"2027-01-01\",\"2026-07-28\"],\"capabilities\":{\"tools\":{}}," \
        "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"new\",\"version\":\"9\"}}}}\n"

static void serve_legacy(int in, int out) {
        expect(in, "\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"");
        say(out, INITIALIZED("1", "2024-11-05"));
        expect(in, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        expect(in, "\"id\":2,\"method\":\"ping\"");
        say(out, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
        wait_for_end(in);
}

TEST(legacy) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_legacy, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        ASSERT_EQ(f.peer.era, MCP_PROTOCOL_LEGACY);
        ASSERT_STREQ(f.peer.protocol_version, "2024-11-05");
        ASSERT_STREQ(f.peer.server_name, "fake");
        ASSERT_STREQ(f.peer.server_version, "1.2");
        ASSERT_EQ(f.peer.capabilities, MCP_CAPABILITY_TOOLS | MCP_CAPABILITY_LOGGING);
        ASSERT_LT(f.peer.elapsed_usec, 5 * SECOND_USEC);
        ASSERT_EQ(mcp_client_ping(f.client, SECOND_USEC), 0);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_modern(int in, int out) {
        expect(in, "\"id\":1,\"method\":\"initialize\"");
        say(out, ERROR("1", "-32601", ""));
        expect(in, "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"");
        say(out, DISCOVERED("2"));
        expect(in, "\"_meta\"");
        say(out, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"input_required\"}}\n");
        wait_for_end(in);
}

TEST(modern_behind_refused_initialize) {
        _cleanup_jsonc_ json_object *result = NULL;
        Fixture f;

        ASSERT_EQ(shake(&f, serve_modern, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        ASSERT_EQ(f.peer.era, MCP_PROTOCOL_MODERN);
        ASSERT_STREQ(f.peer.protocol_version, "2026-07-28");
        ASSERT_STREQ(f.peer.server_name, "new");
        ASSERT_EQ(strv_length(f.peer.supported_versions), 2);
        ASSERT_EQ(mcp_client_request(f.client, "tools/list", NULL, SECOND_USEC, &result),
                  MCP_FAILURE_RESULT);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_modern_directly(int in, int out) {
        expect(in, "\"id\":1,\"method\":\"server/discover\"");
        say(out, DISCOVERED("1"));
        wait_for_end(in);
}

TEST(modern_alone) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_modern_directly, MCP_PROTOCOL_MODERN, 5 * SECOND_USEC), 0);
        ASSERT_EQ(f.peer.era, MCP_PROTOCOL_MODERN);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_neither(int in, int out) {
        expect(in, "initialize");
        say(out, ERROR("1", "-32000", ""));
        expect(in, "server/discover");
        say(out, ERROR("2", "-32601", ""));
        wait_for_end(in);
}

TEST(error_to_both) {
        const McpDiagnosis *d;
        Fixture f;

        ASSERT_EQ(shake(&f, serve_neither, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), MCP_FAILURE_ERROR_REPLY);
        d = mcp_client_diagnosis(f.client);
        ASSERT_EQ(d->error_code, -32000);
        ASSERT_STREQ(d->method, "initialize");
        ASSERT_FALSE(d->respawn_modern);
        ASSERT_CONTAINS(f.told, "no such thing (code -32000)");
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_error_without_id(int in, int out) {
        expect(in, "initialize");
        say(out, ERROR("null", "-32000", ""));
        wait_for_end(in);
}

TEST(error_without_id) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_error_without_id, MCP_PROTOCOL_LEGACY, 5 * SECOND_USEC),
                  MCP_FAILURE_ERROR_REPLY);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_refuse_and_end(int in, int out) {
        expect(in, "initialize");
        say(out, ERROR("1", "-32022", ""));
}

TEST(refused_and_ended_asks_for_a_fresh_instance) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_refuse_and_end, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC),
                  MCP_FAILURE_UNSUPPORTED_VERSION);
        ASSERT_TRUE(mcp_client_diagnosis(f.client)->respawn_modern);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_offer_older(int in, int out) {
        expect(in, "\"protocolVersion\":\"2025-11-25\"");
        say(out, ERROR("1", "-32602", ",\"data\":{\"supported\":[\"x\",\"2024-11-05\",\"2025-06-18\"]}"));
        expect(in, "\"id\":2,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"");
        say(out, INITIALIZED("2", "2025-06-18"));
        wait_for_end(in);
}

TEST(older_version_offered_in_an_error) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_offer_older, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        ASSERT_STREQ(f.peer.protocol_version, "2025-06-18");
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_unknown_version(int in, int out) {
        expect(in, "initialize");
        say(out, INITIALIZED("1", "1999-01-01"));
        wait_for_end(in);
}

TEST(unknown_legacy_version) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_unknown_version, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC),
                  MCP_FAILURE_UNSUPPORTED_VERSION);
        ASSERT_STREQ(mcp_client_diagnosis(f.client)->versions, "1999-01-01");
        ASSERT_CONTAINS(f.told, "1999-01-01");
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_future(int in, int out) {
        expect(in, "server/discover");
        say(out,
            ERROR("1", "-32022", ",\"data\":{\"supported\":[\"2030-01-01\"],\"requested\":\"2026-07-28\"}"));
        wait_for_end(in);
}

TEST(unknown_modern_version) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_future, MCP_PROTOCOL_MODERN, 5 * SECOND_USEC),
                  MCP_FAILURE_UNSUPPORTED_VERSION);
        ASSERT_STREQ(mcp_client_diagnosis(f.client)->versions, "2030-01-01");
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_missing_info(int in, int out) {
        expect(in, "initialize");
        say(out,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{"
            "}}}\n");
        wait_for_end(in);
}

TEST(result_without_server_info) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_missing_info, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), MCP_FAILURE_RESULT);
        ASSERT_CONTAINS(f.told, "serverInfo");
        ASSERT_EQ(fixture_end(&f), 0);
}

/* What a server says right after the first request, and what that is. */
static const char *saying;
static void serve_saying(int in, int out) {
        expect(in, "\"id\":1");
        say(out, saying);
        wait_for_end(in);
}

static void check_saying(const char *what, McpFailure failure, const char *told) {
        Fixture f;

        saying = what;
        ASSERT_EQ(shake(&f, serve_saying, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), failure);
        ASSERT_CONTAINS(f.told, told);
        ASSERT_FALSE(mcp_client_diagnosis(f.client)->respawn_modern);
        ASSERT_EQ(fixture_end(&f), 0);
}

TEST(noise) {
        check_saying("Listening\x1b[1m on stdio\n" INITIALIZED("1", "2025-11-25"),
                     MCP_FAILURE_NOISE,
                     "Listening\\x1b[1m on");
        check_saying("42\n", MCP_FAILURE_NOISE, "42");
}

TEST(long_noise_is_cut) {
        char line[2002];

        memset(line, 'x', 2000);
        memcpy(line + 2000, "\n", 2);
        check_saying(line, MCP_FAILURE_NOISE, "… (2000 bytes)");
}

TEST(lsp_framing) {
        check_saying("Content-Length: 15\r\n\r\n{\"jsonrpc\":1}",
                     MCP_FAILURE_LSP_FRAMING,
                     "LSP framing, not MCP stdio");
        check_saying("content-type: application/vscode-jsonrpc\r\n", MCP_FAILURE_LSP_FRAMING, "LSP framing");
}

TEST(invalid_utf8) {
        check_saying("{\"jsonrpc\":\"2.0\",\"id\":1,\"x\":\"\xff\"}\n", MCP_FAILURE_UTF8, "\\xff");
}

TEST(byte_order_mark) {
        check_saying("\xef\xbb\xbf" INITIALIZED("1", "2025-11-25"),
                     MCP_FAILURE_BYTE_ORDER_MARK,
                     "byte order mark");
}

TEST(broken_json) {
        check_saying("{\"jsonrpc\":\"2.0\",\n\"id\":1}\n", MCP_FAILURE_JSON, "{\"jsonrpc\"");
        check_saying("{'jsonrpc':'2.0','id':1,'result':{}}\n", MCP_FAILURE_JSON, "'jsonrpc'");
}

TEST(json_that_is_no_message) {
        check_saying("{\"level\":\"info\",\"msg\":\"hello\"}\n", MCP_FAILURE_JSONRPC, "hello");
        check_saying("{\"jsonrpc\":\"2.0\",\"id\":1}\n", MCP_FAILURE_JSONRPC, "id");
        check_saying("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"bad\"}\n", MCP_FAILURE_JSONRPC, "bad");
        check_saying("[]\n", MCP_FAILURE_JSONRPC, "[]");
        check_saying("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]\n", MCP_FAILURE_JSONRPC, "[{");
}

TEST(wrong_id) {
        check_saying(INITIALIZED("99", "2025-11-25"), MCP_FAILURE_WRONG_ID, "99");
        check_saying(INITIALIZED("\"1\"", "2025-11-25"), MCP_FAILURE_WRONG_ID, "\"1\"");
}

static void serve_echo(int in, int out) {
        char line[4096];

        while (hear(in, line, sizeof(line))) {
                say(out, line);
                say(out, "\n");
        }
}

TEST(echo) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_echo, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), MCP_FAILURE_ECHO);
        ASSERT_EQ(fixture_end(&f), 0);
}

TEST(prompt_without_newline_is_noise) {
        Fixture f;

        saying = "> ";
        ASSERT_EQ(shake(&f, serve_saying, MCP_PROTOCOL_AUTO, SHORT_USEC), MCP_FAILURE_NOISE);
        ASSERT_EQ(fixture_end(&f), 0);
}

TEST(half_a_message_is_no_answer) {
        Fixture f;

        saying = "{\"jsonrpc\":\"2.0\",";
        ASSERT_EQ(shake(&f, serve_saying, MCP_PROTOCOL_AUTO, SHORT_USEC), MCP_FAILURE_TIMEOUT);
        ASSERT_CONTAINS(f.told, "{\"jsonrpc\":\"2.0\",");
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_silence(int in, _unused_ int out) {
        wait_for_end(in);
}

TEST(silence) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_silence, MCP_PROTOCOL_AUTO, SHORT_USEC), MCP_FAILURE_TIMEOUT);
        ASSERT_TRUE(mcp_client_diagnosis(f.client)->respawn_modern);
        ASSERT_EQ(mcp_client_diagnosis(f.client)->n_bytes, 0);
        ASSERT_GE(mcp_client_diagnosis(f.client)->elapsed_usec, SHORT_USEC * 9 / 10);
        ASSERT_CONTAINS(f.told, "\"initialize\"");
        ASSERT_EQ(fixture_end(&f), 0);

        ASSERT_EQ(shake(&f, serve_silence, MCP_PROTOCOL_LEGACY, SHORT_USEC), MCP_FAILURE_TIMEOUT);
        ASSERT_FALSE(mcp_client_diagnosis(f.client)->respawn_modern);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_chatter(int in, int out) {
        struct pollfd p = { .fd = in, .events = POLLIN };

        expect(in, "initialize");
        while (poll(&p, 1, 1) == 0)
                say(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n");
}

TEST(chatter_does_not_move_the_deadline) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_chatter, MCP_PROTOCOL_LEGACY, SHORT_USEC), MCP_FAILURE_TIMEOUT);
        ASSERT_LT(mcp_client_diagnosis(f.client)->elapsed_usec, 10 * SHORT_USEC);
        (void) fixture_end(&f);
}

static void serve_nothing(_unused_ int in, _unused_ int out) {
}

TEST(exit_at_once) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_nothing, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), MCP_FAILURE_ENDED);
        ASSERT_TRUE(mcp_client_diagnosis(f.client)->respawn_modern);
        ASSERT_EQ(fixture_end(&f), 0);
}

/* The server dies, and what it left behind holds the pipe until the client closes the other one. */
static void serve_orphan(int in, _unused_ int out) {
        struct pollfd p = { .fd = in };
        pid_t pid;

        pid = fork();
        if (pid == 0) {
                (void) poll(&p, 1, 30000);
                _exit(0);
        }
        expect(in, "initialize");
}

TEST(death_is_seen_although_the_pipe_is_held) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_orphan, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), MCP_FAILURE_ENDED);
        ASSERT_LT(mcp_client_diagnosis(f.client)->elapsed_usec, 2 * SECOND_USEC);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_flood(int in, int out) {
        static char block[1 << 20];

        expect(in, "initialize");
        memset(block, 'x', sizeof(block));
        for (unsigned i = 0; i < 64; i++)
                if (fd_write_all(out, block, sizeof(block)) < 0)
                        break;
}

TEST(oversized) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_flood, MCP_PROTOCOL_AUTO, 20 * SECOND_USEC), MCP_FAILURE_OVERSIZED);
        ASSERT_LE(mcp_client_diagnosis(f.client)->n_bytes, MCP_MESSAGE_MAX + (1U << 20));
        ASSERT_CONTAINS(f.told, "oversized message");
        (void) fixture_end(&f);
}

static void serve_slowly(int in, int out) {
        static const char answer[] =
                        "\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\","
                        "\"capabilities\":"
                        "{\"tools\":{}},\"serverInfo\":{\"name\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\","
                        "\"version\":\"\\ud800\"}}}\r\n";

        expect(in, "initialize");
        for (const char *c = answer; *c; c++) {
                struct timespec pause = { .tv_nsec = 100000 };

                if (write(out, c, 1) != 1)
                        _exit(98);
                (void) nanosleep(&pause, NULL);
        }
        expect(in, "notifications/initialized");
        wait_for_end(in);
}

TEST(one_byte_at_a_time) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_slowly, MCP_PROTOCOL_AUTO, 10 * SECOND_USEC), 0);
        ASSERT_STREQ(f.peer.server_name, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
        ASSERT_STREQ(f.peer.server_version, "\xef\xbf\xbd");
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_asking(int in, int out) {
        expect(in, "initialize");
        say(out,
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"ping\"}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
        expect(in, "\"id\":\"s1\",\"result\":{}");
        expect(in, "\"code\":-32601");
        say(out, INITIALIZED("1", "2025-03-26"));
        expect(in, "notifications/initialized");
        expect(in, "\"id\":2");
        say(out,
            "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "x\"},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]\n");
        wait_for_end(in);
}

TEST(server_asks_first_and_answers_in_a_batch) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_asking, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        ASSERT_EQ(mcp_client_ping(f.client, SECOND_USEC), 0);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_noisily(int in, int out) {
        expect(in, "initialize");
        say(out, "hello\nworld\n" INITIALIZED("1", "2025-11-25"));
        expect(in, "notifications/initialized");
        wait_for_end(in);
}

TEST(noise_passed_over) {
        McpTimeouts timeouts = { .start_usec = 5 * SECOND_USEC };
        Fixture f;

        fixture_start(&f, serve_noisily);
        mcp_client_set_skip_noise(f.client, true);
        ASSERT_EQ(mcp_client_handshake(f.client, MCP_PROTOCOL_AUTO, &timeouts, &f.peer), 0);
        ASSERT_EQ(f.peer.n_noise, 2);
        ASSERT_STREQ(f.peer.noise, "hello");
        ASSERT_EQ(mcp_client_ping(f.client, SHORT_USEC), MCP_FAILURE_NOISE);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_pages(int in, int out) {
        expect(in, "initialize");
        say(out, INITIALIZED("1", "2025-11-25"));
        expect(in, "notifications/initialized");
        expect(in, "tools/list");
        say(out,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"a\",\"description\":\"A\","
            "\"inputSchema\":{}}],\"nextCursor\":\"p2\"}}\n");
        expect(in, "\"params\":{\"cursor\":\"p2\"}");
        say(out, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[{\"name\":\"b\"}]}}\n");
        expect(in, "tools/list");
        say(out, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"tools\":[],\"nextCursor\":\"p2\"}}\n");
        expect(in, "\"params\":{\"cursor\":\"p2\"}");
        say(out, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"tools\":[],\"nextCursor\":\"p2\"}}\n");
        expect(in, "tools/list");
        say(out, "{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{}}\n");
        wait_for_end(in);
}

TEST(tools_in_pages) {
        _cleanup_mcp_tools_ McpTools tools = {};
        Fixture f;

        ASSERT_EQ(shake(&f, serve_pages, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        ASSERT_EQ(mcp_client_list_tools(f.client, SECOND_USEC, &tools), 0);
        ASSERT_EQ(tools.n, 2);
        ASSERT_STREQ(tools.items[0].name, "a");
        ASSERT_STREQ(tools.items[0].description, "A");
        ASSERT_NOT_NULL(tools.items[0].input_schema);
        ASSERT_STREQ(tools.items[1].name, "b");
        ASSERT_NULL(tools.items[1].description);
        mcp_tools_done(&tools);
        ASSERT_EQ(mcp_client_list_tools(f.client, SECOND_USEC, &tools), MCP_FAILURE_PAGES);
        ASSERT_EQ(mcp_client_list_tools(f.client, SECOND_USEC, &tools), MCP_FAILURE_RESULT);
        ASSERT_EQ(tools.n, 0);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_late(int in, int out) {
        expect(in, "initialize");
        say(out, INITIALIZED("1", "2025-11-25"));
        expect(in, "notifications/initialized");
        expect(in, "\"id\":2");
        expect(in, "\"id\":3");
        say(out,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n");
        wait_for_end(in);
}

TEST(late_answer_is_no_fault) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_late, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        ASSERT_EQ(mcp_client_ping(f.client, SHORT_USEC), MCP_FAILURE_TIMEOUT);
        ASSERT_EQ(mcp_client_ping(f.client, SECOND_USEC), 0);
        ASSERT_EQ(fixture_end(&f), 0);
}

static void serve_deaf(int in, int out) {
        expect(in, "initialize");
        say(out, INITIALIZED("1", "2025-11-25"));
        expect(in, "notifications/initialized");
        (void) close(in);
        (void) pause();
}

TEST(server_closes_its_input) {
        Fixture f;

        ASSERT_EQ(shake(&f, serve_deaf, MCP_PROTOCOL_AUTO, 5 * SECOND_USEC), 0);
        /* Would end this program if SIGPIPE came through. */
        ASSERT_EQ(mcp_client_ping(f.client, SHORT_USEC), MCP_FAILURE_TIMEOUT);
        ASSERT_OK(kill(f.pid, SIGKILL));
        ASSERT_EQ(mcp_client_ping(f.client, 5 * SECOND_USEC), MCP_FAILURE_ENDED);
        (void) fixture_end(&f);
}

/* Over one socket, and in an order that would block whoever only writes or only reads. */
TEST(large_both_ways_over_a_socket) {
        _cleanup_jsonc_ json_object *arguments = NULL, *result = NULL;
        _cleanup_mcp_client_ McpClient *c = NULL;
        _cleanup_mcp_peer_ McpPeer peer = {};
        _cleanup_free_ char *text = NULL;
        const size_t n = 15U << 20;
        int fds[2], status;
        const char *back;
        pid_t pid;

        ASSERT_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
        pid = fork();
        ASSERT_OK(pid);
        if (pid == 0) {
                (void) dup2(fds[1], STDIN_FILENO);
                (void) dup2(fds[1], STDOUT_FILENO);
                (void) execl(DEMO_SERVER, "mcp-demo-server", NULL);
                _exit(127);
        }
        (void) close(fds[1]);
        ASSERT_OK(mcp_client_new(fds[0], fds[0], -EBADF, &c));
        ASSERT_EQ(mcp_client_handshake(c, MCP_PROTOCOL_AUTO, NULL, &peer), 0);
        text = malloc(n + 1);
        ASSERT_NOT_NULL(text);
        memset(text, 'z', n);
        text[n] = 0;
        arguments = jsonc_new_pair("text", text, NULL, NULL);
        ASSERT_EQ(mcp_client_call_tool(c, "echo", arguments, 60 * SECOND_USEC, &result), 0);
        back = jsonc_get_string(
                        json_object_array_get_idx(jsonc_get(result, "content", json_type_array), 0), "text");
        ASSERT_NOT_NULL(back);
        ASSERT_TRUE(streq(back, text));
        (void) close(fds[0]);
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_EQ(status, 0);
}

static const char *demo_option;
static void serve_demo(int in, int out) {
        (void) dup2(in, STDIN_FILENO);
        (void) dup2(out, STDOUT_FILENO);
        (void) execl(DEMO_SERVER, "mcp-demo-server", demo_option, NULL);
        _exit(127);
}

static void check_demo(const char *option, McpProtocol protocol, int expected, McpProtocol era) {
        _cleanup_mcp_tools_ McpTools tools = {};
        Fixture f;

        demo_option = option;
        ASSERT_EQ(shake(&f, serve_demo, protocol, 10 * SECOND_USEC), expected);
        if (expected == 0) {
                ASSERT_EQ(f.peer.era, era);
                ASSERT_STREQ(f.peer.server_name, "mcp-demo-server");
                ASSERT_EQ(f.peer.capabilities, MCP_CAPABILITY_TOOLS);
                ASSERT_EQ(mcp_client_ping(f.client, SECOND_USEC), 0);
                ASSERT_EQ(mcp_client_list_tools(f.client, SECOND_USEC, &tools), 0);
                ASSERT_EQ(tools.n, 11);
        }
        ASSERT_EQ(fixture_end(&f), 0);
}

TEST(demo_server_in_both_eras) {
        check_demo(NULL, MCP_PROTOCOL_AUTO, 0, MCP_PROTOCOL_LEGACY);
        check_demo(NULL, MCP_PROTOCOL_MODERN, 0, MCP_PROTOCOL_MODERN);
        check_demo("--legacy-only", MCP_PROTOCOL_AUTO, 0, MCP_PROTOCOL_LEGACY);
        check_demo("--modern-only", MCP_PROTOCOL_AUTO, 0, MCP_PROTOCOL_MODERN);
        check_demo("--legacy-only", MCP_PROTOCOL_MODERN, MCP_FAILURE_ERROR_REPLY, 0);
        check_demo("--modern-only", MCP_PROTOCOL_LEGACY, MCP_FAILURE_UNSUPPORTED_VERSION, 0);
}

TEST(misuse) {
        _cleanup_jsonc_ json_object *result = NULL;
        McpClient *c = NULL;
        Fixture f;

        ASSERT_ERROR(mcp_client_new(-EBADF, STDIN_FILENO, -EBADF, &c), EBADF);
        ASSERT_NULL(c);
        fixture_start(&f, serve_silence);
        ASSERT_ERROR(mcp_client_request(f.client, "ping", NULL, SECOND_USEC, &result), ENOTCONN);
        ASSERT_ERROR(mcp_client_handshake(f.client, _MCP_PROTOCOL_MAX, NULL, &f.peer), EINVAL);
        ASSERT_EQ(fixture_end(&f), 0);
}

TEST(failures_are_all_described) {
        for (McpFailure i = MCP_FAILURE_NONE + 1; i < _MCP_FAILURE_MAX; i++) {
                ASSERT_TRUE(startswith(mcp_failure_to_string(i), "MCP-E-") != NULL);
                ASSERT_EQ(mcp_failure_from_string(mcp_failure_to_string(i)), i);
                ASSERT_TRUE(endswith(mcp_failure_text(i), "."));
                ASSERT_TRUE(endswith(mcp_failure_remedy(i), "."));
        }
        ASSERT_NULL(mcp_failure_text(MCP_FAILURE_NONE));
        ASSERT_EQ(mcp_failure_from_string("MCP-E-"), _MCP_FAILURE_INVALID);
        for (McpProtocol p = 0; p < _MCP_PROTOCOL_MAX; p++)
                ASSERT_EQ(mcp_protocol_from_string(mcp_protocol_to_string(p)), p);
        ASSERT_EQ(mcp_protocol_from_string("both"), _MCP_PROTOCOL_INVALID);
}

static void check_show(const char *s, size_t n, const char *expected) {
        _cleanup_free_ char *shown = NULL;

        shown = mcp_show(s, n);
        ASSERT_STREQ(shown, expected);
}

TEST(shown_text_is_harmless) {
        char text[MCP_SHOWN_MAX + 8], expected[MCP_SHOWN_MAX + 32];

        check_show("", 0, "");
        check_show("a\0b", 3, "a\\x00b");
        check_show("\x1b[2J\t\xff\xc3\xa4\r", 9, "\\x1b[2J\\x09\\xff\xc3\xa4");
        /* A character of two bytes across the cut is left out whole. */
        memset(text, 'x', sizeof(text));
        memcpy(text + MCP_SHOWN_MAX - 1, "\xc3\xa4", 2);
        (void) snprintf(expected,
                        sizeof(expected),
                        "%.*s… (%zu bytes)",
                        MCP_SHOWN_MAX - 1,
                        text,
                        sizeof(text));
        check_show(text, sizeof(text), expected);
}

TEST(capability_names) {
        _cleanup_strv_free_ char **names = NULL;
        _cleanup_free_ char *joined = NULL;

        ASSERT_OK(mcp_capabilities_to_strv(MCP_CAPABILITY_PROMPTS | MCP_CAPABILITY_TOOLS, &names));
        joined = strv_join(names, " ");
        ASSERT_STREQ(joined, "tools prompts");
}
