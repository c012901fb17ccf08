#include "op/conv/conv_transpose.h"

#include "op/shape/strided.h"
#include "op/share.h"

static int64_t of_axis(const mst_axes *list, int axis) {
    return list->count == 0 ? 1 : list->axis[list->count == 1 ? 0 : axis];
}

/* The length of an axis of the output. SIZE and WINDOW are the lengths of the source and of the window along that axis.
 * Each of the three lengths is -1 if it is not known yet. */
static int64_t length_of(const mst_conv2d_options *o, int axis, int64_t size, int64_t window) {
    const int64_t stride = of_axis(&o->strides, axis);
    const int64_t reach = (window - 1) * of_axis(&o->dilations, axis) + 1;
    if (size < 0 || (window < 0 && o->padding != MST_PADDING_SAME)) return -1;
    if (o->padding == MST_PADDING_SAME || stride > reach) return size * stride;
    return size ? (size - 1) * stride + reach : 0;
}

mst_status mst_conv_transpose_infer(mst_infer *c, int ndim) {
    const int num_axes = ndim - 2;
    const mst_conv2d_options *o = c->options;
    const mst_shape *src = &c->src[0].shape, *weights = &c->src[1].shape;
    mst_shape shape = {0};
    int64_t unified;
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    for (int i = 0; i < 2; i++) MST_TRY(mst_infer_want_ndim(c, i, ndim));
    if (o->pads.count || o->groups != 1) return mst_infer_fail(c, "pads and groups are not taken");
    mst_shape dst = *src;
    dst.dim[ndim - 1] = weights->dim[ndim - 2];
    for (int i = 0; i < num_axes; i++) dst.dim[1 + i] = -1;
    MST_TRY(mst_conv_infer(c, &dst, weights, &shape)); /* checks the options */
    bool has_pixels = true;
    for (int i = 0; i < num_axes; i++) {
        if (src->dim[1 + i] > INT32_MAX) return mst_infer_fail(c, "too many rows or columns");
        has_pixels = has_pixels && src->dim[1 + i];
        dst.dim[1 + i] = length_of(o, i, src->dim[1 + i], weights->dim[i]);
    }
    if (has_pixels) MST_TRY(mst_conv_infer(c, &dst, weights, &shape));
    MST_TRY(mst_infer_same_dim(c, src->dim[ndim - 1], weights->dim[ndim - 1],
                               "channels of the source and of the weights", &unified));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = dst};
    return MST_OK;
}

mst_value mst_conv_transpose_grad(mst_grad *c, int i) {
    return i == 0 ? mst_conv_again(c->options, c->ddst[0], c->src[1])
                  : mst_conv_weights_grad(c->options, c->ddst[0], c->src[1], c->src[0]);
}

static mst_status conv_transpose_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_conv_arrays arrays = {
        .conv = mst_conv_make(a->options, &a->dst[0].shape, &a->src[1].shape, &a->src[0].shape),
        .weights = a->src[1].data,
        .gradient = a->src[0].data,
        .dst = a->dst[0].data};
    (void)thread;
    (a->dst[0].dtype == MST_F32 ? mst_conv_src_grad_rows_f32 : mst_conv_src_grad_rows_f64)(&arrays, begin, end);
    return MST_OK;
}

mst_status mst_conv_transpose_reference(const mst_kernel_args *a) {
    const mst_shape *dst = &a->dst[0].shape;
    const int64_t rows = mst_rows_before(dst, -2);
    if (a->dst[0].count == 0) return MST_OK;
    return mst_parallel(a, rows, mst_grain(rows, dst->dim[dst->ndim - 2] * a->src[1].count), conv_transpose_run,
                        mst_context_of(a));
}
