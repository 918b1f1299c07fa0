/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the two formats share. */

#include "clients/rewrite.h"
#include "clients/text-edit.h"
#include "clients/toml.h"

typedef struct Rewriter {
        const ClientImport *import;
        RuntimeScope scope;
        const char *text;
        size_t size;
        TextEdits edits;
        TomlSpans spans; /* of a TOML text */
        char *args;      /* of the server at hand, as the format writes them */
} Rewriter;

typedef struct Range {
        size_t from, to;
} Range;

int rewrite_json_entry(Rewriter *w, const JsonValue *entry);
int rewrite_toml_entry(Rewriter *w, const JsonValue *entry);

/* Is it a key that says how the server was run? */
bool rewrite_drops(Client client, const char *key);

/* Where the value stands, and its key. -EBADMSG. */
int json_value_range(const Rewriter *w, const JsonValue *v, Range *ret);
int json_key_start(const Rewriter *w, const JsonValue *v, size_t *ret);

/* Edits members of one object with braces: those of drop go. For inline tables of TOML, too. */
typedef int (*RangeOf)(const Rewriter *w, const JsonValue *v, Range *ret);
int rewrite_members(
                Rewriter *w,
                const JsonValue *object,
                RangeOf range_of,
                const char *command_key,
                const char *command,
                const char *args_key,
                bool is_toml);
