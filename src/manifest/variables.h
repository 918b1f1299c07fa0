/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A manifest's paths: a leading "~" or "~/" and the variables that nono's command line knows, replaced as plain text
 * in the server's environment. There is no word boundary: $HOMEX is home with an X behind it. */

#include "manifest/manifest.h"
#include "manifest/reporter.h"

/* v: the path's string, without NUL. 0 and *ret, absolute and simplified; -EINVAL, and r says why; -ENOMEM. */
int manifest_path(const JsonValue *v, const ManifestContext *context, Reporter *r, char **ret);
