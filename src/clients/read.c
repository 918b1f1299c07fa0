/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A client's whole file: where in it the servers are. */

#include "clients/read.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "clients/toml.h"

static int read_object(EntryReader *reader, const JsonValue *servers) {
        const JsonValue *item;
        int r;

        if (!servers || servers->type == JSON_NULL)
                return 0;
        if (servers->type != JSON_OBJECT) {
                problem_add(&reader->import->problems,
                            PROBLEM_ERROR,
                            "MCP-I-TYPE",
                            reader->import->path,
                            servers,
                            NULL,
                            "\"%s\" must be an object, not %s.",
                            strempty(servers->key),
                            json_type_to_string(servers->type));
                return 0;
        }
        JSON_FOREACH (item, servers) {
                r = entry_read(reader, item->key, item);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_array(EntryReader *reader, const JsonValue *servers) {
        const JsonValue *item;
        int r;

        JSON_FOREACH (item, servers) {
                const JsonValue *name = json_get(item, "name");

                if (!name || name->type != JSON_STRING || strlen(name->string) != name->string_length ||
                    name->string_length == 0)
                {
                        problem_add(&reader->import->problems,
                                    PROBLEM_ERROR,
                                    "MCP-I-NAME",
                                    reader->import->path,
                                    name ?: item,
                                    "Add \"name\".",
                                    "An entry of \"mcpServers\" must be an object with a \"name\".");
                        continue;
                }
                r = entry_read(reader, name->string, item);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Claude Code's ~/.claude.json: every project has servers of its own. */
static int read_projects(EntryReader *reader, const JsonValue *projects) {
        const JsonValue *project;
        int r = 0;

        JSON_FOREACH (project, projects) {
                _cleanup_free_ char *origin = NULL;

                if (!project->key)
                        break;
                origin = strformat("project %s", project->key);
                if (!origin)
                        return -ENOMEM;
                reader->origin = origin;
                reader->workspace = path_is_absolute(project->key) ? project->key : NULL;
                r = read_object(reader, json_get(project, "mcpServers"));
                reader->origin = reader->workspace = NULL;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_bare(EntryReader *reader, const JsonValue *document) {
        if (reader->context && reader->context->name)
                return entry_read(reader, reader->context->name, document);
        problem_add(&reader->import->problems,
                    PROBLEM_ERROR,
                    "MCP-I-NO-NAME",
                    reader->import->path,
                    document,
                    "Choose one with --name.",
                    "This is one server without a name.");
        return 0;
}

static int read_servers(EntryReader *reader) {
        ClientImport *import = reader->import;
        const JsonValue *document = import->document, *servers;
        const ClientInfo *info = client_info(import->client);
        int r;

        if (import->client == CLIENT_REGISTRY)
                return registry_read(reader, document);
        servers = json_get(document, info->key);
        if (import->client == CLIENT_VSCODE) {
                const JsonValue *settings = json_get(document, "mcp");
                const JsonValue *inputs = json_get(document, "inputs") ?: json_get(settings, "inputs");

                servers = servers ?: json_get(settings, "servers");
                reader->inputs = inputs && inputs->type == JSON_ARRAY ? inputs : NULL;
        }
        if (servers && servers->hidden_line > 0)
                problem_add_key(&import->problems,
                                PROBLEM_WARNING,
                                "MCP-I-TWICE",
                                import->path,
                                servers,
                                "Keep one of them.",
                                "\"%s\" is there twice; the servers of the one in line %u are passed over, "
                                "as the "
                                "client does.",
                                servers->key,
                                servers->hidden_line);
        if (import->client == CLIENT_MCPPROXY && servers && servers->type == JSON_ARRAY)
                return read_array(reader, servers);
        if (!servers && json_get(document, "command"))
                return read_bare(reader, document);
        r = read_object(reader, servers);
        /* Whatever client was named: nothing else has them beside "mcpServers". */
        if (r >= 0 && streq(info->key, "mcpServers"))
                r = read_projects(reader, json_get(document, "projects"));
        return r;
}

/* Settings that hold for every server of the client, and have no counterpart here. */
static void note_common(ClientImport *import) {
        static const struct {
                Client client;
                const char *key, *remedy;
        } table[] = {
                { CLIENT_MCPPROXY,
                  "docker_isolation",
                  "Every server is confined unless it says otherwise." },
                { CLIENT_MCPPROXY, "environment", "Set variables in \"env\" of each server." },
                { CLIENT_ZED, "context_server_timeout", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const JsonValue *v = json_get(import->document, table[i].key);

                if (v && table[i].client == import->client)
                        problem_add_key(&import->problems,
                                        PROBLEM_NOTE,
                                        "MCP-I-COMMON",
                                        import->path,
                                        v,
                                        table[i].remedy,
                                        "\"%s\" is about all servers of %s and is not imported.",
                                        table[i].key,
                                        client_info(import->client)->title);
        }
}

/* Two scopes of one file may have the same name, and MCPProxy's array, too. */
static void find_twins(ClientImport *import) {
        for (size_t i = 0; i < import->n_servers; i++)
                for (size_t k = 0; k < i; k++) {
                        ClientServer *a = import->servers + k, *b = import->servers + i;

                        if (b->fate != SERVER_OURS || a->fate != SERVER_OURS || !streq(a->name, b->name))
                                continue;
                        problem_add(&b->problems,
                                    PROBLEM_ERROR,
                                    "MCP-I-COLLISION",
                                    import->path,
                                    b->value,
                                    "Rename one of them, and import again.",
                                    "Another entry is called \"%.64s\", too (line %u).",
                                    b->name,
                                    a->value->line);
                        b->fate = SERVER_BROKEN;
                        break;
                }
}

static bool looks_like_toml(const char *text, size_t size, const char *path, Client client) {
        size_t i = 0;

        if (client >= 0)
                return client_info(client)->format == FORMAT_TOML;
        if (endswith(path, ".toml"))
                return true;
        while (i < size && memchr(" \t\r\n", text[i], 4))
                i++;
        /* "[name" starts a table; a JSON array of names has a quote, and no client's file is one. */
        return i + 1 < size && text[i] == '[' && (text[i + 1] == 'm' || text[i + 1] == '"') &&
               !endswith(path, ".json");
}

static int parse_document(ClientImport *import, Client client) {
        JsonError e = {};
        bool toml = looks_like_toml(import->text, import->size, import->path, client);
        int r;

        if (toml)
                r = toml_parse(import->text, import->size, &import->document, NULL, &e);
        else
                r = json_parse(import->text, import->size, JSON_RELAXED | JSON_LARGE, &import->document, &e);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                problem_add_at(&import->problems,
                               PROBLEM_ERROR,
                               toml ? "MCP-I-TOML" : "MCP-I-JSON",
                               import->path,
                               e.line,
                               e.column,
                               NULL,
                               NULL,
                               "%s.",
                               e.message);
        else if (import->document->type != JSON_OBJECT)
                problem_add(&import->problems,
                            PROBLEM_ERROR,
                            "MCP-I-TYPE",
                            import->path,
                            import->document,
                            NULL,
                            "A client's configuration must be an object, not %s.",
                            json_type_to_string(import->document->type));
        else
                return 1;
        return 0;
}

static int import_parse(ClientImport *import, Client client, const ImportContext *context) {
        EntryReader reader = {
                .import = import,
                .context = context,
                .workspace = context ? context->workspace : NULL,
        };
        int r;

        r = parse_document(import, client);
        if (r <= 0)
                return r;
        import->client = client >= 0 ? client : client_detect(import->document, import->path);
        if (import->client < 0) {
                problem_add(&import->problems,
                            PROBLEM_ERROR,
                            "MCP-I-SHAPE",
                            import->path,
                            import->document,
                            "Servers are looked for below \"mcpServers\" (most clients), \"servers\" (VS "
                            "Code), "
                            "\"context_servers\" (Zed), \"mcp\" (OpenCode) and [mcp_servers] (Codex): look "
                            "for the "
                            "file that has one of them, or name the client with --from.",
                            "This is no client's configuration that is known here.");
                return 0;
        }
        r = read_servers(&reader);
        if (r < 0)
                return r;
        note_common(import);
        find_twins(import);
        if (import->n_servers == 0 && !problem_list_has_errors(&import->problems))
                problem_add(&import->problems,
                            PROBLEM_WARNING,
                            "MCP-I-NO-SERVERS",
                            import->path,
                            NULL,
                            NULL,
                            "There are no servers in this file of %s.",
                            client_info(import->client)->title);
        return import->problems.failed ? -ENOMEM : 0;
}

int client_import_parse(
                const char *text,
                size_t size,
                const char *path,
                Client client,
                const ImportContext *context,
                ClientImport *ret) {
        _cleanup_client_import_ ClientImport import = { .client = client };
        int r;

        import.path = strdup(path);
        import.text = malloc(size + 1);
        if (!import.path || !import.text)
                return -ENOMEM;
        memcpy(import.text, text, size);
        import.text[size] = '\0';
        import.size = size;
        r = import_parse(&import, client, context);
        if (r < 0)
                return r;
        *ret = import;
        import = (ClientImport){};
        return 0;
}
