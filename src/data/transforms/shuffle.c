/** Rows in random order. Must come before mst_dataset_batch. With a buffer of b rows, row k of the result is one of the
 *  first k + b rows of DATASET, as in tf.data's shuffle. OPTIONS may be NULL. Memory: 8 bytes per row (of the dataset,
 *  or of the buffer). Fails with MST_INVALID for a negative buffer_size, or for an endless dataset without
 *  buffer_size. */
#ifdef MST_DATASET_HEADER
typedef struct mst_shuffle_options {
    int zero_;
    int64_t buffer_size;  /**< 0: a full permutation; else each row is drawn uniformly from this many rows */
    uint64_t seed;        /**< the order depends only on seed and epoch */
    bool same_each_epoch; /**< every epoch has the order of epoch 0 */
} mst_shuffle_options;
MST_API MST_CHECKED mst_status mst_dataset_shuffle(mst_dataset *dataset, const mst_shuffle_options *options,
                                                   mst_dataset **out);
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "data/cursors/cursor.h"
#include "data/nested.h"

/* There are two kinds of cursor. If the buffer holds the whole dataset, all rows are read at the start and permuted. A
 * saved position then has an epoch, a count, and the position at which upstream began. Otherwise each row is drawn from
 * the buffer, and the next row of upstream takes its place. A saved position then has the rows of the buffer too. Draws
 * depend only on seed, epoch and count. */

typedef struct shuffle {
    mst_dataset base;
    mst_shuffle_options options;
    int64_t buffer_size; /* the most rows that are held */
} shuffle;

typedef struct shuffle_cursor {
    mst_cursor base;
    int64_t *buffer; /* numbers of the rows that are held; for a permutation of all rows, in their new order */
    int64_t filled;  /* rows in the buffer */
    int64_t given;   /* rows given out since the start */
    int64_t epoch;
    uint64_t stream; /* stream of random numbers */
    bool input_is_over;
    /* for a permutation */
    mst_bookmark begun; /* upstream's position before it gave these rows */
    int64_t *restored;  /* rows that had been given out when the position was saved; kept until settling */
    int64_t num_restored;
} shuffle_cursor;

static const shuffle *dataset_of(const mst_cursor *cursor) {
    return (const shuffle *)cursor->dataset;
}

static bool holds_all(const shuffle *d) {
    return d->base.cardinality >= 0 && d->buffer_size >= d->base.cardinality;
}

/* Forgets the rows that were not given out. A permutation still has the given rows at the beginning of its buffer, but
 * they are not its own any more. */
static void forget_left(mst_cursor *cursor) {
    const shuffle_cursor *c = (const shuffle_cursor *)cursor;
    const int64_t gone = holds_all(dataset_of(cursor)) ? c->given : 0;
    mst_cursor_forget(cursor, c->buffer + gone, c->filled - gone);
}

static void set_epoch(shuffle_cursor *c, int64_t epoch) {
    c->stream = dataset_of(&c->base)->options.same_each_epoch ? 0 : (uint64_t)epoch;
    c->epoch = epoch;
}

static mst_status shuffle_fill(mst_cursor *cursor) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    const int64_t size = dataset_of(cursor)->buffer_size;
    MST_TRY(cursor->upstream->type->rows(cursor->upstream, c->buffer, size, &c->filled));
    c->input_is_over = c->filled < size;
    return MST_OK;
}

/* Starts upstream, and saves its position for a later restore: in another iterator the same rows may have other
 * numbers. */
static mst_status shuffle_begin(mst_cursor *cursor, int64_t epoch) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    set_epoch(c, epoch);
    forget_left(cursor);
    c->given = c->filled = 0;
    MST_TRY(cursor->upstream->type->start(cursor->upstream, epoch));
    c->begun.count = 0;
    if (holds_all(dataset_of(cursor))) mst_cursor_save(cursor->upstream, &c->begun);
    return shuffle_fill(cursor);
}

static void shuffle_destroy(mst_cursor *cursor) {
    free(((shuffle_cursor *)cursor)->buffer);
    free(((shuffle_cursor *)cursor)->restored);
    mst_bookmark_free(&((shuffle_cursor *)cursor)->begun);
}

/* ---- a permutation of all rows ----------------------------------------------------------------------- */

static void permute(shuffle_cursor *c) {
    mst_rng_shuffle(c->buffer, c->filled, dataset_of(&c->base)->options.seed, c->stream);
}

static mst_status start_all(mst_cursor *cursor, int64_t epoch) {
    MST_TRY(shuffle_begin(cursor, epoch));
    permute((shuffle_cursor *)cursor);
    return MST_OK;
}

static int64_t advance(shuffle_cursor *c, int64_t n) {
    if (n > c->filled - c->given) n = c->filled - c->given;
    c->given += n;
    return n;
}

static mst_status rows_of_all(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    const int64_t *next = c->buffer + c->given;
    *got = advance(c, max);
    for (int64_t i = 0; i < *got; i++) rows[i] = next[i];
    return MST_OK;
}

static mst_status skip_of_all(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    const int64_t *next = c->buffer + c->given;
    *skipped = advance(c, n);
    mst_cursor_forget(cursor, next, *skipped);
    return MST_OK;
}

static void save_all(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const shuffle_cursor *c = (const shuffle_cursor *)cursor;
    mst_bookmark_put(bookmark, c->epoch);
    mst_bookmark_put(bookmark, c->given);
    mst_bookmark_put_all(bookmark, &c->begun);
}

static mst_status restore_begun(mst_cursor *cursor) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    mst_bookmark reader = {.number = c->begun.number, .count = c->begun.count};
    MST_TRY(mst_cursor_restore(cursor->upstream, &reader));
    if (reader.at == reader.count) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "iterator: the saved position has %lld numbers too many",
                    (long long)(reader.count - reader.at));
}

/* Copies the rows that were given out, to hold them until settling. A permutation downstream that is restored too may
 * take all rows of this one, and then start this one again. */
static mst_status keep_given(shuffle_cursor *c) {
    const size_t bytes = (size_t)c->given * sizeof *c->restored;
    c->restored = malloc(bytes + 1);
    if (!c->restored) return MST_NO_MEMORY("for %lld rows", (long long)c->given);
    memcpy(c->restored, c->buffer, bytes);
    c->num_restored = c->given;
    return MST_OK;
}

/* Restores a permutation. It has read all rows of upstream, and its order follows from the epoch. */
static mst_status restore_all(mst_cursor *cursor, mst_bookmark *bookmark) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    int64_t epoch, given;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &epoch));
    MST_TRY(mst_bookmark_take(bookmark, 0, cursor->dataset->cardinality, &given));
    MST_TRY(mst_bookmark_take_all(bookmark, &c->begun));
    MST_TRY(restore_begun(cursor));
    set_epoch(c, epoch);
    MST_TRY(shuffle_fill(cursor));
    permute(c);
    c->given = given < c->filled ? given : c->filled;
    return keep_given(c);
}

/* Forgets the restored rows. Cursors downstream have by now kept those that they hold. */
static void settle_all(mst_cursor *cursor) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    mst_cursor_forget(cursor, c->restored, c->num_restored);
    free(c->restored);
    c->restored = NULL;
    c->num_restored = 0;
}

static const mst_cursor_type all_type = {.start = start_all,
                                         .rows = rows_of_all,
                                         .skip = skip_of_all,
                                         .destroy = shuffle_destroy,
                                         .save = save_all,
                                         .restore = restore_all,
                                         .settle = settle_all};

/* ---- draws from a buffer ------------------------------------------------------------------------------ */

static mst_status shuffle_draw(mst_cursor *cursor, int64_t *row) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    uint64_t seed = dataset_of(cursor)->options.seed;
    int64_t *drawn = c->buffer + mst_rng_below(seed, c->stream, (uint64_t)c->given++, (uint64_t)c->filled);
    int64_t got = 0;
    *row = *drawn;
    if (!c->input_is_over) MST_TRY(cursor->upstream->type->rows(cursor->upstream, drawn, 1, &got));
    c->input_is_over = got == 0;
    if (c->input_is_over) *drawn = c->buffer[--c->filled];
    return MST_OK;
}

static mst_status drawn_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    for (*got = 0; *got < max && ((shuffle_cursor *)cursor)->filled; ++*got) MST_TRY(shuffle_draw(cursor, rows + *got));
    return MST_OK;
}

/* Skips by drawing, since the contents of the buffer depend on all draws before. */
static mst_status skip_draws(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    int64_t row;
    for (*skipped = 0; *skipped < n && ((shuffle_cursor *)cursor)->filled; ++*skipped) {
        MST_TRY(shuffle_draw(cursor, &row));
        mst_cursor_forget(cursor, &row, 1);
    }
    return MST_OK;
}

static void save_buffer(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const shuffle_cursor *c = (const shuffle_cursor *)cursor;
    mst_bookmark_put(bookmark, c->epoch);
    mst_bookmark_put(bookmark, c->given);
    mst_bookmark_put(bookmark, c->input_is_over);
    mst_bookmark_put(bookmark, c->filled);
    for (int64_t i = 0; i < c->filled; i++) mst_bookmark_put(bookmark, c->buffer[i]);
    mst_cursor_save(cursor->upstream, bookmark);
}

static mst_status restore_buffer(mst_cursor *cursor, mst_bookmark *bookmark) {
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    const shuffle *d = dataset_of(cursor);
    int64_t over, filled;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->epoch));
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &c->given));
    MST_TRY(mst_bookmark_take(bookmark, 0, 1, &over));
    MST_TRY(mst_bookmark_take(bookmark, 0, d->buffer_size, &filled));
    for (int64_t i = 0; i < filled; i++) MST_TRY(mst_dataset_read_saved_row(cursor->dataset, bookmark, &c->buffer[i]));
    c->stream = d->options.same_each_epoch ? 0 : (uint64_t)c->epoch;
    c->input_is_over = over;
    MST_TRY(mst_cursor_restore(cursor->upstream, bookmark));
    MST_TRY(mst_cursor_keep(cursor, c->buffer, filled));
    c->filled = filled;
    return MST_OK;
}

static const mst_cursor_type buffer_type = {.start = shuffle_begin,
                                            .rows = drawn_rows,
                                            .skip = skip_draws,
                                            .destroy = shuffle_destroy,
                                            .save = save_buffer,
                                            .restore = restore_buffer};

/* -------------------------------------------------------------------------------------------------------- */

static mst_status shuffle_open(const mst_dataset *dataset, mst_cursor **out) {
    const shuffle *d = (const shuffle *)dataset;
    MST_TRY(mst_cursor_alloc(holds_all(d) ? &all_type : &buffer_type, sizeof(shuffle_cursor), dataset, out));
    shuffle_cursor *c = (shuffle_cursor *)*out;
    uint64_t size = (uint64_t)d->buffer_size;
    if (size < SIZE_MAX / sizeof *c->buffer) c->buffer = malloc((size_t)(size + 1) * sizeof *c->buffer);
    if (c->buffer) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return MST_FAIL(MST_OUT_OF_MEMORY, "shuffle: cannot get memory for %lld rows: choose a smaller buffer_size",
                    (long long)d->buffer_size);
}

static void shuffle_settings(const mst_dataset *dataset, char *text, size_t size) {
    const shuffle *d = (const shuffle *)dataset;
    snprintf(text, size, "seed %llu, buffer_size %lld%s", (unsigned long long)d->options.seed,
             (long long)d->buffer_size, d->options.same_each_epoch ? ", same_each_epoch" : "");
}

static const mst_dataset_type type = {
    .name = "shuffle", .open = shuffle_open, .settings = shuffle_settings, .takes_some = true};

mst_status mst_dataset_shuffle(mst_dataset *dataset, const mst_shuffle_options *options, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    shuffle *d;
    static const mst_shuffle_options defaults;
    if (!options) options = &defaults;
    *out = NULL;
    MST_TRY(mst_dataset_want_rows(dataset, "shuffle"));
    MST_TRY(mst_dataset_want_least("shuffle", "buffer_size", options->buffer_size, 0));
    if (dataset->cardinality < 0 && options->buffer_size == 0)
        return MST_FAIL(MST_INVALID,
                        "shuffle: an endless dataset has no permutation: give a buffer_size, or put repeat behind");
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->options = *options;
    d->buffer_size = options->buffer_size;
    if (dataset->cardinality >= 0 && (d->buffer_size == 0 || d->buffer_size > dataset->cardinality))
        d->buffer_size = dataset->cardinality;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_shuffle_with(mst_dataset *dataset, const mst_shuffle_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_shuffle(dataset, options, &out));
}
