/** fused_batch_norm: dst = activation(batch_norm(src))
 *
 *  src, gamma, beta  as batch_norm's
 *  epsilon           as batch_norm's
 *  activation        relu, relu6, or linear for none
 *  dst               output 0, like src
 *  mean, variance    outputs 1 and 2, as batch_norm's
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include <math.h>

#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

const char *const mst_batch_activations[] = {"relu", "relu6", "linear", NULL};

const mst_field mst_fused_batch_norm_fields[] = {
    MST_FIELD_F64(mst_fused_batch_norm_options, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    MST_FIELD_ENUM(mst_fused_batch_norm_options, activation, MST_BATCH_RELU, mst_batch_activations, "applied last"),
    MST_FIELD_END,
};

mst_batch_limits mst_batch_limits_for(int activation) {
    return (mst_batch_limits){activation == MST_BATCH_LINEAR ? -INFINITY : 0,
                              activation == MST_BATCH_RELU6 ? 6 : INFINITY};
}

static mst_status fused_batch_norm_infer(mst_infer *c) {
    return mst_op_batch_norm.infer(c);
}

static mst_status fused_batch_norm_reference(const mst_kernel_args *a) {
    const mst_fused_batch_norm_options *o = a->options;
    return mst_batch_norm_run(a, o->epsilon, mst_batch_limits_for(o->activation));
}

/* clang-format off */
#define CHANNELS(...) {.ndim = 1, .dim = {2}, .value = (const double[]){__VA_ARGS__}}
/* clang-format on */

static const mst_example fused_batch_norm_examples[] = {
    {.name = "relu",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 10, 5, 40}}, CHANNELS(12, 0), CHANNELS(3, -4)},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 5},
     .expect = {(const double[]){0, 0, 11, 0}, (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "relu6",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 10, 5, 40}}, CHANNELS(12, 0), CHANNELS(3, 4)},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 5, .activation = MST_BATCH_RELU6},
     .expect = {(const double[]){0, 4, 6, 4}, (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "pictures",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {2, 3, 3, 2}}, CHANNELS(0.5, -2), CHANNELS(1, 0)},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 0.1, .activation = MST_BATCH_RELU6}},
    {.name = "channels differ",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 3}}, CHANNELS(1, 1), CHANNELS(1, 1)},
     .fails = MST_INVALID},
};

const mst_op mst_op_fused_batch_norm = {
    .name = "fused_batch_norm",
    .num_src = 3,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_fused_batch_norm_fields,
    .options_size = sizeof(mst_fused_batch_norm_options),
    .infer = fused_batch_norm_infer,
    .workspace = mst_batch_norm_workspace,
    .reference = fused_batch_norm_reference,
    MST_EXAMPLES(fused_batch_norm_examples),
};
