/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <strings.h>

#include "basic/string-util.h"
#include "mcp-client/message.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void mcp_message_done(McpMessage *m) {
        jsonc_putp(&m->root);
        *m = (McpMessage){};
}

void mcp_reader_done(McpReader *r) {
        line_buffer_done(&r->buffer);
        jsonc_putp(&r->batch);
}

static size_t skip_space(const char *line, size_t n) {
        size_t i = 0;

        while (i < n && strchr(" \t\r", line[i]) && line[i] != 0)
                i++;
        return i;
}

/* The headers of the language server protocol's base protocol: both of them, in any case. */
static bool line_is_lsp_header(const char *line) {
        return strncasecmp(line, "Content-Length:", strlen("Content-Length:")) == 0 ||
               strncasecmp(line, "Content-Type:", strlen("Content-Type:")) == 0;
}

/* Why a line that is not JSON is there. */
static McpFailure line_explain(const char *line, size_t n) {
        size_t i = skip_space(line, n);

        if (line_is_lsp_header(line))
                return MCP_FAILURE_LSP_FRAMING;
        if (startswith(line, BYTE_ORDER_MARK))
                return MCP_FAILURE_BYTE_ORDER_MARK;
        if (!string_is_utf8(line, n))
                return MCP_FAILURE_UTF8;
        return i < n && (line[i] == '{' || line[i] == '[') ? MCP_FAILURE_JSON : MCP_FAILURE_NOISE;
}

static bool id_is_valid(json_object *id) {
        return json_object_is_type(id, json_type_string) || json_object_is_type(id, json_type_int);
}

/* Fills what points into m->root. */
static McpFailure message_classify(McpMessage *m) {
        const char *version = jsonc_get_string(m->root, "jsonrpc");
        json_object *error = NULL, *code, *id = NULL;
        bool has_id;

        if (!streq_ptr(version, "2.0"))
                return MCP_FAILURE_JSONRPC;
        has_id = json_object_object_get_ex(m->root, "id", &id);
        if (id && !id_is_valid(id))
                return MCP_FAILURE_JSONRPC;
        m->id = id;
        if (json_object_object_get_ex(m->root, "method", NULL)) {
                m->method = jsonc_get_string(m->root, "method");
                m->type = has_id ? MCP_MESSAGE_REQUEST : MCP_MESSAGE_NOTIFICATION;
                return m->method && (id || !has_id) ? MCP_FAILURE_NONE : MCP_FAILURE_JSONRPC;
        }
        if (json_object_object_get_ex(m->root, "error", &error)) {
                m->type = MCP_MESSAGE_ERROR;
                code = jsonc_get(error, "code", json_type_int);
                m->error_message = jsonc_get_string(error, "message");
                if (!code || !m->error_message)
                        return MCP_FAILURE_JSONRPC;
                m->error_code = json_object_get_int64(code);
                (void) json_object_object_get_ex(error, "data", &m->error_data);
                return MCP_FAILURE_NONE;
        }
        m->type = MCP_MESSAGE_RESULT;
        m->result = jsonc_get(m->root, "result", json_type_object);
        return m->result && id ? MCP_FAILURE_NONE : MCP_FAILURE_JSONRPC;
}

static int reader_fail(
                const char *line, size_t n, McpFailure failure, McpFailure *ret_failure, char **ret_line) {
        char *shown;

        shown = mcp_show(line, n);
        if (!shown)
                return -ENOMEM;
        *ret_failure = failure;
        *ret_line = shown;
        return -EBADMSG;
}

/* Takes over the reference to root. */
static int reader_take(json_object *root, McpMessage *ret, McpFailure *ret_failure, char **ret_line) {
        _cleanup_mcp_message_ McpMessage m = { .root = root };
        McpFailure failure;
        const char *text;
        size_t n;

        failure = message_classify(&m);
        if (failure != MCP_FAILURE_NONE) {
                text = jsonc_to_text(root, &n);
                return text ? reader_fail(text, n, failure, ret_failure, ret_line) : -ENOMEM;
        }
        *ret = TAKE_GENERIC(m, McpMessage, (McpMessage){});
        return 1;
}

static int reader_parse(
                McpReader *r,
                const char *line,
                size_t n,
                McpMessage *ret,
                McpFailure *ret_failure,
                char **ret_line) {
        _cleanup_jsonc_ json_object *root = NULL;
        int k;

        k = jsonc_parse(line, n, &root);
        if (k == -ENOMEM)
                return k;
        if (k == -E2BIG)
                return reader_fail(line, n, MCP_FAILURE_OVERSIZED, ret_failure, ret_line);
        if (k < 0)
                return reader_fail(line, n, line_explain(line, n), ret_failure, ret_line);
        if (json_object_is_type(root, json_type_object))
                return reader_take(TAKE_PTR(root), ret, ret_failure, ret_line);
        if (!json_object_is_type(root, json_type_array))
                return reader_fail(line, n, MCP_FAILURE_NOISE, ret_failure, ret_line);
        if (!r->allow_batch || json_object_array_length(root) == 0)
                return reader_fail(line, n, MCP_FAILURE_JSONRPC, ret_failure, ret_line);
        r->batch = TAKE_PTR(root);
        r->batch_index = 0;
        return 0;
}

/* The next message of the batch; 0 where it is used up. */
static int reader_next_in_batch(McpReader *r, McpMessage *ret, McpFailure *ret_failure, char **ret_line) {
        static const char odd[] = "a batch with something else than objects in it";
        json_object *item;

        if (!r->batch)
                return 0;
        if (r->batch_index == json_object_array_length(r->batch)) {
                jsonc_putp(&r->batch);
                r->batch = NULL;
                return 0;
        }
        item = json_object_array_get_idx(r->batch, r->batch_index++);
        if (!json_object_is_type(item, json_type_object))
                return reader_fail(odd, strlen(odd), MCP_FAILURE_JSONRPC, ret_failure, ret_line);
        return reader_take(json_object_get(item), ret, ret_failure, ret_line);
}

int mcp_reader_next(McpReader *r, McpMessage *ret, McpFailure *ret_failure, char **ret_line) {
        for (;;) {
                char *line;
                size_t n;
                int k;

                k = reader_next_in_batch(r, ret, ret_failure, ret_line);
                if (k != 0)
                        return k;
                k = line_buffer_next(&r->buffer, &line, &n);
                if (k == -EMSGSIZE) {
                        *ret_failure = MCP_FAILURE_OVERSIZED;
                        *ret_line = NULL;
                        return -EBADMSG;
                }
                if (k <= 0)
                        return k;
                if (skip_space(line, n) == n)
                        continue;
                k = reader_parse(r, line, n, ret, ret_failure, ret_line);
                if (k != 0)
                        return k;
        }
}

int mcp_reader_rest(McpReader *r, McpFailure *ret_failure, char **ret_line) {
        McpFailure failure = MCP_FAILURE_NONE;
        char *shown = NULL;
        const char *line;
        size_t n;

        line = line_buffer_rest(&r->buffer, &n);
        if (skip_space(line, n) < n) {
                shown = mcp_show(line, n);
                if (!shown)
                        return -ENOMEM;
                failure = line_explain(line, n);
                if (failure == MCP_FAILURE_JSON) /* it may be the beginning of a message */
                        failure = MCP_FAILURE_NONE;
        }
        *ret_failure = failure;
        *ret_line = shown;
        return 0;
}
