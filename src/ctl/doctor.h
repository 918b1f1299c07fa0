/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What doctor looks at: a table of checks, each of which adds what it found. */

#include "ctl/ctl.h"
#include "sandbox/host-probe.h"

typedef enum FindingLevel {
        FINDING_OK,
        FINDING_NOTE,    /* as it was asked for, or worth knowing */
        FINDING_WARNING, /* something protects less than it could */
        FINDING_PROBLEM, /* something does not work */
        _FINDING_MAX,
} FindingLevel;
const char *finding_level_to_string(FindingLevel level); /* "ok", "note", "warning", "problem" */

typedef struct Finding {
        FindingLevel level;
        const char *id; /* of the check, static */
        char *server;   /* NULL: it is about the host */
        char *message;  /* a sentence */
        char *remedy;   /* one line; NULL: there is nothing to do */
} Finding;

typedef struct Doctor {
        Ctl *ctl;
        HostProbe host;
        const char *id; /* of the check that runs */
        Finding *findings;
        size_t n_findings;
} Doctor;

/* Adds what the running check found. server and remedy may be NULL. -ENOMEM. */
int doctor_add(Doctor *d,
               FindingLevel level,
               const char *server,
               const char *remedy,
               const char *format,
               ...) _printf_(5, 6);

/* The checks, in doctor-host.c and doctor-servers.c. Negative errno: something failed on our side. */
int doctor_installation(Doctor *d);
int doctor_systemd(Doctor *d);
int doctor_linger(Doctor *d);
int doctor_group(Doctor *d);
int doctor_landlock(Doctor *d);
int doctor_errata(Doctor *d);
int doctor_seccomp(Doctor *d);
int doctor_cgroup(Doctor *d);
int doctor_hidepid(Doctor *d);
int doctor_audit(Doctor *d);
int doctor_snap(Doctor *d);
int doctor_definitions(Doctor *d);
int doctor_secrets(Doctor *d);
int doctor_servers(Doctor *d); /* with the sockets that each could reach */
