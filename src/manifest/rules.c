/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest/rules.h"

#include <inttypes.h>

#include "basic/string-util.h"
#include "manifest/manifest.h"
#include "manifest/schema.h"

#define MANIFEST_VERSION "0.1.0"

static bool array_filled(const JsonValue *v, const char *key) {
        const JsonValue *a = manifest_member(v, key, JSON_ARRAY);

        return a && a->n_items > 0;
}

/* Present and not null, of whatever type. */
static bool is_given(const JsonValue *v, const char *key) {
        const JsonValue *item = json_get(v, key);

        return item && item->type != JSON_NULL;
}

static void check_version(const JsonValue *v, Reporter *r) {
        const JsonValue *version = manifest_member(v, "version", JSON_STRING);
        _cleanup_free_ char *quoted = NULL;

        if (!version || streq(version->string, MANIFEST_VERSION))
                return;
        quoted = report_quote(version);
        report(r,
               PROBLEM_ERROR,
               "MCP-M-VERSION",
               version,
               "Write \"" MANIFEST_VERSION "\", the only version there is.",
               "This manifest's version is \"%s\", which is not known here.",
               strempty(quoted));
}

/* ---- nono's cross-field checks ---- */

static void check_supervised(const JsonValue *v, Reporter *r) {
        const JsonValue *process = manifest_member(v, "process", JSON_OBJECT);
        const JsonValue *resources = manifest_member(v, "resources", JSON_OBJECT);
        int strategy = manifest_enum(process, "exec_strategy", exec_values, EXEC_VALUE_MONITOR);

        if (strategy < 0 || strategy == EXEC_VALUE_SUPERVISED)
                return;
        if (is_given(resources, "memory_bytes") || is_given(resources, "max_processes"))
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-RESOURCES",
                       resources,
                       "Write \"exec_strategy\": \"supervised\" in /process.",
                       "Resource limits need a supervising parent, which \"exec_strategy\": \"%s\" has not.",
                       exec_values[strategy]);
}

/* Schemes from which no variable's name follows; bw:// is documented as one of them, but nono does not check it. */
static const char *const schemes_without_name[] = {
        "op://",
        "apple-password://",
        "apple-passwords://",
        "file://",
};

static bool source_needs_env_var(const char *source) {
        for (size_t i = 0; i < ELEMENTSOF(schemes_without_name); i++)
                if (startswith(source, schemes_without_name[i]))
                        return true;
        return false;
}

static void check_credential(const JsonValue *c, Reporter *r) {
        const JsonValue *name = manifest_member(c, "name", JSON_STRING);
        const JsonValue *source = manifest_member(c, "source", JSON_STRING);
        const JsonValue *inject = manifest_member(c, "inject", JSON_OBJECT);
        int mode = manifest_enum(inject, "mode", inject_values, INJECT_VALUE_HEADER);
        _cleanup_free_ char *quoted = name ? report_quote(name) : NULL;

        if (source && source_needs_env_var(source->string) && !is_given(c, "env_var"))
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-CREDENTIAL",
                       source,
                       "Add \"env_var\", the variable's name.",
                       "The credential \"%s\" has a source from which no variable's name follows.",
                       strempty(quoted));
        if (mode == INJECT_VALUE_URL_PATH && !is_given(inject, "path_pattern"))
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-CREDENTIAL",
                       inject,
                       "Add \"path_pattern\".",
                       "The credential \"%s\" is injected into the URL's path, but no pattern says where.",
                       strempty(quoted));
        if (mode == INJECT_VALUE_QUERY_PARAM && !is_given(inject, "query_param_name"))
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-CREDENTIAL",
                       inject,
                       "Add \"query_param_name\".",
                       "The credential \"%s\" is injected as a query parameter that has no name.",
                       strempty(quoted));
}

/* ---- ports ---- */

static void check_ranges(const JsonValue *ranges, uint64_t *total, Reporter *r) {
        const JsonValue *range;
        uint64_t start, end;

        JSON_FOREACH (range, ranges) {
                if (range->type != JSON_ARRAY || range->n_items != 2 ||
                    !manifest_integer(range->items[0], &start) || !manifest_integer(range->items[1], &end) ||
                    start < 1 || end > UINT16_MAX)
                        continue;
                if (start <= end)
                        *total += end - start + 1;
                else
                        report(r,
                               PROBLEM_ERROR,
                               "MCP-M-PORT-RANGE",
                               range,
                               "Write the smaller port first.",
                               "The range [%" PRIu64 ", %" PRIu64 "] starts behind its end.",
                               start,
                               end);
        }
}

static void check_localhost(const JsonValue *network, const JsonValue *ports, const char *key, Reporter *r) {
        if (!array_filled(ports, key) ||
            manifest_enum(network, "mode", network_values, NETWORK_VALUE_UNRESTRICTED) !=
                            NETWORK_VALUE_UNRESTRICTED)
                return;
        if (array_filled(ports, "connect") || array_filled(ports, "bind"))
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-LOCALHOST",
                       json_get(ports, key),
                       "Set /network/mode to \"blocked\", or list these ports in \"connect\" and \"bind\".",
                       "With \"unrestricted\" and a \"connect\" or \"bind\" list the ports of \"%s\" would "
                       "be blocked.",
                       key);
        else
                report(r,
                       PROBLEM_WARNING,
                       "MCP-M-NO-EFFECT",
                       json_get(ports, key),
                       "Set /network/mode to \"blocked\" to allow these ports and nothing else.",
                       "\"%s\" has no effect while the network is unrestricted.",
                       key);
}

static void check_ports(const JsonValue *network, Reporter *r) {
        static const char *const lists[] = { "connect", "bind", "localhost" };
        const JsonValue *ports = manifest_member(network, "ports", JSON_OBJECT), *list;
        uint64_t total = 0;

        for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
                list = manifest_member(ports, lists[i], JSON_ARRAY);
                total += list ? list->n_items : 0;
        }
        check_ranges(manifest_member(ports, "localhost_range", JSON_ARRAY), &total, r);
        if (total > MANIFEST_PORTS_MAX)
                report(r,
                       PROBLEM_ERROR,
                       "MCP-M-LIMIT",
                       ports,
                       "List fewer ports.",
                       "These are %" PRIu64 " ports, ranges counted port by port; at most %u are taken.",
                       total,
                       MANIFEST_PORTS_MAX);
        check_localhost(network, ports, "localhost", r);
        check_localhost(network, ports, "localhost_range", r);
}

/* ---- what cannot be had here, and what is taken without an effect ---- */

typedef enum Condition {
        ARRAY_FILLED,
        BOOLEAN_TRUE,
        BOOLEAN_FALSE,
        STRING_IS,
        STRING_IS_NOT, /* given, and something else */
} Condition;

typedef struct OptionRule {
        const char *section; /* NULL: the top level */
        const char *key;
        Condition condition;
        const char *value;
        ProblemLevel level;
        const char *code;
        const char *message, *remedy;
} OptionRule;

#define UNSUPPORTED .level = PROBLEM_ERROR, .code = "MCP-M-UNSUPPORTED"
#define NO_EFFECT   .level = PROBLEM_WARNING, .code = "MCP-M-NO-EFFECT"
#define DEPRECATED  .level = PROBLEM_WARNING, .code = "MCP-M-DEPRECATED"

static const OptionRule option_rules[] = {
        { "network",
          "mode",
          STRING_IS,
          "proxy",
          UNSUPPORTED,
          .message = "The network mode \"proxy\" needs nono's own proxy, which is not here.",
          .remedy = "Write \"blocked\", with the ports that are needed, or \"unrestricted\"." },
        { "network",
          "allow_domains",
          ARRAY_FILLED,
          NULL,
          UNSUPPORTED,
          .message = "Domains are filtered by nono's own proxy, which is not here.",
          .remedy = "Leave the list out, and allow ports." },
        { "network",
          "endpoints",
          ARRAY_FILLED,
          NULL,
          UNSUPPORTED,
          .message = "Requests to endpoints are filtered by nono's own proxy, which is not here.",
          .remedy = "Leave the list out, and allow ports." },
        { "network",
          "dns",
          BOOLEAN_FALSE,
          NULL,
          UNSUPPORTED,
          .message = "DNS alone is intercepted by nono's own proxy, which is not here.",
          .remedy = "Leave the key out; \"mode\": \"blocked\" keeps DNS out as well." },
        { NULL,
          "credentials",
          ARRAY_FILLED,
          NULL,
          UNSUPPORTED,
          .message = "Credentials are injected by nono's own proxy, which is not here.",
          .remedy = "Leave the list out, and use the definition's \"credentials\"." },
        { "rollback",
          "enabled",
          BOOLEAN_TRUE,
          NULL,
          UNSUPPORTED,
          .message = "Rollback needs nono's snapshots, which are not here.",
          .remedy = "Set it to false." },
        { "rollback",
          "exclude_patterns",
          ARRAY_FILLED,
          NULL,
          NO_EFFECT,
          .message = "\"exclude_patterns\" has no effect without rollback." },
        { "rollback",
          "exclude_globs",
          ARRAY_FILLED,
          NULL,
          NO_EFFECT,
          .message = "\"exclude_globs\" has no effect without rollback." },
        { "process",
          "process_info_mode",
          STRING_IS_NOT,
          "allow_all",
          NO_EFFECT,
          .message = "\"process_info_mode\" has no effect on Linux, in nono as here.",
          .remedy = "Expect that the server sees its user's other processes: /proc is granted to all." },
        { "process",
          "allowed_commands",
          ARRAY_FILLED,
          NULL,
          DEPRECATED,
          .message = "\"allowed_commands\" is deprecated: it lifts \"blocked_commands\" for the "
                     "program that is launched, and nothing else.",
          .remedy = "Leave it out; what may be executed follows from the grants." },
        { "process",
          "blocked_commands",
          ARRAY_FILLED,
          NULL,
          DEPRECATED,
          .message = "\"blocked_commands\" is deprecated: only the name of the program that is launched "
                     "is looked up in it.",
          .remedy = "Leave it out; what may be executed follows from the grants." },
};

static bool condition_holds(const OptionRule *rule, const JsonValue *item) {
        JsonType type = rule->condition == ARRAY_FILLED ? JSON_ARRAY
                        : rule->condition < STRING_IS   ? JSON_BOOLEAN
                                                        : JSON_STRING;

        if (!item || item->type != type)
                return false;
        switch (rule->condition) {
        case ARRAY_FILLED:
                return item->n_items > 0;
        case BOOLEAN_TRUE:
                return item->boolean;
        case BOOLEAN_FALSE:
                return !item->boolean;
        case STRING_IS:
                return streq(item->string, rule->value);
        case STRING_IS_NOT:
                return !streq(item->string, rule->value);
        }
        return false;
}

static void check_options(const JsonValue *v, Reporter *r) {
        for (size_t i = 0; i < ELEMENTSOF(option_rules); i++) {
                const OptionRule *rule = option_rules + i;
                const JsonValue *item = json_get(rule->section ? json_get(v, rule->section) : v, rule->key);

                if (condition_holds(rule, item))
                        report(r, rule->level, rule->code, item, rule->remedy, "%s", rule->message);
        }
}

void manifest_check_rules(const JsonValue *v, Reporter *r) {
        const JsonValue *credential;

        check_version(v, r);
        check_supervised(v, r);
        JSON_FOREACH (credential, manifest_member(v, "credentials", JSON_ARRAY))
                check_credential(credential, r);
        check_ports(manifest_member(v, "network", JSON_OBJECT), r);
        check_options(v, r);
}
