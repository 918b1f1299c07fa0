/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Flat messages, written here: a library for them would be a sixth of mcp-connect's memory. basic/json.h reads: what a peer
 * sent is walked strictly, with its limits. */

#include "control/message.h"
#include "basic/json.h"
#include "basic/string-util.h"

static const char *const state_table[_CONTROL_STATE_MAX] = {
        [CONTROL_STARTING] = "starting",
        [CONTROL_RUNNING] = "running",
        [CONTROL_REFUSED] = "refused",
        [CONTROL_EXITED] = "exited",
};

const char *control_state_to_string(ControlState state) {
        return state >= 0 && state < _CONTROL_STATE_MAX ? state_table[state] : NULL;
}

ControlState control_state_from_string(const char *s) {
        for (size_t i = 0; i < ELEMENTSOF(state_table); i++)
                if (streq_ptr(s, state_table[i]))
                        return (ControlState) i;
        return _CONTROL_STATE_INVALID;
}

void control_hello_done(ControlHello *h) {
        free(h->client);
        strv_free(h->env);
        *h = (ControlHello){};
}

void control_status_done(ControlStatus *s) {
        free(s->session);
        free(s->scope);
        free(s->runner);
        strv_free(s->missing);
        free(s->code);
        free(s->reason);
        strv_free(s->stderr_tail);
        *s = (ControlStatus){};
}

/* Writing. The first failure sticks in w->error, so that callers check once. */

typedef struct Writer {
        char *text;
        size_t size, room;
        int error;
} Writer;

static void writer_done(Writer *w) {
        free(w->text);
        w->text = NULL;
}

static void put(Writer *w, const char *s, size_t n) {
        if (w->error < 0)
                return;
        if (w->size + n >= w->room) {
                size_t room = MAX(2 * w->room, w->size + n + 256);
                char *grown = realloc(w->text, room);

                if (!grown) {
                        w->error = -ENOMEM;
                        return;
                }
                w->text = grown;
                w->room = room;
        }
        memcpy(w->text + w->size, s, n);
        w->size += n;
}

/* UTF-8, as a JSON string (RFC 8259, 7). */
static void put_string(Writer *w, const char *s) {
        put(w, "\"", 1);
        for (; *s; s++) {
                char escaped[sizeof("\\u0000")];
                size_t plain = 0;

                while (s[plain] && s[plain] != '"' && s[plain] != '\\' && (unsigned char) s[plain] >= 0x20)
                        plain++;
                put(w, s, plain);
                s += plain;
                if (!*s)
                        break;
                put(w,
                    escaped,
                    (size_t) snprintf(
                                    escaped,
                                    sizeof(escaped),
                                    (unsigned char) *s < 0x20 ? "\\u%04x" : "\\%c",
                                    (unsigned char) *s));
        }
        put(w, "\"", 1);
}

/* Text that is not UTF-8 (a path, a server's output) is shown escaped rather than sent as broken JSON. */
static void put_shown(Writer *w, const char *s) {
        _cleanup_free_ char *escaped = NULL;

        if (string_is_utf8(s, strlen(s))) {
                put_string(w, s);
                return;
        }
        escaped = string_escape_control(s);
        if (escaped)
                put_string(w, escaped);
        else
                w->error = -ENOMEM;
}

static void put_comma(Writer *w) {
        if (w->size > 0 && !strchr("{[", w->text[w->size - 1]))
                put(w, ",", 1);
}

static void put_key(Writer *w, const char *key) {
        put_comma(w);
        put_string(w, key);
        put(w, ":", 1);
}

static void put_number(Writer *w, const char *key, uint64_t value) {
        char digits[sizeof("18446744073709551615")];

        put_key(w, key);
        put(w, digits, (size_t) snprintf(digits, sizeof(digits), "%llu", (unsigned long long) value));
}

static void put_boolean(Writer *w, const char *key, bool value) {
        put_key(w, key);
        put(w, value ? "true" : "false", value ? 4 : 5);
}

static void put_text(Writer *w, const char *key, const char *s) {
        if (!s)
                return;
        put_key(w, key);
        put_shown(w, s);
}

static void put_list(Writer *w, const char *key, char *const *list) {
        if (strv_length(list) == 0)
                return;
        put_key(w, key);
        put(w, "[", 1);
        STRV_FOREACH (s, list) {
                put_comma(w);
                put_shown(w, *s);
        }
        put(w, "]", 1);
}

static void writer_start(Writer *w) {
        put(w, "{", 1);
        put_number(w, "version", CONTROL_VERSION);
}

static int writer_finish(Writer *w, char **ret, size_t *ret_size) {
        put(w, "}", 1);
        put(w, "", 1);
        if (w->error < 0)
                return w->error;
        if (w->size - 1 > CONTROL_SIZE_MAX)
                return -E2BIG;
        *ret_size = w->size - 1;
        *ret = TAKE_PTR(w->text);
        return 0;
}

/* Of a name that is there twice the last value counts: a message with both would be refused. */
static bool is_set_again(char *const *later, const char *e, size_t with_equals) {
        STRV_FOREACH (l, later)
                if (strncmp(*l, e, with_equals) == 0)
                        return true;
        return false;
}

static void put_env(Writer *w, char *const *env) {
        put_key(w, "env");
        put(w, "{", 1);
        STRV_FOREACH (e, env) {
                const char *value = strchr(*e, '=');
                _cleanup_free_ char *name = NULL;

                if (!value || !string_is_utf8(*e, strlen(*e))) {
                        w->error = !value ? -EINVAL : -EILSEQ;
                        return;
                }
                if (is_set_again(e + 1, *e, (size_t) (value + 1 - *e)))
                        continue;
                name = strndup(*e, (size_t) (value - *e));
                if (!name) {
                        w->error = -ENOMEM;
                        return;
                }
                put_key(w, name);
                put_string(w, value + 1);
        }
        put(w, "}", 1);
}

int control_hello_encode(const ControlHello *h, char **ret, size_t *ret_size) {
        _cleanup_(writer_done) Writer w = {};

        writer_start(&w);
        put_text(&w, "client", h->client);
        if (h->env)
                put_env(&w, h->env);
        if (h->probe)
                put_boolean(&w, "probe", true);
        return writer_finish(&w, ret, ret_size);
}

static void put_starting(Writer *w, const ControlStatus *s) {
        put_text(w, "runner", s->runner);
        if (s->start_timeout_usec > 0)
                put_number(w, "start_timeout_usec", MIN(s->start_timeout_usec, (uint64_t) INT64_MAX));
}

static void put_running(Writer *w, const ControlStatus *s) {
        put_text(w, "scope", s->scope);
        put_boolean(w, "isolated", s->isolated);
        put_list(w, "missing", s->missing);
}

static void put_end(Writer *w, const ControlStatus *s, char *const *stderr_tail) {
        put_text(w, "code", s->code);
        put_text(w, "reason", s->reason);
        put_number(w, "exit", (uint64_t) s->exit_code);
        if (s->signal > 0)
                put_number(w, "signal", (uint64_t) s->signal);
        put_list(w, "stderr", stderr_tail);
}

static int status_encode_with_tail(const ControlStatus *s, char *const *tail, char **ret, size_t *ret_size) {
        _cleanup_(writer_done) Writer w = {};

        writer_start(&w);
        put_text(&w, "state", control_state_to_string(s->state));
        put_text(&w, "session", s->session);
        if (s->state == CONTROL_STARTING)
                put_starting(&w, s);
        else if (s->state == CONTROL_RUNNING)
                put_running(&w, s);
        else if (s->state == CONTROL_REFUSED || s->state == CONTROL_EXITED)
                put_end(&w, s, tail);
        return writer_finish(&w, ret, ret_size);
}

int control_status_encode(const ControlStatus *s, char **ret, size_t *ret_size) {
        char *const *tail = s->stderr_tail;
        int r;

        /* The newest lines are worth most. */
        while ((r = status_encode_with_tail(s, tail, ret, ret_size)) == -E2BIG && tail && *tail)
                tail++;
        return r;
}

/* Reading. */

static int parse(const char *text, size_t size, JsonValue **ret, int64_t *ret_version) {
        _cleanup_json_ JsonValue *root = NULL;
        const JsonValue *version;
        int r;

        if (size > CONTROL_SIZE_MAX)
                return -EBADMSG;
        r = json_parse(text, size, JSON_STRICT, &root, NULL);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return -EBADMSG;
        version = json_get(root, "version");
        if (!version || version->type != JSON_INTEGER)
                return -EBADMSG;
        if (ret_version)
                *ret_version = version->integer;
        if (version->integer != CONTROL_VERSION)
                return -EPROTONOSUPPORT;
        *ret = TAKE_PTR(root);
        return 0;
}

static int get_text(const JsonValue *object, const char *key, char **ret) {
        const JsonValue *v = json_get(object, key);

        if (!v)
                return 0;
        if (v->type != JSON_STRING || strlen(v->string) != v->string_length)
                return -EBADMSG;
        return free_and_strdup(ret, v->string);
}

static int get_bool(const JsonValue *object, const char *key, bool *ret) {
        const JsonValue *v = json_get(object, key);

        if (!v)
                return 0;
        if (v->type != JSON_BOOLEAN)
                return -EBADMSG;
        *ret = v->boolean;
        return 0;
}

static int get_number(const JsonValue *object, const char *key, int max, int *ret) {
        const JsonValue *v = json_get(object, key);

        if (!v)
                return 0;
        if (v->type != JSON_INTEGER || v->integer < 0 || v->integer > max)
                return -EBADMSG;
        *ret = (int) v->integer;
        return 0;
}

static int get_usec(const JsonValue *object, const char *key, uint64_t *ret) {
        const JsonValue *v = json_get(object, key);

        if (!v)
                return 0;
        if (v->type != JSON_INTEGER || v->integer < 0)
                return -EBADMSG;
        *ret = (uint64_t) v->integer;
        return 0;
}

static int get_list(const JsonValue *object, const char *key, char ***ret) {
        const JsonValue *v = json_get(object, key);
        _cleanup_strv_free_ char **list = NULL;
        JsonValue *item;
        int r;

        if (!v)
                return 0;
        if (v->type != JSON_ARRAY)
                return -EBADMSG;
        JSON_FOREACH (item, v) {
                if (item->type != JSON_STRING)
                        return -EBADMSG;
                r = strv_extend(&list, item->string);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(list);
        return 0;
}

static int get_env(const JsonValue *object, char ***ret) {
        const JsonValue *v = json_get(object, "env");
        _cleanup_strv_free_ char **env = NULL;
        JsonValue *item;
        int r;

        if (!v)
                return 0;
        if (v->type != JSON_OBJECT)
                return -EBADMSG;
        JSON_FOREACH (item, v) {
                if (!env_name_is_valid(item->key) || item->type != JSON_STRING ||
                    strlen(item->string) != item->string_length)
                        return -EBADMSG;
                r = strv_extendf(&env, "%s=%s", item->key, item->string);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(env);
        return 0;
}

int control_hello_decode(const char *text, size_t size, ControlHello *ret, int64_t *ret_version) {
        _cleanup_json_ JsonValue *root = NULL;
        _cleanup_(control_hello_done) ControlHello h = {};
        int r;

        r = parse(text, size, &root, ret_version);
        if (r >= 0)
                r = get_text(root, "client", &h.client);
        if (r >= 0)
                r = get_env(root, &h.env);
        if (r >= 0)
                r = get_bool(root, "probe", &h.probe);
        if (r < 0)
                return r;
        *ret = TAKE_GENERIC(h, ControlHello, (ControlHello){});
        return 0;
}

static int get_state(const JsonValue *object, ControlState *ret) {
        const JsonValue *v = json_get(object, "state");
        ControlState state;

        if (!v || v->type != JSON_STRING)
                return -EBADMSG;
        state = control_state_from_string(v->string);
        if (state < 0)
                return -EBADMSG;
        *ret = state;
        return 0;
}

int control_status_decode(const char *text, size_t size, ControlStatus *ret, int64_t *ret_version) {
        _cleanup_json_ JsonValue *root = NULL;
        _cleanup_(control_status_done) ControlStatus s = {};
        int r;

        r = parse(text, size, &root, ret_version);
        if (r >= 0)
                r = get_state(root, &s.state);
        if (r >= 0)
                r = get_text(root, "session", &s.session);
        if (r >= 0)
                r = get_text(root, "scope", &s.scope);
        if (r >= 0)
                r = get_text(root, "runner", &s.runner);
        if (r >= 0)
                r = get_usec(root, "start_timeout_usec", &s.start_timeout_usec);
        if (r >= 0)
                r = get_bool(root, "isolated", &s.isolated);
        if (r >= 0)
                r = get_list(root, "missing", &s.missing);
        if (r >= 0)
                r = get_text(root, "code", &s.code);
        if (r >= 0)
                r = get_text(root, "reason", &s.reason);
        if (r >= 0)
                r = get_number(root, "exit", 255, &s.exit_code);
        if (r >= 0)
                r = get_number(root, "signal", 64, &s.signal);
        if (r >= 0)
                r = get_list(root, "stderr", &s.stderr_tail);
        if (r < 0)
                return r;
        *ret = TAKE_GENERIC(s, ControlStatus, (ControlStatus){});
        return 0;
}
