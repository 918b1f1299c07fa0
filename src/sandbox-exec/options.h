/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The command line of mcp-sandbox, as a definition: what is on it is checked like a file's. */

#include "config/definition.h"

typedef struct Options {
        const char *definition, *manifest, *name, *working_dir;
        NetworkWish network;
        UnixWish unix_sockets;
        HomeWish home;
        bool strict, dry_run, json;
        char **write; /* absolute or relative to the current directory */
        char **unix_paths;
        char **env;           /* NAME=VALUE */
        const char *env_file; /* NULL: the definition's */
        char **command;       /* borrowed from argv; NULL: the definition's */
} Options;

typedef enum OptionsResult {
        OPTIONS_RUN,
        OPTIONS_DONE,  /* --help or --version was printed */
        OPTIONS_USAGE, /* a message was printed to stderr */
} OptionsResult;

/* Prints what --help and mistakes call for. -ENOMEM. */
int options_parse(int argc, char **argv, Options *ret, OptionsResult *ret_result);
void options_done(Options *o);
#define _cleanup_options_ _cleanup_(options_done)

/* The definition that the options mean; with --definition that file's, changed by the other options. As
 * definition_load_file(). */
int options_to_definition(const Options *o, Definition **ret, ProblemList *problems);
