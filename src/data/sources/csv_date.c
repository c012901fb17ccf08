#include "data/sources/csv_date.h"

#include <string.h>

#include "data/sources/csv_date_words.h"
#include "data/sources/csv_number.h"

const char *const mst_csv_date_part_names[MST_CSV_NUM_DATE_PARTS] = {
    [MST_CSV_NO_DATE] = "",        [MST_CSV_YEAR] = "year",       [MST_CSV_MONTH] = "month",
    [MST_CSV_WEEKDAY] = "weekday", [MST_CSV_SECONDS] = "seconds",
};

typedef struct date {
    int64_t year, month, day, seconds; /* seconds since midnight; a time zone may move them to another day */
} date;

/* Reads up to MOST digits at *AT. Returns how many there were. */
static int take_number(const char **at, int most, int64_t *out) {
    int count = 0;
    for (*out = 0; count < most && **at >= '0' && **at <= '9'; count++) *out = 10 * *out + *(*at)++ - '0';
    return count;
}

/* Moves past the name of a month, and past a point after a short name. */
static bool take_month(const char **at, int64_t *out) {
    size_t size;
    *out = mst_csv_month_named(*at, &size);
    *at += size;
    *at += *out && **at == '.';
    return *out > 0;
}

/* Moves past one space, '-' or '/', and past a comma before a space. */
static bool take_gap(const char **at) {
    *at += at[0][0] == ',' && at[0][1] == ' ';
    if (!**at || !strchr(" -/", **at)) return false;
    return ++*at, true;
}

/* 29 Feb 2024, 29-Feb-2024, Feb 29, 2024, 29. February 2024, 2024-Feb-29 */
static bool take_named_day(const char **at, date *d) {
    int64_t number;
    const int digits = take_number(at, 4, &number);
    *at += digits && at[0][0] == '.' && at[0][1] == ' ';
    if (digits && !take_gap(at)) return false;
    if (!take_month(at, &d->month) || !take_gap(at)) return false;
    int64_t *const first = digits == 4 ? &d->year : &d->day, *const last = digits == 4 ? &d->day : &d->year;
    *first = number;
    if (digits) {
        const int rest = take_number(at, 4, last);
        return digits == 4 ? rest == 1 || rest == 2 : digits <= 2 && rest == 4;
    }
    const int days = take_number(at, 2, &d->day);
    return days && take_gap(at) && take_number(at, 4, &d->year) == 4;
}

/* 20240229T123005 of ISO 8601, with or without the seconds; without the time it would be a number. */
static bool take_compact(const char **at, date *d) {
    int64_t day, time;
    if (take_number(at, 8, &day) != 8 || **at != 'T') return false;
    ++*at;
    const int digits = take_number(at, 6, &time);
    if (digits == 4) time *= 100;
    *d = (date){.year = day / 10000,
                .month = day / 100 % 100,
                .day = day % 100,
                .seconds = time / 10000 * 3600 + time / 100 % 100 * 60 + time % 100};
    return (digits == 4 || digits == 6) && time < 240000 && time / 100 % 100 < 60 && time % 100 <= 60;
}

/* 2024-02-29, 2024/2/29, 2024.2.29; 29.2.2024; 29/2/2024, 2/29/2024, 29-2-2024 as ORDER says. */
static bool take_numbered_day(const char **at, mst_csv_date_order order, date *d) {
    int64_t first, second, third;
    const int digits = take_number(at, 4, &first);
    const char mark = **at;
    if ((digits != 4 && digits != 1 && digits != 2) || !strchr("-/.", mark) || !mark) return false;
    ++*at;
    if (!take_number(at, 2, &second) || **at != mark) return false;
    ++*at;
    const int last = take_number(at, 4, &third);
    if (digits == 4) {
        *d = (date){.year = first, .month = second, .day = third};
        return last == 1 || last == 2;
    }
    const bool day_first = mark == '.' || order == MST_CSV_DAY_FIRST;
    *d = (date){.year = third, .month = day_first ? second : first, .day = day_first ? first : second};
    return last == 4;
}

static bool take_day(const char **at, mst_csv_date_order order, date *d) {
    const char *begin = *at;
    if (take_numbered_day(at, order, d)) return true;
    *at = begin;
    return take_named_day(at, d);
}

static bool is_day(const date *d) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (d->year < 1 || d->month < 1 || d->month > 12 || d->day < 1) return false;
    const bool leap = d->year % 4 == 0 && (d->year % 100 != 0 || d->year % 400 == 0);
    return d->day <= days[d->month - 1] + (leap && d->month == 2);
}

/* Z, +02:00, -0530 */
static bool take_zone(const char **at, int64_t *seconds) {
    int64_t hours, minutes = 0;
    if (**at == 'Z') return ++*at, true;
    if (**at != '+' && **at != '-') return true;
    const int64_t direction = *(*at)++ == '-' ? 1 : -1;
    if (take_number(at, 2, &hours) != 2) return false;
    *at += **at == ':';
    if (**at && take_number(at, 2, &minutes) != 2) return false;
    *seconds += direction * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

/* " 12:30", "T12:30:05.25Z", " 3:04 PM"; a fraction of a second is cut off */
static bool take_time(const char **at, date *d) {
    int64_t hour, minute, second = 0, fraction;
    if (!**at) return true;
    if (**at != ' ' && **at != 'T') return false;
    ++*at;
    if (!take_number(at, 2, &hour) || **at != ':') return false;
    ++*at;
    if (take_number(at, 2, &minute) != 2) return false;
    if (**at == ':') {
        ++*at;
        if (take_number(at, 2, &second) != 2) return false;
        if (**at == '.' || **at == ',') {
            ++*at;
            if (!take_number(at, 9, &fraction)) return false;
        }
    }
    const char *half = *at + (**at == ' ');
    if ((half[0] == 'A' || half[0] == 'P' || half[0] == 'a' || half[0] == 'p') && (half[1] | 32) == 'm') {
        if (hour < 1 || hour > 12) return false;
        hour = hour % 12 + ((half[0] | 32) == 'p' ? 12 : 0);
        *at = half + 2;
    }
    d->seconds = hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second <= 60 && take_zone(at, &d->seconds);
}

static bool read_compact(const char *cell, date *d) {
    *d = (date){.year = 0};
    if (!take_compact(&cell, d) || !is_day(d) || !take_zone(&cell, &d->seconds)) return false;
    while (*cell == ' ') cell++;
    return !*cell;
}

static bool read_date(const char *cell, mst_csv_date_order order, date *d) {
    while (*cell == ' ') cell++;
    if (read_compact(cell, d)) return true;
    *d = (date){.year = 0};
    if (!take_day(&cell, order, d) || !is_day(d)) return false;
    const char *rest = cell;
    while (*rest == ' ') rest++;
    if (!*rest) return true;
    cell += cell[0] == ',' && cell[1] == ' '; /* 2/29/2024, 3:04 PM */
    if (!take_time(&cell, d)) return false;
    while (*cell == ' ') cell++;
    return !*cell;
}

/* Days since 1970-01-01 of the Gregorian calendar. Years are counted from March, so that the leap day is the last day
 * of a year. The months before one have (153 * months + 2) / 5 days in all. 719468 days lie between March 1 of year 0
 * and 1970-01-01. */
static int64_t days_since_1970(const date *d) {
    const int64_t year = d->year - (d->month <= 2), months = (d->month + 9) % 12;
    const int64_t leap_days = year / 4 - year / 100 + year / 400;
    return 365 * year + leap_days + (153 * months + 2) / 5 + d->day - 1 - 719468;
}

bool mst_csv_date_read(const char *cell, mst_csv_date_order order, mst_csv_date_part part, int64_t *out) {
    date d;
    if (!read_date(cell, order, &d)) return false;
    const int64_t days = days_since_1970(&d);
    switch (part) {
        case MST_CSV_YEAR: *out = d.year; break;
        case MST_CSV_MONTH: *out = d.month; break;
        case MST_CSV_WEEKDAY: *out = ((days + 3) % 7 + 7) % 7; break; /* 1970-01-01 was a Thursday, which is 3 */
        default: *out = days * 86400 + d.seconds; break;
    }
    return true;
}

static bool is_blank(const char *cell) {
    int64_t integer;
    double number;
    return mst_csv_cell_read(cell, NULL, &integer, &number) == MST_CSV_MISSING;
}

/* The first row whose cell is not a date in ORDER; -1: all are dates. */
static int64_t no_date(const mst_csv *csv, int column, mst_csv_date_order order) {
    date d;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        const char *cell = mst_csv_cell(csv, row, column);
        if (!is_blank(cell) && !read_date(cell, order, &d)) return row;
    }
    return -1;
}

/* The first row whose cell is a different day in each of the two orders; -1: there is none. */
static int64_t doubtful_date(const mst_csv *csv, int column) {
    int64_t one = 0, other = 0;
    for (int64_t row = 0; row < mst_csv_num_rows(csv); row++) {
        const char *cell = mst_csv_cell(csv, row, column);
        if (mst_csv_date_read(cell, MST_CSV_DAY_FIRST, MST_CSV_SECONDS, &one) &&
            mst_csv_date_read(cell, MST_CSV_MONTH_FIRST, MST_CSV_SECONDS, &other) && one != other)
            return row;
    }
    return -1;
}

mst_status mst_csv_date_find(const mst_csv *csv, int column, mst_csv_date_order *out) {
    char place[MST_CSV_PLACE], shown[MST_CSV_SHOWN];
    const int64_t wrong[2] = {no_date(csv, column, MST_CSV_DAY_FIRST), no_date(csv, column, MST_CSV_MONTH_FIRST)};
    *out = wrong[0] < 0 ? MST_CSV_DAY_FIRST : MST_CSV_MONTH_FIRST;
    if (wrong[0] >= 0 && wrong[1] >= 0) {
        const int64_t row = wrong[0] > wrong[1] ? wrong[0] : wrong[1];
        return MST_FAIL(MST_INVALID, "%s: %s is no date, such as 2024-02-29 or 2024-02-29 12:30:05",
                        mst_csv_place(csv, row, column, place), mst_csv_show(mst_csv_cell(csv, row, column), shown));
    }
    const int64_t doubt = wrong[0] < 0 && wrong[1] < 0 ? doubtful_date(csv, column) : -1;
    if (doubt < 0) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s: %s may begin with the day or with the month, and no other cell of the column tells which: "
                    "write dates with the year first, as 2024-02-29",
                    mst_csv_place(csv, doubt, column, place), mst_csv_show(mst_csv_cell(csv, doubt, column), shown));
}

/* The first of N cells in LIST that is not a date in ORDER; N: all are dates. */
static int64_t first_no_date(const char *const *list, int64_t n, mst_csv_date_order order) {
    int64_t i = 0;
    date d;
    while (i < n && (is_blank(list[i]) || read_date(list[i], order, &d))) i++;
    return i;
}

/* The least look with which one of the N texts in LIST counts as a date, given the looks of all of them. */
static mst_csv_date_look least_look(const char *const *list, int64_t n) {
    bool any_if_all = false;
    for (int64_t i = 0; i < n; i++) {
        const mst_csv_date_look look = is_blank(list[i]) ? MST_CSV_DATE_LOOK_BESIDE : mst_csv_date_look_of(list[i]);
        if (look == MST_CSV_NO_DATE_LOOK) return MST_CSV_DATE_LOOK;
        any_if_all |= look >= MST_CSV_DATE_LOOK_IF_ALL;
    }
    return any_if_all ? MST_CSV_DATE_LOOK_BESIDE : MST_CSV_DATE_LOOK;
}

bool mst_csv_dates_look(const char *const *list, int64_t n, int64_t *like, int64_t *odd) {
    const mst_csv_date_look least = least_look(list, n);
    int64_t dates = 0, others = 0;
    *like = n / 2;
    for (int64_t i = 0; i < n; i++) {
        if (is_blank(list[i])) continue;
        const bool looks = mst_csv_date_look_of(list[i]) >= least;
        if (looks && (!dates || i <= n / 2)) *like = i;
        dates += looks;
        others += !looks;
    }
    const int64_t day = first_no_date(list, n, MST_CSV_DAY_FIRST), month = first_no_date(list, n, MST_CSV_MONTH_FIRST);
    *odd = day > month ? day : month;
    if (*odd == n) *odd = -1;
    return dates && (dates >= others || *odd < 0);
}
