#include "data/cursors/pass_cursor.h"

#include <stdlib.h>

typedef struct pass_cursor {
    mst_cursor base;
    int64_t pass; /* as part of a row */
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

mst_status mst_pass_cursor_open(const mst_dataset *source, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(pass_cursor), source, out));
    if (!source->type->open(source, &(*out)->upstream)) return MST_OK;
    free(*out);
    *out = NULL;
    return mst_error()->code;
}
