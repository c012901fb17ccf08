/** Splits a dataset of n rows in two: *SECOND gets n - floor(n (1 - fraction)) rows, rounded as in Keras'
 *  validation_split, and *FIRST the others. Each row is in one part; both keep the order of DATASET. Must come before
 *  mst_dataset_shuffle, which would put other rows into a part in each epoch.
 *
 *  Which rows are in *SECOND depends only on .seed, or with .labels on the labels too. With .labels the split is
 *  stratified: of a class with c rows, *SECOND gets c * fraction, rounded up or down. The labels are read in one pass
 *  when the parts are made.
 *
 *  With .num_folds, *SECOND is one of so many folds instead: with the same seed, each row is in *SECOND for one .fold.
 *  The folds have n / num_folds rows, and with .labels c / num_folds of a class, each rounded up or down.
 *
 *  REPORT (may be NULL) tells which classes have no row in one of the parts; that is not an error. Memory: 8 bytes per
 *  row, and 32 while the parts are made. Fails with MST_INVALID if the elements are not rows, their number is not
 *  known, .fraction leaves a part without rows, or .labels is not a component of numbers; and if reading the labels
 *  fails. */
#ifdef MST_DATASET_HEADER
typedef struct mst_split_options {
    int zero_;
    double fraction; /**< fraction of the rows that go to *SECOND; above 0, below 1 */
    uint64_t seed;
    /** The component with the class of a row: its value, or for a row of several numbers the index of the largest. 0:
     *  none, and all rows are equally likely. */
    int labels;
    bool last;     /**< *SECOND gets the last rows, as in Keras; .labels matter only to REPORT */
    int num_folds; /**< in place of .fraction: k of a k-fold cross validation, at least 2; 0: there are no folds */
    int fold;      /**< the fold that *SECOND gets, from 0 */
} mst_split_options;
typedef struct mst_split_report {
    int64_t num_missing; /**< number of classes that have no row in one of the parts */
    char warning[256];   /**< one line that names the first such class; empty if there is none */
} mst_split_report;
MST_API MST_CHECKED mst_status mst_dataset_split(mst_dataset *dataset, const mst_split_options *options,
                                                 mst_dataset **first, mst_dataset **second, mst_split_report *report);
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "base/rng.h"
#include "data/cursors/cursor.h"
#include "data/nested.h"
#include "data/transforms/relearn.h"

/* ---- a part: those rows of upstream whose numbers are listed, in upstream's order ---------------------- */

typedef struct split_part {
    mst_dataset base;
    int64_t *row; /* [cardinality] numbers of the rows, counted in upstream's order; ascending */
} split_part;

typedef struct part_cursor {
    mst_cursor base;
    int64_t given; /* rows of this part that were given or skipped */
    int64_t at;    /* number of the next row of upstream */
} part_cursor;

static const split_part *part_of(const mst_cursor *cursor) {
    return (const split_part *)cursor->dataset;
}

static mst_status split_start(mst_cursor *cursor, int64_t epoch) {
    part_cursor *c = (part_cursor *)cursor;
    c->given = c->at = 0;
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

/* How many of the next rows, at most MAX, have consecutive numbers. */
static int64_t run_length(const part_cursor *c, int64_t max) {
    const split_part *part = part_of(&c->base);
    const int64_t left = part->base.cardinality - c->given, *row = part->row + c->given;
    int64_t n = 0;
    while (n < max && n < left && row[n] == row[0] + n) n++;
    return n;
}

/* Skips rows of upstream up to the next row of this part, if there is one. */
static mst_status pass_gap(part_cursor *c) {
    const split_part *part = part_of(&c->base);
    const int64_t gap = c->given < part->base.cardinality ? part->row[c->given] - c->at : 0;
    int64_t skipped;
    if (gap == 0) return MST_OK;
    MST_TRY(c->base.upstream->type->skip(c->base.upstream, gap, &skipped));
    c->at += skipped;
    return MST_OK;
}

static mst_status split_rows(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got) {
    part_cursor *c = (part_cursor *)cursor;
    int64_t came;
    for (*got = 0; *got < max; *got += came) {
        const int64_t wanted = run_length(c, max - *got);
        if (!wanted) return MST_OK;
        MST_TRY(pass_gap(c));
        MST_TRY(cursor->upstream->type->rows(cursor->upstream, rows + *got, wanted, &came));
        if (!came) return MST_OK;
        c->at += came;
        c->given += came;
    }
    return MST_OK;
}

/* Upstream is not moved now, but when the next row is asked for. */
static mst_status split_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    part_cursor *c = (part_cursor *)cursor;
    const int64_t left = cursor->dataset->cardinality - c->given;
    *skipped = n < left ? n : left;
    c->given += *skipped;
    return MST_OK;
}

static void split_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, ((const part_cursor *)cursor)->given);
    mst_bookmark_put(bookmark, ((const part_cursor *)cursor)->at);
    mst_cursor_save(cursor->upstream, bookmark);
}

static mst_status split_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    part_cursor *c = (part_cursor *)cursor;
    const split_part *part = part_of(cursor);
    MST_TRY(mst_bookmark_take(bookmark, 0, part->base.cardinality, &c->given));
    const int64_t most =
        c->given < part->base.cardinality ? part->row[c->given] : cursor->dataset->upstream->cardinality;
    MST_TRY(mst_bookmark_take(bookmark, 0, most, &c->at));
    return mst_cursor_restore(cursor->upstream, bookmark);
}

static const mst_cursor_type cursor_type = {
    .start = split_start, .rows = split_rows, .skip = split_skip, .save = split_save, .restore = split_restore};

static mst_status split_open(const mst_dataset *dataset, mst_cursor **out) {
    return mst_cursor_alloc(&cursor_type, sizeof(part_cursor), dataset, out);
}

static void split_destroy(mst_dataset *dataset) {
    free(((split_part *)dataset)->row);
}

/* The settings have a hash of the row numbers in this part. */
static void split_settings(const mst_dataset *dataset, char *text, size_t size) {
    uint64_t hash = 0;
    for (int64_t i = 0; i < dataset->cardinality; i++)
        hash = mst_rng_mix(hash, (uint64_t)((const split_part *)dataset)->row[i]);
    snprintf(text, size, "%lld rows of hash %016llx", (long long)dataset->cardinality, (unsigned long long)hash);
}

static const mst_dataset_type type = {
    .name = "split", .destroy = split_destroy, .open = split_open, .settings = split_settings};

/* ---- which rows ---------------------------------------------------------------------------------------- */

typedef struct labeled_row {
    double class;
    int64_t row;
} labeled_row;

typedef struct split_class {
    int64_t begin, end; /* range in division.labeled */
    int64_t share;      /* rows that go to the second part */
    int64_t remainder;  /* remainder of the division that gave the share */
} split_class;

typedef struct division {
    const mst_split_options *options;
    int64_t num_rows, num_second, num_classes;
    labeled_row *labeled; /* [num_rows] sorted by class */
    split_class *class;   /* [num_classes] */
    int64_t *order;       /* [num_rows] scratch space: the rows of one class */
    bool *in_second;      /* [num_rows] */
    mst_split_report report;
} division;

static int compare_labeled_rows(const void *a, const void *b) {
    const labeled_row *x = a, *y = b;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The class of row I of LABELS, where each row has WIDTH numbers. NaN, which cannot be sorted, counts as infinity. */
static double class_of(const mst_tensor *labels, int64_t i, int64_t width) {
    int64_t largest = 0;
    if (width == 1) {
        const double value = mst_tensor_get(labels, i);
        return isnan(value) ? INFINITY : value;
    }
    for (int64_t k = 1; k < width; k++)
        if (mst_tensor_get(labels, i * width + k) > mst_tensor_get(labels, i * width + largest)) largest = k;
    return (double)largest;
}

static mst_status read_batch_classes(division *d, const mst_batch *batch, int64_t first) {
    mst_tensor *labels;
    const int64_t rows = mst_batch_size(batch);
    MST_TRY(mst_batch_tensor(batch, d->options->labels, &labels));
    for (int64_t i = 0; i < rows && first + i < d->num_rows; i++)
        d->labeled[first + i].class = class_of(labels, i, mst_tensor_count(labels) / rows);
    mst_tensor_release(labels);
    return MST_OK;
}

static mst_status read_classes(division *d, mst_dataset *dataset) {
    enum { ROWS = 1000 };
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    int64_t first = 0;
    if (!d->options->labels) return MST_OK;
    MST_TRY(mst_dataset_batch(dataset, ROWS, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    while (!status && !(status = mst_iterator_next(iterator, &batch)) && batch) {
        status = read_batch_classes(d, batch, first);
        first += mst_batch_size(batch);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    return status;
}

static int compare_remainders(const void *a, const void *b) {
    const split_class *x = a, *y = b;
    if (x->remainder != y->remainder) return x->remainder > y->remainder ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int compare_begins(const void *a, const void *b) {
    const split_class *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The share of each class is its proportion of num_second, rounded down. The remaining rows go to the classes with the
 * largest remainders (Hamilton's method). */
static void share_out(division *d) {
    __extension__ typedef __int128 wide;
    int64_t left = d->num_second;
    for (int64_t k = 0; k < d->num_classes; k++) {
        split_class *c = &d->class[k];
        const wide product = (wide)(c->end - c->begin) * (wide)d->num_second;
        c->share = (int64_t)(product / (wide)d->num_rows);
        c->remainder = (int64_t)(product % (wide)d->num_rows);
        left -= c->share;
    }
    qsort(d->class, (size_t)d->num_classes, sizeof *d->class, compare_remainders);
    for (int64_t k = 0; k < left; k++) d->class[k].share++;
    qsort(d->class, (size_t)d->num_classes, sizeof *d->class, compare_begins);
}

/* Whether the row that is drawn as number DRAWN of class C goes to the second part. Folds take turns, from class to
 * class too. */
static bool goes_to_second(const division *d, const split_class *c, int64_t drawn) {
    const mst_split_options *o = d->options;
    return o->num_folds ? (c->begin + drawn) % o->num_folds == o->fold : drawn < c->share;
}

/* Draws the rows of a class that go to the second part. */
static void draw_class(division *d, const split_class *c) {
    const int64_t count = c->end - c->begin;
    for (int64_t i = 0; i < count; i++) d->order[i] = d->labeled[c->begin + i].row;
    mst_rng_shuffle(d->order, count, d->options->seed,
                    mst_rng_mix(mst_rng_hash_name("mst_dataset_split"), (uint64_t)c->begin));
    for (int64_t i = 0; i < count; i++)
        if (goes_to_second(d, c, i)) d->in_second[d->order[i]] = true;
}

static void note_missing(division *d, const mst_dataset *dataset, const split_class *c) {
    const double class = d->labeled[c->begin].class;
    const bool whole = class >= 0 && class < 1e9 && class == floor(class);
    const char *name = whole ? mst_dataset_class_name(dataset, d->options->labels, (int64_t) class) : NULL;
    const int64_t count = c->end - c->begin;
    int64_t second = 0;
    for (int64_t i = c->begin; i < c->end; i++) second += d->in_second[d->labeled[i].row];
    if ((second && second < count) || d->report.num_missing++) return;
    mst_format(d->report.warning, sizeof d->report.warning,
               "class %.15g%s%.100s%s, with %lld row%s, has none in the %s", class, name ? " (" : "", name ? name : "",
               name ? ")" : "", (long long)count, count == 1 ? "" : "s",
               second ? "part that is trained on" : "part that is kept for validation");
    mst_make_plain(d->report.warning);
}

static mst_status find_classes(division *d) {
    qsort(d->labeled, (size_t)d->num_rows, sizeof *d->labeled, compare_labeled_rows);
    d->num_classes = 1;
    for (int64_t i = 1; i < d->num_rows; i++) d->num_classes += d->labeled[i].class != d->labeled[i - 1].class;
    d->class = calloc((size_t)d->num_classes, sizeof *d->class);
    if (!d->class) return MST_NO_MEMORY("for %lld classes", (long long)d->num_classes);
    for (int64_t i = 0, k = -1; i < d->num_rows; i++) {
        if (i == 0 || d->labeled[i].class != d->labeled[i - 1].class) d->class[++k].begin = i;
        d->class[k].end = i + 1;
    }
    return MST_OK;
}

static mst_status divide(division *d, const mst_dataset *dataset) {
    MST_TRY(find_classes(d));
    share_out(d);
    if (d->options->last) memset(d->in_second + (d->num_rows - d->num_second), true, (size_t)d->num_second);
    for (int64_t k = 0; k < d->num_classes; k++) {
        if (!d->options->last) draw_class(d, &d->class[k]);
        if (d->options->labels) note_missing(d, dataset, &d->class[k]);
    }
    if (d->report.num_missing < 2) return MST_OK;
    const size_t length = strlen(d->report.warning);
    snprintf(d->report.warning + length, sizeof d->report.warning - length, "; there are %lld such classes",
             (long long)d->report.num_missing);
    return MST_OK;
}

static mst_status make_part(const division *d, mst_dataset *dataset, bool second, mst_dataset **out) {
    split_part *part;
    const int64_t count = second ? d->num_second : d->num_rows - d->num_second;
    MST_TRY(mst_dataset_derive(&type, sizeof *part, dataset, &part));
    *out = &part->base;
    part->base.cardinality = 0;
    part->row = malloc((size_t)count * sizeof *part->row);
    if (!part->row) return MST_NO_MEMORY("for %lld rows", (long long)count);
    for (int64_t i = 0; i < d->num_rows; i++)
        if (d->in_second[i] == second) part->row[part->base.cardinality++] = i;
    return MST_OK;
}

mst_status mst_split_again(const mst_dataset *dataset, mst_dataset *other, mst_dataset **out) {
    split_part *part;
    if (dataset->type != &type) return *out = mst_dataset_retain(other), MST_OK;
    const size_t bytes = (size_t)dataset->cardinality * sizeof *part->row;
    MST_TRY(mst_dataset_derive(&type, sizeof *part, other, &part));
    part->base.cardinality = dataset->cardinality;
    part->row = malloc(bytes);
    if (!part->row) {
        mst_dataset_release(&part->base);
        return MST_NO_MEMORY("for %lld rows", (long long)dataset->cardinality);
    }
    memcpy(part->row, ((const split_part *)dataset)->row, bytes);
    *out = &part->base;
    return MST_OK;
}

const mst_dataset *mst_split_whole(const mst_dataset *dataset) {
    return dataset->type == &type ? dataset->upstream : dataset;
}

static mst_status make_parts(division *d, mst_dataset *dataset, mst_dataset **first, mst_dataset **second) {
    d->labeled = malloc((size_t)d->num_rows * sizeof *d->labeled);
    d->order = malloc((size_t)d->num_rows * sizeof *d->order);
    d->in_second = calloc((size_t)d->num_rows, sizeof *d->in_second);
    if (!d->labeled || !d->order || !d->in_second) return MST_NO_MEMORY("for %lld rows", (long long)d->num_rows);
    for (int64_t i = 0; i < d->num_rows; i++) d->labeled[i] = (labeled_row){0, i};
    MST_TRY(read_classes(d, dataset));
    MST_TRY(divide(d, dataset));
    MST_TRY(make_part(d, dataset, false, first));
    return make_part(d, dataset, true, second);
}

static mst_status check_folds(const mst_dataset *dataset, const mst_split_options *o) {
    if (o->num_folds < 2 || o->fold < 0 || o->fold >= o->num_folds)
        return MST_FAIL(MST_INVALID, "split: fold %d of %d: there must be at least 2, numbered from 0", o->fold,
                        o->num_folds);
    if (o->fraction != 0 || o->last)
        return MST_FAIL(MST_INVALID, "split: folds need no .%s: leave it out", o->last ? "last" : "fraction");
    if (dataset->cardinality >= o->num_folds) return MST_OK;
    return MST_FAIL(MST_INVALID, "split: %lld row%s cannot make %d folds", (long long)dataset->cardinality,
                    dataset->cardinality == 1 ? "" : "s", o->num_folds);
}

static mst_status check_split(const mst_dataset *dataset, const mst_split_options *o) {
    MST_TRY(mst_dataset_want_rows(dataset, "split"));
    if (dataset->cardinality < 0)
        return MST_FAIL(MST_INVALID, "split: the dataset %s: split its source, or read it to memory before",
                        dataset->cardinality == MST_INFINITE ? "has no end" : "does not know its number of rows");
    if (o->num_folds) MST_TRY(check_folds(dataset, o));
    if (!o->num_folds && !(o->fraction > 0 && o->fraction < 1))
        return MST_FAIL(MST_INVALID, "split: fraction is %g, it must be above 0 and below 1", o->fraction);
    if (o->labels < 0 || o->labels >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "split: labels is component %d, the dataset has 0 to %d", o->labels,
                        dataset->num_components - 1);
    if (!o->labels) return MST_OK;
    const mst_spec spec = dataset->row[o->labels];
    if (spec.dtype == MST_STRING || mst_shape_count(spec.shape) < 1)
        return MST_FAIL(MST_INVALID, "split: the labels, component %d, are not numbers of one shape", o->labels);
    return MST_OK;
}

mst_status mst_dataset_split(mst_dataset *dataset, const mst_split_options *options, mst_dataset **first,
                             mst_dataset **second, mst_split_report *report) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(options) || MST_IS_NULL(first) || MST_IS_NULL(second)) return MST_INVALID;
    mst_dataset *part[2] = {NULL, NULL};
    *first = *second = NULL;
    MST_TRY(mst_dataset_check(dataset));
    MST_TRY(check_split(dataset, options));
    const int64_t n = dataset->cardinality, folds = options->num_folds;
    const int64_t kept = folds ? n - (n - options->fold + folds - 1) / folds /* without the fold */
                               : (int64_t)((double)n * (1 - options->fraction));
    if (n < 2 || kept < 1 || kept >= n)
        return MST_FAIL(MST_INVALID, "split: %g of %lld rows leaves a part without rows", options->fraction,
                        (long long)n);
    division d = {.options = options, .num_rows = n, .num_second = n - kept};
    const mst_status status = make_parts(&d, dataset, &part[0], &part[1]);
    free(d.labeled);
    free(d.class);
    free(d.order);
    free(d.in_second);
    if (status) {
        mst_dataset_release(part[0]);
        mst_dataset_release(part[1]);
        return status;
    }
    *first = part[0];
    *second = part[1];
    if (report) *report = d.report;
    return MST_OK;
}

mst_dataset *mst_data_split(mst_dataset *dataset, const mst_split_options *options, mst_dataset **second) {
    if (MST_IS_NULL(second)) return mst_dataset_made(dataset, MST_INVALID, NULL);
    mst_dataset *first = NULL;
    mst_status status = mst_dataset_check(dataset);
    if (!status) status = mst_dataset_split(dataset, options, &first, second, NULL);
    if (status) *second = mst_dataset_made(NULL, status, NULL);
    return mst_dataset_made(dataset, status, &first);
}
