/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The definitions and what becomes of them. */

#include <sys/stat.h>

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "ctl/doctor.h"
#include "ctl/own-file.h"
#include "ctl/server-plan.h"
#include "ctl/server-state.h"
#include "ctl/units.h"
#include "manager/exec-status.h"
#include "report/report-plan.h"
#include "report/report-problems.h"

int doctor_definitions(Doctor *d) {
        const ServerList *list;
        int r;

        r = ctl_servers(d->ctl, &list);
        if (r != 0)
                return r < 0 ? r : 0;
        for (size_t i = 0; i < list->problems.n_items && r >= 0; i++) {
                const Problem *p = list->problems.items + i;

                if (p->level != PROBLEM_NOTE)
                        r = doctor_add(d,
                                       p->level == PROBLEM_ERROR ? FINDING_PROBLEM : FINDING_WARNING,
                                       NULL,
                                       p->remedy,
                                       "%s: %s",
                                       strempty(p->file),
                                       p->message);
        }
        for (size_t i = 0; i < list->n_items && r >= 0; i++) {
                const ServerEntry *e = list->items + i;

                if (e->masked)
                        r = doctor_add(d, FINDING_NOTE, e->name, NULL, "It is masked by %s.", e->file);
                for (char **s = e->shadowed; s && *s && r >= 0; s++)
                        r = doctor_add(d, FINDING_NOTE, e->name, NULL, "%s is hidden by %s.", *s, e->file);
        }
        return r < 0 ? r
                     : doctor_add(d,
                                  FINDING_OK,
                                  NULL,
                                  NULL,
                                  "%zu definition%s found.",
                                  list->n_items,
                                  list->n_items == 1 ? "" : "s");
}

/* Names that are given to secrets. */
static bool looks_secret(const char *name) {
        static const char *const words[] = { "KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcasestr(name, words[i]))
                        return true;
        return false;
}

/* Does the text itself hold one, and not only where it comes from? */
static const char *find_secret(const Definition *d) {
        for (size_t i = 0; i < d->n_env; i++)
                if (!isempty(d->env[i].value.value) && !strstr(d->env[i].value.value, "${") &&
                    looks_secret(d->env[i].name))
                        return d->env[i].name;
        return NULL;
}

static bool others_can_read(const char *path) {
        struct stat st;

        return stat(path, &st) >= 0 && (st.st_mode & 0044);
}

static int check_file(Doctor *d, const ServerEntry *e, const char *path, const char *what) {
        _cleanup_free_ char *word = NULL, *remedy = NULL;

        if (!others_can_read(path))
                return 0;
        word = shell_quote(path);
        remedy = word ? strformat("chmod go= %s (or a systemd credential: \"credentials\" in "
                                  "mcp-server.json(5))",
                                  word)
                      : NULL;
        return remedy ? doctor_add(d,
                                   FINDING_WARNING,
                                   e->name,
                                   remedy,
                                   "%s holds %s, and other users can read it.",
                                   path,
                                   what)
                      : -ENOMEM;
}

int doctor_secrets(Doctor *d) {
        const ServerList *list;
        size_t before = d->n_findings;
        int r;

        r = ctl_servers(d->ctl, &list);
        if (r != 0)
                return r < 0 ? r : 0;
        for (size_t i = 0; i < list->n_items && r >= 0; i++) {
                const ServerEntry *e = list->items + i;
                const char *secret = e->definition ? find_secret(e->definition) : NULL;

                if (secret)
                        r = check_file(d, e, e->file, secret);
                if (r >= 0 && e->definition && e->definition->env_file.value &&
                    path_is_absolute(e->definition->env_file.value))
                        r = check_file(d, e, e->definition->env_file.value, "variables");
        }
        return r < 0 || d->n_findings > before ? r
                                               : doctor_add(d,
                                                            FINDING_OK,
                                                            NULL,
                                                            NULL,
                                                            "No definition shows a secret to other users.");
}

/* Sockets whose other end does what it is asked, outside of any sandbox. */
static char *reachable_sockets(Doctor *d) {
        static const char *const system_sockets[] = {
                "/run/dbus/system_bus_socket",     "/run/docker.sock",  "/run/podman/podman.sock",
                "/run/containerd/containerd.sock", "/run/snapd.socket",
        };
        static const char *const user_sockets[] = {
                "bus", "systemd/private", "docker.sock", "podman/podman.sock", "gnupg/S.gpg-agent"
        };
        _cleanup_strv_free_ char **found = NULL;
        const char *runtime = d->host.runtime_dir, *agent = env_get(d->host.env, "SSH_AUTH_SOCK");

        for (size_t i = 0; i < ELEMENTSOF(system_sockets); i++)
                if (access(system_sockets[i], W_OK) >= 0 && strv_extend(&found, system_sockets[i]) < 0)
                        return NULL;
        for (size_t i = 0; d->ctl->scope == RUNTIME_SCOPE_USER && runtime && i < ELEMENTSOF(user_sockets);
             i++) {
                _cleanup_free_ char *path = path_join(runtime, user_sockets[i]);

                if (!path || (access(path, W_OK) >= 0 && strv_extend(&found, path) < 0))
                        return NULL;
        }
        if (d->ctl->scope == RUNTIME_SCOPE_USER && agent && access(agent, W_OK) >= 0 &&
            strv_extend(&found, agent) < 0)
                return NULL;
        return found ? strv_join(found, ", ") : strdup("none that are known");
}

static int check_sockets(Doctor *d, const ServerEntry *e, const Plan *p) {
        bool open = p->unix_sockets == UNIX_ANY || !p->syscall_floor ||
                    p->protections[PROTECTION_UNIX_PATH].state == PROTECTION_MISSING;
        _cleanup_free_ char *sockets = NULL;

        if (!open)
                return 0;
        sockets = reachable_sockets(d);
        return sockets ? doctor_add(d,
                                    FINDING_WARNING,
                                    e->name,
                                    p->unix_sockets == UNIX_NONE
                                                    ? "The sandbox keeps a server from them "
                                                      "(isolation.mode)."
                                                    : "Take isolation.unix_sockets out, or list what it "
                                                      "needs (enforced from ABI 9 on).",
                                    "It could connect to UNIX sockets, among them: %s.",
                                    sockets)
                       : -ENOMEM;
}

static char *missing_protections(const Plan *p) {
        _cleanup_strv_free_ char **names = NULL;

        for (ProtectionId id = 0; id < _PROTECTION_MAX; id++)
                if (p->protections[id].state == PROTECTION_MISSING &&
                    strv_extend(&names, protection_to_string(id)) < 0)
                        return NULL;
        return names ? strv_join(names, ", ") : strdup("");
}

static int check_plan(Doctor *d, const ServerEntry *e, const Plan *p) {
        _cleanup_free_ char *missing = missing_protections(p);
        int r;

        if (!missing)
                return -ENOMEM;
        if (!p->confined)
                r = doctor_add(d,
                               FINDING_WARNING,
                               e->name,
                               "See \"mcpctl show\"; isolation.mode \"sandbox\" confines it where the "
                               "kernel can.",
                               "It runs unconfined (mode %s, source %s).",
                               strempty(p->isolation.mode),
                               isolation_source_to_string(p->isolation.source));
        else if (*missing)
                r = doctor_add(d,
                               FINDING_WARNING,
                               e->name,
                               "\"mcpctl show\" says what each needs.",
                               "It runs degraded, without: %s.",
                               missing);
        else
                r = doctor_add(d, FINDING_OK, e->name, NULL, "Everything that is wanted will be enforced.");
        return r < 0 ? r : check_sockets(d, e, p);
}

static int check_verdict(Doctor *d, const ServerList *list, const ServerEntry *e) {
        _cleanup_verdict_ Verdict v = {};
        const char *remedy = "\"mcpctl check\" says what to write instead.";
        int r;

        r = server_plan(d->ctl, e->definition, &list->global, &v);
        if (r < 0)
                return r;
        if (v.status == CTL_OK)
                return check_plan(d, e, v.plan);
        return doctor_add(
                        d,
                        FINDING_PROBLEM,
                        e->name,
                        remedy,
                        v.status == CTL_REFUSED ? "A start is refused: %s" : "A start fails: %s",
                        v.problems.n_items > 0 ? v.problems.items[0].message : "see there.");
}

static int check_units(Doctor *d, const ServerEntry *e, const UnitList *units) {
        _cleanup_unit_details_ UnitDetails service = {};
        const char *step;
        ServerState state;
        int r;

        if (!units)
                return 0;
        r = server_state(e, units, &state);
        if (r < 0)
                return r;
        if (streq(state.word, "failed") && state.service &&
            unit_details(ctl_bus(d->ctl), state.service->name, &service) < 0)
                service.exit_status = 0;
        step = streq_ptr(service.result, "exit-code") ? exec_status_to_string(service.exit_status) : NULL;
        if (step)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                e->name,
                                service.exit_status == EXEC_STATUS_CREDENTIALS
                                                ? "One of its \"credentials\" cannot be read or decrypted: "
                                                  "\"mcpctl logs\" names it."
                                                : "\"mcpctl logs\" says why.",
                                "systemd cannot execute its service: step %s.",
                                step);
        if (streq(state.word, "failed"))
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                e->name,
                                "\"mcpctl status\" and \"mcpctl logs\" say why.",
                                "Its unit has failed.");
        if (streq(state.word, "masked"))
                return doctor_add(
                                d,
                                FINDING_NOTE,
                                e->name,
                                "systemctl unmask has it back.",
                                "One of its units is masked: it takes no new clients.");
        if (streq(state.word, "not loaded"))
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                e->name,
                                "\"mcpctl start\" loads it.",
                                "The manager does not know its definition yet.");
        return 0;
}

static int check_server(Doctor *d, const ServerList *list, const ServerEntry *e, const UnitList *units) {
        int r;

        if (e->masked || (e->definition && e->definition->remote))
                return 0;
        if (problem_list_has_errors(&e->problems) || !e->definition)
                return doctor_add(
                                d,
                                FINDING_PROBLEM,
                                e->name,
                                "\"mcpctl check\" says what to write instead.",
                                "Its definition in %s is wrong.",
                                e->file);
        if (e->definition->quarantined || !e->definition->enabled)
                return doctor_add(
                                d,
                                FINDING_NOTE,
                                e->name,
                                NULL,
                                "It is %s.",
                                e->definition->quarantined ? "quarantined" : "disabled");
        r = check_units(d, e, units);
        return r < 0 ? r : check_verdict(d, list, e);
}

int doctor_servers(Doctor *d) {
        _cleanup_unit_list_ UnitList units = {};
        sd_bus *bus = ctl_bus(d->ctl);
        bool known = bus && units_list(bus, &units) >= 0;
        const ServerList *list;
        int r;

        r = ctl_servers(d->ctl, &list);
        if (r != 0)
                return r < 0 ? r : 0;
        for (size_t i = 0; i < list->n_items && r >= 0; i++)
                r = check_server(d, list, list->items + i, known ? &units : NULL);
        return r;
}
