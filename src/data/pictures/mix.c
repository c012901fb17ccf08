#include "data/pictures/mix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "base/number.h"
#include "data/cursors/cursor.h"
#include "data/pictures/picture.h"
#include "data/row_fetch.h"
#include "data/team_fetch.h"
#include "tensor/buffer.h"

enum { COMPONENTS = 2, MOST_ATTEMPTS = 65535 };

typedef struct mix_cursor {
    mst_cursor base;
    mst_team_fetch *fetch;
    mst_row_fetch *keys;       /* knows the records of rows */
    int64_t *partner;          /* [rows of a batch] */
    int64_t count[COMPONENTS]; /* elements of a row */
    float *own[COMPONENTS];    /* the wanted rows, as upstream has them */
    float *far[COMPONENTS];    /* one row: a partner that is not wanted itself */
    void *mixed[COMPONENTS];   /* the wanted rows of the result */
} mix_cursor;

static const mst_mix_dataset *mix_dataset_of(const mst_cursor *cursor) {
    return (const mst_mix_dataset *)cursor->dataset;
}

double mst_mix_beta(const mst_rng *rng, double alpha) {
    uint32_t word[4];
    for (uint32_t attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        mst_rng_blocks(rng, 0, 1, attempt, word);
        const double u = mst_rng_unit_f64(word[0], word[1]), v = mst_rng_unit_f64(word[2], word[3]);
        const double x = pow(u, 1 / alpha), y = pow(v, 1 / alpha);
        if (x + y > 1 || !(u > 0) || !(v > 0)) continue;
        if (x + y > 0) return x / (x + y);
        return 1 / (1 + exp((log(v) - log(u)) / alpha)); /* both are too small for a double */
    }
    return 0.5;
}

/* ---- the rows of a batch ---- */

/* The numbers that the batch of ELEMENT draws: the partners of its rows, and one number for all of them. */
static double draw_batch(mix_cursor *c, const mst_element *element) {
    const mst_row_key key = mst_row_fetch_key(c->keys, element->rows[0]);
    const uint64_t seed = mix_dataset_of(&c->base)->seed, stream = mst_rng_mix(key.record, key.pass);
    uint32_t word[4];
    for (int64_t i = 0; i < element->count; i++) c->partner[i] = i;
    mst_rng_shuffle(c->partner, element->count, seed, stream);
    const mst_rng rng = mst_rng_make(mst_rng_mix(seed, mst_rng_hash_name("batch")), key.record, key.pass);
    mst_rng_blocks(&rng, 0, 1, 0, word);
    return mst_rng_unit_f64(word[0], word[1]);
}

/* Sets OTHER to the components of row I of the batch, which is among the wanted ones or is made now. */
static mst_status find_row(mix_cursor *c, const mst_element *element, mst_row_range wanted, int64_t i,
                           const float *other[COMPONENTS]) {
    const bool is_far = i < wanted.first || i >= wanted.first + wanted.count;
    if (is_far) MST_TRY(mst_team_fetch_copy_all(c->fetch, element, i, 1, (void *const[]){c->far[0], c->far[1]}));
    for (int k = 0; k < COMPONENTS; k++) other[k] = is_far ? c->far[k] : c->own[k] + (i - wanted.first) * c->count[k];
    return MST_OK;
}

/* Mixes row I of the batch. */
static mst_status mix_row(mix_cursor *c, const mst_element *element, mst_row_range wanted, int64_t i, double batch) {
    const mst_mix_dataset *d = mix_dataset_of(&c->base);
    const mst_shape shape = d->base.row[0].shape;
    const mst_row_key key = mst_row_fetch_key(c->keys, element->rows[i]);
    const int64_t place = i - wanted.first;
    const float *other[COMPONENTS], *label = c->own[1] + place * c->count[1];
    MST_TRY(find_row(c, element, wanted, c->partner[i], other));
    const mst_mix_row row = {.own = c->own[0] + place * c->count[0],
                             .other = other[0],
                             .height = shape.dim[0],
                             .width = shape.dim[1],
                             .channels = shape.ndim == 3 ? shape.dim[2] : 1,
                             .rng = mst_rng_make(d->seed, key.record, key.pass),
                             .batch_draw = batch};
    const float weight = d->function(&d->base, &row, (float *)c->mixed[0] + place * c->count[0]);
    float *mixed = (float *)c->mixed[1] + place * c->count[1];
    for (int64_t j = 0; j < c->count[1]; j++) mixed[j] = weight * label[j] + (1 - weight) * other[1][j];
    return MST_OK;
}

static mst_status mix_rows(mix_cursor *c, const mst_element *element, mst_row_range wanted) {
    const double batch = draw_batch(c, element);
    MST_TRY(
        mst_team_fetch_copy_all(c->fetch, element, wanted.first, wanted.count, (void *const[]){c->own[0], c->own[1]}));
    for (int64_t i = 0; i < wanted.count; i++) MST_TRY(mix_row(c, element, wanted, wanted.first + i, batch));
    return MST_OK;
}

/* ---- the cursor ---- */

static mst_status mix_start(mst_cursor *cursor, int64_t epoch) {
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static mst_status mix_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    return cursor->upstream->type->skip(cursor->upstream, n, skipped);
}

static mst_status mix_next(mst_cursor *cursor, mst_element *element) {
    mix_cursor *c = (mix_cursor *)cursor;
    mst_element rows;
    *element = (mst_element){0};
    MST_TRY(cursor->upstream->type->batch(cursor->upstream, &rows));
    if (!rows.count) return MST_OK;
    const mst_row_range wanted = mst_shard_window_rows(cursor->window, rows.count);
    const mst_status status = mix_rows(c, &rows, wanted);
    mst_cursor_forget(cursor->upstream, rows.rows, rows.count);
    if (status) return status;
    *element = (mst_element){.count = rows.count, .first = wanted.first, .memory = (const void *const *)c->mixed};
    return MST_OK;
}

static void mix_destroy(mst_cursor *cursor) {
    mix_cursor *c = (mix_cursor *)cursor;
    mst_team_fetch_destroy(c->fetch);
    mst_row_fetch_destroy(c->keys);
    for (int k = 0; k < COMPONENTS; k++) {
        mst_buffer_free(c->own[k]);
        mst_buffer_free(c->far[k]);
        mst_buffer_free(c->mixed[k]);
    }
    free(c->partner);
}

static const mst_cursor_type cursor_type = {
    .start = mix_start, .batch = mix_next, .skip = mix_skip, .destroy = mix_destroy};

static mst_status alloc_rows(int64_t rows, int64_t count, void *out) {
    size_t bytes;
    if (__builtin_mul_overflow((size_t)rows, (size_t)count * sizeof(float), &bytes))
        return MST_NO_MEMORY("for a batch of %lld rows", (long long)rows);
    return mst_buffer_alloc(bytes, out);
}

static mst_status set_up_cursor(mix_cursor *c) {
    const mst_dataset *d = c->base.dataset;
    const int64_t most = mst_dataset_most_rows(d);
    if ((uint64_t)most <= SIZE_MAX / sizeof *c->partner) c->partner = malloc((size_t)most * sizeof *c->partner);
    if (!c->partner) return MST_NO_MEMORY("for a batch of %lld rows: choose a smaller batch", (long long)most);
    for (int k = 0; k < COMPONENTS; k++) {
        c->count[k] = mst_shape_count(d->row[k].shape);
        MST_TRY(alloc_rows(most, c->count[k], &c->own[k]));
        MST_TRY(alloc_rows(1, c->count[k], &c->far[k]));
        MST_TRY(alloc_rows(most, c->count[k], &c->mixed[k]));
    }
    MST_TRY(mst_row_fetch_create(d->upstream, c->base.upstream, &c->keys));
    return mst_team_fetch_create(d->upstream, c->base.upstream, 0, &c->fetch);
}

mst_status mst_mix_open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(mix_cursor), dataset, out));
    const mst_status status = set_up_cursor((mix_cursor *)*out);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return mst_error_prefix("%s", dataset->type->name);
}

/* ---- the dataset ---- */

void mst_mix_settings(const mst_dataset *dataset, char *text, size_t size) {
    const mst_mix_dataset *d = (const mst_mix_dataset *)dataset;
    char strength[MST_NUMBER_TEXT];
    snprintf(text, size, "%s, seed %016llx", mst_number_print_f64(d->strength, strength), (unsigned long long)d->seed);
}

static mst_status check_components(const mst_dataset *dataset, const char *name) {
    if (!dataset->batch_size)
        return MST_FAIL(MST_INVALID, "%s: mixes the rows of a batch: put it behind mst_dataset_batch", name);
    if (dataset->num_components != COMPONENTS)
        return MST_FAIL(MST_INVALID, "%s: the dataset has %d components, pictures and their labels are due", name,
                        dataset->num_components);
    MST_TRY(mst_picture_want_values(dataset, name, 0));
    const mst_spec *label = &dataset->row[1];
    if (label->dtype != MST_F32 || mst_shape_count(label->shape) < 0)
        return MST_FAIL(MST_INVALID,
                        "%s: labels are %s, rows of f32 are due: mst_dataset_one_hot makes them of class numbers", name,
                        mst_dtype_name(label->dtype));
    for (const mst_dataset *d = dataset; d; d = d->upstream)
        if (d->type->gives_values)
            return MST_FAIL(MST_INVALID, "%s: behind %s rows have no numbers: put %s before %s", name, d->type->name,
                            name, d->type->name);
    return MST_OK;
}

mst_status mst_mix_derive(const mst_dataset_type *type, mst_dataset *dataset, const char *what, double strength,
                          uint64_t seed, mst_mix_function function, mst_dataset **out) {
    mst_mix_dataset *d;
    *out = NULL;
    if (!(strength > 0) || strength > 1)
        return MST_FAIL(MST_INVALID, "%s: %s is %g, above 0 and at most 1 are possible", type->name, what, strength);
    MST_TRY(check_components(dataset, type->name));
    mst_dataset *floats = mst_dataset_retain(dataset);
    if (dataset->row[0].dtype != MST_F32) {
        mst_dataset_release(floats);
        MST_TRY(mst_dataset_scale(dataset, 0, MST_F32, 1, &floats));
    }
    const mst_status status = mst_dataset_derive(type, sizeof *d, floats, &d);
    mst_dataset_release(floats);
    MST_TRY(status);
    d->seed = mst_rng_mix(seed, mst_rng_hash_name(type->name));
    d->strength = strength;
    d->function = function;
    *out = &d->base;
    return MST_OK;
}
