/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ctl/talk.h"
#include "basic/string-util.h"

#define END_WAIT_USEC (3U * 1000000U) /* for the supervisor's account of how the server ended */

static void talk_close(Talk *t) {
        t->client = mcp_client_free(t->client);
        t->session = session_free(t->session);
}

void talk_done(Talk *t) {
        mcp_peer_done(&t->peer);
        talk_close(t);
        if (t->starting)
                start_notice_done(&t->starting->notice);
        free(t->starting);
        free(t->message);
        free(t->exit_text);
        free(t->slow_remedy);
        strv_free(t->last_lines);
        *t = (Talk){};
}

static int describe_exit(Talk *t) {
        const ControlStatus *last = &t->session->last;
        _cleanup_free_ char *reason = NULL;
        char *text;

        if (!t->session->ended)
                return 0;
        if (last->reason) {
                reason = string_escape_control(last->reason);
                if (!reason)
                        return -ENOMEM;
        }
        if (reason)
                text = strformat("The server ended: %s%s", reason, endswith(reason, ".") ? "" : ".");
        else if (last->signal > 0)
                text = strformat("The server was killed by SIG%s.", sigabbrev_np(last->signal) ?: "?");
        else
                text = strformat("The server exited with status %d.", last->exit_code);
        free(t->exit_text);
        t->exit_text = text;
        return text ? 0 : -ENOMEM;
}

/* The end that the server found by itself is part of the diagnosis; the one that we ask for now is not. */
static int talk_epilogue(Talk *t) {
        bool alone;
        int r;

        r = session_wait_end(t->session, 0);
        alone = r >= 0;
        if (r == -ETIMEDOUT) {
                session_say_goodbye(t->session);
                r = session_wait_end(t->session, END_WAIT_USEC);
        }
        if (r == -ENOMEM)
                return r;
        if (alone) {
                r = describe_exit(t);
                if (r < 0)
                        return r;
        }
        strv_free(t->last_lines);
        t->last_lines = NULL;
        return session_last_lines(t->session, &t->last_lines);
}

/* Nothing at all within the budget of the start, which is the one thing to change where packages are downloaded. */
static int blame_the_start(Talk *t) {
        const Definition *d = t->server->definition;
        const char *runner = start_notice_runner(d->command.value);
        char *remedy;

        remedy = strformat(
                        "%s%s%sIts start may take %llu s: \"init_timeout\" in %s gives it more time "
                        "for good, --timeout=TIME for once.",
                        runner ? "The first start of a program by " : "",
                        strempty(runner),
                        runner ? " downloads it. " : "",
                        (unsigned long long) (t->timeout_usec / USEC_PER_SEC),
                        t->server->file);
        if (!remedy)
                return -ENOMEM;
        free(t->slow_remedy);
        t->slow_remedy = remedy;
        t->code = "MCP-E-SLOW-START";
        t->remedy = remedy;
        return 0;
}

int talk_fail(Talk *t, const McpDiagnosis *diagnosis) {
        int r;

        t->failed = true;
        t->code = mcp_failure_to_string(diagnosis->failure);
        t->remedy = mcp_failure_remedy(diagnosis->failure);
        free(t->message);
        t->message = mcp_diagnosis_describe(diagnosis);
        if (!t->message)
                return -ENOMEM;
        if (diagnosis->failure == MCP_FAILURE_TIMEOUT && diagnosis->n_bytes == 0) {
                r = blame_the_start(t);
                if (r < 0)
                        return r;
        }
        if (t->brief)
                return 0;
        /* A server that closed its stdout is about to be gone: wait for how. */
        if (diagnosis->failure == MCP_FAILURE_ENDED) {
                r = session_wait_end(t->session, END_WAIT_USEC);
                if (r == -ENOMEM)
                        return r;
        }
        return talk_epilogue(t);
}

static int talk_fail_exited(Talk *t) {
        McpDiagnosis ended = { .failure = MCP_FAILURE_ENDED, .method = (char *) "initialize" };

        return talk_fail(t, &ended);
}

static int talk_attempt(Ctl *ctl, Talk *t, McpProtocol protocol, bool *ret_respawn) {
        McpTimeouts timeouts = { .start_usec = t->timeout_usec };
        const McpDiagnosis *diagnosis;
        int r;

        *ret_respawn = false;
        if (!t->starting) {
                t->starting = calloc(1, sizeof(Starting));
                if (!t->starting)
                        return -ENOMEM;
                starting_begin(t->starting, ctl, t->server->name, t->timeout_usec);
        }
        r = session_open(ctl, t->server, t->probe, t->brief, t->timeout_usec, t->starting, &t->session);
        if (r != 0)
                return r;
        if (t->session->ended)
                return talk_fail_exited(t);
        r = mcp_client_new(t->session->to_server, t->session->from_server, t->session->control, &t->client);
        if (r < 0)
                return r;
        mcp_client_set_skip_noise(t->client, !t->probe);
        mcp_client_set_waiting(t->client, starting_wait, t->starting);
        r = mcp_client_handshake(t->client, protocol, &timeouts, &t->peer);
        if (r <= 0)
                return r;
        diagnosis = mcp_client_diagnosis(t->client);
        *ret_respawn = diagnosis->respawn_modern;
        return talk_fail(t, diagnosis);
}

/* A server that was silent or ended at "initialize" may be one that only knows the modern era: a fresh session tells.
 * Where that fails too, the first failure is the one to talk about. */
static int talk_attempt_modern(Ctl *ctl, Talk *t) {
        _cleanup_talk_ Talk second = {
                .server = t->server,
                .timeout_usec = MIN(t->timeout_usec, (uint64_t) MCP_SECOND_TIMEOUT_USEC),
                .probe = t->probe,
                .brief = true,
        };
        bool respawn;
        int r;

        talk_close(t);
        r = talk_attempt(ctl, &second, MCP_PROTOCOL_MODERN, &respawn);
        if (r != 0 || second.failed)
                return r;
        second.timeout_usec = t->timeout_usec;
        second.brief = false;
        talk_done(t);
        *t = second;
        second = (Talk){};
        return 0;
}

int talk_open(Ctl *ctl, const char *name, bool probe, Talk *ret) {
        static const McpProtocol wishes[] = {
                [PROTOCOL_AUTO] = MCP_PROTOCOL_AUTO,
                [PROTOCOL_LEGACY] = MCP_PROTOCOL_LEGACY,
                [PROTOCOL_MODERN] = MCP_PROTOCOL_MODERN,
        };
        _cleanup_talk_ Talk t = { .probe = probe };
        McpProtocol wish;
        bool respawn;
        int r;

        r = ctl_find_usable_server(ctl, name, &t.server);
        if (r != 0)
                return r;
        wish = wishes[t.server->definition->protocol];
        t.timeout_usec = ctl->timeout_usec != UINT64_MAX ? ctl->timeout_usec
                                                         : t.server->definition->start_timeout_usec;
        r = talk_attempt(ctl, &t, wish, &respawn);
        if (r == 0 && respawn && wish == MCP_PROTOCOL_AUTO)
                r = talk_attempt_modern(ctl, &t);
        if (r != 0)
                return r;
        *ret = t;
        t = (Talk){};
        return 0;
}

int talk_print_failure(Ctl *ctl, FILE *f, const Talk *t) {
        const ReportStyle *style = f == stdout ? &ctl->style : &ctl->error_style;
        int r;

        fprintf(f,
                "%s: %s%s%s\n  ",
                t->server->name,
                style_on(style, TONE_BAD),
                t->probe ? "unhealthy" : "it did not work",
                style_off(style, TONE_BAD));
        r = style_print_wrapped(f, style, 2, 2, t->message);
        if (r >= 0 && t->exit_text) {
                fputs("  ", f);
                r = style_print_wrapped(f, style, 2, 2, t->exit_text);
        }
        if (r >= 0 && t->remedy) {
                fputs("  ", f);
                r = style_print_wrapped(f, style, 2, 2, t->remedy);
        }
        if (r < 0)
                return r;
        fprintf(f, "  %s[%s]%s\n", style_on(style, TONE_DIM), t->code, style_off(style, TONE_DIM));
        if (t->last_lines)
                fputs("  Its last lines on stderr:\n", f);
        STRV_FOREACH (line, t->last_lines) {
                _cleanup_free_ char *safe = string_escape_control(*line);

                if (!safe)
                        return -ENOMEM;
                fprintf(f, "    %s\n", safe);
        }
        return 0;
}

void talk_add_failure(JsonOut *out, json_object *parent, const Talk *t) {
        json_object *o = json_out_object(out, parent, "failure");

        json_out_string(out, o, "code", t->code);
        json_out_string(out, o, "message", t->message);
        json_out_string(out, o, "remedy", t->remedy);
        json_out_string(out, o, "exit", t->exit_text);
        json_out_strv(out, o, "stderr", t->last_lines);
}

int talk_report(Ctl *ctl, const Talk *t) {
        _cleanup_json_out_ JsonOut out = {};
        json_object *root;
        int r;

        if (!ctl->json) {
                r = talk_print_failure(ctl, stderr, t);
                return r < 0 ? r : (int) CTL_FAILED;
        }
        json_out_init(&out, /* array= */ false);
        talk_add_failure(&out, out.root, t);
        r = json_out_finish(&out, &root);
        if (r >= 0)
                r = ctl_print_json(root);
        return r < 0 ? r : (int) CTL_FAILED;
}
