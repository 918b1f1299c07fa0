/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "supervisor/lines.h"
#include "basic/string-util.h"

void line_splitter_done(LineSplitter *s) {
        free(s->buffer);
        *s = (LineSplitter){};
}

/* Where to cut the buffer's first n bytes so that no UTF-8 character is divided: at most three bytes earlier. */
static size_t cut_at_character(const char *data, size_t n) {
        for (size_t back = 0; back < 4 && back < n; back++) {
                unsigned char c = (unsigned char) data[n - 1 - back];

                if ((c & 0x80) == 0)
                        return n;
                if ((c & 0xc0) == 0xc0) {
                        size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

                        return length > back + 1 ? n - 1 - back : n;
                }
        }
        return n;
}

static int splitter_add(LineSplitter *s, const char *data, size_t size) {
        if (s->size + size > s->allocated) {
                size_t wanted = MIN(MAX((s->size + size) * 2, (size_t) 256), (size_t) LINE_SIZE_MAX);
                char *grown = realloc(s->buffer, wanted);

                if (!grown)
                        return -ENOMEM;
                s->buffer = grown;
                s->allocated = wanted;
        }
        memcpy(s->buffer + s->size, data, size);
        s->size += size;
        return 0;
}

static void splitter_emit_piece(LineSplitter *s, line_handler_t handler, void *userdata) {
        size_t cut = cut_at_character(s->buffer, s->size);

        handler(userdata, s->buffer, cut, s->continued);
        memmove(s->buffer, s->buffer + cut, s->size - cut);
        s->size -= cut;
        s->continued = true;
}

/* One pass for both: a search for each would go through the rest of the data for every end of the other kind. */
static const char *find_end(const char *data, size_t size) {
        for (const char *p = data; p < data + size; p++)
                if (*p == '\n' || *p == 0)
                        return p;
        return NULL;
}

int line_splitter_feed(
                LineSplitter *s, const char *data, size_t size, line_handler_t handler, void *userdata) {
        while (size > 0) {
                const char *end = find_end(data, size);
                size_t n = end ? (size_t) (end - data) : size, now = MIN(n, LINE_SIZE_MAX - s->size);

                if (s->size == 0 && end && n <= LINE_SIZE_MAX) {
                        handler(userdata, data, n, s->continued);
                        s->continued = false;
                        data += n + 1;
                        size -= n + 1;
                        continue;
                }
                if (splitter_add(s, data, now) < 0)
                        return -ENOMEM;
                data += now;
                size -= now;
                if (now < n) {
                        splitter_emit_piece(s, handler, userdata);
                        continue;
                }
                if (end) {
                        handler(userdata, s->buffer, s->size, s->continued);
                        s->size = 0;
                        s->continued = false;
                        data++;
                        size--;
                }
        }
        return 0;
}

void line_splitter_flush(LineSplitter *s, line_handler_t handler, void *userdata) {
        if (s->size > 0)
                handler(userdata, s->buffer, s->size, s->continued);
        s->size = 0;
        s->continued = false;
}

int line_take_priority(const char **text, size_t *size, int fallback) {
        const char *t = *text;

        if (*size < 3 || t[0] != '<' || t[1] < '0' || t[1] > '7' || t[2] != '>')
                return fallback;
        *text += 3;
        *size -= 3;
        return t[1] - '0';
}

bool rate_limit_take(RateLimit *l, uint64_t now_usec, uint64_t cost) {
        uint64_t elapsed = l->last_usec == 0 ? 0 : MIN(now_usec - l->last_usec, (uint64_t) 60 * 1000000);
        uint64_t earned = elapsed * l->rate / 1000000;

        /* Time that earned less than one token is not forgotten. */
        if (earned > 0 || l->last_usec == 0)
                l->last_usec = now_usec;
        l->level = MIN(l->burst, l->level + earned);
        if (l->level < cost)
                return false;
        l->level -= cost;
        return true;
}

void line_tail_done(LineTail *t) {
        for (size_t i = 0; i < TAIL_LINES; i++)
                free(t->lines[i]);
        *t = (LineTail){};
}

void line_tail_add(LineTail *t, const char *line, size_t size) {
        _cleanup_free_ char *copy =
                        strndup(line, cut_at_character(line, MIN(size, (size_t) TAIL_LINE_SIZE)));
        char *escaped;

        if (!copy)
                return;
        escaped = string_escape_control(copy);
        if (!escaped)
                return;
        free(t->lines[t->next]);
        t->lines[t->next] = escaped;
        t->next = (t->next + 1) % TAIL_LINES;
}

int line_tail_get(const LineTail *t, char ***ret) {
        _cleanup_strv_free_ char **list = NULL;

        for (size_t i = 0; i < TAIL_LINES; i++) {
                const char *line = t->lines[(t->next + i) % TAIL_LINES];

                if (line && strv_extend(&list, line) < 0)
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(list);
        return 0;
}
