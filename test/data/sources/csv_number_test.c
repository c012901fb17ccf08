/* Numbers and dates in CSV columns, in the notations of several countries, and cells that have more than one reading.
 * */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "data/sources/csv_column.h"
#include "data/sources/csv_date_words.h"
#include "support/expect.h"

enum { MOST_CELLS = 6, TABLE = 512 };

/* A column of these cells, ended by NULL, as a table of one column. */
static mst_csv *table_of(const char *const cells[MOST_CELLS]) {
    char text[TABLE] = "x\n";
    mst_csv *csv;
    for (int i = 0; i < MOST_CELLS && cells[i]; i++)
        snprintf(text + strlen(text), TABLE - strlen(text), "\"%s\"\n", cells[i]);
    EXPECT_OK(mst_csv_parse("t.csv", text, strlen(text), &(mst_csv_format){.delimiter = ';'}, &csv));
    return csv;
}

typedef struct reading_case {
    const char *cells[MOST_CELLS];
    char decimal, thousands; /* asked for */
    mst_csv_type type;
    double value[MOST_CELLS];
    const char *told;
} reading_case;

static void expect_reading(const reading_case *c) {
    mst_csv *csv = table_of(c->cells);
    const mst_csv_reading as = {.notation = {.decimal = c->decimal, .thousands = c->thousands}};
    mst_csv_column found = {0}, again;
    float value[MOST_CELLS];
    char told[MST_CSV_NOTATION_TEXT];
    EXPECT_OK(mst_csv_column_find(csv, 0, &as, &found));
    assert_int_equal(found.type, c->type);
    assert_string_equal(mst_csv_notation_print(&found.notation, told), c->told ? c->told : "");
    if (found.type != MST_CSV_CATEGORIES) {
        /* through the schema and back: what a model keeps */
        const mst_schema_column kept = mst_csv_column_to_schema(&found);
        EXPECT_OK(mst_csv_column_from_schema(&kept, 0, &again));
        assert_memory_equal(&again.notation, &found.notation, sizeof found.notation);
        EXPECT_OK(mst_csv_column_read_f32(csv, 0, &again, value, 1));
        for (int i = 0; i < MOST_CELLS && c->cells[i]; i++) assert_true(value[i] == (float)c->value[i]);
    }
    mst_csv_column_free(&found);
    mst_csv_close(csv);
}

static void numbers_are_read_where_the_column_leaves_one_reading(void **state) {
    (void)state;
    static const reading_case all[] = {
        {.cells = {"1", "-2"}, .type = MST_CSV_INTEGERS, .value = {1, -2}},
        {.cells = {"1.500", "2.250"}, .type = MST_CSV_FLOATS, .value = {1.5, 2.25}},
        {.cells = {"100,5", "210,25"}, .type = MST_CSV_FLOATS, .value = {100.5, 210.25}, .told = "a decimal comma"},
        {.cells = {"1,5", "7", "-0,25"}, .type = MST_CSV_FLOATS, .value = {1.5, 7, -.25}, .told = "a decimal comma"},
        {.cells = {"100,500", "1,5"}, .type = MST_CSV_FLOATS, .value = {100.5, 1.5}, .told = "a decimal comma"},
        {.cells = {"0,500", "0,125"}, .type = MST_CSV_FLOATS, .value = {.5, .125}, .told = "a decimal comma"},
        {.cells = {"1.234,5", "2"}, .type = MST_CSV_FLOATS, .value = {1234.5, 2}, .told = "a decimal comma"},
        {.cells = {"1.234.567", "2"}, .type = MST_CSV_INTEGERS, .value = {1234567, 2}, .told = "a decimal comma"},
        {.cells = {"1,234.5", "2"}, .type = MST_CSV_FLOATS, .value = {1234.5, 2}, .told = "',' between thousands"},
        {.cells = {"1,234,567", "1,234"},
         .type = MST_CSV_INTEGERS,
         .value = {1234567, 1234},
         .told = "',' between thousands"},
        {.cells = {"1 234", "12 345,5"},
         .type = MST_CSV_FLOATS,
         .value = {1234, 12345.5},
         .told = "a decimal comma and spaces between thousands"},
        {.cells = {"1\xc2\xa0"
                   "234",
                   "5"},
         .type = MST_CSV_INTEGERS,
         .value = {1234, 5},
         .told = "spaces between thousands"},
        {.cells = {"1'234.5", "5"},
         .type = MST_CSV_FLOATS,
         .value = {1234.5, 5},
         .told = "apostrophes between thousands"},
        {.cells = {"12%", "7.5 %"}, .type = MST_CSV_FLOATS, .value = {12, 7.5}, .told = "%"},
        {.cells = {"12.500%", "7.250%"}, .type = MST_CSV_FLOATS, .value = {12.5, 7.25}, .told = "%"},
        {.cells = {"$1,234.50", "-$2", "$-3"},
         .type = MST_CSV_FLOATS,
         .value = {1234.5, -2, -3},
         .told = "',' between thousands and $"},
        {.cells = {"1.234,50 \xe2\x82\xac", "2 \xe2\x82\xac"},
         .type = MST_CSV_FLOATS,
         .value = {1234.5, 2},
         .told = "a decimal comma and \xe2\x82\xac"},
        {.cells = {"\xe2\x88\x92"
                   "1.5",
                   "2"},
         .type = MST_CSV_FLOATS,
         .value = {-1.5, 2}},
        {.cells = {"\xe2\x88\x92"
                   "5",
                   "2"},
         .type = MST_CSV_INTEGERS,
         .value = {-5, 2}},
        {.cells = {"\xc2\xa0"
                   "5\xe2\x80\xaf",
                   "2"},
         .type = MST_CSV_INTEGERS,
         .value = {5, 2}},
        {.cells = {"- 5", "+ 2", "+1"}, .type = MST_CSV_INTEGERS, .value = {-5, 2, 1}},
        {.cells = {"$5", "-$7"}, .type = MST_CSV_INTEGERS, .value = {5, -7}, .told = "$"},
        {.cells = {"1,5e3", "2"}, .type = MST_CSV_FLOATS, .value = {1500, 2}, .told = "a decimal comma"},
        {.cells = {"100,500", "1"},
         .decimal = ',',
         .type = MST_CSV_FLOATS,
         .value = {100.5, 1},
         .told = "a decimal comma"},
        {.cells = {"100,500", "1"},
         .decimal = '.',
         .type = MST_CSV_INTEGERS,
         .value = {100500, 1},
         .told = "',' between thousands"},
        {.cells = {"100,500", "1"},
         .thousands = ',',
         .type = MST_CSV_INTEGERS,
         .value = {100500, 1},
         .told = "',' between thousands"},
        {.cells = {"1.234", "1"},
         .thousands = '.',
         .type = MST_CSV_INTEGERS,
         .value = {1234, 1},
         .told = "a decimal comma"},
        {.cells = {"1.234", "1"},
         .decimal = ',',
         .type = MST_CSV_INTEGERS,
         .value = {1234, 1},
         .told = "a decimal comma"},
        {.cells = {"1.234", "1"}, .decimal = '.', .type = MST_CSV_FLOATS, .value = {1.234, 1}},
        {.cells = {"100 EUR", "210 EUR"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"a", "b"}, .decimal = ',', .type = MST_CSV_CATEGORIES},
        {.cells = {"1,2,3", "a"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"10-20", "20-30"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"1,23,456", "1,2"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"%", "$"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"+-5", "-+2"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"--5", "-$-5"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"+-$5", "-$+5"}, .type = MST_CSV_CATEGORIES},
        {.cells = {"2020-01-02", "2020-01-03"}, .type = MST_CSV_CATEGORIES},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) expect_reading(&all[i]);
}

static void expect_refused(const char *const cells[MOST_CELLS], char decimal, const char *word) {
    mst_csv *csv = table_of(cells);
    mst_csv_column found = {0};
    const mst_csv_reading as = {.notation = {.decimal = decimal}};
    EXPECT_ERROR(mst_csv_column_find(csv, 0, &as, &found), MST_INVALID, word);
    mst_csv_column_free(&found);
    mst_csv_close(csv);
}

static void two_readings_are_an_error_that_names_the_cell(void **state) {
    (void)state;
    expect_refused((const char *[MOST_CELLS]){"1", "100,500"}, 0,
                   "line 3, column 'x': '100,500' may be 100500 or 100.5");
    expect_refused((const char *[MOST_CELLS]){"1,234"}, 0, "--decimal");
    expect_refused((const char *[MOST_CELLS]){"$1,234"}, 0, "may be 1234 or 1.234");
}

static void numbers_among_texts_are_an_error_in_any_notation(void **state) {
    (void)state;
    expect_refused((const char *[MOST_CELLS]){"1", "a"}, 0, "is no number");
    expect_refused((const char *[MOST_CELLS]){"7", "0.5"}, ',', "'0.5' is no number");
    expect_refused((const char *[MOST_CELLS]){"$5", "7"}, 0, "'7' is a number");
    expect_refused((const char *[MOST_CELLS]){"7", "+-5"}, 0, "'+-5' is no number");
}

/* In a notation that was not asked for they would become one category each. */
static void numbers_in_another_notation_than_asked_for_are_no_categories(void **state) {
    (void)state;
    expect_refused((const char *[MOST_CELLS]){"1.5", "2.5"}, ',', "line 2, column 'x': '1.5' is a number, but not as");
    expect_refused((const char *[MOST_CELLS]){"1.500", "2.5"}, ',', "'2.5' is no number");
    expect_refused((const char *[MOST_CELLS]){"1,5", "2,5"}, '.', "'1,5' is a number");
    expect_refused((const char *[MOST_CELLS]){"$1.234,5", "$2"}, '.', "'$1.234,5' is a number");
    expect_refused((const char *[MOST_CELLS]){"", "NA"}, ',', "has no value");
}

/* ---- dates ---- */

static void dates_become_their_parts(void **state) {
    (void)state;
    static const struct {
        const char *cell;
        mst_csv_date_order order;
        int64_t part[MST_CSV_NUM_DATE_PARTS]; /* of Python's datetime */
    } all[] = {
        {"1970-01-01", MST_CSV_DAY_FIRST, {0, 1970, 1, 3, 0}},
        {"2024-02-29", MST_CSV_MONTH_FIRST, {0, 2024, 2, 3, 1709164800}},
        {"2024-02-29 12:30:05", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709209805}},
        {"2024-02-29T12:30:05.75Z", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709209805}},
        {"2024-02-29T12:30:05+02:00", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709202605}},
        {"29.2.2024", MST_CSV_MONTH_FIRST, {0, 2024, 2, 3, 1709164800}},
        {" 3/4/2024 ", MST_CSV_DAY_FIRST, {0, 2024, 4, 2, 1712102400}},
        {"3/4/2024", MST_CSV_MONTH_FIRST, {0, 2024, 3, 0, 1709510400}},
        {"3/4/2024 3:04 PM", MST_CSV_MONTH_FIRST, {0, 2024, 3, 0, 1709564640}},
        {"1900-03-01", MST_CSV_DAY_FIRST, {0, 1900, 3, 3, -2203891200}},
        {"0001-01-01", MST_CSV_DAY_FIRST, {0, 1, 1, 0, -62135596800}},
        {"29 Feb 2024", MST_CSV_MONTH_FIRST, {0, 2024, 2, 3, 1709164800}},
        {"29-feb-2024 12:30:05", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709209805}},
        {"29. February 2024", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709164800}},
        {"FEB. 29, 2024", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709164800}},
        {"February 29 2024 12:30", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709209800}},
        {"2024-Feb-29", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709164800}},
        {"3/4/2024, 3:04 PM", MST_CSV_MONTH_FIRST, {0, 2024, 3, 0, 1709564640}},
        {"20240229T123005", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709209805}},
        {"20240229T1230Z", MST_CSV_DAY_FIRST, {0, 2024, 2, 3, 1709209800}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int part = MST_CSV_YEAR; part < MST_CSV_NUM_DATE_PARTS; part++) {
            int64_t value;
            assert_true(mst_csv_date_read(all[i].cell, all[i].order, (mst_csv_date_part)part, &value));
            assert_int_equal(value, all[i].part[part]);
        }
}

static void what_is_no_date_is_refused(void **state) {
    (void)state;
    static const char *const all[] = {"",
                                      "2023-02-29",
                                      "2024-13-01",
                                      "2024-00-10",
                                      "20240229",
                                      "2024-02",
                                      "12:30",
                                      "2024-02-29 24:00",
                                      "1.5",
                                      "2024-02/29",
                                      "31.4.2024",
                                      "2024-02-29 12:60",
                                      "2024-02-29x",
                                      "1-2-3",
                                      "10-20",
                                      "30 Feb 2024",
                                      "10 Jan 20",
                                      "10 Janu 2020",
                                      "Jan 2020",
                                      "10 2020 Jan",
                                      "Jan 10 , 2020",
                                      "20240229T",
                                      "20240229T25",
                                      "20240229T2500",
                                      "20241329T1200",
                                      "20240229T123",
                                      "01/10/20",
                                      "10 Jan 2020x"};
    int64_t value;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_false(mst_csv_date_read(all[i], MST_CSV_DAY_FIRST, MST_CSV_YEAR, &value));
}

static void dates_and_times_are_known_by_their_look(void **state) {
    (void)state;
    static const char *const dates[] = {"01/10/20",
                                        "10.1.20",
                                        "2020-01",
                                        "1/2020",
                                        "2020/01",
                                        "05:07",
                                        "5:07:30.25",
                                        "5:07 PM",
                                        "5 PM",
                                        "10 Jan",
                                        "Jan 2020",
                                        "Fri 10 Jan 2020",
                                        "January 1st, 2020",
                                        "20200110T050700",
                                        "20200110T05",
                                        "Q1 2020",
                                        "2020Q1",
                                        "2020-W03",
                                        "2024-02-29",
                                        "29.2.2024",
                                        "2024-02-29T12:30:05.75+02:00",
                                        " 2024-02-29 "};
    static const char *const others[] = {"",
                                         "1.2.3",
                                         "10.4.12.7",
                                         "10-20",
                                         "20-29",
                                         "2019-20",
                                         "555-12-1234",
                                         "May",
                                         "a",
                                         "5",
                                         "3:2",
                                         "10:99",
                                         "25:00:00:00:00",
                                         "1/2",
                                         "Mayor 5",
                                         "10 apples",
                                         "12/40/20",
                                         "T-34",
                                         "PM",
                                         "2020-13",
                                         "Q5",
                                         "192.168.10.12",
                                         "123456789012345"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (!mst_csv_looks_like_date(dates[i])) fail_msg("'%s' looks like a date", dates[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (mst_csv_looks_like_date(others[i])) fail_msg("'%s' looks like no date", others[i]);
}

static void a_list_looks_like_dates_where_half_of_its_texts_do(void **state) {
    (void)state;
    static const struct {
        const char *cells[MOST_CELLS];
        bool look;
        int64_t like, odd;
    } all[] = {{{"2020-01-02", "2020-01-03", "2020-01-04"}, true, 1, -1},
               {{"2020-01-02", "2020-01-03", "unknown"}, true, 1, 2},
               {{"", "NA", "2020-01-03", "unknown"}, true, 2, 3},
               {{"05:07", "05:08"}, true, 1, 0},
               {{"2020-01-02", "a", "b"}, false, 0, 1},
               {{"13/4/2024", "4/13/2024"}, true, 1, 1},
               {{"", "NA"}, false, 0, -1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t like, odd, n = 0;
        while (n < MOST_CELLS && all[i].cells[n]) n++;
        assert_int_equal(mst_csv_dates_look(all[i].cells, n, &like, &odd), all[i].look);
        assert_int_equal(odd, all[i].odd);
        if (all[i].look) assert_int_equal(like, all[i].like);
    }
}

static void a_column_has_one_order_of_day_and_month(void **state) {
    (void)state;
    static const struct {
        const char *cells[MOST_CELLS];
        int order; /* 0: there are two; -1: a cell is no date */
    } all[] = {{{"3/4/2024", "13/4/2024"}, MST_CSV_DAY_FIRST},
               {{"3/4/2024", "3/13/2024"}, MST_CSV_MONTH_FIRST},
               {{"2024-03-04", "2024-03-05"}, MST_CSV_DAY_FIRST},
               {{"3/3/2024", "4/4/2024"}, MST_CSV_DAY_FIRST}, /* the same in both */
               {{"3/4/2024", "2024-03-04"}, 0},
               {{"13/4/2024", "4/13/2024"}, -1},
               {{"2024-03-04", "soon"}, -1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mst_csv *csv = table_of(all[i].cells);
        mst_csv_date_order order;
        if (all[i].order > 0) {
            EXPECT_OK(mst_csv_date_find(csv, 0, &order));
            assert_int_equal(order, all[i].order);
        } else {
            EXPECT_ERROR(mst_csv_date_find(csv, 0, &order), MST_INVALID,
                         all[i].order ? "is no date" : "'3/4/2024' may begin with");
        }
        mst_csv_close(csv);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_where_the_column_leaves_one_reading),
        cmocka_unit_test(two_readings_are_an_error_that_names_the_cell),
        cmocka_unit_test(numbers_among_texts_are_an_error_in_any_notation),
        cmocka_unit_test(numbers_in_another_notation_than_asked_for_are_no_categories),
        cmocka_unit_test(dates_become_their_parts),
        cmocka_unit_test(what_is_no_date_is_refused),
        cmocka_unit_test(dates_and_times_are_known_by_their_look),
        cmocka_unit_test(a_list_looks_like_dates_where_half_of_its_texts_do),
        cmocka_unit_test(a_column_has_one_order_of_day_and_month),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
