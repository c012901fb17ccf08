/** The rows k of DATASET, counted in its order, for which k mod NUM is INDEX. The shards of all INDEX together have
 *  each row once. Must come before mst_dataset_batch. Fails with MST_INVALID unless 0 <= INDEX < NUM. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_shard(mst_dataset *dataset, int64_t num, int64_t index, mst_dataset **out);
#endif
#include "data/cursors/cursor.h"

#include <stdio.h>

#include "base/argument.h"
#include "data/nested.h"

typedef struct shard {
    mst_dataset base;
    int64_t num, index;
} shard;

typedef struct shard_cursor {
    mst_cursor base;
    int64_t gap; /* rows of other shards before the next row of this one */
} shard_cursor;

static const shard *dataset_of(const mst_cursor *cursor) {
    return (const shard *)cursor->dataset;
}

static mst_status shard_start(mst_cursor *cursor, int64_t epoch) {
    ((shard_cursor *)cursor)->gap = dataset_of(cursor)->index;
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static mst_status shard_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    shard_cursor *c = (shard_cursor *)cursor;
    int64_t one = 1, skipped;
    for (*got = 0; *got < max; *got += one) {
        if (c->gap) MST_TRY(cursor->upstream->type->skip(cursor->upstream, c->gap, &skipped));
        MST_TRY(cursor->upstream->type->rows(cursor->upstream, rows + *got, 1, &one));
        if (!one) return MST_OK;
        c->gap = dataset_of(cursor)->num - 1;
    }
    return MST_OK;
}

/* Skips up to and including the n-th row of this shard: gap + 1 rows of upstream for the first row, and num for each of
 * the others. */
static mst_status shard_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    shard_cursor *c = (shard_cursor *)cursor;
    int64_t passed, total, num = dataset_of(cursor)->num;
    *skipped = 0;
    if (n == 0) return MST_OK;
    if (__builtin_mul_overflow(n - 1, num, &total) || __builtin_add_overflow(total, c->gap + 1, &total))
        total = INT64_MAX;
    MST_TRY(cursor->upstream->type->skip(cursor->upstream, total, &passed));
    if (passed > c->gap) *skipped = (passed - c->gap - 1) / num + 1;
    c->gap = num - 1;
    return MST_OK;
}

static void shard_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, ((const shard_cursor *)cursor)->gap);
    mst_cursor_save(cursor->upstream, bookmark);
}

static mst_status shard_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    MST_TRY(mst_bookmark_take(bookmark, 0, dataset_of(cursor)->num - 1, &((shard_cursor *)cursor)->gap));
    return mst_cursor_restore(cursor->upstream, bookmark);
}

static const mst_cursor_type cursor_type = {
    .start = shard_start, .rows = shard_rows, .skip = shard_skip, .save = shard_save, .restore = shard_restore};

static mst_status shard_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_cursor_alloc(&cursor_type, sizeof(shard_cursor), dataset, out);
}

static void shard_settings(const mst_dataset *dataset, char *text, size_t size) {
    const shard *d = (const shard *)dataset;
    snprintf(text, size, "%lld of %lld", (long long)d->index, (long long)d->num);
}

static const mst_dataset_type type = {
    .name = "shard", .open = shard_open, .settings = shard_settings, .takes_some = true};

mst_status mst_dataset_shard(mst_dataset *dataset, int64_t num, int64_t index, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    shard *d;
    *out = NULL;
    MST_TRY(mst_dataset_want_rows(dataset, "shard"));
    MST_TRY(mst_dataset_want_least("shard", "num", num, 1));
    if (index < 0 || index >= num)
        return MST_FAIL(MST_INVALID, "shard: index is %lld, it must be at least 0 and less than num, which is %lld",
                        (long long)index, (long long)num);
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->num = num;
    d->index = index;
    if (dataset->cardinality >= 0)
        d->base.cardinality = dataset->cardinality / num + (index < dataset->cardinality % num);
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_shard(mst_dataset *dataset, int64_t num, int64_t index) {
    MST_DATASET_NEST(dataset, mst_dataset_shard(dataset, num, index, &out));
}
