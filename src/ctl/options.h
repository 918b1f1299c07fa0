/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* mcpctl's command line: one table of options, one of verbs; help, completion and manual are compared with them. */

#include "ctl/ctl.h"

/* 0: go on, operands are argv[*ret_first] and on; *ret_verb is set. 1: done (--help, --version). -EINVAL: wrong usage,
 * and it was said. */
int options_parse(Ctl *ctl, int argc, char **argv, const Verb **ret_verb, int *ret_first);
