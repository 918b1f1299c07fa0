/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* mcpctl: what its verbs share. A verb is one file with one function, and one line in the table of verbs.c.
 *
 * Three kinds of results: a negative errno is something that nobody foresaw, passed up to main, which says it; a
 * positive number is an exit status whose reason was already told (ctl_fail()); 0 is success. */

#include <systemd/sd-bus.h>

#include "basic/jsonc-util.h"
#include "config/definition.h"
#include "plan/plan.h"
#include "report/style.h"

typedef enum CtlExit {
        CTL_OK = 0,
        CTL_FAILED = 1,         /* the answer is no: unhealthy, not running, the tool failed */
        CTL_DEFINITION = 2,     /* usage, or a definition that is wrong */
        CTL_REFUSED = 3,        /* confinement is refused */
        CTL_NO_SUCH_SERVER = 4, /* systemctl's own for units */
        CTL_UNAVAILABLE = 69,   /* manager or socket cannot be reached */
        CTL_CANNOT_EXECUTE = 126,
        CTL_NOT_FOUND = 127,
} CtlExit;

typedef struct Ctl {
        /* Options. */
        RuntimeScope scope;
        bool json, pager, follow, quiet;
        const char *host;      /* NULL: this machine; else its own mcpctl does it all */
        char **forwarded;      /* options but the host, for that one */
        const char *via;       /* the host by which somebody reached this machine; NULL: it is theirs */
        const char *root;      /* NULL: this machine. With one no manager is asked */
        uint64_t timeout_usec; /* UINT64_MAX: not given */
        const char *lines;     /* NULL: not given */
        const char *client;    /* of import and export; NULL: not given */
        const char *name;      /* of what is imported; NULL: not given */
        char **env, **write;   /* of add and run; NULL: not given */
        char **env_names;      /* of env, those whose values are our own variables' */
        const char *env_file;  /* likewise; NULL: not given */
        const char *network;   /* likewise */
        bool strict;
        const char *path, *access, *connect, *socket; /* of why; NULL: not given */
        bool dry_run, yes, force, inline_secrets, rewrite;

        ReportStyle style; /* of stdout */
        ReportStyle error_style;
        bool failed; /* ctl_fail() was called */

        /* Found out when first asked for. */
        ConfigPaths paths;
        bool paths_known;
        ServerList servers;
        bool servers_known;
        sd_bus *bus;
        bool bus_tried;
        int bus_error;
        char **environment;
        bool environment_of_manager; /* else it is our own */
} Ctl;

void ctl_done(Ctl *ctl);
#define _cleanup_ctl_ _cleanup_(ctl_done)

/* Says what went wrong, once: a sentence, its remedy (may be NULL) and a stable code; with --json also as
 * {"error":{code,message,remedy}} on stdout, of several failures the first. Returns status. */
int ctl_fail(Ctl *ctl, CtlExit status, const char *code, const char *remedy, const char *format, ...)
                _printf_(5, 6);

/* Prints root on stdout and releases it. */
int ctl_print_json(json_object *root);

int ctl_paths(Ctl *ctl, const ConfigPaths **ret); /* borrowed */

/* All servers; borrowed. */
int ctl_servers(Ctl *ctl, const ServerList **ret);

bool ctl_has_server(const ServerList *list, const char *name);

/* One of them by its name, its instance or the name of one of its units; borrowed. */
int ctl_find_server(Ctl *ctl, const char *name, const ServerEntry **ret);

/* The same where it must not be masked, and where it has to be usable: readable as well. */
int ctl_find_unmasked_server(Ctl *ctl, const char *name, const ServerEntry **ret);
int ctl_find_usable_server(Ctl *ctl, const char *name, const ServerEntry **ret);

/* The manager's bus. NULL: it cannot be reached, ctl->bus_error says why. */
sd_bus *ctl_bus(Ctl *ctl);
/* The same where it cannot be done without. */
int ctl_require_bus(Ctl *ctl, sd_bus **ret);
char *ctl_bus_trouble(const Ctl *ctl); /* one sentence. NULL: out of memory */

/* The environment that a server's supervisor has: the manager's, where it can be reached; else our own. */
int ctl_environment(Ctl *ctl, char *const **ret);

/* The socket of a server. */
int ctl_socket_path(Ctl *ctl, const char *instance, SocketKind kind, char **ret);

typedef struct Verb {
        const char *name;
        const char *operands; /* as in the help; "" */
        const char *help;
        unsigned min, max; /* operands; UINT_MAX: any number */
        int (*run)(Ctl *ctl, char **operands);
} Verb;
extern const Verb verbs[]; /* ends with name NULL */

int verb_add(Ctl *ctl, char **operands);
int verb_call(Ctl *ctl, char **operands);
int verb_check(Ctl *ctl, char **operands);
int verb_connect(Ctl *ctl, char **operands);
int verb_disable(Ctl *ctl, char **operands);
int verb_doctor(Ctl *ctl, char **operands);
int verb_edit(Ctl *ctl, char **operands);
int verb_enable(Ctl *ctl, char **operands);
int verb_export(Ctl *ctl, char **operands);
int verb_import(Ctl *ctl, char **operands);
int verb_list(Ctl *ctl, char **operands);
int verb_logs(Ctl *ctl, char **operands);
int verb_probe(Ctl *ctl, char **operands);
int verb_remove(Ctl *ctl, char **operands);
int verb_restart(Ctl *ctl, char **operands);
int verb_run(Ctl *ctl, char **operands);
int verb_show(Ctl *ctl, char **operands);
int verb_start(Ctl *ctl, char **operands);
int verb_status(Ctl *ctl, char **operands);
int verb_stop(Ctl *ctl, char **operands);
int verb_tools(Ctl *ctl, char **operands);
int verb_why(Ctl *ctl, char **operands);
