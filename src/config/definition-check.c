/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What can only be said when all keys of an entry are known. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "config/definition-read.h"

/* With explicit transport first, then command, then url: the rule that fits all clients. */
static void check_transport(DefinitionReader *reader, const JsonValue *entry) {
        Definition *d = reader->d;
        bool own = d->dialect == DIALECT_OWN;
        const JsonValue *at = reader->remote ?: reader->url, *command;

        d->remote = reader->remote || (!reader->stdio && !d->command.at && reader->url);
        if (d->remote) {
                problem_add(reader->problems,
                            own ? PROBLEM_ERROR : PROBLEM_NOTE,
                            "MCP-C-REMOTE",
                            d->file,
                            at,
                            own ? "Give it a \"command\", or remove the file." : NULL,
                            "This is a remote server; only servers that are started by a command are run "
                            "here.");
                return;
        }
        command = json_get(entry, "command");
        /* One of the wrong type has been complained about already. */
        if (!d->command.at && (!command || command->type == JSON_NULL || command->type == JSON_STRING))
                complain(reader,
                         entry,
                         "MCP-C-NO-COMMAND",
                         "Add \"command\": the program to start.",
                         "There is no \"command\".");
}

/* These wait on stdin for a package's name, or print their help into the protocol's stream. */
static void check_launcher(DefinitionReader *reader) {
        static const char *const launchers[] = { "npx", "uvx", "pipx", NULL };
        const Text *command = &reader->d->command;
        const char *base;

        if (!command->value || reader->d->args.n_items > 0)
                return;
        base = path_basename(command->value);
        if (!strv_contains((char *const *) launchers, base))
                return;
        complain(reader,
                 command->at,
                 "MCP-C-NO-ARGS",
                 "Name the package in \"args\".",
                 "%s without arguments runs no server.",
                 base);
}

static void check_enabled(DefinitionReader *reader) {
        Definition *d = reader->d;
        bool disabled = reader->disabled && reader->disabled->boolean;

        if (reader->enabled)
                d->enabled = reader->enabled->boolean;
        if (reader->enabled && reader->disabled && d->enabled == disabled)
                problem_add_key(reader->problems,
                                PROBLEM_WARNING,
                                "MCP-C-TWICE",
                                d->file,
                                reader->disabled,
                                "Keep \"enabled\" alone.",
                                "\"enabled\" and \"disabled\" contradict each other; the server is "
                                "disabled.");
        if (disabled)
                d->enabled = false;
        /* MCPProxy's code takes a missing key for false, its documentation and every other client for true. */
        if (d->dialect == DIALECT_MCPPROXY && !reader->enabled && !reader->disabled)
                problem_add(reader->problems,
                            PROBLEM_NOTE,
                            "MCP-C-ENABLED",
                            d->file,
                            NULL,
                            NULL,
                            "\"%s\" does not say \"enabled\"; it counts as enabled here, and as disabled in "
                            "MCPProxy.",
                            d->name);
}

static void check_network_mode(DefinitionReader *reader) {
        Definition *d = reader->d;

        if (!reader->no_network || d->isolation.network == NETWORK_BLOCKED)
                return;
        problem_add_key(reader->problems,
                        d->dialect == DIALECT_OWN ? PROBLEM_ERROR : PROBLEM_WARNING,
                        "MCP-C-NETWORK-MODE",
                        d->file,
                        reader->no_network,
                        "Write \"network\": \"blocked\".",
                        "\"network_mode\" is for docker mode: it blocks nothing here.");
}

/* A manifest says everything about paths and the network; a second voice beside it would not be heard. */
static void check_manifest(DefinitionReader *reader, const JsonValue *entry) {
        static const char *const keys[] = { "write", "network" };
        const JsonValue *isolation = json_get(entry, "isolation");

        if (!json_get(isolation, "manifest"))
                return;
        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                const JsonValue *v = json_get(isolation, keys[i]);

                if (v && v->type != JSON_NULL)
                        problem_add_key(reader->problems,
                                        PROBLEM_ERROR,
                                        "MCP-C-MANIFEST",
                                        reader->d->file,
                                        v,
                                        "Say it in the manifest.",
                                        "\"%s\" has no effect beside a manifest.",
                                        keys[i]);
        }
}

/* Which of the two values the server would get must not be a riddle. */
static void check_credentials(DefinitionReader *reader) {
        const Definition *d = reader->d;

        for (size_t i = 0; i < d->n_credentials; i++)
                for (size_t k = 0; k < d->n_env; k++) {
                        if (!streq(d->credentials[i].name, d->env[k].name))
                                continue;
                        complain(reader,
                                 d->credentials[i].value.at,
                                 "MCP-C-CREDENTIAL",
                                 "Remove it from \"env\".",
                                 "The variable \"%s\" is both in \"env\" and in \"credentials\".",
                                 d->credentials[i].name);
                        break;
                }
}

void definition_check(DefinitionReader *reader, const JsonValue *entry) {
        check_transport(reader, entry);
        check_launcher(reader);
        check_enabled(reader);
        check_network_mode(reader);
        check_manifest(reader, entry);
        check_credentials(reader);
}
