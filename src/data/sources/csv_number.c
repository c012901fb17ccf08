/* A number in another notation is rewritten in the notation of C, and then read like any other. There are few
 * notations, so each is tried on all cells of a column, and given up at the first cell that is not a number in it. A
 * column of texts therefore costs little. */
#include "data/sources/csv_number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { NUMBER_SIZE = 512 };

static const char minus[] = "\xe2\x88\x92"; /* U+2212, the minus sign */
static const char *const spaces[] = {" ", "\t", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", NULL};
static const char *const apostrophes[] = {"'", "\xe2\x80\x99", NULL};
static const char *const signs[] = {"%", "$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", NULL}; /* euro, pound, yen */

/* ---- one cell ---- */

/* The length of the entry of LIST with which TEXT begins; 0: none. */
static size_t begins_with(const char *text, const char *const *list) {
    for (; *list; list++)
        if (strncmp(text, *list, strlen(*list)) == 0) return strlen(*list);
    return 0;
}

static const char *skip_spaces(const char *text) {
    for (size_t size; (size = begins_with(text, spaces));) text += size;
    return text;
}

/* The size of TEXT, which has SIZE bytes, without the spaces at its end. */
static size_t without_spaces(const char *text, size_t size) {
    for (const char *const *space = spaces; *space;) {
        const size_t length = strlen(*space);
        const bool ends = size >= length && memcmp(text + size - length, *space, length) == 0;
        if (ends) size -= length;
        space = ends ? spaces : space + 1;
    }
    return size;
}

/* Copies CELL to TEXT without the spaces around it. False if it is too long for a number. */
static bool trim(const char *cell, char text[NUMBER_SIZE]) {
    cell = skip_spaces(cell);
    const size_t size = without_spaces(cell, strlen(cell));
    if (size >= NUMBER_SIZE) return false;
    memcpy(text, cell, size);
    text[size] = '\0';
    return true;
}

/* Whether TEXT stands for a missing number, by the words of pandas.read_csv. */
static bool is_missing(const char *text) {
    static const char *const words[] = {"",     "NA",     "N/A",     "n/a",     "<NA>",    "#N/A", "#N/A N/A",
                                        "#NA",  "NaN",    "-NaN",    "nan",     "-nan",    "NULL", "null",
                                        "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

/* *NUMERIC: whether TEXT has only characters that occur in numbers; *WHOLE: only those of integers. */
static void look_at(const char *text, bool *numeric, bool *whole) {
    *numeric = *whole = true;
    for (; *text && *numeric; text++) {
        const bool digit = (*text >= '0' && *text <= '9') || *text == '+' || *text == '-';
        *whole = *whole && digit;
        *numeric = digit || *text == '.' || *text == 'e' || *text == 'E';
    }
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Appends the digits at *FROM to *TO. Returns their number. */
static int take_digits(const char **from, char **to) {
    int count = 0;
    for (; is_digit(**from); count++) *(*to)++ = *(*from)++;
    return count;
}

static size_t thousands_at(const char *text, char thousands) {
    if (thousands == ' ') return begins_with(text, spaces);
    if (thousands == '\'') return begins_with(text, apostrophes);
    return thousands && *text == thousands;
}

/* Copies the digits before the decimal mark. They are ungrouped; or first one to three digits that do not begin with 0,
 * then groups of three. Returns their number. */
static int take_whole(const char **from, char **to, char thousands) {
    const char *first = *from;
    int count = take_digits(from, to);
    if (count < 1 || count > 3 || *first == '0') return count;
    for (size_t size; (size = thousands_at(*from, thousands));) {
        const char *group = *from + size;
        if (!is_digit(group[0]) || !is_digit(group[1]) || !is_digit(group[2]) || is_digit(group[3])) break;
        *from = group;
        count += take_digits(from, to);
    }
    return count;
}

/* Moves past one '+' or '-', and writes a minus to the output. */
static const char *take_plus_or_minus(const char *from, char **to, bool *taken) {
    const bool is_long = strncmp(from, minus, sizeof minus - 1) == 0;
    if (*taken || (!is_long && *from != '-' && *from != '+')) return from;
    *taken = true;
    if (*from != '+') *(*to)++ = '-';
    return from + (is_long ? sizeof minus - 1 : 1);
}

static const char *take_sign(const char *from, const char *sign, bool *taken) {
    const char *at = skip_spaces(from);
    if (*taken || !*sign || strncmp(at, sign, strlen(sign)) != 0) return from;
    *taken = true;
    return at + strlen(sign);
}

/* The thousands separator of N. If none was seen, it is the usual one for the decimal mark of N. */
static char thousands_of(const mst_csv_notation *n) {
    if (n->thousands || mst_csv_notation_is_plain(n)) return n->thousands;
    return n->decimal == ',' ? '.' : ',';
}

/* Rewrites FROM, a number in notation N, in the notation of C. False if it is not a number. TO never gets more bytes
 * than FROM has. */
static bool write_anew(const char *from, const mst_csv_notation *n, char to[NUMBER_SIZE]) {
    bool has_sign = false, has_minus = false;
    from = take_plus_or_minus(skip_spaces(from), &to, &has_minus);
    from = take_sign(from, n->sign, &has_sign);
    from = take_plus_or_minus(skip_spaces(from), &to, &has_minus);
    int digits = take_whole(&from, &to, thousands_of(n));
    if (*from == (n->decimal ? n->decimal : '.')) {
        *to++ = '.';
        from++;
        digits += take_digits(&from, &to);
    }
    if (!digits) return false;
    if (*from == 'e' || *from == 'E') {
        *to++ = *from++;
        if (*from == '-' || *from == '+') *to++ = *from++;
        if (!take_digits(&from, &to)) return false;
    }
    *to = '\0';
    from = skip_spaces(take_sign(from, n->sign, &has_sign));
    return !*from && (has_sign || !*n->sign);
}

/* Reads TEXT, a number in the notation of C; MST_CSV_TEXT if it is not one. */
static mst_csv_cell_kind read_plain(const char *text, int64_t *integer, double *number) {
    bool numeric, whole;
    char *end;
    look_at(text, &numeric, &whole);
    if (!numeric || !mst_number_parse_f64(text, number)) return MST_CSV_TEXT;
    if (!whole) return MST_CSV_FLOAT;
    errno = 0;
    *integer = strtoll(text, &end, 10);
    return errno || *end ? MST_CSV_FLOAT : MST_CSV_INTEGER;
}

mst_csv_cell_kind mst_csv_cell_read(const char *cell, const mst_csv_notation *notation, int64_t *integer,
                                    double *number) {
    static const mst_csv_notation as_in_c;
    char text[NUMBER_SIZE], anew[NUMBER_SIZE];
    mst_csv_cell_kind kind = MST_CSV_TEXT;
    if (!trim(cell, text)) return MST_CSV_TEXT;
    if (!notation) notation = &as_in_c;
    if (mst_csv_notation_is_plain(notation)) kind = read_plain(text, integer, number);
    if (kind == MST_CSV_TEXT && write_anew(text, notation, anew)) kind = read_plain(anew, integer, number);
    return kind == MST_CSV_TEXT && is_missing(text) ? MST_CSV_MISSING : kind;
}

mst_csv_cell_kind mst_csv_cell_read_unsigned(const char *cell, const mst_csv_notation *notation, int64_t *integer,
                                             double *number) {
    const mst_csv_notation without = {.decimal = notation->decimal, .thousands = thousands_of(notation)};
    return mst_csv_cell_read(cell, &without, integer, number);
}

/* ---- notations ---- */

bool mst_csv_sign_is_known(const char *sign) {
    const char *const *known = signs;
    while (*known && strcmp(*known, sign) != 0) known++;
    return *known;
}

bool mst_csv_notation_is_plain(const mst_csv_notation *n) {
    return (!n->decimal || n->decimal == '.') && !n->thousands && !*n->sign;
}

const char *mst_csv_notation_print(const mst_csv_notation *n, char *text) {
    const bool comma = n->decimal == ',';
    const char *part[3];
    char between[32];
    int count = 0;
    if (comma) part[count++] = "a decimal comma";
    if (n->thousands == ' ') part[count++] = "spaces between thousands";
    if (n->thousands == '\'') part[count++] = "apostrophes between thousands";
    snprintf(between, sizeof between, "'%c' between thousands", n->thousands);
    if (n->thousands == ',' || (n->thousands == '.' && !comma)) part[count++] = between;
    if (*n->sign) part[count++] = n->sign;
    *text = '\0';
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, MST_CSV_NOTATION_TEXT - used, "%s%s", i ? " and " : "", part[i]);
    }
    return text;
}

/* The cells of a column of a table, or of a list. */
typedef struct cells {
    const mst_csv *csv;
    int column;
    const char *const *list;
    int64_t count;
} cells;

static const char *cell_at(const cells *c, int64_t i) {
    return c->list ? c->list[i] : mst_csv_cell(c->csv, i, c->column);
}

/* The sign in CELL, before or after the number; "": none. */
static const char *sign_of(const char *cell) {
    for (const char *const *sign = signs; *sign; sign++) {
        const char *found = strstr(cell, *sign);
        if (found) return *sign;
    }
    return "";
}

/* Whether all cells that are not missing are numbers in NOTATION. */
static bool is_of(const cells *c, const mst_csv_notation *notation) {
    int64_t integer;
    double number;
    for (int64_t i = 0; i < c->count; i++)
        if (mst_csv_cell_read(cell_at(c, i), notation, &integer, &number) == MST_CSV_TEXT) return false;
    return true;
}

/* The first cell that is a different number in A and in B; -1: there is none. */
static int64_t differing_cell(const cells *c, const mst_csv_notation *a, const mst_csv_notation *b) {
    int64_t integer;
    double one = 0, other = 0;
    for (int64_t i = 0; i < c->count; i++)
        if (mst_csv_cell_read(cell_at(c, i), a, &integer, &one) != MST_CSV_MISSING &&
            mst_csv_cell_read(cell_at(c, i), b, &integer, &other) != MST_CSV_MISSING && one != other)
            return i;
    return -1;
}

/* If no cell has a comma, a decimal comma is not considered: 12.500 % is 12.5 %, as 12.500 is 12.5. */
static bool has_comma(const cells *c) {
    for (int64_t i = 0; i < c->count; i++)
        if (strchr(cell_at(c, i), ',')) return true;
    return false;
}

int64_t mst_csv_notation_doubt(const mst_csv *csv, int column, const mst_csv_notation *a, const mst_csv_notation *b) {
    const cells c = {.csv = csv, .column = column, .count = mst_csv_num_rows(csv)};
    return is_of(&c, b) ? differing_cell(&c, a, b) : -1;
}

/* Finds the notation *OUT. If a second one, *OTHER, fits too but gives other numbers, *DOUBT is the first cell that is
 * another number in it; else -1. */
static bool find_notation(const cells *c, const mst_csv_notation *given, mst_csv_notation *out, mst_csv_notation *other,
                          int64_t *doubt) {
    static const mst_csv_notation all[] = {{'.', ',', ""}, {'.', ' ', ""}, {'.', '\'', ""},
                                           {',', '.', ""}, {',', ' ', ""}, {',', '\'', ""}};
    int64_t integer, first = 0;
    double number;
    bool found = false;
    *doubt = -1;
    while (first < c->count && mst_csv_cell_read(cell_at(c, first), NULL, &integer, &number) == MST_CSV_MISSING)
        first++;
    if (first == c->count) return false;
    const bool commas = has_comma(c);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mst_csv_notation one = all[i];
        if ((given->decimal && one.decimal != given->decimal) ||
            (given->thousands && one.thousands != given->thousands))
            continue;
        if (found && one.decimal == ',' && !commas) break;
        memcpy(one.sign, sign_of(cell_at(c, first)), strlen(sign_of(cell_at(c, first))) + 1);
        if (!is_of(c, &one)) continue;
        if (!found) {
            *out = one;
            found = true;
            continue;
        }
        if ((*doubt = differing_cell(c, out, &one)) < 0) continue;
        *other = one;
        break;
    }
    /* No cell has the separator, so the column needs none. */
    if (found && out->decimal == '.' && out->thousands == ',' && !commas) out->thousands = 0;
    return found;
}

mst_status mst_csv_notation_find(const mst_csv *csv, int column, const mst_csv_notation *given, mst_csv_notation *out,
                                 bool *found) {
    static const mst_csv_notation none;
    const cells c = {.csv = csv, .column = column, .count = mst_csv_num_rows(csv)};
    mst_csv_notation other = {0};
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN], text[2][MST_NUMBER_TEXT];
    int64_t doubt, integer;
    double number[2] = {0, 0};
    *found = find_notation(&c, given ? given : &none, out, &other, &doubt);
    if (!*found || doubt < 0) return MST_OK;
    (void)mst_csv_cell_read(cell_at(&c, doubt), out, &integer, &number[0]);
    (void)mst_csv_cell_read(cell_at(&c, doubt), &other, &integer, &number[1]);
    return MST_FAIL(
        MST_INVALID,
        "%s: %s may be %s or %s, and no other cell of the column tells which: say --decimal %c or --decimal "
        "%c (in C: .decimal)",
        mst_csv_place(csv, doubt, column, place), mst_csv_show(cell_at(&c, doubt), shown),
        mst_number_print_f64(number[0], text[0]), mst_number_print_f64(number[1], text[1]), out->decimal,
        other.decimal);
}

bool mst_csv_notation_fits(const char *const *list, int64_t n) {
    static const mst_csv_notation none;
    const cells c = {.list = list, .count = n};
    mst_csv_notation out, other;
    int64_t doubt;
    return find_notation(&c, &none, &out, &other, &doubt);
}
