/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "basic/errno-util.h"
#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "sandbox/host-probe.h"
#include "sandbox/landlock-uapi.h"
#include "sandbox/path-probe.h"

#define CGROUP_FILE_MAX (64U * 1024U)

/* A filter can be set where the kernel knows the action that a filter needs; nothing is changed by asking. That the
 * architecture is known is libseccomp's condition for being there when we are built. */
static bool seccomp_works(void) {
        uint32_t action = SECCOMP_RET_ERRNO;

        return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* Is word one of the words in the file below dir? */
static bool file_has_word(const char *dir, const char *name, const char *word) {
        _cleanup_free_ char *path = path_join(dir, name), *text = NULL;
        _cleanup_strv_free_ char **words = NULL;

        if (!path || file_read_at(AT_FDCWD, path, CGROUP_FILE_MAX, &text, NULL) < 0)
                return false;
        return strv_split(text, " \n", &words) >= 0 && strv_contains(words, word);
}

/* Our place in the hierarchy "controllers" ("" for the unified one): the third field of /proc/self/cgroup. NULL: none. */
static char *own_cgroup(const char *text, const char *controller) {
        _cleanup_strv_free_ char **lines = NULL;

        if (strv_split(text, "\n", &lines) < 0)
                return NULL;
        STRV_FOREACH (line, lines) {
                char *names = strchr(*line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
                _cleanup_strv_free_ char **list = NULL;

                if (!path)
                        continue;
                *path++ = 0;
                names++;
                if (isempty(controller)) {
                        if (isempty(names))
                                return strdup(path);
                        continue;
                }
                if (strv_split(names, ",", &list) >= 0 && strv_contains(list, controller))
                        return strdup(path);
        }
        return NULL;
}

/* The controllers that scopes below our manager can have. The unified hierarchy says it in our own cgroup's parents: a
 * service is a leaf, and its scopes will be its siblings or cousins. */
static bool controller_unified(const char *mount, const char *cgroup, const char *controller) {
        _cleanup_free_ char *dir = NULL;

        dir = strformat("%s%s", mount, cgroup);
        return dir && file_has_word(dir, "cgroup.controllers", controller);
}

static bool controller_works(const char *text, const char *controller, RuntimeScope scope) {
        static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
        _cleanup_free_ char *unified = own_cgroup(text, ""), *legacy = own_cgroup(text, controller),
                            *dir = NULL;
        struct stat st;

        for (size_t i = 0; unified && i < ELEMENTSOF(mounts); i++)
                if (controller_unified(mounts[i], unified, controller))
                        return true;
        /* Version 1 controllers cannot be delegated to a user; and where a process of a unit is at the top, the manager does
         * not use the controller, wherever it is mounted. */
        if (!legacy || streq(legacy, "/") || scope == RUNTIME_SCOPE_USER)
                return false;
        dir = strformat("/sys/fs/cgroup/%s", controller);
        return dir && stat(dir, &st) >= 0 && S_ISDIR(st.st_mode);
}

static void probe_cgroup(HostFacts *facts) {
        _cleanup_free_ char *text = NULL;

        if (!facts->managed)
                return;
        if (file_read_at(AT_FDCWD, "/proc/self/cgroup", CGROUP_FILE_MAX, &text, NULL) < 0)
                return;
        facts->cgroup_memory = controller_works(text, "memory", facts->scope);
        facts->cgroup_pids = controller_works(text, "pids", facts->scope);
        facts->cgroup_cpu = controller_works(text, "cpu", facts->scope);
        /* systemd attaches BPF programs for it, for which it needs root and the unified hierarchy. */
        facts->ip_filter = facts->scope == RUNTIME_SCOPE_SYSTEM &&
                           access("/sys/fs/cgroup/cgroup.controllers", F_OK) >= 0;
}

/* A manager has looked its unit's user up already, and says so in the environment; NSS can take its time, and is not
 * asked a second time. false: it did not say enough. */
static bool take_user_from_manager(HostProbe *p, char *const *env, int *ret) {
        HostFacts *facts = &p->facts;
        const char *name = env_get(env, "USER"), *home = env_get(env, "HOME");
        const char *state = env_get(env, "STATE_DIRECTORY");
        struct stat st;
        int r;

        if (isempty(name))
                return false;
        if (facts->scope == RUNTIME_SCOPE_SYSTEM) {
                if (isempty(state) || stat(state, &st) < 0)
                        return false;
                facts->uid = st.st_uid;
                facts->gid = st.st_gid;
        } else if (!path_is_absolute(strempty(home)))
                return false;
        r = free_and_strdup(&p->user_name, name);
        if (r >= 0 && facts->scope != RUNTIME_SCOPE_SYSTEM)
                r = free_and_strdup(&p->home, home);
        *ret = MIN(r, 0);
        return true;
}

/* At a shell a login has put name and home of the user into the environment. root is called root, as in systemd, which
 * does not ask NSS for it either: su leaves the names of someone else there. false: NSS has to tell. */
static bool take_user_from_login(HostProbe *p, char *const *env, int *ret) {
        const char *home = env_get(env, "HOME"), *name = env_get(env, "USER");
        int r;

        if (p->facts.uid == 0)
                name = "root";
        else if (isempty(name) || !streq_ptr(name, env_get(env, "LOGNAME")))
                return false;
        if (!path_is_absolute(strempty(home)))
                return false;
        r = free_and_strdup(&p->user_name, name);
        if (r >= 0)
                r = free_and_strdup(&p->home, home);
        *ret = MIN(r, 0);
        return true;
}

static int probe_user(HostProbe *p, char *const *env) {
        HostFacts *facts = &p->facts;
        const char *name = env_get(env, "USER");
        struct passwd pwd, *found = NULL;
        char buffer[4096];
        int r;

        facts->uid = getuid();
        facts->gid = getgid();
        if (facts->managed ? take_user_from_manager(p, env, &r) : take_user_from_login(p, env, &r))
                return r;
        /* "ExecStart=!" leaves us root and names the unit's user in USER=. */
        if (facts->managed && facts->scope == RUNTIME_SCOPE_SYSTEM && name) {
                if (getpwnam_r(name, &pwd, buffer, sizeof(buffer), &found) == 0 && found) {
                        facts->uid = pwd.pw_uid;
                        facts->gid = pwd.pw_gid;
                }
        }
        if (!found)
                (void) getpwuid_r(facts->uid, &pwd, buffer, sizeof(buffer), &found);
        if (found) {
                r = free_and_strdup(&p->user_name, pwd.pw_name);
                if (r < 0)
                        return r;
        }
        if (facts->managed && facts->scope == RUNTIME_SCOPE_SYSTEM)
                return 0; /* the home is the state directory */
        if (path_is_absolute(strempty(env_get(env, "HOME"))))
                return free_and_strdup(&p->home, env_get(env, "HOME"));
        return found ? free_and_strdup(&p->home, pwd.pw_dir) : 0;
}

/* An absolute path from the environment; the first where a list is given. */
static int take_path(char *const *env, const char *name, char **ret) {
        const char *value = env_get(env, name);

        if (isempty(value) || !path_is_absolute(value))
                return 0;
        *ret = strndup(value, strcspn(value, ":"));
        return *ret ? 0 : -ENOMEM;
}

static int probe_directories(HostProbe *p, char *const *env) {
        const char *credentials = env_get(env, "CREDENTIALS_DIRECTORY");
        int r;

        if (!isempty(credentials) && path_is_absolute(credentials)) {
                r = free_and_strdup(&p->credentials_dir, credentials);
                if (r < 0)
                        return r;
        }
        r = take_path(env, "STATE_DIRECTORY", &p->state_dir);
        if (r >= 0)
                r = take_path(env, "TMPDIR", &p->tmp_dir);
        if (r >= 0 && !p->tmp_dir)
                r = free_and_strdup(&p->tmp_dir, "/tmp");
        if (r >= 0 && p->facts.scope == RUNTIME_SCOPE_SYSTEM)
                r = free_and_strdup(&p->runtime_dir, "/run");
        else if (r >= 0)
                r = take_path(env, "XDG_RUNTIME_DIR", &p->runtime_dir);
        if (r >= 0 && !p->home && p->state_dir)
                r = free_and_strdup(&p->home, p->state_dir);
        return r;
}

/* The only test hook: lowers the ABI, never raises it, and shows in every plan. */
static int forced_abi(char *const *env) {
        const char *value = env_get(env, "MCP_TEST_LANDLOCK_ABI");

        if (isempty(value) || strspn(value, "0123456789") != strlen(value) || strlen(value) > 3)
                return -1;
        return atoi(value);
}

int host_probe(RuntimeScope scope, bool managed, char *const *env, HostProbe *ret) {
        _cleanup_host_probe_ HostProbe p = { .facts = { .scope = scope, .managed = managed } };
        int r;

        r = landlock_probe(forced_abi(env), &p.facts.landlock);
        if (r >= 0 && errno_is_shortage(-p.facts.landlock.unavailable))
                /* Not an answer: there may well be Landlock. */
                r = -p.facts.landlock.unavailable;
        if (r >= 0)
                r = probe_user(&p, env);
        if (r >= 0)
                r = probe_directories(&p, env);
        if (r < 0)
                return r;
        p.env = strv_copy(env);
        if (!p.env)
                return -ENOMEM;
        p.facts.seccomp = seccomp_works();
        probe_cgroup(&p.facts);
        path_probe_init(&p.facts);
        p.facts.user_name = p.user_name;
        p.facts.home = p.home;
        p.facts.state_dir = p.state_dir;
        p.facts.tmp_dir = p.tmp_dir;
        p.facts.runtime_dir = p.runtime_dir;
        p.facts.credentials_dir = p.credentials_dir;
        p.facts.env = p.env;
        *ret = p;
        p = (HostProbe){};
        return 0;
}

void host_probe_done(HostProbe *p) {
        free(p->home);
        free(p->state_dir);
        free(p->tmp_dir);
        free(p->runtime_dir);
        free(p->user_name);
        free(p->credentials_dir);
        strv_free(p->env);
        *p = (HostProbe){};
}
