/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manifest/schema.h"

#include "manifest/manifest.h"

/* Source: nono's capability-manifest.schema.json, version 0.1.0, with null taken where nono's parser takes it. */

const char *const access_values[] = { "read", "write", "readwrite", NULL };
const char *const type_values[] = { "file", "directory", NULL };
const char *const network_values[] = { "blocked", "proxy", "unrestricted", NULL };
const char *const process_values[] = { "isolated", "allow_same_sandbox", "allow_all", NULL };
const char *const ipc_values[] = { "shared_memory_only", "full", NULL };
const char *const exec_values[] = { "direct", "monitor", "supervised", NULL };
const char *const inject_values[] = { "header", "url_path", "query_param", "basic_auth", NULL };

#define OPTIONAL_OBJECT(k, shape)                                                            \
        {                                                                                    \
                .key = (k), .type = JSON_OBJECT, .flags = FIELD_NULLABLE, .object = &(shape) \
        }
#define ARRAY(k, e)                                             \
        {                                                       \
                .key = (k), .type = JSON_ARRAY, .element = &(e) \
        }
#define STRING(k, f)                                          \
        {                                                     \
                .key = (k), .type = JSON_STRING, .flags = (f) \
        }
#define ENUM(k, f, table)                                                        \
        {                                                                        \
                .key = (k), .type = JSON_STRING, .flags = (f), .values = (table) \
        }
#define BOOLEAN(k)                               \
        {                                        \
                .key = (k), .type = JSON_BOOLEAN \
        }
#define SHAPE(p, table)                                                          \
        {                                                                        \
                .pointer = (p), .fields = (table), .n_fields = ELEMENTSOF(table) \
        }

static const Field any_string = STRING(NULL, 0);

/* ---- filesystem ---- */

static const Field grant_fields[] = {
        STRING("path", FIELD_REQUIRED | FIELD_NOT_EMPTY),
        ENUM("access", FIELD_REQUIRED, access_values),
        ENUM("type", 0, type_values),
};
static const ObjectShape grant_shape = SHAPE("/filesystem/grants/N", grant_fields);
static const Field grant = { .type = JSON_OBJECT, .object = &grant_shape };

static const Field deny_fields[] = { STRING("path", FIELD_REQUIRED | FIELD_NOT_EMPTY) };
static const ObjectShape deny_shape = SHAPE("/filesystem/deny/N", deny_fields);
static const Field deny = { .type = JSON_OBJECT, .object = &deny_shape };

static const Field filesystem_fields[] = {
        { .key = "grants", .type = JSON_ARRAY, .element = &grant, .max_items = MANIFEST_GRANTS_MAX },
        { .key = "deny", .type = JSON_ARRAY, .element = &deny, .max_items = MANIFEST_GRANTS_MAX },
};
static const ObjectShape filesystem_shape = SHAPE("/filesystem", filesystem_fields);

/* ---- network ---- */

static const Field rule_fields[] = {
        STRING("method", FIELD_REQUIRED | FIELD_NOT_EMPTY),
        STRING("path", FIELD_REQUIRED | FIELD_NOT_EMPTY),
};
static const ObjectShape rule_shape = SHAPE("/network/endpoints/N/rules/N", rule_fields);
static const Field rule = { .type = JSON_OBJECT, .object = &rule_shape };

static const Field endpoint_fields[] = {
        STRING("host", FIELD_REQUIRED | FIELD_NOT_EMPTY),
        ARRAY("rules", rule),
};
static const ObjectShape endpoint_shape = SHAPE("/network/endpoints/N", endpoint_fields);
static const Field endpoint = { .type = JSON_OBJECT, .object = &endpoint_shape };

static const Field port = { .type = JSON_INTEGER, .min = 1, .max = UINT16_MAX };
static const Field port_range = { .type = JSON_ARRAY, .element = &port, .exact_items = 2 };
static const Field ports_fields[] = {
        ARRAY("connect", port),
        ARRAY("bind", port),
        ARRAY("localhost", port),
        ARRAY("localhost_range", port_range),
};
static const ObjectShape ports_shape = SHAPE("/network/ports", ports_fields);

static const Field network_fields[] = {
        ENUM("mode", 0, network_values),
        ARRAY("allow_domains", any_string),
        ARRAY("endpoints", endpoint),
        OPTIONAL_OBJECT("ports", ports_shape),
        BOOLEAN("dns"),
};
static const ObjectShape network_shape = SHAPE("/network", network_fields);

/* ---- credentials ---- */

static const Field inject_fields[] = {
        ENUM("mode", 0, inject_values),
        STRING("header", 0),
        STRING("format", 0),
        STRING("path_pattern", FIELD_NULLABLE),
        STRING("path_replacement", FIELD_NULLABLE),
        STRING("query_param_name", FIELD_NULLABLE),
};
static const ObjectShape inject_shape = SHAPE("/credentials/N/inject", inject_fields);

static const Field credential_fields[] = {
        STRING("name", FIELD_REQUIRED | FIELD_NOT_EMPTY),
        STRING("upstream", FIELD_REQUIRED | FIELD_NOT_EMPTY),
        STRING("source", FIELD_REQUIRED | FIELD_NOT_EMPTY),
        OPTIONAL_OBJECT("inject", inject_shape),
        STRING("env_var", FIELD_NULLABLE | FIELD_NOT_EMPTY),
        ARRAY("endpoint_rules", rule),
};
static const ObjectShape credential_shape = SHAPE("/credentials/N", credential_fields);
static const Field credential = { .type = JSON_OBJECT, .object = &credential_shape };

/* ---- process, rollback, resources ---- */

static const Field process_fields[] = {
        ARRAY("allowed_commands", any_string),  ARRAY("blocked_commands", any_string),
        ENUM("signal_mode", 0, process_values), ENUM("process_info_mode", 0, process_values),
        ENUM("ipc_mode", 0, ipc_values),        ENUM("exec_strategy", 0, exec_values),
};
static const ObjectShape process_shape = SHAPE("/process", process_fields);

static const Field rollback_fields[] = {
        BOOLEAN("enabled"),
        ARRAY("exclude_patterns", any_string),
        ARRAY("exclude_globs", any_string),
};
static const ObjectShape rollback_shape = SHAPE("/rollback", rollback_fields);

static const Field resources_fields[] = {
        { .key = "memory_bytes",
          .type = JSON_INTEGER,
          .flags = FIELD_NULLABLE,
          .min = 1,
          .max = UINT64_MAX },
        { .key = "max_processes",
          .type = JSON_INTEGER,
          .flags = FIELD_NULLABLE,
          .min = 1,
          .max = UINT64_MAX },
};
static const ObjectShape resources_shape = {
        .pointer = "/resources",
        .fields = resources_fields,
        .n_fields = ELEMENTSOF(resources_fields),
        .closed = true,
};

/* ---- the whole ---- */

static const Field manifest_fields[] = {
        { .key = "version", .type = JSON_STRING, .flags = FIELD_REQUIRED, .example = "0.1.0" },
        STRING("$schema", FIELD_NULLABLE),
        OPTIONAL_OBJECT("filesystem", filesystem_shape),
        OPTIONAL_OBJECT("network", network_shape),
        ARRAY("credentials", credential),
        OPTIONAL_OBJECT("process", process_shape),
        OPTIONAL_OBJECT("rollback", rollback_shape),
        OPTIONAL_OBJECT("resources", resources_shape),
};
const ObjectShape manifest_shape = SHAPE("", manifest_fields);
