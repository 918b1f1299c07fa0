/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text of a unit, made so that no value can become anything else than that value: whatever a value holds, it is one
 * line, one setting and no specifier. What cannot be said that way is left out, and the caller is told.
 *
 * Source for the quoting: systemd.syntax(7) and systemd.unit(5), "SPECIFIERS"; a backslash that ends a line continues
 * it, also where no unquoting is done. */

#include "basic/fd-util.h"

/* All zero: nothing to release. A failed allocation is remembered and returned by unit_text_write(). */
typedef struct UnitText {
        char *data;
        size_t size, room;
        bool failed;
} UnitText;

int unit_text_open(UnitText *t);
void unit_text_done(UnitText *t);
#define _cleanup_unit_text_ _cleanup_(unit_text_done)

/* Text of our own: a line of the given strings (or several, with their ends between them), as they are. */
void unit_text_words(UnitText *t, const char *const *words); /* ends with NULL */
#define unit_text_line(t, ...) unit_text_words((t), (const char *const[]){ __VA_ARGS__, NULL })

/* A free text (Description=): '%' is doubled, backslashes, control characters and invalid UTF-8 become \xNN. before: text
 * of our own, the key and what else comes first. */
int unit_text_string(UnitText *t, const char *before, const char *value);

/* A path that takes the whole line (SourcePath=). -EINVAL: not absolute, or cannot be said in a unit; nothing is
 * written then. */
int unit_text_path(UnitText *t, const char *key, const char *path);

/* The same in a list of quoted words (ReadWritePaths=); prefix goes into the quotes ("-"). -EINVAL also for "..". */
int unit_text_quoted_path(UnitText *t, const char *key, const char *prefix, const char *path);

/* LoadCredential= of a name that config found plain, from a file; NULL: from where the manager finds it. -EINVAL as
 * above. */
int unit_text_credential(UnitText *t, const char *key, const char *name, const char *path);

/* Seconds, or microseconds where there is a rest; UINT64_MAX: infinity. */
void unit_text_usec(UnitText *t, const char *key, uint64_t usec);

/* Makes the file name below dir_fd, which must not be there (-EEXIST), whole or not at all. It is closed with the batch;
 * NULL: at once. */
int unit_text_write(UnitText *t, int dir_fd, const char *name, FdBatch *batch);

/* Is s a name for User= or SocketGroup= that needs no quoting: [A-Za-z0-9_] first, then also [.-], 31 bytes at most? */
bool account_name_is_plain(const char *s);

/* The name of the dynamic user of an instance: "mcp-INSTANCE" where systemd takes that for a user name, else "mcp_" and
 * 16 hexadecimal digits made of it. Without a name of its own systemd would derive it from the template, and all
 * servers would share one user. */
int dynamic_user_name(const char *instance, char **ret);
