/** Batches of SIZE consecutive rows. The last one has the rows that are left; with DROP_REMAINDER it is dropped if
 *  these are fewer than SIZE. If SIZE is more than mst_dataset_num_rows, there is one batch of all rows, or none with
 *  DROP_REMAINDER; callers for whom that is a mistake must check it. Fails with MST_INVALID for SIZE below 1, or if the
 *  elements of DATASET are batches. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_batch(mst_dataset *dataset, int64_t size, bool drop_remainder,
                                                 mst_dataset **out);
#endif
#include <stdio.h>
#include <stdlib.h>

#include "base/argument.h"
#include "data/cursors/cursor.h"
#include "data/nested.h"

typedef struct batch {
    mst_dataset base;
    bool drop_remainder;
} batch;

typedef struct batch_cursor {
    mst_cursor base;
    int64_t most; /* the most rows that a batch can have */
    int64_t *rows;
} batch_cursor;

static mst_status batch_start(mst_cursor *cursor, int64_t epoch) {
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static bool drops(const mst_cursor *cursor) {
    return ((const batch *)cursor->dataset)->drop_remainder;
}

static mst_status batch_next(mst_cursor *cursor, mst_element *element) {
    batch_cursor *c = (batch_cursor *)cursor;
    *element = (mst_element){.rows = c->rows};
    MST_TRY(cursor->upstream->type->rows(cursor->upstream, c->rows, c->most, &element->count));
    if (drops(cursor) && element->count < cursor->dataset->batch_size) {
        mst_cursor_forget(cursor, c->rows, element->count);
        element->count = 0;
    }
    return MST_OK;
}

static mst_status batch_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    int64_t num_rows, passed, size = cursor->dataset->batch_size;
    if (__builtin_mul_overflow(n, size, &num_rows)) num_rows = INT64_MAX;
    MST_TRY(cursor->upstream->type->skip(cursor->upstream, num_rows, &passed));
    *skipped = passed / size + (passed % size && !drops(cursor));
    return MST_OK;
}

static void batch_destroy(mst_cursor *cursor) {
    free(((batch_cursor *)cursor)->rows);
}

static const mst_cursor_type cursor_type = {
    .start = batch_start, .batch = batch_next, .skip = batch_skip, .destroy = batch_destroy};

static mst_status batch_open(const mst_dataset *dataset, mst_cursor **out) {
    batch_cursor *c;
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof *c, dataset, out));
    c = (batch_cursor *)*out;
    c->most = mst_dataset_most_rows(dataset);
    if ((uint64_t)c->most <= SIZE_MAX / sizeof *c->rows) c->rows = malloc((size_t)c->most * sizeof *c->rows);
    if (c->rows) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return MST_FAIL(MST_OUT_OF_MEMORY, "batch: cannot get memory for %lld rows: choose a smaller batch",
                    (long long)dataset->batch_size);
}

static int64_t rows_before(const mst_dataset *dataset, int64_t n) {
    int64_t num_rows, all = dataset->upstream->cardinality;
    if (__builtin_mul_overflow(n, dataset->batch_size, &num_rows)) num_rows = INT64_MAX;
    return all >= 0 && num_rows > all ? all : num_rows;
}

static void batch_settings(const mst_dataset *dataset, char *text, size_t size) {
    snprintf(text, size, "size %lld%s", (long long)dataset->batch_size,
             ((const batch *)dataset)->drop_remainder ? ", drop_remainder" : "");
}

static const mst_dataset_type type = {
    .name = "batch", .rows_before = rows_before, .open = batch_open, .settings = batch_settings};

mst_status mst_dataset_batch(mst_dataset *dataset, int64_t size, bool drop_remainder, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    batch *d;
    *out = NULL;
    MST_TRY(mst_dataset_want_rows(dataset, "batch"));
    MST_TRY(mst_dataset_want_least("batch", "size", size, 1));
    for (int i = 0; i < dataset->num_components; i++)
        if (dataset->row[i].shape.ndim == MST_MAX_NDIM)
            return MST_FAIL(MST_INVALID, "batch: rows of component %d have %d dimensions already, the most there are",
                            i, MST_MAX_NDIM);
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    int64_t num_rows = dataset->cardinality;
    d->drop_remainder = drop_remainder;
    d->base.batch_size = size;
    d->base.even = drop_remainder || num_rows == MST_INFINITE || (num_rows > 0 && num_rows % size == 0);
    if (num_rows >= 0) d->base.cardinality = num_rows / size + (num_rows % size && !drop_remainder);
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_batch(mst_dataset *dataset, int64_t size, bool drop_remainder) {
    MST_DATASET_NEST(dataset, mst_dataset_batch(dataset, size, drop_remainder, &out));
}
