/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Built without toml++. */

#include "clients/toml.h"

int toml_parse(const char *text, size_t n, JsonValue **ret, TomlSpans *ret_spans, JsonError *ret_error) {
        if (ret_error)
                *ret_error = (JsonError){
                        1, 1, "This build of mcp-systemd reads no TOML (meson option \"toml\")"
                };
        return -EOPNOTSUPP;
}
