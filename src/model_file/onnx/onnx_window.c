/* Reads the operators of ONNX over windows and channels: convolutions, pooling, normalizations. */
#include <math.h>

#include "model_file/onnx/onnx_limit.h"
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

enum { MOST = 3 /* spatial dimensions */, MOST_GROUPS = 64 };

/* ---- windows ---- */

typedef struct window {
    int ndim; /* number of spatial dimensions, 1 to 3 */
    int64_t size[MOST], strides[MOST], dilations[MOST], before[MOST], behind[MOST];
    mst_window_padding padding;
    bool has_pads;
} window;

/* Reads the attribute NAME, WANT numbers of at least LEAST. If it is missing, each number is OTHERWISE. */
static mst_status window_list(mst_onnx_call *c, const char *name, int64_t least, int want, int64_t otherwise,
                              int64_t *out) {
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_ints(c, name, list, &count));
    if (count && count != want)
        return MST_FAIL(MST_INVALID, "its attribute %s has %d numbers, and must have %d", name, count, want);
    for (int i = 0; i < want; i++) {
        out[i] = count ? list[i] : otherwise;
        if (out[i] < least || out[i] > INT32_MAX)
            return MST_FAIL(MST_INVALID, "its attribute %s has %lld: %lld to %d are supported", name, (long long)out[i],
                            (long long)least, INT32_MAX);
    }
    return MST_OK;
}

/* The size of spatial dimension I, which WHAT needs. Fails if it is not known. */
static mst_status size_in_space(const mst_onnx_call *c, int i, const char *what, int64_t *out) {
    *out = mst_onnx_shape(c, 0).dim[2 + i];
    if (*out < 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "%s is not supported for a dynamic dimension, whose size is unknown until the model runs: "
                        "export the model with a fixed size there",
                        what);
    if (*out > INT32_MAX)
        return MST_FAIL(MST_INVALID, "%s is not supported for a size of %lld: it is too large", what, (long long)*out);
    return MST_OK;
}

/* Sets the pads for SAME_LOWER, or SAME_UPPER, in which an odd element goes to the end. */
static mst_status set_same(const mst_onnx_call *c, bool upper, window *w) {
    const char *what = upper ? "auto_pad SAME_UPPER here" : "auto_pad SAME_LOWER";
    for (int i = 0; i < w->ndim; i++) {
        int64_t in;
        MST_TRY(size_in_space(c, i, what, &in));
        const int64_t out = (in + w->strides[i] - 1) / w->strides[i];
        int64_t all = (out - 1) * w->strides[i] + (w->size[i] - 1) * w->dilations[i] + 1 - in;
        if (all < 0) all = 0;
        if (all > INT32_MAX)
            return MST_FAIL(MST_INVALID, "%s would need pads of %lld, which is too large", what, (long long)all);
        w->behind[i] = upper ? all - all / 2 : all / 2;
        w->before[i] = all - w->behind[i];
        w->has_pads |= all > 0;
    }
    return MST_OK;
}

static mst_status read_pads(mst_onnx_call *c, window *w) {
    int64_t pads[2 * MOST];
    MST_TRY(window_list(c, "pads", 0, 2 * w->ndim, 0, pads));
    if (mst_onnx_is(c, "auto_pad", "SAME_UPPER", "NOTSET")) {
        w->padding = MST_PADDING_SAME;
        return MST_OK;
    }
    if (mst_onnx_is(c, "auto_pad", "SAME_LOWER", "NOTSET")) return set_same(c, false, w);
    if (mst_onnx_is(c, "auto_pad", "VALID", "NOTSET")) return MST_OK;
    if (!mst_onnx_is(c, "auto_pad", "NOTSET", "NOTSET"))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its attribute auto_pad is not supported: NOTSET, SAME_UPPER, SAME_LOWER and VALID are");
    for (int i = 0; i < w->ndim; i++) {
        w->before[i] = pads[i];
        w->behind[i] = pads[w->ndim + i];
        w->has_pads |= pads[i] || pads[w->ndim + i];
    }
    return MST_OK;
}

/* Reads the attributes of a window. SIZE is the window size of the weights, used if the attribute kernel_shape is
 * missing. NULL: the attribute is required. */
static mst_status read_window(mst_onnx_call *c, const int64_t *size, window *w) {
    *w = (window){0};
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    w->ndim = mst_onnx_ndim(c, 0) - 2;
    if (w->ndim < 1 || w->ndim > MOST)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input has %d dimensions, and three to five are supported: [n, channels, ...]",
                        w->ndim + 2);
    int64_t shape[MOST];
    MST_TRY(window_list(c, "kernel_shape", 0, w->ndim, 0, shape));
    for (int i = 0; i < w->ndim; i++) {
        w->size[i] = size ? size[i] : shape[i];
        if (w->size[i] < 0)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "its weights have a dynamic dimension: export the model with weights of a fixed shape");
        if (w->size[i] < 1 || w->size[i] > INT32_MAX || (shape[i] && shape[i] != w->size[i]))
            return MST_FAIL(MST_INVALID, "its kernel_shape has %lld, which is too small or not that of its weights",
                            (long long)(shape[i] ? shape[i] : w->size[i]));
    }
    MST_TRY(window_list(c, "strides", 1, w->ndim, 1, w->strides));
    MST_TRY(window_list(c, "dilations", 1, w->ndim, 1, w->dilations));
    return read_pads(c, w);
}

/* Adds the pads of ceil_mode: the last window may reach beyond the end, but begins inside. With auto_pad VALID, no
 * window reaches beyond the end: ONNX's formula is then the same with and without ceil_mode. */
static mst_status add_ceiling(mst_onnx_call *c, window *w) {
    if (mst_onnx_is(c, "auto_pad", "VALID", "NOTSET")) return MST_OK;
    for (int i = 0; i < w->ndim && w->padding == MST_PADDING_VALID; i++) {
        int64_t in;
        MST_TRY(size_in_space(c, i, "ceil_mode", &in));
        const int64_t all = in + w->before[i] + w->behind[i], reach = (w->size[i] - 1) * w->dilations[i] + 1;
        if (all < reach) continue;
        const int64_t rest = (all - reach) % w->strides[i], more = rest ? w->strides[i] - rest : 0;
        const int64_t begin = all - reach + more; /* of the last window */
        if (!more || begin >= in + w->before[i]) continue;
        if ((w->behind[i] += more) > INT32_MAX)
            return MST_FAIL(MST_INVALID, "ceil_mode would need pads of %lld, which is too large",
                            (long long)w->behind[i]);
        w->has_pads = true;
    }
    return MST_OK;
}

/* Turns a value with one spatial dimension into rows of pictures: [n, 1, steps, channels]. */
static mst_value as_row(const window *w, mst_value x) {
    return w->ndim == 1 ? mst_expand_dims(x, 1) : x;
}

static mst_value of_row(const window *w, mst_value x) {
    return w->ndim == 1 ? mst_squeeze(x, MST_AXES(1)) : x;
}

static mst_axes window_axes(const window *w, const int64_t *list) {
    if (w->ndim == 1) return MST_AXES(1, (int)list[0]);
    mst_axes axes = {.count = w->ndim};
    for (int i = 0; i < w->ndim; i++) axes.axis[i] = (int32_t)list[i];
    return axes;
}

static mst_axes window_pads(const window *w) {
    if (!w->has_pads) return (mst_axes){.count = 0};
    if (w->ndim == 1) return MST_AXES(0, 0, (int)w->before[0], (int)w->behind[0]);
    mst_axes axes = {.count = 2 * w->ndim};
    for (int i = 0; i < w->ndim; i++) {
        axes.axis[2 * i] = (int32_t)w->before[i];
        axes.axis[2 * i + 1] = (int32_t)w->behind[i];
    }
    return axes;
}

/* ---- convolutions ---- */

static mst_status check_weights(const mst_onnx_call *c) {
    if (!mst_onnx_has(c, 0) || !mst_onnx_has(c, 1))
        return MST_FAIL(MST_CORRUPT, "its input or its weights are missing: export the model again");
    const int ndim = mst_onnx_ndim(c, 1);
    if (mst_onnx_ndim(c, 0) == ndim && ndim >= 3) return MST_OK;
    return MST_FAIL(MST_INVALID, "its input has %d dimensions, and its weights have %d: both must have three to five",
                    mst_onnx_ndim(c, 0), ndim);
}

/* Transposes weights from [filters, channels, height, width] to [height, width, channels, filters]. In a transposed
 * convolution, channels and filters are exchanged in both. */
static mst_status read_weights(mst_onnx_call *c, const window *w, mst_value *out) {
    mst_axes perm = {.count = w->ndim + 2};
    for (int i = 0; i < w->ndim; i++) perm.axis[i] = 2 + i;
    perm.axis[w->ndim] = 1;
    MST_TRY(mst_onnx_turned(c, 1, perm, out));
    if (w->ndim == 1) *out = mst_expand_dims(*out, 0);
    return MST_OK;
}

static mst_status put_with_bias(mst_onnx_call *c, mst_value y) {
    mst_value bias;
    if (!mst_onnx_has(c, 2)) return mst_onnx_put_last(c, 0, y);
    MST_TRY(mst_onnx_plain(c, 2, &bias));
    return mst_onnx_put_last(c, 0, mst_add(y, bias));
}

static mst_status read_conv(mst_onnx_call *c) {
    window w;
    mst_value x, weights;
    const int64_t groups = mst_onnx_int(c, "group", 1);
    MST_TRY(check_weights(c));
    const mst_shape shape = mst_onnx_shape(c, 1);
    if (groups < 1 || groups > INT32_MAX)
        return MST_FAIL(MST_INVALID, "its attribute group is %lld: it must be at least 1, and fit into 32 bits",
                        (long long)groups);
    MST_TRY(read_window(c, shape.dim + 2, &w));
    MST_TRY(mst_onnx_last(c, 0, &x));
    MST_TRY(read_weights(c, &w, &weights));
    const mst_conv2d_options options = {.src = as_row(&w, x),
                                        .weights = weights,
                                        .strides = window_axes(&w, w.strides),
                                        .padding = w.padding,
                                        .pads = window_pads(&w),
                                        .dilations = window_axes(&w, w.dilations),
                                        .groups = (int32_t)groups};
    return put_with_bias(c, of_row(&w, w.ndim == MOST ? mst_conv3d_with(options) : mst_conv2d_with(options)));
}

/* The sizes of the output, from output_shape, auto_pad or the pads. If the transposed convolution gives more elements,
 * BEFORE of them are cut off at the start. */
static mst_status sizes_of_transposed(mst_onnx_call *c, const window *w, int64_t before[MOST], int64_t size[MOST]) {
    int64_t extra[MOST], given[MOST];
    const bool upper = mst_onnx_is(c, "auto_pad", "SAME_UPPER", "NOTSET");
    const bool same = upper || mst_onnx_is(c, "auto_pad", "SAME_LOWER", "NOTSET");
    MST_TRY(window_list(c, "output_padding", 0, w->ndim, 0, extra));
    MST_TRY(window_list(c, "output_shape", 0, w->ndim, 0, given));
    for (int i = 0; i < w->ndim; i++) {
        int64_t in;
        MST_TRY(size_in_space(c, i, "a transposed convolution", &in));
        const int64_t all = (in - 1) * w->strides[i] + extra[i] + (w->size[i] - 1) * w->dilations[i] + 1;
        const bool is_given = given[i] > 0 || same;
        size[i] = given[i] > 0 ? given[i] : same ? in * w->strides[i] : all - w->before[i] - w->behind[i];
        const int64_t cut = all > size[i] ? all - size[i] : 0;
        before[i] = !is_given ? w->before[i] : upper ? cut / 2 : cut - cut / 2;
        if (size[i] < 1 || size[i] > INT32_MAX)
            return MST_FAIL(MST_INVALID,
                            "its output would have a dimension of size %lld: check its pads and output_shape",
                            (long long)size[i]);
    }
    return MST_OK;
}

/* SIZE elements of Y along each spatial dimension, beginning at BEFORE. Y is cut, or zeros are appended. */
static mst_value cut_to_size(const window *w, mst_value y, const int64_t *before, const int64_t *size) {
    mst_shape begin = {.ndim = w->ndim + 2}, length = {.ndim = w->ndim + 2}, more = {.ndim = w->ndim + 2};
    mst_shape none = {.ndim = w->ndim + 2};
    const mst_shape shape = mst_value_spec(y).shape;
    bool pads = false;
    length.dim[0] = length.dim[w->ndim + 1] = -1; /* -1: all */
    for (int i = 1; i <= w->ndim; i++) {
        begin.dim[i] = before[i - 1];
        length.dim[i] = size[i - 1];
        more.dim[i] = before[i - 1] + size[i - 1] > shape.dim[i] ? before[i - 1] + size[i - 1] - shape.dim[i] : 0;
        pads |= more.dim[i] > 0;
    }
    return mst_slice(pads ? mst_pad(y, .before = none, .after = more) : y, begin, length);
}

/* Part PART of PARTS of the last axis. */
static mst_value part_of_last(mst_value x, int64_t part, int64_t parts) {
    const mst_shape shape = mst_value_spec(x).shape;
    mst_shape begin = {.ndim = shape.ndim}, length = {.ndim = shape.ndim};
    for (int i = 0; i < shape.ndim; i++) length.dim[i] = -1;
    length.dim[shape.ndim - 1] = shape.dim[shape.ndim - 1] / parts;
    begin.dim[shape.ndim - 1] = part * length.dim[shape.ndim - 1];
    return mst_slice(x, begin, length);
}

static mst_status read_conv_transpose(mst_onnx_call *c) {
    window w;
    mst_value x, weights, part[MOST_GROUPS];
    int64_t before[MOST], size[MOST];
    const int64_t groups = mst_onnx_int(c, "group", 1);
    MST_TRY(check_weights(c));
    const mst_shape shape = mst_onnx_shape(c, 1);
    if (groups < 1 || groups > MOST_GROUPS || shape.dim[0] % groups)
        return MST_FAIL(
            groups < 1 ? MST_INVALID : MST_UNIMPLEMENTED,
            "it has %lld groups of %lld channels: at most 64 are supported, and they must divide the channels",
            (long long)groups, (long long)shape.dim[0]);
    MST_TRY(read_window(c, shape.dim + 2, &w));
    MST_TRY(sizes_of_transposed(c, &w, before, size));
    MST_TRY(mst_onnx_last(c, 0, &x));
    MST_TRY(read_weights(c, &w, &weights));
    x = as_row(&w, x);
    for (int64_t g = 0; g < groups; g++) {
        const mst_conv2d_options options = {.src = groups > 1 ? part_of_last(x, g, groups) : x,
                                            .weights = groups > 1 ? part_of_last(weights, g, groups) : weights,
                                            .strides = window_axes(&w, w.strides),
                                            .dilations = window_axes(&w, w.dilations)};
        part[g] = w.ndim == MOST ? mst_conv3d_transpose_with(options) : mst_conv2d_transpose_with(options);
    }
    const mst_value y = of_row(&w, groups > 1 ? mst_concat(part, (int)groups, -1) : part[0]);
    MST_TRY(mst_graph_check(c->reader->graph));
    return put_with_bias(c, cut_to_size(&w, y, before, size));
}

/* ---- pooling ---- */

static mst_pool2d_options pool_options(const window *w, mst_value src) {
    return (mst_pool2d_options){.src = src,
                                .size = window_axes(w, w->size),
                                .strides = window_axes(w, w->strides),
                                .padding = w->padding,
                                .pads = window_pads(w)};
}

/* ---- pooling along one axis after the other ---- */

enum { MOST_STEPS = 256 };
typedef enum { POOL_LARGEST, POOL_MEAN, POOL_SUM } pool_kind;

static bool is_dilated(const window *w) {
    bool dilated = false;
    for (int i = 0; i < w->ndim; i++) dilated |= w->dilations[i] != 1;
    return dilated;
}

/* Element STEP of each of COUNT windows along spatial dimension I. */
static mst_value step_of_windows(const window *w, mst_value x, int i, int64_t step, int64_t count) {
    const int ndim = w->ndim + 2, all = (1 << ndim) - 1;
    mst_strided_slice_options o = {.src = x, .begin_mask = all & ~(2 << i), .end_mask = all & ~(2 << i)};
    o.begin.count = o.end.count = o.strides.count = ndim;
    for (int k = 0; k < ndim; k++) o.strides.axis[k] = 1;
    o.begin.axis[1 + i] = (int32_t)(step * w->dilations[i]);
    o.end.axis[1 + i] = (int32_t)(step * w->dilations[i] + (count - 1) * w->strides[i] + 1);
    o.strides.axis[1 + i] = (int32_t)w->strides[i];
    return mst_strided_slice_with(o);
}

/* The number of elements of a window along dimension I, beginning at 0, that lie before END. */
static int64_t steps_before(const window *w, int i, int64_t end) {
    const int64_t steps = end <= 0 ? 0 : (end - 1) / w->dilations[i] + 1;
    return steps < w->size[i] ? steps : w->size[i];
}

/* For each of COUNT windows along dimension I: 1 / the number of its elements from RANGE[0] to RANGE[1] - 1, or 0 if it
 * has none there. */
static mst_status inverse_counts(const mst_onnx_call *c, const window *w, mst_dtype dtype, int i, int64_t count,
                                 const int64_t range[2], mst_value *out) {
    mst_shape shape = {.ndim = w->ndim + 2};
    mst_tensor *tensor;
    for (int k = 0; k < shape.ndim; k++) shape.dim[k] = k == 1 + i ? count : 1;
    MST_TRY(mst_onnx_limit_weights(c->reader, count * (int64_t)mst_dtype_size(dtype)));
    MST_TRY(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t k = 0; k < count; k++) {
        const int64_t first = k * w->strides[i];
        const int64_t inside = steps_before(w, i, range[1] - first) - steps_before(w, i, range[0] - first);
        mst_tensor_set(tensor, k, inside ? 1.0 / (double)inside : 0);
    }
    *out = mst_constant(c->reader->graph, tensor);
    mst_tensor_release(tensor);
    return mst_graph_check(c->reader->graph);
}

/* Replaces *X, which has been padded to ALL elements along dimension I, by the maximum, mean or sum of each window
 * along this dimension. A mean divides by the number of elements in RANGE. */
static mst_status pool_axis(const mst_onnx_call *c, const window *w, int i, int64_t all, pool_kind kind,
                            const int64_t range[2], mst_value *x) {
    const int64_t count = (all - (w->size[i] - 1) * w->dilations[i] - 1) / w->strides[i] + 1;
    mst_value y = step_of_windows(w, *x, i, 0, count), by;
    for (int64_t k = 1; k < w->size[i]; k++) {
        const mst_value part = step_of_windows(w, *x, i, k, count);
        y = kind == POOL_LARGEST ? mst_maximum(y, part) : mst_add(y, part);
    }
    if (kind == POOL_MEAN) {
        MST_TRY(inverse_counts(c, w, mst_value_spec(*x).dtype, i, count, range, &by));
        y = mst_mul(y, by);
    }
    *x = y;
    return mst_graph_check(c->reader->graph);
}

/* Pools X, input 0 with its channels last, along one axis after the other, with strided slices. This is for poolings
 * with dilations, and for means that count the pads of auto_pad. W has all pads, GIVEN those without ceil_mode. COUNTS:
 * means count the pads in GIVEN. ROOT k: the result becomes its k-th root. */
static mst_status pool_by_axes(mst_onnx_call *c, mst_value x, window w, const window *given, pool_kind kind,
                               bool counts, int64_t root) {
    mst_shape before = {.ndim = w.ndim + 2}, after = before;
    int64_t all[MOST];
    for (int i = 0; i < w.ndim; i++) {
        int64_t in;
        MST_TRY(size_in_space(c, i, "this pooling", &in));
        all[i] = in + w.before[i] + w.behind[i];
        before.dim[1 + i] = w.before[i];
        after.dim[1 + i] = w.behind[i];
        if (w.size[i] > MOST_STEPS || all[i] > INT32_MAX)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "with dilations, windows of at most %d elements along an axis are supported", MOST_STEPS);
        if (all[i] < (w.size[i] - 1) * w.dilations[i] + 1)
            return MST_FAIL(MST_INVALID, "its window is larger than its input, which has %lld elements along an axis",
                            (long long)all[i]);
    }
    if (w.has_pads)
        x = mst_pad(x, .before = before, .after = after, .value = kind == POOL_LARGEST ? -(double)INFINITY : 0);
    MST_TRY(mst_graph_check(c->reader->graph));
    MST_TRY(mst_onnx_limit_check(c));
    for (int i = 0; i < w.ndim; i++) {
        const int64_t range[2] = {counts ? 0 : w.before[i],
                                  counts ? all[i] - w.behind[i] + given->behind[i] : all[i] - w.behind[i]};
        MST_TRY(pool_axis(c, &w, i, all[i], kind, range, &x));
    }
    if (root > 1) x = mst_pow(x, mst_scalar(c->reader->graph, mst_value_spec(x).dtype, 1.0 / (double)root));
    return mst_onnx_put_last(c, 0, x);
}

static mst_status read_max_pool(mst_onnx_call *c) {
    window w;
    mst_value x;
    if (mst_onnx_wants(c, 1)) return MST_FAIL(MST_UNIMPLEMENTED, "its second output, the indices, is not supported");
    MST_TRY(read_window(c, NULL, &w));
    (void)mst_onnx_int(c, "storage_order", 0); /* only matters for indices */
    const window given = w;
    if (is_dilated(&w) && w.padding == MST_PADDING_SAME) {
        w.padding = MST_PADDING_VALID;
        MST_TRY(set_same(c, true, &w));
    } else if (mst_onnx_int(c, "ceil_mode", 0)) {
        MST_TRY(add_ceiling(c, &w));
    }
    (void)mst_onnx_int(c, "ceil_mode", 0);
    MST_TRY(mst_onnx_last(c, 0, &x));
    if (is_dilated(&w)) return pool_by_axes(c, x, w, &given, POOL_LARGEST, false, 1);
    const mst_pool2d_options options = pool_options(&w, as_row(&w, x));
    return mst_onnx_put_last(c, 0,
                             of_row(&w, w.ndim == MOST ? mst_max_pool3d_with(options) : mst_max_pool2d_with(options)));
}

static mst_status read_average_pool(mst_onnx_call *c) {
    window w;
    mst_value x;
    const bool ceiling = mst_onnx_int(c, "ceil_mode", 0) != 0;
    const bool counts = mst_onnx_int(c, "count_include_pad", 0) != 0;
    MST_TRY(read_window(c, NULL, &w));
    const bool by_axes = is_dilated(&w) || (counts && w.padding == MST_PADDING_SAME);
    if (by_axes && w.padding == MST_PADDING_SAME) {
        w.padding = MST_PADDING_VALID;
        MST_TRY(set_same(c, true, &w));
    }
    const window given = w;
    if (ceiling) MST_TRY(add_ceiling(c, &w));
    MST_TRY(mst_onnx_last(c, 0, &x));
    if (by_axes) return pool_by_axes(c, x, w, &given, POOL_MEAN, counts, 1);
    x = as_row(&w, x);
    if (counts && given.has_pads) { /* pads with zeros, which the mean counts; it does not count those of ceil_mode */
        const mst_axes pads = window_pads(&given);
        mst_shape before = {.ndim = pads.count / 2 + 2}, after = before;
        for (int i = 0; i < pads.count / 2; i++)
            before.dim[1 + i] = pads.axis[2 * i], after.dim[1 + i] = pads.axis[2 * i + 1];
        x = mst_pad(x, .before = before, .after = after);
        w.has_pads = false;
        for (int i = 0; i < w.ndim; i++) {
            w.before[i] = 0;
            w.behind[i] -= given.behind[i];
            w.has_pads |= w.behind[i] > 0;
        }
    }
    const mst_pool2d_options options = pool_options(&w, x);
    return mst_onnx_put_last(c, 0,
                             of_row(&w, w.ndim == MOST ? mst_avg_pool3d_with(options) : mst_avg_pool2d_with(options)));
}

/* (sum of |x|^p)^(1/p) over each window */
static mst_status read_lp_pool(mst_onnx_call *c) {
    window w;
    mst_value x;
    const int64_t p = mst_onnx_int(c, "p", 2);
    if (p < 1 || p > INT16_MAX)
        return MST_FAIL(MST_INVALID, "its attribute p is %lld: 1 to %d are supported", (long long)p, INT16_MAX);
    MST_TRY(read_window(c, NULL, &w));
    if (w.padding == MST_PADDING_SAME) {
        w.padding = MST_PADDING_VALID;
        MST_TRY(set_same(c, true, &w));
    }
    const window given = w;
    if (mst_onnx_int(c, "ceil_mode", 0)) MST_TRY(add_ceiling(c, &w));
    MST_TRY(mst_onnx_last(c, 0, &x));
    const mst_dtype dtype = mst_value_spec(x).dtype;
    if (!mst_dtype_is_float(dtype)) return MST_FAIL(MST_UNIMPLEMENTED, "its input must be of floats");
    x = p == 1 ? mst_abs(x) : mst_pow(mst_abs(x), mst_scalar(c->reader->graph, dtype, (double)p));
    return pool_by_axes(c, x, w, &given, POOL_SUM, false, p);
}

static mst_status global_pool(mst_onnx_call *c, bool largest) {
    mst_value x;
    MST_TRY(mst_onnx_last(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    if (ndim < 3)
        return MST_FAIL(MST_INVALID, "its input has %d dimensions, and must have three or more: [n, channels, ...]",
                        ndim);
    mst_axes axes = {.count = ndim - 2};
    for (int i = 0; i < axes.count; i++) axes.axis[i] = i + 1;
    return mst_onnx_put_last(
        c, 0, largest ? mst_reduce_max(x, axes, .keep_dims = true) : mst_reduce_mean(x, axes, .keep_dims = true));
}

static mst_status read_global_average(mst_onnx_call *c) {
    return global_pool(c, false);
}

static mst_status read_global_max(mst_onnx_call *c) {
    return global_pool(c, true);
}

/* ---- normalizations ---- */

static mst_status read_batch_norm(mst_onnx_call *c) {
    mst_value x, weight[4]; /* scale, shift, mean, variance */
    const double epsilon = (double)mst_onnx_float(c, "epsilon", 1e-5F);
    (void)mst_onnx_float(c, "momentum", 0.9F);
    if (mst_onnx_int(c, "training_mode", 0))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "training_mode is not supported: export the model for inference (model.eval() in PyTorch)");
    MST_TRY(mst_onnx_last(c, 0, &x));
    mst_status status = MST_OK;
    for (size_t i = 0; i < 4 && !status; i++) {
        c->reader->not_trainable = i >= 2;
        status = mst_onnx_plain(c, 1 + i, &weight[i]);
    }
    c->reader->not_trainable = false;
    MST_TRY(status);
    const mst_value small = mst_scalar(c->reader->graph, mst_value_spec(weight[3]).dtype, epsilon);
    const mst_value scale = mst_mul(weight[0], mst_rsqrt(mst_add(weight[3], small)));
    return mst_onnx_put_last(c, 0, mst_add(mst_mul(x, scale), mst_sub(weight[1], mst_mul(weight[2], scale))));
}

/* (x - mean) / sqrt(variance + epsilon) over AXES */
typedef struct normalized {
    mst_value value, mean, inverse; /* inverse: 1 / sqrt(variance + epsilon) */
} normalized;

static mst_status normalize(mst_onnx_call *c, mst_value x, mst_axes axes, double epsilon, normalized *out) {
    const mst_value mean = mst_reduce_mean(x, axes, .keep_dims = true), off = mst_sub(x, mean);
    const mst_value variance = mst_reduce_mean(mst_square(off), axes, .keep_dims = true);
    const mst_value small = mst_scalar(c->reader->graph, mst_value_spec(x).dtype, epsilon);
    const mst_value inverse = mst_rsqrt(mst_add(variance, small));
    *out = (normalized){mst_mul(off, inverse), mean, inverse};
    return mst_graph_check(c->reader->graph);
}

static mst_status read_layer_norm(mst_onnx_call *c) {
    mst_value x, weight;
    normalized y;
    int axis;
    const double epsilon = (double)mst_onnx_float(c, "epsilon", 1e-5F);
    (void)mst_onnx_int(c, "stash_type", 1);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", -1), ndim, &axis));
    mst_axes axes = {.count = ndim - axis};
    for (int i = 0; i < axes.count; i++) axes.axis[i] = axis + i;
    MST_TRY(normalize(c, x, axes, epsilon, &y));
    MST_TRY(mst_onnx_plain(c, 1, &weight));
    const mst_value scaled = mst_mul(y.value, weight);
    MST_TRY(mst_onnx_put(c, 1, y.mean));
    MST_TRY(mst_onnx_put(c, 2, y.inverse));
    if (!mst_onnx_has(c, 2)) return mst_onnx_put(c, 0, scaled);
    MST_TRY(mst_onnx_plain(c, 2, &weight));
    return mst_onnx_put(c, 0, mst_add(scaled, weight));
}

static mst_status read_instance_norm(mst_onnx_call *c) {
    mst_value x, weight[2];
    normalized y;
    MST_TRY(mst_onnx_last(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    if (ndim < 3)
        return MST_FAIL(MST_INVALID, "its input has %d dimensions, and must have three or more: [n, channels, ...]",
                        ndim);
    mst_axes axes = {.count = ndim - 2};
    for (int i = 0; i < axes.count; i++) axes.axis[i] = i + 1;
    MST_TRY(normalize(c, x, axes, (double)mst_onnx_float(c, "epsilon", 1e-5F), &y));
    for (size_t i = 0; i < 2; i++) MST_TRY(mst_onnx_plain(c, 1 + i, &weight[i]));
    return mst_onnx_put_last(c, 0, mst_add(mst_mul(y.value, weight[0]), weight[1]));
}

/* ---- softmax ---- */

static mst_status read_rows(mst_onnx_call *c, mst_value (*function)(mst_value)) {
    mst_value x;
    int axis;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", -1), ndim, &axis));
    if (axis == 1 && ndim > 2) { /* the channels */
        MST_TRY(mst_onnx_last(c, 0, &x));
        return mst_onnx_put_last(c, 0, function(x));
    }
    MST_TRY(mst_onnx_plain(c, 0, &x));
    if (axis == ndim - 1) return mst_onnx_put(c, 0, function(x));
    mst_axes swap = {.count = ndim}; /* its own inverse */
    for (int i = 0; i < ndim; i++) swap.axis[i] = i == axis ? ndim - 1 : i == ndim - 1 ? axis : i;
    return mst_onnx_put(c, 0, mst_transpose(function(mst_transpose(x, swap)), swap));
}

static mst_status read_softmax(mst_onnx_call *c) {
    return read_rows(c, mst_softmax);
}

/* 1 at the first largest element along the axis, else 0 */
static mst_value hardmax(mst_value x) {
    const mst_spec spec = mst_value_spec(x);
    const int64_t size = spec.shape.dim[spec.shape.ndim - 1];
    if (size < 1)
        return mst_value_fail(mst_value_graph(x), MST_UNIMPLEMENTED,
                              "its axis must have a fixed number of elements, at least 1");
    return mst_one_hot(mst_argmax(x, .axis = -1), .depth = size, .dtype = spec.dtype);
}

static mst_status read_hardmax(mst_onnx_call *c) {
    return read_rows(c, hardmax);
}

static mst_status read_log_softmax(mst_onnx_call *c) {
    return read_rows(c, mst_log_softmax);
}

const mst_onnx_op mst_onnx_window_ops[] = {
    {"AveragePool", .read = read_average_pool},
    {"BatchNormalization", .read = read_batch_norm},
    {"Conv", .read = read_conv},
    {"ConvTranspose", .read = read_conv_transpose},
    {"GlobalAveragePool", .read = read_global_average},
    {"GlobalMaxPool", .read = read_global_max},
    {"Hardmax", .read = read_hardmax},
    {"InstanceNormalization", .read = read_instance_norm},
    {"LayerNormalization", .read = read_layer_norm},
    {"LpPool", .read = read_lp_pool},
    {"LogSoftmax", .read = read_log_softmax},
    {"MaxPool", .read = read_max_pool},
    {"Softmax", .read = read_softmax},
    {0},
};
