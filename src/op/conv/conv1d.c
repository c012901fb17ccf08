/** conv1d: dst[n, x, f] = sum over j, c of src[n, x stride - before + j dilation, c] * weights[j, c, f]
 *
 *  before     elements of padding before src
 *  src        f32 or f64, [n, steps, channels]
 *  weights    src's dtype, [window, channels / groups, filters]
 *  stride     default 1
 *  padding    MST_PADDING_VALID (default) or MST_PADDING_SAME, as in conv2d
 *  causal     (window - 1) dilation zeros before src, instead of the option padding: no output depends on a later
 *             element of src
 *  pads       zeros before and after src, instead of the option padding
 *  dilation   default 1
 *  groups     default 1
 *  precision  as in conv2d
 *  dst        src's dtype, [n, outputs, filters]
 *
 *  The op builds a conv2d on pictures of one row.
 */
#ifdef MST_OP_HEADER
typedef struct mst_conv1d_options {
    int zero_;
    mst_value src;
    mst_value weights;
    int32_t stride;
    mst_window_padding padding;
    bool causal;
    mst_axes pads;
    int32_t dilation;
    int32_t groups;
    mst_precision precision;
} mst_conv1d_options;
MST_API mst_value mst_conv1d_with(mst_conv1d_options options);
#define mst_convolve1d(...) mst_conv1d_with(MST_NAMED_2(mst_conv1d_options, src, weights, __VA_ARGS__))
#endif
#include "op/conv/window.h"
#include "op/op.h"

mst_value mst_conv1d_with(mst_conv1d_options o) {
    mst_graph *graph = mst_value_graph(o.src);
    if (mst_value_is_none(o.src)) return o.src;
    if (mst_value_is_none(o.weights)) return o.weights;
    const mst_shape src = mst_value_spec(o.src).shape, weights = mst_value_spec(o.weights).shape;
    if (src.ndim != 3 || weights.ndim != 3)
        return mst_value_fail(graph, MST_INVALID,
                              "conv1d: '%s' has %d dimensions and its weights '%s' %d, both must have three",
                              mst_value_name(o.src), src.ndim, mst_value_name(o.weights), weights.ndim);
    if (o.stride < 0 || o.dilation < 0)
        return mst_value_fail(graph, MST_INVALID, "conv1d: a negative stride or dilation");
    mst_axes pads = o.pads;
    if (o.causal && (pads.count || o.padding == MST_PADDING_SAME || weights.dim[0] < 0))
        return mst_value_fail(graph, MST_INVALID,
                              "conv1d: causal is a padding of its own, for weights whose size is known");
    if (o.causal) pads = MST_AXES((int)(weights.dim[0] - 1) * (o.dilation ? o.dilation : 1), 0);
    return mst_squeeze(
        mst_convolve2d(mst_expand_dims(o.src, 1), mst_expand_dims(o.weights, 0), .strides = mst_window_row(o.stride),
                       .padding = o.padding, .pads = mst_window_row_pads(pads), .dilations = mst_window_row(o.dilation),
                       .groups = o.groups, .precision = o.precision),
        MST_AXES(1));
}
