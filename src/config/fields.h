/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The keys of a definition, one row each: the reader goes by this table, and so do the JSON Schema, the manual page and
 * the documentation, which the tests compare with it. A key that is not here is not read. */

#include "basic/json.h"
#include "config/problem.h"

typedef enum FieldGroup {
        FIELD_GROUP_TOP, /* the definition itself */
        FIELD_GROUP_ISOLATION,
        FIELD_GROUP_LIMITS,
        FIELD_GROUP_SESSIONS,
        FIELD_GROUP_STOP,
        FIELD_GROUP_ACCESS,
        _FIELD_GROUP_MAX,
} FieldGroup;
const char *field_group_to_string(
                FieldGroup group); /* the key of the object: "isolation" …; "" for the top */

typedef enum FieldFlags {
        FIELD_NULLABLE = 1 << 0, /* null means "not given" in our own files as well */
        FIELD_ALIAS = 1 << 1,    /* a second name; help says of what */
        FIELD_FOREIGN = 1 << 2,  /* MCPProxy's, for another isolation: accepted, listed as ignored */
} FieldFlags;

typedef struct DefinitionReader DefinitionReader; /* config/definition-read.h */
typedef struct Field Field;

/* Reads and checks v. Mistakes go to the reader's problems; -ENOMEM is the only error. */
typedef int (*FieldRead)(DefinitionReader *reader, const Field *field, const JsonValue *v);

struct Field {
        FieldGroup group;
        const char *name;
        const char *types;          /* JSON types by JSON Schema's names, with '|' between them */
        const char *default_text;   /* as people write it; NULL: none */
        const char *help;           /* one line */
        unsigned flags;             /* FieldFlags */
        const char *const *choices; /* the words it may be, NULL-terminated; NULL: any */
        uint64_t minimum, maximum;  /* of numbers, in the unit they are stored in; maximum 0: none */
        FieldRead read;
        size_t offset; /* of what it fills in, in Definition */
        int detail;    /* for read: RLIMIT_*, FieldGroup of an object … */
};

extern const Field field_table[];
extern const size_t field_table_size;

#define FIELD_FOREACH(f) for (const Field *f = field_table; f < field_table + field_table_size; f++)

/* NULL: no such key. Other clients' spellings ("transport", "httpUrl" …) find ours. */
const Field *field_find(FieldGroup group, const char *name);

/* The key of the group that was probably meant by name (basic/string-util.h's string_nearest), or NULL. */
const char *field_nearest(FieldGroup group, const char *name);

/* Keys of other programs' entries that have no effect here. */
typedef enum ForeignKind {
        FOREIGN_NONE,     /* not known */
        FOREIGN_HARMLESS, /* a note */
        FOREIGN_LIMIT,    /* it restricts something there and nothing here: a warning */
} ForeignKind;
ForeignKind foreign_key_kind(
                const char *name, const char **ret_remedy); /* ret_remedy: static, for FOREIGN_LIMIT */
