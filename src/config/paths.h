/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where definitions live and what names they may have. */

#include "basic/runtime-scope.h"

typedef struct ConfigPaths {
        RuntimeScope scope;
        char **server_dirs; /* …/servers.d, strongest first (design 4.1) */
        char **client_files; /* …/mcp.json, strongest first: /etc/mcp/mcp.json, or $XDG_CONFIG_HOME/mcp/mcp.json */
        uid_t owner;         /* whose files are trusted besides root's: 0 in the system scope */
} ConfigPaths;

/* root: a directory to put in front of everything (NULL: none), for tests and images. environ is read for HOME and
 * XDG_CONFIG_HOME in the user scope; -ENXIO where neither says where. */
int config_paths_init(RuntimeScope scope, const char *root, char *const *env, ConfigPaths *ret);
void config_paths_done(ConfigPaths *paths);
#define _cleanup_config_paths_ _cleanup_(config_paths_done)

/* The directories in which the manager finds a credential by its name, strongest first. System: systemd's own
 * (systemd.exec(5), "LoadCredential="; encrypted: "LoadCredentialEncrypted="). User: those that systemd's user managers
 * have by themselves since version 256; none that are encrypted, which before that version no user's manager can open. */
int credential_dirs(RuntimeScope scope, bool encrypted, char *const *env, char ***ret);

/* Server name ↔ systemd instance name. Names of [A-Za-z0-9_][A-Za-z0-9_.:-]* are used as they are, any other byte
 * becomes \xNN (design 4.1; '-' is legal in an instance and stays, so units use %i, never %I).
 * The name of a file in servers.d is the name itself or its escaped form, so that "a/b" can have a file, too.
 * -EINVAL: no name (empty, not UTF-8), or not something server_name_escape() makes; -ENAMETOOLONG: the escaped name is
 * longer than SERVER_INSTANCE_MAX, which keeps every unit name below systemd's UNIT_NAME_MAX of 255 and every socket
 * path below sizeof(sun_path). A name may contain '/': only the instance may become part of a path. */
#define SERVER_INSTANCE_MAX 64U
int server_name_escape(const char *name, char **ret);
int server_name_unescape(const char *instance, char **ret);

/* %t: /run, or the user's runtime directory: $XDG_RUNTIME_DIR, and where that is not set (clients that start programs
 * with a handful of variables, as the MCP SDKs do) /run/user/UID, as long as it is the user's own. -ENXIO: none. */
int runtime_dir_find(RuntimeScope scope, char **ret);

/* Where a server's sockets are: %t/mcp/INSTANCE.sock and .connect. */
typedef enum SocketKind {
        SOCKET_RAW,     /* SOCK_STREAM: the connection is the child's stdin and stdout */
        SOCKET_CONNECT, /* SOCK_SEQPACKET: the client's own descriptors by SCM_RIGHTS (control/message.h) */
} SocketKind;
int server_socket_path(const char *runtime_dir, const char *instance, SocketKind kind, char **ret);
