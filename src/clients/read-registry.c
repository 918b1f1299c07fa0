/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The official registry's server.json (schema 2025-12-11, and the spelling with underscores from before 2025-09-16):
 * it says how a package is run, and leaves holes that its user fills. An argv is built, never a shell's text. */

#include "basic/string-util.h"
#include "clients/read.h"

static const JsonValue *get_either(const JsonValue *v, const char *key, const char *old) {
        return json_get(v, key) ?: json_get(v, old);
}

static const char *get_text(const JsonValue *v, const char *key, const char *old) {
        const JsonValue *member = get_either(v, key, old);

        return member && member->type == JSON_STRING && strlen(member->string) == member->string_length
                               ? member->string
                               : NULL;
}

static bool get_flag(const JsonValue *v, const char *key, const char *old) {
        const JsonValue *member = get_either(v, key, old);

        return member && member->type == JSON_BOOLEAN && member->boolean;
}

typedef struct PackageReader {
        EntryReader *reader;
        ClientServer *server;
} PackageReader;

/* "${VARIABLE}", and that it has to be set. */
static int add_hole(PackageReader *p, const JsonValue *input, const char *variable, char **ret) {
        const char *description = get_text(input, "description", "description");
        const JsonValue *choices = json_get(input, "choices"), *item;
        _cleanup_strv_free_ char **words = NULL;
        _cleanup_free_ char *reason = NULL, *joined = NULL;
        int r;

        JSON_FOREACH (item, choices)
                if (item->type == JSON_STRING && strv_extend(&words, item->string) < 0)
                        return -ENOMEM;
        joined = words ? strv_join(words, ", ") : strdup("");
        if (!joined)
                return -ENOMEM;
        reason =
                        strformat("%s%s%s%s",
                                  description ?: "the package's own setting",
                                  words ? " (one of " : "",
                                  joined,
                                  words ? ")" : "");
        if (!reason)
                return -ENOMEM;
        r = client_server_add_need(p->server, variable, reason, get_flag(input, "isSecret", "is_secret"));
        if (r < 0)
                return r;
        *ret = strformat("${%s}", variable);
        return *ret ? 0 : -ENOMEM;
}

static char *hole_name(const PackageReader *p, const char *name) {
        _cleanup_free_ char *text = strformat("%s %s", p->server->name, name);

        return text ? variable_from_text(text) : NULL;
}

static void check_choice(PackageReader *p, const JsonValue *input, const char *value) {
        const JsonValue *choices = json_get(input, "choices"), *item;

        if (!choices || choices->n_items == 0)
                return;
        JSON_FOREACH (item, choices)
                if (item->type == JSON_STRING && streq(item->string, value))
                        return;
        problem_add(&p->server->problems,
                    PROBLEM_WARNING,
                    "MCP-I-CHOICE",
                    p->reader->import->path,
                    input,
                    NULL,
                    "The value is none of the \"choices\".");
}

static int resolve_input(
                PackageReader *p, const JsonValue *input, const char *name, bool required, char **ret);

/* Replaces {x} by what "variables" says of x; other braces stay. */
static int fill_template(PackageReader *p, const JsonValue *input, const char *text, char **ret) {
        const JsonValue *variables = json_get(input, "variables");
        _cleanup_free_ char *out = strdup(""), *template = NULL;
        const char *s;
        int r;

        r = placeholder_protect(text, &template);
        if (r < 0 || !out)
                return -ENOMEM;
        for (s = template; *s;) {
                size_t n = strcspn(s, "{"), inside = s[n] ? strcspn(s + n, "}") : 0;
                _cleanup_free_ char *name = NULL, *value = NULL;
                const JsonValue *variable = NULL;
                char *grown;

                if (inside > 0 && s[n + inside]) {
                        name = strndup(s + n + 1, inside - 1);
                        if (!name)
                                return -ENOMEM;
                        variable = json_get(variables, name);
                }
                if (variable) {
                        r = resolve_input(p, variable, name, true, &value);
                        if (r < 0)
                                return r;
                } else if (s[n])
                        n++; /* the brace is text */
                grown = strformat("%s%.*s%s", out, (int) n, s, strempty(value));
                if (!grown)
                        return -ENOMEM;
                free(out);
                out = grown;
                s += variable ? n + inside + 1 : n;
        }
        *ret = TAKE_PTR(out);
        return 0;
}

/* *ret NULL: nothing is given, and nothing is required. */
static int resolve_input(
                PackageReader *p, const JsonValue *input, const char *name, bool required, char **ret) {
        const char *value = get_text(input, "value", "value"),
                   *otherwise = get_text(input, "default", "default");
        _cleanup_free_ char *variable = NULL;

        *ret = NULL;
        if (value) {
                check_choice(p, input, value);
                return fill_template(p, input, value, ret);
        }
        if (otherwise) {
                check_choice(p, input, otherwise);
                return placeholder_protect(otherwise, ret);
        }
        if (!required && !get_flag(input, "isRequired", "is_required"))
                return 0;
        variable = hole_name(p, name);
        return variable ? add_hole(p, input, variable, ret) : -ENOMEM;
}

static int read_named(PackageReader *p, const JsonValue *argument, const char *name) {
        const char *format = get_text(argument, "format", "format");
        _cleanup_free_ char *value = NULL;
        bool required = get_flag(argument, "isRequired", "is_required"), given;
        int r;

        /* A switch has no value of its own. */
        if (streq_ptr(format, "boolean")) {
                const char *on = get_text(argument, "value", "value")
                                                 ?: get_text(argument, "default", "default");

                given = on ? streq(on, "true") : required;
                return given ? strv_extend(&p->server->args, name) : 0;
        }
        if (!get_text(argument, "valueHint", "value_hint") && !json_get(argument, "value") &&
            !json_get(argument, "default") && !json_get(argument, "choices") &&
            !get_flag(argument, "isSecret", "is_secret") && !format)
                return required ? strv_extend(&p->server->args, name) : 0;
        r = resolve_input(p, argument, name, required, &value);
        if (r < 0 || !value)
                return r;
        r = strv_extend(&p->server->args, name);
        return r < 0 ? r : strv_consume(&p->server->args, TAKE_PTR(value));
}

static int read_argument(PackageReader *p, const JsonValue *argument) {
        const char *type = get_text(argument, "type", "type"), *name = get_text(argument, "name", "name");
        const char *hint = get_text(argument, "valueHint", "value_hint");
        char *value;
        int r;

        if (streq_ptr(type, "named") && name)
                return read_named(p, argument, name);
        if (!streq_ptr(type, "positional")) {
                entry_complain(p->reader,
                               p->server,
                               argument,
                               "MCP-I-ARGUMENT",
                               NULL,
                               "An argument must be \"positional\", or \"named\" with a \"name\".");
                return 0;
        }
        r = resolve_input(p, argument, hint ?: "argument", false, &value);
        return r < 0 || !value ? r : strv_consume(&p->server->args, value);
}

static int read_arguments(PackageReader *p, const JsonValue *arguments) {
        const JsonValue *item;
        int r = 0;

        JSON_FOREACH (item, arguments) {
                r = read_argument(p, item);
                if (r < 0)
                        return r;
        }
        return r;
}

static int read_variable(PackageReader *p, const JsonValue *v) {
        const char *name = get_text(v, "name", "name");
        bool secret = get_flag(v, "isSecret", "is_secret");
        _cleanup_free_ char *value = NULL;
        int r;

        if (!name || !env_name_is_valid(name)) {
                entry_complain(p->reader,
                               p->server,
                               v,
                               "MCP-I-VARIABLE",
                               NULL,
                               "A variable must have a \"name\" of letters, digits and underscores.");
                return 0;
        }
        if (!json_get(v, "value") && !json_get(v, "default")) {
                if (!get_flag(v, "isRequired", "is_required")) {
                        problem_add(&p->server->problems,
                                    PROBLEM_NOTE,
                                    "MCP-I-OPTIONAL",
                                    p->reader->import->path,
                                    v,
                                    NULL,
                                    "The variable %s is optional and is not set.",
                                    name);
                        return 0;
                }
                r = add_hole(p, v, name, &value);
        } else
                r = resolve_input(p, v, name, false, &value);
        if (r < 0 || !value)
                return r;
        return client_server_add_env(p->server, name, value, secret);
}

/* What runs a package; the arguments that the runtime always gets stand around the package's name. */
typedef struct RuntimeInfo {
        const char *registry;
        const char *command;
        const char *before[4]; /* where runtimeArguments says nothing, or always */
        bool always;
        const char *separator; /* between name and version */
        const char *after[3];
} RuntimeInfo;

static const RuntimeInfo runtime_table[] = {
        { "npm", "npx", { "-y" }, false, "@", {} },
        { "pypi", "uvx", {}, false, "==", {} },
        { "nuget", "dnx", {}, false, "@", { "--yes", "--" } },
        { "oci", "docker", { "run", "--rm", "-i" }, true, ":", {} },
};

static const RuntimeInfo *find_runtime(const JsonValue *package) {
        const char *type = get_text(package, "registryType", "registry_type")
                                           ?: get_text(package, "registry_name", "registry_name");

        for (size_t i = 0; type && i < ELEMENTSOF(runtime_table); i++)
                if (streq(runtime_table[i].registry, type))
                        return runtime_table + i;
        return NULL;
}

static int add_words(ClientServer *s, const char *const *words, size_t n) {
        for (size_t i = 0; i < n && words[i]; i++)
                if (strv_extend(&s->args, words[i]) < 0)
                        return -ENOMEM;
        return 0;
}

static int add_package_name(ClientServer *s, const RuntimeInfo *runtime, const JsonValue *package) {
        const char *name = get_text(package, "identifier", "name"),
                   *version = get_text(package, "version", "version");

        /* An image's reference often has its tag already. */
        if (version && streq(runtime->registry, "oci") && strchr(strrchr(name, '/') ?: name, ':'))
                version = NULL;
        return strv_extendf(&s->args, "%s%s%s", name, version ? runtime->separator : "", strempty(version));
}

static int build_argv(PackageReader *p, const RuntimeInfo *runtime, const JsonValue *package) {
        const JsonValue *options = get_either(package, "runtimeArguments", "runtime_arguments");
        const JsonValue *variables = get_either(package, "environmentVariables", "environment_variables"),
                        *item;
        ClientServer *s = p->server;
        const char *command = get_text(package, "runtimeHint", "runtime_hint");
        int r;

        r = free_and_strdup(&s->command, isempty(command) ? runtime->command : command);
        if (r >= 0 && (runtime->always || !options || options->n_items == 0))
                r = add_words(s, runtime->before, ELEMENTSOF(runtime->before));
        JSON_FOREACH (item, variables) {
                if (r >= 0)
                        r = read_variable(p, item);
        }
        if (streq(runtime->registry, "oci"))
                for (size_t i = 0; r >= 0 && i < s->n_env; i++) {
                        r = strv_extend(&s->args, "-e");
                        if (r >= 0)
                                r = strv_extend(&s->args, s->env[i].name);
                }
        if (r >= 0)
                r = read_arguments(p, options);
        if (r >= 0)
                r = add_package_name(s, runtime, package);
        if (r >= 0)
                r = add_words(s, runtime->after, ELEMENTSOF(runtime->after));
        return r < 0 ? r : read_arguments(p, get_either(package, "packageArguments", "package_arguments"));
}

static bool is_stdio(const JsonValue *package) {
        const JsonValue *transport = json_get(package, "transport");
        const char *type = get_text(transport, "type", "type");

        return !transport || streq_ptr(type, "stdio");
}

/* The first package that can be run without a container, else the first at all. */
static const JsonValue *choose_package(const JsonValue *packages, bool *ret_any_stdio) {
        const JsonValue *item, *container = NULL;

        *ret_any_stdio = false;
        JSON_FOREACH (item, packages) {
                const RuntimeInfo *runtime = find_runtime(item);

                if (!is_stdio(item))
                        continue;
                *ret_any_stdio = true;
                if (!runtime || isempty(get_text(item, "identifier", "name")))
                        continue;
                if (!streq(runtime->registry, "oci"))
                        return item;
                container = container ?: item;
        }
        return container;
}

static void note_other_packages(PackageReader *p, const JsonValue *packages, const JsonValue *chosen) {
        const JsonValue *item;

        JSON_FOREACH (item, packages)
                if (item != chosen)
                        problem_add(&p->server->problems,
                                    PROBLEM_NOTE,
                                    "MCP-I-PACKAGE",
                                    p->reader->import->path,
                                    item,
                                    NULL,
                                    "The package of \"%.32s\" is not used; one is enough.",
                                    get_text(item, "registryType", "registry_type") ?: "another kind");
}

int registry_read(EntryReader *reader, const JsonValue *document) {
        const JsonValue *server = json_get(document, "server") ?: document,
                        *packages = json_get(server, "packages");
        const char *name = get_text(server, "name", "name"), *short_name;
        PackageReader p = { .reader = reader };
        const JsonValue *package;
        bool any_stdio;
        int r;

        if (isempty(name) && !(reader->context && reader->context->name)) {
                problem_add(&reader->import->problems,
                            PROBLEM_ERROR,
                            "MCP-I-NAME",
                            reader->import->path,
                            server,
                            NULL,
                            "There is no \"name\".");
                return 0;
        }
        short_name = name && strrchr(name, '/') && strrchr(name, '/')[1] ? strrchr(name, '/') + 1 : name;
        if (reader->context && reader->context->name)
                short_name = reader->context->name;
        r = entry_add(reader, short_name, server, &p.server);
        if (r < 0)
                return r;
        package = choose_package(packages, &any_stdio);
        if (package) {
                note_other_packages(&p, packages, package);
                r = build_argv(&p, find_runtime(package), package);
        } else if (any_stdio)
                entry_complain(reader,
                               p.server,
                               packages,
                               "MCP-I-PACKAGE",
                               "Install it by hand, and add its command.",
                               "None of the packages can be run by npx, uvx, dnx or docker.");
        else if (json_get(server, "remotes") || packages)
                p.server->fate = SERVER_REMOTE;
        else
                entry_complain(reader,
                               p.server,
                               server,
                               "MCP-I-PACKAGE",
                               NULL,
                               "There are neither \"packages\" nor \"remotes\".");
        return r < 0 ? r : entry_finish(reader, p.server);
}
