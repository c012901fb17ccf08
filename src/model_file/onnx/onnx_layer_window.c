/* Operators of ONNX over windows and pixels that become layers: convolutions, pooling, and larger pixels. */
#include <string.h>

#include "model_file/onnx/onnx_layers.h"
#include "muster/layers.h"

enum { MOST = 3 /* spatial dimensions */ };

/* ---- windows ---- */

typedef struct window {
    int ndim; /* spatial dimensions */
    int64_t size[MOST], strides[MOST], dilations[MOST], pads[2 * MOST];
    bool same, has_pads;
} window;

static mst_status window_list(mst_onnx_layer_call *c, const char *name, int want, int64_t otherwise, int64_t *out) {
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_ints(&c->onnx, name, list, &count));
    if (count && count != want)
        return MST_FAIL(MST_INVALID, "its attribute %s has %d numbers, and must have %d", name, count, want);
    for (int i = 0; i < want; i++) {
        out[i] = count ? list[i] : otherwise;
        if (out[i] < 0 || out[i] > INT16_MAX || (!out[i] && otherwise))
            return MST_FAIL(MST_INVALID, "its attribute %s has %lld: %d to %d are supported", name, (long long)out[i],
                            otherwise ? 1 : 0, INT16_MAX);
    }
    return MST_OK;
}

/* Reads the attributes of a window over X. SIZE is the window size of the weights; NULL: it is in kernel_shape. */
static mst_status read_window(mst_onnx_layer_call *c, const mst_onnx_layer_value *x, const int64_t *size, window *w) {
    *w = (window){.ndim = x->ndim - 2};
    if (w->ndim < 1 || w->ndim > MOST)
        return MST_FAIL(MST_UNIMPLEMENTED, "its input has %d dimensions, and three to five become a layer", x->ndim);
    int64_t shape[MOST];
    MST_TRY(window_list(c, "kernel_shape", w->ndim, size ? 0 : 1, shape));
    for (int i = 0; i < w->ndim; i++) {
        w->size[i] = size ? size[i] : shape[i];
        if (w->size[i] < 1 || w->size[i] > INT16_MAX || (size && shape[i] && shape[i] != size[i]))
            return MST_FAIL(MST_INVALID, "its kernel_shape is not that of its weights, or too large");
    }
    MST_TRY(window_list(c, "strides", w->ndim, 1, w->strides));
    MST_TRY(window_list(c, "dilations", w->ndim, 1, w->dilations));
    MST_TRY(window_list(c, "pads", 2 * w->ndim, 0, w->pads));
    const bool none = mst_onnx_is(&c->onnx, "auto_pad", "NOTSET", "NOTSET");
    w->same = mst_onnx_is(&c->onnx, "auto_pad", "SAME_UPPER", "NOTSET");
    if (!none && !w->same && !mst_onnx_is(&c->onnx, "auto_pad", "VALID", "NOTSET"))
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute auto_pad must be NOTSET, VALID or SAME_UPPER for a layer");
    bool is_same = none; /* the pads are those of padding same: strides of 1, and an odd element at the end */
    for (int i = 0; none && i < w->ndim; i++) {
        const int64_t all = (w->size[i] - 1) * w->dilations[i];
        w->has_pads |= w->pads[i] || w->pads[w->ndim + i];
        is_same &= w->strides[i] == 1 && w->pads[i] == all / 2 && w->pads[w->ndim + i] == all - all / 2;
    }
    if (is_same && w->has_pads) {
        w->same = true;
        w->has_pads = false;
    }
    return MST_OK;
}

static mst_axes axes_of(const window *w, const int64_t *list) {
    mst_axes axes = {.count = w->ndim};
    for (int i = 0; i < w->ndim; i++) axes.axis[i] = (int32_t)list[i];
    return axes;
}

/* The pads in the order of layers' options: before and after dimension 1, before and after dimension 2, ... */
static mst_axes sides_of(const window *w) {
    mst_axes sides = {.count = 2 * w->ndim};
    for (int i = 0; i < w->ndim; i++) {
        sides.axis[2 * i] = (int32_t)w->pads[i];
        sides.axis[2 * i + 1] = (int32_t)w->pads[w->ndim + i];
    }
    return sides;
}

static mst_output with_zeros(const window *w, mst_output x) {
    const mst_axes sides = sides_of(w);
    return w->ndim == 1   ? mst_zero_padding1d(x, .sides = sides)
           : w->ndim == 2 ? mst_zero_padding2d(x, .sides = sides)
                          : mst_zero_padding3d(x, .sides = sides);
}

mst_status mst_onnx_layer_pixels(mst_onnx_layer_call *c, mst_onnx_layer_value *x) {
    MST_TRY(mst_onnx_layer_input(c, 0, x));
    if (x->ndim < 3) return MST_FAIL(MST_INVALID, "its input has %d dimensions, and must have three to five", x->ndim);
    if (x->last) return MST_OK;
    mst_axes dims = {.count = x->ndim - 1};
    for (int k = 0; k < dims.count; k++) dims.axis[k] = k == dims.count - 1 ? 1 : k + 2;
    x->out = mst_permute(x->out, dims);
    x->last = true;
    x->channels = 0;
    return mst_model_check(c->layers->model);
}

/* ---- convolutions ---- */

static mst_output convolve(const window *w, mst_output x, int64_t filters, int64_t groups, bool bias,
                           const char *name) {
    const mst_window_padding padding = w->same ? MST_PADDING_SAME : MST_PADDING_VALID;
    const int32_t size = (int32_t)w->size[0], strides = (int32_t)w->strides[0], dilation = (int32_t)w->dilations[0];
    if (w->ndim == 1)
        return mst_conv1d(x, filters, size, .strides = strides, .padding = padding, .dilation_rate = dilation,
                          .groups = (int32_t)groups, .no_bias = !bias, .name = name);
    if (w->ndim == 2)
        return mst_conv2d(x, filters, size, .kernel_width = (int32_t)w->size[1], .strides = strides,
                          .strides_width = (int32_t)w->strides[1], .padding = padding, .dilation_rate = dilation,
                          .dilation_width = (int32_t)w->dilations[1], .groups = (int32_t)groups, .no_bias = !bias,
                          .name = name);
    return mst_conv3d(x, filters, axes_of(w, w->size), .strides = axes_of(w, w->strides), .padding = padding,
                      .dilation_rate = axes_of(w, w->dilations), .groups = (int32_t)groups, .no_bias = !bias,
                      .name = name);
}

static mst_output convolve_depthwise(const window *w, mst_output x, int64_t multiplier, bool bias, const char *name) {
    const mst_window_padding padding = w->same ? MST_PADDING_SAME : MST_PADDING_VALID;
    const int32_t size = (int32_t)w->size[0], strides = (int32_t)w->strides[0], dilation = (int32_t)w->dilations[0];
    if (w->ndim == 1)
        return mst_depthwise_conv1d(x, size, .strides = strides, .padding = padding, .dilation_rate = dilation,
                                    .depth_multiplier = (int32_t)multiplier, .no_bias = !bias, .name = name);
    return mst_depthwise_conv2d(x, size, .kernel_width = (int32_t)w->size[1], .strides = strides,
                                .strides_width = (int32_t)w->strides[1], .padding = padding, .dilation_rate = dilation,
                                .dilation_width = (int32_t)w->dilations[1], .depth_multiplier = (int32_t)multiplier,
                                .no_bias = !bias, .name = name);
}

/* [filters, channels / groups, height, width] as [height, width, channels / groups, filters], or with DEPTHWISE as
 * [height, width, channels, filters of each]. */
static mst_status new_kernel(mst_tensor *tensor, bool depthwise, int64_t groups, mst_tensor **out) {
    mst_shape from = mst_tensor_shape(tensor);
    mst_axes perm = {.count = from.ndim};
    for (int i = 0; i < from.ndim - 2; i++) perm.axis[i] = i + 2;
    perm.axis[from.ndim - 2] = depthwise ? 0 : 1;
    perm.axis[from.ndim - 1] = depthwise ? 1 : 0;
    if (depthwise) {
        from.dim[1] = from.dim[0] / groups;
        from.dim[0] = groups;
    }
    return mst_tensor_turn(tensor, from, perm, out);
}

/* Input 1, the weights of a convolution over X. */
static mst_status read_weights(const mst_onnx_layer_call *c, const mst_onnx_layer_value *x, mst_tensor **out) {
    MST_TRY(mst_onnx_layer_constant(c, 1, out));
    const int ndim = mst_tensor_shape(*out).ndim;
    if (ndim == x->ndim && mst_tensor_dtype(*out) == MST_F32) return MST_OK;
    return MST_FAIL(MST_INVALID, "its input has %d dimensions and its weights have %d: as many, of float32, are needed",
                    x->ndim, ndim);
}

/* Sets *BIAS to the bias of FILTERS numbers, which is input 2 or belongs to a following Add; NULL: there is none. Notes
 * that the weights, input 1, and the bias are used. */
static mst_status take_weights(mst_onnx_layer_call *c, int ndim, int64_t filters, mst_tensor **bias) {
    MST_TRY(mst_onnx_layer_take(c, 1));
    if (!mst_onnx_layer_has(c, 2)) return mst_onnx_layer_take_bias(c, ndim, 1, filters, bias);
    MST_TRY(mst_onnx_layer_constant(c, 2, bias));
    return mst_onnx_layer_take(c, 2);
}

/* Notes KERNEL and BIAS as the weights of the layer of OUT. Takes ownership of KERNEL. */
static mst_status weigh(mst_onnx_layer_call *c, mst_output out, mst_tensor *kernel, mst_tensor *bias, int64_t filters) {
    mst_tensor *shift;
    MST_TRY(mst_onnx_layer_weigh(c, out, "kernel", kernel));
    if (!bias) return MST_OK;
    MST_TRY(mst_onnx_layer_vector(bias, filters, 1, &shift));
    return mst_onnx_layer_weigh(c, out, "bias", shift);
}

static mst_status put_pixels(mst_onnx_layer_call *c, mst_output out, int ndim, int64_t channels) {
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.out = out, .ndim = ndim, .last = true, .channels = channels});
}

static mst_status read_conv(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    window w;
    mst_tensor *tensor, *bias, *kernel;
    char name[MST_ONNX_LAYER_NAME];
    const int64_t groups = mst_onnx_int(&c->onnx, "group", 1);
    MST_TRY(mst_onnx_layer_pixels(c, &x));
    MST_TRY(read_weights(c, &x, &tensor));
    const mst_shape shape = mst_tensor_shape(tensor);
    const int64_t filters = shape.dim[0];
    if (groups < 1 || groups > INT32_MAX || filters < 1 || filters % groups)
        return MST_FAIL(MST_INVALID, "its group is %lld, which does not divide its %lld filters", (long long)groups,
                        (long long)filters);
    MST_TRY(read_window(c, &x, shape.dim + 2, &w));
    MST_TRY(take_weights(c, x.ndim, filters, &bias));
    const bool depthwise = groups > 1 && shape.dim[1] == 1 && w.ndim < MOST;
    const char *named = mst_onnx_layer_name(c, 1, name);
    if (w.has_pads) x.out = with_zeros(&w, x.out);
    MST_TRY(new_kernel(tensor, depthwise, groups, &kernel));
    x.out = depthwise ? convolve_depthwise(&w, x.out, filters / groups, bias != NULL, named)
                      : convolve(&w, x.out, filters, groups, bias != NULL, named);
    MST_TRY(weigh(c, x.out, kernel, bias, filters));
    return put_pixels(c, x.out, x.ndim, filters);
}

/* ---- transposed convolutions ---- */

static mst_output convolve_transposed(const window *w, mst_output x, int64_t filters, bool bias, const char *name) {
    const mst_window_padding padding = w->same ? MST_PADDING_SAME : MST_PADDING_VALID;
    const int32_t size = (int32_t)w->size[0], strides = (int32_t)w->strides[0], dilation = (int32_t)w->dilations[0];
    if (w->ndim == 1)
        return mst_conv1d_transpose(x, filters, size, .strides = strides, .padding = padding, .dilation_rate = dilation,
                                    .no_bias = !bias, .name = name);
    if (w->ndim == 2)
        return mst_conv2d_transpose(x, filters, size, .kernel_width = (int32_t)w->size[1], .strides = strides,
                                    .strides_width = (int32_t)w->strides[1], .padding = padding,
                                    .dilation_rate = dilation, .dilation_width = (int32_t)w->dilations[1],
                                    .no_bias = !bias, .name = name);
    return mst_conv3d_transpose(x, filters, axes_of(w, w->size), .strides = axes_of(w, w->strides), .padding = padding,
                                .dilation_rate = axes_of(w, w->dilations), .no_bias = !bias, .name = name);
}

/* Sets the pads of W to the numbers of elements that are cut from the ends of the result with padding valid. If padding
 * same would cut the same numbers, W gets that padding instead. */
static mst_status find_cuts(mst_onnx_layer_call *c, window *w) {
    int64_t more[MOST]; /* elements of the result at the end */
    bool is_same = true, cuts = false;
    MST_TRY(window_list(c, "output_padding", w->ndim, 0, more));
    for (int i = 0; i < w->ndim; i++) {
        const int64_t beyond = (w->size[i] - 1) * w->dilations[i] + 1 - w->strides[i];
        int64_t *begin = &w->pads[i], *end = &w->pads[w->ndim + i];
        if (w->same) {
            *begin = beyond / 2;
            *end = beyond - *begin;
        }
        *end -= more[i];
        if (beyond < 0 || *end < 0)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "its windows are shorter than its strides, or its output_padding is above its pads: no "
                            "layer of Keras has that");
        is_same &= *begin == beyond / 2 && *end == beyond - beyond / 2;
        cuts |= *begin || *end;
    }
    w->same = cuts && is_same;
    w->has_pads = cuts && !is_same;
    return MST_OK;
}

static mst_output without_ends(const window *w, mst_output x) {
    const mst_axes sides = sides_of(w);
    return w->ndim == 1   ? mst_cropping1d(x, .sides = sides)
           : w->ndim == 2 ? mst_cropping2d(x, .sides = sides)
                          : mst_cropping3d(x, .sides = sides);
}

static mst_status read_conv_transpose(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    window w;
    mst_tensor *tensor, *bias, *kernel;
    char name[MST_ONNX_LAYER_NAME];
    if (mst_onnx_int(&c->onnx, "group", 1) != 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "no transposed convolution of Keras has groups");
    MST_TRY(mst_onnx_layer_pixels(c, &x));
    MST_TRY(read_weights(c, &x, &tensor));
    const mst_shape shape = mst_tensor_shape(tensor);
    const int64_t filters = shape.dim[1];
    MST_TRY(read_window(c, &x, shape.dim + 2, &w));
    MST_TRY(find_cuts(c, &w));
    MST_TRY(take_weights(c, x.ndim, filters, &bias));
    MST_TRY(new_kernel(tensor, false, 1, &kernel));
    x.out = convolve_transposed(&w, x.out, filters, bias != NULL, mst_onnx_layer_name(c, 1, name));
    MST_TRY(weigh(c, x.out, kernel, bias, filters));
    return put_pixels(c, w.has_pads ? without_ends(&w, x.out) : x.out, x.ndim, filters);
}

/* ---- larger pixels ---- */

/* Whether the node's nearest or linear neighbours are those of UpSampling, for whole factors. */
static bool is_up_sampling(mst_onnx_layer_call *c, bool linear) {
    static const char where[] = "coordinate_transformation_mode", half[] = "half_pixel";
    static const char rounding[] = "nearest_mode", floor_if_equal[] = "round_prefer_floor";
    const bool is_half =
                   mst_onnx_is(&c->onnx, where, half, half) || mst_onnx_is(&c->onnx, where, "pytorch_half_pixel", half),
               is_corner = mst_onnx_is(&c->onnx, where, "asymmetric", half),
               rounds = mst_onnx_is(&c->onnx, rounding, floor_if_equal, floor_if_equal),
               cuts = mst_onnx_is(&c->onnx, rounding, "floor", floor_if_equal);
    return linear ? is_half : (is_half && rounds) || (is_corner && cuts);
}

static mst_status read_resize(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    mst_tensor *scales;
    int32_t factor[MOST] = {0};
    const bool linear = mst_onnx_is(&c->onnx, "mode", "linear", "nearest");
    const bool nearest = mst_onnx_is(&c->onnx, "mode", "nearest", "nearest"), fits = is_up_sampling(c, linear);
    (void)mst_onnx_float(&c->onnx, "cubic_coeff_a", -0.75F); /* of other modes */
    (void)mst_onnx_float(&c->onnx, "extrapolation_value", 0);
    MST_TRY(mst_onnx_layer_pixels(c, &x));
    if (!mst_onnx_layer_has(c, 2) || mst_onnx_layer_has(c, 3))
        return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer by scales, not by sizes");
    MST_TRY(mst_onnx_layer_constant(c, 2, &scales));
    bool good = mst_tensor_count(scales) == x.ndim && x.ndim <= 2 + MOST && (nearest || (linear && x.ndim == 4));
    for (int i = 0; good && i < x.ndim; i++) {
        const double scale = mst_tensor_get(scales, i);
        good = scale >= 1 && scale <= INT16_MAX && scale == (double)(int32_t)scale && (i > 1 || scale == 1);
        if (good && i > 1) factor[i - 2] = (int32_t)scale;
    }
    if (!good || !fits)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it becomes a layer for whole scales of the pixels, of nearest neighbours, or linear ones of "
                        "pictures, at half_pixel (nearest: also asymmetric with floor)");
    const mst_axes factors = {.count = MOST, .axis = {factor[0], factor[1], factor[2]}};
    const mst_interpolation interpolation = linear ? MST_INTERPOLATION_BILINEAR : MST_INTERPOLATION_NEAREST;
    if (x.ndim == 3) x.out = mst_up_sampling1d(x.out, .size = factor[0]);
    if (x.ndim == 4)
        x.out = mst_up_sampling2d(x.out, .size = factor[0], .size_width = factor[1], .interpolation = interpolation);
    if (x.ndim == 5) x.out = mst_up_sampling3d(x.out, .size = factors);
    x.is_pooled = false;
    return mst_onnx_layer_put(c, x);
}

/* ---- pooling ---- */

static mst_output pool(const window *w, mst_output x, bool largest) {
    const mst_window_padding padding = w->same ? MST_PADDING_SAME : MST_PADDING_VALID;
    const int32_t size = (int32_t)w->size[0], strides = (int32_t)w->strides[0];
    if (w->ndim == 1)
        return largest ? mst_max_pooling1d(x, .pool_size = size, .strides = strides, .padding = padding)
                       : mst_average_pooling1d(x, .pool_size = size, .strides = strides, .padding = padding);
    const mst_axes sizes = axes_of(w, w->size), steps = axes_of(w, w->strides);
    if (w->ndim == 3)
        return largest ? mst_max_pooling3d(x, .pool_size = sizes, .strides = steps, .padding = padding)
                       : mst_average_pooling3d(x, .pool_size = sizes, .strides = steps, .padding = padding);
    const int32_t width = (int32_t)w->size[1], across = (int32_t)w->strides[1];
    return largest ? mst_max_pooling2d(x, .pool_size = size, .pool_width = width, .strides = strides,
                                       .strides_width = across, .padding = padding)
                   : mst_average_pooling2d(x, .pool_size = size, .pool_width = width, .strides = strides,
                                           .strides_width = across, .padding = padding);
}

/* Reads a pooling. Pads may become a layer that adds zeros. For a maximum this is right if the source has no element
 * below 0. For a mean it is right if the mean counts the pads; means with padding same do not count them. */
static mst_status read_pool(mst_onnx_layer_call *c, bool largest) {
    mst_onnx_layer_value x;
    window w;
    const bool counts = mst_onnx_int(&c->onnx, "count_include_pad", 0) != 0;
    (void)mst_onnx_int(&c->onnx, "storage_order", 0);
    MST_TRY(mst_onnx_layer_pixels(c, &x));
    MST_TRY(read_window(c, &x, NULL, &w));
    if (mst_onnx_int(&c->onnx, "ceil_mode", 0)) return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras has ceil_mode");
    for (int i = 0; i < w.ndim; i++)
        if (w.dilations[i] != 1) return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras pools with dilations");
    if (!largest && w.same && counts) {
        for (int i = 0; i < w.ndim; i++)
            if (w.strides[i] != 1)
                return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras has means that count padding with strides");
        w.same = false;
        w.has_pads = true;
        for (int i = 0; i < w.ndim; i++) {
            w.pads[i] = (w.size[i] - 1) / 2;
            w.pads[w.ndim + i] = w.size[i] - 1 - w.pads[i];
        }
    }
    if (w.has_pads && !(largest ? x.not_negative : counts))
        return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras has these pads%s",
                        largest ? " where elements may be below 0" : "");
    if (w.has_pads) x.out = with_zeros(&w, x.out);
    x.out = pool(&w, x.out, largest);
    x.is_pooled = false;
    return mst_onnx_layer_put(c, x);
}

static mst_status read_max_pool(mst_onnx_layer_call *c) {
    return read_pool(c, true);
}

static mst_status read_average_pool(mst_onnx_layer_call *c) {
    return read_pool(c, false);
}

/* Sets output 0 to a global pooling of X, one value for each channel. KEEPS: the reduced axes stay, with length 1. */
static mst_status put_global(mst_onnx_layer_call *c, mst_onnx_layer_value x, bool largest, bool keeps) {
    const int ndim = x.ndim;
    if (ndim == 3)
        x.out = largest ? mst_global_max_pooling1d(x.out, .keep_dims = keeps)
                        : mst_global_average_pooling1d(x.out, .keep_dims = keeps);
    else if (ndim == 4)
        x.out = largest ? mst_global_max_pooling2d(x.out, .keep_dims = keeps)
                        : mst_global_average_pooling2d(x.out, .keep_dims = keeps);
    else
        x.out = largest ? mst_global_max_pooling3d(x.out, .keep_dims = keeps)
                        : mst_global_average_pooling3d(x.out, .keep_dims = keeps);
    x.ndim = keeps ? ndim : 2;
    x.last &= keeps;
    x.is_pooled = keeps;
    return mst_onnx_layer_put(c, x);
}

static mst_status read_global(mst_onnx_layer_call *c, bool largest) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_pixels(c, &x));
    if (x.ndim > 5)
        return MST_FAIL(MST_UNIMPLEMENTED, "its input has %d dimensions, and at most 5 become a layer", x.ndim);
    return put_global(c, x, largest, true);
}

static mst_status read_global_average(mst_onnx_layer_call *c) {
    return read_global(c, false);
}

static mst_status read_global_max(mst_onnx_layer_call *c) {
    return read_global(c, true);
}

/* A mean or maximum over all axes but the examples and the channels. */
static mst_status read_reduction(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    unsigned axes = 0;
    const bool keeps = mst_onnx_int(&c->onnx, "keepdims", 1) != 0;
    const bool largest = strcmp(c->onnx.node->op_type, "ReduceMax") == 0;
    (void)mst_onnx_int(&c->onnx, "noop_with_empty_axes", 0);
    MST_TRY(mst_onnx_layer_input(c, 0, &x));
    MST_TRY(mst_onnx_ints(&c->onnx, "axes", list, &count));
    if (mst_onnx_layer_has(c, 1)) MST_TRY(mst_onnx_layer_list(c, 1, list, &count));
    for (int i = 0; i < count; i++) {
        int axis;
        MST_TRY(mst_onnx_axis(list[i], x.ndim, &axis));
        axes |= 1U << axis;
    }
    const unsigned inner = x.ndim > 2 ? (1U << (x.ndim - 2)) - 1 : 0;
    if (x.ndim < 3 || x.ndim > 5 || axes != (x.last ? inner << 2 : inner << 1))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it becomes a layer only over all axes of three to five but the examples and the channels");
    return put_global(c, x, largest, keeps);
}

const mst_onnx_layer_op mst_onnx_layer_window_ops[] = {
    {"AveragePool", .make = read_average_pool},
    {"Conv", .make = read_conv},
    {"ConvTranspose", .make = read_conv_transpose},
    {"GlobalAveragePool", .make = read_global_average},
    {"GlobalMaxPool", .make = read_global_max},
    {"MaxPool", .make = read_max_pool},
    {"ReduceMax", .make = read_reduction},
    {"ReduceMean", .make = read_reduction},
    {"Resize", .make = read_resize},
    {0},
};
