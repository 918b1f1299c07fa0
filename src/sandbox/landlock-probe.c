/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sandbox/landlock-probe.h"
#include "sandbox/host-probe.h"
#include "sandbox/landlock-rights.h"

/* Newest first; what stands in one row came in one ABI but was seen missing alone. */
static const struct {
        LandlockField field;
        uint64_t bits;
} peel_table[] = {
        { LANDLOCK_FIELD_NET, LL_NET_BIND_UDP | LL_NET_CONNECT_SEND_UDP },
        { LANDLOCK_FIELD_FS, LL_FS_RESOLVE_UNIX },
        { LANDLOCK_FIELD_SCOPE, LL_SCOPE_SIGNAL },
        { LANDLOCK_FIELD_SCOPE, LL_SCOPE_ABSTRACT_UNIX },
        { LANDLOCK_FIELD_FS, LL_FS_IOCTL_DEV },
        { LANDLOCK_FIELD_NET, LL_NET_BIND_TCP | LL_NET_CONNECT_TCP },
        { LANDLOCK_FIELD_FS, LL_FS_TRUNCATE },
        { LANDLOCK_FIELD_FS, LL_FS_REFER },
};

/* 0: the kernel takes such a ruleset. */
static int try_ruleset(landlock_create_ruleset_t create_ruleset, const uint64_t masks[_LANDLOCK_FIELD_MAX]) {
        LandlockRulesetAttr attr = {
                .handled_access_fs = masks[LANDLOCK_FIELD_FS],
                .handled_access_net = masks[LANDLOCK_FIELD_NET],
                .scoped = masks[LANDLOCK_FIELD_SCOPE],
        };
        int fd;

        fd = create_ruleset(&attr, sizeof(attr), 0);
        if (fd < 0)
                return -errno;
        (void) safe_close(fd);
        return 0;
}

static int peel(landlock_create_ruleset_t create_ruleset, uint64_t masks[_LANDLOCK_FIELD_MAX]) {
        int r;

        r = try_ruleset(create_ruleset, masks);
        for (size_t i = 0; (r == -EINVAL || r == -E2BIG) && i < ELEMENTSOF(peel_table); i++) {
                if (!(masks[peel_table[i].field] & peel_table[i].bits))
                        continue;
                masks[peel_table[i].field] &= ~peel_table[i].bits;
                r = try_ruleset(create_ruleset, masks);
        }
        return r;
}

/* Of the features that were taken off some may have been innocent: each is tried again alone on what is accepted. */
static void put_back(
                landlock_create_ruleset_t create_ruleset, int abi, uint64_t masks[_LANDLOCK_FIELD_MAX]) {
        for (size_t i = ELEMENTSOF(peel_table); i > 0; i--) {
                LandlockField field = peel_table[i - 1].field;
                uint64_t bits = peel_table[i - 1].bits & landlock_rights_mask(field, abi);

                if (bits == 0 || (masks[field] & bits) == bits)
                        continue;
                masks[field] |= bits;
                if (try_ruleset(create_ruleset, masks) < 0)
                        masks[field] &= ~bits;
        }
}

int landlock_probe_with(landlock_create_ruleset_t create_ruleset, int forced_abi, LandlockFacts *ret) {
        uint64_t masks[_LANDLOCK_FIELD_MAX];
        LandlockFacts facts = {};
        int abi, r;

        abi = create_ruleset(NULL, 0, LL_CREATE_RULESET_VERSION);
        if (abi <= 0) {
                facts.unavailable = abi < 0 ? errno : ENOSYS;
                facts.forced = forced_abi == 0;
                *ret = facts;
                return 0;
        }
        facts.kernel_abi = abi;
        r = create_ruleset(NULL, 0, LL_CREATE_RULESET_ERRATA);
        facts.errata = r > 0 ? (uint32_t) r : 0;

        facts.abi = MIN(abi, LL_ABI_MAX);
        if (forced_abi >= 0 && forced_abi < facts.abi) {
                facts.abi = forced_abi;
                facts.forced = true;
        }
        if (facts.abi > 0) {
                for (LandlockField f = 0; f < _LANDLOCK_FIELD_MAX; f++)
                        masks[f] = landlock_rights_mask(f, facts.abi);
                r = peel(create_ruleset, masks);
                if (r < 0) {
                        facts.abi = 0;
                        facts.unavailable = -r;
                        *ret = facts;
                        return 0;
                }
                put_back(create_ruleset, facts.abi, masks);
                facts.handled_fs = masks[LANDLOCK_FIELD_FS];
                facts.handled_net = masks[LANDLOCK_FIELD_NET];
                facts.scoped = masks[LANDLOCK_FIELD_SCOPE];
        }
        *ret = facts;
        return 0;
}

int landlock_probe(int forced_abi, LandlockFacts *ret) {
        return landlock_probe_with(landlock_create_ruleset, forced_abi, ret);
}
