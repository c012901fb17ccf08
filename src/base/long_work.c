#include "base/long_work.h"

#include <string.h>

#include "base/clock.h"
#include "base/escape.h"

enum { MOST_WORKS = 8 };

static const int64_t SECOND = 1000000000, LONG = 2;

static _Thread_local struct {
    mst_long_work_function function;
    void *context;
    int depth; /* number of nested works; those deeper than MOST_WORKS are not reported */
    mst_long_work work[MOST_WORKS];
} now;

void mst_long_work_watch(mst_long_work_function function, void *context) {
    now.function = function;
    now.context = context;
    now.depth = 0;
}

static mst_long_work *current(void) {
    return now.function && now.depth > 0 && now.depth <= MOST_WORKS ? &now.work[now.depth - 1] : NULL;
}

void mst_long_work_begin(const char *verb, const char *path, const char *unit, uint64_t total) {
    if (!now.function) return;
    now.depth++;
    mst_long_work *work = current();
    if (!work) return;
    *work = (mst_long_work){.verb = verb, .unit = unit, .total = total, .begun = mst_clock_now()};
    mst_escape_line(path, strlen(path), work->path, sizeof work->path);
}

void mst_long_work_step(uint64_t done) {
    mst_long_work *work = current();
    if (!work) return;
    const int64_t time = mst_clock_now();
    work->done = work->total && done > work->total ? work->total : done;
    if (time - work->begun < LONG * SECOND || (work->told && time - work->told < SECOND)) return;
    work->told = time;
    now.function(now.context, work, false);
}

void mst_long_work_step_of(const char *verb, uint64_t done) {
    const mst_long_work *work = current();
    if (work && !work->unit && strcmp(work->verb, verb) == 0) mst_long_work_step(done);
}

void mst_long_work_end(void) {
    const mst_long_work *work = current();
    if (work && work->told) now.function(now.context, work, true);
    if (now.depth > 0) now.depth--;
}
