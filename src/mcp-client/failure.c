/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>

#include "basic/string-util.h"
#include "mcp-client/failure.h"

static const struct {
        const char *code, *text, *remedy;
} failure_table[_MCP_FAILURE_MAX] = {
        [MCP_FAILURE_NOISE] = {
                "MCP-E-NOISE",
                "The server wrote something to its standard output that is not an MCP message.",
                "Let it write logs and banners to standard error, and start it without a wrapper that prints.",
        },
        [MCP_FAILURE_LSP_FRAMING] = {
                "MCP-E-LSP-FRAMING",
                "The server uses LSP framing, not MCP stdio: it sends Content-Length headers instead of one message a line.",
                "Start the program in its MCP stdio mode, or use a version of it that has one.",
        },
        [MCP_FAILURE_UTF8] = {
                "MCP-E-UTF8",
                "The server sent a line that is not valid UTF-8.",
                "Make it encode its messages as UTF-8, for example with a UTF-8 locale in its environment.",
        },
        [MCP_FAILURE_BYTE_ORDER_MARK] = {
                "MCP-E-BOM",
                "The server put a byte order mark before a message, which MCP clients do not accept.",
                "Make it write UTF-8 without a byte order mark.",
        },
        [MCP_FAILURE_JSON] = {
                "MCP-E-JSON",
                "The server sent a line that starts like a message and is not valid JSON.",
                "Make it send each message whole, on one line, and nothing else on that line.",
        },
        [MCP_FAILURE_JSONRPC] = {
                "MCP-E-JSONRPC",
                "The server sent JSON that is not a JSON-RPC 2.0 message.",
                "Let it write JSON logs to standard error, and check that it is an MCP server.",
        },
        [MCP_FAILURE_ECHO] = {
                "MCP-E-ECHO",
                "The program sends back what it is sent: it is not an MCP server.",
                "Check the command, and start it without a terminal, which echoes its input.",
        },
        [MCP_FAILURE_OVERSIZED] = {
                "MCP-E-OVERSIZED",
                "The server sent an oversized message: more than 16 MiB, or more values than are read here.",
                "Check that it ends every message with a newline, and let it split large results.",
        },
        [MCP_FAILURE_TIMEOUT] = {
                "MCP-E-TIMEOUT",
                "The server did not answer in time.",
                "Look at what it wrote to standard error; a first start that downloads packages needs a longer timeout.",
        },
        [MCP_FAILURE_ENDED] = {
                "MCP-E-ENDED",
                "The server exited or closed its standard output before it answered.",
                "Look at its exit status and at what it wrote to standard error.",
        },
        [MCP_FAILURE_WRONG_ID] = {
                "MCP-E-WRONG-ID",
                "The server answered with an id that no waiting request has.",
                "Make it return the id of the request as it came, with its type.",
        },
        [MCP_FAILURE_UNSUPPORTED_VERSION] = {
                "MCP-E-VERSION",
                "The server supports no protocol version that is known here.",
                "Update the server, or set \"protocol\" in its definition to the era that it speaks.",
        },
        [MCP_FAILURE_ERROR_REPLY] = {
                "MCP-E-ERROR-REPLY",
                "The server answered with an error.",
                "The server's message says what it does not accept.",
        },
        [MCP_FAILURE_RESULT] = {
                "MCP-E-RESULT",
                "The server's answer lacks something that the protocol asks for.",
                "Update the server: clients that check the answer refuse it.",
        },
        [MCP_FAILURE_PAGES] = {
                "MCP-E-PAGES",
                "The server's list has no end: too many pages, too many entries, or the same cursor again.",
                "Update the server: the last page of a list has no cursor.",
        },
};

static bool failure_is_valid(McpFailure f) {
        return f > MCP_FAILURE_NONE && f < _MCP_FAILURE_MAX;
}

const char *mcp_failure_to_string(McpFailure f) {
        return failure_is_valid(f) ? failure_table[f].code : NULL;
}

McpFailure mcp_failure_from_string(const char *s) {
        for (McpFailure f = MCP_FAILURE_NONE + 1; f < _MCP_FAILURE_MAX; f++)
                if (streq_ptr(s, failure_table[f].code))
                        return f;
        return _MCP_FAILURE_INVALID;
}

const char *mcp_failure_text(McpFailure f) {
        return failure_is_valid(f) ? failure_table[f].text : NULL;
}

const char *mcp_failure_remedy(McpFailure f) {
        return failure_is_valid(f) ? failure_table[f].remedy : NULL;
}

void mcp_diagnosis_done(McpDiagnosis *d) {
        free(d->method);
        free(d->line);
        free(d->versions);
        free(d->error_message);
        *d = (McpDiagnosis){};
}

char *mcp_diagnosis_describe(const McpDiagnosis *d) {
        _cleanup_strv_free_ char **parts = NULL;
        int r;

        r = strv_extend(&parts, strempty(mcp_failure_text(d->failure)));
        if (r >= 0 && d->failure == MCP_FAILURE_ERROR_REPLY)
                r =
                                strv_extendf(&parts,
                                             "It said to \"%s\": %s (code %" PRIi64 ").",
                                             strempty(d->method),
                                             strempty(d->error_message),
                                             d->error_code);
        else if (r >= 0 && d->method)
                r = strv_extendf(
                                &parts,
                                "This was while waiting for the answer to \"%s\", after %" PRIu64 " ms.",
                                d->method,
                                d->elapsed_usec / 1000);
        if (r >= 0 && d->failure == MCP_FAILURE_TIMEOUT)
                r = strv_extend(&parts,
                                d->n_bytes == 0 ? "Not one byte came from it."
                                                : "It had said something before.");
        if (r >= 0 && d->versions)
                r = strv_extendf(&parts, "It offers: %s.", d->versions);
        if (r >= 0 && d->line)
                r = strv_extendf(&parts, "The line: %s", d->line);
        return r < 0 ? NULL : strv_join(parts, " ");
}

char *mcp_show(const char *s, size_t n) {
        _cleanup_free_ char *flat = NULL, *escaped = NULL;
        size_t cut = MIN(n, (size_t) MCP_SHOWN_MAX), o = 0;

        /* Not in the middle of a character. */
        while (cut > 0 && cut < n && ((unsigned char) s[cut] & 0xc0) == 0x80)
                cut--;
        flat = malloc(cut * 4 + 1);
        if (!flat)
                return NULL;
        for (size_t i = 0; i < cut; i++)
                if (s[i] != 0)
                        flat[o++] = s[i];
                else {
                        memcpy(flat + o, "\\x00", 4);
                        o += 4;
                }
        flat[o] = 0;
        if (cut == n && o > 0 && flat[o - 1] == '\r')
                flat[o - 1] = 0;
        escaped = string_escape_control(flat);
        if (!escaped || cut == n)
                return TAKE_PTR(escaped);
        return strformat("%s… (%zu bytes)", escaped, n);
}
