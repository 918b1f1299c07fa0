/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One server's definition: what the JSON says, read, checked and typed, but nothing resolved. References such as
 * ${NAME} are still text here; they are expanded where the server's environment is known (config/expand.h).
 *
 * Text that came from JSON is data: whoever puts it in a unit, a log or a terminal escapes it there. */

#include "basic/arena.h"
#include "basic/fd-util.h"
#include "basic/json.h"
#include "config/paths.h"
#include "config/problem.h"

#define USEC_INFINITY  UINT64_MAX
#define LIMIT_UNSET    UINT64_MAX       /* not given */
#define LIMIT_INFINITY (UINT64_MAX - 1) /* given as "infinity"/"unlimited" */

/* A string of the file and where it stands, for problems found later. Both are the document's. */
typedef struct Text {
        const char *value;
        const JsonValue *at; /* NULL: nowhere, it came from a command line */
} Text;

typedef struct TextList {
        Text *items;
        size_t n_items;
} TextList;

typedef struct EnvEntry {
        const char *name;
        Text value; /* value.value NULL: remove the variable (VS Code's null) */
} EnvEntry;

typedef enum Dialect {
        DIALECT_OWN,      /* servers.d/NAME.json */
        DIALECT_MCPPROXY, /* mcpServers is an array */
        DIALECT_CLIENT,   /* mcpServers is an object: Claude, Cursor, Windsurf, Gemini … */
        DIALECT_VSCODE,   /* servers is an object */
        _DIALECT_MAX,
} Dialect;
const char *dialect_to_string(Dialect dialect);

typedef enum Enforcement { ENFORCEMENT_UNSET, ENFORCEMENT_BEST_EFFORT, ENFORCEMENT_STRICT } Enforcement;
typedef enum NetworkWish { NETWORK_UNSET, NETWORK_UNRESTRICTED, NETWORK_BLOCKED } NetworkWish;
typedef enum UnixWish { UNIX_NONE, UNIX_ANY, UNIX_LIST } UnixWish;
typedef enum HomeWish { HOME_UNSET, HOME_SHARED, HOME_PRIVATE } HomeWish;
typedef enum StderrWish { STDERR_JOURNAL, STDERR_CLIENT } StderrWish;
typedef enum ProtocolWish { PROTOCOL_AUTO, PROTOCOL_LEGACY, PROTOCOL_MODERN } ProtocolWish;
typedef enum Tristate { TRISTATE_UNSET = -1, TRISTATE_NO = 0, TRISTATE_YES = 1 } Tristate;

/* rlimits that a definition can set; the order of limit_table[] in definition.c. RLIMIT_* of <sys/resource.h>. */
typedef struct RlimitEntry {
        int resource;
        const char *name; /* the JSON key: "nofile", "core" …; static */
        uint64_t value;   /* LIMIT_INFINITY: RLIM_INFINITY */
} RlimitEntry;

typedef struct Definition {
        Arena *arena; /* of all that is neither the document's nor a list of strings: the definition itself, too */

        char *name;     /* as people write it */
        char *instance; /* as systemd writes it */
        char *file;     /* where it was read */
        Dialect dialect;

        Text command; /* value NULL: the entry has none (a remote server, or a mistake that is in the problems) */
        bool remote; /* a url, or a protocol other than stdio: not ours */
        TextList args;
        EnvEntry *env;
        size_t n_env;
        Text env_file;
        Text working_dir;
        bool enabled, quarantined;

        struct {
                Text mode;        /* as written, "" and absent: value NULL */
                Tristate enabled; /* MCPProxy's isolation.enabled */
                Enforcement enforcement;
                JsonValue *manifest; /* inline manifest: borrowed from document; NULL: none */
                Text manifest_path;  /* or a path beside the file */
                TextList write;
                NetworkWish network;
                UnixWish unix_sockets;
                TextList unix_paths;
                HomeWish home;
        } isolation;

        struct {
                uint64_t memory, swap, tasks; /* bytes, bytes, tasks; LIMIT_UNSET; tasks defaults to 512 */
                uint64_t cpu;                 /* per mille of one CPU: "150%" is 1500; LIMIT_UNSET */
                uint64_t runtime_usec;        /* LIMIT_UNSET */
                RlimitEntry *rlimits; /* nofile 4096 and core 0 are in it unless the file says otherwise */
                size_t n_rlimits;
        } limits;

        struct {
                unsigned max;               /* 8 */
                uint64_t idle_timeout_usec; /* 5 min; USEC_INFINITY: never */
                char **accept_env;
        } sessions;

        struct {
                uint64_t eof_grace_usec, kill_after_usec; /* 5 s, 10 s */
        } stop;

        uint64_t start_timeout_usec; /* budget of the handshake for probe: init_timeout of the clients; 60 s */

        struct {
                char **users, **groups; /* both NULL: group "mcp" */
        } access;
        const char *user; /* NULL: a dynamic user; the document's */

        EnvEntry *credentials; /* name: variable, value: credential's name */
        size_t n_credentials;
        StderrWish stderr_to;
        ProtocolWish protocol;

        char **ignored;         /* JSON pointers of keys that are accepted and without effect here */
        const JsonValue *entry; /* what it was read from: borrowed from document */
        JsonValue *document;
} Definition;

Definition *definition_free(Definition *d);
DEFINE_TRIVIAL_CLEANUP_FUNC(Definition *, definition_free);
#define _cleanup_definition_ _cleanup_(definition_freep)

/* For who adds to a definition: a text from a command line (value is copied); the entry of a list, empty. Nothing of it is
 * released before the definition is. NULL, -ENOMEM: out of memory. */
int definition_set_text(Definition *d, Text *t, const char *value);
Text *definition_add_text(Definition *d, TextList *l);
EnvEntry *definition_add_env(Definition *d, EnvEntry **entries, size_t *n);

/* MCPProxy's docker_isolation block: the global isolation setting (plan/isolation.h decides with it). */
typedef struct GlobalIsolation {
        bool present;
        Tristate enabled;
        char *mode; /* NULL: unset */
        char *file; /* where it stands, for messages */
} GlobalIsolation;
void global_isolation_done(GlobalIsolation *g);

/* Reads one server by name from the search path: the per-server file of the strongest directory, else the entry of the
 * client file. Also reads the client file's global isolation block. Everything wrong goes to problems (all of it, with
 * places), also where a definition is returned: callers decide with problem_list_has_errors().
 *
 * 0: *ret is set (it may still be unusable: see problems). -ENOENT: no such server. -ERFKILL: masked (an empty file or
 * a link to /dev/null). Another negative errno: nothing could be read, problems says what. */
int definition_load(
                const ConfigPaths *paths,
                const char *name,
                Definition **ret,
                GlobalIsolation *ret_global,
                ProblemList *problems);

/* The same from one file that a person names (mcpctl check FILE, mcp-sandbox --definition): an own file. No ownership
 * check. name NULL: the file's name without .json. */
int definition_load_file(const char *path, const char *name, Definition **ret, ProblemList *problems);

/* Every server there is, for the generator and mcpctl list. */
typedef struct ServerEntry {
        char *name, *instance;
        char *file;      /* that defines it */
        char **shadowed; /* files that lost against it */
        bool masked;
        Definition *definition; /* NULL: unreadable or masked */
        ProblemList problems;   /* this server's alone */
} ServerEntry;

typedef struct ServerList {
        ServerEntry *items; /* sorted by name */
        size_t n_items;
        GlobalIsolation global;
        ProblemList problems; /* those that belong to no server: a broken client file, two names in one unit name */
} ServerList;

/* Linear in the number of definitions (sorting apart). One bad file costs its server alone. There is one entry for each
 * unit name: two files that meet in one are named in the entry's problems and in the list's. A directory that is not
 * trusted makes its servers unusable and still hides weaker ones: a mode that is wrong must not undo a mask. */
int server_list_load(const ConfigPaths *paths, ServerList *ret);
void server_list_done(ServerList *list);
#define _cleanup_server_list_ _cleanup_(server_list_done)

/* The same one by one, for whoever needs none of them twice. Sorted by instance. */
typedef struct ServerWalk ServerWalk;

/* Finds out which servers there are, and reads none but those of client files. The walk borrows paths, and problems, to
 * which it adds those that belong to no server. */
int server_walk_open(const ConfigPaths *paths, ServerWalk **ret, ProblemList *problems);
ServerWalk *server_walk_free(ServerWalk *walk); /* NULL */
DEFINE_TRIVIAL_CLEANUP_FUNC(ServerWalk *, server_walk_free);
#define _cleanup_server_walk_ _cleanup_(server_walk_freep)
size_t server_walk_size(const ServerWalk *walk);

/* Reads number first up to the one before behind. use() may take what it likes out of the entry, which is released behind
 * it; what it returns below 0 ends the walk and is returned. What was read is closed with the batch; NULL: at once. */
typedef int (*server_use_t)(ServerEntry *entry, void *userdata);
int server_walk_each(
                ServerWalk *walk,
                size_t first,
                size_t behind,
                FdBatch *batch,
                server_use_t use,
                void *userdata);
