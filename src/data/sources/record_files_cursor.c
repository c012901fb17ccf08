/* The order of records over several files: in turn, as in tf.data's interleave (data/cursors/turns.h). Files that can
 * only be read forward are opened at their first turn. To restore a position, they are read again up to it. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "data/cancel.h"
#include "data/sources/record_files.h"

static const mst_record_files *source_of(const mst_cursor *cursor) {
    return (const mst_record_files *)cursor->dataset;
}

static void close_slot(const mst_record_files_cursor *c, mst_record_files_slot *slot) {
    if (slot->reader) source_of(&c->base)->format->close(slot->reader);
    *slot = (mst_record_files_slot){0};
}

/* ---- forward ---- */

/* Reads the next record, skipping damaged ones as long as the options allow it. */
static mst_status read_record(mst_record_files_cursor *c, mst_record_files_slot *slot, mst_record *record) {
    const mst_record_format *format = source_of(&c->base)->format;
    const int64_t most = source_of(&c->base)->options.skip_corrupt;
    mst_status status;
    while ((status = format->next(slot->reader, record)) == MST_CORRUPT && c->base.num_corrupt < most) {
        c->base.num_corrupt++;
        MST_TRY(format->recover(slot->reader));
    }
    return status;
}

/* Reads one record; with KEEP it goes to the pool. If damaged records may be skipped, records that are not kept are
 * read and checked too, so that each record has the same number in each pass. */
static mst_status take_forward(mst_record_files_cursor *c, mst_record_files_slot *slot, int file, bool keep,
                               int64_t *got) {
    mst_record record;
    const mst_record_files *source = source_of(&c->base);
    MST_TRY(mst_cancel_check());
    if (!slot->reader) MST_TRY(source->format->open(source->path[file], &slot->reader));
    if (!keep && source->options.skip_corrupt == 0) return source->format->skip(slot->reader, got);
    MST_TRY(read_record(c, slot, &record));
    *got = record.data != NULL;
    return *got && keep ? mst_record_pool_add(&c->pool, c->number, file, &record) : MST_OK;
}

/* ---- one record after the other ---- */

/* Takes up to N records of FILE, whose turn it is; *GOT is 0 only at its end. If ROWS is NULL, they are skipped. */
static mst_status record_files_cursor_take(mst_record_files_cursor *c, int file, int64_t *rows, int64_t n,
                                           int64_t *got) {
    const mst_record_files *source = source_of(&c->base);
    mst_record_files_slot *slot = &c->slot[c->turns.current];
    if (source->forward) {
        MST_TRY(take_forward(c, slot, file, rows != NULL, got));
        if (*got && rows) *rows = c->number;
        c->number += *got;
    } else {
        const int64_t left = source->index[file].count - slot->position;
        *got = n < left ? n : left;
        for (int64_t i = 0; rows && i < *got; i++) rows[i] = source->first[file] + slot->position + i;
    }
    slot->position += *got;
    return MST_OK;
}

static mst_status advance(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *done) {
    mst_record_files_cursor *c = (mst_record_files_cursor *)cursor;
    int file = 0;
    for (*done = 0; *done < max && (file = mst_turns_item(&c->turns)) >= 0;) {
        int64_t got, most = mst_turns_left(&c->turns);
        if (most > max - *done) most = max - *done;
        MST_TRY(record_files_cursor_take(c, file, rows ? rows + *done : NULL, most, &got));
        *done += got;
        if (!got) close_slot(c, &c->slot[c->turns.current]);
        if (got)
            mst_turns_give(&c->turns, got);
        else
            mst_turns_end(&c->turns);
    }
    return MST_OK;
}

static mst_status record_files_cursor_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    return advance(cursor, rows, max, got);
}

static mst_status record_files_cursor_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    return advance(cursor, NULL, n, skipped);
}

static void reset(mst_record_files_cursor *c) {
    for (int i = 0; i < c->turns.num_slots; i++) close_slot(c, &c->slot[i]);
    mst_turns_reset(&c->turns);
    c->number = c->base.num_corrupt = 0;
}

/* The pool is not emptied: a shuffle after a repeat may still hold rows of the previous pass. */
static mst_status record_files_cursor_start(mst_cursor *cursor, int64_t epoch) {
    (void)epoch;
    reset((mst_record_files_cursor *)cursor);
    return MST_OK;
}

static void record_files_cursor_destroy(mst_cursor *cursor) {
    mst_record_files_cursor *c = (mst_record_files_cursor *)cursor;
    if (c->slot) reset(c);
    mst_record_pool_free(&c->pool);
    mst_turns_free(&c->turns);
    free(c->slot);
}

/* ---- positions ---- */

static void record_files_cursor_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const mst_record_files_cursor *c = (const mst_record_files_cursor *)cursor;
    mst_turns_save(&c->turns, bookmark);
    mst_bookmark_put(bookmark, c->number);
    mst_bookmark_put(bookmark, c->base.num_corrupt);
    for (int i = 0; i < c->turns.num_slots; i++) mst_bookmark_put(bookmark, c->slot[i].position);
}

static mst_status restore_slot(mst_record_files_cursor *c, int i, mst_bookmark *bookmark) {
    const mst_record_files *source = source_of(&c->base);
    mst_record_files_slot *slot = &c->slot[i];
    const int file = c->turns.item[i];
    int64_t position, got = 1;
    MST_TRY(mst_bookmark_take(bookmark, 0, source->index && file >= 0 ? source->index[file].count : MST_BOOKMARK_MOST,
                              &position));
    if (file < 0) return MST_OK;
    slot->position = position;
    for (int64_t k = 0; source->forward && k < position && got; k++) MST_TRY(take_forward(c, slot, file, false, &got));
    if (!got)
        return MST_FAIL(MST_CORRUPT, "'%s': has fewer records than when the position was saved", source->path[file]);
    return MST_OK;
}

static mst_status record_files_cursor_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_record_files_cursor *c = (mst_record_files_cursor *)cursor;
    int64_t num_corrupt;
    reset(c);
    MST_TRY(mst_turns_restore(&c->turns, bookmark));
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->number));
    MST_TRY(mst_bookmark_take(bookmark, 0, source_of(cursor)->options.skip_corrupt, &num_corrupt));
    for (int i = 0; i < c->turns.num_slots; i++) MST_TRY(restore_slot(c, i, bookmark));
    c->base.num_corrupt = num_corrupt; /* reading up to here has counted damaged records again */
    return MST_OK;
}

/* ---- records that are held ---- */

static void forget(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    mst_record_files_cursor *c = (mst_record_files_cursor *)cursor;
    for (int64_t i = 0; c->pool.used && i < n; i++) mst_record_pool_drop(&c->pool, rows[i]);
}

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Reads records from the beginning of the pass until all N rows of SORTED are in the pool. */
static mst_status read_again(mst_record_files_cursor *c, mst_record_files_cursor *again, const int64_t *sorted,
                             int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t row = 0, done = 1;
        if (i && sorted[i] == sorted[i - 1]) {
            mst_record_pool_find(&c->pool, sorted[i])->count++;
            continue;
        }
        if (sorted[i] > again->number) MST_TRY(advance(&again->base, NULL, sorted[i] - again->number, &done));
        MST_TRY(advance(&again->base, &row, 1, &done));
        if (!done)
            return MST_FAIL(MST_CORRUPT, "iterator: the saved position holds record %lld, and there are %lld",
                            (long long)sorted[i], (long long)again->number);
        const mst_pooled *entry = mst_record_pool_find(&again->pool, row);
        MST_TRY(mst_record_pool_add(&c->pool, row, entry->file, &entry->record));
        mst_record_pool_drop(&again->pool, row);
    }
    return MST_OK;
}

static mst_status keep(mst_cursor *cursor, const int64_t *rows, int64_t n) {
    if (!source_of(cursor)->forward) return MST_OK;
    mst_cursor *again;
    int64_t *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted) return MST_NO_MEMORY("for %lld rows", (long long)n);
    for (int64_t i = 0; i < n; i++) sorted[i] = rows[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    mst_status status = mst_record_files_open_cursor(cursor->dataset, &again);
    if (!status) status = record_files_cursor_start(again, 0);
    if (!status) status = read_again((mst_record_files_cursor *)cursor, (mst_record_files_cursor *)again, sorted, n);
    mst_cursor_destroy(again);
    free(sorted);
    return status;
}

static const mst_cursor_type cursor_type = {.start = record_files_cursor_start,
                                            .rows = record_files_cursor_rows,
                                            .skip = record_files_cursor_skip,
                                            .destroy = record_files_cursor_destroy,
                                            .save = record_files_cursor_save,
                                            .restore = record_files_cursor_restore,
                                            .forget = forget,
                                            .keep = keep};

mst_status mst_record_files_open_cursor(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(mst_record_files_cursor), dataset, out));
    mst_record_files_cursor *c = (mst_record_files_cursor *)*out;
    const mst_record_files *source = source_of(*out);
    mst_status status = mst_turns_create(&c->turns, source->num_files, source->options.cycle, source->options.block);
    if (!status && !(c->slot = calloc((size_t)c->turns.num_slots, sizeof *c->slot)))
        status = MST_NO_MEMORY("for %d files", source->num_files);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return status;
}
