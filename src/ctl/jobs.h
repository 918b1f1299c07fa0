/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What changes something in the manager, and waits until it is changed. */

#include "ctl/ctl.h"

/* daemon-reload: generators run again, so definitions become units. */
int manager_reload(sd_bus *bus, sd_bus_error *ret_error);

typedef enum UnitJob { JOB_START, JOB_STOP, JOB_RESTART, _JOB_MAX } UnitJob;

/* Asks for the job and waits for its end. 0: done. -EIO: the job failed, *ret_result is systemd's word for how
 * ("failed", "timeout", "dependency" …); another error: *ret_error says why. What is not loaded has been stopped. */
int unit_job(sd_bus *bus, UnitJob job, const char *unit, char **ret_result, sd_bus_error *ret_error);

/* Has the unit to be loaded (again) before a job may be asked for? */
bool unit_needs_reload(sd_bus *bus, const char *unit);

/* The same for a person: what fails is said (ctl_fail()), an exit status is returned. */
int ctl_reload(Ctl *ctl, sd_bus *bus);
int ctl_unit_job(Ctl *ctl, sd_bus *bus, UnitJob job, const ServerEntry *server);

/* Where there is a manager: reloads it, and asks for the job. Where there is none (--root, or it cannot be reached) says
 * that it will be done at its next start. */
int ctl_apply(Ctl *ctl, UnitJob job, const char *name, const char *instance);
