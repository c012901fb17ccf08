/* A source of records: each is a row of a batch, packed into bytes (data/transforms/packed_row.h). When the first row
 * of a batch is asked for, the whole batch is packed, by several threads if that takes long. The pool holds packed rows
 * until they are forgotten. A dataset after the source unpacks the rows. */
#include "data/transforms/unbatch.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "data/cancel.h"
#include "data/cursors/cursor.h"
#include "data/sources/record_pool.h"
#include "data/team_fetch.h"
#include "data/transforms/packed_row.h"

typedef struct unbatch {
    mst_dataset base;
    mst_dataset *batches;
    mst_dataset *packed; /* these batches, each row packed */
} unbatch;

typedef struct unbatch_cursor {
    mst_cursor base;
    mst_cursor *batches; /* of unbatch.packed */
    mst_team_fetch *fetch;
    mst_record_pool pool;
    mst_string *row;     /* scratch space for the packed rows of one batch */
    int64_t made, given; /* rows of this pass that were put in the pool, and that were given out */
    bool ended;
    bool has_short; /* a batch had fewer rows than batch_size, so it must be the last */
} unbatch_cursor;

static const unbatch *unbatch_of(const mst_cursor *cursor) {
    return (const unbatch *)cursor->dataset;
}

/* ---- order ---- */

static mst_status unbatch_start(mst_cursor *cursor, int64_t epoch) {
    unbatch_cursor *c = (unbatch_cursor *)cursor;
    mst_record_pool_free(&c->pool);
    c->pool = (mst_record_pool){0};
    c->made = c->given = 0;
    c->ended = c->has_short = false;
    return c->batches->type->start(c->batches, epoch);
}

static mst_status add_rows(unbatch_cursor *c, const mst_element *element) {
    MST_TRY(mst_team_fetch_copy_all(c->fetch, element, 0, element->count, (void *const[]){c->row}));
    for (int64_t i = 0; i < element->count; i++) {
        const mst_record record = {c->row[i].data, c->row[i].length, 0};
        MST_TRY(mst_record_pool_add(&c->pool, c->made, 0, &record));
        c->made++;
    }
    return MST_OK;
}

static mst_status next_batch(unbatch_cursor *c) {
    const int64_t size = unbatch_of(&c->base)->batches->batch_size;
    mst_element element;
    MST_TRY(mst_cancel_check());
    MST_TRY(c->batches->type->batch(c->batches, &element));
    c->base.num_corrupt = mst_cursor_base(c->batches)->num_corrupt;
    c->ended = element.count == 0;
    if (c->ended) return MST_OK;
    if (c->has_short)
        return MST_FAIL(MST_INVALID,
                        "cache: a batch of fewer than %lld rows is not the last one: put repeat behind cache, or drop "
                        "the remainder in batch",
                        (long long)size);
    c->has_short = element.count < size;
    const mst_status status = add_rows(c, &element);
    mst_team_fetch_forget_strings(c->fetch);
    mst_cursor_forget(c->batches, element.rows, element.rows ? element.count : 0);
    return status;
}

static mst_status unbatch_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    unbatch_cursor *c = (unbatch_cursor *)cursor;
    for (*got = 0; *got < max;) {
        if (c->given < c->made)
            rows[(*got)++] = c->given++;
        else if (c->ended)
            break;
        else
            MST_TRY(next_batch(c));
    }
    return MST_OK;
}

static void unbatch_forget(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    for (int64_t i = 0; i < n; i++) mst_record_pool_drop(&((unbatch_cursor *)cursor)->pool, rows[i]);
}

static mst_status unbatch_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    int64_t row, got = 1;
    for (*skipped = 0; *skipped < n && got; *skipped += got) {
        MST_TRY(unbatch_rows(cursor, &row, 1, &got));
        unbatch_forget(cursor, &row, got);
    }
    return MST_OK;
}

static void unbatch_cursor_destroy(mst_cursor *cursor) {
    unbatch_cursor *c = (unbatch_cursor *)cursor;
    mst_team_fetch_destroy(c->fetch);
    mst_cursor_destroy(c->batches);
    mst_record_pool_free(&c->pool);
    free(c->row);
}

static const mst_cursor_type cursor_type = {.start = unbatch_start,
                                            .rows = unbatch_rows,
                                            .skip = unbatch_skip,
                                            .destroy = unbatch_cursor_destroy,
                                            .forget = unbatch_forget};

static mst_status unbatch_set_up(unbatch_cursor *c) {
    mst_dataset *packed = unbatch_of(&c->base)->packed;
    const int64_t most = mst_dataset_most_rows(packed);
    if (!(c->row = calloc((size_t)most, sizeof *c->row)))
        return MST_NO_MEMORY("for a batch of %lld rows", (long long)most);
    MST_TRY(mst_cursor_open(packed, &c->batches));
    return mst_team_fetch_create(packed, c->batches, 0, &c->fetch);
}

static mst_status unbatch_open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(unbatch_cursor), dataset, out));
    const mst_status status = unbatch_set_up((unbatch_cursor *)*out);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return status;
}

/* ---- values ---- */

static mst_status unbatch_read(const mst_dataset *dataset, mst_cursor *base, const int64_t *rows, int64_t count,
                               mst_record_buffer *buffer, mst_record *record) {
    (void)dataset, (void)count, (void)buffer;
    const int64_t row = mst_row_number(rows[0]);
    const mst_pooled *entry = mst_record_pool_find(&((const unbatch_cursor *)base)->pool, row);
    if (!entry) return MST_FAIL(MST_INTERNAL, "cache: row %lld is not held", (long long)row);
    *record = entry->record;
    return MST_OK;
}

static mst_status unbatch_explain(const mst_dataset *dataset, mst_cursor *base, int64_t row) {
    (void)dataset, (void)base;
    return mst_error_prefix("cache: row %lld", (long long)row);
}

/* ---- datasets ---- */

static void unbatch_destroy(mst_dataset *dataset) {
    unbatch *d = (unbatch *)dataset;
    mst_dataset_release(d->packed);
    mst_dataset_release(d->batches);
}

static const char *const *unbatch_classes(const mst_dataset *dataset, int component, int64_t *n) {
    return mst_dataset_classes(((const unbatch *)dataset->upstream)->batches, component, n);
}

static const char *unbatch_schema(const mst_dataset *dataset) {
    return mst_dataset_schema(((const unbatch *)dataset->upstream)->batches);
}

static mst_dataset *const *unbatch_parts(const mst_dataset *dataset, int *n) {
    *n = 1;
    return &((const unbatch *)dataset)->batches;
}

static const mst_dataset_type source_type = {.name = "unbatch",
                                             .destroy = unbatch_destroy,
                                             .open = unbatch_open,
                                             .read = unbatch_read,
                                             .explain = unbatch_explain,
                                             .parts = unbatch_parts};
static const mst_dataset_type view_type = {
    .name = "unbatch", .classes = unbatch_classes, .schema = unbatch_schema, .keeps_rows = true};

mst_status mst_dataset_unbatch(mst_dataset *batches, mst_dataset **out) {
    unbatch *d;
    *out = NULL;
    MST_TRY(mst_dataset_alloc(&source_type, sizeof *d, 1, &d));
    d->base.row[0] = (mst_spec){.dtype = MST_STRING};
    d->base.cardinality = mst_dataset_num_rows(batches);
    d->base.num_corrupt = batches->num_corrupt;
    d->batches = mst_dataset_retain(batches);
    mst_status status = mst_dataset_pack(batches, &d->packed);
    if (!status) status = mst_dataset_unpack(&view_type, &d->base, batches, out);
    mst_dataset_release(&d->base);
    return status;
}

/* If all batches have the same number of rows (`even`), there is no remainder to drop. drop_remainder then only makes
 * the result even too. */
mst_status mst_dataset_rebatch(mst_dataset *rows, const mst_dataset *batches, mst_dataset **out) {
    for (int i = 0; i < batches->num_components; i++)
        if (mst_shape_count(batches->row[i].shape) < 0)
            return mst_dataset_padded_batch(rows, batches->batch_size, batches->even, NULL, out);
    return mst_dataset_batch(rows, batches->batch_size, batches->even, out);
}
