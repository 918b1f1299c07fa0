/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <getopt.h>
#include <limits.h>

#include "basic/ssh.h"
#include "basic/string-util.h"
#include "config/quantity.h"
#include "ctl/options.h"

enum {
        ARG_VERSION = 0x100,
        ARG_USER,
        ARG_SYSTEM,
        ARG_JSON,
        ARG_NO_PAGER,
        ARG_ROOT,
        ARG_VIA,
        ARG_TIMEOUT,
        ARG_FROM,
        ARG_FOR,
        ARG_NAME,
        ARG_DRY_RUN,
        ARG_FORCE,
        ARG_INLINE_SECRETS,
        ARG_REWRITE,
        ARG_ENV,
        ARG_ENV_FILE,
        ARG_WRITE,
        ARG_NETWORK,
        ARG_STRICT,
        ARG_PATH,
        ARG_ACCESS,
        ARG_CONNECT,
        ARG_SOCKET,
};

typedef struct Option {
        const char *name;
        int value;            /* a letter: also the short option */
        const char *argument; /* NULL: takes none */
        const char *verbs;    /* NULL: all; else names between spaces */
        const char *help;
} Option;

static const Option options[] = {
        { "user", ARG_USER, NULL, NULL, "Servers of your user manager (default, but for root)" },
        { "system", ARG_SYSTEM, NULL, NULL, "Servers of the system manager (default for root)" },
        { "host", 'H', "HOST", NULL, "Of another machine, over ssh ([USER@]HOST)" },
        { "via", ARG_VIA, "HOST", NULL, "Given by -H: how to reach this machine in \"Undo:\"" },
        { "json",
          ARG_JSON,
          NULL,
          " list status show check why doctor probe tools call import add remove enable disable edit start "
          "stop "
          "restart ",
          "Print JSON" },
        { "no-pager", ARG_NO_PAGER, NULL, NULL, "Do not page long output" },
        { "root",
          ARG_ROOT,
          "DIR",
          " list show check why doctor add remove enable disable edit import export ",
          "Read definitions below DIR; asks no manager" },
        { "timeout",
          ARG_TIMEOUT,
          "TIME",
          " probe tools call ",
          "Give up after TIME (30s) instead of init_timeout" },
        { "quiet", 'q', NULL, " connect probe tools call ", "Do not say that a server is still starting" },
        { "follow", 'f', NULL, " logs ", "Go on with new lines" },
        { "lines", 'n', "N", " logs why ", "Show the last N lines" },
        { "from", ARG_FROM, "CLIENT", " import ", "Whose configuration it is" },
        { "for", ARG_FOR, "CLIENT", " export ", "Whose configuration it is for" },
        { "name", ARG_NAME, "NAME", " import ", "Import this server alone, or name one without" },
        { "dry-run", ARG_DRY_RUN, NULL, " import ", "Show what would be done" },
        { "yes", 'y', NULL, " import ", "Do not ask" },
        { "force",
          ARG_FORCE,
          NULL,
          " add edit import ",
          "Replace what is there; save what would be refused" },
        { "inline-secrets", ARG_INLINE_SECRETS, NULL, " import ", "Write secrets into the definitions" },
        { "rewrite", ARG_REWRITE, NULL, " import ", "Have the client use the imported servers" },
        { "env", ARG_ENV, "NAME[=VALUE]", " add run ", "Set a variable, or pass ours on (may be repeated)" },
        { "env-file", ARG_ENV_FILE, "FILE", " add run ", "Set what its lines NAME=VALUE say; --env wins" },
        { "write", ARG_WRITE, "PATH", " add run ", "Let it write there too (may be repeated)" },
        { "network", ARG_NETWORK, "MODE", " add run ", "unrestricted (default) or blocked" },
        { "strict", ARG_STRICT, NULL, " add run ", "Refuse to start if any wanted protection is missing" },
        { "path", ARG_PATH, "PATH", " why ", "Ask about a path" },
        { "access", ARG_ACCESS, "ACCESS", " why ", "With --path: read (default), write or execute" },
        { "connect", ARG_CONNECT, "HOST:PORT", " why ", "Ask about a TCP connection" },
        { "socket", ARG_SOCKET, "PATH", " why ", "Ask about a UNIX socket" },
        { "help", 'h', NULL, NULL, "Show this help" },
        { "version", ARG_VERSION, NULL, NULL, "Show the version" },
        {},
};

static const char *const exit_help[] = {
        "0  done; the server is well",
        "1  the answer is no: unhealthy, not listening, the tool failed",
        "2  wrong usage, or a definition that is wrong",
        "3  confinement is refused",
        "4  no such server",
        "69 the manager or the server's socket cannot be reached",
        NULL,
};

static int print_help(void) {
        printf("mcpctl [OPTION...] VERB [OPERAND...]\n\nShow, check and try the MCP servers that run "
               "confined "
               "under systemd.\n\nVerbs:\n");
        for (const Verb *v = verbs; v->name; v++) {
                _cleanup_free_ char *left =
                                strformat("%s%s%s", v->name, *v->operands ? " " : "", v->operands);

                if (!left)
                        return -ENOMEM;
                printf("  %-24s  %s\n", left, v->help);
        }
        printf("\nOptions:\n");
        for (const Option *o = options; o->name; o++) {
                _cleanup_free_ char *left = NULL;
                char letter[] = "-x, ";

                letter[1] = (char) o->value;
                left =
                                strformat("%s--%s%s%s",
                                          o->value < 0x100 ? letter : "    ",
                                          o->name,
                                          o->argument ? "=" : "",
                                          strempty(o->argument));
                if (!left)
                        return -ENOMEM;
                printf("  %-24s  %s\n", left, o->help);
        }
        printf("\nExit status:\n");
        for (const char *const *line = exit_help; *line; line++)
                printf("  %s\n", *line);
        puts("\nSee mcpctl(1) for all of it.");
        return 1;
}

/* getopt's own tables, made of ours. */
static void fill_getopt(struct option *long_options, char *letters) {
        *letters++ = ':';
        for (const Option *o = options; o->name; o++) {
                *long_options++ = (struct option){
                        .name = o->name,
                        .has_arg = o->argument ? required_argument : no_argument,
                        .val = o->value,
                };
                if (o->value >= 0x100)
                        continue;
                *letters++ = (char) o->value;
                if (o->argument)
                        *letters++ = ':';
        }
        *letters = '\0';
        *long_options = (struct option){};
}

static const Option *option_find(int value) {
        for (const Option *o = options; o->name; o++)
                if (o->value == value)
                        return o;
        return NULL;
}

static int fail_option(Ctl *ctl, const char *word) {
        const char *names[ELEMENTSOF(options)] = {};
        _cleanup_free_ char *remedy = NULL, *plain = NULL;
        const char *nearest = NULL;

        if (startswith(word, "--")) {
                for (size_t i = 0; options[i].name; i++)
                        names[i] = options[i].name;
                plain = strndup(word + 2, strcspn(word + 2, "="));
                if (!plain)
                        return -ENOMEM;
                nearest = string_nearest(plain, names);
        }
        remedy = nearest ? strformat("Did you mean --%s?", nearest)
                         : strdup("\"mcpctl --help\" lists them; a name that begins with \"-\" and options "
                                  "of another command stand behind "
                                  "\"--\".");
        if (!remedy)
                return -ENOMEM;
        (void) ctl_fail(ctl, CTL_DEFINITION, "MCP-X-USAGE", remedy, "There is no option %s.", word);
        return -EINVAL;
}

static int parse_timeout(Ctl *ctl, const char *text) {
        int r = duration_parse(text, &ctl->timeout_usec);

        if (r == -ENOMEM)
                return r;
        if (r >= 0 && ctl->timeout_usec > 0)
                return 0;
        (void) ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        "Write a time such as 30s or 2min.",
                        "--timeout=%s is not a time.",
                        text);
        return -EINVAL;
}

static int parse_lines(Ctl *ctl, const char *text) {
        if (streq(text, "all") || (*text && strspn(text, "0123456789") == strlen(text))) {
                ctl->lines = text;
                return 0;
        }
        (void) ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        "Write a number of lines, or \"all\".",
                        "--lines=%s is not a number.",
                        text);
        return -EINVAL;
}

static int parse_host(Ctl *ctl, const char *option, const char *text, const char **ret) {
        if (ssh_host_is_valid(text)) {
                *ret = text;
                return 0;
        }
        (void) ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        "Write HOST or USER@HOST.",
                        "--%s=%s is no host.",
                        option,
                        text);
        return -EINVAL;
}

/* What the other machine's mcpctl is given. */
static int forward(Ctl *ctl, const Option *o) {
        return o->argument ? strv_extendf(&ctl->forwarded, "--%s=%s", o->name, optarg)
                           : strv_extendf(&ctl->forwarded, "--%s", o->name);
}

/* NAME alone is our own variable: in arguments everyone could read its value. */
static int parse_env(Ctl *ctl, const char *text) {
        const char *value = strchr(text, '=');
        _cleanup_free_ char *name = strndup(text, strcspn(text, "="));

        if (!name)
                return -ENOMEM;
        if (!env_name_is_valid(name)) {
                (void) ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                "Write NAME (for a variable that is set here) or NAME=VALUE; a NAME has "
                                "letters, digits and \"_\".",
                                "The text of --env does not name a variable.");
                return -EINVAL;
        }
        if (value)
                return strv_extend(&ctl->env, text);
        value = getenv(name);
        if (value)
                return strv_extend(&ctl->env_names, name) < 0
                                       ? -ENOMEM
                                       : strv_extendf(&ctl->env, "%s=%s", name, value);
        (void) ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        "Export it first, or write --env=NAME=VALUE.",
                        "--env names %s, which is not set here.",
                        name);
        return -EINVAL;
}

static int parse_network(Ctl *ctl, const char *text) {
        if (streq(text, "blocked") || streq(text, "unrestricted")) {
                ctl->network = text;
                return 0;
        }
        (void) ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        "Write \"blocked\" or \"unrestricted\".",
                        "There is no network mode \"%s\".",
                        text);
        return -EINVAL;
}

/* Options that only set a flag, and those whose value is kept as it is. */
static const struct {
        int value;
        size_t offset;
} flag_options[] = {
        { ARG_JSON, offsetof(Ctl, json) },
        { ARG_DRY_RUN, offsetof(Ctl, dry_run) },
        { 'y', offsetof(Ctl, yes) },
        { ARG_FORCE, offsetof(Ctl, force) },
        { ARG_INLINE_SECRETS, offsetof(Ctl, inline_secrets) },
        { ARG_REWRITE, offsetof(Ctl, rewrite) },
        { ARG_STRICT, offsetof(Ctl, strict) },
        { 'q', offsetof(Ctl, quiet) },
        { 'f', offsetof(Ctl, follow) },
}, text_options[] = {
        { ARG_ROOT, offsetof(Ctl, root) },
        { ARG_FROM, offsetof(Ctl, client) },
        { ARG_FOR, offsetof(Ctl, client) },
        { ARG_NAME, offsetof(Ctl, name) },
        { ARG_ENV_FILE, offsetof(Ctl, env_file) },
        { ARG_PATH, offsetof(Ctl, path) },
        { ARG_ACCESS, offsetof(Ctl, access) },
        { ARG_CONNECT, offsetof(Ctl, connect) },
        { ARG_SOCKET, offsetof(Ctl, socket) },
};

/* 0; 1: the program is done; -EINVAL, and it was said. */
static int apply(Ctl *ctl, int value) {
        for (size_t i = 0; i < ELEMENTSOF(flag_options); i++)
                if (flag_options[i].value == value) {
                        *(bool *) ((char *) ctl + flag_options[i].offset) = true;
                        return 0;
                }
        for (size_t i = 0; i < ELEMENTSOF(text_options); i++)
                if (text_options[i].value == value) {
                        *(const char **) ((char *) ctl + text_options[i].offset) = optarg;
                        return 0;
                }
        switch (value) {
        case 'h':
                return print_help();
        case ARG_VERSION:
                printf("mcpctl (mcp-systemd) %s\n", PROJECT_VERSION);
                return 1;
        case 'H':
                return parse_host(ctl, "host", optarg, &ctl->host);
        case ARG_VIA:
                return parse_host(ctl, "via", optarg, &ctl->via);
        case ARG_USER:
                ctl->scope = RUNTIME_SCOPE_USER;
                return 0;
        case ARG_SYSTEM:
                ctl->scope = RUNTIME_SCOPE_SYSTEM;
                return 0;
        case ARG_NO_PAGER:
                ctl->pager = false;
                return 0;
        case ARG_TIMEOUT:
                return parse_timeout(ctl, optarg);
        case ARG_ENV:
                return parse_env(ctl, optarg);
        case ARG_WRITE:
                return strv_extend(&ctl->write, optarg);
        case ARG_NETWORK:
                return parse_network(ctl, optarg);
        case 'n':
                return parse_lines(ctl, optarg);
        }
        return -EINVAL;
}

static const Verb *verb_find(const char *name) {
        for (const Verb *v = verbs; v->name; v++)
                if (streq(v->name, name))
                        return v;
        return NULL;
}

/* What other programs call it. */
static const struct {
        const char *word, *verb;
} word_table[] = {
        { "ls", "list" },          { "ps", "status" },    { "rm", "remove" },     { "delete", "remove" },
        { "uninstall", "remove" }, { "install", "add" },  { "create", "add" },    { "new", "add" },
        { "log", "logs" },         { "journal", "logs" }, { "tail", "logs" },     { "cat", "show" },
        { "info", "show" },        { "inspect", "show" }, { "describe", "show" }, { "reload", "restart" },
        { "test", "probe" },       { "ping", "probe" },   { "health", "probe" },  { "exec", "run" },
        { "validate", "check" },   { "verify", "check" }, { "lint", "check" },    { "diagnose", "doctor" },
        { "get", "show" },         { "set", "edit" },     { "config", "edit" },   { "search", "list" },
};

static const char *verb_meant(const char *name) {
        const char *names[64] = {};
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(word_table); i++)
                if (streq(word_table[i].word, name))
                        return word_table[i].verb;
        for (const Verb *v = verbs; v->name && n + 1 < ELEMENTSOF(names); v++)
                names[n++] = v->name;
        return string_nearest(name, names);
}

/* next: the word behind it, which is the verb where somebody wrote the server first; NULL: none. */
static int find_verb(Ctl *ctl, const char *name, const char *next, const Verb **ret) {
        const Verb *verb = verb_find(name);
        _cleanup_free_ char *remedy = NULL;
        const char *meant;

        if (verb) {
                *ret = verb;
                return 0;
        }
        meant = verb_meant(name);
        if (next && verb_find(next))
                remedy = strformat("The verb comes first: mcpctl %s %s", next, name);
        else if (meant)
                remedy = strformat("Did you mean \"mcpctl %s\"?", meant);
        else
                remedy = strdup("\"mcpctl --help\" lists them.");
        if (!remedy)
                return -ENOMEM;
        (void) ctl_fail(ctl, CTL_DEFINITION, "MCP-X-USAGE", remedy, "There is no verb \"%s\".", name);
        return -EINVAL;
}

static int check_operands(Ctl *ctl, const Verb *verb, unsigned n) {
        const char *remedy = NULL;

        if (n >= verb->min && n <= verb->max)
                return 0;
        if (strstr(verb->operands, "--"))
                remedy = "The command and its arguments stand behind \"--\".";
        else if (startswith(verb->operands, "NAME"))
                remedy = "\"mcpctl list\" shows the names.";
        (void) ctl_fail(ctl,
                        CTL_DEFINITION,
                        "MCP-X-USAGE",
                        remedy,
                        "%s; the usage is: mcpctl %s%s%s.",
                        n < verb->min ? "Something is missing" : "That is too much",
                        verb->name,
                        *verb->operands ? " " : "",
                        verb->operands);
        return -EINVAL;
}

/* An option that a verb does not heed must not look as if it were. */
static int check_options(Ctl *ctl, const Verb *verb, const bool *given) {
        _cleanup_free_ char *word = strformat(" %s ", verb->name);

        if (!word)
                return -ENOMEM;
        for (size_t i = 0; options[i].name; i++) {
                if (!given[i] || !options[i].verbs || strstr(options[i].verbs, word))
                        continue;
                (void) ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-USAGE",
                                strstr(verb->operands, "--")
                                                ? "Leave it out, or put the command behind \"--\"."
                                                : "Leave it out.",
                                "\"mcpctl %s\" has no option --%s.",
                                verb->name,
                                options[i].name);
                return -EINVAL;
        }
        return 0;
}

static int parse_options(Ctl *ctl, int argc, char **argv, bool *given) {
        struct option long_options[ELEMENTSOF(options)];
        char letters[2 * ELEMENTSOF(options) + 1];
        int r;

        fill_getopt(long_options, letters);
        opterr = 0;
        for (;;) {
                int c = getopt_long(argc, argv, letters, long_options, NULL);
                const Option *o;

                if (c < 0)
                        return 0;
                if (c == ':') {
                        (void) ctl_fail(ctl,
                                        CTL_DEFINITION,
                                        "MCP-X-USAGE",
                                        NULL,
                                        "The option %s needs a value.",
                                        argv[optind - 1]);
                        return -EINVAL;
                }
                o = c == '?' ? NULL : option_find(c);
                if (!o) {
                        /* A letter may stand anywhere in a word that getopt has not yet left. */
                        const char letter[] = { '-', (char) optopt, '\0' };

                        return fail_option(ctl, optopt > 0 && optopt < 0x100 ? letter : argv[optind - 1]);
                }
                given[o - options] = true;
                r = c == 'H' ? 0 : forward(ctl, o);
                if (r >= 0)
                        r = apply(ctl, c);
                if (r != 0)
                        return r;
        }
}

int options_parse(Ctl *ctl, int argc, char **argv, const Verb **ret_verb, int *ret_first) {
        bool given[ELEMENTSOF(options)] = {};
        const char *word;
        const Verb *verb;
        int r;

        r = parse_options(ctl, argc, argv, given);
        if (r != 0)
                return r;
        word = optind < argc ? argv[optind++] : "list";
        r = find_verb(ctl, word, optind < argc ? argv[optind] : NULL, &verb);
        if (r < 0)
                return r;
        r = check_operands(ctl, verb, (unsigned) (argc - optind));
        if (r < 0)
                return r;
        r = check_options(ctl, verb, given);
        if (r < 0)
                return r;
        *ret_verb = verb;
        *ret_first = optind;
        return 0;
}
