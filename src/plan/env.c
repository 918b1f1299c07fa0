/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The server's environment: an allowlist of the manager's, completed, then envFile, then env, then credentials. Values
 * never go into a message. */

#include <limits.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/dotenv.h"
#include "plan/plan-internal.h"

#define ENV_FILE_MAX   (64U * 1024U)
#define CREDENTIAL_MAX (64U * 1024U)

/* MCPProxy's list without what leads out of the sandbox: DOCKER_*, XDG_RUNTIME_DIR; DBUS_* and SSH_AUTH_SOCK were never
 * in it. HOME, PATH, TMPDIR, USER and LOGNAME are computed. */
static const char *const env_allowlist[] = {
        "SHELL",       "TERM",        "LANG",       "USERNAME",   "LANGUAGE",          "TZ",
        "LC_ALL",      "LC_ADDRESS",  "LC_COLLATE", "LC_CTYPE",   "LC_IDENTIFICATION", "LC_MEASUREMENT",
        "LC_MESSAGES", "LC_MONETARY", "LC_NAME",    "LC_NUMERIC", "LC_PAPER",          "LC_TELEPHONE",
        "LC_TIME",     "NVM_DIR",     "ASDF_DIR",   "PYENV_ROOT", "VOLTA_HOME",        "HOMEBREW_PREFIX",
        "COLIMA_HOME",
};

/* They name places in the person's home, so a private home does without. */
static const char *const env_home_allowlist[] = { "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME" };

/* Where people's programs are that a manager's PATH does not have. A service has no login shell to ask, and asking one
 * would run the person's profile. */
static const char *const home_bins[] = {
        ".local/bin",
        ".npm/bin",
        ".npm-global/bin",
        ".yarn/bin",
        ".cargo/bin",
        "go/bin",
        ".bun/bin",
        ".deno/bin",
        ".volta/bin",
        ".asdf/shims",
        ".pyenv/shims",
        ".dotnet/tools",
        ".local/share/mise/shims",
        ".local/share/pnpm",
        ".local/share/fnm/aliases/default/bin",
};
static const char *const system_bins[] = {
        "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin",
};

static int path_append(char ***dirs, const char *dir) {
        return strv_contains(*dirs, dir) ? 0 : strv_extend(dirs, dir);
}

/* The directory of nvm's default version, which only nvm's shell functions would put on PATH. */
static int path_append_nvm(const HostFacts *host, char ***dirs) {
        _cleanup_free_ char *alias = NULL;
        char version[64];
        ssize_t n;

        alias = strformat("%s/.nvm/alias/default", host->home);
        if (!alias)
                return -ENOMEM;
        n = host->read_head(host->userdata, alias, version, sizeof(version) - 1);
        if (n <= 0)
                return 0;
        version[n] = 0;
        version[strcspn(version, " \r\n")] = 0;
        if (strspn(version, "v0123456789.") != strlen(version) || strlen(version) < 5)
                return 0;
        return strv_extendf(
                        dirs,
                        "%s/.nvm/versions/node/%s%s/bin",
                        host->home,
                        version[0] == 'v' ? "" : "v",
                        version);
}

static int env_path(const HostFacts *host, char **ret) {
        _cleanup_strv_free_ char **dirs = NULL, **given = NULL;
        int r;

        r = strv_split(strempty(env_get(host->env, "PATH")), ":", &given);
        if (r < 0)
                return r;
        STRV_FOREACH (dir, given) {
                /* "." and the like would make the program depend on the working directory. */
                if (!path_is_absolute(*dir))
                        continue;
                r = path_append(&dirs, *dir);
                if (r < 0)
                        return r;
        }
        if (host->home) {
                for (size_t i = 0; i < ELEMENTSOF(home_bins); i++) {
                        _cleanup_free_ char *dir = path_join(host->home, home_bins[i]);

                        if (!dir)
                                return -ENOMEM;
                        r = path_append(&dirs, dir);
                        if (r < 0)
                                return r;
                }
                r = path_append_nvm(host, &dirs);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < ELEMENTSOF(system_bins); i++) {
                r = path_append(&dirs, system_bins[i]);
                if (r < 0)
                        return r;
        }
        *ret = strv_join(dirs, ":");
        return *ret ? 0 : -ENOMEM;
}

static int env_pass(PlanContext *c, const char *name) {
        const char *value = env_get(c->host->env, name);

        /* What bash exported as a function is code. */
        if (!value || startswith(value, "()"))
                return 0;
        return env_set(&c->plan->env, name, value);
}

/* HOME, the temp directory, and whether both are the server's own. */
static int env_home(PlanContext *c) {
        const HostFacts *host = c->host;
        HomeWish wish = c->d->isolation.home;
        bool private_wanted = wish == HOME_PRIVATE ||
                              (wish == HOME_UNSET && host->scope == RUNTIME_SCOPE_SYSTEM && host->managed);

        if (private_wanted && !host->state_dir)
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-NO-STATE-DIR",
                             NULL,
                             "Set isolation.home to \"shared\", or give the server a name and a state "
                             "directory.",
                             "isolation.home is private, but the server has no state directory to have its "
                             "home in.");
        c->home_private = private_wanted && host->state_dir;
        if (c->home_private)
                c->home = strdup(host->state_dir);
        else
                c->home = strdup(host->home ? host->home : "/");
        if (!c->home)
                return -ENOMEM;

        /* With a manifest the temp directory is the server's own as well: the shared one is no part of that baseline. */
        if (host->state_dir && (c->home_private || c->has_manifest))
                c->tmp_dir = path_join(host->state_dir, "tmp");
        else
                c->tmp_dir = strdup(host->tmp_dir ? host->tmp_dir : "/tmp");
        return c->tmp_dir ? 0 : -ENOMEM;
}

static int env_base(PlanContext *c) {
        _cleanup_free_ char *path = NULL;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(env_allowlist); i++) {
                r = env_pass(c, env_allowlist[i]);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; !c->home_private && i < ELEMENTSOF(env_home_allowlist); i++) {
                r = env_pass(c, env_home_allowlist[i]);
                if (r < 0)
                        return r;
        }
        r = env_path(c->host, &path);
        if (r >= 0)
                r = env_set(&c->plan->env, "PATH", path);
        if (r >= 0)
                r = env_set(&c->plan->env, "HOME", c->home);
        if (r >= 0)
                r = env_set(&c->plan->env, "TMPDIR", c->tmp_dir);
        if (r >= 0 && c->host->user_name)
                r = env_set(&c->plan->env, "USER", c->host->user_name);
        if (r >= 0 && c->host->user_name)
                r = env_set(&c->plan->env, "LOGNAME", c->host->user_name);
        return r;
}

static int take_dotenv(PlanContext *c, const char *path, char *text) {
        _cleanup_free_ unsigned *bad_lines = NULL;
        _cleanup_strv_free_ char **set = NULL;
        size_t n_bad_lines;
        int r;

        r = dotenv_parse(text, &set, &bad_lines, &n_bad_lines);
        if (r < 0)
                return r;
        STRV_FOREACH (assignment, set) {
                char *value = strchr(*assignment, '=');

                *value++ = 0;
                r = env_set(&c->plan->env, *assignment, value);
                if (r < 0)
                        return r;
                c->env_file_has_tmp_dir = c->env_file_has_tmp_dir || streq(*assignment, "TMPDIR");
        }
        for (size_t i = 0; i < n_bad_lines; i++)
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-ENV-FILE-LINE",
                             &c->d->env_file,
                             "Write NAME=value, one per line.",
                             "Line %u of the envFile %s is no assignment that can be understood.",
                             bad_lines[i],
                             path);
        return 0;
}

static int env_file(PlanContext *c) {
        _cleanup_free_ char *expanded = NULL, *path = NULL, *text = NULL;
        ssize_t n;
        int r;

        if (!c->d->env_file.value)
                return 0;
        r = plan_expand(c, &c->d->env_file, true, &expanded);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (!path_is_absolute(expanded) && c->d->file) {
                _cleanup_free_ char *dir =
                                strndup(c->d->file, (size_t) (path_basename(c->d->file) - c->d->file));

                path = dir ? path_join(dir, expanded) : NULL;
        } else
                path = strdup(expanded);
        text = malloc(ENV_FILE_MAX + 2);
        if (!path || !text)
                return -ENOMEM;
        n = c->host->read_head(c->host->userdata, path, text, ENV_FILE_MAX + 1);
        if (n < 0 || n > (ssize_t) ENV_FILE_MAX) {
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-ENV-FILE",
                             &c->d->env_file,
                             "Correct the path in envFile, or remove the key.",
                             "The envFile %s cannot be read: %s.",
                             path,
                             STRERROR(n < 0 ? (int) n : -EFBIG));
                return 0;
        }
        text[n] = 0;
        r = free_and_strdup(&c->env_file, path);
        if (r < 0)
                return r;
        if (strlen(text) != (size_t) n) {
                plan_problem(c,
                             PROBLEM_ERROR,
                             "MCP-P-ENV-FILE",
                             &c->d->env_file,
                             NULL,
                             "The envFile %s is no text: it contains a NUL byte.",
                             path);
                return 0;
        }
        return take_dotenv(c, path, text);
}

static int env_entries(PlanContext *c) {
        for (size_t i = 0; i < c->d->n_env; i++) {
                const EnvEntry *e = c->d->env + i;
                _cleanup_free_ char *value = NULL;
                int r;

                if (e->value.value) {
                        r = plan_expand(c, &e->value, false, &value);
                        if (r == -ENOMEM)
                                return r;
                        if (r < 0)
                                continue;
                }
                r = env_set(&c->plan->env, e->name, value);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The value, without the newline that editors and echo put at its end. -EBADMSG: it has a NUL. */
static int read_credential(const HostFacts *host, const char *name, char **ret) {
        _cleanup_free_ char *path = NULL;
        char *value;
        ssize_t n;

        if (!host->credentials_dir)
                return -ENOENT;
        path = path_join(host->credentials_dir, name);
        value = malloc(CREDENTIAL_MAX + 2);
        if (!path || !value) {
                free(value);
                return -ENOMEM;
        }
        n = host->read_head(host->userdata, path, value, CREDENTIAL_MAX + 1);
        if (n > (ssize_t) CREDENTIAL_MAX)
                n = -EFBIG;
        else if (n >= 0) {
                if (n > 0 && value[n - 1] == '\n')
                        n--;
                value[n] = 0;
                if (strlen(value) != (size_t) n)
                        n = -EBADMSG;
        }
        if (n < 0) {
                explicit_bzero(value, CREDENTIAL_MAX + 2);
                free(value);
                return (int) n;
        }
        *ret = value;
        return 0;
}

/* Is it where the manager looks for it? -EACCES: nobody but root can tell. */
static int credential_is_stored(const HostFacts *host, const char *name) {
        bool unknown = false;

        for (unsigned encrypted = 0; encrypted <= 1; encrypted++) {
                _cleanup_strv_free_ char **dirs = NULL;
                int r;

                r = credential_dirs(host->scope, encrypted, host->env, &dirs);
                if (r < 0)
                        return r;
                STRV_FOREACH (dir, dirs) {
                        _cleanup_free_ char *path = path_join(*dir, name);
                        _cleanup_path_facts_ PathFacts facts = {};

                        if (!path)
                                return -ENOMEM;
                        r = host->resolve(host->userdata, path, &facts);
                        if (r >= 0 || r == -ENOMEM)
                                return r < 0 ? r : 1;
                        unknown = unknown || r != -ENOENT;
                }
        }
        return unknown ? -EACCES : 0;
}

static char *credential_remedy(const PlanContext *c, const char *name, bool stored) {
        bool user = c->host->scope == RUNTIME_SCOPE_USER;
        const char *flag = user ? " --user" : "";
        _cleanup_free_ char *place = NULL;

        if (!c->host->managed)
                return strformat(
                                "Run it in a unit that has LoadCredential=%s, or give the value to \"env\".",
                                name);
        if (stored)
                place = strdup("It is in the credential store, but the service was not given it.");
        else if (user)
                place = strformat("Put it into ~/.config/credstore/%s (chmod 600).", name);
        else
                place = strformat(
                                "Put it into /etc/credstore/%s, readable by root alone, or encrypt it with "
                                "\"systemd-creds encrypt --name=%s - /etc/credstore.encrypted/%s\".",
                                name,
                                name,
                                name);
        if (!place)
                return NULL;
        return strformat(
                        "%s Then run \"systemctl%s daemon-reload\" and \"systemctl%s restart "
                        "'mcp-server@%s.service'\".",
                        place,
                        flag,
                        flag,
                        c->d->instance);
}

/* NULL: what errno says. */
static const char *credential_trouble(int error) {
        switch (error) {
        case -ENOENT:
                return "is missing";
        case -EFBIG:
                return "is larger than 64 KiB";
        case -EBADMSG:
                return "is no text: it contains a NUL byte";
        default:
                return NULL;
        }
}

static int credential_problem(PlanContext *c, const EnvEntry *e, int error) {
        const char *trouble = credential_trouble(error);
        _cleanup_free_ char *remedy = NULL;
        int stored = 0;

        if (error == -ENOENT) {
                stored = credential_is_stored(c->host, e->value.value);
                if (stored == -ENOMEM)
                        return stored;
                remedy = credential_remedy(c, e->value.value, stored > 0);
                if (!remedy)
                        return -ENOMEM;
        }
        plan_problem(c,
                     PROBLEM_ERROR,
                     "MCP-P-CREDENTIAL",
                     &e->value,
                     remedy,
                     "The credential %s for the variable %s %s%s.",
                     e->value.value,
                     e->name,
                     trouble ?: "cannot be read: ",
                     trouble ? "" : STRERROR(error));
        return 0;
}

/* What can be said of it from outside of the unit, which a drop-in may give it from anywhere. */
static int credential_forecast(PlanContext *c, const EnvEntry *e) {
        _cleanup_free_ char *remedy = NULL;
        int stored;

        stored = credential_is_stored(c->host, e->value.value);
        if (stored == -ENOMEM)
                return stored;
        if (stored == 0) {
                remedy = credential_remedy(c, e->value.value, false);
                if (!remedy)
                        return -ENOMEM;
        }
        plan_problem(c,
                     stored == 0 ? PROBLEM_WARNING : PROBLEM_NOTE,
                     "MCP-P-CREDENTIAL",
                     &e->value,
                     remedy,
                     "The credential %s for the variable %s is checked at start%s.",
                     e->value.value,
                     e->name,
                     stored == 0 ? ", and is in none of the credential stores now"
                                 : ": only the service can read it");
        return 0;
}

static int env_credentials(PlanContext *c) {
        for (size_t i = 0; i < c->d->n_credentials; i++) {
                const EnvEntry *e = c->d->credentials + i;
                _cleanup_free_ char *value = NULL;
                int r;

                r = c->host->credentials_later ? credential_forecast(c, e)
                                               : read_credential(c->host, e->value.value, &value);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        r = credential_problem(c, e, r);
                else
                        r = env_set(&c->plan->env, e->name, strempty(value));
                if (value)
                        explicit_bzero(value, strlen(value));
                if (r < 0)
                        return r;
        }
        return 0;
}

int plan_env(PlanContext *c) {
        const char *home, *tmp_dir;
        int r;

        r = env_home(c);
        if (r >= 0)
                r = env_base(c);
        if (r >= 0)
                r = env_file(c);
        if (r >= 0)
                r = env_entries(c);
        if (r >= 0)
                r = env_credentials(c);
        if (r < 0)
                return r;

        /* Home and temp directory are where the server will look for them, not where we would have. */
        home = env_get(c->plan->env, "HOME");
        if (!isempty(home) && path_is_absolute(home)) {
                r = free_and_strdup(&c->home, home);
                if (r < 0)
                        return r;
        }
        tmp_dir = env_get(c->plan->env, "TMPDIR");
        if (!isempty(tmp_dir) && path_is_absolute(tmp_dir))
                return free_and_strdup(&c->tmp_dir, tmp_dir);
        return free_and_strdup(&c->tmp_dir, "/tmp");
}

int plan_server_env(const Definition *d, const HostFacts *host, char ***ret, ProblemList *problems) {
        _cleanup_plan_ Plan *plan = calloc(1, sizeof(Plan));
        PlanContext c = { .d = d, .has_manifest = true, .host = host, .plan = plan, .problems = problems };
        int r;

        r = plan ? plan_env(&c) : -ENOMEM;
        plan_context_done(&c);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(plan->env);
        return 0;
}
