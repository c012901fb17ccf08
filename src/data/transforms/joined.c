/* The rows of zip and interleave. Each row that is given out gets the next number. Under that number, the pool holds
 * the rows of the parts that it is made of:
 *
 *      number 7  ->  part 0, row 3 | part 1, row 41       zip: one row of each part (width: number of parts)
 *      number 8  ->  part 2, row 5                        interleave: one row of one part (width 1)
 *
 * When a number is forgotten, its rows in the parts are forgotten too. After a restore, the pool has all rows that
 * were held. The cursors downstream then call keep for the rows that they still need; settle drops all others. */
#include "data/transforms/joined.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/rng.h"
#include "data/cancel.h"

static const mst_joined *dataset_of(const mst_cursor *cursor) {
    return (const mst_joined *)cursor->dataset;
}

/* ---- datasets ---- */

mst_status mst_joined_check(const char *transform, mst_dataset *const *datasets, int n) {
    if (n < 1) return MST_FAIL(MST_INVALID, "%s: %d datasets, at least 1 is needed", transform, n);
    for (int p = 0; p < n; p++) {
        if (!datasets[p]) return MST_FAIL(MST_INVALID, "%s: dataset %d is NULL", transform, p);
        MST_TRY(mst_dataset_want_rows(datasets[p], transform));
    }
    return MST_OK;
}

mst_status mst_joined_alloc(const mst_dataset_type *type, size_t size, int num_components, mst_dataset *const *datasets,
                            int n, int width, void *out) {
    mst_joined **result = out;
    MST_TRY(mst_dataset_alloc(type, size, num_components, out));
    mst_joined *d = *result;
    if (!(d->part = calloc((size_t)n, sizeof *d->part))) {
        mst_dataset_release(&d->base);
        *result = NULL;
        return MST_NO_MEMORY("for a dataset (%s)", type->name);
    }
    d->width = width;
    for (; d->num_parts < n; d->num_parts++) {
        d->part[d->num_parts] = mst_dataset_retain(datasets[d->num_parts]);
        d->base.num_corrupt += datasets[d->num_parts]->num_corrupt;
    }
    return MST_OK;
}

void mst_joined_destroy(mst_dataset *dataset) {
    mst_joined *d = (mst_joined *)dataset;
    for (int p = 0; d->part && p < d->num_parts; p++) mst_dataset_release(d->part[p]);
    free(d->part);
}

/* ---- rows that are held ---- */

static mst_status hold(mst_joined_cursor *c, int64_t number, const mst_joined_row *rows) {
    const size_t size = (size_t)dataset_of(&c->base)->width * sizeof *rows;
    return mst_record_pool_add(&c->pool, number, 0, &(mst_record){rows, size, 0});
}

static const mst_joined_row *held_rows(const mst_pooled *entry) {
    return (const mst_joined_row *)(const void *)entry->record.data;
}

mst_status mst_joined_give(mst_joined_cursor *c, const mst_joined_row *rows, int64_t *number) {
    MST_TRY(mst_cancel_check());
    *number = c->number++;
    return hold(c, *number, rows);
}

/* Called when the strings of the parts have been copied. */
static void forget_strings(mst_joined_cursor *c) {
    for (int p = 0; p < dataset_of(&c->base)->num_parts; p++) mst_row_fetch_forget_strings(c->part[p].fetch);
}

void mst_joined_forget(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    forget_strings(c);
    for (int64_t i = 0; i < n; i++) {
        const mst_pooled *entry = mst_record_pool_find(&c->pool, rows[i]);
        if (!entry) continue;
        const mst_joined_row *held = held_rows(entry);
        for (int k = 0; entry->count == 1 && k < dataset_of(cursor)->width; k++)
            mst_cursor_forget(c->part[held[k].part].cursor, &held[k].row, 1);
        mst_record_pool_drop(&c->pool, rows[i]);
    }
}

/* Tells part P to keep its rows among those that the N ROWS are made of. The part already holds the rows that were
 * given out since the restore. */
static mst_status keep_of_part(mst_joined_cursor *c, int p, const int64_t *rows, int64_t n, int64_t *part_rows) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const mst_joined_row *held = held_rows(mst_record_pool_find(&c->pool, rows[i]));
        for (int k = 0; rows[i] < c->first_new && k < dataset_of(&c->base)->width; k++)
            if (held[k].part == p) part_rows[count++] = held[k].row;
    }
    return mst_cursor_keep(c->part[p].cursor, part_rows, count);
}

mst_status mst_joined_keep(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
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
    for (int p = 0; p < dataset_of(cursor)->num_parts && !status; p++) status = keep_of_part(c, p, rows, n, part_rows);
    free(part_rows);
    return status;
}

/* ---- order ---- */

mst_status mst_joined_start_part(mst_joined_cursor *c, int p, int64_t epoch) {
    c->part[p].begun = true;
    return c->part[p].cursor->type->start(c->part[p].cursor, epoch);
}

void mst_joined_count_corrupt(mst_joined_cursor *c) {
    c->base.num_corrupt = 0;
    for (int p = 0; p < dataset_of(&c->base)->num_parts; p++)
        c->base.num_corrupt += mst_cursor_base(c->part[p].cursor)->num_corrupt;
}

/* A row made of one part is saved with the index of the part. Rows made of all parts are saved in the order of the
 * parts. */
void mst_joined_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const mst_joined_cursor *c = (const mst_joined_cursor *)cursor;
    const mst_joined *d = dataset_of(cursor);
    mst_bookmark_put(bookmark, c->number);
    mst_bookmark_put(bookmark, c->pool.used);
    for (int64_t i = 0; i < c->pool.capacity; i++) {
        if (!c->pool.place[i].count) continue;
        const mst_joined_row *held = held_rows(&c->pool.place[i]);
        mst_bookmark_put(bookmark, c->pool.place[i].row);
        if (d->width == 1) mst_bookmark_put(bookmark, held->part);
        for (int k = 0; k < d->width; k++) mst_bookmark_put(bookmark, held[k].row);
    }
    for (int p = 0; p < d->num_parts; p++) {
        mst_bookmark_put(bookmark, c->part[p].begun);
        if (c->part[p].begun) mst_cursor_save(c->part[p].cursor, bookmark);
    }
}

static mst_status restore_held(mst_joined_cursor *c, mst_bookmark *bookmark) {
    const mst_joined *d = dataset_of(&c->base);
    int64_t *number = &c->restored[c->num_restored];
    MST_TRY(mst_bookmark_take(bookmark, 0, c->number - 1, number));
    for (int k = 0; k < d->width; k++) c->row[k].part = k;
    if (d->width == 1) MST_TRY(mst_bookmark_take(bookmark, 0, d->num_parts - 1, &c->row->part));
    for (int k = 0; k < d->width; k++)
        MST_TRY(mst_dataset_read_saved_row(d->part[c->row[k].part], bookmark, &c->row[k].row));
    MST_TRY(hold(c, *number, c->row));
    c->num_restored++;
    return MST_OK;
}

mst_status mst_joined_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    int64_t count, begun;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->number));
    MST_TRY(mst_bookmark_take(bookmark, 0, bookmark->count - bookmark->at, &count));
    c->restored = malloc((size_t)(count + 1) * sizeof *c->restored);
    if (!c->restored) return MST_NO_MEMORY("for %lld rows", (long long)count);
    c->first_new = c->number;
    for (int64_t i = 0; i < count; i++) MST_TRY(restore_held(c, bookmark));
    for (int p = 0; p < dataset_of(cursor)->num_parts; p++) {
        MST_TRY(mst_bookmark_take(bookmark, 0, 1, &begun));
        c->part[p].begun = begun;
        if (begun) MST_TRY(mst_cursor_restore(c->part[p].cursor, bookmark));
    }
    return MST_OK;
}

void mst_joined_settle(mst_cursor *cursor) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    for (int p = 0; p < dataset_of(cursor)->num_parts; p++) mst_cursor_settle(c->part[p].cursor);
    for (int64_t i = 0; i < c->num_restored; i++) mst_record_pool_drop(&c->pool, c->restored[i]);
    c->num_restored = 0;
}

/* ---- opening ---- */

void mst_joined_cursor_destroy(mst_cursor *cursor) {
    mst_joined_cursor *c = (mst_joined_cursor *)cursor;
    for (int p = 0; c->part && p < dataset_of(cursor)->num_parts; p++) {
        mst_row_fetch_destroy(c->part[p].fetch);
        mst_cursor_destroy(c->part[p].cursor);
    }
    mst_record_pool_free(&c->pool);
    free(c->part);
    free(c->row);
    free(c->restored);
}

static mst_status open_parts(mst_joined_cursor *c) {
    const mst_joined *d = dataset_of(&c->base);
    c->part = calloc((size_t)d->num_parts, sizeof *c->part);
    c->row = calloc((size_t)d->width, sizeof *c->row);
    if (!c->part || !c->row) return MST_NO_MEMORY("for an iterator (%s)", d->base.type->name);
    for (int p = 0; p < d->num_parts; p++) {
        MST_TRY(mst_cursor_open(d->part[p], &c->part[p].cursor));
        MST_TRY(mst_row_fetch_create(d->part[p], c->part[p].cursor, &c->part[p].fetch));
    }
    return MST_OK;
}

mst_status mst_joined_open(const mst_cursor_type *type, size_t size, const mst_dataset *dataset, void *out) {
    mst_cursor **result = out;
    MST_TRY(mst_cursor_alloc(type, size, dataset, out));
    const mst_status status = open_parts((mst_joined_cursor *)*result);
    if (!status) return MST_OK;
    mst_cursor_destroy(*result);
    *result = NULL;
    return status;
}

/* ---- values ---- */

/* Where the components of a row of a part go: DST and OUT of the slot `values`. */
typedef struct places {
    const mst_dataset *part;
    void *const *dst;
    mst_array *out;
} places;

/* Whether the length of component I differs from row to row. */
static bool is_open(const mst_dataset *dataset, int i) {
    return mst_shape_count(dataset->row[i].shape) < 0;
}

/* Copies elements; for strings also their bytes. */
static mst_status copy_elements(void *to, const mst_array *from) {
    const size_t bytes = (size_t)from->count * mst_dtype_size(from->dtype);
    mst_string *string = to;
    if (bytes) memcpy(to, from->data, bytes);
    for (int64_t i = 0; from->dtype == MST_STRING && i < from->count; i++) {
        char *text = mst_map_alloc(string[i].length);
        if (!text) return MST_OUT_OF_MEMORY;
        if (string[i].length) memcpy(text, string[i].data, string[i].length);
        string[i].data = text;
    }
    return MST_OK;
}

static mst_status copy_row(const mst_array *in, void *context) {
    const places *to = context;
    for (int i = 0; i < to->part->num_components; i++) {
        void *place = to->dst[i];
        if (is_open(to->part, i)) {
            place = mst_map_alloc((size_t)in[i].count * mst_dtype_size(in[i].dtype));
            if (!place) return MST_OUT_OF_MEMORY;
            to->out[i] = in[i];
            to->out[i].data = place;
        }
        if (place) MST_TRY(copy_elements(place, &in[i]));
    }
    return MST_OK;
}

/* Writes the components of a row that come from one part. */
static mst_status part_values(const mst_joined_cursor *c, const mst_joined_row *held, void *const *dst,
                              mst_array *out) {
    const mst_dataset *part = dataset_of(&c->base)->part[held->part];
    const char *name = c->base.dataset->type->name;
    mst_row_fetch *fetch = c->part[held->part].fetch;
    const mst_element element = {.count = 1, .rows = &held->row};
    bool any = false, any_open = false;
    for (int i = 0; i < part->num_components; i++) {
        any |= dst[i] != NULL;
        any_open |= out && is_open(part, i);
    }
    if (any_open) return mst_row_fetch_look(fetch, name, &element, 0, copy_row, &(places){part, dst, out});
    return any ? mst_row_fetch_copy_all(fetch, &element, 0, 1, dst) : MST_OK;
}

mst_status mst_joined_values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst,
                             mst_array *out) {
    const mst_joined_cursor *c = (const mst_joined_cursor *)base;
    const mst_joined *d = (const mst_joined *)source;
    const mst_pooled *entry = mst_record_pool_find(&c->pool, row);
    if (!entry) return MST_FAIL(MST_INTERNAL, "%s: row %lld is not held", source->type->name, (long long)row);
    for (int k = 0; k < d->width; k++) {
        const mst_joined_row *held = held_rows(entry) + k;
        const int num_components = d->part[held->part]->num_components;
        MST_TRY(part_values(c, held, dst, out));
        dst += num_components;
        if (out) out += num_components;
    }
    return MST_OK;
}

mst_dataset *const *mst_joined_parts(const mst_dataset *dataset, int *n) {
    const mst_joined *d = (const mst_joined *)dataset;
    *n = d->num_parts;
    return d->part;
}

/* The number of a row depends on the order in which rows were given out. The records that it is made of do not. */
uint64_t mst_joined_record(const mst_dataset *source, mst_cursor *base, int64_t row) {
    const mst_joined_cursor *c = (const mst_joined_cursor *)base;
    const mst_pooled *entry = mst_record_pool_find(&c->pool, row);
    uint64_t record = 0;
    for (int k = 0; entry && k < ((const mst_joined *)source)->width; k++) {
        const mst_joined_row *held = held_rows(entry) + k;
        const mst_row_key key = mst_row_fetch_key(c->part[held->part].fetch, held->row);
        record = mst_rng_mix(mst_rng_mix(mst_rng_mix(record, (uint64_t)held->part), key.pass), key.record);
    }
    return record;
}
