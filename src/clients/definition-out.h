/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* From a client's server to the text of a definition of ours, and how its secrets get where it looks for them. */

#include "clients/client-server.h"

typedef struct DefinitionText {
        char *text; /* ends with a newline */
        size_t size;
        bool holds_values; /* of variables, or a secret: nobody else may read it */
} DefinitionText;
void definition_text_done(DefinitionText *t);
#define _cleanup_definition_text_ _cleanup_(definition_text_done)

/* s must be SERVER_OURS, its secrets found. The result is what the reader of definitions accepts; where it would not,
 * -EINVAL. What it says goes to problems, placed at the entry in file, the client's. */
int definition_text_make(
                const ClientServer *s,
                bool inline_secrets,
                const char *file,
                DefinitionText *ret,
                ProblemList *problems);

/* How variables of the manager's environment are set, a line each; servers: whose. Never a value. */
int variable_instructions(RuntimeScope scope, char *const *servers, char ***ret);
/* The command that puts the secret for a variable of the server in its place as a credential. NULL: out of memory. */
char *credential_instruction(RuntimeScope scope, const ClientServer *s, const char *variable);

/* The name of the file in servers.d. NULL: out of memory. */
char *definition_file_name(const char *server);

/* The name of the credential for a variable of the server. NULL: out of memory. */
char *credential_name(const ClientServer *s, const char *variable);
