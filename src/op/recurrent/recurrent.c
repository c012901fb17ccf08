#include "op/recurrent/recurrent.h"

#include <string.h>

#include "base/simd.h"
#include "muster/ops.h"
#include "op/share.h"

const char *const mst_cell_activation_names[] = {"default", "tanh", "sigmoid", "relu", "linear", NULL};

#define ACTIVATION \
    MST_FIELD_ENUM(mst_recurrent_options, activation, MST_CELL_TANH, mst_cell_activation_names, "of the state")
#define REVERSE MST_FIELD_BOOL(mst_recurrent_options, reverse, "from the last step to the first")

const mst_field mst_recurrent_fields[] = {
    ACTIVATION,
    MST_FIELD_ENUM(mst_recurrent_options, recurrent_activation, MST_CELL_SIGMOID, mst_cell_activation_names,
                   "of the gates"),
    REVERSE,
    MST_FIELD_END,
};

const mst_field mst_simple_rnn_fields[] = {ACTIVATION, REVERSE, MST_FIELD_END};

const mst_cell *mst_cell_of(const char *op, bool *backward) {
    static const struct {
        const char *op;
        const mst_cell *cell;
        bool backward;
    } ops[] = {{"lstm", &mst_cell_lstm, false},
               {"lstm_grad", &mst_cell_lstm, true},
               {"gru", &mst_cell_gru, false},
               {"gru_grad", &mst_cell_gru, true},
               {"simple_rnn", &mst_cell_simple_rnn, false},
               {"simple_rnn_grad", &mst_cell_simple_rnn, true}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        *backward = ops[i].backward;
        if (strcmp(ops[i].op, op) == 0) return ops[i].cell;
    }
    return NULL;
}

/* ---- inference ---- */

/* Joins *UNITS with WIDE / TIMES; either may be unknown. Fails if they differ, or if WIDE is no multiple of TIMES. WHAT
 * is for the error. */
static mst_status unify_units(mst_infer *c, int64_t wide, int64_t times, const char *what, int64_t *units) {
    if (wide >= 0 && wide % times != 0)
        return mst_infer_fail(c, "%s: %lld is no multiple of %lld", what, (long long)wide, (long long)times);
    return mst_infer_same_dim(c, *units, wide < 0 ? -1 : wide / times, what, units);
}

static int64_t times(int64_t units, int64_t factor) {
    return units < 0 ? -1 : units * factor;
}

/* Checks that source I has the float dtype of source 0, and NDIM dimensions. */
static mst_status check_source(mst_infer *c, int i, int ndim) {
    MST_TRY(mst_infer_want_float(c, i));
    MST_TRY(mst_infer_same_dtype(c, 0, i));
    return mst_infer_want_ndim(c, i, ndim);
}

/* The number of sources of a forward op, without its mask. */
static int num_sources(const mst_cell *cell) {
    return cell->has_bias ? 3 : 2;
}

/* Checks that source I is a mask [*ROWS, *STEPS]. If *ROWS or *STEPS is unknown, sets it to the mask's dimension. */
static mst_status check_mask(mst_infer *c, int i, int64_t *rows, int64_t *steps) {
    MST_TRY(check_source(c, i, 2));
    MST_TRY(mst_infer_same_dim(c, *rows, c->src[i].shape.dim[0], "rows of the mask", rows));
    return mst_infer_same_dim(c, *steps, c->src[i].shape.dim[1], "steps of the mask", steps);
}

mst_status mst_recurrent_infer(mst_infer *c, const mst_cell *cell) {
    const int without = num_sources(cell);
    int64_t units = -1;
    if (c->num_src != without && c->num_src != without + 1)
        return mst_infer_fail(c, "needs %d sources, and may have a mask, has %d", without, c->num_src);
    MST_TRY(check_source(c, 0, 3));
    MST_TRY(check_source(c, 1, 2));
    units = c->src[1].shape.dim[0];
    MST_TRY(unify_units(c, c->src[1].shape.dim[1], cell->gates, "units of the recurrent kernel", &units));
    MST_TRY(unify_units(c, c->src[0].shape.dim[2], cell->gates, "units of the source", &units));
    if (cell->has_bias) {
        MST_TRY(check_source(c, 2, 1));
        MST_TRY(unify_units(c, c->src[2].shape.dim[0], cell->gates, "units of the bias", &units));
    }
    c->dst[0] = c->dst[1] = c->src[0];
    if (c->num_src > without) MST_TRY(check_mask(c, without, &c->dst[0].shape.dim[0], &c->dst[0].shape.dim[1]));
    c->dst[1] = c->dst[0];
    c->dst[0].shape.dim[2] = units;
    c->dst[1].shape.dim[2] = times(units, cell->memory);
    return MST_OK;
}

mst_status mst_recurrent_grad_infer(mst_infer *c, const mst_cell *cell) {
    int64_t units, rows = -1, steps = -1;
    if (c->num_src < 4 || c->num_src > 6) return mst_infer_fail(c, "needs 4 to 6 sources, has %d", c->num_src);
    MST_TRY(check_source(c, 0, 2));
    units = c->src[0].shape.dim[1];
    MST_TRY(unify_units(c, c->src[0].shape.dim[0], cell->gates, "units of the recurrent kernel", &units));
    const int num_arrays = c->num_src - (c->src[c->num_src - 1].shape.ndim == 2); /* without a mask */
    for (int i = 1; i < num_arrays; i++) {
        MST_TRY(check_source(c, i, 3));
        const int64_t *dim = c->src[i].shape.dim;
        MST_TRY(mst_infer_same_dim(c, rows, dim[0], "rows", &rows));
        MST_TRY(mst_infer_same_dim(c, steps, dim[1], "steps", &steps));
        MST_TRY(unify_units(c, dim[2], i % 2 ? 1 : cell->memory, "units", &units)); /* h, memory, dh, dmemory */
    }
    if (num_arrays < c->num_src) MST_TRY(check_mask(c, num_arrays, &rows, &steps));
    const mst_spec wide = {c->src[0].dtype, MST_SHAPE(rows, steps, times(units, cell->gates))};
    c->dst[0] = wide;
    c->dst[1] = (mst_spec){wide.dtype, MST_SHAPE(rows, steps, units)};
    if (cell->has_bias) c->dst[2] = wide;
    return MST_OK;
}

/* ---- running ---- */

#define MST_TEMPLATE "op/recurrent/multiply_rows.inc"
#include "base/floats.inc"

static mst_status plain_product(const mst_recurrence *r, int64_t first, int64_t count, int thread, void *scratch,
                                const void *a, void *c) {
    const void *b = r->args->src[r->backward ? 0 : 1].data;
    int64_t inner, columns;
    (void)thread, (void)scratch;
    mst_recurrence_product_shape(r, &inner, &columns);
    if (r->size == sizeof(float))
        multiply_rows_f32((const float *)a + first * r->steps * inner, r->steps * inner, count, inner, columns, b, c);
    else
        multiply_rows_f64((const double *)a + first * r->steps * inner, r->steps * inner, count, inner, columns, b, c);
    return MST_OK;
}

mst_recurrence mst_recurrence_make(const mst_cell *cell, bool backward, const mst_shape *src, mst_dtype dtype) {
    enum { MOST_PARTS = 16, LEAST_ROWS = 8 }; /* most chunks, and least rows of a chunk */
    const mst_shape *rows = &src[backward ? 1 : 0];
    const int64_t even = (rows->dim[0] + MOST_PARTS - 1) / MOST_PARTS;
    return (mst_recurrence){.cell = cell,
                            .backward = backward,
                            .rows = rows->dim[0],
                            .steps = rows->dim[1],
                            .units = src[backward ? 0 : 1].dim[backward ? 1 : 0],
                            .chunk = even < LEAST_ROWS ? LEAST_ROWS : even,
                            .size = mst_dtype_size(dtype),
                            .product = plain_product};
}

void mst_recurrence_product_shape(const mst_recurrence *r, int64_t *inner, int64_t *columns) {
    const int64_t wide = r->units * r->cell->gates;
    *inner = r->backward ? wide : r->units;
    *columns = r->backward ? r->units : wide;
}

/* The workspace of a thread, with u units and M numbers of memory per unit:
 *
 *     product      [chunk, columns]: product with the recurrent kernel
 *     carry        [chunk, u]: carried by the cell from step to step
 *     past         [chunk, u]: gradient of h that flows past skipped steps, with a mask
 *     past_memory  [chunk, M u]: gradient of the memory that flows past skipped steps
 *     spare        [u]: scratch of the cell
 *     zeros        [M u]: h and memory before the first step
 *     scratch      scratch of the product */
typedef struct parts {
    char *product, *carry, *past, *past_memory, *spare, *zeros, *scratch;
} parts;

static size_t align(size_t bytes) {
    enum { LINE = 64 };
    return (bytes + LINE - 1) / LINE * LINE;
}

static size_t lay_out_steps(const mst_recurrence *r, char *base, parts *out) {
    const size_t row = r->size * (size_t)r->units, chunk = (size_t)r->chunk;
    int64_t inner, columns;
    size_t at = 0;
    mst_recurrence_product_shape(r, &inner, &columns);
    out->product = base;
    at += align(chunk * r->size * (size_t)columns);
    out->carry = base + at;
    at += align(chunk * row);
    out->past = base + at;
    at += align(chunk * row);
    out->past_memory = base + at;
    at += align(chunk * row * (size_t)r->cell->memory);
    out->spare = base + at;
    at += align(row);
    out->zeros = base + at;
    at += align(row * (size_t)r->cell->memory);
    out->scratch = base + at;
    return at + align(r->scratch);
}

size_t mst_recurrence_workspace(const mst_recurrence *r, int num_threads) {
    char base;
    parts p;
    return lay_out_steps(r, &base, &p) * (size_t)num_threads;
}

/* The address of row ROW at step T in array A. */
static void *at(const mst_recurrence *r, const mst_array *a, int64_t row, int64_t t) {
    const size_t elements = (size_t)((row * r->steps + t) * a->shape.dim[2]);
    return (char *)a->data + elements * r->size;
}

static mst_cell_row cell_row(const mst_recurrence *r, const parts *p, int64_t row, int64_t i, int64_t t, int64_t past) {
    const mst_kernel_args *a = r->args;
    const mst_recurrent_options *o = a->options;
    int64_t inner, columns;
    mst_recurrence_product_shape(r, &inner, &columns);
    mst_cell_row c = {.product = p->product + (size_t)(i * columns) * r->size,
                      .carry = p->carry + (size_t)(i * r->units) * r->size,
                      .spare = p->spare,
                      .h_before = p->zeros,
                      .memory_before = p->zeros,
                      .units = r->units,
                      .activation = o->activation,
                      .recurrent_activation = o->recurrent_activation};
    const mst_array *h = r->backward ? &a->src[1] : &a->dst[0], *memory = r->backward ? &a->src[2] : &a->dst[1];
    c.h = at(r, h, row, t);
    c.memory = at(r, memory, row, t);
    if (past >= 0) {
        c.h_before = at(r, h, row, past);
        c.memory_before = at(r, memory, row, past);
    }
    if (!r->backward) {
        c.src = at(r, &a->src[0], row, t);
        if (r->cell->has_bias) c.bias = a->src[2].data;
        return c;
    }
    c.dh = at(r, &a->src[3], row, t);
    if (a->num_src > (r->mask ? 5 : 4)) c.dmemory = at(r, &a->src[4], row, t);
    c.dsrc = at(r, &a->dst[0], row, t);
    c.dproduct = r->cell->has_bias ? at(r, &a->dst[2], row, t) : c.dsrc;
    memcpy(at(r, &a->dst[1], row, t), c.h_before, r->size * (size_t)r->units);
    return c;
}

static bool is_left_out(const mst_recurrence *r, int64_t row, int64_t t) {
    const int64_t i = row * r->steps + t;
    return r->size == sizeof(float) ? ((const float *)r->mask)[i] == 0 : ((const double *)r->mask)[i] == 0;
}

/* dst += src */
static void add_elements(const mst_recurrence *r, const void *src, void *dst, int64_t n) {
    if (r->size == sizeof(float))
        add_row_f32(1, src, dst, n);
    else
        add_row_f64(1, src, dst, n);
}

/* Skips a step. Forward, its h and memory are copied from the step before. Backward, the gradient of its h goes to
 * PAST, for h of the step before, and its other gradients are 0. */
static void leave_out(const mst_recurrence *r, const mst_cell_row *row, void *past) {
    const size_t each = r->size * (size_t)r->units;
    if (!r->backward) {
        memcpy(row->h, row->h_before, each);
        memcpy(row->memory, row->memory_before, each * (size_t)r->cell->memory);
        return;
    }
    memcpy(past, row->dh, each);
    add_elements(r, row->product, past, r->units);
    memset(row->dsrc, 0, each * (size_t)r->cell->gates);
    memset(row->dproduct, 0, each * (size_t)r->cell->gates);
}

/* One step of ROW, row I of the chunk, in a recurrence with a mask: runs CELL, or skips the step if LEFT_OUT. */
static void masked_cell(const mst_recurrence *r, mst_cell_function cell, mst_cell_row *row, const parts *p, int64_t i,
                        bool left_out) {
    const int64_t wide = r->units * r->cell->memory;
    const size_t each = r->size * (size_t)r->units;
    char *past = p->past + (size_t)i * each, *past_memory = p->past_memory + r->size * (size_t)(i * wide);
    if (r->backward) add_elements(r, past, p->product + (size_t)i * each, r->units); /* its product has u columns */
    if (row->dmemory) {
        add_elements(r, row->dmemory, past_memory, wide);
        row->dmemory = past_memory;
    }
    if (left_out) {
        leave_out(r, row, past);
        return;
    }
    cell(row);
    memset(past, 0, each);
    memset(past_memory, 0, r->size * (size_t)wide);
}

/* Runs step T of COUNT rows from FIRST on. PAST is the step before; -1: there is none. */
static void run_step(const mst_recurrence *r, int64_t first, int64_t count, const parts *p, int64_t t, int64_t past) {
    const mst_cell_function *functions = r->backward ? r->cell->backward : r->cell->forward;
    const mst_cell_function cell = functions[r->size == sizeof(double)];
    for (int64_t i = 0; i < count; i++) {
        mst_cell_row row = cell_row(r, p, first + i, i, t, past);
        if (r->mask)
            masked_cell(r, cell, &row, p, i, is_left_out(r, first + i, t));
        else
            cell(&row);
    }
}

/* Runs all steps of COUNT rows from FIRST on. */
static mst_status run_rows(const mst_recurrence *r, int64_t first, int64_t count, int thread, const parts *p) {
    const bool reverse = ((const mst_recurrent_options *)r->args->options)->reverse;
    const mst_array *factor = r->backward ? &r->args->dst[r->cell->has_bias ? 2 : 0] : &r->args->dst[0];
    int64_t inner, columns;
    mst_recurrence_product_shape(r, &inner, &columns);
    memset(p->product, 0, r->size * (size_t)(count * columns));
    memset(p->carry, 0, r->size * (size_t)(count * r->units));
    if (r->mask) {
        memset(p->past, 0, r->size * (size_t)(count * r->units));
        memset(p->past_memory, 0, r->size * (size_t)(count * r->units * r->cell->memory));
    }
    memset(p->zeros, 0, r->size * (size_t)(r->units * r->cell->memory));
    for (int64_t k = 0; k < r->steps; k++) {
        const int64_t s = r->backward ? r->steps - 1 - k : k; /* the step, in the cell's direction; T is its index */
        const int64_t t = reverse ? r->steps - 1 - s : s, past = s == 0 ? -1 : reverse ? t + 1 : t - 1;
        run_step(r, first, count, p, t, past);
        if (k + 1 < r->steps) MST_TRY(r->product(r, first, count, thread, p->scratch, at(r, factor, 0, t), p->product));
    }
    return MST_OK;
}

static mst_status run_chunks(void *context, int64_t begin, int64_t end, int thread) {
    const mst_recurrence *r = context;
    parts p;
    const size_t bytes = lay_out_steps(r, r->args->workspace, &p); /* of one thread */
    lay_out_steps(r, (char *)r->args->workspace + bytes * (size_t)thread, &p);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t first = chunk * r->chunk, left = r->rows - first;
        MST_TRY(run_rows(r, first, left < r->chunk ? left : r->chunk, thread, &p));
    }
    return MST_OK;
}

mst_status mst_recurrence_run(mst_recurrence *r, const mst_kernel_args *a) {
    const mst_array *last = &a->src[a->num_src - 1];
    r->args = a;
    r->mask = a->num_src > (r->backward ? 4 : num_sources(r->cell)) && last->shape.ndim == 2 ? last->data : NULL;
    if (a->dst[0].count == 0) return MST_OK;
    return mst_parallel(a, (r->rows + r->chunk - 1) / r->chunk, 1, run_chunks, r);
}

size_t mst_recurrent_workspace(const mst_infer *c, int num_threads) {
    bool backward;
    const mst_cell *cell = mst_cell_of(c->op->name, &backward);
    const mst_shape shapes[] = {c->src[0].shape, c->src[1].shape};
    const mst_recurrence r = mst_recurrence_make(cell, backward, shapes, c->src[0].dtype);
    return mst_recurrence_workspace(&r, num_threads);
}

mst_status mst_recurrent_reference(const mst_kernel_args *a) {
    bool backward;
    const mst_cell *cell = mst_cell_of(a->op->name, &backward);
    const mst_shape shapes[] = {a->src[0].shape, a->src[1].shape};
    mst_recurrence r = mst_recurrence_make(cell, backward, shapes, a->src[0].dtype);
    return mst_recurrence_run(&r, a);
}

/* ---- gradients ---- */

mst_value mst_recurrent_call(const mst_op *op, const mst_cell *cell, mst_value *sources, mst_value mask,
                             const mst_recurrent_options *options) {
    const int without = num_sources(cell);
    const bool has_mask = !mst_value_is_none(mask);
    if (has_mask) sources[without] = mask;
    return mst_call(NULL, op, without + has_mask, sources, options);
}

mst_value mst_recurrent_grad_call(const mst_grad *c, const mst_cell *cell, const mst_op *grad) {
    const bool only_memory = mst_value_is_none(c->ddst[0]), has_memory = !mst_value_is_none(c->ddst[1]);
    const int without = num_sources(cell);
    mst_value sources[] = {mst_transpose(c->src[1]),
                           c->dst[0],
                           c->dst[1],
                           only_memory ? mst_zeros_like(c->dst[0]) : c->ddst[0],
                           c->ddst[1],
                           MST_NONE};
    int count = has_memory ? 5 : 4;
    if (c->num_src > without) sources[count++] = c->src[without];
    return mst_call(NULL, grad, count, sources, c->options);
}

mst_value mst_recurrent_kernel_grad(mst_value previous, mst_value gradient, const mst_grad *c) {
    const mst_shape shape = mst_value_spec(c->src[1]).shape;
    if (shape.dim[0] <= 0 || shape.dim[1] <= 0) /* a reshape needs known sizes that are not 0 */
        return mst_reduce_sum(mst_matmul(previous, gradient, .transpose_a = true), .axes = MST_AXES(0));
    return mst_matmul(mst_reshape(previous, MST_SHAPE(-1, shape.dim[0])),
                      mst_reshape(gradient, MST_SHAPE(-1, shape.dim[1])), .transpose_a = true);
}

mst_value mst_recurrent_no_second(mst_grad *c, int i) {
    (void)i;
    return mst_value_fail(c->graph, MST_UNIMPLEMENTED,
                          "%s: has no gradient of its own: recurrent layers are "
                          "differentiated once",
                          c->op->name);
}
