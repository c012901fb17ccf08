/** The rows of N datasets side by side: the components of DATASETS[0], then those of DATASETS[1], and so on. There are
 *  as many rows as in the shortest dataset. Must come before mst_dataset_batch. Rows may have strings and any length.
 *  Fails with MST_INVALID for N below 1, and for datasets of batches. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_zip(mst_dataset *const *datasets, int n, mst_dataset **out);
#endif
#include <string.h>

#include "base/argument.h"
#include "data/nested.h"
#include "data/transforms/joined.h"

static mst_status zip_start(mst_cursor *cursor, int64_t epoch) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    for (int p = 0; p < ((const mst_joined *)cursor->dataset)->num_parts; p++)
        MST_TRY(mst_joined_start_part(c, p, epoch));
    return MST_OK;
}

static mst_status zip_next(mst_joined_cursor *c, int64_t *number, int64_t *got) {
    const int num_parts = ((const mst_joined *)c->base.dataset)->num_parts;
    for (int p = 0; p < num_parts; p++) {
        mst_cursor *cursor = c->part[p].cursor;
        c->row[p].part = p;
        MST_TRY(cursor->type->rows(cursor, &c->row[p].row, 1, got));
        for (int q = 0; !*got && q < p; q++) mst_cursor_forget(c->part[q].cursor, &c->row[q].row, 1);
        if (!*got) return MST_OK;
    }
    return mst_joined_give(c, c->row, number);
}

static mst_status zip_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    int64_t one = 1;
    for (*got = 0; *got < max; ++*got) {
        MST_TRY(zip_next(c, rows + *got, &one));
        if (!one) break;
    }
    mst_joined_count_corrupt(c);
    return MST_OK;
}

static mst_status zip_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    *skipped = n;
    for (int p = 0; p < ((const mst_joined *)cursor->dataset)->num_parts; p++) {
        int64_t passed;
        MST_TRY(c->part[p].cursor->type->skip(c->part[p].cursor, *skipped, &passed));
        if (passed < *skipped) *skipped = passed;
    }
    mst_joined_count_corrupt(c);
    return MST_OK;
}

static const mst_cursor_type cursor_type = {.start = zip_start,
                                            .rows = zip_rows,
                                            .skip = zip_skip,
                                            .destroy = mst_joined_cursor_destroy,
                                            .save = mst_joined_save,
                                            .restore = mst_joined_restore,
                                            .forget = mst_joined_forget,
                                            .keep = mst_joined_keep,
                                            .settle = mst_joined_settle};

static mst_status zip_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_joined_open(&cursor_type, sizeof(mst_joined_cursor), dataset, out);
}

static const char *const *zip_classes(const mst_dataset *dataset, int component, int64_t *n) {
    const mst_joined *d = (const mst_joined *)dataset;
    for (int p = 0; p < d->num_parts; component -= d->part[p++]->num_components)
        if (component < d->part[p]->num_components) return mst_dataset_classes(d->part[p], component, n);
    return NULL;
}

static const mst_dataset_type type = {.name = "zip",
                                      .destroy = mst_joined_destroy,
                                      .open = zip_open,
                                      .values = mst_joined_values,
                                      .record = mst_joined_record,
                                      .classes = zip_classes,
                                      .parts = mst_joined_parts};

/* The smaller of two cardinalities. It is unknown if one of them is, since that one may be the smaller. */
static int64_t shortest(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    if (a == MST_UNKNOWN_CARDINALITY || b == MST_UNKNOWN_CARDINALITY) return MST_UNKNOWN_CARDINALITY;
    if (a == MST_INFINITE || b == MST_INFINITE) return a > b ? a : b;
    return a < b ? a : b;
}

mst_status mst_dataset_zip(mst_dataset *const *datasets, int n, mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(datasets)) || MST_IS_NULL(out)) return MST_INVALID;
    mst_joined *d;
    int num_components = 0;
    *out = NULL;
    MST_TRY(mst_joined_check("zip", datasets, n));
    for (int p = 0; p < n; p++) num_components += datasets[p]->num_components;
    MST_TRY(mst_joined_alloc(&type, sizeof *d, num_components, datasets, n, n, &d));
    d->base.cardinality = MST_INFINITE;
    mst_spec *row = d->base.row;
    for (int p = 0; p < n; p++) {
        memcpy(row, datasets[p]->row, (size_t)datasets[p]->num_components * sizeof *row);
        row += datasets[p]->num_components;
        d->base.cardinality = shortest(d->base.cardinality, datasets[p]->cardinality);
    }
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_zip(mst_dataset *const *datasets, int n) {
    MST_DATASET_NEST_ALL(datasets, n, mst_dataset_zip(datasets, n, &out));
}
