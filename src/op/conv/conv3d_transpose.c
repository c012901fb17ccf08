/** conv3d_transpose: the transpose of conv3d, as conv2d_transpose is the transpose of conv2d
 *
 *  src        f32 or f64, [n, depth, height, width, channels]
 *  weights    src's dtype, [window depth, window height, window width, filters, channels], as in
 *             tf.nn.conv3d_transpose and Keras
 *  strides    one number, or one for each of the three axes; default 1
 *  padding    as in conv2d_transpose
 *  dilations  one number, or one for each axis; default 1
 *  dst        src's dtype, [n, slices, rows, columns, filters]
 *
 *  It is the gradient of conv3d, with these weights and options, with respect to the source. The options pads and
 *  groups of conv3d are not allowed.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_conv3d_transpose_with(mst_conv2d_options options);
#define mst_convolve3d_transpose(...) \
    mst_conv3d_transpose_with(MST_NAMED_2(mst_conv2d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/conv_transpose.h"
#include "op/op.h"

static mst_status conv3d_transpose_infer(mst_infer *c) {
    return mst_conv_transpose_infer(c, MST_CONV3D_NDIM);
}

static const mst_example conv3d_transpose_examples[] = {
    {.name = "valid",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 2, 1, 1, 1}, .value = (const double[]){5, 7}},
             {.ndim = 5, .dim = {2, 1, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}},
     .expect = {(const double[]){5, 10, 22, 34, 21, 28}}},
    {.name = "same", /* the window's last slice falls on the padding */
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 2, 1, 1, 1}, .value = (const double[]){5, 7}},
             {.ndim = 5, .dim = {2, 1, 1, 1, 1}, .value = (const double[]){1, 3}}},
     .options = &(const mst_conv2d_options){.padding = MST_PADDING_SAME},
     .expect = {(const double[]){5, 22}}},
    {.name = "strides and channels",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {2, 2, 3, 2, 3}}, {.ndim = 5, .dim = {2, 3, 2, 2, 3}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 3, .axis = {3, 2, 1}}}},
    {.name = "strides, same",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {2, 2, 3, 2, 3}}, {.ndim = 5, .dim = {3, 3, 2, 2, 3}}},
     .options = &(const mst_conv2d_options){.strides = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME}},
    {.name = "dilations",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 2, 3, 2, 1}}, {.ndim = 5, .dim = {2, 2, 2, 2, 1}}},
     .options = &(const mst_conv2d_options){.dilations = {.count = 3, .axis = {2, 1, 3}}}},
    {.name = "channels differ",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 2, 2, 2, 3}}, {.ndim = 5, .dim = {2, 2, 2, 3, 1}}},
     .fails = MST_INVALID},
    {.name = "four dimensions",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 3}}, {.ndim = 4, .dim = {2, 2, 1, 3}}},
     .fails = MST_INVALID},
    {.name = "groups",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 2, 2, 2, 2}}, {.ndim = 5, .dim = {2, 2, 2, 1, 2}}},
     .options = &(const mst_conv2d_options){.groups = 2},
     .fails = MST_INVALID},
};

const mst_op mst_op_conv3d_transpose = {
    .name = "conv3d_transpose",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = mst_conv_fields,
    .options_size = sizeof(mst_conv2d_options),
    .infer = conv3d_transpose_infer,
    .grad = mst_conv_transpose_grad,
    .reference = mst_conv_transpose_reference,
    .lower = mst_conv_transpose_lower,
    MST_EXAMPLES(conv3d_transpose_examples),
};

mst_value mst_conv3d_transpose_with(mst_conv2d_options options) {
    return mst_call(NULL, &mst_op_conv3d_transpose, 2, (const mst_value[]){options.src, options.weights}, &options);
}
