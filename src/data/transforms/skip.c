/** All elements but the first N; N must be at least 0. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_skip(mst_dataset *dataset, int64_t n, mst_dataset **out);
#endif
#include "data/cursors/cursor.h"

#include <stdio.h>

#include "base/argument.h"
#include "data/nested.h"

typedef struct skip {
    mst_dataset base;
    int64_t n;
} skip;

static mst_status skip_start(mst_cursor *cursor, int64_t epoch) {
    int64_t skipped;
    MST_TRY(cursor->upstream->type->start(cursor->upstream, epoch));
    return cursor->upstream->type->skip(cursor->upstream, ((const skip *)cursor->dataset)->n, &skipped);
}

static mst_status skip_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    return cursor->upstream->type->rows(cursor->upstream, rows, max, got);
}

static mst_status batch(mst_cursor *cursor, mst_element *element) {
    return cursor->upstream->type->batch(cursor->upstream, element);
}

static mst_status pass_over(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    return cursor->upstream->type->skip(cursor->upstream, n, skipped);
}

static const mst_cursor_type cursor_type = {.start = skip_start, .rows = skip_rows, .batch = batch, .skip = pass_over};

static mst_status skip_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_cursor_alloc(&cursor_type, sizeof(mst_cursor), dataset, out);
}

static int64_t rows_before(const mst_dataset *dataset, int64_t n) {
    int64_t last, skipped = ((const skip *)dataset)->n, all = dataset->upstream->cardinality;
    if (all >= 0 && skipped > all) skipped = all;
    if (__builtin_add_overflow(n, skipped, &last)) last = INT64_MAX;
    return mst_dataset_rows_before(dataset->upstream, last) - mst_dataset_rows_before(dataset->upstream, skipped);
}

static void skip_settings(const mst_dataset *dataset, char *text, size_t size) {
    snprintf(text, size, "%lld", (long long)((const skip *)dataset)->n);
}

static const mst_dataset_type type = {
    .name = "skip", .rows_before = rows_before, .open = skip_open, .settings = skip_settings, .takes_some = true};

mst_status mst_dataset_skip(mst_dataset *dataset, int64_t n, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    skip *d;
    *out = NULL;
    MST_TRY(mst_dataset_want_least("skip", "n", n, 0));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->n = n;
    if (dataset->cardinality >= 0) d->base.cardinality = dataset->cardinality > n ? dataset->cardinality - n : 0;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_skip(mst_dataset *dataset, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_skip(dataset, n, &out));
}
