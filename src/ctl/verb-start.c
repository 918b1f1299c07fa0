/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* start, stop and restart: of the socket, which is what makes a server one. */

#include "basic/string-util.h"
#include "ctl/jobs.h"
#include "ctl/own-file.h"

/* What the supervisor would refuse is better said here. */
static int check_startable(Ctl *ctl, const ServerEntry *e) {
        _cleanup_free_ char *command = NULL, *remedy = NULL;

        if (problem_list_has_errors(&e->problems))
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-UNREADABLE",
                                "\"mcpctl check\" says what is wrong with it.",
                                "The definition of \"%s\" in %s is wrong.",
                                e->name,
                                e->file);
        if (e->definition->remote)
                return ctl_fail(ctl,
                                CTL_DEFINITION,
                                "MCP-X-REMOTE",
                                NULL,
                                "The server \"%s\" is a remote one: nothing of it runs here.",
                                e->name);
        if (e->definition->quarantined)
                return ctl_fail(ctl,
                                CTL_FAILED,
                                "MCP-X-QUARANTINED",
                                "Look at what it runs, and set \"quarantined\" to false.",
                                "The server \"%s\" is quarantined in %s.",
                                e->name,
                                e->file);
        if (e->definition->enabled)
                return 0;
        command = ctl_command(ctl, "enable", e->name);
        remedy = command ? strformat("This switches it on: %s", command) : NULL;
        if (!remedy)
                return -ENOMEM;
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-DISABLED",
                        remedy,
                        "The server \"%s\" is disabled in %s.",
                        e->name,
                        e->file);
}

/* For people: what --json prints of several servers has no place for it. */
static int say_undo(Ctl *ctl, UnitJob job, const ServerEntry *e) {
        _cleanup_free_ char *undo = NULL;

        if (ctl->json || job == JOB_RESTART)
                return 0;
        undo = ctl_command(ctl, job == JOB_START ? "stop" : "start", e->name);
        return ctl_say_undo(ctl, e->name, e->file, undo);
}

static int run_job(Ctl *ctl, UnitJob job, char **operands) {
        const ServerEntry *e;
        sd_bus *bus;
        int r, status = 0;

        r = ctl_require_bus(ctl, &bus);
        if (r != 0)
                return r;
        for (char **o = operands; *o; o++) {
                r = job == JOB_STOP ? ctl_find_server(ctl, *o, &e) : ctl_find_usable_server(ctl, *o, &e);
                if (r == 0 && job != JOB_STOP)
                        r = check_startable(ctl, e);
                if (r == 0)
                        r = ctl_unit_job(ctl, bus, job, e);
                if (r == 0)
                        r = say_undo(ctl, job, e);
                if (r < 0)
                        return r;
                status = r > 0 ? r : status;
        }
        return status;
}

int verb_start(Ctl *ctl, char **operands) {
        return run_job(ctl, JOB_START, operands);
}

int verb_stop(Ctl *ctl, char **operands) {
        return run_job(ctl, JOB_STOP, operands);
}

int verb_restart(Ctl *ctl, char **operands) {
        return run_job(ctl, JOB_RESTART, operands);
}
