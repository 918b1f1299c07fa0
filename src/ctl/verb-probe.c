/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Is a server well? Starts one session of it, through the same socket, supervisor, scope and sandbox as any client's,
 * and shakes hands. */

#include "basic/string-util.h"
#include "ctl/talk.h"
#include "report/report-plan.h"

/* Servers that do not offer tools must not be asked for them. */
static int list_tools(Talk *t, McpTools *ret) {
        int r;

        if (!(t->peer.capabilities & MCP_CAPABILITY_TOOLS))
                return 0;
        r = mcp_client_list_tools(t->client, t->timeout_usec, ret);
        return r > 0 ? talk_fail(t, mcp_client_diagnosis(t->client)) : r;
}

static int print_json(const Talk *t, const McpTools *tools) {
        _cleanup_json_out_ JsonOut out;
        const ControlStatus *running = &t->session->running;
        json_object *a, *root;
        int r;

        json_out_init(&out, /* array= */ false);
        root = out.root;
        json_out_string(&out, root, "server", t->server->name);
        json_out_boolean(&out, root, "healthy", !t->failed);
        if (t->failed) {
                talk_add_failure(&out, root, t);
        } else {
                json_out_string(&out, root, "era", mcp_protocol_to_string(t->peer.era));
                json_out_string(&out, root, "protocol_version", t->peer.protocol_version);
                json_out_strv(&out, root, "supported_versions", t->peer.supported_versions);
                a = json_out_object(&out, root, "server_info");
                json_out_string(&out, a, "name", t->peer.server_name);
                json_out_string(&out, a, "version", t->peer.server_version);
                a = json_out_array(&out, root, "tools");
                for (size_t i = 0; i < tools->n; i++)
                        json_out_string(&out, a, NULL, tools->items[i].name);
                json_out_integer(&out, root, "start_usec", (int64_t) t->session->started_usec);
                json_out_integer(&out, root, "handshake_usec", (int64_t) t->peer.elapsed_usec);
                json_out_boolean(&out, root, "isolated", running->isolated);
                json_out_strv(&out, root, "missing", running->missing);
        }
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

static char *tools_sentence(const Talk *t, const McpTools *tools) {
        _cleanup_strv_free_ char **names = NULL;
        _cleanup_free_ char *joined = NULL;

        if (!(t->peer.capabilities & MCP_CAPABILITY_TOOLS))
                return strdup("it offers none");
        for (size_t i = 0; i < tools->n; i++)
                if (strv_extend(&names, tools->items[i].name) < 0)
                        return NULL;
        joined = strv_join(names, ", ");
        return joined ? strformat("%zu%s%s", tools->n, tools->n > 0 ? ": " : "", joined) : NULL;
}

static char *time_sentence(const Talk *t) {
        /* Below a millisecond nobody cares. */
        _cleanup_free_ char *start = report_format_usec(t->session->started_usec / 1000 * 1000);
        _cleanup_free_ char *answer = report_format_usec(t->peer.elapsed_usec / 1000 * 1000);

        if (!start || !answer)
                return NULL;
        return strformat("%s to start, %s for the handshake", start, answer);
}

static char *confinement_sentence(const Talk *t) {
        const ControlStatus *running = &t->session->running;
        _cleanup_free_ char *missing = NULL;

        if (!running->missing)
                return strdup(running->isolated ? "isolated" : "NOT isolated");
        missing = strv_join(running->missing, ", ");
        return missing ? strformat("%s; missing: %s",
                                   running->isolated ? "isolated" : "NOT isolated",
                                   missing)
                       : NULL;
}

static int print_line(Ctl *ctl, const char *key, char *value) {
        _cleanup_free_ char *owned = value;

        if (!owned)
                return -ENOMEM;
        printf("%14s: ", key);
        return style_print_wrapped(stdout, &ctl->style, 16, 16, owned);
}

static int print_text(Ctl *ctl, const Talk *t, const McpTools *tools) {
        int r;

        if (t->failed)
                return talk_print_failure(ctl, stdout, t);
        printf("%s: %shealthy%s\n",
               t->server->name,
               style_on(&ctl->style, TONE_GOOD),
               style_off(&ctl->style, TONE_GOOD));
        r = print_line(ctl,
                       "Server",
                       strformat("%s %s",
                                 t->peer.server_name ?: "(it does not say)",
                                 strempty(t->peer.server_version)));
        if (r >= 0)
                r = print_line(ctl,
                               "Protocol",
                               strformat("%s, %s",
                                         mcp_protocol_to_string(t->peer.era),
                                         strempty(t->peer.protocol_version)));
        if (r >= 0)
                r = print_line(ctl, "Tools", tools_sentence(t, tools));
        if (r >= 0)
                r = print_line(ctl, "Time", time_sentence(t));
        if (r >= 0)
                r = print_line(ctl, "Confinement", confinement_sentence(t));
        return r;
}

int verb_probe(Ctl *ctl, char **operands) {
        _cleanup_mcp_tools_ McpTools tools = {};
        _cleanup_talk_ Talk t = {};
        int r;

        r = talk_open(ctl, operands[0], /* probe= */ true, &t);
        if (r != 0)
                return r;
        if (!t.failed) {
                r = list_tools(&t, &tools);
                if (r < 0)
                        return r;
        }
        r = ctl->json ? print_json(&t, &tools) : print_text(ctl, &t, &tools);
        return r < 0 ? r : t.failed ? CTL_FAILED : CTL_OK;
}
