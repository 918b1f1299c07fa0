/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/secret.h"
#include "basic/string-util.h"
#include "clients/placeholder.h"

/* Whole words of a name, so that "KEYBOARD" and "AUTHOR" are none. */
static const char *const secret_words[] = {
        "TOKEN",  "TOKENS",      "KEY", "APIKEY",   "SECRET",     "SECRETS",    "PASS",
        "PASSWD", "PWD",         "PAT", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "AUTH",
        "BEARER", "CREDENTIALS", "DSN", "COOKIE",   NULL,
};

/* Names whose last word says that it is where the secret is, or what it is about. */
static const char *const harmless_last[] = {
        "FILE", "PATH", "DIR", "NAME", "ID", "URL", "URI", "TYPE", "METHOD", "ENDPOINT", "HOST", NULL,
};

static const char *const token_prefixes[] = {
        "ghp_",    "gho_",     "ghu_",  "ghs_",  "ghr_",        "github_pat_", "glpat-", "sk-",
        "sk_",     "rk_live",  "xoxb-", "xoxp-", "xoxa-",       "xapp-",       "AKIA",   "ASIA",
        "AIza",    "eyJ",      "npm_",  "hf_",   "pypi-",       "dop_v1_",     "SG.",    "ntn_",
        "secret_", "lin_api_", "figd_", "tvly-", "-----BEGIN ", "Bearer ",     NULL,
};

bool secret_name_matches(const char *name) {
        _cleanup_free_ char *plain = variable_from_text(name);
        _cleanup_strv_free_ char **words = NULL;
        size_t n;

        /* Out of memory: to be on the safe side. */
        if (!plain || strv_split(plain, "_", &words) < 0)
                return true;
        n = strv_length(words);
        if (n == 0 || (n > 1 && strv_contains((char *const *) harmless_last, words[n - 1])))
                return false;
        if (streq(plain, "PWD") || streq(plain, "OLDPWD"))
                return false;
        STRV_FOREACH (word, words)
                if (strv_contains((char *const *) secret_words, *word) || endswith(*word, "TOKEN") ||
                    endswith(*word, "SECRET") || endswith(*word, "PASSWORD") || endswith(*word, "APIKEY"))
                        return true;
        return false;
}

/* scheme://user:password@host */
static bool has_url_password(const char *s) {
        const char *start = strstr(s, "://"), *at, *colon;

        if (!start)
                return false;
        start += 3;
        at = memchr(start, '@', strcspn(start, "/?# \t"));
        colon = at ? memchr(start, ':', (size_t) (at - start)) : NULL;
        return colon && at - colon > 1 && !startswith(colon + 1, "${");
}

bool secret_value_matches(const char *value) {
        if (has_url_password(value))
                return true;
        for (const char *const *prefix = token_prefixes; *prefix; prefix++) {
                const char *rest = startswith(value, *prefix);

                /* "sk-" alone is a word; a token goes on without a blank. */
                if (rest && strlen(rest) >= 12)
                        return true;
        }
        return false;
}

/* Does value refer to a variable, without a default? Then the secret is elsewhere already. */
static bool is_reference(const char *value) {
        return strstr(value, "${") && !strstr(value, ":-");
}

/* A variable that stands for value: wish, or one with the server's name in front where another secret has it. */
static int choose_variable(
                const ClientServer *s, const char *wish, const char *value, char ***taken, char **ret) {
        _cleanup_free_ char *longer = NULL, *variable = NULL;
        const char *name = wish, *other;

        for (unsigned i = 1; (other = env_get(*taken, name)) && !streq(other, value); i++) {
                _cleanup_free_ char *text = i == 1 ? strformat("%s %s", s->name, wish)
                                                   : strformat("%s %s %u", s->name, wish, i);

                free(longer);
                longer = text ? variable_from_text(text) : NULL;
                if (!longer)
                        return -ENOMEM;
                name = longer;
        }
        variable = strdup(name);
        if (!variable || env_set(taken, name, value) < 0)
                return -ENOMEM;
        *ret = TAKE_PTR(variable);
        return 0;
}

static void find_in_env(ClientServer *s) {
        for (size_t i = 0; i < s->n_env; i++) {
                ServerVariable *v = s->env + i;

                v->secret = !isempty(v->value) && !is_reference(v->value) &&
                            (v->secret || secret_name_matches(v->name) || secret_value_matches(v->value));
        }
}

static int note_argument(
                ClientServer *s,
                size_t index,
                const char *wish,
                const char *value,
                size_t prefix,
                char ***taken) {
        _cleanup_free_ char *variable = NULL, *replacement = NULL, *text = NULL, *plain = NULL;
        SecretArgument *grown;
        int r;

        text = strformat("%s %s", s->name, wish + strspn(wish, "-"));
        plain = text ? variable_from_text(text) : NULL;
        if (!plain)
                return -ENOMEM;
        r = choose_variable(s, plain, value, taken, &variable);
        if (r < 0)
                return r;
        replacement = strformat("%.*s${%s}", (int) prefix, s->args[index], variable);
        grown = reallocarray(s->secret_args, s->n_secret_args + 1, sizeof(*grown));
        if (grown)
                s->secret_args = grown;
        if (!replacement || !grown)
                return -ENOMEM;
        grown[s->n_secret_args++] = (SecretArgument){ .index = index,
                                                      .variable = TAKE_PTR(variable),
                                                      .replacement = TAKE_PTR(replacement) };
        return 0;
}

/* "--api-key VALUE", "--api-key=VALUE", "NAME_TOKEN=VALUE" (after docker's -e), and what looks like a token. */
static int find_in_argument(ClientServer *s, size_t i, char ***taken) {
        const char *arg = s->args[i], *equals = strchr(arg, '='), *before = i > 0 ? s->args[i - 1] : "";
        _cleanup_free_ char *name = equals ? strndup(arg, (size_t) (equals - arg)) : NULL;
        size_t prefix = name ? strlen(name) + 1 : 0;

        if (equals && !name)
                return -ENOMEM;
        if (name && (arg[0] == '-' || env_name_is_valid(name)) && secret_name_matches(name) && equals[1] &&
            !is_reference(equals + 1))
                return note_argument(s, i, name, equals + 1, prefix, taken);
        if (is_reference(arg))
                return 0;
        if (arg[0] != '-' && *arg && startswith(before, "-") && !strchr(before, '=') &&
            secret_name_matches(before))
                return note_argument(s, i, before, arg, 0, taken);
        if (secret_value_matches(arg))
                return note_argument(s, i, "SECRET", arg, 0, taken);
        if (equals && secret_value_matches(equals + 1))
                return note_argument(s, i, name, equals + 1, prefix, taken);
        return 0;
}

int client_server_find_secrets(ClientServer *s, char ***taken) {
        int r = 0;

        if (s->fate != SERVER_OURS)
                return 0;
        find_in_env(s);
        for (size_t i = 0; r >= 0 && i < strv_length(s->args); i++)
                r = find_in_argument(s, i, taken);
        return r;
}
