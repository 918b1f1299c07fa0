/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config/client-file.h"
#include "basic/string-util.h"
#include "config/definition-read.h"

void client_file_done(ClientFile *f) {
        for (size_t i = 0; i < f->n_entries; i++)
                free(f->entries[i].name);
        free(f->entries);
        free(f->path);
        json_free(f->document);
        global_isolation_done(&f->global);
        problem_list_done(&f->problems);
        problem_list_done(&f->global_problems);
        *f = (ClientFile){ .global.enabled = TRISTATE_UNSET };
}

/* docker_isolation's keys that restrict a container and nothing here. */
static const char *const container_limits[] = {
        "network_mode", "memory_limit", "cpu_limit", "extra_args", NULL
};
static const char *const container_keys[] = {
        "default_images",      "registry", "timeout", "log_driver", "log_max_size", "log_max_files",
        "enable_cache_volume", NULL
};

static void global_complain(
                ClientFile *f,
                ProblemLevel level,
                const JsonValue *v,
                const char *code,
                const char *remedy,
                const char *message) {
        problem_add_key(&f->global_problems,
                        level,
                        code,
                        f->path,
                        v,
                        remedy,
                        "\"%.64s\" %s",
                        v->key,
                        message);
}

static int read_global_mode(ClientFile *f, const JsonValue *v) {
        static const char *const modes[] = { "sandbox", "none", "docker", NULL };

        if (v->type != JSON_STRING || strlen(v->string) != v->string_length) {
                global_complain(f, PROBLEM_ERROR, v, "MCP-C-TYPE", NULL, "must be a string.");
                return 0;
        }
        if (isempty(v->string))
                return 0;
        if (!strv_contains((char *const *) modes, v->string))
                global_complain(f,
                                PROBLEM_ERROR,
                                v,
                                "MCP-C-VALUE",
                                NULL,
                                "must be one of \"sandbox\", \"none\", \"docker\".");
        return free_and_strdup(&f->global.mode, v->string);
}

static int read_global_member(ClientFile *f, const JsonValue *v) {
        if (v->type == JSON_NULL)
                return 0;
        if (streq(v->key, "mode"))
                return read_global_mode(f, v);
        if (streq(v->key, "enabled")) {
                if (v->type == JSON_BOOLEAN)
                        f->global.enabled = v->boolean ? TRISTATE_YES : TRISTATE_NO;
                else
                        global_complain(f, PROBLEM_ERROR, v, "MCP-C-TYPE", NULL, "must be true or false.");
        } else if (strv_contains((char *const *) container_limits, v->key))
                global_complain(f,
                                PROBLEM_WARNING,
                                v,
                                "MCP-C-IGNORED",
                                "Set limits and network for each server.",
                                "is for docker mode and limits nothing here.");
        else if (strv_contains((char *const *) container_keys, v->key))
                global_complain(f,
                                PROBLEM_NOTE,
                                v,
                                "MCP-C-IGNORED",
                                NULL,
                                "is for docker mode and has no effect here.");
        else
                global_complain(f,
                                PROBLEM_ERROR,
                                v,
                                "MCP-C-UNKNOWN-KEY",
                                "Known here are \"mode\" and \"enabled\".",
                                "is no key of \"docker_isolation\".");
        return 0;
}

static int read_global(ClientFile *f) {
        const JsonValue *v = json_get(f->document, "docker_isolation"), *item;
        int r;

        if (!v || v->type == JSON_NULL)
                return 0;
        if (v->type != JSON_OBJECT) {
                global_complain(f, PROBLEM_ERROR, v, "MCP-C-TYPE", NULL, "must be an object.");
                return 0;
        }
        f->global.present = true;
        r = free_and_strdup(&f->global.file, f->path);
        if (r < 0)
                return r;
        JSON_FOREACH (item, v) {
                r = read_global_member(f, item);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The name of an entry, or NULL after having complained. */
static const char *entry_name(ClientFile *f, const JsonValue *v) {
        const JsonValue *name;

        if (f->dialect != DIALECT_MCPPROXY)
                return v->key;
        name = json_get(v, "name");
        if (name && name->type == JSON_STRING && name->string_length > 0 &&
            strlen(name->string) == name->string_length)
                return name->string;
        problem_add(&f->problems,
                    PROBLEM_ERROR,
                    "MCP-C-NAME",
                    f->path,
                    name ?: v,
                    "Add \"name\".",
                    "An entry of \"mcpServers\" must be an object with a \"name\" that is a string.");
        return NULL;
}

static int compare_entries(const void *a, const void *b) {
        return strcmp(((const ClientEntry *) a)->name, ((const ClientEntry *) b)->name);
}

static void find_twins(ClientFile *f) {
        for (size_t i = 1; i < f->n_entries; i++) {
                ClientEntry *a = f->entries + i - 1, *b = a + 1;

                if (!streq(a->name, b->name))
                        continue;
                a->twice = b->twice = true;
                problem_add(&f->problems,
                            PROBLEM_ERROR,
                            "MCP-C-COLLISION",
                            f->path,
                            b->value,
                            "Rename one of them.",
                            "Two entries are called \"%.64s\"; the other is in line %u.",
                            b->name,
                            a->value->line);
        }
}

static int read_entries(ClientFile *f, const JsonValue *servers) {
        const JsonValue *item;

        f->entries = calloc(MAX(servers->n_items, (size_t) 1), sizeof(ClientEntry));
        if (!f->entries)
                return -ENOMEM;
        JSON_FOREACH (item, servers) {
                const char *name = entry_name(f, item);

                if (!name)
                        continue;
                f->entries[f->n_entries].value = item;
                f->entries[f->n_entries].name = strdup(name);
                if (!f->entries[f->n_entries].name)
                        return -ENOMEM;
                f->n_entries++;
        }
        qsort(f->entries, f->n_entries, sizeof(ClientEntry), compare_entries);
        find_twins(f);
        return 0;
}

static int read_servers(ClientFile *f) {
        const JsonValue *mcp = json_get(f->document, "mcpServers"), *code = json_get(f->document, "servers");
        const JsonValue *servers = mcp ?: code;

        if (mcp && code)
                problem_add_key(&f->problems,
                                PROBLEM_ERROR,
                                "MCP-C-TWICE",
                                f->path,
                                code,
                                "Keep one of them.",
                                "The file has \"mcpServers\" and \"servers\"; only the former are read.");
        if (!servers || servers->type == JSON_NULL)
                return 0;
        if (servers->type == JSON_OBJECT)
                f->dialect = mcp ? DIALECT_CLIENT : DIALECT_VSCODE;
        else if (servers->type == JSON_ARRAY && mcp)
                f->dialect = DIALECT_MCPPROXY;
        else {
                problem_add(&f->problems,
                            PROBLEM_ERROR,
                            "MCP-C-TYPE",
                            f->path,
                            servers,
                            NULL,
                            mcp ? "\"mcpServers\" must be an object, or MCPProxy's array."
                                : "\"servers\" must be an object.");
                return 0;
        }
        return read_entries(f, servers);
}

/* Shapes of clients whose servers stand elsewhere in the file: nothing would be read, without a word. */
static void check_shape(ClientFile *f) {
        static const char *const ours[] = { "mcpServers", "servers", "docker_isolation", NULL };
        static const char *const elsewhere[] = { "context_servers", "mcp",     "projects",
                                                 "mcp_servers",     "command", NULL };
        const JsonValue *item;
        bool known = f->document->n_items == 0;

        JSON_FOREACH (item, f->document) {
                const char *near;

                if (strv_contains((char *const *) ours, item->key)) {
                        known = true;
                        continue;
                }
                near = string_nearest(item->key, ours);
                if (near)
                        problem_add_key(&f->problems,
                                        PROBLEM_ERROR,
                                        "MCP-C-UNKNOWN-KEY",
                                        f->path,
                                        item,
                                        "Correct it.",
                                        "\"%.64s\" is probably meant to be \"%s\".",
                                        item->key,
                                        near);
                else if (strv_contains((char *const *) elsewhere, item->key) &&
                         (!f->entries || streq(item->key, "projects")))
                        problem_add_key(&f->problems,
                                        PROBLEM_WARNING,
                                        "MCP-C-SHAPE",
                                        f->path,
                                        item,
                                        "Use \"mcpctl import\" on the original file.",
                                        "Servers below \"%s\" are not read from here.",
                                        item->key);
                else
                        continue;
                known = true;
        }
        if (!known)
                problem_add(&f->problems,
                            PROBLEM_WARNING,
                            "MCP-C-SHAPE",
                            f->path,
                            f->document,
                            "Put the servers below \"mcpServers\".",
                            "The file has neither \"mcpServers\" nor \"servers\", so no server is read from "
                            "it.");
}

static bool is_blank(const char *text, size_t size) {
        while (size > 0 && memchr(" \t\r\n", text[size - 1], 4))
                size--;
        return size == 0;
}

int client_file_parse(const char *text, size_t size, const char *path, ClientFile *ret) {
        _cleanup_client_file_ ClientFile f = { .dialect = DIALECT_CLIENT, .global.enabled = TRISTATE_UNSET };
        JsonError e = {};
        int r;

        f.path = strdup(path);
        if (!f.path)
                return -ENOMEM;
        if (!is_blank(text, size)) {
                r = json_parse(text, size, JSON_RELAXED, &f.document, &e);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        problem_add_json(&f.problems, path, r, &e);
                else if (f.document->type != JSON_OBJECT)
                        problem_add(&f.problems,
                                    PROBLEM_ERROR,
                                    "MCP-C-TYPE",
                                    path,
                                    f.document,
                                    NULL,
                                    "A client's configuration must be an object.");
                else {
                        r = read_global(&f);
                        if (r >= 0)
                                r = read_servers(&f);
                        if (r < 0)
                                return r;
                        check_shape(&f);
                }
        }
        *ret = f;
        f = (ClientFile){};
        return 0;
}

const ClientEntry *client_file_find(const ClientFile *f, const char *name) {
        ClientEntry key = { .name = (char *) name };

        return f->n_entries == 0 ? NULL
                                 : bsearch(&key,
                                           f->entries,
                                           f->n_entries,
                                           sizeof(ClientEntry),
                                           compare_entries);
}

int client_entry_read(const ClientFile *f, const ClientEntry *e, Definition **ret, ProblemList *problems) {
        int r;

        if (e->twice)
                problem_add(problems,
                            PROBLEM_ERROR,
                            "MCP-C-COLLISION",
                            f->path,
                            e->value,
                            "Rename one of them.",
                            "Two entries of this file are called \"%.64s\".",
                            e->name);
        r = definition_read(f->document, e->value, e->name, f->path, f->dialect, ret, problems);
        if (r == -EINVAL || r == -ENAMETOOLONG)
                problem_add_name(problems, f->path, e->name, r);
        return r;
}
