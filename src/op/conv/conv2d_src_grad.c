/** conv2d_src_grad: the gradient of conv2d and of conv3d with respect to the source
 *
 *  src       as conv2d's or conv3d's; only its shape is used
 *  weights   as conv2d's or conv3d's
 *  gradient  of the output
 *  dst       like src
 *
 *  Options are those of conv2d and conv3d. The op is also the transposed convolution of gradient.
 */
#include "op/conv/conv.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/share.h"

static mst_status conv2d_src_grad_infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return mst_conv_infer_grad(c);
}

static mst_value conv2d_src_grad_grad(mst_grad *c, int i) {
    if (i == 0) return MST_NONE;
    return i == 1 ? mst_conv_weights_grad(c->options, c->ddst[0], c->src[1], c->src[2])
                  : mst_conv_again(c->options, c->ddst[0], c->src[1]);
}

static mst_status conv2d_src_grad_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_conv_arrays arrays = {
        .conv = mst_conv_make(a->options, &a->src[0].shape, &a->src[1].shape, &a->src[2].shape),
        .weights = a->src[1].data,
        .gradient = a->src[2].data,
        .dst = a->dst[0].data};
    (void)thread;
    (a->dst[0].dtype == MST_F32 ? mst_conv_src_grad_rows_f32 : mst_conv_src_grad_rows_f64)(&arrays, begin, end);
    return MST_OK;
}

static mst_status conv2d_src_grad_reference(const mst_kernel_args *a) {
    const mst_shape *dst = &a->dst[0].shape;
    const int64_t rows = mst_rows_before(dst, -2);
    if (a->dst[0].count == 0) return MST_OK;
    return mst_parallel(a, rows, mst_grain(rows, dst->dim[dst->ndim - 2] * a->src[1].count), conv2d_src_grad_run,
                        mst_context_of(a));
}

static const mst_example conv2d_src_grad_examples[] = {
    {.name = "valid",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .no_grad = true},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}}},
     .expect = {(const double[]){5, 17, 14, 15, 41, 28}}},
    {.name = "what no window reads is 0",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 1, 4, 1}},
             {.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){3}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 1, .axis = {2}}},
     .expect = {(const double[]){15, 0, 21, 0}}},
#include "op/conv/conv_grad_examples.inc"
};

const mst_op mst_op_conv2d_src_grad = {
    .name = "conv2d_src_grad",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .shape_only = 1,
    .fields = mst_conv_fields,
    .options_size = sizeof(mst_conv2d_options),
    .infer = conv2d_src_grad_infer,
    .grad = conv2d_src_grad_grad,
    .reference = conv2d_src_grad_reference,
    .lower = mst_conv_src_grad_lower,
    MST_EXAMPLES(conv2d_src_grad_examples),
};
