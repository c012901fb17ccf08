/* Convolutions and their gradients as StableHLO. Each is one convolution of an array with a window. STRIDE and DILATION
 * below are options of the op:
 *
 *                array                            window             stride of windows   dilation of the window
 *     dst        src                              weights            STRIDE              DILATION
 *     d src      gradient, elements STRIDE apart  reversed weights   1                   DILATION
 *     d weights  src                              gradient           DILATION            STRIDE
 *
 * For d src the two axes of channels of the weights are exchanged. For d weights the examples take the place of the
 * channels over which a convolution sums. */
#include "muster/hlo.h"
#include "op/conv/conv.h"
#include "op/conv/conv_transpose.h"

/* The windows of a convolution along all its axes, and the shapes of its source, weights and output. */
typedef struct windows {
    const mst_shape *src, *weights, *dst;
    int num_axes;
    mst_window axis[MST_MOST_WINDOW_AXES];
    int64_t groups;
} windows;

static windows axes_of(const mst_conv2d_options *o, const mst_shape *src, const mst_shape *weights,
                       const mst_shape *dst) {
    const mst_conv conv = mst_conv_make(o, src, weights, dst);
    windows w = {.src = src, .weights = weights, .dst = dst, .num_axes = src->ndim - 2, .groups = conv.groups};
    const int before = w.num_axes - MST_WINDOW_AXES;
    if (before) w.axis[0] = conv.depth;
    for (int k = 0; k < MST_WINDOW_AXES; k++) w.axis[before + k] = conv.window[k];
    return w;
}

/* How many elements one window covers along an axis. */
static int64_t reach_of(const mst_window *w) {
    return (w->size - 1) * w->dilation + 1;
}

/* How many elements all outputs cover along an axis if they lie STRIDE apart. */
static int64_t span_of(const mst_window *w) {
    return (w->out - 1) * w->stride + 1;
}

/* Writes the convolution C. Its factors are rounded to bf16 if the node has that precision, one group and two axes. If
 * there are no elements to multiply, the result is 0. */
static mst_hlo convolve(mst_lower *l, mst_hlo src, mst_hlo weights, const windows *w, mst_hlo_convolution *c) {
    const mst_conv2d_options *o = l->options;
    c->num_spatial = w->num_axes;
    c->dst = l->dst_spec[0];
    if (!mst_shape_count(*w->src) || !mst_shape_count(*w->dst) || !mst_shape_count(c->dst.shape))
        return mst_hlo_fill(l, c->dst.dtype, c->dst.shape, 0);
    if (o->precision == MST_MIXED_BFLOAT16 && c->dst.dtype == MST_F32 && w->groups == 1 &&
        w->num_axes == MST_WINDOW_AXES) {
        src = mst_hlo_convert(l, src, MST_BF16);
        weights = mst_hlo_convert(l, weights, MST_BF16);
    }
    if (o->precision) l->precision = o->precision;
    return mst_hlo_convolve(l, src, weights, c);
}

void mst_conv_lower(mst_lower *l) {
    const windows w = axes_of(l->options, &l->src_spec[0].shape, &l->src_spec[1].shape, &l->dst_spec[0].shape);
    mst_hlo_convolution c = {.groups = w.groups,
                             .dimensions = w.num_axes == MST_WINDOW_AXES ? "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
                                                                         : "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->"
                                                                           "[b, 0, 1, 2, f]"};
    for (int k = 0; k < w.num_axes; k++) {
        c.stride[k] = w.axis[k].stride;
        c.weights_dilation[k] = w.axis[k].dilation;
        c.low[k] = w.axis[k].before;
        c.high[k] = w.axis[k].after;
    }
    l->dst[0] = convolve(l, l->src[0], l->src[1], &w, &c);
}

/* Weights [window, channels / groups, filters] as [window, filters / groups, channels]: for the gradient of the source,
 * a group reads filters / groups channels of the gradient, and the outputs are the channels of the source. */
static mst_hlo exchange_channels(mst_lower *l, mst_hlo weights, const windows *w) {
    const int n = w->num_axes;
    const int64_t in = w->weights->dim[n], out = w->weights->dim[n + 1] / w->groups;
    mst_shape parts = *w->weights, joined = *w->weights;
    parts.ndim = n + 3;
    parts.dim[n + 1] = w->groups;
    parts.dim[n + 2] = out;
    joined.dim[n] = out;
    joined.dim[n + 1] = w->groups * in;
    mst_axes axes = {.count = n + 3};
    for (int k = 0; k < n; k++) axes.axis[k] = k;
    axes.axis[n] = n + 2;
    axes.axis[n + 1] = n + 1;
    axes.axis[n + 2] = n;
    return mst_hlo_reshape(l, mst_hlo_transpose(l, mst_hlo_reshape(l, weights, parts), axes), joined);
}

/* Writes the gradient of the source. A separate operation reverses the weights, not the convolution's attribute:
 * compilers for GPUs recognize only this form as a gradient, and run their kernels for it. */
static mst_hlo src_grad(mst_lower *l, mst_hlo weights, mst_hlo gradient, const windows *w) {
    const bool has_groups = w->groups > 1;
    mst_hlo_convolution c = {.groups = w->groups};
    mst_axes window = {.count = w->num_axes};
    for (int k = 0; k < w->num_axes; k++) window.axis[k] = k;
    if (has_groups) weights = exchange_channels(l, weights, w);
    if (w->num_axes == MST_WINDOW_AXES)
        c.dimensions =
            has_groups ? "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" : "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]";
    else
        c.dimensions = has_groups ? "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]"
                                  : "[b, 0, 1, 2, f]x[0, 1, 2, o, i]->[b, 0, 1, 2, f]";
    for (int k = 0; k < w->num_axes; k++) {
        const mst_window *axis = &w->axis[k];
        c.src_dilation[k] = axis->stride;
        c.weights_dilation[k] = axis->dilation;
        c.low[k] = reach_of(axis) - 1 - axis->before;
        c.high[k] = axis->in + reach_of(axis) - 1 - span_of(axis) - c.low[k];
    }
    return convolve(l, gradient, mst_hlo_reverse(l, weights, window), w, &c);
}

void mst_conv_src_grad_lower(mst_lower *l) {
    const windows w = axes_of(l->options, &l->src_spec[0].shape, &l->src_spec[1].shape, &l->src_spec[2].shape);
    l->dst[0] = src_grad(l, l->src[1], l->src[2], &w);
}

void mst_conv_transpose_lower(mst_lower *l) {
    const windows w = axes_of(l->options, &l->dst_spec[0].shape, &l->src_spec[1].shape, &l->src_spec[0].shape);
    l->dst[0] = src_grad(l, l->src[1], l->src[0], &w);
}

void mst_conv_weights_grad_lower(mst_lower *l) {
    const windows w = axes_of(l->options, &l->src_spec[0].shape, &l->src_spec[1].shape, &l->src_spec[2].shape);
    mst_hlo_convolution c = {.batch_groups = w.groups,
                             .dimensions = w.num_axes == MST_WINDOW_AXES ? "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]"
                                                                         : "[f, 0, 1, 2, b]x[i, 0, 1, 2, o]->"
                                                                           "[0, 1, 2, b, f]"};
    for (int k = 0; k < w.num_axes; k++) {
        const mst_window *axis = &w.axis[k];
        c.stride[k] = axis->dilation;
        c.weights_dilation[k] = axis->stride;
        c.low[k] = axis->before;
        c.high[k] = span_of(axis) - 1 + reach_of(axis) - axis->in - axis->before;
    }
    l->dst[0] = convolve(l, l->src[0], l->src[2], &w, &c);
}
