#include "cli/bench_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const bench_row *row) {
    double sorted[BENCH_ROUNDS];
    memcpy(sorted, row->value, sizeof sorted);
    qsort(sorted, (size_t)row->count, sizeof *sorted, compare);
    return row->count ? sorted[row->count / 2] : 0;
}

void bench_add(bench_row *row, double value) {
    if (row->count < BENCH_ROUNDS) row->value[row->count++] = value;
}

void bench_print(const bench_row *row, bool json) {
    if (!row->count) return;
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
    printf("  %-62s %12.4g %-12s %-22s %s\n", row->what, value, row->unit, reach, verdict);
}
