/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "demo-server/protocol.h"
#include "basic/mcp-protocol.h"
#include "basic/string-util.h"
#include "demo-server/tools.h"

#define INSTRUCTIONS "Every tool tries one thing and says what the kernel answered."
#define CACHE_TTL_MS 3600000 /* what is discovered and listed never changes while the program runs */

static const char *const legacy_versions[] = MCP_VERSIONS_LEGACY;

typedef enum Era {
        ERA_LEGACY = 1 << 0,
        ERA_MODERN = 1 << 1,
} Era;

/* One request while it is being answered: a result, or an error. */
typedef struct Request {
        Server *server;
        json_object *params; /* an object or NULL; belongs to the message */
        Era era;
        json_object *result;
        int error;
        char *message;
        json_object *data;
} Request;

static void request_done(Request *q) {
        jsonc_putp(&q->result);
        jsonc_putp(&q->data);
        free(q->message);
}

static int request_fail(Request *q, int code, const char *format, ...) _printf_(3, 4);
static int request_fail(Request *q, int code, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&q->message, format, ap);
        va_end(ap);
        if (r < 0) {
                q->message = NULL;
                return -ENOMEM;
        }
        q->error = code;
        return 0;
}

static int request_fail_version(Request *q, const char *requested) {
        json_object *supported;

        q->data = json_object_new_object();
        supported = json_object_new_array();
        if (!q->data || jsonc_add(q->data, "supported", supported) < 0 ||
            jsonc_append(supported, json_object_new_string(MCP_VERSION_MODERN)) < 0 ||
            jsonc_add_string(q->data, "requested", strempty(requested)) < 0)
                return -ENOMEM;
        return request_fail(
                        q,
                        MCP_ERROR_UNSUPPORTED_PROTOCOL_VERSION,
                        "Unsupported protocol version; this server supports " MCP_VERSION_MODERN ".");
}

static json_object *server_info(void) {
        return jsonc_new_pair("name", "mcp-demo-server", "version", PROJECT_VERSION);
}

/* {"tools": {}} */
static json_object *server_capabilities(void) {
        _cleanup_jsonc_ json_object *o = NULL;

        o = json_object_new_object();
        if (!o || jsonc_add(o, "tools", json_object_new_object()) < 0)
                return NULL;
        return TAKE_PTR(o);
}

static int add_cache_hints(json_object *result) {
        int r;

        r = jsonc_add(result, "ttlMs", json_object_new_int(CACHE_TTL_MS));
        return r < 0 ? r : jsonc_add_string(result, "cacheScope", "public");
}

static int method_initialize(Request *q) {
        const char *requested = jsonc_get_string(q->params, "protocolVersion");

        if (q->server->mode == SERVER_MODERN_ONLY)
                return request_fail_version(q, requested);
        if (!requested)
                return request_fail(
                                q,
                                MCP_ERROR_INVALID_PARAMS,
                                "\"protocolVersion\" is missing or not a string.");
        q->server->version = legacy_versions[0];
        for (const char *const *v = legacy_versions; *v; v++)
                if (streq(*v, requested))
                        q->server->version = *v;
        if (jsonc_add_string(q->result, "protocolVersion", q->server->version) < 0 ||
            jsonc_add(q->result, "capabilities", server_capabilities()) < 0 ||
            jsonc_add(q->result, "serverInfo", server_info()) < 0 ||
            jsonc_add_string(q->result, "instructions", INSTRUCTIONS) < 0)
                return -ENOMEM;
        return 0;
}

static int method_ping(_unused_ Request *q) {
        return 0;
}

static int method_discover(Request *q) {
        json_object *versions;

        versions = json_object_new_array();
        if (jsonc_add(q->result, "supportedVersions", versions) < 0 ||
            jsonc_append(versions, json_object_new_string(MCP_VERSION_MODERN)) < 0 ||
            jsonc_add(q->result, "capabilities", server_capabilities()) < 0 ||
            jsonc_add_string(q->result, "instructions", INSTRUCTIONS) < 0)
                return -ENOMEM;
        return add_cache_hints(q->result);
}

static int method_tools_list(Request *q) {
        int r;

        /* All tools are on the first page, so no cursor was ever given out. */
        if (q->params && json_object_object_get_ex(q->params, "cursor", NULL))
                return request_fail(q, MCP_ERROR_INVALID_PARAMS, "The cursor is not one of this server's.");
        r = jsonc_add(q->result, "tools", tools_to_json());
        return r >= 0 && q->era == ERA_MODERN ? add_cache_hints(q->result) : r;
}

static int method_tools_call(Request *q) {
        const char *name = jsonc_get_string(q->params, "name");
        json_object *arguments = NULL, *result;
        int r;

        if (!name)
                return request_fail(q, MCP_ERROR_INVALID_PARAMS, "\"name\" is missing or not a string.");
        if (json_object_object_get_ex(q->params, "arguments", &arguments) &&
            !json_object_is_type(arguments, json_type_object))
                return request_fail(q, MCP_ERROR_INVALID_PARAMS, "\"arguments\" is not an object.");
        r = tools_call(name, arguments, &result);
        if (r == -ENOENT)
                return request_fail(q, MCP_ERROR_INVALID_PARAMS, "Unknown tool: %s", name);
        if (r < 0)
                return r;
        jsonc_putp(&q->result);
        q->result = result;
        return 0;
}

static const struct {
        const char *name;
        unsigned eras;
        bool needs_session; /* in the legacy era: only after initialize */
        int (*handler)(Request *q);
} method_table[] = {
        /* In the modern era initialize is answered too: with the version that would be right. */
        { "initialize", ERA_LEGACY, false, method_initialize },
        { "ping", ERA_LEGACY, false, method_ping },
        { "server/discover", ERA_MODERN, false, method_discover },
        { "tools/list", ERA_LEGACY | ERA_MODERN, true, method_tools_list },
        { "tools/call", ERA_LEGACY | ERA_MODERN, true, method_tools_call },
};

/* What the modern era asks of every request. 1: fine; 0: the error is set. */
static int request_check_meta(Request *q) {
        json_object *meta = jsonc_get(q->params, "_meta", json_type_object);
        const char *version = jsonc_get_string(meta, MCP_META_VERSION);
        int r;

        if (!version || !jsonc_get(meta, MCP_META_CLIENT_CAPABILITIES, json_type_object))
                r =
                                request_fail(q,
                                             MCP_ERROR_INVALID_PARAMS,
                                             "_meta needs \"" MCP_META_VERSION
                                             "\" (a string; supported: " MCP_VERSION_MODERN
                                             ") and \"" MCP_META_CLIENT_CAPABILITIES "\" (an object).");
        else if (!streq(version, MCP_VERSION_MODERN))
                r = request_fail_version(q, version);
        else
                return 1;
        return r;
}

/* Which era a request belongs to: a matter of the method where only one knows it, of _meta otherwise. */
static Era request_era(const Request *q, unsigned method_eras) {
        json_object *meta = jsonc_get(q->params, "_meta", json_type_object);

        if (q->server->mode != SERVER_DUAL)
                return q->server->mode == SERVER_LEGACY_ONLY ? ERA_LEGACY : ERA_MODERN;
        if (method_eras == ERA_LEGACY || method_eras == ERA_MODERN)
                return (Era) method_eras;
        if (meta && json_object_object_get_ex(meta, MCP_META_VERSION, NULL))
                return ERA_MODERN;
        return q->server->version ? ERA_LEGACY : ERA_MODERN;
}

static int request_run(Request *q, const char *method) {
        size_t i = 0;
        int r;

        while (i < ELEMENTSOF(method_table) && !streq(method_table[i].name, method))
                i++;
        if (i < ELEMENTSOF(method_table)) {
                q->era = request_era(q, method_table[i].eras);
                if (method_table[i].handler != method_initialize && !(method_table[i].eras & q->era))
                        i = ELEMENTSOF(method_table);
        }
        if (i == ELEMENTSOF(method_table))
                return request_fail(q, MCP_ERROR_METHOD_NOT_FOUND, "Method not found: %s", method);
        if (method_table[i].handler == method_initialize)
                return method_initialize(q);
        if (q->era == ERA_LEGACY && method_table[i].needs_session && !q->server->version)
                return request_fail(q, MCP_ERROR_INVALID_REQUEST, "There was no initialize yet.");
        if (q->era == ERA_MODERN) {
                r = request_check_meta(q);
                if (r <= 0)
                        return r;
        }
        r = method_table[i].handler(q);
        if (r < 0 || q->error != 0 || q->era != ERA_MODERN)
                return r;
        r = jsonc_add_string(q->result, "resultType", "complete");
        if (r >= 0) {
                json_object *meta = json_object_new_object();

                r = jsonc_add(q->result, "_meta", meta);
                if (r >= 0)
                        r = jsonc_add(meta, MCP_META_SERVER_INFO, server_info());
        }
        return r;
}

/* Builds the response; id is borrowed, NULL for JSON null. */
static int build_response(json_object *id, Request *q, json_object **ret) {
        _cleanup_jsonc_ json_object *o = NULL;
        json_object *error;
        int r;

        o = jsonc_new_pair("jsonrpc", "2.0", NULL, NULL);
        if (!o || json_object_object_add(o, "id", json_object_get(id)) < 0)
                return -ENOMEM;
        if (q->error == 0)
                r = jsonc_add(o, "result", TAKE_PTR(q->result));
        else {
                error = json_object_new_object();
                r = jsonc_add(o, "error", error);
                if (r >= 0)
                        r = jsonc_add(error, "code", json_object_new_int(q->error));
                if (r >= 0)
                        r = jsonc_add_string(error, "message", q->message);
                if (r >= 0 && q->data)
                        r = jsonc_add(error, "data", TAKE_PTR(q->data));
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

json_object *server_error(int code, const char *message) {
        _cleanup_(request_done) Request q = {};
        json_object *o;

        if (request_fail(&q, code, "%s", message) < 0 || build_response(NULL, &q, &o) < 0)
                return NULL;
        return o;
}

static int answer_error(int code, const char *message, json_object **ret) {
        *ret = server_error(code, message);
        return *ret ? 0 : -ENOMEM;
}

static int answer_message(Server *s, json_object *message, bool in_batch, json_object **ret) {
        _cleanup_(request_done) Request q = { .server = s };
        json_object *id = NULL, *method = NULL, *params = NULL;
        const char *version = jsonc_get_string(message, "jsonrpc"), *name;
        bool has_id;
        int r;

        if (!json_object_is_type(message, json_type_object) || !version || !streq(version, "2.0"))
                return answer_error(MCP_ERROR_INVALID_REQUEST, "Not a JSON-RPC 2.0 message.", ret);
        has_id = json_object_object_get_ex(message, "id", &id);
        if (!json_object_object_get_ex(message, "method", &method)) {
                if (json_object_object_get_ex(message, "result", NULL) ||
                    json_object_object_get_ex(message, "error", NULL))
                        return 0; /* a response, and this server never asks */
                return answer_error(MCP_ERROR_INVALID_REQUEST, "There is no method.", ret);
        }
        name = jsonc_get_string(message, "method");
        if (!name || (has_id && !json_object_is_type(id, json_type_string) &&
                      !json_object_is_type(id, json_type_int)))
                return answer_error(
                                MCP_ERROR_INVALID_REQUEST,
                                "The method has to be a string, the id a string or an integer.",
                                ret);
        if (!has_id)
                return 0;
        q.result = json_object_new_object();
        if (!q.result)
                return -ENOMEM;
        if (json_object_object_get_ex(message, "params", &params) &&
            !json_object_is_type(params, json_type_object))
                r = request_fail(&q, MCP_ERROR_INVALID_PARAMS, "\"params\" is not an object.");
        else if (in_batch && streq(name, "initialize"))
                r = request_fail(&q, MCP_ERROR_INVALID_REQUEST, "initialize must not be part of a batch.");
        else {
                q.params = params;
                r = request_run(&q, name);
        }
        if (r < 0)
                return r;
        return build_response(id, &q, ret);
}

static int answer_batch(Server *s, json_object *batch, json_object **ret) {
        _cleanup_jsonc_ json_object *answers = NULL;
        int r;

        if (!s->version || !streq(s->version, MCP_VERSION_2025_03_26))
                return answer_error(
                                MCP_ERROR_INVALID_REQUEST,
                                "Batches belong to protocol version " MCP_VERSION_2025_03_26 " alone.",
                                ret);
        if (json_object_array_length(batch) == 0)
                return answer_error(MCP_ERROR_INVALID_REQUEST, "The batch is empty.", ret);
        answers = json_object_new_array();
        if (!answers)
                return -ENOMEM;
        for (size_t i = 0; i < json_object_array_length(batch); i++) {
                json_object *answer = NULL;

                r = answer_message(s, json_object_array_get_idx(batch, i), true, &answer);
                if (r < 0)
                        return r;
                if (answer && jsonc_append(answers, answer) < 0)
                        return -ENOMEM;
        }
        if (json_object_array_length(answers) > 0)
                *ret = TAKE_PTR(answers);
        return 0;
}

int server_answer(Server *s, const char *line, size_t n, json_object **ret) {
        _cleanup_jsonc_ json_object *message = NULL;
        int r;

        *ret = NULL;
        if (n == strspn(line, " \t\r"))
                return 0;
        r = jsonc_parse(line, n, &message);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return answer_error(
                                MCP_ERROR_PARSE,
                                r == -EILSEQ  ? "The line is not UTF-8."
                                : r == -E2BIG ? "The message has too many values."
                                              : "The line is not JSON.",
                                ret);
        if (json_object_is_type(message, json_type_array))
                return answer_batch(s, message, ret);
        return answer_message(s, message, false, ret);
}
