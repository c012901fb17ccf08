#include "op/conv/conv.h"

#include "base/simd.h"
#include "op/list.h"

const char *const mst_conv_paddings[] = {"valid", "same", NULL};

const mst_field mst_conv_fields[] = {MST_CONV_FIELDS, MST_FIELD_END};

static mst_window_options windows_of(const mst_conv2d_options *o) {
    return (mst_window_options){
        .strides = o->strides, .dilations = o->dilations, .pads = o->pads, .padding = o->padding};
}

mst_status mst_conv_infer(mst_infer *c, const mst_shape *src, const mst_shape *weights, mst_shape *dst) {
    const mst_conv2d_options *o = c->options;
    const mst_window_options w = windows_of(o);
    const int64_t channels = src->dim[3], of_group = weights->dim[2];
    int64_t unified;
    if (channels == 0 || of_group == 0 || weights->dim[3] == 0) return mst_infer_fail(c, "no channels");
    if (of_group > INT32_MAX) return mst_infer_fail(c, "too many channels");
    MST_TRY(mst_infer_same_dim(c, channels, of_group < 0 ? -1 : of_group * o->groups,
                               "channels of the source and of the weights times groups", &unified));
    if (weights->dim[3] > 0 && weights->dim[3] % o->groups)
        return mst_infer_fail(c, "%lld channels of the output are no multiple of %d groups", (long long)weights->dim[3],
                              (int)o->groups);
    *dst = mst_shape_make(4, (const int64_t[]){src->dim[0], -1, -1, weights->dim[3]});
    return mst_window_infer(c, &w, &src->dim[1], weights->dim, &dst->dim[1]);
}

mst_status mst_conv_infer_grad(mst_infer *c) {
    mst_shape dst = {0};
    int64_t unified;
    MST_TRY(mst_infer_want_float(c, 0));
    for (int i = 1; i < 3; i++) MST_TRY(mst_infer_same_dtype(c, 0, i));
    for (int i = 0; i < 3; i++) MST_TRY(mst_infer_want_ndim(c, i, 4));
    MST_TRY(mst_conv_infer(c, &c->src[0].shape, &c->src[1].shape, &dst));
    for (int i = 0; i < dst.ndim; i++)
        MST_TRY(mst_infer_same_dim(c, dst.dim[i], c->src[2].shape.dim[i], "dimensions of the output and its gradient",
                                   &unified));
    return MST_OK;
}

mst_conv mst_conv_make(const mst_conv2d_options *o, const mst_shape *src, const mst_shape *weights,
                       const mst_shape *dst) {
    const mst_window_options w = windows_of(o);
    mst_conv conv = {
        .n = src->dim[0], .in_channels = src->dim[3], .out_channels = weights->dim[3], .groups = o->groups};
    mst_window_make(&w, &src->dim[1], weights->dim, &dst->dim[1], conv.window);
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
    return mst_call(NULL, &mst_op_conv2d, 2, (const mst_value[]){src, weights}, options);
}

#define MST_TEMPLATE "op/conv/conv_loops.inc"
#include "base/floats.inc"
