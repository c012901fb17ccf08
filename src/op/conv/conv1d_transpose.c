/** conv1d_transpose: the transpose of conv1d: dst[n, i, c] = sum of src[n, x, f] * weights[j, c, f] over all x, j and f
 *  with x stride - before + j dilation = i
 *
 *  before    as in conv1d
 *  src       f32 or f64, [n, steps, channels]
 *  weights   src's dtype, [window, filters, channels]
 *  stride    default 1
 *  padding   as in conv2d_transpose
 *  dilation  default 1
 *  dst       src's dtype, [n, outputs, filters]
 *
 *  It builds a conv2d_transpose on pictures of one row. The options causal, pads and groups of conv1d are not allowed.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_conv1d_transpose_with(mst_conv1d_options options);
#define mst_convolve1d_transpose(...) \
    mst_conv1d_transpose_with(MST_NAMED_2(mst_conv1d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/window.h"
#include "op/op.h"

mst_value mst_conv1d_transpose_with(mst_conv1d_options o) {
    mst_graph *graph = mst_value_graph(o.src);
    if (mst_value_is_none(o.src)) return o.src;
    if (mst_value_is_none(o.weights)) return o.weights;
    const int src = mst_value_spec(o.src).shape.ndim, weights = mst_value_spec(o.weights).shape.ndim;
    if (src != 3 || weights != 3)
        return mst_value_fail(graph, MST_INVALID,
                              "conv1d_transpose: '%s' has %d dimensions and its weights '%s' %d, both must have three",
                              mst_value_name(o.src), src, mst_value_name(o.weights), weights);
    if (o.causal || o.pads.count || o.groups > 1)
        return mst_value_fail(graph, MST_INVALID, "conv1d_transpose: causal, pads and groups are not taken");
    return mst_squeeze(mst_convolve2d_transpose(mst_expand_dims(o.src, 1), mst_expand_dims(o.weights, 0),
                                                .strides = mst_window_row(o.stride), .padding = o.padding,
                                                .dilations = mst_window_row(o.dilation)),
                       MST_AXES(1));
}
