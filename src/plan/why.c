/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "plan/why.h"
#include "basic/jsonc-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/landlock-bits.h"
#include "plan/plan-internal.h"

typedef struct WhyContext {
        const Plan *plan;
        const Definition *d;
        const HostFacts *host;
        const WhyQuestion *q;
        Why *w;
} WhyContext;

void why_done(Why *w) {
        free(w->reason);
        free(w->line);
        free(w->pointer);
        free(w->note);
        free(w->refused);
        *w = (Why){};
}

static int answer(WhyContext *c, WhyAnswer value, const PathRule *rule, char *reason) {
        c->w->answer = value;
        c->w->rule = rule;
        c->w->reason = reason;
        return reason ? 0 : -ENOMEM;
}

/* Where a value goes, outermost key first; the last is an array (the value becomes an element of it) or a string. */
#define KEYS_MAX 3
typedef struct Place {
        const char *keys[KEYS_MAX]; /* the rest NULL */
        bool array;
} Place;

static char *place_pointer(const Place *place, size_t n) {
        _cleanup_free_ char *pointer = strdup("");

        for (size_t i = 0; i < n && pointer; i++) {
                char *longer = strformat("%s/%s", pointer, place->keys[i]);

                free(pointer);
                pointer = longer;
        }
        return TAKE_PTR(pointer);
}

/* The value inside of the keys that are not there yet. */
static char *place_line(const Place *place, size_t from, const char *value) {
        _cleanup_free_ char *line = place->array ? strformat("[%s]", value) : strdup(value);
        size_t n = 0;

        while (n < KEYS_MAX && place->keys[n])
                n++;
        for (size_t i = n; i > from && line; i--) {
                char *longer = strformat(
                                i > from + 1 ? "{ \"%s\": %s }" : "\"%s\": %s", place->keys[i - 1], line);

                free(line);
                line = longer;
        }
        return TAKE_PTR(line);
}

/* root: the object that the keys are of, as it is written now; NULL: it was not seen, and has all the keys, as a file that
 * says something about them would. value is consumed. */
static int suggest(WhyContext *c, const JsonValue *root, const Place *place, char *value) {
        _cleanup_free_ char *owned = value;
        const JsonValue *at = root;
        size_t n = 0;
        bool whole;

        if (!owned)
                return -ENOMEM;
        while (at && n < KEYS_MAX && place->keys[n]) {
                const JsonValue *next = json_get(at, place->keys[n]);

                if (!next)
                        break;
                at = next;
                n++;
        }
        if (!root)
                while (n < KEYS_MAX && place->keys[n])
                        n++;
        whole = n == KEYS_MAX || !place->keys[n];
        c->w->replace = at && (whole ? !place->array || at->type != JSON_ARRAY : at->type != JSON_OBJECT);
        c->w->pointer = place_pointer(place, n);
        if (whole && !c->w->replace)
                c->w->line = TAKE_PTR(owned);
        else if (!whole && c->w->replace) {
                _cleanup_free_ char *inner = place_line(place, n, owned);

                c->w->line = inner ? strformat("{ %s }", inner) : NULL;
        } else
                c->w->line = place_line(place, n, owned);
        return c->w->pointer && c->w->line ? 0 : -ENOMEM;
}

static int suggest_in_definition(WhyContext *c, const Place *place, char *value) {
        return suggest(c, c->d->entry, place, value);
}

static int suggest_in_manifest(WhyContext *c, const Place *place, char *value) {
        c->w->in_manifest = true;
        return suggest(c, c->d->isolation.manifest, place, value);
}

static int refuse(WhyContext *c, char *why) {
        c->w->refused = why;
        return why ? 0 : -ENOMEM;
}

static bool has_manifest(const WhyContext *c) {
        return c->d->isolation.manifest || c->d->isolation.manifest_path.value;
}

static const Protection *protection(const WhyContext *c, ProtectionId id) {
        return c->plan->protections + id;
}

/* As JSON writes it. NULL: out of memory. */
static char *json_quote(const char *s) {
        _cleanup_jsonc_ json_object *o = json_object_new_string(s);
        const char *text = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE) : NULL;

        return text ? strdup(text) : NULL;
}

static const char *access_word(unsigned access) {
        return access == ACCESS_WRITE ? "writing" : access == ACCESS_EXECUTE ? "executing" : "reading";
}

static int unconfined(WhyContext *c) {
        return answer(c,
                      WHY_ALLOWED,
                      NULL,
                      strformat("The server is not confined (mode %s, source %s), so nothing is denied.",
                                strempty(c->plan->isolation.mode),
                                isolation_source_to_string(c->plan->isolation.source)));
}

/* The deepest rule that covers path; with access: that grants it. A rule for a file covers nothing below. */
static const PathRule *find_rule(const Plan *p, const char *path, unsigned access) {
        const PathRule *found = NULL;

        for (size_t i = 0; i < p->n_rules; i++) {
                const PathRule *rule = p->rules + i;

                if (!rule->resolved || !path_startswith(path, rule->resolved) ||
                    (access && !(rule->access & access)) ||
                    (rule->flags & RULE_BUT_DEVICES && path_startswith(path, PLAN_DEVICES)) ||
                    (rule->flags & RULE_WANT_FILE && !path_equal(path, rule->resolved)))
                        continue;
                if (!found || strlen(rule->resolved) > strlen(found->resolved))
                        found = rule;
        }
        return found;
}

/* What a grant would name: the path where it is, else, to create something there, the nearest directory above that is. */
static int grant_target(WhyContext *c, const char *path, char **ret, PathFacts *facts) {
        _cleanup_free_ char *target = strdup(path);
        int r;

        if (!target)
                return -ENOMEM;
        for (;;) {
                char *slash;

                r = c->host->resolve(c->host->userdata, target, facts);
                if (r != -ENOENT || c->q->access != ACCESS_WRITE)
                        break;
                slash = strrchr(target, '/');
                if (!slash || streq(target, "/"))
                        break;
                slash[slash == target ? 1 : 0] = 0;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(target);
        return 0;
}

static const char *denied_by_manifest(const WhyContext *c, const char *path) {
        STRV_FOREACH (deny, c->plan->denies)
                if (path_startswith(path, *deny) || path_startswith(*deny, path))
                        return *deny;
        return NULL;
}

static int suggest_path(WhyContext *c, const char *path) {
        static const char *const words[] = {
                [ACCESS_READ] = "read",
                [ACCESS_EXECUTE] = "read",
                [ACCESS_WRITE] = "write",
        };
        _cleanup_free_ char *target = NULL, *quoted = NULL;
        _cleanup_path_facts_ PathFacts facts = {};
        const char *key, *deny;
        int r;

        r = grant_target(c, path, &target, &facts);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return refuse(c,
                              strformat("Nothing is granted that cannot be found: %s: %s.",
                                        path,
                                        STRERROR(r)));
        key = plan_key_to_the_house(c->host, facts.resolved, c->q->access);
        if (key)
                return refuse(c,
                              strformat("No definition may grant writing to %s: %s.", facts.resolved, key));
        deny = denied_by_manifest(c, facts.resolved);
        if (deny)
                return refuse(c,
                              strformat("The manifest denies %s, and a grant that touches it would be "
                                        "refused.",
                                        deny));
        quoted = json_quote(target);
        if (!quoted)
                return -ENOMEM;
        if (!streq(target, path)) {
                c->w->note = strformat("%s is not there: make it first, and it can be granted alone.", path);
                if (!c->w->note)
                        return -ENOMEM;
        }
        if (!has_manifest(c))
                return suggest_in_definition(
                                c, &(const Place){ { "isolation", "write" }, true }, TAKE_PTR(quoted));
        return suggest_in_manifest(
                        c,
                        &(const Place){ { "filesystem", "grants" }, true },
                        strformat("{ \"path\": %s, \"access\": \"%s\", \"type\": \"%s\" }",
                                  quoted,
                                  words[c->q->access],
                                  S_ISDIR(facts.mode) ? "directory" : "file"));
}

static int denied_path(WhyContext *c, const char *path) {
        const Protection *p = protection(
                        c, c->q->access == ACCESS_WRITE ? PROTECTION_FS_WRITE : PROTECTION_FS_READ);
        const PathRule *cover = find_rule(c->plan, path, 0);
        const char *word = access_word(c->q->access);
        int r;

        /* Without a manifest nobody asked for reads to be confined, and yet devices are. */
        if (p->state == PROTECTION_MISSING ||
            (p->state == PROTECTION_NOT_WANTED && !path_startswith(path, PLAN_DEVICES)))
                return answer(c,
                              WHY_NOT_ENFORCED,
                              cover,
                              strformat("No rule grants %s %s, but it is not prevented: %s",
                                        word,
                                        path,
                                        p->needs ?: "nobody asked for that."));
        r = answer(c,
                   WHY_DENIED,
                   cover,
                   cover ? strformat("The rule for %s (%s) does not grant %s.",
                                     cover->path,
                                     cover->source,
                                     word)
                         : strformat("No rule covers %s.", path));
        return r < 0 ? r : suggest_path(c, path);
}

static int why_path(WhyContext *c) {
        _cleanup_free_ char *path = NULL;
        const PathRule *rule;
        int r;

        if (!c->q->path || !path_is_absolute(c->q->path) ||
            (c->q->access != ACCESS_READ && c->q->access != ACCESS_WRITE && c->q->access != ACCESS_EXECUTE))
                return -EINVAL;
        if (!c->plan->confined)
                return unconfined(c);
        r = plan_resolve_future(c->host, c->q->path, &path);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && !(path = strdup(c->q->path)))
                return -ENOMEM;
        rule = find_rule(c->plan, path, c->q->access);
        if (!rule)
                return denied_path(c, path);
        return answer(c,
                      WHY_ALLOWED,
                      rule,
                      strformat("The rule for %s (%s) grants %s.",
                                rule->path,
                                rule->source,
                                access_word(c->q->access)));
}

static bool is_loopback(const char *host) {
        return streq(host, "localhost") || streq(host, "::1") || streq(host, "[::1]") ||
               startswith(host, "127.");
}

static bool has_port(const PortList *list, uint16_t port) {
        for (size_t i = 0; i < list->n_ports; i++)
                if (list->ports[i] == port)
                        return true;
        return false;
}

/* Strict refuses to start where a protection is missing, and port rules need Landlock's. */
static bool ports_enforceable(const WhyContext *c) {
        return c->host->landlock.handled_net & LL_NET_CONNECT_TCP;
}

static int suggest_port(WhyContext *c) {
        if (!has_manifest(c))
                return suggest_in_definition(
                                c,
                                &(const Place){ { "isolation", "network" }, false },
                                strdup("\"unrestricted\""));
        if (c->plan->strict && !ports_enforceable(c))
                return refuse(c,
                              strdup("Rules for ports need Landlock ABI 4 (Linux 6.7), and without it a "
                                     "strict server does "
                                     "not start."));
        return suggest_in_manifest(
                        c,
                        &(const Place){ { "network", "ports", "connect" }, true },
                        strformat("%u", c->q->port));
}

static int why_connect(WhyContext *c) {
        const Protection *p;
        int r;

        if (isempty(c->q->host) || c->q->port == 0)
                return -EINVAL;
        if (c->plan->network == NETWORK_MODE_UNRESTRICTED)
                return answer(c,
                              WHY_ALLOWED,
                              NULL,
                              strdup("The network is not restricted: neither hosts nor ports are "
                                     "filtered."));
        if (c->plan->network == NETWORK_MODE_BLOCKED) {
                p = protection(c, PROTECTION_NETWORK);
                if (p->state != PROTECTION_ENFORCED)
                        return answer(c,
                                      WHY_NOT_ENFORCED,
                                      NULL,
                                      strformat("The network is to be blocked, but it is not prevented: %s",
                                                strempty(p->needs)));
                r = answer(c,
                           WHY_DENIED,
                           NULL,
                           strformat("The network is blocked (%s).",
                                     has_manifest(c) ? "manifest /network/mode" : "isolation.network"));
                return r < 0 ? r : suggest_port(c);
        }
        if (has_port(&c->plan->connect_ports, c->q->port) &&
            (!c->plan->loopback_only || is_loopback(c->q->host)))
                return answer(c,
                              WHY_ALLOWED,
                              NULL,
                              strformat("The manifest grants TCP port %u%s.",
                                        c->q->port,
                                        c->plan->loopback_only ? " of this machine" : ", of any host"));
        p = protection(c, PROTECTION_TCP_CONNECT);
        if (p->state != PROTECTION_ENFORCED)
                return answer(c,
                              WHY_NOT_ENFORCED,
                              NULL,
                              strformat("TCP port %u is not granted, but it is not prevented: %s",
                                        c->q->port,
                                        strempty(p->needs)));
        r = answer(c,
                   WHY_DENIED,
                   NULL,
                   strformat("TCP port %u of %s is not among the ports that the manifest grants.",
                             c->q->port,
                             c->q->host));
        return r < 0 ? r : suggest_port(c);
}

static int suggest_socket(WhyContext *c, const char *path) {
        bool enforceable = c->host->landlock.handled_fs & LL_FS_RESOLVE_UNIX;
        _cleanup_path_facts_ PathFacts facts = {};
        _cleanup_free_ char *quoted = NULL;
        int r;

        r = c->host->resolve(c->host->userdata, path, &facts);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return refuse(c,
                              strformat("Nothing is granted that cannot be found: %s: %s.",
                                        path,
                                        STRERROR(r)));
        if (!enforceable && c->plan->strict)
                return refuse(c,
                              strdup("A list of sockets needs Landlock ABI 9 (Linux 7.1), and without it a "
                                     "strict server does not start."));
        c->w->note = enforceable ? strdup("Who answers there is outside of the sandbox, and does what it is "
                                          "asked.")
                                 : strdup("This kernel cannot hold it to that socket (Landlock ABI 9 can): "
                                          "every UNIX socket would be "
                                          "open, D-Bus among them.");
        quoted = json_quote(path);
        if (!quoted || !c->w->note)
                return -ENOMEM;
        return suggest_in_definition(
                        c, &(const Place){ { "isolation", "unix_sockets" }, true }, TAKE_PTR(quoted));
}

static int why_socket(WhyContext *c) {
        const Protection *p = protection(c, PROTECTION_UNIX_PATH);
        _cleanup_free_ char *path = NULL;
        const PathRule *rule = NULL;
        int r;

        if (!c->q->path || !path_is_absolute(c->q->path))
                return -EINVAL;
        r = plan_resolve_future(c->host, c->q->path, &path);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && !(path = strdup(c->q->path)))
                return -ENOMEM;
        if (p->state == PROTECTION_NOT_WANTED)
                return c->plan->unix_sockets == UNIX_ANY
                                       ? answer(c,
                                                WHY_ALLOWED,
                                                NULL,
                                                strdup("isolation.unix_sockets is \"any\"."))
                                       : unconfined(c);
        rule = c->plan->unix_sockets == UNIX_LIST ? find_rule(c->plan, path, ACCESS_UNIX) : NULL;
        if (rule)
                return answer(c,
                              WHY_ALLOWED,
                              rule,
                              strformat("The rule for %s (%s) grants it.", rule->path, rule->source));
        if (p->state != PROTECTION_ENFORCED)
                return answer(c,
                              WHY_NOT_ENFORCED,
                              NULL,
                              strformat("It is not granted, but it is not prevented: %s",
                                        strempty(p->needs)));
        r = answer(c,
                   WHY_DENIED,
                   NULL,
                   c->plan->unix_sockets == UNIX_LIST
                                   ? strdup("It is not in the list isolation.unix_sockets.")
                                   : strdup("UNIX sockets are refused by seccomp (isolation.unix_sockets is "
                                            "\"none\")."));
        return r < 0 ? r : suggest_socket(c, c->q->path);
}

int plan_why(const Plan *plan, const Definition *d, const HostFacts *host, const WhyQuestion *q, Why *ret) {
        static int (*const questions[])(WhyContext * c) = {
                [WHY_PATH] = why_path,
                [WHY_CONNECT] = why_connect,
                [WHY_SOCKET] = why_socket,
        };
        _cleanup_why_ Why w = {};
        WhyContext c = { .plan = plan, .d = d, .host = host, .q = q, .w = &w };
        int r;

        r = questions[q->kind](&c);
        if (r < 0)
                return r;
        *ret = w;
        w = (Why){};
        return 0;
}
