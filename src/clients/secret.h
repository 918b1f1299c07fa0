/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which values are secrets, by name and by looks. Rather too many than too few: what is taken for one is not written to
 * a definition unless that is asked for. */

#include "clients/client-server.h"

/* The name of a variable, an option ("--api-key") or an input that holds a secret. */
bool secret_name_matches(const char *name);

/* A token of a known make, a private key, or a URL with a password in it. */
bool secret_value_matches(const char *value);

/* Decides about every variable and argument of s, and notes what stands for the secrets. taken: the variables that other
 * servers' secrets have already, as "NAME=value"; extended. Nothing is shown. -ENOMEM. */
int client_server_find_secrets(ClientServer *s, char ***taken);
