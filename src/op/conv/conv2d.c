/** conv2d: dst[n, y, x, f] = sum over i, j, c of src[n, y s - top + i d, x s - left + j d, c] * weights[i, j, c, f]
 *
 *  top, left  rows and columns of padding before src
 *  src        f32 or f64, [n, height, width, channels]
 *  weights    src's dtype, [window height, window width, channels / groups, filters]
 *  strides    s: one number, or one for rows and one for columns; default 1
 *  padding    MST_PADDING_VALID (default): windows lie inside; MST_PADDING_SAME: zeros around src, so that dst has
 *             ceil(size / stride) rows and columns, the odd row or column at the bottom or right
 *  pads       rows and columns of zeros at top, bottom, left and right, instead of the option padding
 *  dilations  d: one number, or one for rows and one for columns; default 1
 *  groups     the channels of src and the filters are divided into so many groups; a filter reads only the channels of
 *             its group
 *  precision  of the products, also in the gradients, if src is f32 and there is one group; default: the session's
 *  dst        src's dtype, [n, rows, columns, filters]
 *
 *  A window that does not fit into src is an error. As in TensorFlow, the window is not flipped.
 */
#ifdef MST_OP_HEADER
typedef struct mst_conv2d_options {
    int zero_;
    mst_value src;
    mst_value weights;
    mst_axes strides;
    mst_window_padding padding;
    mst_axes pads;
    mst_axes dilations;
    int32_t groups;
    mst_precision precision;
} mst_conv2d_options;
MST_API mst_value mst_conv2d_with(mst_conv2d_options options);
#define mst_convolve2d(...) mst_conv2d_with(MST_NAMED_2(mst_conv2d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/conv.h"
#include "op/op.h"

static mst_status conv2d_infer(mst_infer *c) {
    return mst_conv_infer_dst(c, MST_CONV2D_NDIM);
}

/* clang-format off */
#define THREE_BY_THREE {.ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}}
#define TWO_BY_TWO {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}
#define RANDOM(a, b, c, d) {.ndim = 4, .dim = {a, b, c, d}}
/* clang-format on */

static const mst_example conv2d_examples[] = {
    {.name = "valid", .num_src = 2, .src = {THREE_BY_THREE, TWO_BY_TWO}, .expect = {(const double[]){37, 47, 67, 77}}},
    {.name = "same, the odd row below and the odd column right",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.padding = MST_PADDING_SAME},
     .expect = {(const double[]){37, 47, 21, 67, 77, 33, 23, 26, 9}}},
    {.name = "whole numbers in bf16",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.precision = MST_MIXED_BFLOAT16},
     .expect = {(const double[]){37, 47, 67, 77}}},
    {.name = "strides",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.strides = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME},
     .expect = {(const double[]){37, 21, 23, 9}}},
    {.name = "pads",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.pads = {.count = 4, .axis = {1, 0, 1, 0}}},
     .expect = {(const double[]){4, 11, 18, 18, 37, 47, 36, 67, 77}}},
    {.name = "dilation",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.dilations = {.count = 1, .axis = {2}}},
     .expect = {(const double[]){1 + 2 * 3 + 3 * 7 + 4 * 9}}},
    {.name = "groups",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 1, 4}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 1, 2, 2}, .value = (const double[]){5, 6, 7, 8}}},
     .options = &(const mst_conv2d_options){.groups = 2},
     .expect = {(const double[]){19, 50}}},
    {.name = "depthwise",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 2, 1, 4}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}},
     .options = &(const mst_conv2d_options){.groups = 2},
     .expect = {(const double[]){16, 20, 34, 40}}},
    {.name = "many channels", .num_src = 2, .src = {RANDOM(2, 5, 4, 3), RANDOM(3, 2, 3, 4)}},
    {.name = "two strides and dilations, same",
     .num_src = 2,
     .src = {RANDOM(2, 7, 6, 2), RANDOM(3, 2, 2, 3)},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {2, 1}},
                                            .dilations = {.count = 2, .axis = {1, 3}},
                                            .padding = MST_PADDING_SAME}},
    {.name = "strides that leave a row out",
     .num_src = 2,
     .src = {RANDOM(1, 6, 7, 2), RANDOM(3, 3, 2, 2)},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {2, 3}}}},
    {.name = "pads, strides and groups",
     .num_src = 2,
     .src = {RANDOM(2, 4, 5, 4), RANDOM(2, 3, 2, 6)},
     .options =
         &(const mst_conv2d_options){
             .strides = {.count = 1, .axis = {2}}, .pads = {.count = 4, .axis = {2, 1, 0, 3}}, .groups = 2}},
    {.name = "depthwise of many channels, strided",
     .num_src = 2,
     .src = {RANDOM(3, 5, 5, 8), RANDOM(3, 3, 1, 8)},
     .options =
         &(const mst_conv2d_options){.strides = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME, .groups = 8}},
    {.name = "pads wider than the window",
     .num_src = 2,
     .src = {RANDOM(1, 3, 2, 2), RANDOM(2, 2, 2, 3)},
     .options = &(const mst_conv2d_options){.pads = {.count = 4, .axis = {3, 4, 2, 5}}}},
    {.name = "one by one", .num_src = 2, .src = {RANDOM(4, 3, 3, 16), RANDOM(1, 1, 16, 8)}},
    {.name = "one by one, parts of less than an example",
     .num_src = 2,
     .src = {RANDOM(3, 56, 55, 16), RANDOM(1, 1, 16, 64)},
     .options = &(const mst_conv2d_options){.strides = {.count = 2, .axis = {1, 2}}}},
    {.name = "strides beyond the window",
     .num_src = 2,
     .src = {RANDOM(1, 5, 5, 1), RANDOM(1, 1, 1, 2)},
     .options = &(const mst_conv2d_options){.strides = {.count = 1, .axis = {3}}}},
    {.name = "no examples", .num_src = 2, .src = {RANDOM(0, 3, 3, 2), RANDOM(2, 2, 2, 2)}},
    {.name = "window does not fit",
     .num_src = 2,
     .src = {RANDOM(1, 2, 3, 1), RANDOM(3, 3, 1, 1)},
     .fails = MST_INVALID},
    {.name = "channels differ", .num_src = 2, .src = {RANDOM(1, 3, 3, 2), RANDOM(3, 3, 1, 1)}, .fails = MST_INVALID},
    {.name = "filters are no multiple of groups",
     .num_src = 2,
     .src = {RANDOM(1, 3, 3, 2), RANDOM(3, 3, 1, 3)},
     .options = &(const mst_conv2d_options){.groups = 2},
     .fails = MST_INVALID},
    {.name = "pads and same",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.padding = MST_PADDING_SAME, .pads = {.count = 4, .axis = {1, 1, 1, 1}}},
     .fails = MST_INVALID},
    {.name = "two pads",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.pads = {.count = 2, .axis = {1, 1}}},
     .fails = MST_INVALID},
    {.name = "a negative pad",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.pads = {.count = 4, .axis = {1, 1, -1, 1}}},
     .fails = MST_INVALID},
    {.name = "three strides",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.strides = {.count = 3, .axis = {1, 1, 1}}},
     .fails = MST_INVALID},
    {.name = "a dilation of 0",
     .num_src = 2,
     .src = {THREE_BY_THREE, TWO_BY_TWO},
     .options = &(const mst_conv2d_options){.dilations = {.count = 1, .axis = {0}}},
     .fails = MST_INVALID},
    {.name = "three dimensions",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {1, 3, 3}}, TWO_BY_TWO},
     .fails = MST_INVALID},
    {.name = "dtypes differ",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 4, .dim = {1, 3, 3, 1}}, {.dtype = MST_F64, .ndim = 4, .dim = {2, 2, 1, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_conv2d = {
    .name = "conv2d",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = mst_conv_fields,
    .options_size = sizeof(mst_conv2d_options),
    .infer = conv2d_infer,
    .grad = mst_conv_grad,
    .reference = mst_conv_reference,
    .lower = mst_conv_lower,
    MST_EXAMPLES(conv2d_examples),
};

mst_value mst_conv2d_with(mst_conv2d_options options) {
    return mst_call(NULL, &mst_op_conv2d, 2, (const mst_value[]){options.src, options.weights}, &options);
}
