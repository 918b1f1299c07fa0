/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mcpctl: what people type. Everything is done by a verb; here is only the way to it. */

#include <fcntl.h>
#include <limits.h>
#include <locale.h>

#include "basic/fd-util.h"
#include "basic/ssh.h"
#include "basic/string-util.h"
#include "ctl/exec.h"
#include "ctl/options.h"
#include "ctl/pager.h"

const Verb verbs[] = {
        { "list", "", "List all servers, their states and what is wrong", 0, 0, verb_list },
        { "status", "[NAME...]", "Show servers' units, sessions and confinement", 0, UINT_MAX, verb_status },
        { "show", "NAME", "Show the plan: every rule, every protection", 1, 1, verb_show },
        { "check",
          "[NAME|FILE...]",
          "Check definitions, and say all that is wrong",
          0,
          UINT_MAX,
          verb_check },
        { "why", "[NAME]", "Say what denies or allows it, or what was denied", 0, 1, verb_why },
        { "doctor", "", "Examine this host and this installation", 0, 0, verb_doctor },
        { "probe", "NAME", "Start a session, shake hands, say what is wrong", 1, 1, verb_probe },
        { "tools", "NAME", "List the tools that the server offers", 1, 1, verb_tools },
        { "call", "NAME TOOL [JSON|@FILE|-]", "Call a tool of the confined server", 2, 3, verb_call },
        { "connect", "NAME", "Talk to the server by stdin and stdout (mcp-connect)", 1, 1, verb_connect },
        { "add", "NAME -- COMMAND [ARG...]", "Define a server, and have it listen", 2, UINT_MAX, verb_add },
        { "remove", "NAME", "Take a definition away, and end its sessions", 1, 1, verb_remove },
        { "enable", "NAME", "Let a server start, and have it listen", 1, 1, verb_enable },
        { "disable", "NAME", "Keep a server from starting, and end its sessions", 1, 1, verb_disable },
        { "edit", "NAME", "Change a definition; saved when it would start", 1, 1, verb_edit },
        { "start", "NAME...", "Have servers listen for clients", 1, UINT_MAX, verb_start },
        { "stop", "NAME...", "Stop listening, and end the sessions", 1, UINT_MAX, verb_stop },
        { "restart", "NAME...", "End the sessions, and listen anew", 1, UINT_MAX, verb_restart },
        { "run",
          "-- COMMAND [ARG...]",
          "Run a command confined, without a definition",
          1,
          UINT_MAX,
          verb_run },
        { "import", "[FILE]", "Make definitions of a client's configuration", 0, 1, verb_import },
        { "export",
          "[NAME...]",
          "Print what a client's configuration has to say",
          0,
          UINT_MAX,
          verb_export },
        { "logs", "[NAME]", "Show the journal of a server, or of all", 0, 1, verb_logs },
        {},
};

/* All of it is done by the mcpctl there, which has its own manager, kernel and files. */
static int run_remote(Ctl *ctl, const Verb *verb, char **operands) {
        _cleanup_strv_free_ char **arguments = strv_copy(ctl->forwarded), **argv = NULL;
        SshCommand command = {
                .host = ctl->host,
                .program = "mcpctl",
                .variables = ctl->env_names,
                /* An editor needs one; elsewhere it would mix stdout and stderr. */
                .terminal = streq(verb->name, "edit") && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
        };
        int r;

        if (ctl->forwarded && !arguments)
                return -ENOMEM;
        r = strv_extendf(&arguments, "--via=%s", ctl->host);
        if (r >= 0)
                r = strv_extend(&arguments, "--");
        if (r >= 0)
                r = strv_extend(&arguments, verb->name);
        for (; r >= 0 && *operands; operands++)
                r = strv_extend(&arguments, *operands);
        command.arguments = arguments;
        if (r >= 0)
                r = ssh_command(&command, &argv);
        return r < 0 ? r : ctl_exec(ctl, ssh_program(), (const char *const *) argv);
}

static int run(Ctl *ctl, int argc, char **argv) {
        const Verb *verb;
        int r, first;

        r = options_parse(ctl, argc, argv, &verb, &first);
        if (r == -EINVAL)
                return CTL_DEFINITION;
        if (r != 0)
                return r > 0 ? CTL_OK : r;
        return ctl->host ? run_remote(ctl, verb, argv + first) : verb->run(ctl, argv + first);
}

/* The reason is known where it is the last that was printed that is lost. */
static int fail_output(Ctl *ctl, int error) {
        return ctl_fail(ctl,
                        CTL_FAILED,
                        "MCP-X-FAILED",
                        NULL,
                        "Not all of the output could be written%s%s.",
                        error == -EIO ? "" : ": ",
                        error == -EIO ? "" : STRERROR(error));
}

int main(int argc, char **argv) {
        _cleanup_ctl_ Ctl ctl = {
                .scope = geteuid() == 0 ? RUNTIME_SCOPE_SYSTEM : RUNTIME_SCOPE_USER,
                .pager = true,
                .timeout_usec = UINT64_MAX,
        };
        int r, output;

        if (stdio_fill(O_RDONLY | O_CLOEXEC) < 0)
                return CTL_FAILED;
        (void) setlocale(LC_ALL, "");
        /* JSON, quantities and what others parse have a point in every country. */
        (void) setlocale(LC_NUMERIC, "C");
        report_style_init(&ctl.style, STDOUT_FILENO);
        report_style_init(&ctl.error_style, STDERR_FILENO);
        r = run(&ctl, argc, argv);
        pager_close();
        output = stream_finish(stdout);
        if (r < 0 && output >= 0)
                r = ctl_fail(&ctl, CTL_FAILED, "MCP-X-FAILED", NULL, "It did not work: %s.", STRERROR(r));
        if (output < 0) {
                int failed = fail_output(&ctl, output);

                r = r > 0 ? r : failed;
        }
        return r < 0 ? CTL_FAILED : r;
}
