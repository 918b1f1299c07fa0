/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The credentials of a definition, as LoadCredential= of its service. Where one is not to be had the service starts all
 * the same, since the supervisor can tell clients what is missing and where to put it; the manager could only fail. */

#include "config/definition.h"

#include "server-units.h"
#include "unit-writer.h"

/* Looks for the files below context->root, reads none of them. */
int add_load_credentials(UnitText *t, const Definition *d, const UnitsContext *context);
