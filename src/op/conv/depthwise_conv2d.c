/** depthwise_conv2d: dst[n, y, x, c m + k] = sum over i, j of src[n, y s - top + i d, x s - left + j d, c] *
 *  weights[i, j, c, k]
 *
 *  top, left  rows and columns of padding before src
 *  src        f32 or f64, [n, height, width, channels]
 *  weights    src's dtype, [window height, window width, channels, m]: each channel has m filters of its own
 *  strides    s: one number, or one for rows and one for columns; default 1
 *  padding    as in conv2d
 *  pads       as in conv2d
 *  dilations  d: one number, or one for rows and one for columns; default 1
 *  dst        src's dtype, [n, rows, columns, channels m]
 *
 *  The op builds a conv2d with one group per channel. The number of channels must be known while the graph is built.
 */
#ifdef MST_OP_HEADER
typedef struct mst_depthwise_conv2d_options {
    int zero_;
    mst_value src;
    mst_value weights;
    mst_axes strides;
    mst_window_padding padding;
    mst_axes pads;
    mst_axes dilations;
} mst_depthwise_conv2d_options;
MST_API mst_value mst_depthwise_conv2d_with(mst_depthwise_conv2d_options options);
#define mst_convolve2d_depthwise(...) \
    mst_depthwise_conv2d_with(MST_NAMED_2(mst_depthwise_conv2d_options, src, weights, __VA_ARGS__))
#endif
#include "op/op.h"

mst_value mst_depthwise_conv2d_with(mst_depthwise_conv2d_options o) {
    mst_graph *graph = mst_value_graph(o.src);
    if (mst_value_is_none(o.src)) return o.src;
    if (mst_value_is_none(o.weights)) return o.weights;
    const mst_shape shape = mst_value_spec(o.weights).shape;
    if (shape.ndim != 4 || mst_shape_count(shape) < 1 || shape.dim[2] > INT32_MAX)
        return mst_value_fail(graph, MST_INVALID,
                              "depthwise_conv2d: weights '%s' must have four dimensions that are known",
                              mst_value_name(o.weights));
    const mst_value weights =
        mst_reshape(o.weights, MST_SHAPE(shape.dim[0], shape.dim[1], 1, shape.dim[2] * shape.dim[3]));
    return mst_convolve2d(o.src, weights, .strides = o.strides, .padding = o.padding, .pads = o.pads,
                          .dilations = o.dilations, .groups = (int32_t)shape.dim[2]);
}
