/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The client files of the search path, read and trusted. */

#include "config/client-file.h"

/* One ClientFile for each of paths->client_files, in that order. One that is not there, or masked, is empty; what is
 * wrong is in its problems. -ENOMEM. */
int client_files_load(const ConfigPaths *paths, ClientFile **ret, size_t *ret_n);
void client_files_free(ClientFile *files, size_t n);

/* The strongest global isolation block, moved out of its file. */
GlobalIsolation client_files_take_global(ClientFile *files, size_t n);

/* Says at file that other defines the same server. */
void problem_add_collision(ProblemList *problems, const char *file, const char *other, const char *name);
