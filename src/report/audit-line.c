/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report/audit-line.h"
#include "basic/string-util.h"

void audit_line_done(AuditLine *l) {
        strv_free(l->blockers);
        free(l->path);
        free(l->address);
        free(l->process);
        *l = (AuditLine){};
}

static int hex_digit(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The kernel quotes what is harmless, and writes everything else as hexadecimal digits (audit_log_untrustedstring()). */
static int unquote(const char *value, size_t n, char **ret) {
        _cleanup_free_ char *s = NULL;

        if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
                *ret = strndup(value + 1, n - 2);
                return *ret ? 0 : -ENOMEM;
        }
        if (n == 0 || n % 2 != 0)
                return -EBADMSG;
        s = malloc(n / 2 + 1);
        if (!s)
                return -ENOMEM;
        for (size_t i = 0; i < n / 2; i++) {
                int high = hex_digit(value[2 * i]), low = hex_digit(value[2 * i + 1]);

                if (high < 0 || low < 0 || (high == 0 && low == 0))
                        return -EBADMSG;
                s[i] = (char) (high << 4 | low);
        }
        s[n / 2] = 0;
        *ret = TAKE_PTR(s);
        return 0;
}

static int parse_number(const char *value, size_t n, int base, uint64_t max, uint64_t *ret) {
        char digits[24], *end;
        unsigned long long number;

        if (n == 0 || n >= sizeof(digits) || hex_digit(value[0]) < 0)
                return -EBADMSG;
        memcpy(digits, value, n);
        digits[n] = 0;
        errno = 0;
        number = strtoull(digits, &end, base);
        if (errno != 0 || *end || number > max)
                return -EBADMSG;
        *ret = number;
        return 0;
}

static int take_blockers(AuditLine *l, const char *value, size_t n) {
        _cleanup_free_ char *copy = strndup(value, n);

        if (!copy)
                return -ENOMEM;
        l->blockers = strv_free(l->blockers);
        return strv_split(copy, ",", &l->blockers);
}

static int take_string(char **p, const char *value, size_t n) {
        char *s;
        int r;

        r = unquote(value, n, &s);
        if (r < 0)
                return r;
        free(*p);
        *p = s;
        return 0;
}

static int take_field(
                AuditLine *l, const char *key, size_t key_n, const char *value, size_t n, bool *domain) {
        uint64_t number = 0;
        int r = 0;

#define IS(name) (key_n == strlen(name) && strncmp(key, name, key_n) == 0)
        if (IS("domain")) {
                r = parse_number(value, n, 16, UINT64_MAX, &l->domain);
                *domain = r >= 0;
        } else if (IS("blockers"))
                r = take_blockers(l, value, n);
        else if (IS("path"))
                r = take_string(&l->path, value, n);
        else if (IS("ocomm"))
                r = take_string(&l->process, value, n);
        else if (IS("daddr") || IS("saddr")) {
                free(l->address);
                l->address = strndup(value, n);
                r = l->address ? 0 : -ENOMEM;
        } else if (IS("dest") || IS("src")) {
                r = parse_number(value, n, 10, UINT16_MAX, &number);
                l->port = (uint16_t) number;
        } else if (IS("pid")) {
                r = parse_number(value, n, 10, INT32_MAX, &number);
                l->pid = (pid_t) number;
        } else if (IS("status"))
                l->allocated = n == strlen("allocated") && strncmp(value, "allocated", n) == 0;
#undef IS
        return r;
}

int audit_line_parse(const char *text, AuditLine *ret) {
        _cleanup_audit_line_ AuditLine l = {};
        bool domain = false;

        for (const char *p = text; *p;) {
                size_t n = strcspn(p, " "), key_n = strcspn(p, "= ");
                int r;

                if (key_n < n) {
                        r = take_field(&l, p, key_n, p + key_n + 1, n - key_n - 1, &domain);
                        if (r < 0)
                                return r;
                }
                p += n;
                p += strspn(p, " ");
        }
        if (!domain || (!l.blockers && !strstr(text, "status=")))
                return -EBADMSG;
        *ret = l;
        l = (AuditLine){};
        return 0;
}

const char *audit_line_access(const AuditLine *l) {
        static const char *const reads[] = { "read_file", "read_dir" };
        const char *right = l->blockers ? startswith(l->blockers[0], "fs.") : NULL;

        if (!right || !l->path || streq(right, "resolve_unix"))
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(reads); i++)
                if (streq(right, reads[i]))
                        return "read";
        return streq(right, "execute") ? "execute" : "write";
}
