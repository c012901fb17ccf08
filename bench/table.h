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
    bool is_printed;
} bench_row;

#define BENCH_RATE(key, what) \
    { key, what, "examples/s", 0, false, {0}, 0, false }
#define BENCH_AT_LEAST(key, what, unit, reach) \
    { key, what, unit, reach, false, {0}, 0, false }
#define BENCH_AT_MOST(key, what, unit, reach) \
    { key, what, unit, reach, true, {0}, 0, false }

/** Adds a measurement; more than BENCH_ROUNDS are left out. */
void bench_add(bench_row *row, double value);
double bench_median(const bench_row *row);
/** The median of COUNT values, which it sorts; 0 without any. */
double bench_median_of(double *value, int count);
/** Prints those of COUNT rows that were measured and not printed yet, a line or a JSON object each. Called whenever a
 *  part of the benchmark has ended, so that its figures are there before the next part begins. */
void bench_print(bench_row *row, int count, bool json);
/** Says on standard error what is measured now. On a terminal that overwrites the line before; in a file it is a line
 *  of its own. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Says so of a round, ROUND from 0 on, of ROUNDS; and by the time since BEGAN, when the first one began, how long the
 *  others will take. */
void bench_progress_round(int round, int rounds, double began);
/** Says how long all that follows will take, or the part of it that WHAT names; SECONDS is an estimate. */
void bench_progress_time(const char *what, double seconds);
/** Wipes that line of a terminal, for what standard output shows next. */
void bench_progress_end(void);
/** Seconds on a clock that only rises. */
double bench_now(void);

#endif
