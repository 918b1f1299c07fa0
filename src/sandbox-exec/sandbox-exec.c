/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mcp-sandbox: the sandbox of mcp-server@.service without a manager. Confines itself and becomes the program. */

#include <locale.h>

#include "basic/fd-util.h"
#include "basic/path-util.h"
#include "basic/string-util.h"
#include "plan/plan-load.h"
#include "report/report-plan.h"
#include "report/report-problems.h"
#include "sandbox-exec/options.h"
#include "sandbox/host-probe.h"
#include "sandbox/sandbox.h"

enum {
        EXIT_DEFINITION = 2,
        EXIT_REFUSED = 3,
        EXIT_CANNOT_EXECUTE = 126,
        EXIT_NOT_FOUND = 127,
};

/* What the shell would say of a command that is not there. */
static const struct {
        const char *code;
        int status;
} problem_exit_codes[] = {
        { "MCP-P-COMMAND-NOT-FOUND", EXIT_NOT_FOUND },
        { "MCP-P-INTERPRETER-NOT-FOUND", EXIT_CANNOT_EXECUTE },
        { "MCP-P-COMMAND-NOT-EXECUTABLE", EXIT_CANNOT_EXECUTE },
};

/* How wide characters are matters only where text is wrapped. Reading a locale takes a third of a start's system calls. */
static void set_locale(void) {
        (void) setlocale(LC_CTYPE, "");
}

static int out_of_memory(void) {
        (void) fputs("mcp-sandbox: out of memory\n", stderr);
        return EXIT_FAILURE;
}

static int finish_output(void) {
        int r = stream_finish(stdout);

        if (r < 0)
                (void) fprintf(stderr,
                               "mcp-sandbox: Not all of the output could be written: %s.\n",
                               STRERROR(r));
        return r;
}

/* 2 for what has to be corrected, 3 for what is refused; the shell's numbers where the command is all that is wrong. */
static int exit_code(int result, const ProblemList *problems, bool dry_run) {
        int code = 0;

        if (result == -EPERM)
                return EXIT_REFUSED;
        for (size_t i = 0; !dry_run && i < problems->n_items; i++) {
                int mapped = EXIT_DEFINITION;

                if (problems->items[i].level != PROBLEM_ERROR)
                        continue;
                for (size_t k = 0; k < ELEMENTSOF(problem_exit_codes); k++)
                        if (streq(problems->items[i].code, problem_exit_codes[k].code))
                                mapped = problem_exit_codes[k].status;
                if (code != 0 && code != mapped)
                        return EXIT_DEFINITION;
                code = mapped;
        }
        return code != 0 ? code : EXIT_DEFINITION;
}

/* --name: the directory that a unit of that name would have as user. */
static int make_state_dir(const char *instance, HostProbe *probe) {
        _cleanup_free_ char *dir = NULL;
        const char *base = env_get(probe->env, "XDG_STATE_HOME");
        int r;

        if (base && path_is_absolute(base))
                dir = strformat("%s/mcp/%s", base, instance);
        else
                dir = strformat("%s/.local/state/mcp/%s", strempty(probe->home), instance);
        if (!dir)
                return -ENOMEM;
        r = mkdir_parents(dir, 0700);
        if (r < 0) {
                (void) fprintf(stderr,
                               "mcp-sandbox: cannot make the state directory %s: %s\n",
                               dir,
                               STRERROR(r));
                return r;
        }
        free(probe->state_dir);
        probe->state_dir = TAKE_PTR(dir);
        probe->facts.state_dir = probe->state_dir;
        return 0;
}

static int print_json(const Plan *plan, const ProblemList *problems, bool starts) {
        _cleanup_json_out_ JsonOut out = {};
        json_object *plan_json = NULL, *problems_json = NULL, *root = NULL;
        int r;

        json_out_init(&out, false);
        if (plan) {
                r = report_plan_json(plan, REPORT_PLANNED, &plan_json);
                if (r < 0)
                        return r;
        }
        r = report_problems_json(problems, &problems_json);
        if (r < 0)
                return r;
        json_out_boolean(&out, out.root, "starts", starts);
        if (plan)
                json_out_value(&out, out.root, "plan", plan_json);
        json_out_value(&out, out.root, "problems", problems_json);
        r = json_out_finish(&out, &root);
        if (r < 0)
                return r;
        r = json_out_print(stdout, root);
        (void) json_object_put(root);
        return r;
}

static int print_problems(const ProblemList *problems) {
        ReportStyle style;

        if (problems->n_items == 0)
                return 0;
        set_locale();
        report_style_init(&style, STDERR_FILENO);
        return report_problems_text(stderr, problems, &style);
}

static int dry_run(const Options *o, const Plan *plan, const ProblemList *problems, int result) {
        ReportStyle style;
        int r = 0;

        if (o->json)
                r = print_json(plan, problems, result >= 0);
        else {
                set_locale();
                report_style_init(&style, STDOUT_FILENO);
                if (plan)
                        r = report_plan_text(
                                        stdout, plan, result < 0 ? REPORT_REFUSED : REPORT_PLANNED, &style);
                if (r >= 0)
                        r = print_problems(problems);
        }
        if (r >= 0)
                r = finish_output();
        if (r < 0)
                return r == -ENOMEM ? out_of_memory() : EXIT_FAILURE;
        return result < 0 ? exit_code(result, problems, true) : 0;
}

static int run_plan(const Plan *plan) {
        _cleanup_(sandbox_program_freep) SandboxProgram *program = NULL;
        const SandboxStdio stdio = { -EBADF, -EBADF, -EBADF };
        _cleanup_free_ char *text = NULL;
        SandboxFailure failure = {};
        int r;

        r = sandbox_prepare(plan, &program);
        if (r < 0) {
                (void) fprintf(stderr,
                               "mcp-sandbox: cannot compile the system call filter: %s\n",
                               STRERROR(r));
                return EXIT_REFUSED;
        }
        (void) fflush(NULL);
        (void) sandbox_exec(plan, program, &stdio, -EBADF, &failure);
        text = sandbox_failure_format(plan, &failure);
        (void) fprintf(stderr,
                       "mcp-sandbox: %s\n",
                       text ? text : sandbox_stage_to_string((SandboxStage) failure.stage));
        return sandbox_failure_exit_code(&failure);
}

static int run(const Options *o) {
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_host_probe_ HostProbe probe = {};
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_plan_ Plan *plan = NULL;
        const GlobalIsolation no_global = { .enabled = TRISTATE_UNSET };
        int r;

        r = options_to_definition(o, &d, &problems);
        if (r == -ENOMEM)
                return out_of_memory();
        if (r < 0) {
                if (problems.n_items == 0)
                        (void) fprintf(stderr,
                                       "mcp-sandbox: cannot read %s: %s\n",
                                       o->definition ? o->definition : "the current directory",
                                       STRERROR(r));
                (void) print_problems(&problems);
                return EXIT_DEFINITION;
        }
        r = host_probe(RUNTIME_SCOPE_USER, false, environ, &probe);
        if (r < 0)
                return r == -ENOMEM ? out_of_memory() : EXIT_FAILURE;
        if (o->name && make_state_dir(d->instance, &probe) < 0)
                return EXIT_DEFINITION;

        if (problem_list_has_errors(&problems)) {
                r = plan_check_manifest(d, &probe.facts, &problems);
                r = r < 0 ? r : -EINVAL;
        } else
                r = plan_load(d, &no_global, &probe.facts, &plan, &problems);
        if (r == -ENOMEM || problems.failed)
                return out_of_memory();
        if (o->dry_run)
                return dry_run(o, plan, &problems, r);
        (void) print_problems(&problems);
        return r < 0 ? exit_code(r, &problems, false) : run_plan(plan);
}

int main(int argc, char *argv[]) {
        _cleanup_options_ Options o = {};
        OptionsResult result;
        int r;

        r = options_parse(argc, argv, &o, &result);
        if (r < 0)
                return r == -ENOMEM ? out_of_memory() : EXIT_FAILURE;
        if (result == OPTIONS_DONE)
                return finish_output() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (result != OPTIONS_RUN)
                return EXIT_DEFINITION;
        return run(&o);
}
