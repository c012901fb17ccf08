/** Repeats the elements COUNT times; -1: forever. Repetition r of epoch e is epoch e * COUNT + r of DATASET (e + r if
 *  COUNT is -1), so each is shuffled anew. After mst_dataset_batch, batches do not cross the end of a repetition. Fails
 *  with MST_INVALID for COUNT 0 or below -1. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_repeat(mst_dataset *dataset, int64_t count, mst_dataset **out);
#endif
#include "data/cursors/cursor.h"

#include <stdio.h>

#include "base/argument.h"
#include "data/nested.h"

typedef struct repeat {
    mst_dataset base;
    int64_t count; /* -1: forever */
} repeat;

typedef struct repeat_cursor {
    mst_cursor base;
    int64_t count;       /* that of the dataset */
    int64_t first_epoch; /* upstream's epoch in the first repetition */
    int64_t done;        /* number of complete repetitions */
    int64_t position;    /* elements given or skipped in this repetition */
    bool ended;
} repeat_cursor;

static mst_status repeat_start(mst_cursor *cursor, int64_t epoch) {
    repeat_cursor *c = (repeat_cursor *)cursor;
    c->count = ((const repeat *)cursor->dataset)->count;
    if (__builtin_mul_overflow(epoch, c->count < 0 ? 1 : c->count, &c->first_epoch) ||
        c->first_epoch > INT64_MAX - (c->count < 0 ? 0 : c->count))
        return MST_FAIL(MST_INVALID, "repeat: epoch %lld is too large", (long long)epoch);
    c->done = c->position = 0;
    c->ended = false;
    return cursor->upstream->type->start(cursor->upstream, c->first_epoch);
}

/* Called when upstream has ended. A dataset without elements stays empty however often it is repeated. */
static mst_status next_repetition(repeat_cursor *c) {
    c->ended = c->position == 0 || ++c->done == c->count;
    if (c->ended) return MST_OK;
    c->position = 0;
    return c->base.upstream->type->start(c->base.upstream, c->first_epoch + c->done);
}

static mst_status repeat_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    repeat_cursor *c = (repeat_cursor *)cursor;
    *got = 0;
    while (*got < max && !c->ended) {
        int64_t more;
        MST_TRY(cursor->upstream->type->rows(cursor->upstream, rows + *got, max - *got, &more));
        *got += more;
        c->position += more;
        if (*got < max) MST_TRY(next_repetition(c));
    }
    return MST_OK;
}

static mst_status batch(mst_cursor *cursor, mst_element *element) {
    repeat_cursor *c = (repeat_cursor *)cursor;
    *element = (mst_element){0};
    while (!c->ended) {
        MST_TRY(cursor->upstream->type->batch(cursor->upstream, element));
        if (element->count) {
            c->position++;
            return MST_OK;
        }
        MST_TRY(next_repetition(c));
    }
    return MST_OK;
}

/* Skips complete repetitions without starting them, since starting is expensive if upstream shuffles. Called when
 * upstream has ended; c->done does not count the repetition that ends there yet. */
static void skip_repetitions(repeat_cursor *c, int64_t n, int64_t *skipped) {
    int64_t each = c->base.upstream->dataset->cardinality;
    if (each <= 0) return;
    int64_t whole = (n - *skipped) / each;
    if (c->count >= 0 && whole > c->count - c->done - 1) whole = c->count - c->done - 1;
    c->done += whole;
    *skipped += whole * each;
}

static mst_status repeat_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    repeat_cursor *c = (repeat_cursor *)cursor;
    *skipped = 0;
    while (*skipped < n && !c->ended) {
        int64_t more;
        MST_TRY(cursor->upstream->type->skip(cursor->upstream, n - *skipped, &more));
        *skipped += more;
        c->position += more;
        if (*skipped == n) break;
        skip_repetitions(c, n, skipped);
        MST_TRY(next_repetition(c));
    }
    return MST_OK;
}

static void repeat_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const repeat_cursor *c = (const repeat_cursor *)cursor;
    mst_bookmark_put(bookmark, c->first_epoch);
    mst_bookmark_put(bookmark, c->done);
    mst_bookmark_put(bookmark, c->position);
    mst_bookmark_put(bookmark, c->ended);
    mst_cursor_save(cursor->upstream, bookmark);
}

static mst_status repeat_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    repeat_cursor *c = (repeat_cursor *)cursor;
    int64_t ended;
    c->count = ((const repeat *)cursor->dataset)->count;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->first_epoch));
    MST_TRY(mst_bookmark_take(bookmark, 0, c->count < 0 || c->count > MST_BOOKMARK_MOST ? MST_BOOKMARK_MOST : c->count,
                              &c->done));
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->position));
    MST_TRY(mst_bookmark_take(bookmark, 0, 1, &ended));
    c->ended = ended;
    return mst_cursor_restore(cursor->upstream, bookmark);
}

static const mst_cursor_type cursor_type = {.start = repeat_start,
                                            .rows = repeat_rows,
                                            .batch = batch,
                                            .skip = repeat_skip,
                                            .save = repeat_save,
                                            .restore = repeat_restore};

static mst_status repeat_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_cursor_alloc(&cursor_type, sizeof(repeat_cursor), dataset, out);
}

static int64_t rows_before(const mst_dataset *dataset, int64_t n) {
    const mst_dataset *upstream = dataset->upstream;
    int64_t each = upstream->cardinality;
    if (each <= 0) return upstream->cardinality < 0 ? mst_dataset_rows_before(upstream, n) : 0;
    return n / each * mst_dataset_rows_before(upstream, each) + mst_dataset_rows_before(upstream, n % each);
}

static void repeat_settings(const mst_dataset *dataset, char *text, size_t size) {
    snprintf(text, size, "count %lld", (long long)((const repeat *)dataset)->count);
}

static const mst_dataset_type type = {
    .name = "repeat", .rows_before = rows_before, .open = repeat_open, .settings = repeat_settings};

mst_status mst_dataset_repeat(mst_dataset *dataset, int64_t count, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    repeat *d;
    int64_t num_rows = mst_dataset_num_rows(dataset), total;
    *out = NULL;
    if (count == 0 || count < -1)
        return MST_FAIL(MST_INVALID, "repeat: count is %lld, it must be at least 1, or -1 for ever", (long long)count);
    if (count > 0 && num_rows > 0 && __builtin_mul_overflow(num_rows, count, &total))
        return MST_FAIL(MST_INVALID, "repeat: %lld times %lld rows are too many: use -1 for ever", (long long)count,
                        (long long)num_rows);
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->count = count;
    if (count < 0 && dataset->cardinality != 0)
        d->base.cardinality = MST_INFINITE;
    else if (dataset->cardinality > 0)
        d->base.cardinality = dataset->cardinality * count;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_repeat(mst_dataset *dataset, int64_t count) {
    MST_DATASET_NEST(dataset, mst_dataset_repeat(dataset, count, &out));
}
