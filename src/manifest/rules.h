/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a manifest's members mean together: nono's own cross-field checks, the options that need nono's supervisor and
 * cannot be had here, and those that are taken without an effect. Each is reported, not only the first. */

#include "manifest/reporter.h"

/* v may be of any shape: what the schema found wrong is passed over. */
void manifest_check_rules(const JsonValue *v, Reporter *r);
