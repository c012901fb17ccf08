/** conv2d_transpose: the transpose of conv2d: dst[n, p, q, c] = sum of src[n, y, x, f] * weights[i, j, c, f] over all
 *  y, x, i, j and f with y s - top + i d = p and x s - left + j d = q
 *
 *  top, left  as in conv2d
 *  src        f32 or f64, [n, height, width, channels]
 *  weights    src's dtype, [window height, window width, filters, channels], as tf.nn.conv2d_transpose and Keras have
 *             them
 *  strides    s: one number, or one for rows and one for columns; default 1
 *  padding    MST_PADDING_VALID (default): dst has (size - 1) stride + reach rows and columns, or size * stride if
 *             stride > reach; reach = (window - 1) dilation + 1. MST_PADDING_SAME: dst has size * stride
 *  dilations  d: one number, or one for rows and one for columns; default 1
 *  dst        src's dtype, [n, rows, columns, filters]
 *
 *  It is the gradient of conv2d, with these weights and options, with respect to the source. The options pads and
 *  groups of conv2d are not allowed.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_conv2d_transpose_with(mst_conv2d_options options);
#define mst_convolve2d_transpose(...) \
    mst_conv2d_transpose_with(MST_NAMED_2(mst_conv2d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/conv_transpose.h"
#include "op/op.h"

static mst_status conv2d_transpose_infer(mst_infer *c) {
    return mst_conv_transpose_infer(c, MST_CONV2D_NDIM);
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
    .grad = mst_conv_transpose_grad,
    .reference = mst_conv_transpose_reference,
    .lower = mst_conv_transpose_lower,
    MST_EXAMPLES(conv2d_transpose_examples),
};

mst_value mst_conv2d_transpose_with(mst_conv2d_options options) {
    return mst_call(NULL, &mst_op_conv2d_transpose, 2, (const mst_value[]){options.src, options.weights}, &options);
}
