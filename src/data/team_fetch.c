#include "data/team_fetch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "base/team.h"
#include "data/cancel.h"
#include "device/device.h"

/* In nanoseconds. Sharing less work than WORTH costs more than it gains. A thread takes GRAIN of work at a time. */
enum { WORTH = 1000 * 1000, GRAIN = 200 * 1000 };

struct mst_team_fetch {
    const mst_dataset *dataset;
    mst_row_fetch *fetch;
    int threads; /* 0: not known yet */
    double cost; /* nanoseconds per row for one thread, measured with the last element; 0: not known */
    mst_team *team;
    uint64_t process; /* number of the process in which the threads were started */
    void **dst;       /* [threads * num_components] */
};

/* The rows of one element that the threads copy. */
typedef struct fetch_job {
    mst_team_fetch *fetch;
    const mst_element *element;
    int64_t first, count; /* the rows that are wanted */
    int64_t done;         /* how many of them are copied already */
    void *const *dst;
    const atomic_bool *cancelled;
} fetch_job;

mst_status mst_team_fetch_create(const mst_dataset *dataset, mst_cursor *cursor, int threads, mst_team_fetch **out) {
    mst_team_fetch *f = *out = calloc(1, sizeof *f);
    if (!f) return MST_NO_MEMORY("for an iterator");
    f->dataset = dataset;
    f->threads = threads;
    f->dst = calloc((size_t)dataset->num_components, sizeof *f->dst);
    mst_status status = f->dst ? mst_row_fetch_create(dataset, cursor, &f->fetch) : MST_NO_MEMORY("for an iterator");
    if (!status && !mst_dataset_makes_rows(dataset)) f->threads = 1;
    if (!status) return MST_OK;
    mst_team_fetch_destroy(f);
    *out = NULL;
    return status;
}

/* A child of fork() does not have the threads, so waiting for their end would never return. */
void mst_team_fetch_destroy(mst_team_fetch *f) {
    if (!f) return;
    if (f->team && f->process == mst_process_number()) mst_team_destroy(f->team);
    mst_row_fetch_destroy(f->fetch);
    free(f->dst);
    free(f);
}

/* The caller may be bound to the cores of a device, and a new thread inherits that. */
static mst_status begin_member(void *context, int member) {
    (void)context;
    (void)member;
    mst_unbind_thread();
    return MST_OK;
}

/* Starts the threads. If that fails, the caller works alone. */
static void start_team(mst_team_fetch *f) {
    const size_t num_components = (size_t)f->dataset->num_components;
    if (!f->threads) f->threads = mst_num_cores();
    if (f->threads == 1) return;
    void **dst = calloc((size_t)f->threads * num_components, sizeof *dst);
    if (dst && !mst_team_create(f->threads, false, begin_member, NULL, &f->team)) {
        free(f->dst);
        f->dst = dst;
        f->process = mst_process_number();
        return;
    }
    free(dst);
    f->threads = 1;
}

static mst_status team_fetch_copy(void *context, int64_t begin, int64_t end, int member) {
    const fetch_job *j = context;
    const mst_dataset *dataset = j->fetch->dataset;
    const int64_t row = j->done + begin;
    void **dst = j->fetch->dst + (size_t)member * (size_t)dataset->num_components;
    for (int c = 0; c < dataset->num_components; c++) {
        const int64_t elements = mst_shape_count(mst_dataset_row_shape(dataset, j->element, c));
        const size_t bytes = (size_t)elements * mst_dtype_size(dataset->row[c].dtype);
        dst[c] = j->dst[c] ? (char *)j->dst[c] + (size_t)row * bytes : NULL;
    }
    const atomic_bool *before = mst_cancel_watch(j->cancelled);
    const mst_status status = mst_row_fetch_copy_all(j->fetch->fetch, j->element, j->first + row, end - begin, dst);
    mst_cancel_watch(before);
    return status;
}

/* Copies COUNT rows with SIZE threads, and measures the cost of a row. */
static mst_status copy_some(fetch_job *j, int64_t count, int size) {
    mst_team_fetch *f = j->fetch;
    const int64_t begun = mst_clock_now();
    mst_status status;
    if (size == 1) {
        status = team_fetch_copy(j, 0, count, 0);
    } else {
        int64_t grain = (int64_t)(GRAIN / f->cost), share = count / size;
        if (grain > share) grain = share;
        status = mst_team_run(f->team, count, grain > 0 ? grain : 1, team_fetch_copy, j);
    }
    if (count) f->cost = (double)(mst_clock_now() - begun) * size / (double)count;
    return status;
}

/* Shares the rows between threads if their cost makes that worthwhile. The cost was measured with the previous
 * element; for the first element, with its first row. */
static mst_status copy_all(fetch_job *j) {
    mst_team_fetch *f = j->fetch;
    if (f->threads == 1) return team_fetch_copy(j, 0, j->count, 0);
    if (f->cost == 0 && j->count) {
        MST_TRY(copy_some(j, 1, 1));
        j->done = 1;
    }
    const int64_t left = j->count - j->done;
    if (f->cost * (double)left < WORTH) return copy_some(j, left, 1);
    if (!f->team) start_team(f);
    return copy_some(j, left, f->threads);
}

mst_status mst_team_fetch_copy_all(mst_team_fetch *f, const mst_element *element, int64_t first, int64_t count,
                                   void *const *dst) {
    fetch_job j = {f, element, first, count, 0, dst, mst_cancel_watch(NULL)};
    mst_cancel_watch(j.cancelled);
    const uint64_t mode = mst_flush_denormals();
    const mst_status status = copy_all(&j);
    mst_float_mode_set(mode);
    return status;
}

void mst_team_fetch_forget_strings(mst_team_fetch *f) {
    mst_row_fetch_forget_strings(f->fetch);
}
