/** depthwise_conv1d: dst[n, x, c m + k] = sum over j of src[n, x stride - before + j dilation, c] * weights[j, c, k]
 *
 *  before    elements of padding before the source
 *  src       f32 or f64, [n, steps, channels]
 *  weights   src's dtype, [window, channels, m]: each channel has m filters of its own
 *  stride    default 1
 *  padding   as in conv1d
 *  dilation  default 1
 *  dst       src's dtype, [n, outputs, channels m]
 *
 *  The op builds a conv1d with one group per channel. The number of channels must be known while the graph is built.
 */
#ifdef MST_OP_HEADER
typedef struct mst_depthwise_conv1d_options {
    int zero_;
    mst_value src;
    mst_value weights;
    int32_t stride;
    mst_window_padding padding;
    int32_t dilation;
} mst_depthwise_conv1d_options;
MST_API mst_value mst_depthwise_conv1d_with(mst_depthwise_conv1d_options options);
#define mst_convolve1d_depthwise(...) \
    mst_depthwise_conv1d_with(MST_NAMED_2(mst_depthwise_conv1d_options, src, weights, __VA_ARGS__))
#endif
#include "op/op.h"

mst_value mst_depthwise_conv1d_with(mst_depthwise_conv1d_options o) {
    mst_graph *graph = mst_value_graph(o.src);
    if (mst_value_is_none(o.src)) return o.src;
    if (mst_value_is_none(o.weights)) return o.weights;
    const mst_shape shape = mst_value_spec(o.weights).shape;
    if (shape.ndim != 3 || mst_shape_count(shape) < 1 || shape.dim[1] > INT32_MAX)
        return mst_value_fail(graph, MST_INVALID,
                              "depthwise_conv1d: weights '%s' must have three dimensions that are known",
                              mst_value_name(o.weights));
    const mst_value weights = mst_reshape(o.weights, MST_SHAPE(shape.dim[0], 1, shape.dim[1] * shape.dim[2]));
    return mst_convolve1d(o.src, weights, .stride = o.stride, .padding = o.padding, .dilation = o.dilation,
                          .groups = (int32_t)shape.dim[1]);
}
