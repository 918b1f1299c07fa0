/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* References in a definition's strings: ${NAME}, ${NAME:-text} (the shell's ':-': empty counts as unset) and MCPProxy's
 * ${env:NAME}; NAME is [A-Za-z_][A-Za-z0-9_]*. A leading "~/" (or "~" alone) is HOME, in paths only. Placeholders that
 * another program would have filled (${keyring:…}, ${input:…}; ${workspaceFolder} in a VS Code file) are refused, since
 * a placeholder is never passed on. Every other "${…}" stays as written. */

#include "config/definition.h"

typedef enum ExpandFlags {
        EXPAND_TEXT = 0,
        EXPAND_PATH = 1 << 0, /* also "~/" */
} ExpandFlags;

/* env: the environment that references are resolved in. An unresolved one is a PROBLEM_ERROR that names key and
 * variable (never a value); then -EINVAL, and *ret is untouched. */
int text_expand(const Text *text,
                const Definition *d,
                char *const *env,
                ExpandFlags flags,
                char **ret,
                ProblemList *problems);
