#include "data/cursors/counting_cursor.h"

typedef struct counting_cursor {
    mst_cursor base;
    int64_t position;
} counting_cursor;

static mst_status counting_cursor_start(mst_cursor *cursor, int64_t epoch) {
    (void)epoch;
    ((counting_cursor *)cursor)->position = 0;
    return MST_OK;
}

static int64_t advance(mst_cursor *cursor, int64_t n) {
    counting_cursor *c = (counting_cursor *)cursor;
    int64_t left = cursor->dataset->cardinality - c->position;
    if (n > left) n = left;
    c->position += n;
    return n;
}

static mst_status counting_cursor_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    int64_t position = ((counting_cursor *)cursor)->position;
    *got = advance(cursor, max);
    for (int64_t i = 0; i < *got; i++) rows[i] = position + i;
    return MST_OK;
}

static mst_status counting_cursor_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    *skipped = advance(cursor, n);
    return MST_OK;
}

static void counting_cursor_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, ((const counting_cursor *)cursor)->position);
}

static mst_status counting_cursor_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    return mst_bookmark_take(bookmark, 0, cursor->dataset->cardinality, &((counting_cursor *)cursor)->position);
}

static const mst_cursor_type cursor_type = {.start = counting_cursor_start,
                                            .rows = counting_cursor_rows,
                                            .skip = counting_cursor_skip,
                                            .save = counting_cursor_save,
                                            .restore = counting_cursor_restore};

mst_status mst_counting_cursor_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_cursor_alloc(&cursor_type, sizeof(counting_cursor), dataset, out);
}
