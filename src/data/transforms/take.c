/** The first N elements, or all if there are fewer; N must be at least 0. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_take(mst_dataset *dataset, int64_t n, mst_dataset **out);
#endif
#include "data/cursors/cursor.h"

#include <stdio.h>

#include "base/argument.h"
#include "data/nested.h"

typedef struct take {
    mst_dataset base;
    int64_t n;
} take;

typedef struct take_cursor {
    mst_cursor base;
    int64_t left;
} take_cursor;

static mst_status take_start(mst_cursor *cursor, int64_t epoch) {
    ((take_cursor *)cursor)->left = ((const take *)cursor->dataset)->n;
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static mst_status take_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    take_cursor *c = (take_cursor *)cursor;
    *got = 0;
    if (max > c->left) max = c->left;
    if (max) MST_TRY(cursor->upstream->type->rows(cursor->upstream, rows, max, got));
    c->left -= *got;
    return MST_OK;
}

static mst_status batch(mst_cursor *cursor, mst_element *element) {
    take_cursor *c = (take_cursor *)cursor;
    *element = (mst_element){0};
    if (c->left) MST_TRY(cursor->upstream->type->batch(cursor->upstream, element));
    if (element->count) c->left--;
    return MST_OK;
}

static mst_status take_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    take_cursor *c = (take_cursor *)cursor;
    MST_TRY(cursor->upstream->type->skip(cursor->upstream, n < c->left ? n : c->left, skipped));
    c->left -= *skipped;
    return MST_OK;
}

static void take_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, ((const take_cursor *)cursor)->left);
    mst_cursor_save(cursor->upstream, bookmark);
}

static mst_status take_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    MST_TRY(mst_bookmark_take(bookmark, 0, ((const take *)cursor->dataset)->n, &((take_cursor *)cursor)->left));
    return mst_cursor_restore(cursor->upstream, bookmark);
}

static const mst_cursor_type cursor_type = {.start = take_start,
                                            .rows = take_rows,
                                            .batch = batch,
                                            .skip = take_skip,
                                            .save = take_save,
                                            .restore = take_restore};

static mst_status take_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_cursor_alloc(&cursor_type, sizeof(take_cursor), dataset, out);
}

static void take_settings(const mst_dataset *dataset, char *text, size_t size) {
    snprintf(text, size, "%lld", (long long)((const take *)dataset)->n);
}

static const mst_dataset_type type = {.name = "take", .open = take_open, .settings = take_settings, .takes_some = true};

mst_status mst_dataset_take(mst_dataset *dataset, int64_t n, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    take *d;
    *out = NULL;
    MST_TRY(mst_dataset_want_least("take", "n", n, 0));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->n = n;
    if (dataset->cardinality == MST_INFINITE || dataset->cardinality > n || n == 0) d->base.cardinality = n;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_take(mst_dataset *dataset, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_take(dataset, n, &out));
}
