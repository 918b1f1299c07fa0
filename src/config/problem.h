/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is wrong with a definition, a manifest or a request, as values: every surface (check, show, the journal, the
 * refusal that a client reads) prints the same list. A list is collected to its end, so that a person sees all
 * problems of a file at once. */

#include "basic/json.h"
#include "basic/macro.h"

typedef enum ProblemLevel {
        PROBLEM_ERROR,   /* the server will not start */
        PROBLEM_WARNING, /* it starts, but something is not as the author may think */
        PROBLEM_NOTE,    /* accepted and without effect here (keys of other programs) */
        _PROBLEM_LEVEL_MAX,
} ProblemLevel;

typedef struct Problem {
        ProblemLevel level;
        const char *code;      /* static, stable, searchable: "MCP-C-UNKNOWN-KEY" */
        char *file;            /* NULL: not about a file */
        unsigned line, column; /* 0: not about a place in it */
        char *pointer;         /* JSON pointer, NULL: none */
        char *message;         /* one sentence without secrets, with its full stop */
        char *remedy;          /* one sentence: what to write or do instead; NULL: none */
} Problem;

typedef struct ProblemList {
        Problem *items;
        size_t n_items;
        bool failed;  /* an allocation failed while adding: the list is not complete, treat as an error */
        int shortage; /* negative errno: something could not be looked at for now, and may be fine; 0: none */
} ProblemList;

void problem_list_done(ProblemList *list);
#define _cleanup_problems_ _cleanup_(problem_list_done)

/* Adds one. at (may be NULL) gives line, column and pointer. message is a format; remedy plain text or NULL. Failing to
 * allocate sets list->failed and is no reason to stop collecting. */
void problem_add(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                const JsonValue *at,
                const char *remedy,
                const char *message,
                ...) _printf_(7, 8);

/* The same at a member's key instead of its value: for keys that are themselves the mistake. */
void problem_add_key(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                const JsonValue *member,
                const char *remedy,
                const char *message,
                ...) _printf_(7, 8);

/* The same at a place that was noted down before (config/definition.h's Text). line 0: no place; pointer may be NULL. */
void problem_add_at(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                unsigned line,
                unsigned column,
                const char *pointer,
                const char *remedy,
                const char *message,
                ...) _printf_(9, 10);

/* Moves everything in from to the end of to. */
void problem_list_take(ProblemList *to, ProblemList *from);

/* Adds copies of everything in from. -ENOMEM: to->failed is set. */
int problem_list_copy(ProblemList *to, const ProblemList *from);

/* Notes down a negative errno that was met on the way, where it is a shortage (basic/errno-util.h). */
void problem_note_errno(ProblemList *list, int error);

bool problem_list_has_errors(const ProblemList *list);   /* also true where failed is set */
const char *problem_level_to_string(ProblemLevel level); /* "error", "warning", "note" */

/* "FILE:LINE:COLUMN: error: MESSAGE REMEDY [CODE at POINTER]", control characters escaped. NULL: out of memory. */
char *problem_format(const Problem *problem);
