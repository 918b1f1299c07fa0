/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* mcpctl import, cut in three: what is to be done (verb-import.c), telling it (import-report.c) and doing it
 * (import-write.c). */

#include "clients/client-server.h"
#include "clients/definition-out.h"
#include "ctl/ctl.h"

/* One server of the client's file. */
typedef struct ImportItem {
        ClientServer *server;   /* borrowed */
        char *file_name, *path; /* of the definition; NULL: it gets none */
        DefinitionText text;
        ProblemList problems; /* of the definition */
        char *taken;          /* the file that defines the name already; NULL: none */
        bool replace;         /* the very file is there, and is replaced */
        bool same;            /* the very definition is there already */
        bool write;
} ImportItem;

typedef struct ImportRun {
        ClientImport import;
        ImportItem *items;
        size_t n_items;
        const char *dir; /* of definitions; borrowed */
        char *file;      /* absolute; "-": standard input */
        char *workspace;

        /* With --rewrite. */
        char *rewritten; /* the client's file anew; NULL: as it is */
        char *backup;    /* where the old one goes */
        char *why_not;   /* a sentence: why it stays as it is */
} ImportRun;

void import_run_done(ImportRun *run);
#define _cleanup_import_run_ _cleanup_(import_run_done)

size_t import_run_count(const ImportRun *run);  /* definitions to write */
bool import_run_complete(const ImportRun *run); /* nothing of the client's own servers is left out */

/* What would be, or was, done. */
int import_report_text(Ctl *ctl, const ImportRun *run);
int import_report_json(Ctl *ctl, const ImportRun *run, bool written);
/* What has to be set before the servers can start. */
int import_report_needs(Ctl *ctl, const ImportRun *run);
/* The commands that take all of it back. */
int import_report_undo(Ctl *ctl, const ImportRun *run);

/* Writes all definitions, then the client's file; on failure what was written is taken back, and that was said. */
int import_write(Ctl *ctl, const ImportRun *run);
