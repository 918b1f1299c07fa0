/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Definitions: our own files and clients' whole files, and the references in what they hold. */

#include "basic/string-util.h"
#include "config/client-file.h"
#include "config/definition-read.h"
#include "config/expand.h"
#include "fuzz.h"

static void check_problems(const ProblemList *problems) {
        FUZZ_ASSERT(!problems->failed);
        for (size_t i = 0; i < problems->n_items; i++) {
                _cleanup_free_ char *s = problem_format(problems->items + i);

                FUZZ_ASSERT(s && string_is_utf8(s, strlen(s)));
                for (const char *c = s; *c; c++)
                        FUZZ_ASSERT((unsigned char) *c >= 0x20 && *c != 0x7f);
        }
}

static void expand(const Text *t, const Definition *d, ExpandFlags flags) {
        static char *env[] = { (char *) "HOME=/home/x", (char *) "A=1", (char *) "EMPTY=", NULL };
        _cleanup_problems_ ProblemList problems = {};
        _cleanup_free_ char *s = NULL;
        int r;

        if (!t->value)
                return;
        r = text_expand(t, d, env, flags, &s, &problems);
        FUZZ_ASSERT((r == 0) == (s != NULL));
        FUZZ_ASSERT(r == 0 || r == -EINVAL);
        FUZZ_ASSERT((r == -EINVAL) == problem_list_has_errors(&problems));
        check_problems(&problems);
}

static void check_name(const char *name) {
        _cleanup_free_ char *instance = NULL, *again = NULL;

        FUZZ_ASSERT(server_name_escape(name, &instance) == 0);
        FUZZ_ASSERT(strlen(instance) <= SERVER_INSTANCE_MAX);
        FUZZ_ASSERT(instance[0] != '.' && !strchr(instance, '/'));
        FUZZ_ASSERT(server_name_unescape(instance, &again) == 0);
        FUZZ_ASSERT(streq(name, again));
}

static void check_definition(const Definition *d, const ProblemList *problems) {
        check_name(d->name);
        /* What may be started has something to start, and ends. */
        if (!problem_list_has_errors(problems) && !d->remote)
                FUZZ_ASSERT(!isempty(d->command.value));
        FUZZ_ASSERT(d->stop.eof_grace_usec < LIMIT_INFINITY && d->stop.kill_after_usec < LIMIT_INFINITY);
        FUZZ_ASSERT(d->sessions.max > 0);
        expand(&d->command, d, EXPAND_PATH);
        expand(&d->working_dir, d, EXPAND_PATH);
        expand(&d->env_file, d, EXPAND_PATH);
        for (size_t i = 0; i < d->args.n_items; i++)
                expand(d->args.items + i, d, EXPAND_TEXT);
        for (size_t i = 0; i < d->n_env; i++) {
                FUZZ_ASSERT(env_name_is_valid(d->env[i].name));
                expand(&d->env[i].value, d, EXPAND_TEXT);
        }
        for (size_t i = 0; i < d->isolation.write.n_items; i++)
                expand(d->isolation.write.items + i, d, EXPAND_PATH);
}

static void read_own(const char *text, size_t size) {
        _cleanup_definition_ Definition *d = NULL;
        _cleanup_problems_ ProblemList problems = {};
        int r;

        r = definition_read_text(text, size, "fuzz", "fuzz.json", &d, &problems);
        FUZZ_ASSERT((r == 0) == (d != NULL));
        FUZZ_ASSERT(r == 0 || problem_list_has_errors(&problems));
        check_problems(&problems);
        if (d)
                check_definition(d, &problems);
}

static void read_client(const char *text, size_t size) {
        _cleanup_client_file_ ClientFile f = { .global.enabled = TRISTATE_UNSET };

        FUZZ_ASSERT(client_file_parse(text, size, "mcp.json", &f) == 0);
        check_problems(&f.problems);
        check_problems(&f.global_problems);
        for (size_t i = 0; i < f.n_entries; i++) {
                _cleanup_definition_ Definition *d = NULL;
                _cleanup_problems_ ProblemList problems = {};
                const ClientEntry *found = client_file_find(&f, f.entries[i].name);

                FUZZ_ASSERT(found && streq(found->name, f.entries[i].name));
                if (client_entry_read(&f, f.entries + i, &d, &problems) == 0)
                        check_definition(d, &problems);
                else
                        FUZZ_ASSERT(problem_list_has_errors(&problems));
                check_problems(&problems);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        read_own((const char *) data, size);
        read_client((const char *) data, size);
        return 0;
}
