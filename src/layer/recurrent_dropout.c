/* Dropout inside of recurrent layers. The ops of lstm, gru and simple_rnn have no masks for the state. So a training
 * step with recurrent_dropout is a scan of ordinary ops with the same formulas. */
#include "layer/affine.h"
#include "layer/recurrent.h"
#include "muster/ops.h"

/* A dropout mask for all steps of SRC, [n, steps, ...]: [n, 1, ...] in SRC's dtype, 0 with the probability RATE, else
 * 1 / (1 - RATE). */
static mst_value mask_of_steps(mst_value src, float rate) {
    const mst_value step =
        mst_strided_slice(src, .begin = MST_AXES(0, 0), .end = MST_AXES(0, 1), .begin_mask = 1, .end_mask = 1);
    return mst_dropout_with((mst_dropout_options){.src = mst_ones_like(step), .rate = rate});
}

mst_value mst_recurrent_source(const mst_layer_call *call, float rate) {
    const mst_value src = call->src[0];
    return call->training && rate > 0 ? mst_mul(src, mask_of_steps(src, rate)) : src;
}

static int num_parts(const mst_recurrent_dropping *d) {
    return d->cell == MST_RECURRENT_LSTM ? 4 : d->cell == MST_RECURRENT_GRU ? 3 : 1;
}

/* Columns of part K of X, whose last dimension has UNITS columns for each part. */
static mst_value part(const mst_recurrent_dropping *d, mst_value x, int k) {
    const int ndim = mst_value_spec(x).shape.ndim;
    mst_axes begin = {.count = ndim}, end = {.count = ndim};
    const int whole = (1 << (ndim - 1)) - 1; /* the dimensions before the last */
    if (num_parts(d) == 1 || mst_value_is_none(x)) return x;
    begin.axis[ndim - 1] = (int32_t)(k * d->units);
    end.axis[ndim - 1] = (int32_t)((k + 1) * d->units);
    return mst_strided_slice(x, .begin = begin, .end = end, .begin_mask = whole, .end_mask = whole);
}

/* src kernel + bias, with a mask of its own for each part: [n, steps, parts * units] */
static mst_value inputs_of_all(const mst_layer_call *call, const mst_recurrent_dropping *d) {
    mst_value parts[4];
    if (!(d->dropout > 0)) return mst_affine(call->src[0], d->kernel, d->bias, MST_PRECISION_DEFAULT);
    for (int k = 0; k < num_parts(d); k++)
        parts[k] = mst_affine(mst_recurrent_source(call, d->dropout), part(d, d->kernel, k), part(d, d->bias, k),
                              MST_PRECISION_DEFAULT);
    return num_parts(d) == 1 ? parts[0] : mst_concat(parts, num_parts(d), -1);
}

/* ---- one step ---- */

static mst_value activated(mst_cell_activation activation, mst_value x) {
    switch (activation) {
        case MST_CELL_SIGMOID: return mst_sigmoid(x);
        case MST_CELL_RELU: return mst_relu(x);
        case MST_CELL_LINEAR: return x;
        default: return mst_tanh(x);
    }
}

/* Part K of the product of the masked state with the recurrent kernel. Parts are i, f, c, o of lstm, or z, r, h of
 * gru. */
static mst_value product(const mst_recurrent_dropping *d, const mst_loop_step *s, int k) {
    return mst_matmul(mst_mul(s->carry[0], part(d, s->captured[1], k)), part(d, s->captured[0], k));
}

static void lstm_step(const mst_recurrent_dropping *d, mst_loop_step *s) {
    mst_value gate[4];
    for (int k = 0; k < 4; k++)
        gate[k] =
            activated(k == 2 ? d->activation : d->recurrent_activation, mst_add(part(d, s->x[0], k), product(d, s, k)));
    s->next[1] = mst_add(mst_mul(gate[1], s->carry[1]), mst_mul(gate[0], gate[2]));
    s->next[0] = mst_mul(gate[3], activated(d->activation, s->next[1]));
}

static void gru_step(const mst_recurrent_dropping *d, mst_loop_step *s) {
    mst_value products[3], gate[2];
    for (int k = 0; k < 3; k++) products[k] = mst_add(product(d, s, k), part(d, s->captured[2], k));
    for (int k = 0; k < 2; k++) gate[k] = activated(d->recurrent_activation, mst_add(part(d, s->x[0], k), products[k]));
    const mst_value candidate = activated(d->activation, mst_add(part(d, s->x[0], 2), mst_mul(gate[1], products[2])));
    s->next[0] = mst_add(mst_mul(gate[0], mst_sub(s->carry[0], candidate)), candidate);
}

/* One step of the scan. `x` has this step's part of the inputs, and of the mask if there is one. `captured` has the
 * recurrent kernel, the dropout masks of the state, and the recurrent bias of a gru. */
static void cell_step(mst_loop_step *s) {
    const mst_recurrent_dropping *d = s->context;
    if (d->cell == MST_RECURRENT_LSTM)
        lstm_step(d, s);
    else if (d->cell == MST_RECURRENT_GRU)
        gru_step(d, s);
    else
        s->next[0] = activated(d->activation, mst_add(s->x[0], product(d, s, 0)));
    for (int i = 0; i < (d->cell == MST_RECURRENT_LSTM ? 2 : 1) && !mst_value_is_none(s->x[1]); i++) {
        const mst_value counts = mst_expand_dims(mst_greater(s->x[1], mst_zeros_like(s->x[1])), 1);
        s->next[i] = mst_select(counts, s->next[i], s->carry[i]);
    }
    s->y[0] = s->next[0];
}

/* [n, steps, ...] with the first two dimensions exchanged */
static mst_value steps_first(mst_value x) {
    if (mst_value_is_none(x)) return x;
    return mst_transpose(x, mst_value_spec(x).shape.ndim == 2 ? MST_AXES(1, 0) : MST_AXES(1, 0, 2));
}

mst_value mst_recurrent_dropped(const mst_layer_call *call, const mst_recurrent_dropping *dropping) {
    const mst_value inputs = inputs_of_all(call, dropping);
    const mst_value ones = mask_of_steps(inputs, dropping->recurrent_dropout); /* [n, 1, parts * units] */
    const mst_value masks = mst_squeeze(ones, MST_AXES(1));
    const mst_value state = mst_zeros_like(part(dropping, masks, 0));
    mst_scan_options o = {.body = cell_step,
                          .carry = {state},
                          .x = {steps_first(inputs), steps_first(mst_recurrent_mask(call))},
                          .captured = {dropping->recurrent, masks},
                          .reverse = dropping->reverse,
                          .context = (void *)(uintptr_t)dropping};
    if (dropping->cell == MST_RECURRENT_LSTM) o.carry[1] = state;
    if (dropping->cell == MST_RECURRENT_GRU) o.captured[2] = dropping->recurrent_bias;
    const mst_value last = mst_scan_with(o);
    return steps_first(mst_value_output(last, dropping->cell == MST_RECURRENT_LSTM ? 2 : 1));
}
