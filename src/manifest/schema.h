/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The manifest's schema as data, and the one function that holds a JSON value against it. What an object may contain
 * is said here and nowhere else; what members mean together is rules.h. */

#include "basic/json.h"
#include "manifest/reporter.h"

typedef enum FieldFlags {
        FIELD_REQUIRED = 1 << 0,
        FIELD_NULLABLE = 1 << 1,  /* null is the same as absent: exactly where nono's parser takes it */
        FIELD_NOT_EMPTY = 1 << 2, /* a string of at least one character */
} FieldFlags;

typedef struct ObjectShape ObjectShape;
typedef struct Field Field;

/* A member of an object, or (key NULL) what every element of an array has to be. */
struct Field {
        const char *key;
        JsonType type;
        unsigned flags;      /* FieldFlags */
        const char *example; /* of a required string: what a message says to write; NULL: nothing special */
        const char *const *values; /* of a string: the only ones, NULL-terminated */
        uint64_t min, max;         /* of an integer */
        size_t exact_items;        /* of an array: neither more nor fewer; 0: any number */
        size_t max_items;          /* of an array: our own cap; 0: none */
        const Field *element;      /* of an array */
        const ObjectShape *object; /* of an object */
};

struct ObjectShape {
        const char *pointer; /* where such an object stands, for hints: "/filesystem/grants/N" */
        const Field *fields;
        size_t n_fields;
        bool closed; /* an unknown key is an error, as nono has it for resources */
};

extern const ObjectShape manifest_shape;

/* The enumerations, in the order of their values. */
enum { NETWORK_VALUE_BLOCKED, NETWORK_VALUE_PROXY, NETWORK_VALUE_UNRESTRICTED };
enum { PROCESS_VALUE_ISOLATED, PROCESS_VALUE_SAME_SANDBOX, PROCESS_VALUE_ALL };
enum { IPC_VALUE_SHARED_MEMORY, IPC_VALUE_FULL };
enum { EXEC_VALUE_DIRECT, EXEC_VALUE_MONITOR, EXEC_VALUE_SUPERVISED };
enum { INJECT_VALUE_HEADER, INJECT_VALUE_URL_PATH, INJECT_VALUE_QUERY_PARAM, INJECT_VALUE_BASIC_AUTH };
extern const char *const access_values[]; /* GrantAccess */
extern const char *const type_values[];   /* "file", "directory" */
extern const char *const network_values[];
extern const char *const process_values[]; /* signal_mode and process_info_mode */
extern const char *const ipc_values[];
extern const char *const exec_values[];
extern const char *const inject_values[];

/* Reports everything in v that does not fit the schema. */
void manifest_check_shape(const JsonValue *v, Reporter *r);

/* Reading members that may be absent, null or of a wrong type (which was reported then): all of these take NULL. */
const JsonValue *manifest_member(
                const JsonValue *v, const char *key, JsonType type); /* NULL: not there as that type */
bool manifest_integer(const JsonValue *v, uint64_t *ret); /* false: not an integer from 0 to UINT64_MAX */
/* The value's place in the table; fallback where it is absent; -EINVAL where it is none of them. */
int manifest_enum(const JsonValue *v, const char *key, const char *const *values, int fallback);
