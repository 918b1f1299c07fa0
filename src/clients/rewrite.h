/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A client's own file, changed so that it runs mcp-connect. */

#include "clients/client-server.h"

/* The text of the file with each of the servers (of import) started by mcp-connect: command and arguments are replaced,
 * variables, directories and the client's own confinement go, and everything else stays byte for byte, comments
 * included. What comes out is read again before it is returned.
 * -EOPNOTSUPP: the client has no such entries (the registry; a file that is one entry); -EBADMSG: the text cannot be
 * edited with a result that reads as it should; -ENOMEM. */
int client_rewrite(
                const ClientImport *import,
                const ImportContext *context,
                RuntimeScope scope,
                const ClientServer *const *servers,
                size_t n_servers,
                char **ret);
