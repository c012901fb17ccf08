/** conv2d_transpose: the transpose of conv2d: dst[n, y s - top + i d, x s - left + j d, c] takes, summed over all y, x,
 *  i, j and f that fall on it, src[n, y, x, f] * weights[i, j, c, f]
 *
 *  src        f32 or f64, [n, height, width, channels]
 *  weights    src's dtype, [window height, window width, filters, channels], as tf.nn.conv2d_transpose and Keras have
 *             them
 *  strides    s: one number, or those of rows and columns; default 1
 *  padding    MST_PADDING_VALID (default): dst has (size - 1) stride + reach rows and columns, where a window reaches
 *             over reach = (window - 1) dilation + 1, or size * stride where a stride is larger; MST_PADDING_SAME: size
 *             * stride
 *  dilations  d: one number, or those of rows and columns; default 1
 *  dst        src's dtype, [n, rows, columns, filters]
 *
 *  The gradient of a conv2d with these weights and options by its source. Its options pads and groups are not taken.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_conv2d_transpose_with(mst_conv2d_options options);
#define mst_convolve2d_transpose(...) \
    mst_conv2d_transpose_with(MST_NAMED_2(mst_conv2d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/conv.h"
#include "op/op.h"
#include "op/share.h"

static int64_t of_axis(const mst_axes *list, int axis) {
    return list->count == 0 ? 1 : list->axis[list->count == 1 ? 0 : axis];
}

/* The length of an axis from that of the source; -1 where something is not known yet. */
static int64_t length_of(const mst_conv2d_options *o, int axis, int64_t size, int64_t window) {
    const int64_t stride = of_axis(&o->strides, axis);
    const int64_t reach = (window - 1) * of_axis(&o->dilations, axis) + 1;
    if (size < 0 || (window < 0 && o->padding != MST_PADDING_SAME)) return -1;
    if (o->padding == MST_PADDING_SAME || stride > reach) return size * stride;
    return size ? (size - 1) * stride + reach : 0;
}

static mst_status conv2d_transpose_infer(mst_infer *c) {
    const mst_conv2d_options *o = c->options;
    const mst_shape *src = &c->src[0].shape, *weights = &c->src[1].shape;
    mst_shape shape = {0};
    int64_t unified;
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    for (int i = 0; i < 2; i++) MST_TRY(mst_infer_want_ndim(c, i, 4));
    if (o->pads.count || o->groups != 1) return mst_infer_fail(c, "pads and groups are not taken");
    mst_shape dst = MST_SHAPE(src->dim[0], -1, -1, weights->dim[2]);
    MST_TRY(mst_conv_infer(c, &dst, weights, &shape)); /* checks the options */
    for (int i = 0; i < MST_WINDOW_AXES; i++) {
        if (src->dim[1 + i] > INT32_MAX) return mst_infer_fail(c, "too many rows or columns");
        dst.dim[1 + i] = length_of(o, i, src->dim[1 + i], weights->dim[i]);
    }
    if (src->dim[1] && src->dim[2]) MST_TRY(mst_conv_infer(c, &dst, weights, &shape));
    MST_TRY(mst_infer_same_dim(c, src->dim[3], weights->dim[3], "channels of the source and of the weights", &unified));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = dst};
    return MST_OK;
}

static mst_value conv2d_transpose_grad(mst_grad *c, int i) {
    return i == 0 ? mst_conv_again(c->options, c->ddst[0], c->src[1])
                  : mst_conv_weights_grad(c->options, c->ddst[0], c->src[1], c->src[0]);
}

static mst_status conv2d_transpose_run(void *context, int64_t begin, int64_t end, int thread) {
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

static mst_status conv2d_transpose_reference(const mst_kernel_args *a) {
    const int64_t *dim = a->dst[0].shape.dim, rows = dim[0] * dim[1];
    if (a->dst[0].count == 0) return MST_OK;
    return mst_parallel(a, rows, mst_grain(rows, dim[2] * a->src[1].count), conv2d_transpose_run, mst_context_of(a));
}

static const mst_example conv2d_transpose_examples[] = {
    {.name = "valid",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}},
     .expect = {(const double[]){5, 17, 14, 15, 41, 28}}},
    {.name = "a stride beyond the window",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){3}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {1, 2}}},
     .expect = {(const double[]){15, 0, 21, 0}}},
    {.name = "same", /* the window's last row and column fall on the padding */
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_conv2d_options){.padding = MST_PADDING_SAME},
     .expect = {(const double[]){5, 17}}},
    {.name = "strides and channels",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 3, 2, 3}}, {.ndim = 4, .dim = {3, 2, 2, 3}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {2, 3}}}},
    {.name = "strides, same",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 3, 2, 3}}, {.ndim = 4, .dim = {3, 3, 2, 3}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME}},
    {.name = "dilations",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 3, 2, 1}}, {.ndim = 4, .dim = {2, 2, 2, 1}}},
     .options = &(const mst_conv2d_options){.dilations = {.count = 2, .axis = {2, 3}}}},
    {.name = "channels differ",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 3}}, {.ndim = 4, .dim = {2, 2, 3, 1}}},
     .fails = MST_INVALID},
    {.name = "three dimensions",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 2, 3}}, {.ndim = 4, .dim = {2, 2, 3, 1}}},
     .fails = MST_INVALID},
    {.name = "groups",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 2}}, {.ndim = 4, .dim = {2, 2, 1, 2}}},
     .options = &(const mst_conv2d_options){.groups = 2},
     .fails = MST_INVALID},
    {.name = "pads",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 2}}, {.ndim = 4, .dim = {2, 2, 1, 2}}},
     .options = &(const mst_conv2d_options){.pads = {.count = 4, .axis = {1, 1, 1, 1}}},
     .fails = MST_INVALID},
    {.name = "a stride of 0",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 2}}, {.ndim = 4, .dim = {2, 2, 1, 2}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 1, .axis = {0}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_conv2d_transpose = {
    .name = "conv2d_transpose",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = mst_conv_fields,
    .options_size = sizeof(mst_conv2d_options),
    .infer = conv2d_transpose_infer,
    .grad = conv2d_transpose_grad,
    .reference = conv2d_transpose_reference,
    MST_EXAMPLES(conv2d_transpose_examples),
};

mst_value mst_conv2d_transpose_with(mst_conv2d_options options) {
    return mst_call(NULL, &mst_op_conv2d_transpose, 2, (const mst_value[]){options.src, options.weights}, &options);
}
