/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The things that several verbs need, each found out when it is first asked for: a verb that reads files works where
 * no manager runs. */

#include <stdarg.h>

#include "basic/jsonc-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/ctl.h"
#include "ctl/units.h"
#include "manager/manager.h"
#include "report/json-out.h"

extern char **environ;

void ctl_done(Ctl *ctl) {
        if (ctl->servers_known)
                server_list_done(&ctl->servers);
        if (ctl->paths_known)
                config_paths_done(&ctl->paths);
        sd_bus_flush_close_unref(ctl->bus);
        strv_free(ctl->environment);
        strv_free(ctl->forwarded);
        strv_free(ctl->env);
        strv_free(ctl->env_names);
        strv_free(ctl->write);
}

int ctl_print_json(json_object *root) {
        _cleanup_jsonc_ json_object *owned = root;

        return json_out_print(stdout, owned);
}

static int print_error_json(const char *code, const char *remedy, const char *message) {
        _cleanup_json_out_ JsonOut out;
        json_object *error, *root;
        int r;

        json_out_init(&out, /* array= */ false);
        error = json_out_object(&out, out.root, "error");
        json_out_string(&out, error, "code", code);
        json_out_string(&out, error, "message", message);
        json_out_string(&out, error, "remedy", remedy);
        r = json_out_finish(&out, &root);
        return r < 0 ? r : ctl_print_json(root);
}

/* A reason that came from elsewhere may have lines of its own: they stay lines. */
static int print_message(const ReportStyle *style, const char *text) {
        static const char prefix[] = "mcpctl: ";
        _cleanup_strv_free_ char **lines = NULL;
        int r;

        r = strv_split(text, "\n", &lines);
        fputs(prefix, stderr);
        for (char **line = lines; r >= 0 && line && *line; line++) {
                if (line != lines)
                        fprintf(stderr, "%*s", (int) strlen(prefix), "");
                r = style_print_wrapped(stderr, style, strlen(prefix), strlen(prefix), *line);
        }
        return r;
}

int ctl_fail(Ctl *ctl, CtlExit status, const char *code, const char *remedy, const char *format, ...) {
        _cleanup_free_ char *message = NULL, *text = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&message, format, ap);
        va_end(ap);
        if (r < 0) {
                message = NULL;
                return -ENOMEM;
        }
        text = strformat("%s%s%s [%s]", message, remedy ? " " : "", strempty(remedy), code);
        if (!text)
                return -ENOMEM;
        (void) fflush(stdout);
        r = print_message(&ctl->error_style, text);
        /* An answer is one object: of several failures it is the first. */
        if (r >= 0 && ctl->json && !ctl->failed)
                r = print_error_json(code, remedy, message);
        ctl->failed = true;
        return r < 0 ? r : (int) status;
}

int ctl_paths(Ctl *ctl, const ConfigPaths **ret) {
        int r;

        if (!ctl->paths_known) {
                r = config_paths_init(ctl->scope, ctl->root, environ, &ctl->paths);
                if (r == -ENXIO)
                        return ctl_fail(ctl,
                                        CTL_UNAVAILABLE,
                                        "MCP-X-NO-HOME",
                                        "Set HOME, or use --system.",
                                        "Neither HOME nor XDG_CONFIG_HOME says where your definitions are.");
                if (r < 0)
                        return r;
                ctl->paths_known = true;
        }
        *ret = &ctl->paths;
        return 0;
}

int ctl_servers(Ctl *ctl, const ServerList **ret) {
        const ConfigPaths *paths = NULL;
        int r;

        if (!ctl->servers_known) {
                r = ctl_paths(ctl, &paths);
                if (r != 0)
                        return r;
                r = server_list_load(paths, &ctl->servers);
                if (r < 0)
                        return r;
                ctl->servers_known = true;
        }
        *ret = &ctl->servers;
        return 0;
}

/* "mcp-server@NAME.service" is what people copy from systemctl. */
static char *strip_unit_name(const char *name) {
        const char *instance = startswith(name, "mcp-server@");

        if (!instance)
                return strdup(name);
        if (endswith(instance, ".service"))
                return strndup(instance, strlen(instance) - strlen(".service"));
        if (endswith(instance, ".socket"))
                return strndup(instance, strlen(instance) - strlen(".socket"));
        return strdup(instance);
}

/* The server that is meant by a file, a unit without its template, or a name in other letters. NULL: none. */
static const char *name_meant(const ServerList *list, const char *name) {
        static const char *const suffixes[] = { ".json", ".service", ".socket", ".sock", ".connect" };
        const char *base = path_basename(name);
        size_t n = strlen(base);

        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
                if (endswith(base, suffixes[i])) {
                        n -= strlen(suffixes[i]);
                        break;
                }
        for (size_t i = 0; i < list->n_items; i++) {
                const char *other = list->items[i].name;

                if (strlen(other) == n && strncasecmp(other, base, n) == 0)
                        return other;
        }
        return NULL;
}

static int fail_unknown(Ctl *ctl, const ServerList *list, const char *name) {
        const char *nearest = name_meant(list, name), *manager = runtime_scope_to_string(ctl->scope);
        _cleanup_free_ const char **names = NULL;
        _cleanup_free_ char *remedy = NULL;

        names = calloc(list->n_items + 1, sizeof(*names));
        if (!names)
                return -ENOMEM;
        for (size_t i = 0; i < list->n_items; i++)
                names[i] = list->items[i].name;
        nearest = nearest ?: string_nearest(name, names);
        if (nearest)
                remedy = strformat("Did you mean \"%s\"?", nearest);
        else if (strchr(name, '/'))
                remedy = strdup("A server is named as \"mcpctl list\" shows it; \"mcpctl check\" takes "
                                "files as well.");
        else if (list->n_items == 0)
                remedy =
                                strformat("There is none yet; definitions go to %s/NAME.json.",
                                          ctl->paths.server_dirs[0]);
        else
                remedy = strdup("\"mcpctl list\" shows those that there are.");
        if (!remedy)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_NO_SUCH_SERVER,
                        "MCP-X-NO-SUCH-SERVER",
                        remedy,
                        "The %s has no MCP server named \"%s\".",
                        manager,
                        name);
}

static const ServerEntry *find_entry(const ServerList *list, const char *name) {
        for (size_t i = 0; i < list->n_items; i++) {
                const ServerEntry *e = list->items + i;

                if (streq(e->name, name) || streq_ptr(e->instance, name))
                        return e;
        }
        return NULL;
}

bool ctl_has_server(const ServerList *list, const char *name) {
        return find_entry(list, name);
}

int ctl_find_server(Ctl *ctl, const char *name, const ServerEntry **ret) {
        _cleanup_free_ char *stripped = strip_unit_name(name);
        const ServerList *list;
        const ServerEntry *e;
        int r;

        if (!stripped)
                return -ENOMEM;
        r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        e = find_entry(list, name) ?: find_entry(list, stripped);
        if (!e)
                return fail_unknown(ctl, list, stripped);
        *ret = e;
        return 0;
}

int ctl_find_unmasked_server(Ctl *ctl, const char *name, const ServerEntry **ret) {
        const ServerEntry *e;
        int r;

        r = ctl_find_server(ctl, name, &e);
        if (r != 0)
                return r;
        if (e->masked)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-MASKED",
                                "Remove that file to have it back.",
                                "The server \"%s\" is masked by %s.",
                                e->name,
                                e->file);
        *ret = e;
        return 0;
}

int ctl_find_usable_server(Ctl *ctl, const char *name, const ServerEntry **ret) {
        const ServerEntry *e = NULL;
        int r;

        r = ctl_find_unmasked_server(ctl, name, &e);
        if (r != 0)
                return r;
        if (!e->definition)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-UNREADABLE",
                                "\"mcpctl check\" says what is wrong with it.",
                                "The definition of \"%s\" in %s cannot be read.",
                                e->name,
                                e->file);
        *ret = e;
        return 0;
}

sd_bus *ctl_bus(Ctl *ctl) {
        if (!ctl->bus_tried && !ctl->root) {
                ctl->bus_error = units_connect(ctl->scope, &ctl->bus);
                ctl->bus_tried = true;
        }
        return ctl->bus;
}

char *ctl_bus_trouble(const Ctl *ctl) {
        const char *hint;

        if (ctl->root)
                return strdup("With --root no manager is asked.");
        hint = manager_error_hint(ctl->scope, ctl->bus_error);
        return strformat(
                        "The %s manager cannot be reached: %s.%s%s",
                        runtime_scope_to_string(ctl->scope),
                        STRERROR(ctl->bus_error),
                        hint ? " " : "",
                        strempty(hint));
}

int ctl_require_bus(Ctl *ctl, sd_bus **ret) {
        _cleanup_free_ char *trouble = NULL;
        sd_bus *bus = ctl_bus(ctl);

        if (bus) {
                *ret = bus;
                return 0;
        }
        trouble = ctl_bus_trouble(ctl);
        if (!trouble)
                return -ENOMEM;
        return ctl_fail(ctl, CTL_UNAVAILABLE, "MCP-X-NO-MANAGER", NULL, "%s", trouble);
}

int ctl_environment(Ctl *ctl, char *const **ret) {
        sd_bus *bus;

        if (!ctl->environment) {
                bus = ctl_bus(ctl);
                ctl->environment_of_manager = bus && manager_environment(bus, &ctl->environment) >= 0;
                if (!ctl->environment_of_manager)
                        ctl->environment = strv_copy(environ);
                if (!ctl->environment)
                        return -ENOMEM;
        }
        *ret = ctl->environment;
        return 0;
}

int ctl_socket_path(Ctl *ctl, const char *instance, SocketKind kind, char **ret) {
        _cleanup_free_ char *runtime_dir = NULL;
        int r;

        r = runtime_dir_find(ctl->scope, &runtime_dir);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return ctl_fail(ctl,
                                CTL_UNAVAILABLE,
                                "MCP-X-NO-RUNTIME-DIR",
                                "Log in through a session that has a user manager, or use --system.",
                                "XDG_RUNTIME_DIR is not set and there is no /run/user directory of yours, "
                                "so there is no "
                                "user manager to talk to.");
        return server_socket_path(runtime_dir, instance, kind, ret);
}
