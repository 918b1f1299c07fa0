/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/resource.h>

#include "basic/string-util.h"
#include "config/definition-read.h"
#include "config/fields.h"

static const char *const group_table[_FIELD_GROUP_MAX] = {
        [FIELD_GROUP_TOP] = "",          [FIELD_GROUP_ISOLATION] = "isolation",
        [FIELD_GROUP_LIMITS] = "limits", [FIELD_GROUP_SESSIONS] = "sessions",
        [FIELD_GROUP_STOP] = "stop",     [FIELD_GROUP_ACCESS] = "access",
};

const char *field_group_to_string(FieldGroup group) {
        return group >= 0 && group < _FIELD_GROUP_MAX ? group_table[group] : NULL;
}

/* The order is that of the enums in config/definition.h; those with an UNSET start behind it. */
static const char *const mode_choices[] = { "sandbox", "none", "docker", NULL };
static const char *const enforcement_choices[] = { "best-effort", "strict", NULL };
static const char *const network_choices[] = { "unrestricted", "blocked", NULL };
static const char *const home_choices[] = { "shared", "private", NULL };
static const char *const stderr_choices[] = { "journal", "client", NULL };
static const char *const protocol_choices[] = { "auto", "legacy", "modern", NULL };

#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR   (60 * USEC_PER_MINUTE)

#define AT(member) .offset = offsetof(Definition, member)
#define TOP        .group = FIELD_GROUP_TOP
#define ISOLATION  .group = FIELD_GROUP_ISOLATION
#define LIMITS     .group = FIELD_GROUP_LIMITS
#define SESSIONS   .group = FIELD_GROUP_SESSIONS
#define STOP       .group = FIELD_GROUP_STOP
#define ACCESS     .group = FIELD_GROUP_ACCESS

#define RLIMIT(_name, _resource, _read, _types, _default, _help)                                         \
        {                                                                                                \
                LIMITS, .name = (_name), .types = (_types), .default_text = (_default), .help = (_help), \
                        .read = (_read), .detail = (_resource)                                           \
        }

#define SUBGROUP(_group, _name, _flags, _help)                                               \
        {                                                                                    \
                TOP, .name = (_name), .types = "object", .help = (_help), .flags = (_flags), \
                     .read = field_read_group, .detail = (_group)                            \
        }

#define FOREIGN(_name, _types, _read)                                                            \
        {                                                                                        \
                ISOLATION, .name = (_name), .types = (_types),                                   \
                           .help = "MCPProxy's, for docker mode: accepted, and without effect.", \
                           .flags = FIELD_FOREIGN | FIELD_NULLABLE, .read = (_read)              \
        }

/* clang-format off */
const Field field_table[] = {
        { TOP, .name = "$schema", .types = "string", .read = field_read_ignored,
          .help = "Where editors find the schema of this file; not read." },
        { TOP, .name = "name", .types = "string", .read = field_read_name,
          .default_text = "the file's name", .help = "The server's name; in servers.d it must be the file's." },
        { TOP, .name = "command", .types = "string", .read = field_read_command, AT(command),
          .help = "The program: a name to look up in PATH, or a path. Executed directly, never by a shell." },
        { TOP, .name = "args", .types = "array", .read = field_read_args, AT(args),
          .default_text = "[]", .help = "Its arguments, one string each." },
        { TOP, .name = "env", .types = "object", .read = field_read_env, AT(env),
          .default_text = "{}", .help = "Variables that extend (never replace) the server's environment." },
        { TOP, .name = "envFile", .types = "string", .read = field_read_path, AT(env_file),
          .help = "A file of NAME=value lines; env wins over it." },
        { TOP, .name = "working_dir", .types = "string", .read = field_read_path, AT(working_dir),
          .default_text = "the server's state directory", .help = "Where it starts. Must exist." },
        { TOP, .name = "cwd", .types = "string", .read = field_read_path, AT(working_dir), .flags = FIELD_ALIAS,
          .help = "The same as working_dir." },
        { TOP, .name = "enabled", .types = "boolean", .read = field_read_enabled, AT(enabled),
          .default_text = "true", .help = "false: no socket is started for it, and a start is refused." },
        { TOP, .name = "disabled", .types = "boolean", .read = field_read_enabled, .flags = FIELD_ALIAS, .detail = 1,
          .help = "What other clients write: true is the same as enabled false, and wins over it." },
        { TOP, .name = "quarantined", .types = "boolean", .read = field_read_boolean, AT(quarantined),
          .flags = FIELD_NULLABLE,
          .default_text = "false", .help = "true: a start is refused until someone sets it to false." },
        { TOP, .name = "user", .types = "string", .read = field_read_user, AT(user),
          .default_text = "a dynamic user", .help = "Whom it runs as; in the system manager only." },
        { TOP, .name = "stderr", .types = "string", .read = field_read_choice, AT(stderr_to),
          .choices = stderr_choices,
          .default_text = "journal", .help = "Where its error output goes: journal, or client (mcp-connect's)." },
        { TOP, .name = "protocol", .types = "string", .read = field_read_protocol, AT(protocol),
          .choices = protocol_choices,
          .default_text = "auto", .help = "Which MCP era mcpctl probe assumes: auto, legacy or modern." },
        { TOP, .name = "type", .types = "string", .read = field_read_type,
          .default_text = "stdio", .help = "The transport as clients write it; only stdio is run here." },
        { TOP, .name = "url", .types = "string", .read = field_read_url, .flags = FIELD_FOREIGN,
          .help = "Where a remote server is; such a server is not run here." },
        { TOP, .name = "init_timeout", .types = "string|integer|number", .read = field_read_init_timeout,
          AT(start_timeout_usec), .minimum = USEC_PER_SEC, .maximum = 30 * USEC_PER_MINUTE,
          .default_text = "60s", .help = "How long a start may take, until its first answer: 1s to 30m." },
        { TOP, .name = "credentials", .types = "object", .read = field_read_credentials, AT(credentials),
          .default_text = "{}", .help = "Variables that are filled from systemd credentials: NAME to credential." },
        SUBGROUP(FIELD_GROUP_ISOLATION, "isolation", FIELD_NULLABLE, "How the server is confined."),
        SUBGROUP(FIELD_GROUP_LIMITS, "limits", 0, "What it may use, per session."),
        SUBGROUP(FIELD_GROUP_SESSIONS, "sessions", 0, "How many clients at once, and for how long."),
        SUBGROUP(FIELD_GROUP_STOP, "stop", 0, "How a session ends."),
        SUBGROUP(FIELD_GROUP_ACCESS, "access", 0, "Who may connect; in the system manager."),

        { ISOLATION, .name = "mode", .types = "string", .read = field_read_mode, AT(isolation.mode),
          .choices = mode_choices, .flags = FIELD_NULLABLE,
          .default_text = "the global setting, else sandbox", .help = "sandbox, none or docker." },
        { ISOLATION, .name = "enabled", .types = "boolean", .read = field_read_tristate, AT(isolation.enabled),
          .flags = FIELD_NULLABLE,
          .default_text = "the global setting", .help = "false: opt out of the global mode." },
        { ISOLATION, .name = "enforcement", .types = "string", .read = field_read_choice,
          AT(isolation.enforcement), .choices = enforcement_choices, .detail = ENFORCEMENT_BEST_EFFORT,
          .default_text = "best-effort; strict with a manifest",
          .help = "strict: refuse to start unless every wanted protection is enforced." },
        { ISOLATION, .name = "manifest", .types = "object|string", .read = field_read_manifest,
          .help = "A nono capability manifest, inline or the path of a file beside this one." },
        { ISOLATION, .name = "write", .types = "array", .read = field_read_paths, AT(isolation.write),
          .default_text = "[]", .help = "More paths that it may write; without a manifest." },
        { ISOLATION, .name = "network", .types = "string", .read = field_read_choice, AT(isolation.network),
          .choices = network_choices, .detail = NETWORK_UNRESTRICTED,
          .default_text = "unrestricted", .help = "unrestricted or blocked; without a manifest." },
        { ISOLATION, .name = "unix_sockets", .types = "string|array", .read = field_read_unix_sockets,
          .default_text = "none", .help = "none, any, or a list of socket paths that it may connect to." },
        { ISOLATION, .name = "home", .types = "string", .read = field_read_choice, AT(isolation.home),
          .choices = home_choices, .detail = HOME_SHARED,
          .default_text = "shared in a user manager, private in the system manager",
          .help = "private: HOME, caches and TMPDIR are the server's own." },
        FOREIGN("image", "string", field_read_ignored),
        FOREIGN("network_mode", "string", field_read_network_mode),
        FOREIGN("extra_args", "array", field_read_ignored),
        FOREIGN("working_dir", "string", field_read_ignored),
        FOREIGN("log_driver", "string", field_read_ignored),
        FOREIGN("log_max_size", "string", field_read_ignored),
        FOREIGN("log_max_files", "string", field_read_ignored),

        { LIMITS, .name = "memory", .types = "string|integer", .read = field_read_size, AT(limits.memory),
          .minimum = 1024 * 1024, .help = "Memory of all its processes: MemoryMax= of the scope." },
        { LIMITS, .name = "swap", .types = "string|integer", .read = field_read_size, AT(limits.swap),
          .help = "Swap of all its processes: MemorySwapMax= of the scope." },
        { LIMITS, .name = "tasks", .types = "string|integer", .read = field_read_count, AT(limits.tasks),
          .minimum = 1, .default_text = "512", .help = "Processes and threads: TasksMax= of the scope." },
        { LIMITS, .name = "cpu", .types = "string|integer|number", .read = field_read_cpu, AT(limits.cpu),
          .minimum = 1, .maximum = 1024 * 1000,
          .help = "CPU time per time: \"150%\" of one CPU, or a number of CPUs such as 1.5." },
        { LIMITS, .name = "runtime", .types = "string|integer|number", .read = field_read_duration,
          AT(limits.runtime_usec), .minimum = USEC_PER_SEC, .help = "How long one session may last." },
        RLIMIT("nofile", RLIMIT_NOFILE, field_read_rlimit, "string|integer", "4096",
               "Open files per process (RLIMIT_NOFILE)."),
        RLIMIT("core", RLIMIT_CORE, field_read_rlimit, "string|integer", "0",
               "Size of a core dump (RLIMIT_CORE)."),
        RLIMIT("fsize", RLIMIT_FSIZE, field_read_rlimit, "string|integer", NULL,
               "Size of a file that it writes (RLIMIT_FSIZE)."),
        RLIMIT("nproc", RLIMIT_NPROC, field_read_rlimit, "string|integer", NULL,
               "Processes of its user, not of the server alone (RLIMIT_NPROC); tasks is what you want."),
        RLIMIT("as", RLIMIT_AS, field_read_rlimit, "string|integer", NULL,
               "Address space per process (RLIMIT_AS); breaks Node.js and others, memory is what you want."),
        RLIMIT("data", RLIMIT_DATA, field_read_rlimit, "string|integer", NULL,
               "Data segment per process (RLIMIT_DATA)."),
        RLIMIT("stack", RLIMIT_STACK, field_read_rlimit, "string|integer", NULL,
               "Stack per process (RLIMIT_STACK)."),
        RLIMIT("memlock", RLIMIT_MEMLOCK, field_read_rlimit, "string|integer", NULL,
               "Locked memory per process (RLIMIT_MEMLOCK)."),
        RLIMIT("cpu_time", RLIMIT_CPU, field_read_rlimit, "string|integer", NULL,
               "CPU time per process, in whole seconds (RLIMIT_CPU)."),

        { SESSIONS, .name = "max", .types = "integer", .read = field_read_unsigned, AT(sessions.max),
          .minimum = 1, .maximum = 4096, .default_text = "8", .help = "Clients at once." },
        { SESSIONS, .name = "idle_timeout", .types = "string|integer|number", .read = field_read_duration,
          AT(sessions.idle_timeout_usec), .minimum = USEC_PER_SEC / 10,
          .default_text = "5min", .help = "How long the supervisor stays without a client; infinity: for ever." },
        { SESSIONS, .name = "accept_env", .types = "array", .read = field_read_accept_env, AT(sessions.accept_env),
          .default_text = "[]", .help = "Variables that a client may pass through." },

        { STOP, .name = "eof_grace", .types = "string|integer|number", .read = field_read_duration,
          AT(stop.eof_grace_usec), .maximum = 10 * USEC_PER_MINUTE,
          .default_text = "5s", .help = "How long it has to leave after the end of its input, before SIGTERM." },
        { STOP, .name = "kill_after", .types = "string|integer|number", .read = field_read_duration,
          AT(stop.kill_after_usec), .maximum = USEC_PER_HOUR,
          .default_text = "10s", .help = "How long after SIGTERM, before SIGKILL." },

        { ACCESS, .name = "users", .types = "array", .read = field_read_users, AT(access.users),
          .help = "Users who may connect." },
        { ACCESS, .name = "groups", .types = "array", .read = field_read_users, AT(access.groups),
          .default_text = "[\"mcp\"]", .help = "Groups whose members may connect." },
};
/* clang-format on */
const size_t field_table_size = ELEMENTSOF(field_table);

/* What other clients call a key that is in the table. */
static const struct {
        const char *name, *ours;
} synonym_table[] = {
        { "httpUrl", "url" },
        { "serverUrl", "url" },
        { "transport", "type" },
        { "transportType", "type" },
};

static const Field *find_row(FieldGroup group, const char *name) {
        FIELD_FOREACH(f)
        if (f->group == group && f->name[0] == name[0] && streq(f->name, name))
                return f;
        return NULL;
}

const Field *field_find(FieldGroup group, const char *name) {
        const Field *row = find_row(group, name);

        for (size_t i = 0; !row && group == FIELD_GROUP_TOP && i < ELEMENTSOF(synonym_table); i++)
                if (streq(synonym_table[i].name, name))
                        row = find_row(group, synonym_table[i].ours);
        return row;
}

const char *field_nearest(FieldGroup group, const char *name) {
        const char *names[ELEMENTSOF(field_table) + 1];
        size_t n = 0;

        FIELD_FOREACH(f)
        if (f->group == group && !(f->flags & FIELD_FOREIGN))
                names[n++] = f->name;
        names[n] = NULL;
        return string_nearest(name, names);
}

#define TOOLS_REMEDY   "Tools are not filtered here; what the server may do is decided by isolation."
#define SANDBOX_REMEDY "Say it with isolation.write and isolation.network."

/* MCPProxy's, Claude Code's, VS Code's, Cursor's, Gemini's, Cline's, Copilot's and mcp-proxy's keys of an entry. */
static const struct {
        const char *name;
        const char *remedy; /* set: FOREIGN_LIMIT */
} foreign_table[] = {
        { "alwaysAllow" },
        { "alwaysLoad" },
        { "auth" },
        { "auth_broker" },
        { "autoApprove" },
        { "auto_approve_tool_changes" },
        { "created" },
        { "description" },
        { "dev" },
        { "disabledTools", TOOLS_REMEDY },
        { "disabled_tools", TOOLS_REMEDY },
        { "enabledTools", TOOLS_REMEDY },
        { "enabled_tools", TOOLS_REMEDY },
        { "excludeTools", TOOLS_REMEDY },
        { "expose_prompts" },
        { "gallery" },
        { "headers" },
        { "headersHelper" },
        { "health_check_interval" },
        { "icon" },
        { "includeTools", TOOLS_REMEDY },
        { "launcher_wait_timeout" },
        { "max_concurrent_requests" },
        { "oauth" },
        { "queue_size" },
        { "queue_timeout" },
        { "reconnect_on_use" },
        { "sandbox", SANDBOX_REMEDY },
        { "sandboxEnabled", SANDBOX_REMEDY },
        { "shared" },
        { "skip_quarantine" },
        { "source" },
        { "source_registry_id" },
        { "source_registry_provenance" },
        { "timeout" }, /* of a tool call, in every client that has it */
        { "tool_discovery_interval" },
        { "tools", TOOLS_REMEDY },
        { "toon_output" },
        { "trust" },
        { "trust_mode" },
        { "updated" },
        { "version" },
};

ForeignKind foreign_key_kind(const char *name, const char **ret_remedy) {
        for (size_t i = 0; i < ELEMENTSOF(foreign_table); i++) {
                if (!streq(foreign_table[i].name, name))
                        continue;
                *ret_remedy = foreign_table[i].remedy;
                return foreign_table[i].remedy ? FOREIGN_LIMIT : FOREIGN_HARMLESS;
        }
        return FOREIGN_NONE;
}
