/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/stat.h>

#include "basic/errno-util.h"
#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/plan-load.h"
#include "sandbox/host-probe.h"
#include "supervisor/setup.h"

#define REASON_MAX 8192U

void refusal_done(Refusal *r) {
        free(r->reason);
        strv_free(r->stderr_tail);
        *r = (Refusal){};
}

void refusal_set(Refusal *r, const char *code, int exit_code, const char *format, ...) {
        char *reason;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&reason, format, ap) < 0)
                reason = NULL;
        va_end(ap);
        refusal_done(r);
        *r = (Refusal){ .code = code, .exit_code = exit_code, .reason = reason };
}

Setup *setup_new(void) {
        Setup *s = calloc(1, sizeof(*s));

        if (s)
                s->n_ref = 1;
        return s;
}

Setup *setup_ref(Setup *s) {
        s->n_ref++;
        return s;
}

Setup *setup_unref(Setup *s) {
        if (!s || --s->n_ref > 0)
                return NULL;
        definition_free(s->definition);
        plan_free(s->plan);
        sealed_plan_done(&s->sealed);
        sandbox_program_free(s->program);
        strv_free(s->missing);
        strv_free(s->warnings);
        free(s);
        return NULL;
}

/* What is missing is an event of its own (DEGRADED), with fields. */
static bool is_told_otherwise(const Problem *problem) {
        return streq(problem->code, "MCP-P-DEGRADED");
}

static int format_problems(const ProblemList *problems, ProblemLevel level, char ***ret) {
        for (size_t i = 0; i < problems->n_items; i++)
                if (problems->items[i].level == level && !is_told_otherwise(problems->items + i)) {
                        int r = strv_consume(ret, problem_format(problems->items + i));

                        if (r < 0)
                                return r;
                }
        return 0;
}

/* A command that cannot be executed is told by the codes that shells use, where nothing else is wrong. */
static int find_exit_code(const ProblemList *problems, int exit_code) {
        static const struct {
                const char *code;
                int exit_code;
        } table[] = {
                { "MCP-P-COMMAND-NOT-FOUND", EXIT_NOT_FOUND },
                { "MCP-P-COMMAND-NOT-EXECUTABLE", EXIT_NOT_EXECUTABLE },
        };
        int found = 0;

        for (size_t i = 0; i < problems->n_items; i++) {
                int this = exit_code;

                if (problems->items[i].level != PROBLEM_ERROR)
                        continue;
                for (size_t j = 0; j < ELEMENTSOF(table); j++)
                        if (streq(problems->items[i].code, table[j].code))
                                this = table[j].exit_code;
                if (found != 0 && found != this)
                        return exit_code;
                found = this;
        }
        return found != 0 ? found : exit_code;
}

static int refuse_problems(
                const ProblemList *problems,
                const char *code,
                int exit_code,
                const char *what,
                Refusal *ret) {
        _cleanup_strv_free_ char **lines = NULL;
        _cleanup_free_ char *text = NULL;

        if (format_problems(problems, PROBLEM_ERROR, &lines) >= 0)
                text = strv_join(lines, "\n");
        refusal_set(ret,
                    code,
                    find_exit_code(problems, exit_code),
                    "%s%s%.*s",
                    what,
                    isempty(text) ? "" : "\n",
                    (int) REASON_MAX,
                    strempty(text));
        return -ECANCELED;
}

#define refuse(ret, ...)                         \
        ({                                       \
                refusal_set((ret), __VA_ARGS__); \
                -ECANCELED;                      \
        })

static int load_definition(
                RuntimeScope scope,
                const char *instance,
                Definition **ret,
                GlobalIsolation *ret_global,
                ProblemList *problems,
                Refusal *refusal) {
        _cleanup_config_paths_ ConfigPaths paths = {};
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_free_ char *name = NULL;
        int r;

        r = server_name_unescape(instance, &name);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return refuse(refusal,
                              "MCP-R-UNKNOWN",
                              EXIT_DEFINITION,
                              "\"%s\" is not the unit name of a server; see systemctl list-sockets "
                              "'mcp-server@*'.",
                              instance);
        r = config_paths_init(scope, NULL, environ, &paths);
        if (r < 0)
                return refuse(refusal,
                              "MCP-R-DEFINITION",
                              EXIT_DEFINITION,
                              "Cannot tell where definitions are (neither HOME nor XDG_CONFIG_HOME is set): "
                              "%s.",
                              STRERROR(r));
        r = definition_load(&paths, name, &d, ret_global, problems);
        if (r == -ENOENT)
                return refuse(refusal,
                              "MCP-R-UNKNOWN",
                              EXIT_DEFINITION,
                              "There is no definition of a server \"%s\": no %s.json in %s, and no entry in "
                              "%s.",
                              name,
                              name,
                              paths.server_dirs[0],
                              paths.client_files[0]);
        if (r == -ERFKILL)
                return refuse(refusal,
                              "MCP-R-MASKED",
                              EXIT_DEFINITION,
                              "The server \"%s\" is masked.",
                              name);
        *ret = TAKE_PTR(d);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || problem_list_has_errors(problems) || !*ret)
                return refuse_problems(
                                problems,
                                "MCP-R-DEFINITION",
                                EXIT_DEFINITION,
                                "The server's definition is wrong.",
                                refusal);
        return 0;
}

static int check_switches(const Definition *d, Refusal *refusal) {
        if (!d->enabled)
                return refuse(refusal,
                              "MCP-R-DISABLED",
                              EXIT_DEFINITION,
                              "The server \"%s\" is disabled: set \"enabled\" to true in %s.",
                              d->name,
                              d->file);
        if (d->quarantined)
                return refuse(refusal,
                              "MCP-R-QUARANTINED",
                              EXIT_DEFINITION,
                              "The server \"%s\" is quarantined: somebody has to look at it and set "
                              "\"quarantined\" to "
                              "false in %s.",
                              d->name,
                              d->file);
        return 0;
}

/* User units have no StateDirectory= (before systemd 254 it is below ~/.config): the supervisor makes it. */
static int make_environment(RuntimeScope scope, const char *instance, char ***ret) {
        _cleanup_strv_free_ char **env = NULL;
        _cleanup_free_ char *directory = NULL;
        const char *base, *home;
        int r;

        env = strv_copy(environ);
        if (!env)
                return -ENOMEM;
        if (scope == RUNTIME_SCOPE_USER && !env_get(env, "STATE_DIRECTORY")) {
                base = env_get(env, "XDG_STATE_HOME");
                home = env_get(env, "HOME");
                if (!isempty(base) && path_is_absolute(base))
                        directory = strformat("%s/mcp/%s", base, instance);
                else if (!isempty(home) && path_is_absolute(home))
                        directory = strformat("%s/.local/state/mcp/%s", home, instance);
                else
                        return -ENXIO;
                if (!directory)
                        return -ENOMEM;
                r = mkdir_parents(directory, 0700);
                if (r < 0)
                        return r;
                r = env_set(&env, "STATE_DIRECTORY", directory);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(env);
        return 0;
}

/* The child becomes who owns the state directory, which the manager prepared for User= of the unit, dynamic or not.
 * Nothing is left to NSS, which knows dynamic users only where libnss-systemd is installed. */
static int find_identity(const Definition *d, HostProbe *probe, Refusal *refusal) {
        HostFacts *facts = &probe->facts;
        const char *name = getenv("USER");
        struct stat st;

        if (facts->scope != RUNTIME_SCOPE_SYSTEM)
                return 0;
        if (!facts->state_dir || stat(facts->state_dir, &st) < 0)
                return refuse(refusal,
                              "MCP-R-IDENTITY",
                              EXIT_CONFINEMENT,
                              "The server's user cannot be found: the unit has no state directory of its "
                              "own.");
        if (st.st_uid == 0 && !streq_ptr(d->user, "root"))
                return refuse(refusal,
                              "MCP-R-IDENTITY",
                              EXIT_CONFINEMENT,
                              "The server's user cannot be found: %s belongs to root.",
                              facts->state_dir);
        facts->uid = st.st_uid;
        facts->gid = st.st_gid;
        if (!isempty(name) && free_and_strdup(&probe->user_name, name) < 0)
                return -ENOMEM;
        facts->user_name = probe->user_name;
        return 0;
}

static int make_plan(
                Setup *s,
                const GlobalIsolation *global,
                const HostProbe *probe,
                ProblemList *problems,
                Refusal *refusal) {
        int r;

        r = plan_load(s->definition, global, &probe->facts, &s->plan, problems);
        if (r == -ENOMEM)
                return r;
        if (r == -EPERM)
                return refuse_problems(
                                problems,
                                "MCP-R-CONFINEMENT",
                                EXIT_CONFINEMENT,
                                "The server is not started, because it cannot be confined as it should be.",
                                refusal);
        if (r < 0)
                return refuse_problems(
                                problems,
                                "MCP-R-DEFINITION",
                                EXIT_DEFINITION,
                                "The server's definition cannot be run.",
                                refusal);
        return 0;
}

static int finish_setup(Setup *s, ProblemList *problems, Refusal *refusal) {
        int r;

        r = sandbox_prepare(s->plan, &s->program);
        if (errno_is_shortage(r))
                return r;
        if (r < 0)
                return refuse(refusal,
                              "MCP-R-CONFINEMENT",
                              EXIT_CONFINEMENT,
                              "The system call filter cannot be made: %s.",
                              STRERROR(r));
        r = plan_seal(s->plan, NULL, &s->sealed);
        if (r < 0)
                return r;
        for (size_t i = 0; i < _PROTECTION_MAX; i++)
                if (s->plan->protections[i].state == PROTECTION_MISSING) {
                        r = strv_extend(&s->missing, protection_to_string(s->plan->protections[i].id));
                        if (r < 0)
                                return r;
                }
        return format_problems(problems, PROBLEM_WARNING, &s->warnings);
}

/* The host, and whether something in it could not be looked at for now: what is made of that would be a wrong plan, or a
 * complaint about a definition that is right. */
typedef struct Watched {
        const HostFacts *host;
        int shortage; /* negative errno; 0: none */
} Watched;

static void watch_result(Watched *w, ssize_t r) {
        if (r < 0 && w->shortage == 0 && errno_is_shortage((int) r))
                w->shortage = (int) r;
}

static int watched_resolve(void *userdata, const char *path, PathFacts *ret) {
        Watched *w = userdata;
        int r = w->host->resolve(w->host->userdata, path, ret);

        watch_result(w, r);
        return r;
}

static ssize_t watched_read_head(void *userdata, const char *path, char *buffer, size_t size) {
        Watched *w = userdata;
        ssize_t n = w->host->read_head(w->host->userdata, path, buffer, size);

        watch_result(w, n);
        return n;
}

static int plan_for_host(
                Setup *s,
                const GlobalIsolation *global,
                HostProbe *probe,
                ProblemList *problems,
                Refusal *refusal) {
        const HostFacts host = probe->facts;
        Watched watched = { .host = &host };
        int r;

        probe->facts.resolve = watched_resolve;
        probe->facts.read_head = watched_read_head;
        probe->facts.userdata = &watched;
        r = find_identity(s->definition, probe, refusal);
        if (r < 0)
                return r;
        s->landlock_abi = probe->facts.landlock.abi;
        r = make_plan(s, global, probe, problems, refusal);
        return watched.shortage < 0 ? watched.shortage : r;
}

static int load(Setup *s,
                RuntimeScope scope,
                const char *instance,
                ProblemList *problems,
                Refusal *refusal) {
        _cleanup_(global_isolation_done) GlobalIsolation global = {};
        _cleanup_host_probe_ HostProbe probe = {};
        _cleanup_strv_free_ char **env = NULL;
        int r;

        r = load_definition(scope, instance, &s->definition, &global, problems, refusal);
        if (r >= 0)
                r = check_switches(s->definition, refusal);
        if (r < 0)
                return r;
        r = make_environment(scope, instance, &env);
        if (r >= 0)
                r = host_probe(scope, true, env, &probe);
        if (r < 0)
                return errno_is_shortage(r) ? r
                                            : refuse(refusal,
                                                     "MCP-R-HOST",
                                                     EXIT_CONFINEMENT,
                                                     "The host cannot be examined, or the state directory "
                                                     "cannot be "
                                                     "made: %s.",
                                                     STRERROR(r));
        r = plan_for_host(s, &global, &probe, problems, refusal);
        return r < 0 ? r : finish_setup(s, problems, refusal);
}

int setup_load(RuntimeScope scope, const char *instance, Setup **ret, Refusal *ret_refusal) {
        _cleanup_(refusal_done) Refusal refusal = {};
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_(setup_unrefp) Setup *s = setup_new();
        int r;

        if (!s)
                return -ENOMEM;
        r = load(s, scope, instance, &problems, &refusal);
        if (problems.failed)
                return -ENOMEM;
        if (problems.shortage < 0)
                return problems.shortage;
        if (r < 0 && r != -ECANCELED)
                return r;
        if (r < 0) {
                s->plan = plan_free(s->plan);
                *ret_refusal = TAKE_GENERIC(refusal, Refusal, (Refusal){});
        }
        *ret = TAKE_PTR(s);
        return r;
}
