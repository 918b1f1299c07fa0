/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdarg.h>

#include "basic/errno-util.h"
#include "basic/string-util.h"
#include "config/problem.h"

static const char *const level_table[_PROBLEM_LEVEL_MAX] = {
        [PROBLEM_ERROR] = "error",
        [PROBLEM_WARNING] = "warning",
        [PROBLEM_NOTE] = "note",
};

const char *problem_level_to_string(ProblemLevel level) {
        return level >= 0 && level < _PROBLEM_LEVEL_MAX ? level_table[level] : NULL;
}

static void problem_done(Problem *p) {
        free(p->file);
        free(p->pointer);
        free(p->message);
        free(p->remedy);
}

void problem_list_done(ProblemList *list) {
        for (size_t i = 0; i < list->n_items; i++)
                problem_done(list->items + i);
        free(list->items);
        *list = (ProblemList){};
}

/* Makes room for n more. Grows by doubling: the capacity is the next power of two of n_items. */
static int problem_list_reserve(ProblemList *list, size_t n) {
        size_t have = 1, want = 1;
        Problem *grown;

        while (have < list->n_items)
                have *= 2;
        while (want < list->n_items + n)
                want *= 2;
        if (list->items && want == have)
                return 0;
        grown = reallocarray(list->items, want, sizeof(Problem));
        if (!grown)
                return -ENOMEM;
        list->items = grown;
        return 0;
}

static int copy_optional(const char *s, char **ret) {
        *ret = s ? strdup(s) : NULL;
        return s && !*ret ? -ENOMEM : 0;
}

_printf_(7, 0) static int problem_make(
                Problem *p,
                const char *file,
                const char *pointer,
                const char *remedy,
                unsigned line,
                unsigned column,
                const char *format,
                va_list ap) {
        p->line = line;
        p->column = column;
        if (copy_optional(file, &p->file) < 0 || copy_optional(pointer, &p->pointer) < 0 ||
            copy_optional(remedy, &p->remedy) < 0)
                return -ENOMEM;
        if (vasprintf(&p->message, format, ap) < 0) {
                p->message = NULL;
                return -ENOMEM;
        }
        return 0;
}

_printf_(9, 0) static void problem_addv(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                unsigned line,
                unsigned column,
                const char *pointer,
                const char *remedy,
                const char *format,
                va_list ap) {
        Problem p = { .level = level, .code = code };

        if (problem_list_reserve(list, 1) < 0 ||
            problem_make(&p, file, pointer, remedy, line, column, format, ap) < 0)
        {
                problem_done(&p);
                list->failed = true;
                return;
        }
        list->items[list->n_items++] = p;
}

void problem_add(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                const JsonValue *at,
                const char *remedy,
                const char *message,
                ...) {
        _cleanup_free_ char *pointer = NULL;
        va_list ap;

        if (at) {
                pointer = json_pointer(at);
                if (!pointer)
                        list->failed = true;
        }
        va_start(ap, message);
        problem_addv(list,
                     level,
                     code,
                     file,
                     at ? at->line : 0,
                     at ? at->column : 0,
                     pointer,
                     remedy,
                     message,
                     ap);
        va_end(ap);
}

void problem_add_key(
                ProblemList *list,
                ProblemLevel level,
                const char *code,
                const char *file,
                const JsonValue *member,
                const char *remedy,
                const char *message,
                ...) {
        _cleanup_free_ char *pointer = NULL;
        va_list ap;

        pointer = json_pointer(member);
        if (!pointer)
                list->failed = true;
        va_start(ap, message);
        problem_addv(list,
                     level,
                     code,
                     file,
                     member->key_line,
                     member->key_column,
                     pointer,
                     remedy,
                     message,
                     ap);
        va_end(ap);
}

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
                ...) {
        va_list ap;

        va_start(ap, message);
        problem_addv(list, level, code, file, line, column, pointer, remedy, message, ap);
        va_end(ap);
}

void problem_note_errno(ProblemList *list, int error) {
        if (list->shortage == 0 && errno_is_shortage(error))
                list->shortage = error;
}

void problem_list_take(ProblemList *to, ProblemList *from) {
        to->failed = to->failed || from->failed;
        problem_note_errno(to, from->shortage);
        if (from->n_items > 0) {
                if (problem_list_reserve(to, from->n_items) < 0)
                        to->failed = true;
                else {
                        memcpy(to->items + to->n_items, from->items, from->n_items * sizeof(Problem));
                        to->n_items += from->n_items;
                        from->n_items = 0;
                }
        }
        problem_list_done(from);
}

int problem_list_copy(ProblemList *to, const ProblemList *from) {
        for (size_t i = 0; i < from->n_items; i++) {
                const Problem *p = from->items + i;

                problem_add_at(to,
                               p->level,
                               p->code,
                               p->file,
                               p->line,
                               p->column,
                               p->pointer,
                               p->remedy,
                               "%s",
                               p->message);
        }
        to->failed = to->failed || from->failed;
        problem_note_errno(to, from->shortage);
        return to->failed ? -ENOMEM : 0;
}

bool problem_list_has_errors(const ProblemList *list) {
        if (list->failed)
                return true;
        for (size_t i = 0; i < list->n_items; i++)
                if (list->items[i].level == PROBLEM_ERROR)
                        return true;
        return false;
}

char *problem_format(const Problem *p) {
        _cleanup_free_ char *place = NULL, *raw = NULL;
        const char *level = problem_level_to_string(p->level);

        if (p->file && p->line > 0)
                place = strformat("%s:%u:%u: ", p->file, p->line, p->column);
        else
                place = p->file ? strformat("%s: ", p->file) : strdup("");
        if (!place)
                return NULL;
        raw = strformat("%s%s: %s%s%s [%s%s%s]",
                        place,
                        strempty(level),
                        p->message,
                        p->remedy ? " " : "",
                        strempty(p->remedy),
                        p->code,
                        isempty(p->pointer) ? "" : " at ",
                        strempty(p->pointer));
        return raw ? string_escape_control(raw) : NULL;
}
