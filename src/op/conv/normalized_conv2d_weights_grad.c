/** normalized_conv2d_weights_grad: conv2d_weights_grad of the output of a batch norm
 *
 *  src         source of the batch norm
 *  weights     as conv2d's; only their shape is used
 *  gradient    of the output of the convolution
 *  terms       output 0 of batch_norm_statistics of src
 *  strides, padding, pads, dilations, groups, activation   as normalized_conv2d's
 *  dst         like weights
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status normalized_conv2d_weights_grad_infer(mst_infer *c) {
    MST_TRY(mst_op_conv2d_weights_grad.infer(c));
    return mst_infer_batch_terms(c, 3, MST_BATCH_TERMS, 0);
}

static mst_status normalized_conv2d_weights_grad_reference(const mst_kernel_args *a) {
    return mst_normalized_conv_run(a, 3, &mst_op_conv2d_weights_grad);
}

#define TERMS(n, ...)                                         \
    {                                                         \
        .ndim = 2, .dim = {3, n}, .value = (const double[]) { \
            __VA_ARGS__                                       \
        }                                                     \
    }

static const mst_example normalized_conv2d_weights_grad_examples[] = {
    {.name = "relu", /* the batch norm gives 0 0 0, 1 3 5 */
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.ndim = 4, .dim = {2, 2, 1, 1}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             TERMS(1, 4, 2, 1)},
     .expect = {(const double[]){0, 0, 26, 50}}},
    {.name = "strides and groups",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {2, 4, 5, 4}},
             {.ndim = 4, .dim = {2, 3, 2, 6}},
             {.ndim = 4, .dim = {2, 2, 2, 6}},
             TERMS(4, 0.5, -1, 0, 1, 1, 2, -1, 0.5, 0, 1, 2, -0.5)},
     .options =
         &(const mst_normalized_conv_options){
             .conv.strides = {.count = 1, .axis = {2}}, .conv.groups = 2, .activation = MST_BATCH_RELU6}},
    {.name = "one by one, many rows",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {5, 40, 40, 4}},
             {.ndim = 4, .dim = {1, 1, 4, 64}},
             {.ndim = 4, .dim = {5, 40, 40, 64}},
             TERMS(4, 0.5, -1, 0, 1, 1, 2, -1, 0.5, 0, 1, 2, -0.5)},
     .options = &(const mst_normalized_conv_options){.activation = MST_BATCH_LINEAR},
     .tolerance = 1e-3},
    {.name = "a gradient of another shape",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}},
             {.ndim = 4, .dim = {2, 2, 1, 1}},
             {.ndim = 4, .dim = {1, 1, 3, 1}},
             TERMS(1, 4, 2, 1)},
     .fails = MST_INVALID},
};

const mst_op mst_op_normalized_conv2d_weights_grad = {
    .name = "normalized_conv2d_weights_grad",
    .num_src = 4,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .shape_only = 2, /* the bit of weights */
    .fields = mst_normalized_conv_fields,
    .options_size = sizeof(mst_normalized_conv_options),
    .infer = normalized_conv2d_weights_grad_infer,
    .workspace = mst_normalized_conv_workspace,
    .reference = normalized_conv2d_weights_grad_reference,
    MST_EXAMPLES(normalized_conv2d_weights_grad_examples),
};
