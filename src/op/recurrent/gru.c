/** gru: the outputs h of a GRU over the steps of a sequence. x = src[:, t] and p = h[t-1] recurrent + bias have three
 *  parts each, z, r and c:
 *
 *      z = recurrent_activation(x_z + p_z),  r = recurrent_activation(x_r + p_r),  c = activation(x_c + r p_c)
 *      h[t] = z h[t-1] + (1 - z) c
 *
 *  src                   f32 or f64, [n, steps, 3 units]: the inputs times the input kernel, plus the input bias
 *  recurrent             src's dtype, [units, 3 units]
 *  bias                  src's dtype, [3 units], added to the product with recurrent
 *  activation            default tanh
 *  recurrent_activation  default sigmoid
 *  mask                  optional: src's dtype, [n, steps]. Steps where it is 0 are skipped: their outputs are those of
 *                        the step before
 *  reverse               from the last step to the first
 *  h                     output 0, [n, steps, units]
 *  memory                output 1, [n, steps, 4 units]: z, r, c and p_c of each step
 *
 *  h is 0 before the first step. From https://arxiv.org/abs/1406.1078v1. The gates have Keras' order, and the result
 *  equals Keras' GRU with reset_after=True.
 */
#ifdef MST_OP_HEADER
typedef struct mst_gru_options {
    int zero_;
    mst_value src;
    mst_value recurrent;
    mst_value bias;
    mst_cell_activation activation;
    mst_cell_activation recurrent_activation;
    bool reverse;
    mst_value mask;
} mst_gru_options;
/** Returns output 0, h; the memory is mst_value_output(value, 1). */
MST_API mst_value mst_gru_with(mst_gru_options options);
#define mst_gru(...) mst_gru_with(MST_NAMED_3(mst_gru_options, src, recurrent, bias, __VA_ARGS__))
#endif
#include <string.h>

#include "op/list.h"
#include "op/op.h"
#include "op/recurrent/recurrent.h"

#define MST_TEMPLATE "op/recurrent/gru_cell.inc"
#include "op/recurrent/cells.inc"

static void gru_lower_forward(mst_lower *l, mst_cell_step *s) {
    const mst_hlo p = mst_hlo_binary(l, "add", s->product, s->bias), inner = mst_cell_parts(l, s, p, 2, 1);
    const mst_hlo x_zr = mst_cell_parts(l, s, s->src, 0, 2), x_c = mst_cell_parts(l, s, s->src, 2, 1);
    const mst_hlo gates = mst_hlo_binary(l, "add", x_zr, mst_cell_parts(l, s, p, 0, 2));
    const mst_hlo z_r = mst_cell_activate(l, s->recurrent_activation, gates);
    const mst_hlo z = mst_cell_parts(l, s, z_r, 0, 1), r = mst_cell_parts(l, s, z_r, 1, 1);
    const mst_hlo candidate = mst_hlo_binary(l, "add", x_c, mst_hlo_binary(l, "multiply", r, inner));
    const mst_hlo c = mst_cell_activate(l, s->activation, candidate);
    const mst_hlo rest = mst_hlo_binary(l, "subtract", mst_hlo_number_like(l, z, 1), z);
    s->h =
        mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", z, s->h_before), mst_hlo_binary(l, "multiply", rest, c));
    s->memory = mst_hlo_concat(l, 3, (const mst_hlo[]){z_r, c, inner}, 1);
}

/* The same computation as gru_backward. dp is the gradient of p_c; dh z is carried to the step before. */
static void gru_lower_backward(mst_lower *l, mst_cell_step *s) {
    const mst_hlo z = mst_cell_parts(l, s, s->memory, 0, 1), r = mst_cell_parts(l, s, s->memory, 1, 1);
    const mst_hlo c = mst_cell_parts(l, s, s->memory, 2, 1), inner = mst_cell_parts(l, s, s->memory, 3, 1);
    const mst_hlo rest = mst_hlo_binary(l, "subtract", mst_hlo_number_like(l, z, 1), z);
    const mst_hlo dh = mst_hlo_binary(l, "add", mst_hlo_binary(l, "add", s->dh, s->product), s->carry);
    mst_hlo dz = mst_hlo_binary(l, "multiply", dh, mst_hlo_binary(l, "subtract", s->h_before, c));
    mst_hlo dc = mst_hlo_binary(l, "multiply", dh, rest);
    if (s->dmemory.id) dc = mst_hlo_binary(l, "add", dc, mst_cell_parts(l, s, s->dmemory, 2, 1));
    dc = mst_cell_slope(l, s->activation, c, dc);
    mst_hlo dr = mst_hlo_binary(l, "multiply", dc, inner), dp = mst_hlo_binary(l, "multiply", dc, r);
    if (s->dmemory.id) {
        dz = mst_hlo_binary(l, "add", dz, mst_cell_parts(l, s, s->dmemory, 0, 1));
        dr = mst_hlo_binary(l, "add", dr, mst_cell_parts(l, s, s->dmemory, 1, 1));
        dp = mst_hlo_binary(l, "add", dp, mst_cell_parts(l, s, s->dmemory, 3, 1));
    }
    dz = mst_cell_slope(l, s->recurrent_activation, z, dz);
    dr = mst_cell_slope(l, s->recurrent_activation, r, dr);
    s->carry = mst_hlo_binary(l, "multiply", dh, z);
    s->dsrc = mst_hlo_concat(l, 3, (const mst_hlo[]){dz, dr, dc}, 1);
    s->dproduct = mst_hlo_concat(l, 3, (const mst_hlo[]){dz, dr, dp}, 1);
}

const mst_cell mst_cell_gru = {.gates = 3,
                               .memory = 4,
                               .has_bias = true,
                               .forward = {gru_forward_f32, gru_forward_f64},
                               .backward = {gru_backward_f32, gru_backward_f64},
                               .lower_forward = gru_lower_forward,
                               .lower_backward = gru_lower_backward};

static mst_status gru_infer(mst_infer *c) {
    return mst_recurrent_infer(c, &mst_cell_gru);
}

static mst_value gru_grad(mst_grad *c, int i) {
    if (i == 3) return MST_NONE; /* the mask */
    const mst_value dsrc = mst_recurrent_grad_call(c, &mst_cell_gru, &mst_op_gru_grad),
                    dproduct = mst_value_output(dsrc, 2);
    if (i == 0) return dsrc;
    if (i == 2) return mst_reduce_sum(dproduct, .axes = MST_AXES(0, 1));
    return mst_recurrent_kernel_grad(mst_value_output(dsrc, 1), dproduct, c);
}

#define SOURCE(n, steps, units)                     \
    {                                               \
        .ndim = 3, .dim = { n, steps, 3 * (units) } \
    }
#define RECURRENT(units)                         \
    {                                            \
        .ndim = 2, .dim = { units, 3 * (units) } \
    }
#define BIAS(units)                       \
    {                                     \
        .ndim = 1, .dim = { 3 * (units) } \
    }

static const double mask_values[] = {1, 0, 1, 0, 1, 1};
#define MASK(n, steps) \
    { .ndim = 2, .dim = {n, steps}, .value = mask_values, .no_grad = true }

static const mst_example gru_examples[] = {
    {.name = "with a mask", .num_src = 4, .src = {SOURCE(2, 3, 2), RECURRENT(2), BIAS(2), MASK(2, 3)}},
    {.name = "with a mask, reversed",
     .num_src = 4,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), BIAS(2), MASK(2, 3)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "a mask of other steps",
     .num_src = 4,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), BIAS(2), MASK(3, 2)},
     .fails = MST_INVALID},
    /* Step 0: p = 1, 1, 1, so z = 3, r = 4, c = 2 + 4 * 1 = 6 and h = (1 - 3) * 6 = -12.
     * Step 1: p = -11, 1, -23, so z = -10, r = 2, c = 7 + 2 * -23 = -39 and h = -10 * -12 + 11 * -39 = -309. */
    {.name = "linear, one unit",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {1, 2, 3}, .value = (const double[]){2, 3, 2, 1, 1, 7}},
             {.ndim = 2, .dim = {1, 3}, .value = (const double[]){1, 0, 2}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){1, 1, 1}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR, .recurrent_activation = MST_CELL_LINEAR},
     .expect = {(const double[]){-12, -309}, (const double[]){3, 4, 6, 1, -10, 2, -39, -23}}},
    {.name = "rows and units", .num_src = 3, .src = {SOURCE(3, 4, 3), RECURRENT(3), BIAS(3)}},
    {.name = "reversed",
     .num_src = 3,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), BIAS(2)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "other activations",
     .num_src = 3,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), BIAS(2)},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_SIGMOID, .recurrent_activation = MST_CELL_TANH}},
    {.name = "a bias of other units",
     .num_src = 3,
     .src = {SOURCE(2, 3, 2), RECURRENT(2), BIAS(4)},
     .fails = MST_INVALID},
    {.name = "units that differ", .num_src = 3, .src = {SOURCE(2, 3, 4), RECURRENT(2), BIAS(2)}, .fails = MST_INVALID},
};

const mst_op mst_op_gru = {
    .name = "gru",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .fields = mst_recurrent_fields,
    .options_size = sizeof(mst_recurrent_options),
    .infer = gru_infer,
    .grad = gru_grad,
    .workspace = mst_recurrent_workspace,
    .reference = mst_recurrent_reference,
    .lower = mst_recurrent_lower,
    MST_EXAMPLES(gru_examples),
};

mst_value mst_gru_with(mst_gru_options o) {
    const mst_recurrent_options options = {0, (int)o.activation, (int)o.recurrent_activation, o.reverse};
    mst_value sources[] = {o.src, o.recurrent, o.bias, MST_NONE};
    return mst_recurrent_call(&mst_op_gru, &mst_cell_gru, sources, o.mask, &options);
}
