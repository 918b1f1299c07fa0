/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the supervisor serves: a definition and the plan made of it. Made at the start and at each reload; a session
 * keeps the one that it was started with. */

#include "config/definition.h"
#include "plan/plan-seal.h"
#include "sandbox/sandbox.h"
#include "supervisor/peer.h"

/* Why a client gets no server. */
typedef struct Refusal {
        const char *code;   /* static: "MCP-R-…" */
        char *reason;       /* whole sentences, no secrets; lines where there are several problems */
        int exit_code;      /* what mcp-connect exits with */
        char **stderr_tail; /* the last lines of a server that failed before */
} Refusal;

void refusal_done(Refusal *r);
/* Replaces *r. Out of memory leaves the reason empty; the code still says what it is. */
void refusal_set(Refusal *r, const char *code, int exit_code, const char *format, ...) _printf_(4, 5);

enum {
        EXIT_DEFINITION = 2,   /* the definition is wrong */
        EXIT_CONFINEMENT = 3,  /* confinement is refused */
        EXIT_UNAVAILABLE = 69, /* no server for now */
        EXIT_NOT_EXECUTABLE = 126,
        EXIT_NOT_FOUND = 127,
};

typedef struct Setup {
        unsigned n_ref;
        Definition *definition;
        Plan *plan;        /* NULL: it cannot be served */
        SealedPlan sealed; /* what its children see of it */
        SandboxProgram *program;
        char **missing; /* protections, by id */
        int landlock_abi;
        char **warnings; /* problems that do not prevent a start, formatted */
} Setup;

Setup *setup_new(void); /* with nothing in it; NULL: out of memory */
Setup *setup_ref(Setup *s);
Setup *setup_unref(Setup *s);
DEFINE_TRIVIAL_CLEANUP_FUNC(Setup *, setup_unref);

/* 0: it can be served. -ECANCELED: it cannot, *ret_refusal says why, and *ret has no plan, but the definition as far as it
 * could be read: it says who may be told. -ENOMEM, -EMFILE and the like: nothing is known, and nothing returned. */
int setup_load(RuntimeScope scope, const char *instance, Setup **ret, Refusal *ret_refusal);
