/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which era a server belongs to, and whether it is in its right mind: the order is in client.h. */

#include "basic/mcp-protocol.h"
#include "basic/string-util.h"
#include "mcp-client/client-internal.h"

static const char *const legacy_versions[] = MCP_VERSIONS_LEGACY;

static const char *const protocol_table[_MCP_PROTOCOL_MAX] = {
        [MCP_PROTOCOL_AUTO] = "auto",
        [MCP_PROTOCOL_LEGACY] = "legacy",
        [MCP_PROTOCOL_MODERN] = "modern",
};

static const struct {
        const char *name;
        McpCapabilities bit;
} capability_table[] = {
        { "tools", MCP_CAPABILITY_TOOLS },
        { "resources", MCP_CAPABILITY_RESOURCES },
        { "prompts", MCP_CAPABILITY_PROMPTS },
        { "logging", MCP_CAPABILITY_LOGGING },
        { "completions", MCP_CAPABILITY_COMPLETIONS },
        { "tasks", MCP_CAPABILITY_TASKS },
        { "experimental", MCP_CAPABILITY_EXPERIMENTAL },
        { "extensions", MCP_CAPABILITY_EXTENSIONS },
};

const char *mcp_protocol_to_string(McpProtocol p) {
        return p >= 0 && p < _MCP_PROTOCOL_MAX ? protocol_table[p] : NULL;
}

McpProtocol mcp_protocol_from_string(const char *s) {
        for (McpProtocol p = 0; p < _MCP_PROTOCOL_MAX; p++)
                if (streq_ptr(s, protocol_table[p]))
                        return p;
        return _MCP_PROTOCOL_INVALID;
}

int mcp_capabilities_to_strv(McpCapabilities capabilities, char ***ret) {
        _cleanup_strv_free_ char **names = NULL;

        for (size_t i = 0; i < ELEMENTSOF(capability_table); i++)
                if (capabilities & capability_table[i].bit) {
                        int r = strv_extend(&names, capability_table[i].name);

                        if (r < 0)
                                return r;
                }
        *ret = TAKE_PTR(names);
        return 0;
}

void mcp_peer_done(McpPeer *p) {
        free(p->protocol_version);
        free(p->server_name);
        free(p->server_version);
        (void) strv_free(p->supported_versions);
        free(p->noise);
        *p = (McpPeer){};
}

static int show_member(json_object *object, const char *key, char **ret) {
        const char *s = jsonc_get_string(object, key);

        *ret = s ? mcp_show(s, strlen(s)) : NULL;
        return s && !*ret ? -ENOMEM : 0;
}

static int show_versions(json_object *array, char ***ret) {
        _cleanup_strv_free_ char **versions = NULL;

        for (size_t i = 0; i < MIN(json_object_array_length(array), (size_t) 32); i++) {
                json_object *v = json_object_array_get_idx(array, i);
                int r;

                if (!json_object_is_type(v, json_type_string))
                        continue;
                r = strv_consume(
                                &versions,
                                mcp_show(json_object_get_string(v), strlen(json_object_get_string(v))));
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(versions);
        return 0;
}

static McpCapabilities parse_capabilities(json_object *object) {
        McpCapabilities capabilities = 0;

        for (size_t i = 0; i < ELEMENTSOF(capability_table); i++)
                if (jsonc_get(object, capability_table[i].name, json_type_object))
                        capabilities |= capability_table[i].bit;
        return capabilities;
}

static const char *find_legacy_version(const char *version) {
        for (const char *const *v = legacy_versions; *v; v++)
                if (streq_ptr(*v, version))
                        return *v;
        return NULL;
}

/* versions (a list or NULL) is what the server has instead; error (may be NULL) is how it said so. */
static int fail_version(McpClient *c, const char *method, char *const *versions, const McpMessage *error) {
        char *list = NULL, *message = NULL;
        int r;

        r = mcp_client_fail(c, MCP_FAILURE_UNSUPPORTED_VERSION, method, NULL);
        if (r < 0)
                return r;
        if (strv_length(versions) > 0 && !(list = strv_join(versions, ", ")))
                return -ENOMEM;
        if (error && !(message = mcp_show(error->error_message, strlen(error->error_message)))) {
                free(list);
                return -ENOMEM;
        }
        c->diagnosis.versions = list;
        c->diagnosis.error_message = message;
        c->diagnosis.error_code = error ? error->error_code : 0;
        return r;
}

static int fail_version_error(McpClient *c, const char *method, const McpMessage *error) {
        _cleanup_strv_free_ char **versions = NULL;
        json_object *supported = jsonc_get(error->error_data, "supported", json_type_array);
        int r;

        r = supported ? show_versions(supported, &versions) : 0;
        return r < 0 ? r : fail_version(c, method, versions, error);
}

static int accept_legacy(McpClient *c, json_object *result, uint64_t deadline_usec, McpPeer *ret) {
        _cleanup_mcp_peer_ McpPeer peer = { .era = MCP_PROTOCOL_LEGACY };
        json_object *capabilities = jsonc_get(result, "capabilities", json_type_object);
        json_object *info = jsonc_get(result, "serverInfo", json_type_object);
        const char *version;
        int r;

        r = show_member(result, "protocolVersion", &peer.protocol_version);
        if (r >= 0)
                r = show_member(info, "name", &peer.server_name);
        if (r >= 0)
                r = show_member(info, "version", &peer.server_version);
        if (r < 0)
                return r;
        if (!peer.protocol_version)
                return mcp_client_fail_result(c, "initialize", "there is no string \"protocolVersion\"");
        r = strv_extend(&peer.supported_versions, peer.protocol_version);
        if (r < 0)
                return r;
        version = find_legacy_version(peer.protocol_version);
        if (!version)
                return fail_version(c, "initialize", peer.supported_versions, NULL);
        if (!capabilities)
                return mcp_client_fail_result(c, "initialize", "there is no object \"capabilities\"");
        if (!peer.server_name || !peer.server_version)
                return mcp_client_fail_result(
                                c, "initialize", "\"serverInfo\" lacks \"name\" or \"version\"");
        peer.capabilities = parse_capabilities(capabilities);
        c->era = MCP_PROTOCOL_LEGACY;
        c->reader.allow_batch = streq(version, MCP_VERSION_2025_03_26);
        r = mcp_client_send(c, 0, "notifications/initialized", NULL);
        if (r >= 0)
                r = mcp_client_flush(c, "notifications/initialized", deadline_usec);
        if (r != 0)
                return r;
        *ret = TAKE_GENERIC(peer, McpPeer, (McpPeer){});
        return 0;
}

static int accept_modern(McpClient *c, json_object *result, McpPeer *ret) {
        _cleanup_mcp_peer_ McpPeer peer = { .era = MCP_PROTOCOL_MODERN };
        json_object *versions = jsonc_get(result, "supportedVersions", json_type_array);
        json_object *capabilities = jsonc_get(result, "capabilities", json_type_object);
        json_object *info =
                        jsonc_get(jsonc_get(result, "_meta", json_type_object),
                                  MCP_META_SERVER_INFO,
                                  json_type_object);
        int r;

        if (!versions)
                return mcp_client_fail_result(
                                c, "server/discover", "there is no array \"supportedVersions\"");
        if (!capabilities)
                return mcp_client_fail_result(c, "server/discover", "there is no object \"capabilities\"");
        if (!info) /* where drafts of 2026-07-28 had it */
                info = jsonc_get(result, "serverInfo", json_type_object);
        r = show_versions(versions, &peer.supported_versions);
        if (r >= 0)
                r = show_member(info, "name", &peer.server_name);
        if (r >= 0)
                r = show_member(info, "version", &peer.server_version);
        if (r < 0)
                return r;
        if (!strv_contains(peer.supported_versions, MCP_VERSION_MODERN))
                return fail_version(c, "server/discover", peer.supported_versions, NULL);
        peer.protocol_version = strdup(MCP_VERSION_MODERN);
        if (!peer.protocol_version)
                return -ENOMEM;
        peer.capabilities = parse_capabilities(capabilities);
        *ret = TAKE_GENERIC(peer, McpPeer, (McpPeer){});
        return 0;
}

static json_object *initialize_params(const McpClient *c, const char *version) {
        _cleanup_jsonc_ json_object *params = NULL;

        params = jsonc_new_pair("protocolVersion", version, NULL, NULL);
        if (!params || jsonc_add(params, "capabilities", json_object_new_object()) < 0 ||
            jsonc_add(params, "clientInfo", mcp_client_info(c)) < 0)
                return NULL;
        return TAKE_PTR(params);
}

static int exchange_initialize(McpClient *c, const char *version, uint64_t deadline_usec, McpMessage *ret) {
        _cleanup_jsonc_ json_object *params = NULL;

        params = initialize_params(c, version);
        return params ? mcp_client_exchange(c, "initialize", params, deadline_usec, ret) : -ENOMEM;
}

/* The newest legacy version that an error answer offers, as some servers do instead of answering with it. */
static const char *offered_legacy_version(const McpMessage *error) {
        json_object *supported = jsonc_get(error->error_data, "supported", json_type_array);

        for (const char *const *v = legacy_versions; supported && *v; v++)
                for (size_t i = 0; i < json_object_array_length(supported); i++) {
                        json_object *s = json_object_array_get_idx(supported, i);

                        if (json_object_is_type(s, json_type_string) && streq(*v, json_object_get_string(s)))
                                return *v;
                }
        return NULL;
}

/* *ret_refused: the server is there and answered with an error, which is the noted failure. */
static int handshake_legacy(McpClient *c, uint64_t deadline_usec, bool *ret_refused, McpPeer *ret) {
        _cleanup_mcp_message_ McpMessage m = {};
        const char *version;
        int r;

        *ret_refused = false;
        r = exchange_initialize(c, MCP_VERSION_LEGACY_NEWEST, deadline_usec, &m);
        if (r == 0 && m.type == MCP_MESSAGE_ERROR) {
                version = offered_legacy_version(&m);
                if (version && !streq(version, MCP_VERSION_LEGACY_NEWEST)) {
                        mcp_message_done(&m);
                        r = exchange_initialize(c, version, deadline_usec, &m);
                }
        }
        if (r != 0)
                return r;
        if (m.type == MCP_MESSAGE_RESULT)
                return accept_legacy(c, m.result, deadline_usec, ret);
        *ret_refused = true;
        if (m.error_code == MCP_ERROR_UNSUPPORTED_PROTOCOL_VERSION)
                return fail_version_error(c, "initialize", &m);
        return mcp_client_fail_error(c, "initialize", &m);
}

/* *ret_refused: the answer is an error that a legacy server could give too. */
static int handshake_modern(McpClient *c, uint64_t deadline_usec, bool *ret_refused, McpPeer *ret) {
        _cleanup_mcp_message_ McpMessage m = {};
        int r;

        *ret_refused = false;
        c->era = MCP_PROTOCOL_MODERN;
        r = mcp_client_ask(c, "server/discover", NULL, deadline_usec, &m);
        if (r == 0)
                return accept_modern(c, m.result, ret);
        if (r != MCP_FAILURE_ERROR_REPLY)
                return r;
        if (m.error_code == MCP_ERROR_UNSUPPORTED_PROTOCOL_VERSION)
                return fail_version_error(c, "server/discover", &m);
        *ret_refused = m.error_code != MCP_ERROR_HEADER_MISMATCH &&
                       m.error_code != MCP_ERROR_MISSING_CLIENT_CAPABILITY;
        return r;
}

/* A server that is silent or gone after initialize may be a modern one that does not know what to make of it. */
static bool may_be_modern(int r) {
        return r == MCP_FAILURE_TIMEOUT || r == MCP_FAILURE_ENDED;
}

static int handshake_auto(McpClient *c, uint64_t deadline_usec, uint64_t second_usec, McpPeer *ret) {
        McpDiagnosis first;
        bool refused;
        int r, second;

        r = handshake_legacy(c, deadline_usec, &refused, ret);
        if (!refused) {
                c->diagnosis.respawn_modern = may_be_modern(r);
                return r;
        }
        first = TAKE_GENERIC(c->diagnosis, McpDiagnosis, (McpDiagnosis){});
        second = handshake_modern(c, MIN(deadline_usec, mcp_deadline(second_usec)), &refused, ret);
        if (second <= 0 || !(refused || may_be_modern(second))) {
                mcp_diagnosis_done(&first);
                return second;
        }
        /* It knows neither: what it had against initialize is more to the point. */
        first.respawn_modern = second == MCP_FAILURE_ENDED;
        mcp_diagnosis_done(&c->diagnosis);
        c->diagnosis = first;
        return r;
}

int mcp_client_handshake(McpClient *c, McpProtocol protocol, const McpTimeouts *timeouts, McpPeer *ret) {
        uint64_t start_usec =
                        timeouts && timeouts->start_usec > 0 ? timeouts->start_usec : MCP_START_TIMEOUT_USEC;
        uint64_t second_usec = timeouts && timeouts->second_usec > 0 ? timeouts->second_usec
                                                                     : MCP_SECOND_TIMEOUT_USEC;
        uint64_t begin = mcp_now_usec(), deadline = mcp_deadline(start_usec);
        _cleanup_mcp_peer_ McpPeer peer = {};
        bool refused;
        int r;

        if (c->opened || c->last_id > 0)
                return -EALREADY;
        switch (protocol) {
        case MCP_PROTOCOL_AUTO:
                r = handshake_auto(c, deadline, second_usec, &peer);
                break;
        case MCP_PROTOCOL_LEGACY:
                r = handshake_legacy(c, deadline, &refused, &peer);
                break;
        case MCP_PROTOCOL_MODERN:
                r = handshake_modern(c, deadline, &refused, &peer);
                break;
        default:
                return -EINVAL;
        }
        if (r != 0)
                return r;
        if (free_and_strdup(&peer.noise, c->noise) < 0)
                return -ENOMEM;
        peer.n_noise = c->n_noise;
        peer.elapsed_usec = mcp_now_usec() - begin;
        c->opened = true;
        *ret = TAKE_GENERIC(peer, McpPeer, (McpPeer){});
        return 0;
}
