/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <getopt.h>
#include <limits.h>
#include <unistd.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/definition-read.h"
#include "sandbox-exec/options.h"

enum {
        ARG_VERSION = 0x100,
        ARG_DEFINITION,
        ARG_MANIFEST,
        ARG_NAME,
        ARG_WORKING_DIR,
        ARG_WRITE,
        ARG_NETWORK,
        ARG_UNIX_SOCKETS,
        ARG_HOME,
        ARG_ENV,
        ARG_ENV_FILE,
        ARG_STRICT,
        ARG_DRY_RUN,
        ARG_JSON,
};

static const struct option option_table[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ARG_VERSION },
        { "definition", required_argument, NULL, ARG_DEFINITION },
        { "manifest", required_argument, NULL, ARG_MANIFEST },
        { "name", required_argument, NULL, ARG_NAME },
        { "working-dir", required_argument, NULL, ARG_WORKING_DIR },
        { "write", required_argument, NULL, ARG_WRITE },
        { "network", required_argument, NULL, ARG_NETWORK },
        { "unix-sockets", required_argument, NULL, ARG_UNIX_SOCKETS },
        { "home", required_argument, NULL, ARG_HOME },
        { "env", required_argument, NULL, ARG_ENV },
        { "env-file", required_argument, NULL, ARG_ENV_FILE },
        { "strict", no_argument, NULL, ARG_STRICT },
        { "dry-run", no_argument, NULL, ARG_DRY_RUN },
        { "json", no_argument, NULL, ARG_JSON },
        {},
};

static const char help_text[] =
                "mcp-sandbox [OPTION...] [--] COMMAND [ARG...]\n"
                "mcp-sandbox --definition=FILE [OPTION...]\n"
                "\n"
                "Run a program confined by Landlock and seccomp, without a manager.\n"
                "\n"
                "  -h --help                 Show this help\n"
                "     --version              Show the version\n"
                "     --definition=FILE      Run the server that a definition file describes\n"
                "     --manifest=FILE        Grant what a nono manifest says, and nothing else\n"
                "     --name=NAME            Use the state directory of that name\n"
                "     --working-dir=PATH     Run in that directory instead of the current one\n"
                "     --write=PATH           Let it write there too (may be repeated)\n"
                "     --network=MODE         unrestricted (default) or blocked\n"
                "     --unix-sockets=WHICH   none (default), any, or a path (may be repeated)\n"
                "     --home=WHICH           shared (default), or private with --name\n"
                "     --env=NAME[=VALUE]     Set a variable, or pass ours on (may be repeated)\n"
                "     --env-file=FILE        Set what its lines NAME=VALUE say; --env wins\n"
                "     --strict               Refuse to run if any wanted protection is missing\n"
                "     --dry-run              Print what would be enforced, and run nothing\n"
                "     --json                 With --dry-run: print it as JSON\n"
                "\n"
                "See mcp-sandbox(1).\n";

static int _printf_(2, 3) usage(OptionsResult *ret_result, const char *format, ...) {
        va_list ap;

        (void) fputs("mcp-sandbox: ", stderr);
        va_start(ap, format);
        (void) vfprintf(stderr, format, ap);
        va_end(ap);
        (void) fputs(" Try mcp-sandbox --help. [MCP-X-USAGE]\n", stderr);
        *ret_result = OPTIONS_USAGE;
        return 0;
}

/* An index into the words, or -1. */
static int choose(const char *value, const char *const *words) {
        for (int i = 0; words[i]; i++)
                if (streq(value, words[i]))
                        return i;
        return -1;
}

static int add_env(Options *o, const char *assignment, OptionsResult *ret_result) {
        _cleanup_free_ char *name = strndup(assignment, strcspn(assignment, "="));
        const char *value = strchr(assignment, '=');

        if (!name)
                return -ENOMEM;
        if (!env_name_is_valid(name))
                return usage(ret_result,
                             "--env takes NAME=VALUE or NAME, and %s is no name of a variable.",
                             name);
        value = value ? value + 1 : getenv(name);
        if (!value)
                return usage(ret_result, "--env names %s, which is not set here.", name);
        return env_set(&o->env, name, value);
}

static int add_unix(Options *o, const char *value) {
        if (streq(value, "none") || streq(value, "any")) {
                o->unix_sockets = streq(value, "any") ? UNIX_ANY : UNIX_NONE;
                return 0;
        }
        o->unix_sockets = UNIX_LIST;
        return strv_extend(&o->unix_paths, value);
}

static int parse_one(Options *o, int option, OptionsResult *ret_result) {
        static const char *const networks[] = { "unrestricted", "blocked", NULL };
        static const char *const homes[] = { "shared", "private", NULL };
        int i;

        switch (option) {
        case 'h':
                *ret_result = OPTIONS_DONE;
                return fputs(help_text, stdout) < 0 ? -EIO : 0;
        case ARG_VERSION:
                *ret_result = OPTIONS_DONE;
                return printf("mcp-sandbox %s\n", PROJECT_VERSION) < 0 ? -EIO : 0;
        case ARG_DEFINITION:
                o->definition = optarg;
                return 0;
        case ARG_MANIFEST:
                o->manifest = optarg;
                return 0;
        case ARG_NAME:
                o->name = optarg;
                return 0;
        case ARG_WORKING_DIR:
                o->working_dir = optarg;
                return 0;
        case ARG_WRITE:
                return strv_extend(&o->write, optarg);
        case ARG_NETWORK:
                i = choose(optarg, networks);
                if (i < 0)
                        return usage(ret_result, "--network takes unrestricted or blocked, not %s.", optarg);
                o->network = i == 1 ? NETWORK_BLOCKED : NETWORK_UNRESTRICTED;
                return 0;
        case ARG_UNIX_SOCKETS:
                return add_unix(o, optarg);
        case ARG_HOME:
                i = choose(optarg, homes);
                if (i < 0)
                        return usage(ret_result, "--home takes shared or private, not %s.", optarg);
                o->home = i == 1 ? HOME_PRIVATE : HOME_SHARED;
                return 0;
        case ARG_ENV:
                return add_env(o, optarg, ret_result);
        case ARG_ENV_FILE:
                o->env_file = optarg;
                return 0;
        case ARG_STRICT:
                o->strict = true;
                return 0;
        case ARG_DRY_RUN:
                o->dry_run = true;
                return 0;
        case ARG_JSON:
                o->json = true;
                return 0;
        default:
                *ret_result = OPTIONS_USAGE; /* getopt has said it */
                return 0;
        }
}

int options_parse(int argc, char **argv, Options *ret, OptionsResult *ret_result) {
        _cleanup_options_ Options o = {};
        OptionsResult result = OPTIONS_RUN;
        int option, r = 0;

        /* "+": what follows the command is the command's. */
        while (r >= 0 && result == OPTIONS_RUN &&
               (option = getopt_long(argc, argv, "+h", option_table, NULL)) >= 0)
                r = parse_one(&o, option, &result);
        if (r < 0)
                return r;
        if (result == OPTIONS_RUN) {
                if (optind < argc)
                        o.command = argv + optind;
                else if (!o.definition)
                        r = usage(&result, "There is no command to run.");
                if (o.definition && o.manifest)
                        r = usage(&result, "--definition and --manifest exclude each other.");
                else if (o.json && !o.dry_run)
                        r = usage(&result, "--json goes with --dry-run.");
                else if (o.home == HOME_PRIVATE && !o.name)
                        r = usage(&result, "--home=private needs --name.");
        }
        *ret = o;
        o = (Options){};
        *ret_result = result;
        return r;
}

void options_done(Options *o) {
        strv_free(o->write);
        strv_free(o->unix_paths);
        strv_free(o->env);
        *o = (Options){};
}

static int absolute(const char *path, char **ret) {
        char cwd[PATH_MAX];

        if (path_is_absolute(path)) {
                *ret = strdup(path);
                return *ret ? 0 : -ENOMEM;
        }
        if (!getcwd(cwd, sizeof(cwd)))
                return errno == ERANGE ? -ENAMETOOLONG : -errno;
        *ret = path_join(cwd, path);
        return *ret ? 0 : -ENOMEM;
}

static int add_text(Definition *d, TextList *l, const char *value) {
        Text *t = definition_add_text(d, l);

        return t ? definition_set_text(d, t, value) : -ENOMEM;
}

static int add_paths(Definition *d, TextList *l, char *const *paths) {
        STRV_FOREACH (path, paths) {
                _cleanup_free_ char *full = NULL;
                int r;

                r = absolute(*path, &full);
                if (r >= 0)
                        r = add_text(d, l, full);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_env_entries(Definition *d, char *const *env) {
        STRV_FOREACH (assignment, env) {
                size_t n = strcspn(*assignment, "=");
                EnvEntry *e = definition_add_env(d, &d->env, &d->n_env);
                int r;

                if (!e)
                        return -ENOMEM;
                e->name = arena_copy(&d->arena, *assignment, n);
                if (!e->name)
                        return -ENOMEM;
                r = definition_set_text(d, &e->value, *assignment + n + 1);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int set_path(Definition *d, Text *t, const char *path) {
        _cleanup_free_ char *full = NULL;
        int r;

        r = absolute(path, &full);
        return r < 0 ? r : definition_set_text(d, t, full);
}

/* Command and arguments replace the definition's as one. */
static int set_command(Definition *d, char *const *command) {
        int r;

        r = definition_set_text(d, &d->command, command[0]);
        d->args.n_items = 0;
        for (size_t i = 1; r >= 0 && command[i]; i++)
                r = add_text(d, &d->args, command[i]);
        return r;
}

int options_to_definition(const Options *o, Definition **ret, ProblemList *problems) {
        static const char empty[] =
                        "{ \"command\": \"-\" }"; /* replaced; the rest are the defaults of a file */
        _cleanup_definition_ Definition *d = NULL;
        const char *name = o->name;
        int r;

        if (!name && o->command)
                name = path_basename(o->command[0]);
        if (o->definition)
                r = definition_load_file(o->definition, o->name, &d, problems);
        else
                r = definition_read_text(
                                empty,
                                strlen(empty),
                                isempty(name) ? "command" : name,
                                "command line",
                                &d,
                                problems);
        if (r < 0)
                return r;
        r = o->command ? set_command(d, o->command) : 0;
        if (r >= 0 && (o->working_dir || !d->working_dir.value))
                r = set_path(d, &d->working_dir, o->working_dir ?: ".");
        if (r >= 0)
                r = add_paths(d, &d->isolation.write, o->write);
        if (r >= 0)
                r = add_paths(d, &d->isolation.unix_paths, o->unix_paths);
        if (r >= 0)
                r = add_env_entries(d, o->env);
        if (r >= 0 && o->env_file)
                r = set_path(d, &d->env_file, o->env_file);
        if (r >= 0 && o->manifest)
                r = set_path(d, &d->isolation.manifest_path, o->manifest);
        if (r < 0)
                return r;
        if (o->network != NETWORK_UNSET)
                d->isolation.network = o->network;
        if (o->unix_sockets != UNIX_NONE)
                d->isolation.unix_sockets = o->unix_sockets;
        if (o->home != HOME_UNSET)
                d->isolation.home = o->home;
        if (o->strict)
                d->isolation.enforcement = ENFORCEMENT_STRICT;
        *ret = TAKE_PTR(d);
        return 0;
}
