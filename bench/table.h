/** A table of figures: what was measured, against what should be reached. */
#ifndef MUSTER_BENCH_TABLE_H
#define MUSTER_BENCH_TABLE_H

#include <stdbool.h>

enum { BENCH_ROUNDS = 7 };

typedef struct bench_row {
    const char *key, *what, *unit;
    double reach; /**< what is asked for; 0: nothing */
    bool at_most;
    double value[BENCH_ROUNDS];
    int count;
} bench_row;

#define BENCH_RATE(key, what) \
    { key, what, "examples/s", 0, false, {0}, 0 }
#define BENCH_AT_LEAST(key, what, unit, reach) \
    { key, what, unit, reach, false, {0}, 0 }
#define BENCH_AT_MOST(key, what, unit, reach) \
    { key, what, unit, reach, true, {0}, 0 }

/** Adds a measurement; more than BENCH_ROUNDS are left out. */
void bench_add(bench_row *row, double value);
double bench_median(const bench_row *row);
/** One line, or one JSON object; nothing where nothing was measured. */
void bench_print(const bench_row *row, bool json);
/** Says on standard error what is measured now: over the line before on a terminal, in a line of its own elsewhere. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Wipes that line of a terminal, for what standard output shows next. */
void bench_progress_end(void);
/** Seconds on a clock that only rises. */
double bench_now(void);

#endif
