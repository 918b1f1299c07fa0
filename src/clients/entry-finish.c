/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What can only be said when all keys of an entry are known. */

#include "basic/path-util.h"
#include "basic/string-util.h"
#include "clients/read.h"

static bool is_rooted(const char *s) {
        return path_is_absolute(s) || streq(s, "~") || startswith(s, "~/") || startswith(s, "${");
}

/* A path that is relative to where the client starts its servers. */
static int root_path(EntryReader *reader, ClientServer *s, const char *key, char **path) {
        const char *base = s->cwd && is_rooted(s->cwd) ? s->cwd : reader->workspace;
        _cleanup_free_ char *joined = NULL, *simple = NULL;

        if (!*path || is_rooted(*path))
                return 0;
        if (!base) {
                entry_complain(reader,
                               s,
                               json_get(s->value, key) ?: s->value,
                               "MCP-I-RELATIVE-PATH",
                               "Write the whole path.",
                               "\"%s\" is a relative path, and nothing says what it is relative to.",
                               key);
                return 0;
        }
        joined = path_join(base, *path);
        simple = joined ? path_simplify(joined) : NULL;
        if (!simple)
                return -ENOMEM;
        free(*path);
        *path = TAKE_PTR(simple);
        return 0;
}

/* A relative argument such as "./server.js" is found where the client starts the server, and nowhere else. */
static void check_relative_arguments(EntryReader *reader, ClientServer *s) {
        if (s->cwd)
                return;
        STRV_FOREACH (arg, s->args)
                if (startswith(*arg, "./") || startswith(*arg, "../")) {
                        problem_add(&s->problems,
                                    PROBLEM_WARNING,
                                    "MCP-I-RELATIVE-PATH",
                                    reader->import->path,
                                    json_get(s->value, "args") ?: s->value,
                                    "Set \"working_dir\", or write the whole path.",
                                    "An argument is a relative path; the server will start in its own state "
                                    "directory.");
                        return;
                }
}

/* Our own program would only connect to itself. */
static bool runs_us(const ClientServer *s) {
        const char *base = s->command ? path_basename(s->command) : "";

        return streq(base, "mcp-connect") ||
               (streq(base, "mcpctl") && s->args && strv_contains(s->args, "connect"));
}

static void check_container(EntryReader *reader, ClientServer *s) {
        static const char *const runtimes[] = { "docker", "podman", "nerdctl", NULL };

        if (!strv_contains((char *const *) runtimes, path_basename(s->command)))
                return;
        problem_add(&s->problems,
                    PROBLEM_WARNING,
                    "MCP-I-CONTAINER",
                    reader->import->path,
                    s->value,
                    "Prefer the npm or PyPI package of the same server.",
                    "The command starts a container, which the sandbox neither confines nor lets reach its "
                    "daemon.");
}

static bool is_windows_path(const char *s) {
        return ((s[0] >= 'A' && s[0] <= 'Z') || (s[0] >= 'a' && s[0] <= 'z')) && s[1] == ':' &&
               (s[2] == '\\' || s[2] == '/');
}

/* "cmd /c npx …" is how Windows starts a script; here the script is a program. */
static void unwrap_cmd(EntryReader *reader, ClientServer *s) {
        size_t n = strv_length(s->args);

        if ((strcasecmp(s->command, "cmd") != 0 && strcasecmp(s->command, "cmd.exe") != 0) || n < 2 ||
            strcasecmp(s->args[0], "/c") != 0)
                return;
        entry_note(reader,
                   s,
                   json_get(s->value, "command") ?: s->value,
                   "MCP-I-WINDOWS",
                   NULL,
                   "\"cmd /c\" is for Windows: \"%.64s\" is started itself.",
                   s->args[1]);
        free(s->command);
        free(s->args[0]);
        s->command = s->args[1];
        memmove(s->args, s->args + 2, (n - 1) * sizeof(char *));
}

static void check_windows(EntryReader *reader, ClientServer *s) {
        static const char *const suffixes[] = { ".exe", ".cmd", ".bat", ".ps1" };
        const char *dot = strrchr(s->command, '.');
        bool foreign = is_windows_path(s->command) || strchr(s->command, '\\') ||
                       strcasecmp(s->command, "cmd") == 0;

        for (size_t i = 0; dot && i < ELEMENTSOF(suffixes); i++)
                foreign = foreign || strcasecmp(dot, suffixes[i]) == 0;
        if (foreign)
                entry_complain(reader,
                               s,
                               json_get(s->value, "command") ?: s->value,
                               "MCP-I-WINDOWS",
                               "Name the program as it is called here: npx for npx.cmd.",
                               "The command is a program of Windows.");
        STRV_FOREACH (arg, s->args)
                if (is_windows_path(*arg)) {
                        problem_add(&s->problems,
                                    PROBLEM_WARNING,
                                    "MCP-I-WINDOWS",
                                    reader->import->path,
                                    json_get(s->value, "args") ?: s->value,
                                    "Write the path that it has here.",
                                    "An argument is a path of Windows.");
                        return;
                }
}

static void check_tilde(EntryReader *reader, ClientServer *s) {
        STRV_FOREACH (arg, s->args)
                if (streq(*arg, "~") || startswith(*arg, "~/")) {
                        problem_add(&s->problems,
                                    PROBLEM_WARNING,
                                    "MCP-I-TILDE",
                                    reader->import->path,
                                    json_get(s->value, "args") ?: s->value,
                                    "Write ${HOME}/ in the definition.",
                                    "An argument begins with \"~\", and there is no shell here that would "
                                    "resolve it.");
                        return;
                }
}

/* The client's "command line in one string" would be run by its shell; here it is a program's name. */
static int check_name(EntryReader *reader, ClientServer *s) {
        _cleanup_free_ char *instance = NULL;
        int r = server_name_escape(s->name, &instance);

        if (r == -EINVAL || r == -ENAMETOOLONG) {
                entry_complain(reader,
                               s,
                               s->value,
                               "MCP-I-NAME",
                               "Rename it in the file, or choose one with --name.",
                               r == -EINVAL ? "\"%.64s\" cannot be the name of a server."
                                            : "The name \"%.64s\" is too long for a unit's.",
                               s->name);
                return 0;
        }
        return r;
}

int entry_finish(EntryReader *reader, ClientServer *s) {
        int r;

        r = check_name(reader, s);
        if (r < 0)
                return r;
        if (s->fate == SERVER_OURS && runs_us(s))
                s->fate = SERVER_ALREADY;
        if (s->fate == SERVER_OURS && s->command) {
                unwrap_cmd(reader, s);
                check_windows(reader, s);
                check_tilde(reader, s);
                r = root_path(reader, s, "cwd", &s->cwd);
                if (r >= 0)
                        r = root_path(reader, s, "envFile", &s->env_file);
                if (r >= 0 && strchr(s->command, '/'))
                        r = root_path(reader, s, "command", &s->command);
                /* A project's servers are started in the project. */
                if (r >= 0 && !s->cwd && reader->workspace)
                        r = placeholder_protect(reader->workspace, &s->cwd);
                if (r < 0)
                        return r;
                check_relative_arguments(reader, s);
                check_container(reader, s);
        }
        if (s->fate == SERVER_OURS && problem_list_has_errors(&s->problems))
                s->fate = SERVER_BROKEN;
        return s->problems.failed ? -ENOMEM : 0;
}
