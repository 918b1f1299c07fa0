/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzz.h"

#include "basic/path-util.h"
#include "manifest/manifest.h"

/* What has to hold of everything that is accepted, whatever was read. */
static void check(const ManifestGrants *m) {
        for (size_t i = 0; i < m->n_grants; i++) {
                FUZZ_ASSERT(m->grants[i].path && path_is_absolute(m->grants[i].path));
                FUZZ_ASSERT(m->grants[i].pointer);
        }
        for (size_t i = 0; i < m->n_denies; i++)
                FUZZ_ASSERT(m->denies[i].path && path_is_absolute(m->denies[i].path));
        for (size_t i = 1; i < m->n_localhost; i++)
                FUZZ_ASSERT(m->localhost[i - 1] < m->localhost[i]);
        FUZZ_ASSERT(m->n_connect + m->n_bind + m->n_localhost <= MANIFEST_PORTS_MAX);
        FUZZ_ASSERT(m->network_blocked || m->n_localhost == 0);
        (void) manifest_allows_command(m, "/usr/bin/node");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char *const env[] = { "HOME=/home/alice", "XDG_RUNTIME_DIR=/run/user/1000", NULL };
        static const ManifestContext context = {
                .file = "fuzz.json",
                .env = (char *const *) env,
                .working_dir = "/srv",
                .uid = 1000,
        };
        _cleanup_manifest_ ManifestGrants *m = NULL;
        _cleanup_problems_ ProblemList problems = {};
        int r;

        r = manifest_read_text((const char *) data, size, &context, &m, &problems);
        if (r == -ENOMEM)
                return 0;
        FUZZ_ASSERT(r == 0 || r == -EINVAL);
        FUZZ_ASSERT((r == 0) == !problem_list_has_errors(&problems));
        FUZZ_ASSERT(r != 0 || m);
        for (size_t i = 0; i < problems.n_items; i++) {
                _cleanup_free_ char *line = problem_format(problems.items + i);

                FUZZ_ASSERT(line);
        }
        if (m)
                check(m);
        return 0;
}
