/* Chains of cursors. The cursor of a source gives only row numbers; a pass_cursor above it adds the pass to each
 * (data/cursors/row.h). */
#include "data/cursors/cursor.h"

#include <stdlib.h>

#include "base/no_memory.h"

typedef struct pass_cursor {
    mst_cursor base;
    int64_t pass; /* the pass, at its place in a row */
} pass_cursor;

static mst_status pass_cursor_start(mst_cursor *cursor, int64_t epoch) {
    ((pass_cursor *)cursor)->pass = mst_row_make(0, epoch);
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static mst_status pass_cursor_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    const int64_t pass = ((const pass_cursor *)cursor)->pass;
    int64_t all = 0;
    MST_TRY(cursor->upstream->type->rows(cursor->upstream, rows, max, got));
    for (int64_t i = 0; i < *got; i++) {
        all |= rows[i];
        rows[i] |= pass;
    }
    if (all <= MST_ROW_MOST_NUMBER) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "%s: more than %lld rows are not possible", cursor->dataset->type->name,
                    (long long)MST_ROW_MOST_NUMBER);
}

static mst_status pass_cursor_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    return cursor->upstream->type->skip(cursor->upstream, n, skipped);
}

static void pass_cursor_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, mst_row_pass(((const pass_cursor *)cursor)->pass));
    mst_cursor_save(cursor->upstream, bookmark);
}

static mst_status pass_cursor_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    int64_t pass;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_ROW_NUM_PASSES - 1, &pass));
    ((pass_cursor *)cursor)->pass = mst_row_make(0, pass);
    return mst_cursor_restore(cursor->upstream, bookmark);
}

static const mst_cursor_type cursor_type = {.start = pass_cursor_start,
                                            .rows = pass_cursor_rows,
                                            .skip = pass_cursor_skip,
                                            .save = pass_cursor_save,
                                            .restore = pass_cursor_restore};

static mst_status pass_cursor_open(const mst_dataset *source, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(pass_cursor), source, out));
    if (!source->type->open(source, &(*out)->upstream)) return MST_OK;
    free(*out);
    *out = NULL;
    return mst_error()->code;
}

mst_status mst_cursor_open(const mst_dataset *dataset, mst_cursor **out) {
    while (!dataset->type->open) dataset = dataset->upstream;
    return dataset->upstream ? dataset->type->open(dataset, out) : pass_cursor_open(dataset, out);
}

mst_status mst_cursor_alloc(const mst_cursor_type *type, size_t size, const mst_dataset *dataset, void *out) {
    mst_cursor **result = out;
    mst_cursor *cursor = *result = calloc(1, size);
    if (!cursor) return MST_NO_MEMORY("for an iterator (%s)", dataset->type->name);
    cursor->type = type;
    cursor->dataset = dataset;
    if (dataset->upstream && mst_cursor_open(dataset->upstream, &cursor->upstream)) {
        free(cursor);
        *result = NULL;
        return mst_error()->code;
    }
    return MST_OK;
}

void mst_cursor_stop(mst_cursor *cursor) {
    for (; cursor; cursor = cursor->upstream)
        if (cursor->type->stop) cursor->type->stop(cursor);
}

void mst_cursor_destroy(mst_cursor *cursor) {
    mst_cursor_stop(cursor);
    while (cursor) {
        mst_cursor *upstream = cursor->upstream;
        if (cursor->type->destroy) cursor->type->destroy(cursor);
        free(cursor);
        cursor = upstream;
    }
}

void mst_cursor_want(mst_cursor *cursor, mst_shard_window window) {
    for (; cursor; cursor = cursor->upstream) cursor->window = window;
}

mst_cursor *mst_cursor_base(mst_cursor *cursor) {
    while (cursor->upstream) cursor = cursor->upstream;
    return cursor;
}

void mst_cursor_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    while (cursor && !cursor->type->save) cursor = cursor->upstream;
    if (cursor) cursor->type->save(cursor, bookmark);
}

mst_status mst_cursor_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    while (cursor && !cursor->type->restore) cursor = cursor->upstream;
    return cursor ? cursor->type->restore(cursor, bookmark) : MST_OK;
}

void mst_cursor_forget(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    enum { AT_ONCE = 64 };
    mst_cursor *base = mst_cursor_base(cursor);
    if (!base->type->forget) return;
    int64_t number[AT_ONCE];
    for (int64_t i = 0; i < n;) {
        int64_t count = 0;
        while (count < AT_ONCE && i < n) number[count++] = mst_row_number(rows[i++]);
        base->type->forget(base, number, count);
    }
}

mst_status mst_cursor_keep(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    mst_cursor *base = mst_cursor_base(cursor);
    if (!n || !base->type->keep) return MST_OK;
    int64_t *number = malloc((size_t)n * sizeof *number);
    if (!number) return MST_NO_MEMORY("for %lld rows", (long long)n);
    for (int64_t i = 0; i < n; i++) number[i] = mst_row_number(rows[i]);
    const mst_status status = base->type->keep(base, number, n);
    free(number);
    return status;
}

/* Stops at a cursor with a thread: that cursor has settled its upstream itself, before its thread started. */
void mst_cursor_settle(mst_cursor *cursor) {
    for (; cursor; cursor = cursor->type->stop ? NULL : cursor->upstream)
        if (cursor->type->settle) cursor->type->settle(cursor);
}

mst_status mst_dataset_read_saved_row(const mst_dataset *dataset, mst_bookmark *bookmark, int64_t *row) {
    while (dataset->upstream) dataset = dataset->upstream;
    /* Zip and interleave (`values`) number rows as they give them out, epoch after epoch, so no row number is too
     * large. */
    const bool any = dataset->cardinality < 0 || dataset->type->values;
    const int64_t at = bookmark->at, last = any ? MST_ROW_MOST_NUMBER : dataset->cardinality - 1;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, row));
    if (mst_row_number(*row) <= last) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "iterator: the saved position is not one of this dataset (number %lld of it)",
                    (long long)at);
}
