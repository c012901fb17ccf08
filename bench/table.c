#include "bench/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/number_text.h"

double bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median_of(double *value, int count) {
    qsort(value, (size_t)count, sizeof *value, compare);
    return count ? value[count / 2] : 0;
}

double bench_median(const bench_row *row) {
    double sorted[BENCH_ROUNDS];
    memcpy(sorted, row->value, sizeof sorted);
    return bench_median_of(sorted, row->count);
}

void bench_add(bench_row *row, double value) {
    if (row->count < BENCH_ROUNDS) row->value[row->count++] = value;
}

void bench_progress(const char *format, ...) {
    const bool terminal = isatty(fileno(stderr));
    va_list list;
    va_start(list, format);
    fputs(terminal ? "\r\033[Kmeasuring: " : "measuring: ", stderr);
    vfprintf(stderr, format, list);
    if (!terminal) fputc('\n', stderr);
    fflush(stderr);
    va_end(list);
}

/* "2 minutes", "40 seconds" */
static const char *time_text(double seconds, char text[NUMBER_TEXT]) {
    const int tens = (int)(seconds / 10) + 1, minutes = (int)(seconds / 60 + 0.5);
    if (seconds < 90)
        snprintf(text, NUMBER_TEXT, "%d seconds", tens * 10);
    else
        snprintf(text, NUMBER_TEXT, "%d minutes", minutes);
    return text;
}

void bench_progress_round(int round, int rounds, double began) {
    char text[NUMBER_TEXT];
    if (round == 0)
        bench_progress("round 1 of %d", rounds);
    else
        bench_progress("round %d of %d, about %s more", round + 1, rounds,
                       time_text((bench_now() - began) / round * (rounds - round), text));
}

void bench_progress_time(const char *what, double seconds) {
    char text[NUMBER_TEXT];
    bench_progress("%s: about %s", what, time_text(seconds, text));
}

void bench_progress_end(void) {
    if (isatty(fileno(stderr))) fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* 45,930, 97.32, 0.9634, 0.00012: four digits, and all that stand before the point. */
static const char *value_text(double value, char text[NUMBER_TEXT]) {
    enum { DIGITS = 4, MOST_AFTER = 12 };
    const double size = fabs(value);
    if (size >= 1000 && size < 1e18) return number_text((int64_t)llround(value), text);
    const int before = size > 0 ? (int)floor(log10(size)) + 1 : 1, after = DIGITS - before;
    snprintf(text, NUMBER_TEXT, "%.*f", after < 0 ? 0 : after > MOST_AFTER ? MOST_AFTER : after, value);
    return text;
}

static void print_row(const bench_row *row, bool json) {
    double value = bench_median(row);
    if (json) {
        printf("{\"key\":\"%s\",\"value\":%.6g,\"reach\":%.6g}\n", row->key, value, row->reach);
        return;
    }
    const char *verdict = row->reach == 0                                              ? ""
                          : (row->at_most ? value <= row->reach : value >= row->reach) ? "reached"
                                                                                       : "MISSED";
    char reach[48] = "";
    if (row->reach != 0)
        snprintf(reach, sizeof reach, "%s %g %s", row->at_most ? "at most" : "at least", row->reach, row->unit);
    char text[NUMBER_TEXT];
    printf("  %-62s %12s %-12s %-22s %s\n", row->what, value_text(value, text), row->unit, reach, verdict);
}

void bench_print(bench_row *row, int count, bool json) {
    bench_progress_end();
    for (int i = 0; i < count; i++) {
        if (!row[i].count || row[i].is_printed) continue;
        print_row(&row[i], json);
        row[i].is_printed = true;
    }
    fflush(stdout);
}
