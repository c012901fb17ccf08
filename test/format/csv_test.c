/* CSV files: cells by the rules of RFC 4180, and errors that name the line and the column. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "format/csv.h"
#include "support/expect.h"
#include "support/folder.h"

static const mst_csv_format comma = {.delimiter = ','};

static mst_csv *parse(const char *text) {
    mst_csv *csv;
    EXPECT_OK(mst_csv_parse("f.csv", text, strlen(text), &comma, &csv));
    return csv;
}

static void expect_row(const mst_csv *csv, int64_t row, const char *const *cells, int n) {
    assert_int_equal(mst_csv_num_columns(csv), n);
    for (int i = 0; i < n; i++) assert_string_equal(mst_csv_cell(csv, row, i), cells[i]);
}

static void cells_are_as_rfc_4180_has_them(void **state) {
    (void)state;
    const char text[] =
        "\xef\xbb\xbf"
        "a,\"b \"\"c\"\"\",d\r\n"
        "1,\"x,\r\ny\",\r\n"
        "\r\n"
        " 2 ,\"\",5\" pipe\n"
        "\"\"\"\",\"q\",\"last\"";
    mst_csv *csv = parse(text);
    assert_int_equal(mst_csv_num_rows(csv), 3);
    assert_string_equal(mst_csv_header(csv, 0), "a");
    assert_string_equal(mst_csv_header(csv, 1), "b \"c\"");
    expect_row(csv, 0, (const char *[]){"1", "x,\r\ny", ""}, 3);
    expect_row(csv, 1, (const char *[]){" 2 ", "", "5\" pipe"}, 3);
    expect_row(csv, 2, (const char *[]){"\"", "q", "last"}, 3);
    char place[MST_CSV_PLACE];
    assert_string_equal(mst_csv_place(csv, 0, 2, place), "'f.csv', line 2, column 'd'");
    assert_string_equal(mst_csv_place(csv, 1, 0, place), "'f.csv', line 5, column 'a'");
    mst_csv_close(csv);
}

static void another_delimiter_can_be_chosen(void **state) {
    (void)state;
    mst_csv *csv;
    EXPECT_OK(mst_csv_parse("f.tsv", "a\tb,c\n1\t2,3\n", 12, &(mst_csv_format){.delimiter = '\t'}, &csv));
    expect_row(csv, 0, (const char *[]){"1", "2,3"}, 2);
    mst_csv_close(csv);
    EXPECT_ERROR(mst_csv_parse("f.tsv", "a\n1\n", 4, &(mst_csv_format){.delimiter = '"'}, &csv), MST_INVALID,
                 "no quote and no line end");
}

static void each_row_ends_where_the_file_does(void **state) {
    (void)state;
    static const char *const texts[] = {"a,b\n1,", "a,b\n1,\n", "a,b\n\n\n1,\"\"", "a,b\r\n1,\"\"\r\n\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mst_csv *csv = parse(texts[i]);
        assert_int_equal(mst_csv_num_rows(csv), 1);
        expect_row(csv, 0, (const char *[]){"1", ""}, 2);
        mst_csv_close(csv);
    }
}

static void lines_may_end_with_cr_alone(void **state) {
    (void)state;
    static const char *const texts[] = {"a,b\r1,\"x\ry\"\r2,z\r", "a,b\r\r1,\"x\ry\"\r\r2,z",
                                        "a,b\n1,\"x\ry\"\r2,z\r\n"};
    static const int lines[] = {4, 6, 4};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char place[MST_CSV_PLACE], want[MST_CSV_PLACE];
        mst_csv *csv = parse(texts[i]);
        assert_int_equal(mst_csv_num_rows(csv), 2);
        expect_row(csv, 0, (const char *[]){"1", "x\ry"}, 2);
        expect_row(csv, 1, (const char *[]){"2", "z"}, 2);
        snprintf(want, sizeof want, "'f.csv', line %d, column 'a'", lines[i]);
        assert_string_equal(mst_csv_place(csv, 1, 0, place), want);
        mst_csv_close(csv);
    }
}

static void comments_are_skipped(void **state) {
    (void)state;
    const char text[] = "# by hand\na,b\n#1,2\r\n\n1,\"x\n#y\"\n2,#z\n#";
    char place[MST_CSV_PLACE];
    mst_csv *csv;
    EXPECT_OK(mst_csv_parse("f.csv", text, strlen(text), &(mst_csv_format){.comment = '#'}, &csv));
    assert_int_equal(mst_csv_num_rows(csv), 2);
    expect_row(csv, 0, (const char *[]){"1", "x\n#y"}, 2);
    expect_row(csv, 1, (const char *[]){"2", "#z"}, 2);
    assert_string_equal(mst_csv_place(csv, 1, 0, place), "'f.csv', line 7, column 'a'");
    mst_csv_close(csv);
    EXPECT_ERROR(mst_csv_parse("f.csv", text, strlen(text), &comma, &csv), MST_CORRUPT, "say --comment '#'");
    static const char none[] = {'"', '\n', ','};
    for (size_t i = 0; i < sizeof none; i++)
        EXPECT_ERROR(mst_csv_parse("f.csv", text, strlen(text), &(mst_csv_format){.comment = none[i]}, &csv),
                     MST_INVALID, "the character of comments");
}

static void a_table_may_have_no_header(void **state) {
    (void)state;
    static const char *const texts[] = {"5,a,5\n6,b,", "5,a,5,\r\n6,b,,\r\n"};
    const mst_csv_format no_header = {.no_header = true};
    char place[MST_CSV_PLACE];
    int column;
    mst_csv *csv;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        EXPECT_OK(mst_csv_parse("f.csv", texts[i], strlen(texts[i]), &no_header, &csv));
        assert_int_equal(mst_csv_num_rows(csv), 2);
        expect_row(csv, 0, (const char *[]){"5", "a", "5"}, 3);
        expect_row(csv, 1, (const char *[]){"6", "b", ""}, 3);
        assert_string_equal(mst_csv_header(csv, 0), "1");
        assert_string_equal(mst_csv_header(csv, 2), "3");
        EXPECT_OK(mst_csv_find(csv, "2", &column));
        assert_int_equal(column, 1);
        assert_string_equal(mst_csv_place(csv, 0, 2, place), "'f.csv', line 1, column '3'");
        mst_csv_close(csv);
    }
    EXPECT_OK(mst_csv_parse("f.csv", "7", 1, &no_header, &csv));
    assert_int_equal(mst_csv_num_rows(csv), 1);
    mst_csv_close(csv);
    EXPECT_ERROR(mst_csv_parse("f.csv", "\n", 1, &no_header, &csv), MST_CORRUPT, "is empty: rows are due");
    EXPECT_ERROR(mst_csv_parse("f.csv", "1,2\n3\n", 6, &no_header, &csv), MST_CORRUPT,
                 "line 2: has 1 column, the first row has 2");
    EXPECT_ERROR(mst_csv_parse("f.csv", texts[0], strlen(texts[0]), &comma, &csv), MST_CORRUPT,
                 "two columns have the name '5': rename one, or if the table has no header, say --no-header");
}

static void text_that_is_no_table_is_named_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "'f.csv': is empty"},
        {"\n\n", "'f.csv': is empty"},
        {"a,b\n", "has a header and no rows"},
        {"a,b\n1,2\n3\n", "line 3: has 1 column, the header has 2"},
        {"a,b\n1,2,3\n", "line 2: has 3 columns, the header has 2"},
        {"a,b,a\n1,2,3\n", "line 1: two columns have the name 'a'"},
        {"a\n1\n\"x\ny\n", "line 3, column 1: the quote that begins here is never closed"},
        {"a\n1\n\"x\"\"", "line 3, column 1: the quote that begins here is never closed"},
        {"a,b\n1,\"x\" y\n", "line 2, column 2: text follows the closing quote"},
        {"a\r\"x\"y\r", "line 2, column 1: text follows the closing quote"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_csv *csv;
        EXPECT_ERROR(mst_csv_parse("f.csv", cases[i].text, strlen(cases[i].text), &comma, &csv), MST_CORRUPT,
                     cases[i].message);
        assert_null(csv);
    }
    mst_csv *csv;
    EXPECT_ERROR(mst_csv_parse("f.csv", "a,b\n1,\0\n", 8, &comma, &csv), MST_CORRUPT,
                 "line 2, column 2: has a NUL byte");
}

static void a_column_is_found_by_name(void **state) {
    (void)state;
    int column;
    mst_csv *csv = parse("a,b\nc,d\n");
    EXPECT_OK(mst_csv_find(csv, "b", &column));
    assert_int_equal(column, 1);
    EXPECT_ERROR(mst_csv_find(csv, "c", &column), MST_NOT_FOUND, "has no column 'c': its columns are 'a', 'b'");
    mst_csv_close(csv);
}

static void files_that_cannot_be_read_are_named(void **state) {
    (void)state;
    mst_csv *csv;
    EXPECT_OK(mst_csv_read(folder_write("f.csv", "a\n1\n", 4), &comma, &csv));
    expect_row(csv, 0, (const char *[]){"1"}, 1);
    mst_csv_close(csv);
    EXPECT_ERROR(mst_csv_read(folder_path("none.csv"), &comma, &csv), MST_NOT_FOUND, "none.csv");
    EXPECT_ERROR(mst_csv_read(folder_path(""), &comma, &csv), MST_INVALID, "is a folder");
    assert_null(csv);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_as_rfc_4180_has_them),
        cmocka_unit_test(another_delimiter_can_be_chosen),
        cmocka_unit_test(each_row_ends_where_the_file_does),
        cmocka_unit_test(lines_may_end_with_cr_alone),
        cmocka_unit_test(comments_are_skipped),
        cmocka_unit_test(a_table_may_have_no_header),
        cmocka_unit_test(text_that_is_no_table_is_named_with_its_line),
        cmocka_unit_test(a_column_is_found_by_name),
        TEST_IN_FOLDER(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
