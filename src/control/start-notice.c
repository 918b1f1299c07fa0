/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "control/start-notice.h"
#include "basic/path-util.h"
#include "basic/string-util.h"

static const unsigned after_seconds[] = { 2, 10, 30 };
#define AFTERWARDS_SECONDS 30U

static const char *const runners[] = {
        "npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "uvx", "uv", "pipx", "dnx", NULL,
};

const char *start_notice_runner(const char *command) {
        const char *base = command ? path_basename(command) : "";

        for (const char *const *r = runners; *r; r++)
                if (streq(base, *r))
                        return *r;
        return NULL;
}

/* The budget's end is a moment of its own. */
static void plan_next(StartNotice *n) {
        unsigned last = after_seconds[ELEMENTSOF(after_seconds) - 1];
        uint64_t seconds = n->n_said < ELEMENTSOF(after_seconds)
                                           ? after_seconds[n->n_said]
                                           : last + (n->n_said + 1 - ELEMENTSOF(after_seconds)) *
                                                                             (uint64_t) AFTERWARDS_SECONDS;

        n->next_usec = n->began_usec + MIN(seconds * USEC_PER_SEC, n->budget_usec);
}

void start_notice_begin(StartNotice *n, uint64_t now_usec, uint64_t budget_usec) {
        *n = (StartNotice){ .began_usec = now_usec, .budget_usec = budget_usec };
        plan_next(n);
}

void start_notice_done(StartNotice *n) {
        free(n->runner);
        *n = (StartNotice){ .next_usec = UINT64_MAX };
}

void start_notice_learn(StartNotice *n, ControlStatus *s) {
        if (s->runner) {
                free(n->runner);
                n->runner = TAKE_PTR(s->runner);
        }
        if (s->start_timeout_usec == 0 || n->next_usec == UINT64_MAX)
                return;
        n->budget_usec = s->start_timeout_usec;
        plan_next(n);
}

static char *slow_sentence(const StartNotice *n) {
        _cleanup_free_ char *download = NULL;

        if (n->runner) {
                download = strformat(" The first start of a program by %s downloads it.", n->runner);
                if (!download)
                        return NULL;
        }
        return strformat(
                        "it has not answered within %llu s, the budget of its start, and is not stopped for "
                        "that.%s \"mcpctl logs\" shows what it is doing; \"init_timeout\" in its definition "
                        "gives it more time. [MCP-E-SLOW-START]",
                        (unsigned long long) (n->budget_usec / USEC_PER_SEC),
                        strempty(download));
}

char *start_notice_next(StartNotice *n, uint64_t now_usec) {
        uint64_t passed = now_usec > n->began_usec ? now_usec - n->began_usec : 0;

        if (passed >= n->budget_usec) {
                n->next_usec = UINT64_MAX;
                return slow_sentence(n);
        }
        while (n->next_usec <= now_usec) {
                n->n_said++;
                plan_next(n);
        }
        return strformat(
                        "still starting (%s%s%llu s of a budget of %llu s)",
                        strempty(n->runner),
                        n->runner ? " may be downloading; " : "",
                        (unsigned long long) (passed / USEC_PER_SEC),
                        (unsigned long long) (n->budget_usec / USEC_PER_SEC));
}
