/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report/json-out.h"
#include "report/report-plan.h"
#include "report/table.h"
#include "test.h"

static const TableColumn columns[] = { { "NAME" }, { "MEANING", TABLE_WRAP }, {} };

static char *print_table(const ReportStyle *style, const char *meaning) {
        _cleanup_table_ Table *t = NULL;
        char *text = NULL;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        ASSERT_NOT_NULL(f);
        ASSERT_OK(table_new(columns, style, &t));
        table_row(t);
        table_cell(t, 0, TONE_BAD, "fs-write");
        table_cell(t, 1, TONE_PLAIN, meaning);
        ASSERT_OK(table_print(t, f));
        ASSERT_EQ(fclose(f), 0);
        return text;
}

static size_t longest_line(const char *text) {
        size_t longest = 0;

        while (*text) {
                size_t n = strcspn(text, "\n");

                longest = MAX(longest, n);
                text += n;
                text += *text == '\n';
        }
        return longest;
}

static const char sentence[] = "Writes outside of the listed paths are denied by the kernel, whoever the "
                               "process becomes afterwards.";

TEST(pipe_gets_whole_lines_without_colours) {
        ReportStyle style = {};
        _cleanup_free_ char *text = print_table(&style, sentence);

        ASSERT_CONTAINS(text, sentence);
        ASSERT_LACKS(text, "\033");
}

TEST(terminal_gets_words_wrapped_at_its_width) {
        ReportStyle style = { .columns = 50 };
        _cleanup_free_ char *text = print_table(&style, sentence);

        ASSERT_LE(longest_line(text), 50);
        ASSERT_CONTAINS(text, "afterwards.");
        ASSERT_CONTAINS(text, " listed");
        ASSERT_LACKS(text, sentence);
}

TEST(colours_only_where_wanted) {
        ReportStyle style = { .columns = 120, .colors = true };
        _cleanup_free_ char *text = print_table(&style, "short");

        ASSERT_CONTAINS(text, "\033[");
}

TEST(control_characters_do_not_reach_a_terminal) {
        ReportStyle style = { .columns = 120 };
        _cleanup_free_ char *text = print_table(&style, "a\033]0;owned\007b\nc");

        ASSERT_LACKS(text, "\033");
        ASSERT_LACKS(text, "\007");
        ASSERT_LACKS(text, "b\nc");
}

TEST(empty_cell_is_a_dash) {
        ReportStyle style = {};
        _cleanup_free_ char *text = print_table(&style, NULL);

        ASSERT_CONTAINS(text, " -");
}

TEST(wrapped_text_is_indented) {
        ReportStyle style = { .columns = 40 };
        char *text = NULL;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        ASSERT_NOT_NULL(f);
        fputs("key: ", f);
        ASSERT_OK(style_print_wrapped(f, &style, 5, 5, "one two three four five six seven eight nine"));
        ASSERT_EQ(fclose(f), 0);
        ASSERT_STREQ(text, "key: one two three four five six seven\n     eight nine\n");
        free(text);
}

TEST(pipe_is_not_wrapped) {
        ReportStyle style = {};
        char *text = NULL;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        ASSERT_NOT_NULL(f);
        ASSERT_OK(style_print_wrapped(f, &style, 0, 2, sentence));
        ASSERT_EQ(fclose(f), 0);
        ASSERT_EQ(n, strlen(sentence) + 1);
        free(text);
}

TEST(no_color_and_columns_are_heeded) {
        ReportStyle style;

        ASSERT_EQ(setenv("NO_COLOR", "1", 1), 0);
        ASSERT_EQ(setenv("COLUMNS", "72", 1), 0);
        report_style_init(&style, STDERR_FILENO);
        ASSERT_FALSE(style.colors);
        if (isatty(STDERR_FILENO))
                ASSERT_EQ(style.columns, 72);
        else
                ASSERT_EQ(style.columns, 0);
}

TEST(json_holds_text_that_is_not_utf8) {
        _cleanup_json_out_ JsonOut out;
        _cleanup_jsonc_ json_object *o = NULL;

        json_out_init(&out, /* array= */ false);
        json_out_string(&out, out.root, "path", "/tmp/\xff\xfe");
        json_out_string(&out, out.root, "nothing", NULL);
        json_out_limit(&out, out.root, "unset", LIMIT_UNSET);
        json_out_limit(&out, out.root, "infinity", LIMIT_INFINITY);
        json_out_limit(&out, out.root, "number", 512);
        ASSERT_OK(json_out_finish(&out, &o));
        ASSERT_STREQ(jsonc_to_text(o, NULL),
                     "{\"path\":\"/tmp/\\\\xff\\\\xfe\",\"nothing\":null,\"unset\":null,"
                     "\"infinity\":\"infinity\",\"number\":512}");
}

TEST(json_failure_sticks) {
        _cleanup_json_out_ JsonOut out;
        json_object *o = NULL;

        json_out_init(&out, /* array= */ true);
        json_out_value(&out, out.root, NULL, NULL);
        json_out_integer(&out, out.root, NULL, 1);
        ASSERT_ERROR(json_out_finish(&out, &o), ENOMEM);
        ASSERT_NULL(o);
}

static void assert_bytes(uint64_t bytes, const char *expected) {
        _cleanup_free_ char *text = report_format_bytes(bytes);

        ASSERT_STREQ(text, expected);
}

TEST(bytes) {
        assert_bytes(0, "0B");
        assert_bytes(1023, "1023B");
        assert_bytes(1024, "1K");
        assert_bytes(1536, "1.5K");
        assert_bytes(512ULL << 20, "512M");
        assert_bytes(LIMIT_INFINITY, "infinity");
        assert_bytes(LIMIT_UNSET, "unset");
        assert_bytes(INT64_MAX, "8.0E");
}

static void assert_usec(uint64_t usec, const char *expected) {
        _cleanup_free_ char *text = report_format_usec(usec);

        ASSERT_STREQ(text, expected);
}

TEST(durations) {
        assert_usec(0, "0");
        assert_usec(5 * USEC_PER_SEC, "5s");
        assert_usec(150 * USEC_PER_SEC, "2min 30s");
        assert_usec(1500, "1ms 500us");
        assert_usec(LIMIT_INFINITY, "infinity");
}
