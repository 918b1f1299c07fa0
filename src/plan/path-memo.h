/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Each path is looked up once for a plan: all of the plan is then made of the same moment, and it costs fewer system
 * calls, of which a start would otherwise mostly consist. */

#include "plan/host-facts.h"

typedef struct PathMemo PathMemo;

/* host has to live as long as the memo. -ENOMEM. */
int path_memo_new(const HostFacts *host, PathMemo **ret);
PathMemo *path_memo_free(PathMemo *memo); /* always NULL; memo may be NULL */
DEFINE_TRIVIAL_CLEANUP_FUNC(PathMemo *, path_memo_free);
#define _cleanup_path_memo_ _cleanup_(path_memo_freep)

/* The same host, but that it remembers what it has been asked. Lives as long as the memo. */
const HostFacts *path_memo_host(const PathMemo *memo);
