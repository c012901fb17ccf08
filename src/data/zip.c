/** The rows of N datasets side by side: the components of DATASETS[0], then those of DATASETS[1], and so on. As long as the
 *  shortest. Comes before mst_dataset_batch. Fails with MST_INVALID for N below 1, and for datasets of batches or of
 *  records of any length. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "data/record_pool.h"
#include "data/row_fetch.h"

#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_zip(mst_dataset *const *datasets, int n, mst_dataset **out);
#endif

/* A zip is a source: its parts number their rows as they like. Each of its rows gets a number that no other row of the
 * iterator has, and the cursor keeps the numbers that the parts have for it until it is forgotten. */
typedef struct zip {
    mst_dataset base;
    mst_dataset **part;
    int num_parts;
} zip;

typedef struct zip_part {
    mst_cursor *cursor;
    mst_row_fetch *fetch;
} zip_part;

typedef struct zip_cursor {
    mst_cursor base;
    zip_part *part;
    int64_t *row;   /* of one row in each part */
    int64_t number; /* of the next row */
    mst_record_pool pool;
    int64_t
        *restored; /* numbers of rows that were held when the position was saved, until it is known which still are */
    int64_t num_restored;
} zip_cursor;

static const zip *dataset_of(const mst_cursor *cursor) {
    return (const zip *)cursor->dataset;
}

/* ---- rows that are held ---- */

static mst_status hold(zip_cursor *c, int64_t number, const int64_t *part_rows) {
    const size_t size = (size_t)dataset_of(&c->base)->num_parts * sizeof *part_rows;
    return mst_record_pool_add(&c->pool, number, 0, &(mst_record){part_rows, size, 0});
}

static const int64_t *held_rows(const mst_pooled *entry) {
    return (const int64_t *)(const void *)entry->record.data;
}

/* Strings that the parts wrote were copied behind the zip. */
static void forget_strings(zip_cursor *c) {
    for (int p = 0; p < dataset_of(&c->base)->num_parts; p++) mst_row_fetch_forget_strings(c->part[p].fetch);
}

static void forget(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    zip_cursor *c = (zip_cursor *)cursor;
    forget_strings(c);
    for (int64_t i = 0; i < n; i++) {
        const mst_pooled *entry = mst_record_pool_find(&c->pool, rows[i]);
        if (!entry) continue;
        for (int p = 0; entry->count == 1 && p < dataset_of(cursor)->num_parts; p++)
            mst_cursor_forget(c->part[p].cursor, held_rows(entry) + p, 1);
        mst_record_pool_drop(&c->pool, rows[i]);
    }
}

/* Those that no cursor downstream has kept were of the element that the iterator had given out. */
static void drop_restored(zip_cursor *c) {
    for (int64_t i = 0; i < c->num_restored; i++) mst_record_pool_drop(&c->pool, c->restored[i]);
    c->num_restored = 0;
}

static mst_status keep(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    zip_cursor *c = (zip_cursor *)cursor;
    mst_status status = MST_OK;
    int64_t *part_rows = malloc((size_t)n * sizeof *part_rows);
    if (!part_rows) return MST_NO_MEMORY("for %lld rows", (long long)n);
    for (int64_t i = 0; i < n && !status; i++) {
        mst_pooled *entry = mst_record_pool_find(&c->pool, rows[i]);
        if (entry)
            entry->count++;
        else
            status = MST_FAIL(MST_CORRUPT, "iterator: the saved position has no row %lld", (long long)rows[i]);
    }
    for (int p = 0; p < dataset_of(cursor)->num_parts && !status; p++) {
        for (int64_t i = 0; i < n; i++) part_rows[i] = held_rows(mst_record_pool_find(&c->pool, rows[i]))[p];
        status = mst_cursor_keep(c->part[p].cursor, part_rows, n);
    }
    free(part_rows);
    return status;
}

/* ---- order ---- */

static mst_status start(mst_cursor *cursor, int64_t epoch) {
    zip_cursor *c = (zip_cursor *)cursor;
    drop_restored(c);
    for (int p = 0; p < dataset_of(cursor)->num_parts; p++)
        MST_TRY(c->part[p].cursor->type->start(c->part[p].cursor, epoch));
    return MST_OK;
}

static void count_corrupt(zip_cursor *c) {
    c->base.num_corrupt = 0;
    for (int p = 0; p < dataset_of(&c->base)->num_parts; p++)
        c->base.num_corrupt += mst_cursor_base(c->part[p].cursor)->num_corrupt;
}

static mst_status next(zip_cursor *c, int64_t *number, int64_t *got) {
    const int num_parts = dataset_of(&c->base)->num_parts;
    for (int p = 0; p < num_parts; p++) {
        MST_TRY(c->part[p].cursor->type->rows(c->part[p].cursor, c->row + p, 1, got));
        for (int q = 0; !*got && q < p; q++) mst_cursor_forget(c->part[q].cursor, c->row + q, 1);
        if (!*got) return MST_OK;
    }
    *number = c->number++;
    return hold(c, *number, c->row);
}

static mst_status rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    zip_cursor *c = (zip_cursor *)cursor;
    int64_t one = 1;
    drop_restored(c);
    forget_strings(c);
    for (*got = 0; *got < max; ++*got) {
        MST_TRY(next(c, rows + *got, &one));
        if (!one) break;
    }
    count_corrupt(c);
    return MST_OK;
}

static mst_status skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    zip_cursor *c = (zip_cursor *)cursor;
    drop_restored(c);
    *skipped = n;
    for (int p = 0; p < dataset_of(cursor)->num_parts; p++) {
        int64_t passed;
        MST_TRY(c->part[p].cursor->type->skip(c->part[p].cursor, *skipped, &passed));
        if (passed < *skipped) *skipped = passed;
    }
    count_corrupt(c);
    return MST_OK;
}

static void save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const zip_cursor *c = (const zip_cursor *)cursor;
    const int num_parts = dataset_of(cursor)->num_parts;
    mst_bookmark_put(bookmark, c->number);
    mst_bookmark_put(bookmark, c->pool.used);
    for (int64_t i = 0; i < c->pool.capacity; i++) {
        if (!c->pool.place[i].count) continue;
        mst_bookmark_put(bookmark, c->pool.place[i].row);
        for (int p = 0; p < num_parts; p++) mst_bookmark_put(bookmark, held_rows(&c->pool.place[i])[p]);
    }
    for (int p = 0; p < num_parts; p++) mst_cursor_save(c->part[p].cursor, bookmark);
}

static mst_status restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    zip_cursor *c = (zip_cursor *)cursor;
    const int num_parts = dataset_of(cursor)->num_parts;
    int64_t count;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->number));
    MST_TRY(mst_bookmark_take(bookmark, 0, bookmark->count - bookmark->at, &count));
    c->restored = malloc((size_t)(count + 1) * sizeof *c->restored);
    if (!c->restored) return MST_NO_MEMORY("for %lld rows", (long long)count);
    for (int64_t i = 0; i < count; i++) {
        MST_TRY(mst_bookmark_take(bookmark, 0, c->number - 1, &c->restored[i]));
        for (int p = 0; p < num_parts; p++)
            MST_TRY(mst_bookmark_take(bookmark, 0, mst_dataset_last_row(dataset_of(cursor)->part[p]), &c->row[p]));
        MST_TRY(hold(c, c->restored[i], c->row));
        c->num_restored++;
    }
    for (int p = 0; p < num_parts; p++) MST_TRY(mst_cursor_restore(c->part[p].cursor, bookmark));
    return MST_OK;
}

static void destroy_cursor(mst_cursor *cursor) {
    zip_cursor *c = (zip_cursor *)cursor;
    for (int p = 0; c->part && p < dataset_of(cursor)->num_parts; p++) {
        mst_row_fetch_destroy(c->part[p].fetch);
        mst_cursor_destroy(c->part[p].cursor);
    }
    mst_record_pool_free(&c->pool);
    free(c->part);
    free(c->row);
    free(c->restored);
}

static const mst_cursor_type cursor_type = {.start = start,
                                            .rows = rows,
                                            .skip = skip,
                                            .destroy = destroy_cursor,
                                            .save = save,
                                            .restore = restore,
                                            .forget = forget,
                                            .keep = keep};

static mst_status open_parts(zip_cursor *c) {
    const zip *d = dataset_of(&c->base);
    c->part = calloc((size_t)d->num_parts, sizeof *c->part);
    c->row = calloc((size_t)d->num_parts, sizeof *c->row);
    if (!c->part || !c->row) return MST_NO_MEMORY("for an iterator (zip)");
    for (int p = 0; p < d->num_parts; p++) {
        MST_TRY(mst_cursor_open(d->part[p], &c->part[p].cursor));
        MST_TRY(mst_row_fetch_create(d->part[p], c->part[p].cursor, &c->part[p].fetch));
    }
    return MST_OK;
}

static mst_status open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(zip_cursor), dataset, out));
    const mst_status status = open_parts((zip_cursor *)*out);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return status;
}

/* ---- values ---- */

static mst_status values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst) {
    const zip_cursor *c = (const zip_cursor *)base;
    const zip *d = (const zip *)source;
    const mst_pooled *entry = mst_record_pool_find(&c->pool, row);
    if (!entry) return MST_FAIL(MST_INTERNAL, "zip: row %lld is not held", (long long)row);
    for (int p = 0; p < d->num_parts; dst += d->part[p++]->num_components) {
        const mst_element element = {.count = 1, .rows = held_rows(entry) + p};
        bool wanted = false;
        for (int i = 0; i < d->part[p]->num_components; i++) wanted |= dst[i] != NULL;
        if (wanted) MST_TRY(mst_row_fetch_copy_all(c->part[p].fetch, &element, 0, 1, dst));
    }
    return MST_OK;
}

static const char *const *classes(const mst_dataset *dataset, int component, int64_t *n) {
    const zip *d = (const zip *)dataset;
    for (int p = 0; p < d->num_parts; component -= d->part[p++]->num_components)
        if (component < d->part[p]->num_components) return mst_dataset_classes(d->part[p], component, n);
    return NULL;
}

static void destroy(mst_dataset *dataset) {
    zip *d = (zip *)dataset;
    for (int p = 0; d->part && p < d->num_parts; p++) mst_dataset_release(d->part[p]);
    free(d->part);
}

static const mst_dataset_type type = {
    .name = "zip", .destroy = destroy, .open = open, .values = values, .classes = classes};

static mst_status check(mst_dataset *const *datasets, int n, int *num_components) {
    *num_components = 0;
    if (n < 1) return MST_FAIL(MST_INVALID, "zip: %d datasets, at least 1 is needed", n);
    for (int p = 0; p < n; p++) {
        if (!datasets[p]) return MST_FAIL(MST_INVALID, "zip: dataset %d is NULL", p);
        MST_TRY(mst_dataset_want_rows(datasets[p], "zip"));
        for (int i = 0; i < datasets[p]->num_components; i++) MST_TRY(mst_dataset_want_values(datasets[p], i, "zip"));
        *num_components += datasets[p]->num_components;
    }
    return MST_OK;
}

/* The least; one of which it is not known can be less than any. */
static int64_t shortest(int64_t a, int64_t b) {
    if (a == 0 || b == 0) return 0;
    if (a == MST_UNKNOWN_CARDINALITY || b == MST_UNKNOWN_CARDINALITY) return MST_UNKNOWN_CARDINALITY;
    if (a == MST_INFINITE || b == MST_INFINITE) return a > b ? a : b;
    return a < b ? a : b;
}

mst_status mst_dataset_zip(mst_dataset *const *datasets, int n, mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(datasets)) || MST_IS_NULL(out)) return MST_INVALID;
    zip *d;
    int num_components;
    *out = NULL;
    MST_TRY(check(datasets, n, &num_components));
    MST_TRY(mst_dataset_alloc(&type, sizeof *d, num_components, &d));
    if (!(d->part = calloc((size_t)n, sizeof *d->part))) {
        mst_dataset_release(&d->base);
        return MST_NO_MEMORY("for a dataset (zip)");
    }
    d->base.cardinality = MST_INFINITE;
    mst_spec *row = d->base.row;
    for (int p = 0; p < n; p++, d->num_parts++) {
        d->part[p] = mst_dataset_retain(datasets[p]);
        memcpy(row, datasets[p]->row, (size_t)datasets[p]->num_components * sizeof *row);
        row += datasets[p]->num_components;
        d->base.cardinality = shortest(d->base.cardinality, datasets[p]->cardinality);
        d->base.num_corrupt += datasets[p]->num_corrupt;
    }
    *out = &d->base;
    return MST_OK;
}
