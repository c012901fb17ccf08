#include "op/conv/conv.h"

#include "base/simd.h"
#include "op/list.h"
#include "op/shape/strided.h"
#include "op/share.h"

const mst_field mst_conv_fields[] = {MST_CONV_FIELDS, MST_FIELD_END};

static mst_window_options windows_of(const mst_conv2d_options *o) {
    return (mst_window_options){
        .strides = o->strides, .dilations = o->dilations, .pads = o->pads, .padding = o->padding};
}

mst_status mst_conv_infer(mst_infer *c, const mst_shape *src, const mst_shape *weights, mst_shape *dst) {
    const mst_conv2d_options *o = c->options;
    const mst_window_options w = windows_of(o);
    const int ndim = src->ndim, num_axes = ndim - 2;
    const int64_t channels = src->dim[ndim - 1], of_group = weights->dim[ndim - 2], filters = weights->dim[ndim - 1];
    int64_t unified;
    if (channels == 0 || of_group == 0 || filters == 0) return mst_infer_fail(c, "no channels");
    if (of_group > INT32_MAX) return mst_infer_fail(c, "too many channels");
    MST_TRY(mst_infer_same_dim(c, channels, of_group < 0 ? -1 : of_group * o->groups,
                               "channels of the source and of the weights times groups", &unified));
    if (filters > 0 && filters % o->groups)
        return mst_infer_fail(c, "%lld channels of the output are no multiple of %d groups", (long long)filters,
                              (int)o->groups);
    *dst = *src;
    dst->dim[ndim - 1] = filters;
    return mst_window_infer(c, &w, num_axes, &src->dim[1], weights->dim, &dst->dim[1]);
}

mst_status mst_conv_infer_dst(mst_infer *c, int ndim) {
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    for (int i = 0; i < 2; i++) MST_TRY(mst_infer_want_ndim(c, i, ndim));
    c->dst[0].dtype = c->src[0].dtype;
    return mst_conv_infer(c, &c->src[0].shape, &c->src[1].shape, &c->dst[0].shape);
}

static mst_status conv_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_conv_arrays arrays = {
        .conv = mst_conv_make(a->options, &a->src[0].shape, &a->src[1].shape, &a->dst[0].shape),
        .src = a->src[0].data,
        .weights = a->src[1].data,
        .dst = a->dst[0].data};
    (void)thread;
    (a->dst[0].dtype == MST_F32 ? mst_conv_rows_f32 : mst_conv_rows_f64)(&arrays, begin, end);
    return MST_OK;
}

mst_status mst_conv_reference(const mst_kernel_args *a) {
    const mst_shape *dst = &a->dst[0].shape;
    const int64_t rows = mst_rows_before(dst, -2);
    if (a->dst[0].count == 0) return MST_OK;
    return mst_parallel(a, rows, mst_grain(rows, dst->dim[dst->ndim - 2] * a->src[1].count), conv_run,
                        mst_context_of(a));
}

mst_status mst_conv_infer_grad(mst_infer *c) {
    mst_shape dst = {0};
    int64_t unified;
    const int ndim = mst_conv_ndim(&c->src[0].shape);
    MST_TRY(mst_infer_want_float(c, 0));
    for (int i = 1; i < 3; i++) MST_TRY(mst_infer_same_dtype(c, 0, i));
    for (int i = 0; i < 3; i++) MST_TRY(mst_infer_want_ndim(c, i, ndim));
    MST_TRY(mst_conv_infer(c, &c->src[0].shape, &c->src[1].shape, &dst));
    for (int i = 0; i < dst.ndim; i++)
        MST_TRY(mst_infer_same_dim(c, dst.dim[i], c->src[2].shape.dim[i], "dimensions of the output and its gradient",
                                   &unified));
    return MST_OK;
}

mst_conv mst_conv_make(const mst_conv2d_options *o, const mst_shape *src, const mst_shape *weights,
                       const mst_shape *dst) {
    const mst_window_options w = windows_of(o);
    const int ndim = src->ndim;
    mst_conv conv = {.n = src->dim[0],
                     .in_channels = src->dim[ndim - 1],
                     .out_channels = weights->dim[ndim - 1],
                     .groups = o->groups,
                     .bf16 = o->precision == MST_MIXED_BFLOAT16};
    mst_window_make(&w, ndim - 2, &src->dim[1], weights->dim, &dst->dim[1], &conv.depth, conv.window);
    return conv;
}

mst_value mst_conv_src_grad(const mst_conv2d_options *options, mst_value src, mst_value weights, mst_value gradient) {
    return mst_call(NULL, &mst_op_conv2d_src_grad, 3, (const mst_value[]){src, weights, gradient}, options);
}

mst_value mst_conv_weights_grad(const mst_conv2d_options *options, mst_value src, mst_value weights,
                                mst_value gradient) {
    return mst_call(NULL, &mst_op_conv2d_weights_grad, 3, (const mst_value[]){src, weights, gradient}, options);
}

mst_value mst_conv_again(const mst_conv2d_options *options, mst_value src, mst_value weights) {
    const mst_op *op = mst_value_spec(src).shape.ndim == MST_CONV3D_NDIM ? &mst_op_conv3d : &mst_op_conv2d;
    return mst_call(NULL, op, 2, (const mst_value[]){src, weights}, options);
}

mst_value mst_conv_grad(mst_grad *c, int i) {
    return (i == 0 ? mst_conv_src_grad : mst_conv_weights_grad)(c->options, c->src[0], c->src[1], c->ddst[0]);
}

#define MST_TEMPLATE "op/conv/conv_loops.inc"
#include "base/floats.inc"
