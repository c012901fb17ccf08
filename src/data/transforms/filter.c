/** The rows for which FUNCTION sets *KEEP. Must come before mst_dataset_batch. The number of rows is not known. CONTEXT
 *  must outlive the dataset and its iterators. FUNCTION sees each row when the order is made, one by one; rows that are
 *  kept are made again when they are copied. So filter early, before expensive maps. */
#ifdef MST_DATASET_HEADER
/** Sets *KEEP to whether the row stays. Called once per row, by one thread at a time. */
typedef mst_status (*mst_filter_function)(const mst_array *in, bool *keep, void *context);
MST_API MST_CHECKED mst_status mst_dataset_filter(mst_dataset *dataset, mst_filter_function function, void *context,
                                                  mst_dataset **out);
#endif
#include "data/cursors/cursor.h"

#include "base/argument.h"
#include "data/nested.h"
#include "data/row_fetch.h"

typedef struct filter {
    mst_dataset base;
    mst_filter_function function;
    void *context;
} filter;

typedef struct filter_cursor {
    mst_cursor base;
    mst_row_fetch *fetch;
} filter_cursor;

typedef struct decision {
    const filter *dataset;
    bool keep;
} decision;

static mst_status filter_start(mst_cursor *cursor, int64_t epoch) {
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static mst_status decide(const mst_array *in, void *context) {
    decision *d = context;
    return d->dataset->function(in, &d->keep, d->dataset->context);
}

/* Finds the next row that stays; *GOT is 0 at the end. */
static mst_status filter_next(mst_cursor *cursor, int64_t *row, int64_t *got) {
    for (;;) {
        decision d = {(const filter *)cursor->dataset, false};
        MST_TRY(cursor->upstream->type->rows(cursor->upstream, row, 1, got));
        if (!*got) return MST_OK;
        const mst_element element = {.count = 1, .rows = row};
        mst_status status = mst_row_fetch_look(((filter_cursor *)cursor)->fetch, "filter", &element, 0, decide, &d);
        if (status || !d.keep) mst_cursor_forget(cursor, row, 1);
        if (status || d.keep) return status;
    }
}

static mst_status filter_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    int64_t one = 1;
    for (*got = 0; *got < max; ++*got) {
        MST_TRY(filter_next(cursor, rows + *got, &one));
        if (!one) break;
    }
    return MST_OK;
}

static mst_status filter_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    int64_t row, one = 1;
    for (*skipped = 0; *skipped < n; ++*skipped) {
        MST_TRY(filter_next(cursor, &row, &one));
        if (!one) break;
        mst_cursor_forget(cursor, &row, 1);
    }
    return MST_OK;
}

static void filter_destroy(mst_cursor *cursor) {
    mst_row_fetch_destroy(((filter_cursor *)cursor)->fetch);
}

static const mst_cursor_type cursor_type = {
    .start = filter_start, .rows = filter_rows, .skip = filter_skip, .destroy = filter_destroy};

static mst_status filter_open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(filter_cursor), dataset, out));
    filter_cursor *c = (filter_cursor *)*out;
    mst_status status = mst_row_fetch_create(dataset->upstream, c->base.upstream, &c->fetch);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return status;
}

static const mst_dataset_type type = {.name = "filter", .open = filter_open, .takes_some = true};

mst_status mst_dataset_filter(mst_dataset *dataset, mst_filter_function function, void *context, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(function) || MST_IS_NULL(out)) return MST_INVALID;
    filter *d;
    *out = NULL;
    MST_TRY(mst_dataset_want_rows(dataset, "filter"));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->function = function;
    d->context = context;
    if (dataset->cardinality > 0) d->base.cardinality = MST_UNKNOWN_CARDINALITY;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_filter(mst_dataset *dataset, mst_filter_function function, void *context) {
    MST_DATASET_NEST(dataset, mst_dataset_filter(dataset, function, context, &out));
}
