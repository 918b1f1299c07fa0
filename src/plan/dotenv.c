/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "basic/string-util.h"
#include "plan/dotenv.h"

/* Takes the value apart, in place. NULL: a quote is not closed. */
static char *value_decode(char *s) {
        char *out = s, *o = s, quote = 0;

        if (*s == '"' || *s == '\'')
                quote = *s++;
        for (; *s && !(quote && *s == quote); s++) {
                if (!quote && *s == '#' && (s == out || isspace((unsigned char) s[-1])))
                        break;
                if (quote == '"' && *s == '\\' && s[1]) {
                        s++;
                        *o++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == 'r' ? '\r' : *s;
                } else
                        *o++ = *s;
        }
        if (quote && *s != quote)
                return NULL;
        while (!quote && o > out && isspace((unsigned char) o[-1]))
                o--;
        *o = 0;
        return out;
}

/* Splits a line into name and value, in place. false: no assignment. */
static bool line_split(char *line, char **ret_name, char **ret_value) {
        char *equals, *end;

        if (startswith(line, "export ")) {
                line += strlen("export ");
                line += strspn(line, " \t");
        }
        equals = strchr(line, '=');
        if (!equals)
                return false;
        for (end = equals; end > line && isspace((unsigned char) end[-1]); end--)
                ;
        *end = 0;
        *ret_name = line;
        *ret_value = value_decode(equals + 1 + strspn(equals + 1, " \t"));
        return *ret_value && env_name_is_valid(line);
}

int dotenv_parse(char *text, char ***env, unsigned **ret_bad_lines, size_t *ret_n_bad_lines) {
        _cleanup_free_ unsigned *bad = NULL;
        unsigned number = 0;
        size_t n_bad = 0;
        char *next;

        for (char *line = text; line; line = next) {
                char *name, *value;
                int r;

                number++;
                next = strchr(line, '\n');
                if (next)
                        *next++ = 0;
                line[strcspn(line, "\r")] = 0;
                line += strspn(line, " \t");
                if (*line == 0 || *line == '#')
                        continue;
                if (!line_split(line, &name, &value)) {
                        unsigned *grown = reallocarray(bad, n_bad + 1, sizeof(unsigned));

                        if (!grown)
                                return -ENOMEM;
                        bad = grown;
                        bad[n_bad++] = number;
                        continue;
                }
                r = env_set(env, name, value);
                if (r < 0)
                        return r;
        }
        *ret_bad_lines = TAKE_PTR(bad);
        *ret_n_bad_lines = n_bad;
        return 0;
}
