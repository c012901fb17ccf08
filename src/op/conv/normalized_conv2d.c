/** normalized_conv2d: conv2d of the output of a batch norm
 *
 *  src         source of the batch norm, f32 or f64, [n, height, width, channels]
 *  weights     as conv2d's
 *  terms       output 0 of batch_norm_statistics of src
 *  strides, padding, pads, dilations, groups   as conv2d's; the output of the batch norm is padded, not src
 *  activation  applied to the output of the batch norm: relu, relu6, or linear for none
 *  dst         as conv2d's
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/conv/normalized_conv.h"

#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status normalized_conv2d_infer(mst_infer *c) {
    MST_TRY(mst_op_conv2d.infer(c));
    return mst_infer_batch_terms(c, 2, MST_BATCH_TERMS, 0);
}

static mst_status normalized_conv2d_reference(const mst_kernel_args *a) {
    return mst_normalized_conv_run(a, 2, &mst_op_conv2d);
}

/* clang-format off */
#define THREE_BY_THREE {.ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}}
#define TWO_BY_TWO {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}
#define TERMS(n, ...) {.ndim = 2, .dim = {3, n}, .value = (const double[]){__VA_ARGS__}}
#define RANDOM(a, b, c, d) {.ndim = 4, .dim = {a, b, c, d}}
/* clang-format on */

static const mst_example normalized_conv2d_examples[] = {
    {.name = "relu", /* the batch norm gives 0 0 0, 0 1 3, 5 7 9 */
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, TERMS(1, 5, 2, 1)},
     .expect = {(const double[]){4, 15, 45, 64}}},
    {.name = "relu6",
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, TERMS(1, 5, 2, 1)},
     .options = &(const mst_normalized_conv_options){.activation = MST_BATCH_RELU6},
     .expect = {(const double[]){4, 15, 41, 49}}},
    {.name = "linear, with zeros around", /* the batch norm gives -7 -5 -3, -1 1 3, 5 7 9 */
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, TERMS(1, 5, 2, 1)},
     .options = &(const mst_normalized_conv_options){.conv.pads = {.count = 4, .axis = {1, 0, 1, 0}},
                                                     .activation = MST_BATCH_LINEAR},
     .expect = {(const double[]){-28, -41, -27, -18, -16, 4, 18, 44, 64}}},
    {.name = "strides and groups",
     .num_src = 3,
     .src = {RANDOM(5, 6, 5, 4), RANDOM(3, 2, 2, 6), TERMS(4, 0.5, -1, 0, 1, 1, 2, -1, 0.5, 0, 1, 2, -0.5)},
     .options = &(const mst_normalized_conv_options){.conv.strides = {.count = 1, .axis = {2}}, .conv.groups = 2}},
    {.name = "one by one, many rows",
     .num_src = 3,
     .src = {RANDOM(5, 40, 40, 4), RANDOM(1, 1, 4, 64), TERMS(4, 0.5, -1, 0, 1, 1, 2, -1, 0.5, 0, 1, 2, -0.5)},
     .options = &(const mst_normalized_conv_options){.activation = MST_BATCH_RELU6},
     .tolerance = 1e-4},
    {.name = "depthwise, strided",
     .num_src = 3,
     .src = {RANDOM(2, 12, 9, 16), RANDOM(3, 3, 1, 16), {.ndim = 2, .dim = {3, 16}}},
     .options = &(const mst_normalized_conv_options){.conv.strides = {.count = 1, .axis = {2}},
                                                     .conv.pads = {.count = 4, .axis = {0, 1, 0, 1}},
                                                     .conv.groups = 16,
                                                     .activation = MST_BATCH_RELU6}},
    {.name = "no examples", .num_src = 3, .src = {RANDOM(0, 3, 3, 1), TWO_BY_TWO, TERMS(1, 0, 1, 2)}},
    {.name = "channels differ",
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, TERMS(2, 0, 1, 2, 3, 4, 5)},
     .fails = MST_INVALID},
    {.name = "other terms",
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, {.ndim = 2, .dim = {2, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_normalized_conv2d = {
    .name = "normalized_conv2d",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = mst_normalized_conv_fields,
    .options_size = sizeof(mst_normalized_conv_options),
    .infer = normalized_conv2d_infer,
    .workspace = mst_normalized_conv_workspace,
    .reference = normalized_conv2d_reference,
    MST_EXAMPLES(normalized_conv2d_examples),
};
