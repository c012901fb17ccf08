/** simple_rnn: the outputs h over the steps of a sequence: h[t] = activation(src[:, t] + h[t-1] recurrent)
 *
 *  src         f32 or f64, [n, steps, units]: the inputs times the input kernel, plus the bias
 *  recurrent   src's dtype, [units, units]
 *  activation  default tanh
 *  mask        optional: src's dtype, [n, steps]. Steps where it is 0 are skipped: their outputs are those of the step
 *              before
 *  reverse     from the last step to the first
 *  h           output 0, [n, steps, units]
 *  memory      output 1: numbers of each step that the gradient needs; in this cell the same as h
 *
 *  h is 0 before the first step. J. L. Elman, "Finding structure in time", 1990,
 *  https://doi.org/10.1207/s15516709cog1402_1
 */
#ifdef MST_OP_HEADER
typedef struct mst_simple_rnn_options {
    int zero_;
    mst_value src;
    mst_value recurrent;
    mst_cell_activation activation;
    bool reverse;
    mst_value mask;
} mst_simple_rnn_options;
/** Returns output 0, h. */
MST_API mst_value mst_simple_rnn_with(mst_simple_rnn_options options);
#define mst_simple_rnn(...) mst_simple_rnn_with(MST_NAMED_2(mst_simple_rnn_options, src, recurrent, __VA_ARGS__))
#endif
#include <string.h>

#include "op/list.h"
#include "op/op.h"
#include "op/recurrent/recurrent.h"

/* defines simple_rnn_forward_f32 and _f64, simple_rnn_backward_f32 and _f64 */
#define MST_TEMPLATE "op/recurrent/simple_rnn_cell.inc"
#include "op/recurrent/cells.inc"

static void simple_rnn_lower_forward(mst_lower *l, mst_cell_step *s) {
    s->h = s->memory = mst_cell_activate(l, s->activation, mst_hlo_binary(l, "add", s->src, s->product));
}

static void simple_rnn_lower_backward(mst_lower *l, mst_cell_step *s) {
    mst_hlo dh = mst_hlo_binary(l, "add", s->dh, s->product);
    if (s->dmemory.id) dh = mst_hlo_binary(l, "add", dh, s->dmemory);
    s->dsrc = s->dproduct = mst_cell_slope(l, s->activation, s->memory, dh);
}

const mst_cell mst_cell_simple_rnn = {.gates = 1,
                                      .memory = 1,
                                      .forward = {simple_rnn_forward_f32, simple_rnn_forward_f64},
                                      .backward = {simple_rnn_backward_f32, simple_rnn_backward_f64},
                                      .lower_forward = simple_rnn_lower_forward,
                                      .lower_backward = simple_rnn_lower_backward};

static mst_status simple_rnn_infer(mst_infer *c) {
    return mst_recurrent_infer(c, &mst_cell_simple_rnn);
}

static mst_value simple_rnn_grad(mst_grad *c, int i) {
    if (i == 2) return MST_NONE; /* the mask */
    const mst_value dsrc = mst_recurrent_grad_call(c, &mst_cell_simple_rnn, &mst_op_simple_rnn_grad);
    const mst_value h_before = mst_value_output(dsrc, 1); /* h one step before */
    return i == 0 ? dsrc : mst_recurrent_kernel_grad(h_before, dsrc, c);
}

#define SOURCE(n, steps, units)               \
    {                                         \
        .ndim = 3, .dim = { n, steps, units } \
    }
#define RECURRENT(units)                   \
    {                                      \
        .ndim = 2, .dim = { units, units } \
    }

static const double mask_values[] = {1, 0, 1, 0, 1, 1}; /* 0: the step is skipped */
#define MASK(n, steps) \
    { .ndim = 2, .dim = {n, steps}, .value = mask_values, .no_grad = true }

static const mst_example simple_rnn_examples[] = {
    {.name = "with a mask, linear", /* row 0 skips its step 1, row 1 its step 0 */
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {2, 3, 1}, .value = (const double[]){1, 9, 2, 9, 1, 2}},
             {.ndim = 2, .dim = {1, 1}, .value = (const double[]){3}},
             {.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 0, 1, 0, 1, 1}, .no_grad = true}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR},
     .expect = {(const double[]){1, 1, 5, 0, 1, 5}, (const double[]){1, 1, 5, 0, 1, 5}}},
    {.name = "with a mask", .num_src = 3, .src = {SOURCE(2, 3, 2), RECURRENT(2), MASK(2, 3)}},
    {.name = "with a mask, reversed",
     .num_src = 3,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), MASK(2, 3)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "a mask of other steps",
     .num_src = 3,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), MASK(3, 2)},
     .fails = MST_INVALID},
    {.name = "linear", /* step 0: 1 2; step 1: 3 + 1 * 1 + 2 * 3, 4 + 1 * 2 + 2 * 4 */
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR},
     .expect = {(const double[]){1, 2, 10, 14}, (const double[]){1, 2, 10, 14}}},
    {.name = "reversed, linear", /* step 1: 3 4; step 0: 1 + 3 * 1 + 4 * 3, 2 + 3 * 2 + 4 * 4 */
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR, .reverse = true},
     .expect = {(const double[]){16, 24, 3, 4}, (const double[]){16, 24, 3, 4}}},
    {.name = "one step",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){1}},
             {.ndim = 2, .dim = {1, 1}, .value = (const double[]){7}}},
     .expect = {(const double[]){0.76159415595576489}, (const double[]){0.76159415595576489}}},
    {.name = "rows and units", .num_src = 2, .src = {SOURCE(3, 4, 3), RECURRENT(3)}},
    {.name = "sigmoid",
     .num_src = 2,
     .src = {SOURCE(2, 3, 2), RECURRENT(2)},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_SIGMOID, .reverse = true}},
    {.name = "units that differ", .num_src = 2, .src = {SOURCE(2, 3, 3), RECURRENT(2)}, .fails = MST_INVALID},
    {.name = "a kernel that is no square",
     .num_src = 2,
     .src = {SOURCE(2, 3, 2), {.ndim = 2, .dim = {2, 4}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_simple_rnn = {
    .name = "simple_rnn",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .fields = mst_simple_rnn_fields,
    .options_size = sizeof(mst_recurrent_options),
    .infer = simple_rnn_infer,
    .grad = simple_rnn_grad,
    .workspace = mst_recurrent_workspace,
    .reference = mst_recurrent_reference,
    .lower = mst_recurrent_lower,
    MST_EXAMPLES(simple_rnn_examples),
};

mst_value mst_simple_rnn_with(mst_simple_rnn_options o) {
    const mst_recurrent_options options = {.activation = (int)o.activation, .reverse = o.reverse};
    mst_value sources[] = {o.src, o.recurrent, MST_NONE};
    return mst_recurrent_call(&mst_op_simple_rnn, &mst_cell_simple_rnn, sources, o.mask, &options);
}
