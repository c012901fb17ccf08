/** The rows of N datasets in turn. CYCLE_LENGTH datasets are open at a time; each gives BLOCK_LENGTH rows, then the
 *  next has its turn, and after the last the first again. A dataset that has ended is replaced by the next one that was
 *  not open yet. The order is that of tf.data's deterministic interleave with the same settings. Must come before
 *  mst_dataset_batch. OPTIONS may be NULL. The datasets must have the same components; rows may have strings and any
 *  length. (mst_dataset_from_tfrecord reads several files in this order by its .cycle and .block.) Fails with
 *  MST_INVALID for N below 1, for datasets with different components, and for datasets of batches. */
#ifdef MST_DATASET_HEADER
typedef struct mst_interleave_options {
    int zero_;
    int64_t cycle_length; /**< number of datasets that are open at a time; 0: all */
    int64_t block_length; /**< rows of a dataset before the turn of the next; 0: 1 */
} mst_interleave_options;
MST_API MST_CHECKED mst_status mst_dataset_interleave(mst_dataset *const *datasets, int n,
                                                      const mst_interleave_options *options, mst_dataset **out);
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/cursors/cursor.h"
#include "data/cursors/turns.h"
#include "data/nested.h"
#include "data/transforms/joined.h"

typedef struct interleave {
    mst_joined base;
    int64_t cycle_length, block_length;
} interleave;

typedef struct interleave_cursor {
    mst_joined_cursor base;
    mst_turns turns;
    int64_t epoch;
    bool *open; /* [num_parts] the part was opened in this pass */
} interleave_cursor;

static void interleave_begin(interleave_cursor *c, int64_t epoch) {
    const mst_joined *d = (const mst_joined *)c->base.base.dataset;
    mst_turns_reset(&c->turns);
    memset(c->open, 0, (size_t)d->num_parts * sizeof *c->open);
    c->epoch = epoch;
}

static mst_status interleave_start(mst_cursor *cursor, int64_t epoch) {
    interleave_begin((interleave_cursor *)cursor, epoch);
    return MST_OK;
}

/* Takes the next N rows of part P, fewer only at its end, and writes their new numbers to ROWS. */
static mst_status take_rows(mst_joined_cursor *c, int p, int64_t *rows, int64_t n, int64_t *got) {
    mst_cursor *part = c->part[p].cursor;
    MST_TRY(part->type->rows(part, rows, n, got));
    for (int64_t i = 0; i < *got; i++) MST_TRY(mst_joined_give(c, &(mst_joined_row){p, rows[i]}, &rows[i]));
    return MST_OK;
}

/* Moves over up to MAX elements and writes them to ROWS; if ROWS is NULL, they are skipped. */
static mst_status advance(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *done) {
    interleave_cursor *c = (interleave_cursor *)cursor;
    int p = 0;
    for (*done = 0; *done < max && (p = mst_turns_item(&c->turns)) >= 0;) {
        mst_cursor *part = c->base.part[p].cursor;
        int64_t got, most = mst_turns_left(&c->turns);
        if (most > max - *done) most = max - *done;
        if (!c->open[p]) MST_TRY(mst_joined_start_part(&c->base, p, c->epoch));
        c->open[p] = true;
        if (rows)
            MST_TRY(take_rows(&c->base, p, rows + *done, most, &got));
        else
            MST_TRY(part->type->skip(part, most, &got));
        *done += got;
        if (got < most)
            mst_turns_end(&c->turns);
        else
            mst_turns_give(&c->turns, got);
    }
    mst_joined_count_corrupt(&c->base);
    return MST_OK;
}

static mst_status interleave_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    return advance(cursor, rows, max, got);
}

static mst_status interleave_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    return advance(cursor, NULL, n, skipped);
}

static void interleave_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const interleave_cursor *c = (const interleave_cursor *)cursor;
    mst_bookmark_put(bookmark, c->epoch);
    mst_turns_save(&c->turns, bookmark);
    mst_joined_save(cursor, bookmark);
}

/* Parts are opened in order, so those before turns.next are open or have ended. */
static mst_status interleave_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    interleave_cursor *c = (interleave_cursor *)cursor;
    int64_t epoch;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &epoch));
    interleave_begin(c, epoch);
    MST_TRY(mst_turns_restore(&c->turns, bookmark));
    MST_TRY(mst_joined_restore(cursor, bookmark));
    for (int p = 0; p < c->turns.next; p++) c->open[p] = c->base.part[p].begun;
    return MST_OK;
}

static void interleave_destroy(mst_cursor *cursor) {
    interleave_cursor *c = (interleave_cursor *)cursor;
    mst_turns_free(&c->turns);
    free(c->open);
    mst_joined_cursor_destroy(cursor);
}

static const mst_cursor_type cursor_type = {.start = interleave_start,
                                            .rows = interleave_rows,
                                            .skip = interleave_skip,
                                            .destroy = interleave_destroy,
                                            .save = interleave_save,
                                            .restore = interleave_restore,
                                            .forget = mst_joined_forget,
                                            .keep = mst_joined_keep,
                                            .settle = mst_joined_settle};

static mst_status interleave_open(const mst_dataset *dataset, mst_cursor **out) {
    const interleave *d = (const interleave *)dataset;
    MST_TRY(mst_joined_open(&cursor_type, sizeof(interleave_cursor), dataset, out));
    interleave_cursor *c = (interleave_cursor *)*out;
    mst_status status = mst_turns_create(&c->turns, d->base.num_parts, d->cycle_length, d->block_length);
    if (!status && !(c->open = calloc((size_t)d->base.num_parts, sizeof *c->open)))
        status = MST_NO_MEMORY("for an iterator (interleave)");
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return status;
}

/* The names of classes, if they are the same in all parts. */
static const char *const *interleave_classes(const mst_dataset *dataset, int component, int64_t *n) {
    const mst_joined *d = (const mst_joined *)dataset;
    const char *const *names = mst_dataset_classes(d->part[0], component, n);
    for (int p = 1; p < d->num_parts && names; p++) {
        int64_t others;
        const char *const *other = mst_dataset_classes(d->part[p], component, &others);
        bool same = other && others == *n;
        for (int64_t i = 0; same && i < others; i++) same = strcmp(names[i], other[i]) == 0;
        if (!same) names = NULL;
    }
    if (!names) *n = 0;
    return names;
}

static void interleave_settings(const mst_dataset *dataset, char *text, size_t size) {
    const interleave *d = (const interleave *)dataset;
    snprintf(text, size, "cycle_length %lld, block_length %lld", (long long)d->cycle_length,
             (long long)d->block_length);
}

static const mst_dataset_type type = {.name = "interleave",
                                      .destroy = mst_joined_destroy,
                                      .open = interleave_open,
                                      .values = mst_joined_values,
                                      .record = mst_joined_record,
                                      .classes = interleave_classes,
                                      .settings = interleave_settings,
                                      .parts = mst_joined_parts};

static mst_status check_same(const mst_dataset *first, const mst_dataset *other, int p) {
    char a[MST_SHAPE_TEXT], b[MST_SHAPE_TEXT];
    if (other->num_components != first->num_components)
        return MST_FAIL(MST_INVALID, "interleave: dataset %d has %d components, dataset 0 has %d: they must agree", p,
                        other->num_components, first->num_components);
    for (int i = 0; i < first->num_components; i++) {
        const mst_spec *x = &first->row[i], *y = &other->row[i];
        if (x->dtype == y->dtype && mst_shape_equal(x->shape, y->shape)) continue;
        return MST_FAIL(MST_INVALID,
                        "interleave: component %d of dataset %d is %s %s, of dataset 0 %s %s: they must agree", i, p,
                        mst_dtype_name(y->dtype), mst_shape_print(y->shape, b, sizeof b), mst_dtype_name(x->dtype),
                        mst_shape_print(x->shape, a, sizeof a));
    }
    return MST_OK;
}

static int64_t sum(int64_t a, int64_t b) {
    int64_t total;
    if (a == MST_INFINITE || b == MST_INFINITE) return MST_INFINITE;
    if (a == MST_UNKNOWN_CARDINALITY || b == MST_UNKNOWN_CARDINALITY) return MST_UNKNOWN_CARDINALITY;
    return __builtin_add_overflow(a, b, &total) ? MST_UNKNOWN_CARDINALITY : total;
}

mst_status mst_dataset_interleave(mst_dataset *const *datasets, int n, const mst_interleave_options *options,
                                  mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(datasets)) || MST_IS_NULL(out)) return MST_INVALID;
    static const mst_interleave_options defaults;
    interleave *d;
    *out = NULL;
    if (!options) options = &defaults;
    MST_TRY(mst_joined_check("interleave", datasets, n));
    MST_TRY(mst_dataset_want_least("interleave", "cycle_length", options->cycle_length, 0));
    MST_TRY(mst_dataset_want_least("interleave", "block_length", options->block_length, 0));
    for (int p = 1; p < n; p++) MST_TRY(check_same(datasets[0], datasets[p], p));
    MST_TRY(mst_joined_alloc(&type, sizeof *d, datasets[0]->num_components, datasets, n, 1, &d));
    d->cycle_length = options->cycle_length ? options->cycle_length : n;
    d->block_length = options->block_length ? options->block_length : 1;
    memcpy(d->base.base.row, datasets[0]->row, (size_t)datasets[0]->num_components * sizeof *datasets[0]->row);
    for (int p = 0; p < n; p++) d->base.base.cardinality = sum(d->base.base.cardinality, datasets[p]->cardinality);
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_interleave(mst_dataset *const *datasets, int n, const mst_interleave_options *options) {
    MST_DATASET_NEST_ALL(datasets, n, mst_dataset_interleave(datasets, n, options, &out));
}
