/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Definitions out of a client's own file: first the report, then the question, then all of it or nothing. */

#include <fcntl.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "clients/rewrite.h"
#include "clients/secret.h"
#include "ctl/import.h"

void import_run_done(ImportRun *run) {
        for (size_t i = 0; i < run->n_items; i++) {
                free(run->items[i].file_name);
                free(run->items[i].path);
                free(run->items[i].taken);
                definition_text_done(&run->items[i].text);
                problem_list_done(&run->items[i].problems);
        }
        free(run->items);
        client_import_done(&run->import);
        free(run->file);
        free(run->workspace);
        if (run->rewritten)
                explicit_bzero(run->rewritten, strlen(run->rewritten));
        free(run->rewritten);
        free(run->backup);
        free(run->why_not);
        *run = (ImportRun){};
}

size_t import_run_count(const ImportRun *run) {
        size_t n = 0;

        for (size_t i = 0; i < run->n_items; i++)
                n += run->items[i].write;
        return n;
}

bool import_run_complete(const ImportRun *run) {
        for (size_t i = 0; i < run->n_items; i++) {
                ServerFate fate = run->items[i].server->fate;

                if (fate == SERVER_BROKEN ||
                    (fate == SERVER_OURS && !run->items[i].write && !run->items[i].same))
                        return false;
        }
        return true;
}

static int fail_client(Ctl *ctl) {
        _cleanup_strv_free_ char **names = NULL;
        _cleanup_free_ char *all = NULL;

        for (Client c = 0; c < _CLIENT_MAX; c++)
                if (strv_extend(&names, client_to_string(c)) < 0)
                        return -ENOMEM;
        all = strv_join(names, ", ");
        if (!all)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-CLIENT",
                        NULL,
                        "\"%s\" is no client that is known here; there are %s.",
                        ctl->client,
                        all);
}

static int get_client(Ctl *ctl, Client *ret) {
        *ret = ctl->client ? client_from_string(ctl->client) : _CLIENT_INVALID;
        return ctl->client && *ret < 0 ? fail_client(ctl) : 0;
}

static int add_place(char ***places, const char *below) {
        const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME"),
                   *rest = startswith(below, ".config/");

        if (rest && config && path_is_absolute(config))
                return strv_consume(places, path_join(config, rest));
        return home && path_is_absolute(home) ? strv_consume(places, path_join(home, below)) : 0;
}

/* Where the client's own file is: in the home directory, else in the project that we are in. */
static int find_file(Ctl *ctl, Client client, char **ret) {
        const ClientInfo *info = client_info(client);
        _cleanup_strv_free_ char **places = NULL;
        _cleanup_free_ char *all = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(info->home_files) && info->home_files[i]; i++)
                r = add_place(&places, info->home_files[i]);
        if (r >= 0 && info->project_file)
                r = strv_extend(&places, info->project_file);
        if (r < 0)
                return r;
        STRV_FOREACH (place, places)
                if (access(*place, F_OK) == 0) {
                        *ret = strdup(*place);
                        return *ret ? 0 : -ENOMEM;
                }
        all = strv_join(places, ", ");
        if (!all)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-NO-CLIENT-FILE",
                        "Name the file.",
                        "No file of %s is there; looked for %s.",
                        info->title,
                        all);
}

static int read_file(Ctl *ctl, ImportRun *run, const char *file, char **ret, size_t *ret_size) {
        int r;

        if (streq(file, "-")) {
                run->file = strdup("standard input");
                return run->file ? fd_read_all(STDIN_FILENO, JSON_LARGE_MAX, ret, ret_size) : -ENOMEM;
        }
        run->file = realpath(file, NULL);
        r = run->file ? file_read_at(AT_FDCWD, run->file, JSON_LARGE_MAX, ret, ret_size) : -errno;
        if (r >= 0)
                return client_file_workspace(run->file, getenv("HOME"), &run->workspace);
        if (r == -ENOMEM)
                return r;
        return ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-FILE",
                        "Name a file that is there, or the client with --from.",
                        "%s cannot be read: %s.",
                        file,
                        r == -EFBIG ? "it is too large" : STRERROR(r));
}

static int load(Ctl *ctl, ImportRun *run, const char *operand) {
        _cleanup_strv_free_ char **taken = NULL;
        _cleanup_free_ char *text = NULL, *found = NULL;
        ImportContext context = { .name = ctl->name };
        Client client;
        size_t size;
        int r;

        r = get_client(ctl, &client);
        if (r != 0)
                return r;
        if (!operand && client < 0)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                NULL,
                                "Name the client's file, or the client with --from.");
        if (!operand) {
                r = find_file(ctl, client, &found);
                if (r != 0)
                        return r;
        }
        r = read_file(ctl, run, operand ?: found, &text, &size);
        if (r != 0)
                return r;
        context.workspace = run->workspace;
        r = client_import_parse(text, size, run->file, client, &context, &run->import);
        explicit_bzero(text, size);
        for (size_t i = 0; r >= 0 && i < run->import.n_servers; i++)
                r = client_server_find_secrets(run->import.servers + i, &taken);
        return r;
}

static const ServerEntry *find_server(const ServerList *list, const char *name) {
        for (size_t i = 0; i < list->n_items; i++)
                if (streq(list->items[i].name, name))
                        return list->items + i;
        return NULL;
}

static bool holds(const char *path, const DefinitionText *text) {
        _cleanup_free_ char *old = NULL;
        size_t size;

        return file_read_at(AT_FDCWD, path, JSON_SIZE_MAX, &old, &size) >= 0 && size == text->size &&
               memcmp(old, text->text, size) == 0;
}

static int plan_item(Ctl *ctl, const ImportRun *run, const ServerList *list, ImportItem *item) {
        const ServerEntry *other = find_server(list, item->server->name);
        int r;

        if (item->server->fate != SERVER_OURS)
                return 0;
        item->file_name = definition_file_name(item->server->name);
        item->path = item->file_name ? path_join(run->dir, item->file_name) : NULL;
        if (!item->path)
                return -ENOMEM;
        r = definition_text_make(item->server, ctl->inline_secrets, run->file, &item->text, &item->problems);
        if (r < 0 && r != -EINVAL)
                return r;
        item->write = r >= 0;
        if (!other && access(item->path, F_OK) < 0)
                return 0;
        r = free_and_strdup(&item->taken, other ? other->file : item->path);
        if (r < 0)
                return r;
        item->replace = access(item->path, F_OK) == 0;
        item->same = item->write && item->replace && holds(item->path, &item->text);
        if (item->same) {
                item->write = false;
                return 0;
        }
        item->write = item->write && ctl->force;
        return 0;
}

static int plan_items(Ctl *ctl, ImportRun *run) {
        const ConfigPaths *paths;
        const ServerList *list;
        int r;

        r = ctl_paths(ctl, &paths);
        if (r == 0)
                r = ctl_servers(ctl, &list);
        if (r != 0)
                return r;
        run->dir = paths->server_dirs[0];
        run->items = calloc(run->import.n_servers ?: 1, sizeof(*run->items));
        if (!run->items)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < run->import.n_servers; i++) {
                ClientServer *s = run->import.servers + i;

                if (ctl->name && !streq(s->name, ctl->name))
                        continue;
                run->items[run->n_items].server = s;
                r = plan_item(ctl, run, list, run->items + run->n_items++);
        }
        if (r >= 0 && ctl->name && run->n_items == 0 && run->import.n_servers > 0)
                return ctl_fail(ctl,
                                CTL_NO_SUCH_SERVER,
                                "MCP-X-NO-SUCH-SERVER",
                                NULL,
                                "There is no server \"%s\" in %s.",
                                ctl->name,
                                run->file);
        return r;
}

/* A name for the old file that no other has. */
static int choose_backup(ImportRun *run) {
        for (unsigned i = 0; i < 1000; i++) {
                char number[16] = "";

                if (i > 0)
                        (void) snprintf(number, sizeof(number), ".%u", i);
                free(run->backup);
                run->backup = strformat("%s.before-mcp%s", run->file, number);
                if (!run->backup)
                        return -ENOMEM;
                if (access(run->backup, F_OK) < 0)
                        return 0;
        }
        return -EEXIST;
}

static int plan_rewrite(Ctl *ctl, ImportRun *run) {
        _cleanup_free_ const ClientServer **servers = NULL;
        const ImportContext context = { .workspace = run->workspace, .name = ctl->name };
        size_t n = 0;
        int r;

        if (!ctl->rewrite)
                return 0;
        servers = calloc(run->n_items ?: 1, sizeof(*servers));
        if (!servers)
                return -ENOMEM;
        for (size_t i = 0; i < run->n_items; i++)
                if (run->items[i].write || run->items[i].same)
                        servers[n++] = run->items[i].server;
        if (n == 0)
                return 0;
        r = path_is_absolute(run->file)
                            ? client_rewrite(&run->import, &context, ctl->scope, servers, n, &run->rewritten)
                            : -EOPNOTSUPP;
        if (r == -EOPNOTSUPP || r == -EBADMSG) {
                run->why_not =
                                strformat("%s stays as it is: its shape cannot be edited. \"mcpctl export\" "
                                          "prints what to "
                                          "write there.",
                                          run->file);
                return run->why_not ? 0 : -ENOMEM;
        }
        return r < 0 ? r : choose_backup(run);
}

/* 1: yes; 0: no, and that was said. */
static int confirm(Ctl *ctl, const ImportRun *run) {
        char answer[8];

        if (ctl->yes)
                return 1;
        if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || ctl->json) {
                int r = ctl_fail(
                                ctl,
                                CTL_DEFINITION,
                                "MCP-X-YES",
                                "Add --yes to write it, or --dry-run to look only.",
                                "Nothing is written without a question, and nobody can be asked here.");

                return r < 0 ? r : -ECANCELED;
        }
        printf("\nWrite %zu definition%s? [y/N] ",
               import_run_count(run),
               import_run_count(run) == 1 ? "" : "s");
        if (fflush(stdout) != 0)
                return -errno;
        if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y')) {
                puts("Nothing is written.");
                return 0;
        }
        return 1;
}

/* The manager learns of new definitions by a reload. */
static void reload(Ctl *ctl) {
        sd_bus *bus = ctl_bus(ctl);
        const char *option = ctl->scope == RUNTIME_SCOPE_USER ? "--user " : "";
        int r = -ENOTCONN;

        if (ctl->root)
                return;
        if (bus)
                r = sd_bus_call_method(
                                bus,
                                "org.freedesktop.systemd1",
                                "/org/freedesktop/systemd1",
                                "org.freedesktop.systemd1.Manager",
                                "Reload",
                                NULL,
                                NULL,
                                NULL);
        if (r >= 0 && !ctl->json)
                printf("\nThe manager is reloaded. Start listening with: systemctl %sstart "
                       "mcp-server@NAME.socket\n",
                       option);
        else if (r < 0)
                fprintf(ctl->json ? stderr : stdout,
                        "%sThe manager cannot be reloaded from here; run: systemctl %sdaemon-reload\n",
                        ctl->json ? "mcpctl: " : "\n",
                        option);
}

static int finish(Ctl *ctl, ImportRun *run, int status) {
        int r;

        if (import_run_count(run) == 0 && !run->rewritten) {
                r = ctl->json ? import_report_json(ctl, run, false) : 0;
                if (!ctl->json)
                        puts("\nThere is nothing to write.");
                return r < 0 ? r : status;
        }
        if (ctl->dry_run) {
                if (ctl->json)
                        r = import_report_json(ctl, run, false);
                else
                        r = import_report_needs(ctl, run);
                return r < 0 ? r : status;
        }
        r = confirm(ctl, run);
        if (r <= 0)
                return r == -ECANCELED ? CTL_DEFINITION : r == 0 ? CTL_FAILED : r;
        r = import_write(ctl, run);
        if (r != 0)
                return r;
        if (!ctl->json)
                puts("\nAll of it is written.");
        reload(ctl);
        if (ctl->json) {
                r = import_report_json(ctl, run, true);
                return r < 0 ? r : status;
        }
        r = import_report_needs(ctl, run);
        if (r >= 0)
                r = import_report_undo(ctl, run);
        return r < 0 ? r : status;
}

int verb_import(Ctl *ctl, char **operands) {
        _cleanup_import_run_ ImportRun run = {};
        int r;

        r = load(ctl, &run, *operands);
        if (r == 0)
                r = plan_items(ctl, &run);
        if (r == 0)
                r = plan_rewrite(ctl, &run);
        if (r == 0 && !ctl->json)
                r = import_report_text(ctl, &run);
        if (r != 0)
                return r;
        if (problem_list_has_errors(&run.import.problems) && run.import.n_servers == 0)
                return ctl->json && (r = import_report_json(ctl, &run, false)) < 0 ? r : CTL_DEFINITION;
        return finish(ctl,
                      &run,
                      import_run_complete(&run) && !problem_list_has_errors(&run.import.problems)
                                      ? CTL_OK
                                      : CTL_FAILED);
}
