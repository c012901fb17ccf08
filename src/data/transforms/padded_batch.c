/** Batches of SIZE consecutive rows whose lengths may differ. Each row is padded at its end along each dimension, to
 *  the longest row of the batch or to a given size. Otherwise like mst_dataset_batch. PADDING has one element for each
 *  component; if it is NULL, all have the default.
 *
 *      const mst_padding padding[] = {{.shape = MST_SHAPE(-1), .value = -1}, {0}};
 *      MST_TRY(mst_dataset_padded_batch(rows, 32, false, padding, &batches));
 *
 *  mst_batch_shape gives the lengths of a batch. A batch is made when the iterator comes to it, on its thread (a
 *  prefetch after it has a thread for that). If several tasks train on parts of a batch, all parts have the same
 *  lengths. Needs memory for a batch before and after padding.
 *
 *  Fails with MST_INVALID as mst_dataset_batch does, if a shape has another number of dimensions than the rows, if it
 *  is smaller than the known dimensions of the rows, and if a value is not one of the dtype. Making a batch fails with
 *  MST_INVALID, naming the record, if a row is longer than the given size. */
#ifdef MST_DATASET_HEADER
typedef struct mst_padding {
    int zero_;
    mst_shape
        shape;    /**< of a row; a dimension of -1 is padded to the longest row of the batch. No dimensions: the shape
                       that the dataset has */
    double value; /**< the value of padding in components of numbers */
    mst_string text; /**< the value of padding in components of strings; its bytes are copied */
} mst_padding;
MST_API MST_CHECKED mst_status mst_dataset_padded_batch(mst_dataset *dataset, int64_t size, bool drop_remainder,
                                                        const mst_padding *padding, mst_dataset **out);
#endif
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "data/cursors/cursor.h"
#include "data/nested.h"
#include "data/row_fetch.h"
#include "tensor/buffer.h"
#include "tensor/string.h"

/* A batch is made in two walks over its rows. The first one copies each row, with its own length, to an arena, and
 * finds the longest. The second one copies the rows to their places in memory of the padded shape, and pads only where
 * no row is. Memory is reused from batch to batch and grows with the longest one.
 *
 * If only a window of the batch is wanted (base/shard_rows.h), only its rows are kept and padded. The other rows are
 * made too if they may be the longest. */

/* A dataset over a mst_dataset_batch, which decides which rows a batch has. */
typedef struct padded_batch {
    mst_dataset base;
    bool finds_lengths; /* some dimension is that of the longest row */
    mst_tensor **value; /* [num_components] the value of padding */
} padded_batch;

/* A component of one row, before it is padded. */
typedef struct piece {
    const void *data;
    mst_shape shape;
} piece;

typedef struct padded_cursor {
    mst_cursor base;
    mst_row_fetch *fetch;
    mst_arena arena;  /* memory that the pieces of this batch refer to */
    piece *piece;     /* [rows, components] */
    mst_shape *shape; /* [num_components] shape of a padded row */
    void **component; /* [num_components] the padded rows */
    size_t *capacity; /* bytes allocated for each component */
} padded_cursor;

static const padded_batch *dataset_of(const mst_cursor *cursor) {
    return (const padded_batch *)cursor->dataset;
}

static mst_status padded_batch_start(mst_cursor *cursor, int64_t epoch) {
    return cursor->upstream->type->start(cursor->upstream, epoch);
}

static mst_status padded_batch_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    return cursor->upstream->type->skip(cursor->upstream, n, skipped);
}

/* ---- the rows of a batch ---- */

/* Context of `hold`: where to keep the pieces of one row. */
typedef struct holder {
    padded_cursor *cursor;
    piece *piece;
    bool only_shapes; /* the row is not wanted, so only its lengths are kept */
} holder;

static mst_status check_length(const mst_shape *found, const mst_shape *wanted, int component) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    for (int i = 0; i < wanted->ndim; i++)
        if (wanted->dim[i] >= 0 && found->dim[i] > wanted->dim[i])
            return MST_FAIL(MST_INVALID,
                            "padded_batch: component %d has shape %s, which is more than %s: give a larger shape, or "
                            "shorten rows with map",
                            component, mst_shape_print(*found, have, sizeof have),
                            mst_shape_print(*wanted, want, sizeof want));
    return MST_OK;
}

static mst_status hold(const mst_array *in, void *context) {
    const holder *h = context;
    const mst_dataset *d = h->cursor->base.dataset;
    for (int c = 0; c < d->num_components; c++) {
        const size_t bytes = (size_t)in[c].count * mst_dtype_size(in[c].dtype);
        MST_TRY(check_length(&in[c].shape, &d->row[c].shape, c));
        h->piece[c] = (piece){NULL, in[c].shape};
        if (h->only_shapes) continue;
        void *data = mst_arena_copy(&h->cursor->arena, in[c].data, bytes);
        if (!data) return MST_NO_MEMORY("for a row of %zu bytes", bytes);
        if (in[c].dtype == MST_STRING) MST_TRY(mst_strings_keep(&h->cursor->arena, data, in[c].count));
        h->piece[c].data = data;
    }
    return MST_OK;
}

static mst_status hold_rows(padded_cursor *c, const mst_element *element, mst_row_range wanted) {
    mst_arena_clear(&c->arena);
    for (int64_t i = 0; i < element->count; i++) {
        const bool is_wanted = i >= wanted.first && i < wanted.first + wanted.count;
        if (!is_wanted && !dataset_of(&c->base)->finds_lengths) continue;
        holder h = {c, c->piece + i * c->base.dataset->num_components, !is_wanted};
        MST_TRY(mst_row_fetch_look(c->fetch, "padded_batch", element, i, hold, &h));
    }
    return MST_OK;
}

/* ---- padding ---- */

/* The shape of component I in a batch of COUNT rows. */
static mst_shape shape_of(const padded_cursor *c, int i, int64_t count) {
    const mst_dataset *d = c->base.dataset;
    mst_shape shape = d->row[i].shape;
    for (int j = 0; j < shape.ndim; j++) {
        if (shape.dim[j] >= 0) continue;
        for (int64_t row = 0; row < count; row++) {
            const int64_t length = c->piece[row * d->num_components + i].shape.dim[j];
            if (length > shape.dim[j]) shape.dim[j] = length;
        }
    }
    return shape;
}

static mst_status make_room(padded_cursor *c, int i, int64_t count) {
    const int64_t each = mst_shape_count(c->shape[i]);
    size_t bytes;
    if (__builtin_mul_overflow((size_t)each, mst_dtype_size(c->base.dataset->row[i].dtype), &bytes) ||
        __builtin_mul_overflow(bytes, (size_t)count, &bytes) || each == INT64_MAX)
        return MST_NO_MEMORY("for a batch of %lld rows of %lld elements", (long long)count, (long long)each);
    if (bytes <= c->capacity[i] && c->component[i]) return MST_OK;
    mst_buffer_free(c->component[i]);
    c->component[i] = NULL;
    c->capacity[i] = 0;
    MST_TRY(mst_buffer_alloc(bytes, &c->component[i]));
    c->capacity[i] = bytes;
    return MST_OK;
}

/* Writes COUNT copies of the SIZE bytes at VALUE. */
static void padded_batch_fill(char *dst, int64_t count, size_t size, const void *value) {
    for (int64_t i = 0; i < count; i++, dst += size) memcpy(dst, value, size);
}

/* Copies the elements at SRC, of shape FROM, to the beginning of each dimension of DST, of shape TO, from dimension
 * AXIS on. Returns the end of what was read. */
static const char *place(const char *src, const mst_shape *from, char *dst, const mst_shape *to, int axis,
                         size_t size) {
    if (axis >= from->ndim - 1) {
        const size_t bytes = (axis < from->ndim ? (size_t)from->dim[axis] : 1) * size;
        if (bytes) memcpy(dst, src, bytes);
        return src + bytes;
    }
    size_t stride = size;
    for (int i = axis + 1; i < to->ndim; i++) stride *= (size_t)to->dim[i];
    for (int64_t i = 0; i < from->dim[axis]; i++, dst += stride) src = place(src, from, dst, to, axis + 1, size);
    return src;
}

/* Pads component I of the rows WANTED of a batch of COUNT rows. */
static mst_status pad(padded_cursor *c, int i, int64_t count, mst_row_range wanted) {
    const mst_dataset *d = c->base.dataset;
    const size_t size = mst_dtype_size(d->row[i].dtype);
    const void *value = mst_tensor_data(dataset_of(&c->base)->value[i]);
    c->shape[i] = shape_of(c, i, count);
    MST_TRY(make_room(c, i, wanted.count));
    const int64_t each = mst_shape_count(c->shape[i]);
    char *dst = c->component[i];
    for (int64_t row = 0; row < wanted.count; row++, dst += (size_t)each * size) {
        const piece *p = &c->piece[(wanted.first + row) * d->num_components + i];
        if (!mst_shape_equal(p->shape, c->shape[i])) padded_batch_fill(dst, each, size, value);
        if (mst_shape_count(p->shape)) place(p->data, &p->shape, dst, &c->shape[i], 0, size);
    }
    return MST_OK;
}

static mst_status padded_batch_next(mst_cursor *cursor, mst_element *element) {
    padded_cursor *c = (padded_cursor *)cursor;
    mst_element rows;
    *element = (mst_element){0};
    MST_TRY(cursor->upstream->type->batch(cursor->upstream, &rows));
    if (!rows.count) return MST_OK;
    const mst_row_range wanted = mst_shard_window_rows(cursor->window, rows.count);
    mst_status status = hold_rows(c, &rows, wanted);
    mst_cursor_forget(cursor->upstream, rows.rows, rows.count);
    for (int i = 0; i < cursor->dataset->num_components && !status; i++) status = pad(c, i, rows.count, wanted);
    if (!status)
        *element = (mst_element){
            .count = rows.count, .first = wanted.first, .memory = (const void *const *)c->component, .shape = c->shape};
    return status;
}

static void destroy_cursor(mst_cursor *cursor) {
    padded_cursor *c = (padded_cursor *)cursor;
    for (int i = 0; c->component && i < cursor->dataset->num_components; i++) mst_buffer_free(c->component[i]);
    mst_row_fetch_destroy(c->fetch);
    mst_arena_free(&c->arena);
    free(c->piece);
    free(c->shape);
    free(c->component);
    free(c->capacity);
}

static const mst_cursor_type cursor_type = {
    .start = padded_batch_start, .batch = padded_batch_next, .skip = padded_batch_skip, .destroy = destroy_cursor};

static mst_status set_up_cursor(padded_cursor *c) {
    const mst_dataset *d = c->base.dataset;
    const size_t n = (size_t)d->num_components, rows = (size_t)mst_dataset_most_rows(d);
    size_t pieces;
    if (!__builtin_mul_overflow(rows, n, &pieces)) c->piece = calloc(pieces, sizeof *c->piece);
    c->shape = calloc(n, sizeof *c->shape);
    c->component = calloc(n, sizeof *c->component);
    c->capacity = calloc(n, sizeof *c->capacity);
    if (!c->piece || !c->shape || !c->component || !c->capacity)
        return MST_NO_MEMORY("for a batch of %zu rows: choose a smaller batch", rows);
    return mst_row_fetch_create(d->upstream, c->base.upstream, &c->fetch);
}

static mst_status padded_batch_open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(padded_cursor), dataset, out));
    const mst_status status = set_up_cursor((padded_cursor *)*out);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return mst_error_prefix("padded_batch");
}

/* ---- the dataset ---- */

static void padded_batch_destroy(mst_dataset *dataset) {
    padded_batch *d = (padded_batch *)dataset;
    for (int i = 0; d->value && i < dataset->num_components; i++) mst_tensor_release(d->value[i]);
    free(d->value);
}

static void padded_batch_settings(const mst_dataset *dataset, char *text, size_t size) {
    const padded_batch *d = (const padded_batch *)dataset;
    for (int i = 0; i < dataset->num_components; i++) {
        char value[MST_NUMBER_TEXT];
        const bool is_text = dataset->row[i].dtype == MST_STRING;
        const mst_string *string = is_text ? mst_tensor_data(d->value[i]) : NULL;
        const int length = is_text && string->length < INT_MAX ? (int)string->length : 0;
        const int used = is_text ? snprintf(text, size, "%s'%.*s'", i ? ", " : "", length, string->data)
                                 : snprintf(text, size, "%s%s", i ? ", " : "",
                                            mst_number_print_f64(mst_tensor_get(d->value[i], 0), value));
        if (used < 0 || (size_t)used >= size) return;
        text += used;
        size -= (size_t)used;
    }
}

static const mst_dataset_type type = {.name = "padded_batch",
                                      .destroy = padded_batch_destroy,
                                      .open = padded_batch_open,
                                      .settings = padded_batch_settings,
                                      .gives_values = true,
                                      .pads = true};

/* The shape of rows of component I: its known dimensions, replaced by those that were asked for. */
static mst_status choose_shape(mst_spec *row, const mst_padding *padding, int i) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    const mst_shape given = padding->shape;
    if (!given.ndim) return MST_OK;
    bool fits = given.ndim == row->shape.ndim;
    for (int j = 0; fits && j < given.ndim; j++) fits = given.dim[j] == -1 || given.dim[j] >= row->shape.dim[j];
    for (int j = 0; fits && j < given.ndim; j++) fits = given.dim[j] >= -1;
    if (!fits)
        return MST_FAIL(MST_INVALID, "padded_batch: component %d has shape %s, which cannot be padded to %s", i,
                        mst_shape_print(row->shape, have, sizeof have), mst_shape_print(given, want, sizeof want));
    for (int j = 0; j < given.ndim; j++)
        if (given.dim[j] >= 0) row->shape.dim[j] = given.dim[j];
    return MST_OK;
}

static mst_status choose_value(mst_dtype dtype, const mst_padding *padding, int i, mst_tensor **value) {
    if (dtype == MST_STRING) return mst_tensor_copy(MST_STRING, MST_SCALAR, &padding->text, value);
    MST_TRY(mst_tensor_create(dtype, MST_SCALAR, value));
    mst_tensor_set(*value, 0, padding->value);
    const double got = mst_tensor_get(*value, 0);
    const bool same = !(got < padding->value) && !(got > padding->value);
    if (mst_dtype_is_float(dtype) ? isinf(got) == isinf(padding->value) : same && !isnan(padding->value)) return MST_OK;
    return MST_FAIL(MST_INVALID, "padded_batch: component %d is %s, which cannot hold the value %g", i,
                    mst_dtype_name(dtype), padding->value);
}

static mst_status padded_batch_set_up(padded_batch *d, const mst_padding *padding) {
    static const mst_padding defaults;
    const int n = d->base.num_components;
    if (!(d->value = calloc((size_t)n, sizeof(mst_tensor *)))) return MST_NO_MEMORY("for a dataset (padded_batch)");
    for (int i = 0; i < n; i++) {
        const mst_padding *p = padding ? &padding[i] : &defaults;
        MST_TRY(choose_shape(&d->base.row[i], p, i));
        d->finds_lengths |= mst_shape_count(d->base.row[i].shape) < 0;
        MST_TRY(choose_value(d->base.row[i].dtype, p, i, &d->value[i]));
    }
    return MST_OK;
}

mst_status mst_dataset_padded_batch(mst_dataset *dataset, int64_t size, bool drop_remainder, const mst_padding *padding,
                                    mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    mst_dataset *batches;
    padded_batch *d;
    *out = NULL;
    if (mst_dataset_batch(dataset, size, drop_remainder, &batches)) return mst_error_prefix("padded_batch");
    mst_status status = mst_dataset_derive(&type, sizeof *d, batches, &d);
    mst_dataset_release(batches);
    MST_TRY(status);
    status = padded_batch_set_up(d, padding);
    if (status)
        mst_dataset_release(&d->base);
    else
        *out = &d->base;
    return status;
}

mst_dataset *mst_data_padded_batch(mst_dataset *dataset, int64_t size, bool drop_remainder,
                                   const mst_padding *padding) {
    MST_DATASET_NEST(dataset, mst_dataset_padded_batch(dataset, size, drop_remainder, padding, &out));
}
