/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* From a client's placeholders to our references. What a client would fill in and nobody does here becomes a reference
 * to a variable that has to be set, so that a start without it is refused: a placeholder is never passed on. What the
 * client passes as it is stays so, also where it would be a reference here. */

#include "clients/client-server.h"

typedef struct Translator {
        Client client;
        const ImportContext *context;
        const JsonValue *inputs; /* VS Code's array; NULL: none */
        const char *file;
        ClientServer *server; /* takes needs and problems */
} Translator;

/* at: for messages. The result belongs to the caller. -ENOMEM. */
int placeholder_translate(const Translator *t, const char *s, const JsonValue *at, char **ret);

/* s as text that our references do not touch: "${X}" is passed to the server with dollar and braces. */
int placeholder_protect(const char *s, char **ret);

/* A name for an environment variable made of text: "issueToken" is ISSUE_TOKEN. NULL: out of memory. */
char *variable_from_text(const char *text);
