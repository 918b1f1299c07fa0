/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The readers of sizes, numbers and times. */

#include <sys/resource.h>

#include "basic/string-util.h"
#include "config/definition-read.h"
#include "config/quantity.h"

#define SIZE_REMEDY "Write bytes as a whole number, or a string such as \"512M\", \"2G\" or \"infinity\"."
#define DURATION_REMEDY \
        "Write seconds as a number, or a string such as \"30s\", \"1h30m\", \"5min\" or \"infinity\"."
#define CPU_REMEDY   "Write a share of one CPU such as \"150%\", or a number of CPUs such as 1.5."
#define COUNT_REMEDY "Write a whole number, or \"infinity\"."

static void complain_value(
                DefinitionReader *reader, const Field *field, const JsonValue *v, const char *remedy) {
        if (v->type == JSON_STRING)
                complain(reader,
                         v,
                         "MCP-C-VALUE",
                         remedy,
                         "\"%.40s\" is nothing that \"%s\" understands.",
                         v->string,
                         field->name);
        else
                complain(reader,
                         v,
                         v->type == JSON_INTEGER || v->type == JSON_REAL ? "MCP-C-RANGE" : "MCP-C-TYPE",
                         remedy,
                         "This is nothing that \"%s\" understands.",
                         field->name);
}

/* Is value within the field's bounds? */
static bool check_range(
                DefinitionReader *reader,
                const Field *field,
                const JsonValue *v,
                uint64_t value,
                const char *remedy) {
        bool infinity = value == LIMIT_INFINITY;

        if (value < field->minimum) {
                complain(reader, v, "MCP-C-RANGE", remedy, "This is too little for \"%s\".", field->name);
                return false;
        }
        if (field->maximum > 0 && value > field->maximum) {
                complain(reader,
                         v,
                         "MCP-C-RANGE",
                         remedy,
                         infinity ? "\"%s\" must have an end." : "This is too much for \"%s\".",
                         field->name);
                return false;
        }
        return true;
}

typedef int (*Parser)(const char *s, uint64_t *ret);

static int parse_whole(const char *s, uint64_t *ret) {
        size_t n = strlen(s);

        /* Nineteen digits always fit. */
        if (n == 0 || n > 19 || strspn(s, "0123456789") != n)
                return -EINVAL;
        *ret = strtoull(s, NULL, 10);
        return 0;
}

/* A string through parser, "infinity", or a number of unit. Returns false after having complained. */
static bool read_quantity(
                DefinitionReader *reader,
                const Field *field,
                const JsonValue *v,
                Parser parser,
                uint64_t unit,
                const char *remedy,
                uint64_t *ret) {
        uint64_t value;

        if (v->type == JSON_STRING && strlen(v->string) == v->string_length) {
                if (quantity_is_infinity(v->string))
                        value = LIMIT_INFINITY;
                else if (parser(v->string, &value) < 0) {
                        complain_value(reader, field, v, remedy);
                        return false;
                }
        } else if (v->type == JSON_INTEGER && v->integer >= 0) {
                if (__builtin_mul_overflow((uint64_t) v->integer, unit, &value) || value >= LIMIT_INFINITY) {
                        complain_value(reader, field, v, remedy);
                        return false;
                }
        } else if (v->type == JSON_REAL && unit > 1 && v->real >= 0 && v->real < 1e9)
                value = (uint64_t) (v->real * (double) unit + 0.5);
        else {
                complain_value(reader, field, v, remedy);
                return false;
        }
        *ret = value;
        return true;
}

static int read_to_target(
                DefinitionReader *reader,
                const Field *field,
                const JsonValue *v,
                Parser parser,
                uint64_t unit,
                const char *remedy) {
        uint64_t value;

        if (read_quantity(reader, field, v, parser, unit, remedy, &value) &&
            check_range(reader, field, v, value, remedy))
                *(uint64_t *) field_target(reader, field) = value;
        return 0;
}

int field_read_size(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        return read_to_target(reader, field, v, size_parse, 1, SIZE_REMEDY);
}

int field_read_count(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        return read_to_target(reader, field, v, parse_whole, 1, COUNT_REMEDY);
}

int field_read_cpu(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (v->type == JSON_INTEGER && v->integer >= 50)
                problem_add(reader->problems,
                            PROBLEM_WARNING,
                            "MCP-C-CPU",
                            reader->d->file,
                            v,
                            "Write \"150%\" for one and a half CPUs.",
                            "A plain number is a number of CPUs, and %lld are many.",
                            (long long) v->integer);
        return read_to_target(reader, field, v, cpu_parse, 1000, CPU_REMEDY);
}

int field_read_duration(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        uint64_t value;

        if (!read_quantity(reader, field, v, duration_parse, USEC_PER_SEC, DURATION_REMEDY, &value) ||
            !check_range(reader, field, v, value, DURATION_REMEDY))
                return 0;
        /* Fields that are no limits say USEC_INFINITY for "never". */
        if (value == LIMIT_INFINITY && field->group != FIELD_GROUP_LIMITS)
                value = USEC_INFINITY;
        *(uint64_t *) field_target(reader, field) = value;
        return 0;
}

int field_read_init_timeout(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        /* MCPProxy: nothing, zero and negative mean the default. */
        if (v->type == JSON_STRING && (isempty(v->string) || streq(v->string, "0") ||
                                       streq(v->string, "0s") || startswith(v->string, "-")))
                return 0;
        if (v->type == JSON_INTEGER && v->integer == 0)
                return 0;
        return read_to_target(
                        reader,
                        field,
                        v,
                        duration_parse,
                        USEC_PER_SEC,
                        "Write a time between \"1s\" and \"30m\".");
}

int field_read_unsigned(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect(reader, field, v, JSON_INTEGER))
                return 0;
        if (v->integer < (int64_t) field->minimum || v->integer > (int64_t) field->maximum) {
                complain(reader,
                         v,
                         "MCP-C-RANGE",
                         NULL,
                         "\"%s\" must be a whole number from %llu to %llu.",
                         field->name,
                         (unsigned long long) field->minimum,
                         (unsigned long long) field->maximum);
                return 0;
        }
        *(unsigned *) field_target(reader, field) = (unsigned) v->integer;
        return 0;
}

int field_read_rlimit(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        bool count = field->detail == RLIMIT_NOFILE || field->detail == RLIMIT_NPROC ||
                     field->detail == RLIMIT_CPU;
        Definition *d = reader->d;
        RlimitEntry *grown;
        uint64_t value;

        if (!read_quantity(reader,
                           field,
                           v,
                           count ? parse_whole : size_parse,
                           1,
                           count ? COUNT_REMEDY : SIZE_REMEDY,
                           &value))
                return 0;
        for (size_t i = 0; i < d->limits.n_rlimits; i++)
                if (d->limits.rlimits[i].resource == field->detail) {
                        d->limits.rlimits[i].value = value;
                        return 0;
                }
        grown = arena_grow(&d->arena, d->limits.rlimits, d->limits.n_rlimits, sizeof(RlimitEntry));
        if (!grown)
                return -ENOMEM;
        d->limits.rlimits = grown;
        grown[d->limits.n_rlimits++] =
                        (RlimitEntry){ .resource = field->detail, .name = field->name, .value = value };
        return 0;
}
