/** lstm: the outputs h and states c of an LSTM over the steps of a sequence. x = src[:, t] + h[t-1] recurrent has four
 *  parts, i, f, g and o:
 *
 *      i = recurrent_activation(x_i),  f and o likewise,  g = activation(x_g)
 *      c[t] = f c[t-1] + i g,  h[t] = o activation(c[t])
 *
 *  src                   f32 or f64, [n, steps, 4 units]: the inputs times the input kernel, plus the bias
 *  recurrent             src's dtype, [units, 4 units]
 *  activation            default tanh
 *  recurrent_activation  default sigmoid
 *  mask                  optional: src's dtype, [n, steps]. Steps where it is 0 are skipped: their outputs are those of
 *                        the step before
 *  reverse               from the last step to the first
 *  h                     output 0, [n, steps, units]
 *  memory                output 1, [n, steps, 5 units]: i, f, g, o and c of each step
 *
 *  h and c are 0 before the first step. https://doi.org/10.1162/neco.1997.9.8.1735, with Keras' order of gates.
 */
#ifdef MST_OP_HEADER
typedef struct mst_lstm_options {
    int zero_;
    mst_value src;
    mst_value recurrent;
    mst_cell_activation activation;
    mst_cell_activation recurrent_activation;
    bool reverse;
    mst_value mask;
} mst_lstm_options;
/** Returns output 0, h; the memory is mst_value_output(value, 1). */
MST_API mst_value mst_lstm_with(mst_lstm_options options);
#define mst_lstm(...) mst_lstm_with(MST_NAMED_2(mst_lstm_options, src, recurrent, __VA_ARGS__))
#endif
#include <string.h>

#include "op/list.h"
#include "op/op.h"
#include "op/recurrent/recurrent.h"

#define MST_TEMPLATE "op/recurrent/lstm_cell.inc"
#include "op/recurrent/cells.inc"

static void lstm_lower_forward(mst_lower *l, mst_cell_step *s) {
    const mst_hlo all = mst_hlo_binary(l, "add", s->src, s->product);
    const mst_hlo i_f = mst_cell_activate(l, s->recurrent_activation, mst_cell_parts(l, s, all, 0, 2));
    const mst_hlo g = mst_cell_activate(l, s->activation, mst_cell_parts(l, s, all, 2, 1));
    const mst_hlo o = mst_cell_activate(l, s->recurrent_activation, mst_cell_parts(l, s, all, 3, 1));
    const mst_hlo i = mst_cell_parts(l, s, i_f, 0, 1), f = mst_cell_parts(l, s, i_f, 1, 1);
    const mst_hlo kept = mst_hlo_binary(l, "multiply", f, mst_cell_parts(l, s, s->memory_before, 4, 1));
    const mst_hlo c = mst_hlo_binary(l, "add", kept, mst_hlo_binary(l, "multiply", i, g));
    s->h = mst_hlo_binary(l, "multiply", o, mst_cell_activate(l, s->activation, c));
    s->memory = mst_hlo_concat(l, 4, (const mst_hlo[]){i_f, g, o, c}, 1);
}

/* The same computation as lstm_backward. y = activation(c); dc is carried to the step before. */
static void lstm_lower_backward(mst_lower *l, mst_cell_step *s) {
    const mst_hlo i = mst_cell_parts(l, s, s->memory, 0, 1), f = mst_cell_parts(l, s, s->memory, 1, 1);
    const mst_hlo g = mst_cell_parts(l, s, s->memory, 2, 1), o = mst_cell_parts(l, s, s->memory, 3, 1);
    const mst_hlo y = mst_cell_activate(l, s->activation, mst_cell_parts(l, s, s->memory, 4, 1));
    const mst_hlo c_before = mst_cell_parts(l, s, s->memory_before, 4, 1);
    const mst_hlo dh = mst_hlo_binary(l, "add", s->dh, s->product);
    const mst_hlo through = mst_cell_slope(l, s->activation, y, mst_hlo_binary(l, "multiply", dh, o));
    mst_hlo dc = mst_hlo_binary(l, "add", s->carry, through);
    if (s->dmemory.id) dc = mst_hlo_binary(l, "add", dc, mst_cell_parts(l, s, s->dmemory, 4, 1));
    mst_hlo gate[] = {mst_hlo_binary(l, "multiply", dc, g), mst_hlo_binary(l, "multiply", dc, c_before),
                      mst_hlo_binary(l, "multiply", dc, i), mst_hlo_binary(l, "multiply", dh, y)};
    const mst_hlo value[] = {i, f, g, o};
    for (int k = 0; k < 4; k++) {
        if (s->dmemory.id) gate[k] = mst_hlo_binary(l, "add", gate[k], mst_cell_parts(l, s, s->dmemory, k, 1));
        gate[k] = mst_cell_slope(l, k == 2 ? s->activation : s->recurrent_activation, value[k], gate[k]);
    }
    s->carry = mst_hlo_binary(l, "multiply", dc, f);
    s->dsrc = s->dproduct = mst_hlo_concat(l, 4, gate, 1);
}

const mst_cell mst_cell_lstm = {.gates = 4,
                                .memory = 5,
                                .reads_memory = true,
                                .forward = {lstm_forward_f32, lstm_forward_f64},
                                .backward = {lstm_backward_f32, lstm_backward_f64},
                                .lower_forward = lstm_lower_forward,
                                .lower_backward = lstm_lower_backward};

static mst_status lstm_infer(mst_infer *c) {
    return mst_recurrent_infer(c, &mst_cell_lstm);
}

static mst_value lstm_grad(mst_grad *c, int i) {
    if (i == 2) return MST_NONE; /* the mask */
    const mst_value dsrc = mst_recurrent_grad_call(c, &mst_cell_lstm, &mst_op_lstm_grad);
    return i == 0 ? dsrc : mst_recurrent_kernel_grad(mst_value_output(dsrc, 1), dsrc, c);
}

#define SOURCE(n, steps, wide)               \
    {                                        \
        .ndim = 3, .dim = { n, steps, wide } \
    }
#define RECURRENT(units, wide)            \
    {                                     \
        .ndim = 2, .dim = { units, wide } \
    }

static const double mask_values[] = {1, 0, 1, 0, 1, 1};
#define MASK(n, steps) \
    { .ndim = 2, .dim = {n, steps}, .value = mask_values, .no_grad = true }

static const mst_example lstm_examples[] = {
    {.name = "with a mask", .num_src = 3, .src = {SOURCE(2, 3, 8), RECURRENT(2, 8), MASK(2, 3)}},
    {.name = "with a mask, reversed",
     .num_src = 3,
     .src = {SOURCE(2, 3, 8), RECURRENT(2, 8), MASK(2, 3)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "a mask of other steps",
     .num_src = 3,
     .src = {SOURCE(2, 3, 8), RECURRENT(2, 8), MASK(3, 2)},
     .fails = MST_INVALID},
    {.name = "linear, one unit", /* i f g o: step 0: 1 2 3 2, so c = 3, h = 6; step 1: 7 2 1 1, so c = 2 * 3 + 7 = 13 */
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 2, 4}, .value = (const double[]){1, 2, 3, 2, 1, 2, 1, 13}},
             {.ndim = 2, .dim = {1, 4}, .value = (const double[]){1, 0, 0, -2}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR, .recurrent_activation = MST_CELL_LINEAR},
     .expect = {(const double[]){6, 13}, (const double[]){1, 2, 3, 2, 3, 7, 2, 1, 1, 13}}},
    {.name = "one step", /* s = sigmoid(0) = 1/2: c = tanh(1) / 2, h = tanh(c) / 2 */
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 1, 4}, .value = (const double[]){0, 0, 1, 0}},
             {.ndim = 2, .dim = {1, 4}, .value = (const double[]){1, 1, 1, 1}}},
     .expect = {(const double[]){0.18169974219452625},
                (const double[]){0.5, 0.5, 0.76159415595576489, 0.5, 0.38079707797788244}}},
    {.name = "rows and units", .num_src = 2, .src = {SOURCE(3, 4, 12), RECURRENT(3, 12)}},
    {.name = "reversed",
     .num_src = 2,
     .src = {SOURCE(2, 3, 8), RECURRENT(2, 8)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "other activations",
     .num_src = 2,
     .src = {SOURCE(2, 3, 8), RECURRENT(2, 8)},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_SIGMOID, .recurrent_activation = MST_CELL_TANH}},
    {.name = "relu",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 3, 8}, .low = 0.5, .high = 1}, {.ndim = 2, .dim = {2, 8}, .low = 0.1, .high = 0.3}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_RELU}},
    {.name = "units that differ", .num_src = 2, .src = {SOURCE(2, 3, 8), RECURRENT(3, 12)}, .fails = MST_INVALID},
    {.name = "no four gates", .num_src = 2, .src = {SOURCE(2, 3, 6), RECURRENT(2, 6)}, .fails = MST_INVALID},
    {.name = "a source of two dimensions",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 8}}, RECURRENT(2, 8)},
     .fails = MST_INVALID},
};

const mst_op mst_op_lstm = {
    .name = "lstm",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .fields = mst_recurrent_fields,
    .options_size = sizeof(mst_recurrent_options),
    .infer = lstm_infer,
    .grad = lstm_grad,
    .workspace = mst_recurrent_workspace,
    .reference = mst_recurrent_reference,
    .lower = mst_recurrent_lower,
    MST_EXAMPLES(lstm_examples),
};

mst_value mst_lstm_with(mst_lstm_options o) {
    const mst_recurrent_options options = {0, (int)o.activation, (int)o.recurrent_activation, o.reverse};
    mst_value sources[] = {o.src, o.recurrent, MST_NONE};
    return mst_recurrent_call(&mst_op_lstm, &mst_cell_lstm, sources, o.mask, &options);
}
