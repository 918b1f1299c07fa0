/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The probe against kernels that are made up: what they say they are, and what they take. */

#include <fcntl.h>

#include "sandbox/host-probe.h"
#include "sandbox/landlock-probe.h"
#include "sandbox/landlock-rights.h"
#include "test.h"

static struct {
        int abi;   /* what it says */
        int error; /* or how it fails */
        int errata;
        uint64_t fs, net, scope; /* what it takes */
} kernel;

static int fake_create_ruleset(const LandlockRulesetAttr *attr, size_t size, uint32_t flags) {
        if (kernel.error) {
                errno = kernel.error;
                return -1;
        }
        if (flags == LL_CREATE_RULESET_VERSION)
                return kernel.abi;
        if (flags == LL_CREATE_RULESET_ERRATA) {
                errno = EINVAL;
                return kernel.errata ? kernel.errata : -1;
        }
        if ((attr->handled_access_fs & ~kernel.fs) || (attr->handled_access_net & ~kernel.net) ||
            (attr->scoped & ~kernel.scope))
        {
                errno = EINVAL;
                return -1;
        }
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static LandlockFacts probe(int abi, int takes, int forced) {
        LandlockFacts facts;

        kernel.abi = abi;
        kernel.error = 0;
        kernel.errata = 0;
        kernel.fs = landlock_rights_mask(LANDLOCK_FIELD_FS, takes);
        kernel.net = landlock_rights_mask(LANDLOCK_FIELD_NET, takes);
        kernel.scope = landlock_rights_mask(LANDLOCK_FIELD_SCOPE, takes);
        ASSERT_INTEGERS(landlock_probe_with(fake_create_ruleset, forced, &facts), ==, 0);
        return facts;
}

TEST(every_abi_is_taken_whole) {
        for (int abi = 1; abi <= LL_ABI_MAX; abi++) {
                LandlockFacts facts = probe(abi, abi, -1);

                ASSERT_INTEGERS(facts.abi, ==, abi);
                ASSERT_INTEGERS(facts.kernel_abi, ==, abi);
                ASSERT_FALSE(facts.forced);
                ASSERT_INTEGERS(facts.handled_fs, ==, landlock_rights_mask(LANDLOCK_FIELD_FS, abi));
                ASSERT_INTEGERS(facts.handled_net, ==, landlock_rights_mask(LANDLOCK_FIELD_NET, abi));
                ASSERT_INTEGERS(facts.scoped, ==, landlock_rights_mask(LANDLOCK_FIELD_SCOPE, abi));
        }
}

TEST(a_newer_kernel_is_treated_as_the_newest_known) {
        LandlockFacts facts = probe(14, LL_ABI_MAX, -1);

        ASSERT_INTEGERS(facts.abi, ==, LL_ABI_MAX);
        ASSERT_INTEGERS(facts.kernel_abi, ==, 14);
}

TEST(a_lower_abi_can_be_forced_a_higher_cannot) {
        for (int forced = 1; forced <= 12; forced++) {
                LandlockFacts facts = probe(7, 7, forced);

                ASSERT_INTEGERS(facts.abi, ==, MIN(forced, 7));
                ASSERT_INTEGERS(facts.forced, ==, forced < 7);
                ASSERT_INTEGERS(facts.handled_fs,
                                ==,
                                landlock_rights_mask(LANDLOCK_FIELD_FS, MIN(forced, 7)));
        }
}

TEST(none_can_be_forced) {
        LandlockFacts facts = probe(7, 7, 0);

        ASSERT_INTEGERS(facts.abi, ==, 0);
        ASSERT_INTEGERS(facts.kernel_abi, ==, 7);
        ASSERT_TRUE(facts.forced);
        ASSERT_INTEGERS(facts.handled_fs | facts.handled_net | facts.scoped, ==, 0);
}

/* RHEL 9 says 6 and refuses SCOPE_SIGNAL: all the rest has to stay. */
TEST(one_refused_scope_costs_only_itself) {
        LandlockFacts facts;

        (void) probe(6, 6, -1);
        kernel.scope = LL_SCOPE_ABSTRACT_UNIX;
        ASSERT_INTEGERS(landlock_probe_with(fake_create_ruleset, -1, &facts), ==, 0);
        ASSERT_INTEGERS(facts.abi, ==, 6);
        ASSERT_INTEGERS(facts.scoped, ==, LL_SCOPE_ABSTRACT_UNIX);
        ASSERT_INTEGERS(facts.handled_fs, ==, 0xFFFF);
        ASSERT_INTEGERS(facts.handled_net, ==, 3);
}

/* Peeling goes newest first, but what was innocent comes back. */
TEST(each_feature_can_be_the_refused_one) {
        static const struct {
                uint64_t fs, net, scope;
        } lost[] = {
                { LL_FS_REFER, 0, 0 },
                { LL_FS_TRUNCATE, 0, 0 },
                { LL_FS_IOCTL_DEV, 0, 0 },
                { LL_FS_RESOLVE_UNIX, 0, 0 },
                { 0, LL_NET_BIND_TCP | LL_NET_CONNECT_TCP, 0 },
                { 0, LL_NET_BIND_UDP | LL_NET_CONNECT_SEND_UDP, 0 },
                { 0, 0, LL_SCOPE_ABSTRACT_UNIX },
                { 0, 0, LL_SCOPE_SIGNAL },
        };

        for (size_t i = 0; i < ELEMENTSOF(lost); i++) {
                LandlockFacts facts;

                (void) probe(10, 10, -1);
                kernel.fs &= ~lost[i].fs;
                kernel.net &= ~lost[i].net;
                kernel.scope &= ~lost[i].scope;
                ASSERT_INTEGERS(landlock_probe_with(fake_create_ruleset, -1, &facts), ==, 0);
                ASSERT_INTEGERS(facts.handled_fs, ==, kernel.fs);
                ASSERT_INTEGERS(facts.handled_net, ==, kernel.net);
                ASSERT_INTEGERS(facts.scoped, ==, kernel.scope);
        }
}

TEST(an_abi_that_lies_altogether_is_none) {
        LandlockFacts facts;

        (void) probe(5, 5, -1);
        kernel.fs = 0;
        ASSERT_INTEGERS(landlock_probe_with(fake_create_ruleset, -1, &facts), ==, 0);
        ASSERT_INTEGERS(facts.abi, ==, 0);
        ASSERT_INTEGERS(facts.unavailable, ==, EINVAL);
}

TEST(reasons_for_none) {
        static const int errors[] = { ENOSYS, EOPNOTSUPP, EPERM };

        for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
                LandlockFacts facts;

                kernel.error = errors[i];
                ASSERT_INTEGERS(landlock_probe_with(fake_create_ruleset, -1, &facts), ==, 0);
                ASSERT_INTEGERS(facts.abi, ==, 0);
                ASSERT_INTEGERS(facts.unavailable, ==, errors[i]);
        }
}

TEST(errata_are_told) {
        LandlockFacts facts;

        (void) probe(7, 7, -1);
        kernel.errata = 5;
        ASSERT_INTEGERS(landlock_probe_with(fake_create_ruleset, -1, &facts), ==, 0);
        ASSERT_INTEGERS(facts.errata, ==, 5);
}

TEST(the_hook_is_read_from_the_environment) {
        char *env[] = { (char *) "MCP_TEST_LANDLOCK_ABI=0", (char *) "HOME=/root", NULL };
        char *bad[] = { (char *) "MCP_TEST_LANDLOCK_ABI=-1x", (char *) "HOME=/root", NULL };
        _cleanup_host_probe_ HostProbe p = {}, q = {};

        ASSERT_INTEGERS(host_probe(RUNTIME_SCOPE_USER, false, env, &p), ==, 0);
        ASSERT_INTEGERS(p.facts.landlock.abi, ==, 0);
        ASSERT_INTEGERS(host_probe(RUNTIME_SCOPE_USER, false, bad, &q), ==, 0);
        ASSERT_FALSE(q.facts.landlock.forced);
        ASSERT_INTEGERS(q.facts.landlock.abi, ==, MIN(q.facts.landlock.kernel_abi, LL_ABI_MAX));
}
