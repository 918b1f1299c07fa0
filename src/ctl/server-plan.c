/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Between us and the supervisor are the unit's settings: its state directory, which may not be there before the first
 * start and is closed to others, its user, who may not exist yet, and its own /tmp. They are put where the supervisor
 * will find them, and nothing is made up that would show. */

#include <sys/stat.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/server-plan.h"
#include "ctl/units.h"
#include "plan/plan-load.h"

/* Stands for a dynamic user who is not allocated: the first of systemd's range (https://systemd.io/UIDS-GIDS/). */
#define SOME_DYNAMIC_UID 61184U

void verdict_done(Verdict *v) {
        plan_free(v->plan);
        problem_list_done(&v->problems);
        *v = (Verdict){};
}

/* StateDirectory= of the system unit; in the user scope the supervisor's own. NULL: nobody knows (*ret). */
static int state_directory(RuntimeScope scope, char *const *env, const char *instance, char **ret) {
        const char *base = env_get(env, "XDG_STATE_HOME"), *home = env_get(env, "HOME");

        if (scope == RUNTIME_SCOPE_SYSTEM)
                *ret = strformat("/var/lib/mcp/%s", instance);
        else if (!isempty(base) && path_is_absolute(base))
                *ret = strformat("%s/mcp/%s", base, instance);
        else if (!isempty(home) && path_is_absolute(home))
                *ret = strformat("%s/.local/state/mcp/%s", home, instance);
        else
                return 0;
        return *ret ? 0 : -ENOMEM;
}

static int supervisor_environment(Ctl *ctl, const Definition *d, char ***ret) {
        _cleanup_strv_free_ char **env = NULL;
        _cleanup_free_ char *state = NULL;
        char *const *manager;
        int r;

        r = ctl_environment(ctl, &manager);
        if (r < 0)
                return r;
        env = strv_copy(manager);
        if (!env && manager && *manager)
                return -ENOMEM;
        r = state_directory(ctl->scope, env, d->instance, &state);
        if (r < 0)
                return r;
        r = env_set(&env, "STATE_DIRECTORY", state);
        if (r < 0)
                return r;
        /* The unit names its own user, if there is a name. */
        if (ctl->scope == RUNTIME_SCOPE_SYSTEM) {
                r = env_set(&env, "USER", d->user);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(env);
        return 0;
}

/* What resolve() of the host's facts is wrapped with. */
typedef struct StartView {
        const HostFacts *host;
        uid_t uid; /* who will own the state directory */
        gid_t gid;
        bool private_tmp; /* the unit has empty directories in place of these */
} StartView;

/* Strictly below /tmp or /var/tmp. */
static bool is_temporary(const char *path) {
        static const char *const directories[] = { "/tmp", "/var/tmp" };

        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                if (path_startswith(path, directories[i]) && !path_equal(path, directories[i]))
                        return true;
        return false;
}

static int start_view_resolve(void *userdata, const char *path, PathFacts *ret) {
        const StartView *view = userdata;
        int r;

        if (view->private_tmp && is_temporary(path))
                return -ENOENT;
        r = view->host->resolve(view->host->userdata, path, ret);
        if ((r != -ENOENT && r != -EACCES) || !view->host->state_dir ||
            !path_equal(path, view->host->state_dir))
                return r;
        *ret = (PathFacts){
                .resolved = strdup(path), .mode = S_IFDIR | 0700, .uid = view->uid, .gid = view->gid
        };
        return ret->resolved ? 0 : -ENOMEM;
}

static ssize_t start_view_read_head(void *userdata, const char *path, char *buffer, size_t size) {
        const StartView *view = userdata;

        if (view->private_tmp && is_temporary(path))
                return -ENOENT;
        return view->host->read_head(view->host->userdata, path, buffer, size);
}

/* As the supervisor does it: the owner of the state directory is who the child becomes. False: not known yet. */
static bool find_identity(HostFacts *facts) {
        struct stat st;

        if (facts->scope == RUNTIME_SCOPE_USER)
                return true;
        if (facts->state_dir && stat(facts->state_dir, &st) >= 0 && st.st_uid != 0) {
                facts->uid = st.st_uid;
                facts->gid = st.st_gid;
                return true;
        }
        facts->uid = SOME_DYNAMIC_UID;
        facts->gid = SOME_DYNAMIC_UID;
        return false;
}

/* The host as the supervisor will see it. Holds pointers into itself: it is not copied. */
typedef struct PlanHost {
        HostProbe probe;
        HostFacts facts;
        StartView view;
        bool identity_known;
} PlanHost;

static void plan_host_done(PlanHost *h) {
        host_probe_done(&h->probe);
}
#define _cleanup_plan_host_ _cleanup_(plan_host_done)

static int plan_host_init(Ctl *ctl, const Definition *d, PlanHost *h) {
        _cleanup_strv_free_ char **env = NULL;
        int r;

        r = supervisor_environment(ctl, d, &env);
        if (r < 0)
                return r;
        r = host_probe(ctl->scope, /* managed= */ true, env, &h->probe);
        if (r < 0)
                return r;
        h->facts = h->probe.facts;
        h->facts.resolve = start_view_resolve;
        h->facts.read_head = start_view_read_head;
        h->facts.userdata = &h->view;
        h->facts.credentials_later = true;
        h->identity_known = find_identity(&h->facts);
        h->view = (StartView){
                .host = &h->probe.facts,
                .uid = h->facts.uid,
                .gid = h->facts.gid,
                .private_tmp = ctl->scope == RUNTIME_SCOPE_SYSTEM &&
                               unit_has_private_tmp(ctl_bus(ctl), d->instance),
        };
        return 0;
}

static int plan_on(const PlanHost *h, const Definition *d, const GlobalIsolation *global, Verdict *ret) {
        _cleanup_verdict_ Verdict v = {};
        int r;

        r = plan_load(d, global, &h->facts, &v.plan, &v.problems);
        if (r < 0 && r != -EINVAL && r != -EPERM)
                return r;
        if (v.plan && !h->identity_known) {
                v.plan->uid = (uid_t) -1;
                v.plan->gid = (gid_t) -1;
        }
        v.status = r == -EINVAL ? CTL_DEFINITION : r == -EPERM ? CTL_REFUSED : CTL_OK;
        *ret = v;
        v = (Verdict){};
        return 0;
}

int server_plan(Ctl *ctl, const Definition *d, const GlobalIsolation *global, Verdict *ret) {
        _cleanup_plan_host_ PlanHost h = {};
        int r;

        r = plan_host_init(ctl, d, &h);
        return r < 0 ? r : plan_on(&h, d, global, ret);
}

int server_check_manifest(Ctl *ctl, const Definition *d, ProblemList *problems) {
        _cleanup_plan_host_ PlanHost h = {};
        int r;

        r = plan_host_init(ctl, d, &h);
        return r < 0 ? r : plan_check_manifest(d, &h.facts, problems);
}

int server_why(Ctl *ctl,
               const Definition *d,
               const GlobalIsolation *global,
               const WhyQuestion *q,
               Verdict *ret,
               Why *ret_why) {
        _cleanup_plan_host_ PlanHost h = {};
        _cleanup_verdict_ Verdict v = {};
        Definition enabled = *d; /* borrows everything */
        int r;

        enabled.enabled = true;
        enabled.quarantined = false;
        r = plan_host_init(ctl, d, &h);
        if (r >= 0)
                r = plan_on(&h, &enabled, global, &v);
        if (r >= 0 && v.plan)
                r = plan_why(v.plan, &enabled, &h.facts, q, ret_why);
        if (r < 0)
                return r;
        *ret = v;
        v = (Verdict){};
        return 0;
}

int server_plan_of_enabled(Ctl *ctl, const Definition *d, const GlobalIsolation *global, Verdict *ret) {
        Definition enabled = *d; /* borrows everything */

        enabled.enabled = true;
        enabled.quarantined = false;
        return server_plan(ctl, &enabled, global, ret);
}
