/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* json-c writes, basic/json.h reads: what a peer sent is walked strictly, with its limits. */

#include "control/message.h"
#include "basic/json.h"
#include "basic/jsonc-util.h"
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
        json_object *root;
        int error;
} Writer;

static void writer_done(Writer *w) {
        jsonc_putp(&w->root);
}

static void put_member(Writer *w, json_object *object, const char *key, json_object *value) {
        if (jsonc_add(object, key, value) < 0)
                w->error = -ENOMEM;
}

/* Text that is not UTF-8 (a path, a server's output) is shown escaped rather than sent as broken JSON. */
static json_object *text_new(const char *s) {
        _cleanup_free_ char *escaped = NULL;

        if (string_is_utf8(s, strlen(s)))
                return json_object_new_string(s);
        escaped = string_escape_control(s);
        return escaped ? json_object_new_string(escaped) : NULL;
}

static void put_text(Writer *w, const char *key, const char *s) {
        if (s)
                put_member(w, w->root, key, text_new(s));
}

static void put_list(Writer *w, const char *key, char *const *list) {
        json_object *array;

        if (strv_length(list) == 0)
                return;
        array = json_object_new_array();
        put_member(w, w->root, key, array);
        if (!array)
                return;
        STRV_FOREACH (s, list)
                if (jsonc_append(array, text_new(*s)) < 0)
                        w->error = -ENOMEM;
}

static void writer_start(Writer *w) {
        *w = (Writer){ .root = json_object_new_object() };
        if (!w->root) {
                w->error = -ENOMEM;
                return;
        }
        put_member(w, w->root, "version", json_object_new_int(CONTROL_VERSION));
}

static int writer_finish(Writer *w, char **ret, size_t *ret_size) {
        const char *text;
        char *copy;
        size_t size;

        if (w->error < 0)
                return w->error;
        text = jsonc_to_text(w->root, &size);
        if (!text)
                return -ENOMEM;
        if (size > CONTROL_SIZE_MAX)
                return -E2BIG;
        copy = strndup(text, size);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        *ret_size = size;
        return 0;
}

static void put_env(Writer *w, char *const *env) {
        json_object *object = json_object_new_object();

        put_member(w, w->root, "env", object);
        if (!object)
                return;
        STRV_FOREACH (e, env) {
                const char *value = strchr(*e, '=');
                _cleanup_free_ char *name = NULL;

                if (!value) {
                        w->error = -EINVAL;
                        return;
                }
                if (!string_is_utf8(*e, strlen(*e))) {
                        w->error = -EILSEQ;
                        return;
                }
                name = strndup(*e, (size_t) (value - *e));
                if (!name) {
                        w->error = -ENOMEM;
                        return;
                }
                put_member(w, object, name, json_object_new_string(value + 1));
        }
}

int control_hello_encode(const ControlHello *h, char **ret, size_t *ret_size) {
        _cleanup_(writer_done) Writer w = {};

        writer_start(&w);
        if (w.error < 0)
                return w.error;
        put_text(&w, "client", h->client);
        if (h->env)
                put_env(&w, h->env);
        if (h->probe)
                put_member(&w, w.root, "probe", json_object_new_boolean(true));
        return writer_finish(&w, ret, ret_size);
}

static void put_starting(Writer *w, const ControlStatus *s) {
        put_text(w, "runner", s->runner);
        if (s->start_timeout_usec > 0)
                put_member(w,
                           w->root,
                           "start_timeout_usec",
                           json_object_new_int64(
                                           (int64_t) MIN(s->start_timeout_usec, (uint64_t) INT64_MAX)));
}

static void put_running(Writer *w, const ControlStatus *s) {
        put_text(w, "scope", s->scope);
        put_member(w, w->root, "isolated", json_object_new_boolean(s->isolated));
        put_list(w, "missing", s->missing);
}

static void put_end(Writer *w, const ControlStatus *s, char *const *stderr_tail) {
        put_text(w, "code", s->code);
        put_text(w, "reason", s->reason);
        put_member(w, w->root, "exit", json_object_new_int(s->exit_code));
        if (s->signal > 0)
                put_member(w, w->root, "signal", json_object_new_int(s->signal));
        put_list(w, "stderr", stderr_tail);
}

static int status_encode_with_tail(const ControlStatus *s, char *const *tail, char **ret, size_t *ret_size) {
        _cleanup_(writer_done) Writer w = {};

        writer_start(&w);
        if (w.error < 0)
                return w.error;
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
