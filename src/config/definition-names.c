/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The readers of names: users, groups, variables. */

#include "basic/string-util.h"
#include "config/definition-read.h"
#include "config/env-policy.h"

/* systemd's strict rule (valid_user_group_name()): letters, digits, '_' and '-', no digit or '-' first, 31 bytes. Names
 * are looked up only when a client comes, since generators must not ask NSS. */
static bool user_name_is_valid(const char *s) {
        size_t n = strlen(s);

        if (n == 0 || n > 31 || strchr("-0123456789", s[0]))
                return false;
        for (; *s; s++)
                if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                      *s == '_' || *s == '-'))
                        return false;
        return true;
}

static bool check_user(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (!field_expect_string(reader, field, v))
                return false;
        if (user_name_is_valid(v->string))
                return true;
        complain(reader,
                 v,
                 "MCP-C-USER",
                 "Write a name as in /etc/passwd or /etc/group; numbers are not taken.",
                 "\"%.40s\" cannot be the name of a user or group.",
                 v->string);
        return false;
}

int field_read_user(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        if (check_user(reader, field, v))
                *(const char **) field_target(reader, field) = v->string;
        return 0;
}

int field_read_users(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        char ***l = field_target(reader, field);
        const JsonValue *item;
        int r;

        if (!field_expect(reader, field, v, JSON_ARRAY) || !field_expect_few(reader, v))
                return 0;
        /* An empty list reads as "nobody", but would be the default once it is stored. */
        if (v->n_items == 0)
                complain(reader,
                         v,
                         "MCP-C-EMPTY",
                         "Leave the key out for the group mcp, or set \"enabled\" to false to let nobody "
                         "in.",
                         "\"%s\" may not be empty.",
                         field->name);
        JSON_FOREACH (item, v) {
                if (!check_user(reader, field, item))
                        continue;
                r = strv_extend(l, item->string);
                if (r < 0)
                        return r;
        }
        return 0;
}

int field_read_accept_env(DefinitionReader *reader, const Field *field, const JsonValue *v) {
        char ***l = field_target(reader, field);
        const JsonValue *item;
        int r;

        if (!field_expect(reader, field, v, JSON_ARRAY) || !field_expect_few(reader, v))
                return 0;
        JSON_FOREACH (item, v) {
                const char *why;

                if (!field_expect_string(reader, field, item))
                        continue;
                why = env_refusal(item->string);
                if (!env_name_is_valid(item->string))
                        complain(reader,
                                 item,
                                 "MCP-C-VARIABLE",
                                 "Names have letters, digits and underscores, and no digit first; there are "
                                 "no patterns.",
                                 "\"%.64s\" is no name of an environment variable.",
                                 item->string);
                else if (why)
                        complain(reader,
                                 item,
                                 "MCP-C-ACCEPT-ENV",
                                 "Set it under \"env\" if the server needs it.",
                                 "A client may not pass %s through. %s",
                                 item->string,
                                 why);
                else if (!strv_contains(*l, item->string)) {
                        r = strv_extend(l, item->string);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}
