/* A cell is split into numbers, words and the marks between them. All words must be words that occur in dates. Then the
 * first numbers, the counts of their digits, and the marks between them must be those of a date or a time. */
#include "data/sources/csv_date_words.h"

#include <string.h>
#include <strings.h>

enum { MOST_NUMBERS = 10 };

typedef struct date_shape {
    int64_t number[MOST_NUMBERS];
    int digits[MOST_NUMBERS];
    char mark[MOST_NUMBERS]; /* the mark directly before number i; 0: a letter, or nothing */
    int count;
    bool has_month, has_half, has_period; /* a month's name; AM or PM; T (ISO 8601), Q (quarter) or W (week) */
} date_shape;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t letters(const char *text) {
    size_t size = 0;
    while (is_letter(text[size])) size++;
    return size;
}

/* Whether TEXT, of SIZE letters, is WORD or the beginning of it, with at least LEAST letters. */
static bool is_word(const char *text, size_t size, const char *word, size_t least) {
    return size >= least && size <= strlen(word) && strncasecmp(text, word, size) == 0;
}

int64_t mst_csv_month_named(const char *text, size_t *size) {
    static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
    *size = letters(text);
    for (int64_t i = 0; i < 12; i++) {
        const bool is_short = *size == 3 || (i == 8 && *size == 4); /* Sept */
        if (is_word(text, *size, months[i], is_short ? 3 : strlen(months[i]))) return i + 1;
    }
    *size = 0;
    return 0;
}

static bool is_weekday(const char *text, size_t size) {
    static const char *const days[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        if (is_word(text, size, days[i], size == 3 ? 3 : strlen(days[i]))) return true;
    return false;
}

static bool is_one_of(const char *text, size_t size, const char *const *words) {
    for (; *words; words++)
        if (is_word(text, size, *words, strlen(*words))) return true;
    return false;
}

/* Moves *AT past a word that may occur in a date. False if there is none. */
static bool take_word(const char **at, date_shape *shape) {
    static const char *const halves[] = {"am", "pm", NULL}, *const periods[] = {"t", "q", "w", NULL},
                             *const others[] = {"z", "utc", "gmt", "st", "nd", "rd", "th", NULL};
    size_t size;
    if (mst_csv_month_named(*at, &size)) {
        shape->has_month = true;
        *at += size;
        return true;
    }
    size = letters(*at);
    const bool half = is_one_of(*at, size, halves), period = is_one_of(*at, size, periods);
    if (!half && !period && !is_weekday(*at, size) && !is_one_of(*at, size, others)) return false;
    shape->has_half |= half;
    shape->has_period |= period;
    *at += size;
    return true;
}

static bool take_digits(const char **at, char mark, date_shape *shape) {
    const int i = shape->count++;
    if (i == MOST_NUMBERS) return false;
    shape->mark[i] = mark;
    for (; **at >= '0' && **at <= '9' && shape->digits[i] < 12; shape->digits[i]++)
        shape->number[i] = 10 * shape->number[i] + *(*at)++ - '0';
    return shape->digits[i] < 12;
}

/* Splits CELL. False if it has a character or a word that does not occur in dates. */
static bool scan_date_text(const char *cell, date_shape *shape) {
    char mark = 0;
    while (*cell) {
        const bool is_digit = *cell >= '0' && *cell <= '9';
        if (is_digit ? !take_digits(&cell, mark, shape) : is_letter(*cell) && !take_word(&cell, shape)) return false;
        mark = 0;
        if (!*cell || is_letter(*cell) || (*cell >= '0' && *cell <= '9')) continue;
        if (!strchr(" -/.:,+", *cell)) return false;
        mark = *cell++;
        while (*cell == ' ') cell++;
    }
    return true;
}

static bool is_year(const date_shape *s, int i) {
    return s->digits[i] == 2 || (s->digits[i] == 4 && s->number[i] >= 1000 && s->number[i] < 3000);
}

static bool is_month_and_day(const date_shape *s, int month, int day) {
    return s->digits[month] <= 2 && s->digits[day] <= 2 && s->number[month] >= 1 && s->number[month] <= 12 &&
           s->number[day] >= 1 && s->number[day] <= 31;
}

/* 2020-01-10, 10.1.20, 1/10/2020 */
static bool is_numbered_day(const date_shape *s) {
    const char mark = s->mark[1];
    if (s->count < 3 || !mark || !strchr("-/.", mark) || s->mark[2] != mark) return false;
    if (s->count > 3 && s->mark[3] == mark && mark != '-') return false; /* 10.1.20.3; but 10-1-20 -0500 has a zone */
    return (is_year(s, 0) && is_month_and_day(s, 1, 2)) ||
           (is_year(s, 2) && (is_month_and_day(s, 0, 1) || is_month_and_day(s, 1, 0)));
}

/* 2020-01, 1/2020 */
static bool is_month_of_year(const date_shape *s) {
    if (s->count != 2 || (s->mark[1] != '-' && s->mark[1] != '/')) return false;
    const int year = s->digits[0] == 4 ? 0 : 1, month = 1 - year;
    return s->digits[year] == 4 && is_year(s, year) && s->digits[month] <= 2 && s->number[month] >= 1 &&
           s->number[month] <= 12;
}

/* 5:07, 05:07:30.25 */
static bool is_time(const date_shape *s) {
    if (s->count < 2 || s->count > 4 || s->mark[1] != ':' || s->digits[0] > 2 || s->digits[1] != 2) return false;
    return s->number[0] <= 24 && s->number[1] < 60 && (s->count < 3 || s->mark[2] != ':' || s->number[2] <= 60);
}

/* 20200110T0507; Q1 2020, 2020-W03; 5 PM */
static bool is_period(const date_shape *s) {
    if (s->has_half) return s->count == 1 && s->number[0] <= 12;
    if (!s->has_period || s->count != 2) return false;
    return s->digits[0] == 8 || (s->digits[0] == 4 && is_year(s, 0)) || (s->digits[1] == 4 && is_year(s, 1));
}

/* 1.2.13 alone may be a version; beside 13.2.13 it is a date. */
static mst_csv_date_look look_of_day(const date_shape *s) {
    const bool has_long_year = s->digits[0] == 4 || s->digits[2] == 4;
    if (has_long_year || s->count > 3) return MST_CSV_DATE_LOOK;
    return s->mark[1] == '.' && s->number[0] <= 12 ? MST_CSV_DATE_LOOK_BESIDE : MST_CSV_DATE_LOOK_IF_ALL;
}

/* 2010/11 may be a season. */
static mst_csv_date_look look_of_month(const date_shape *s) {
    const bool is_season = s->digits[0] == 4 && s->digits[1] == 2 && s->number[1] == (s->number[0] + 1) % 100;
    return is_season ? MST_CSV_DATE_LOOK_BESIDE : MST_CSV_DATE_LOOK;
}

/* 3:16 may be a score, 16:10 a ratio. */
static mst_csv_date_look look_of_time(const date_shape *s) {
    const bool begins_with_zero = s->digits[0] == 2 && s->number[0] < 10;
    return s->count > 2 || s->has_half || begins_with_zero ? MST_CSV_DATE_LOOK : MST_CSV_DATE_LOOK_IF_ALL;
}

mst_csv_date_look mst_csv_date_look_of(const char *cell) {
    date_shape shape = {.count = 0};
    while (*cell == ' ') cell++;
    if (!scan_date_text(cell, &shape) || !shape.count) return MST_CSV_NO_DATE_LOOK;
    if (shape.has_month || is_period(&shape)) return MST_CSV_DATE_LOOK;
    if (is_numbered_day(&shape)) return look_of_day(&shape);
    if (is_month_of_year(&shape)) return look_of_month(&shape);
    return is_time(&shape) ? look_of_time(&shape) : MST_CSV_NO_DATE_LOOK;
}

bool mst_csv_looks_like_date(const char *cell) {
    return mst_csv_date_look_of(cell) != MST_CSV_NO_DATE_LOOK;
}
