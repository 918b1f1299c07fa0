/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/text-edit.h"

void text_edits_done(TextEdits *edits) {
        for (size_t i = 0; i < edits->n_items; i++)
                free(edits->items[i].text);
        free(edits->items);
        *edits = (TextEdits){};
}

int text_edit_add(TextEdits *edits, size_t from, size_t to, const char *text) {
        char *copy = text ? strdup(text) : NULL;
        TextEdit *grown;

        if (text && !copy)
                return -ENOMEM;
        grown = reallocarray(edits->items, edits->n_items + 1, sizeof(*grown));
        if (!grown) {
                free(copy);
                return -ENOMEM;
        }
        edits->items = grown;
        grown[edits->n_items++] = (TextEdit){ .from = from, .to = to, .text = copy };
        return 0;
}

static int compare_edits(const void *a, const void *b) {
        const TextEdit *x = a, *y = b;

        /* An insertion comes before what is taken out at the same place. */
        if (x->from != y->from)
                return x->from < y->from ? -1 : 1;
        return x->to < y->to ? -1 : x->to > y->to;
}

int text_edits_apply(TextEdits *edits, const char *text, size_t size, char **ret) {
        size_t total = size + 1, at = 0;
        char *out, *p;

        qsort(edits->items, edits->n_items, sizeof(TextEdit), compare_edits);
        for (size_t i = 0; i < edits->n_items; i++) {
                const TextEdit *e = edits->items + i;

                if (e->from < at || e->to < e->from || e->to > size)
                        return -EINVAL;
                at = e->to;
                total += e->text ? strlen(e->text) : 0;
        }
        p = out = malloc(total);
        if (!out)
                return -ENOMEM;
        at = 0;
        for (size_t i = 0; i < edits->n_items; i++) {
                const TextEdit *e = edits->items + i;

                p = mempcpy(p, text + at, e->from - at);
                if (e->text)
                        p = stpcpy(p, e->text);
                at = e->to;
        }
        p = mempcpy(p, text + at, size - at);
        *p = '\0';
        *ret = out;
        return 0;
}

int text_offset(const char *text, size_t size, unsigned line, unsigned column, size_t *ret) {
        size_t at = 0;

        if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
                at = 3;
        for (unsigned l = 1; l < line; l++) {
                const char *end = memchr(text + at, '\n', size - at);

                if (!end)
                        return -EINVAL;
                at = (size_t) (end - text) + 1;
        }
        for (unsigned c = 1; c < column; c++) {
                if (at >= size || text[at] == '\n')
                        return -EINVAL;
                do
                        at++;
                while (at < size && ((unsigned char) text[at] & 0xc0) == 0x80);
        }
        *ret = at;
        return 0;
}
