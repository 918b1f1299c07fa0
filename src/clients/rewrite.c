/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/rewrite.h"
#include "basic/jsonc-util.h"
#include "basic/string-util.h"
#include "clients/export.h"
#include "clients/rewrite-internal.h"

bool rewrite_drops(Client client, const char *key) {
        static const char *const keys[] = {
                "env",     "envFile",        "cwd",       "working_dir", "env_vars",
                "sandbox", "sandboxEnabled", "isolation", NULL
        };

        return strv_contains((char *const *) keys, key) ||
               (client == CLIENT_OPENCODE && streq(key, "environment"));
}

/* ["--user", "name"]: a JSON array of strings is TOML as well, but for the escapes. */
static int format_args(Rewriter *w, const char *name) {
        _cleanup_strv_free_ char **args = connect_arguments(w->scope, name), **quoted = NULL;
        bool toml = client_info(w->import->client)->format == FORMAT_TOML;
        _cleanup_free_ char *list = NULL;

        if (!args)
                return -ENOMEM;
        STRV_FOREACH (arg, args) {
                _cleanup_jsonc_ json_object *o = toml ? NULL : json_object_new_string(*arg);
                const char *text = o ? jsonc_to_text(o, NULL) : NULL;

                if (strv_consume(&quoted, toml ? toml_quote(*arg) : text ? strdup(text) : NULL) < 0)
                        return -ENOMEM;
        }
        list = strv_join(quoted, ", ");
        if (!list)
                return -ENOMEM;
        free(w->args);
        w->args = strformat("[%s]", list);
        return w->args ? 0 : -ENOMEM;
}

static bool is_rewritten(const JsonValue *v, const ClientServer *const *servers, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (servers[i]->value == v)
                        return true;
        return false;
}

static bool same_scalar(const JsonValue *a, const JsonValue *b) {
        return a->boolean == b->boolean && a->integer == b->integer && a->natural == b->natural &&
               memcmp(&a->real, &b->real, sizeof(a->real)) == 0 && a->string_length == b->string_length &&
               (a->string_length == 0 || memcmp(a->string, b->string, a->string_length) == 0);
}

/* Is everything outside of the rewritten entries what it was? */
static bool same_elsewhere(
                const JsonValue *a, const JsonValue *b, const ClientServer *const *servers, size_t n) {
        if (!streq_ptr(a->key, b->key) || a->type != b->type)
                return false;
        if (is_rewritten(a, servers, n))
                return true;
        if (a->n_items != b->n_items || !same_scalar(a, b))
                return false;
        for (size_t i = 0; i < a->n_items; i++)
                if (!same_elsewhere(a->items[i], b->items[i], servers, n))
                        return false;
        return true;
}

static const ClientServer *find_twin(const ClientImport *import, const ClientServer *s) {
        for (size_t i = 0; i < import->n_servers; i++)
                if (streq(import->servers[i].name, s->name) &&
                    streq_ptr(import->servers[i].origin, s->origin))
                        return import->servers + i;
        return NULL;
}

/* Reads what came out, as the client will. */
static int verify(
                const ClientImport *import,
                const ImportContext *context,
                RuntimeScope scope,
                const ClientServer *const *servers,
                size_t n,
                const char *text) {
        _cleanup_client_import_ ClientImport again = {};
        int r;

        r = client_import_parse(text, strlen(text), import->path, import->client, context, &again);
        if (r < 0)
                return r;
        if (!again.document || !same_elsewhere(import->document, again.document, servers, n))
                return -EBADMSG;
        for (size_t i = 0; i < n; i++) {
                const ClientServer *s = find_twin(&again, servers[i]);
                _cleanup_strv_free_ char **args = connect_arguments(scope, servers[i]->name);

                if (!args)
                        return -ENOMEM;
                if (!s || s->fate != SERVER_ALREADY || !streq_ptr(s->command, CONNECT_PROGRAM) ||
                    strv_length(s->args) != strv_length(args) || s->n_env > 0)
                        return -EBADMSG;
                for (size_t k = 0; args[k]; k++)
                        if (!startswith(args[k], "${") && !strchr(args[k], '$') &&
                            !streq(args[k], s->args[k]))
                                return -EBADMSG;
        }
        return 0;
}

/* Positions of a TOML text need its spans, which the reader does not keep: it is parsed again, in the same order. */
static const JsonValue *twin_value(const JsonValue *root, const JsonValue *v) {
        const JsonValue *parent = v->parent ? twin_value(root, v->parent) : root;

        if (!v->parent || !parent || v->index >= parent->n_items)
                return v->parent ? NULL : root;
        return parent->items[v->index];
}

static int rewrite_all(Rewriter *w, const ClientServer *const *servers, size_t n) {
        bool toml = client_info(w->import->client)->format == FORMAT_TOML;
        _cleanup_json_ JsonValue *document = NULL;
        int r = 0;

        if (toml) {
                r = toml_parse(w->text, w->size, &document, &w->spans, NULL);
                if (r < 0)
                        return r == -ENOMEM ? r : -EBADMSG;
        }
        for (size_t i = 0; r >= 0 && i < n; i++) {
                const JsonValue *entry = toml ? twin_value(document, servers[i]->value) : servers[i]->value;

                r = entry ? format_args(w, servers[i]->name) : -EBADMSG;
                if (r >= 0)
                        r = toml ? rewrite_toml_entry(w, entry) : rewrite_json_entry(w, entry);
        }
        return r;
}

int client_rewrite(
                const ClientImport *import,
                const ImportContext *context,
                RuntimeScope scope,
                const ClientServer *const *servers,
                size_t n_servers,
                char **ret) {
        Rewriter w = { .import = import, .scope = scope, .text = import->text, .size = import->size };
        _cleanup_free_ char *out = NULL;
        int r;

        if (!client_info(import->client)->key || strlen(import->text) != import->size)
                return -EOPNOTSUPP;
        for (size_t i = 0; i < n_servers; i++)
                if (servers[i]->value == import->document)
                        return -EOPNOTSUPP;
        r = rewrite_all(&w, servers, n_servers);
        if (r >= 0) {
                r = text_edits_apply(&w.edits, w.text, w.size, &out);
                if (r == -EINVAL)
                        r = -EBADMSG;
        }
        text_edits_done(&w.edits);
        free(w.spans.items);
        free(w.args);
        if (r >= 0)
                r = verify(import, context, scope, servers, n_servers, out);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(out);
        return 0;
}
