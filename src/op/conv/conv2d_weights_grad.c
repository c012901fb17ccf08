/** conv2d_weights_grad: the gradient of conv2d and of conv3d with respect to the weights
 *
 *  src       as conv2d's or conv3d's
 *  weights   as conv2d's or conv3d's; only their shape is used
 *  gradient  of the output
 *  dst       like weights
 *
 *  Options are those of conv2d and conv3d. Sums are over the examples, the depth, the rows, then the columns of
 *  gradient.
 */
#include "op/conv/conv.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/share.h"

static mst_status conv2d_weights_grad_infer(mst_infer *c) {
    c->dst[0] = c->src[1];
    return mst_conv_infer_grad(c);
}

static mst_value conv2d_weights_grad_grad(mst_grad *c, int i) {
    if (i == 1) return MST_NONE;
    return i == 0 ? mst_conv_src_grad(c->options, c->src[0], c->ddst[0], c->src[2])
                  : mst_conv_again(c->options, c->src[0], c->ddst[0]);
}

static mst_status conv2d_weights_grad_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_conv_arrays arrays = {
        .conv = mst_conv_make(a->options, &a->src[0].shape, &a->src[1].shape, &a->src[2].shape),
        .src = a->src[0].data,
        .gradient = a->src[2].data,
        .dst = a->dst[0].data};
    (void)thread;
    (a->dst[0].dtype == MST_F32 ? mst_conv_weights_grad_rows_f32 : mst_conv_weights_grad_rows_f64)(&arrays, begin, end);
    return MST_OK;
}

static mst_status conv2d_weights_grad_reference(const mst_kernel_args *a) {
    const int64_t rows = mst_rows_before(&a->dst[0].shape, -1);
    if (a->dst[0].count == 0) return MST_OK;
    return mst_parallel(a, rows, mst_grain(rows, a->src[2].count), conv2d_weights_grad_run, mst_context_of(a));
}

static const mst_example conv2d_weights_grad_examples[] = {
    {.name = "valid",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}}},
     .expect = {(const double[]){19, 31, 55, 67}}},
    {.name = "no examples",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {0, 2, 3, 1}}, {.ndim = 4, .dim = {2, 2, 1, 1}}, {.ndim = 4, .dim = {0, 1, 2, 1}}},
     .expect = {(const double[]){0, 0, 0, 0}}},
    {.name = "one row, many examples",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {7, 1, 300, 16}},
             {.ndim = 4, .dim = {1, 5, 16, 32}},
             {.ndim = 4, .dim = {7, 1, 300, 32}}},
     .options = &(const mst_conv2d_options){.padding = MST_PADDING_SAME},
     .tolerance = 2e-4},
    {.name = "one row: strides, dilations, pads",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {3, 1, 90, 6}}, {.ndim = 4, .dim = {1, 4, 6, 9}}, {.ndim = 4, .dim = {3, 1, 44, 9}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {1, 2}},
                                            .dilations = {.count = 2, .axis = {1, 3}},
                                            .pads = {.count = 4, .axis = {0, 0, 2, 4}}},
     .tolerance = 1e-4},
#include "op/conv/conv_grad_examples.inc"
};

const mst_op mst_op_conv2d_weights_grad = {
    .name = "conv2d_weights_grad",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .shape_only = 2, /* the bit of weights */
    .fields = mst_conv_fields,
    .options_size = sizeof(mst_conv2d_options),
    .infer = conv2d_weights_grad_infer,
    .grad = conv2d_weights_grad_grad,
    .reference = conv2d_weights_grad_reference,
    .lower = mst_conv_weights_grad_lower,
    MST_EXAMPLES(conv2d_weights_grad_examples),
};
