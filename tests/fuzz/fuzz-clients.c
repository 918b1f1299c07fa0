/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Clients' files: read, made definitions of, and changed. The first byte chooses the client, or none. */

#include "basic/string-util.h"
#include "clients/definition-out.h"
#include "clients/rewrite.h"
#include "clients/secret.h"
#include "fuzz.h"

static void check_problems(const ProblemList *problems) {
        FUZZ_ASSERT(!problems->failed);
        for (size_t i = 0; i < problems->n_items; i++) {
                _cleanup_free_ char *s = problem_format(problems->items + i);

                FUZZ_ASSERT(s && string_is_utf8(s, strlen(s)));
        }
}

static void check_definition(const ClientServer *s, bool inline_secrets) {
        _cleanup_definition_text_ DefinitionText t = {};
        _cleanup_problems_ ProblemList problems = {};
        int r;

        r = definition_text_make(s, inline_secrets, "fuzz", &t, &problems);
        FUZZ_ASSERT(r == 0 || r == -EINVAL);
        FUZZ_ASSERT((r == -EINVAL) == problem_list_has_errors(&problems));
        check_problems(&problems);
}

/* What is not known here may not be changed; what is, has to come out as it was said. */
static void check_rewrite(const ClientImport *import, const ImportContext *context) {
        _cleanup_free_ const ClientServer **ours = calloc(import->n_servers ?: 1, sizeof(*ours));
        _cleanup_free_ char *out = NULL;
        size_t n = 0;
        int r;

        FUZZ_ASSERT(ours);
        for (size_t i = 0; i < import->n_servers; i++)
                if (import->servers[i].fate == SERVER_OURS)
                        ours[n++] = import->servers + i;
        if (n == 0)
                return;
        r = client_rewrite(import, context, RUNTIME_SCOPE_USER, ours, n, &out);
        FUZZ_ASSERT((r == 0) == (out != NULL));
        FUZZ_ASSERT(r == 0 || r == -EOPNOTSUPP || r == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const ImportContext contexts[] = { {}, { .workspace = "/srv/app", .name = "fuzz" } };
        _cleanup_client_import_ ClientImport import = {};
        _cleanup_strv_free_ char **taken = NULL;
        const ImportContext *context;
        Client client;

        if (size == 0)
                return 0;
        client = (Client) (data[0] % (_CLIENT_MAX + 1)) - 1;
        context = contexts + (data[0] / (_CLIENT_MAX + 1)) % ELEMENTSOF(contexts);
        FUZZ_ASSERT(client_import_parse(
                                    (const char *) data + 1,
                                    size - 1,
                                    "fuzz.conf",
                                    client < 0 ? _CLIENT_INVALID : client,
                                    context,
                                    &import) == 0);
        check_problems(&import.problems);
        for (size_t i = 0; i < import.n_servers; i++) {
                ClientServer *s = import.servers + i;

                FUZZ_ASSERT(client_server_find_secrets(s, &taken) == 0);
                check_problems(&s->problems);
                FUZZ_ASSERT((s->fate == SERVER_BROKEN) == problem_list_has_errors(&s->problems) ||
                            s->fate == SERVER_REMOTE || s->fate == SERVER_ALREADY);
                if (s->fate != SERVER_OURS)
                        continue;
                FUZZ_ASSERT(s->command && *s->command);
                check_definition(s, false);
                check_definition(s, true);
        }
        check_rewrite(&import, context);
        return 0;
}
