/** conv3d: conv2d over three axes: dst[n, z, y, x, f] = sum over h, i, j, c of src[n, z s - front + h d,
 *  y s - top + i d, x s - left + j d, c] * weights[h, i, j, c, f]
 *
 *  front      slices of padding before src; top and left are rows and columns
 *  src        f32 or f64, [n, depth, height, width, channels]
 *  weights    src's dtype, [window depth, window height, window width, channels / groups, filters]
 *  strides    s: one number, or one for each of the three axes; default 1
 *  padding    MST_PADDING_VALID (default) or MST_PADDING_SAME, as in conv2d
 *  pads       zeros at front, back, top, bottom, left and right, instead of the option padding
 *  dilations  d: one number, or one for each axis; default 1
 *  groups     as in conv2d
 *  dst        src's dtype, [n, slices, rows, columns, filters]
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_conv3d_with(mst_conv2d_options options);
#define mst_convolve3d(...) mst_conv3d_with(MST_NAMED_2(mst_conv2d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/conv.h"
#include "op/op.h"

static mst_status conv3d_infer(mst_infer *c) {
    return mst_conv_infer_dst(c, MST_CONV3D_NDIM);
}

#define RANDOM(a, b, c, d, e)               \
    {                                       \
        .ndim = 5, .dim = { a, b, c, d, e } \
    }
/* clang-format off */
#define CUBE {.ndim = 5, .dim = {1, 2, 2, 2, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}
#define WEIGHTS {.ndim = 5, .dim = {2, 2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}
/* clang-format on */

static const mst_example conv3d_examples[] = {
    {.name = "valid", .num_src = 2, .src = {CUBE, WEIGHTS}, .expect = {(const double[]){204}}},
    {.name = "same, what is odd behind",
     .num_src = 2,
     .src = {CUBE, {.ndim = 5, .dim = {2, 1, 1, 1, 1}, .value = (const double[]){1, 10}}},
     .options = &(const mst_conv2d_options){.padding = MST_PADDING_SAME},
     .expect = {(const double[]){51, 62, 73, 84, 5, 6, 7, 8}}},
    {.name = "pads in front and on the right",
     .num_src = 2,
     .src = {CUBE, {.ndim = 5, .dim = {2, 1, 2, 1, 1}, .value = (const double[]){1, 10, 100, 1000}}},
     .options = &(const mst_conv2d_options){.pads = {.count = 6, .axis = {1, 0, 0, 0, 0, 1}}},
     .expect = {(const double[]){2100, 200, 4300, 400, 6521, 602, 8743, 804}}},
    {.name = "strides and dilations of each axis",
     .num_src = 2,
     .src = {RANDOM(2, 5, 4, 6, 2), RANDOM(2, 2, 3, 2, 3)},
     .options = &(const mst_conv2d_options){.strides = {.count = 3, .axis = {2, 1, 3}},
                                            .dilations = {.count = 3, .axis = {3, 2, 1}}}},
    {.name = "strides, same, groups",
     .num_src = 2,
     .src = {RANDOM(1, 4, 3, 5, 4), RANDOM(3, 2, 2, 2, 6)},
     .options =
         &(const mst_conv2d_options){.strides = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME, .groups = 2}},
    {.name = "many channels", .num_src = 2, .src = {RANDOM(2, 3, 3, 3, 16), RANDOM(2, 2, 2, 16, 8)}},
    {.name = "one slice", .num_src = 2, .src = {RANDOM(2, 1, 4, 4, 2), RANDOM(1, 2, 3, 2, 3)}},
    {.name = "no examples", .num_src = 2, .src = {RANDOM(0, 3, 3, 3, 2), RANDOM(2, 2, 2, 2, 2)}},
    {.name = "window does not fit",
     .num_src = 2,
     .src = {RANDOM(1, 2, 3, 3, 1), RANDOM(3, 3, 3, 1, 1)},
     .fails = MST_INVALID},
    {.name = "channels differ",
     .num_src = 2,
     .src = {RANDOM(1, 3, 3, 3, 2), RANDOM(3, 3, 3, 1, 1)},
     .fails = MST_INVALID},
    {.name = "two strides",
     .num_src = 2,
     .src = {CUBE, WEIGHTS},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {1, 1}}},
     .fails = MST_INVALID},
    {.name = "four pads",
     .num_src = 2,
     .src = {CUBE, WEIGHTS},
     .options = &(const mst_conv2d_options){.pads = {.count = 4, .axis = {1, 1, 1, 1}}},
     .fails = MST_INVALID},
    {.name = "four dimensions",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 3, 3, 1}}, {.ndim = 4, .dim = {2, 2, 1, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_conv3d = {
    .name = "conv3d",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = mst_conv_fields,
    .options_size = sizeof(mst_conv2d_options),
    .infer = conv3d_infer,
    .grad = mst_conv_grad,
    .reference = mst_conv_reference,
    .lower = mst_conv_lower,
    MST_EXAMPLES(conv3d_examples),
};

mst_value mst_conv3d_with(mst_conv2d_options options) {
    return mst_call(NULL, &mst_op_conv3d, 2, (const mst_value[]){options.src, options.weights}, &options);
}
