/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The words for values that are numbers in the plan: one table each, for every surface. */

#include <inttypes.h>

#include "basic/string-util.h"
#include "report/report-plan.h"

const char *report_protection_state(ProtectionState state, ReportTense tense) {
        switch (state) {
        case PROTECTION_ENFORCED:
                return tense == REPORT_RUNNING   ? "enforced"
                       : tense == REPORT_REFUSED ? "would be enforced"
                                                 : "will be enforced";
        case PROTECTION_MISSING:
                return "missing";
        case PROTECTION_NOT_WANTED:
                return "not wanted";
        }
        return "unknown";
}

const char *report_network_mode(NetworkMode mode) {
        static const char *const table[] = {
                [NETWORK_MODE_UNRESTRICTED] = "unrestricted",
                [NETWORK_MODE_BLOCKED] = "blocked",
                [NETWORK_MODE_PORTS] = "ports",
        };

        return (size_t) mode < ELEMENTSOF(table) ? table[mode] : "unknown";
}

const char *report_unix_wish(UnixWish wish) {
        static const char *const table[] = {
                [UNIX_NONE] = "none",
                [UNIX_ANY] = "any",
                [UNIX_LIST] = "list",
        };

        return (size_t) wish < ELEMENTSOF(table) ? table[wish] : "unknown";
}

char *report_format_bytes(uint64_t bytes) {
        static const char suffixes[] = "KMGTPE";
        size_t i = 0;
        uint64_t unit = 1024;

        if (bytes == LIMIT_UNSET)
                return strdup("unset");
        if (bytes == LIMIT_INFINITY)
                return strdup("infinity");
        if (bytes < unit)
                return strformat("%" PRIu64 "B", bytes);
        while (bytes / unit >= 1024 && suffixes[i + 1]) {
                unit *= 1024;
                i++;
        }
        if (bytes % unit == 0)
                return strformat("%" PRIu64 "%c", bytes / unit, suffixes[i]);
        return strformat("%.1f%c", (double) bytes / (double) unit, suffixes[i]);
}

char *report_format_usec(uint64_t usec) {
        static const struct {
                const char *name;
                uint64_t usec;
        } units[] = {
                { "d", 86400 * USEC_PER_SEC }, { "h", 3600 * USEC_PER_SEC },  { "min", 60 * USEC_PER_SEC },
                { "s", USEC_PER_SEC },         { "ms", USEC_PER_SEC / 1000 }, { "us", 1 },
        };
        _cleanup_strv_free_ char **words = NULL;

        if (usec == LIMIT_UNSET)
                return strdup("unset");
        if (usec == LIMIT_INFINITY)
                return strdup("infinity");
        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                if (usec < units[i].usec)
                        continue;
                if (strv_extendf(&words, "%" PRIu64 "%s", usec / units[i].usec, units[i].name) < 0)
                        return NULL;
                usec %= units[i].usec;
        }
        return words ? strv_join(words, " ") : strdup("0");
}
