/* Reads the normalizations of ONNX that have no op of their own here. Batch, layer and instance normalization are in
 * onnx_window.c. */
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

/* x / sqrt(mean of x^2 over the axes from `axis` on + epsilon) * scale */
static mst_status read_rms_norm(mst_onnx_call *c) {
    mst_value x, scale;
    int axis;
    const double epsilon = (double)mst_onnx_float(c, "epsilon", 1e-5F);
    (void)mst_onnx_int(c, "stash_type", 1);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", -1), ndim, &axis));
    mst_axes axes = {.count = ndim - axis};
    for (int i = 0; i < axes.count; i++) axes.axis[i] = axis + i;
    const mst_value mean = mst_reduce_mean(mst_square(x), axes, .keep_dims = true);
    const mst_value small = mst_scalar(c->reader->graph, mst_value_spec(x).dtype, epsilon);
    MST_TRY(mst_onnx_plain(c, 1, &scale));
    return mst_onnx_put(c, 0, mst_mul(mst_mul(x, mst_rsqrt(mst_add(mean, small))), scale));
}

/* Scale and shift have a number for each group up to opset 20, and for each channel from 21 on. */
static mst_status read_group_norm(mst_onnx_call *c) {
    enum { PER_CHANNEL = 21 };
    mst_value x, weight[2];
    const double epsilon = (double)mst_onnx_float(c, "epsilon", 1e-5F);
    const int64_t groups = mst_onnx_int(c, "num_groups", 0);
    (void)mst_onnx_int(c, "stash_type", 1);
    MST_TRY(mst_onnx_last(c, 0, &x));
    const mst_shape shape = mst_value_spec(x).shape;
    const int64_t channels = shape.ndim ? shape.dim[shape.ndim - 1] : 0;
    if (shape.ndim < 3 || channels < 1 || groups < 1 || channels % groups)
        return MST_FAIL(MST_INVALID,
                        "it has %lld groups of %lld channels: its input must have three or more dimensions, [n, "
                        "channels, ...], and a fixed number of channels that the groups divide",
                        (long long)groups, (long long)channels);
    for (size_t i = 0; i < 2; i++) {
        MST_TRY(mst_onnx_plain(c, 1 + i, &weight[i]));
        if (c->reader->file->opset >= PER_CHANNEL) continue;
        weight[i] =
            mst_broadcast_to(mst_reshape(weight[i], MST_SHAPE(groups, 1)), MST_SHAPE(groups, channels / groups));
        weight[i] = mst_reshape(weight[i], MST_SHAPE(channels));
    }
    return mst_onnx_put_last(
        c, 0,
        mst_group_norm(x, weight[0], weight[1], .groups = (int32_t)groups, .epsilon = epsilon > 0 ? epsilon : 1e-30));
}

/* x / norm, the sum of absolute values or the root of the sum of squares along an axis; 0 where the norm is 0. */
static mst_status read_lp_norm(mst_onnx_call *c) {
    mst_value x;
    int axis;
    const int64_t p = mst_onnx_int(c, "p", 2);
    if (p != 1 && p != 2) return MST_FAIL(MST_INVALID, "its attribute p is %lld: it must be 1 or 2", (long long)p);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", -1), mst_value_spec(x).shape.ndim, &axis));
    const mst_value sum = mst_reduce_sum(p == 1 ? mst_abs(x) : mst_square(x), MST_AXES(axis), .keep_dims = true);
    const mst_value norm = p == 1 ? sum : mst_sqrt(sum), none = mst_equal(norm, mst_zeros_like(norm));
    const mst_value y = mst_div(x, mst_select(none, mst_ones_like(norm), norm));
    return mst_onnx_put(c, 0, mst_select(none, mst_zeros_like(x), y));
}

/* (x - mean) / (standard deviation + 1e-9) over the axes, which are all but the channels if they are not given. */
static mst_status read_mean_variance_norm(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count, axis;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_ints(c, "axes", list, &count));
    const int ndim = mst_value_spec(x).shape.ndim;
    mst_axes axes = count ? (mst_axes){.count = count} : MST_AXES(0, 2, 3);
    if (count > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "it has %d axes, and at most %d are supported", count, MST_MAX_NDIM);
    for (int i = 0; i < axes.count; i++) {
        MST_TRY(mst_onnx_axis(count ? list[i] : axes.axis[i], ndim, &axis));
        axes.axis[i] = axis;
    }
    const mst_value off = mst_sub(x, mst_reduce_mean(x, axes, .keep_dims = true));
    const mst_value deviation = mst_sqrt(mst_reduce_mean(mst_square(off), axes, .keep_dims = true));
    const mst_value small = mst_scalar(c->reader->graph, mst_value_spec(x).dtype, 1e-9);
    return mst_onnx_put(c, 0, mst_div(off, mst_add(deviation, small)));
}

/* x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta */
static mst_status read_lrn(mst_onnx_call *c) {
    enum { MOST_SIZE = 64 };
    mst_value x, part[MOST_SIZE];
    const int64_t size = mst_onnx_int(c, "size", 0);
    const double alpha = (double)mst_onnx_float(c, "alpha", 1e-4F), beta = (double)mst_onnx_float(c, "beta", 0.75F),
                 bias = (double)mst_onnx_float(c, "bias", 1);
    if (size < 1 || size > MOST_SIZE)
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute size is %lld: 1 to %d are supported", (long long)size,
                        MOST_SIZE);
    MST_TRY(mst_onnx_last(c, 0, &x));
    const mst_shape shape = mst_value_spec(x).shape;
    const int64_t channels = shape.ndim ? shape.dim[shape.ndim - 1] : 0;
    if (shape.ndim < 3 || channels < 1)
        return MST_FAIL(MST_INVALID,
                        "its input must have three or more dimensions, [n, channels, ...], and a fixed number of "
                        "channels");
    mst_shape before = {.ndim = shape.ndim}, after = before, begin = before, length = before;
    before.dim[shape.ndim - 1] = (size - 1) / 2;
    after.dim[shape.ndim - 1] = size - 1 - (size - 1) / 2;
    for (int i = 0; i < shape.ndim; i++) length.dim[i] = i == shape.ndim - 1 ? channels : -1;
    const mst_value padded = mst_pad(mst_square(x), .before = before, .after = after);
    for (int64_t i = 0; i < size; i++) {
        begin.dim[shape.ndim - 1] = i;
        part[i] = mst_slice(padded, begin, length);
    }
    mst_graph *graph = c->reader->graph;
    const mst_dtype dtype = mst_value_spec(x).dtype;
    const mst_value sum = mst_scale(mst_add_n(part, (int)size), alpha / (double)size);
    const mst_value base = mst_add(sum, mst_scalar(graph, dtype, bias));
    return mst_onnx_put_last(c, 0, mst_div(x, mst_pow(base, mst_scalar(graph, dtype, beta))));
}

const mst_onnx_op mst_onnx_norm_ops[] = {
    {"GroupNormalization", .read = read_group_norm}, {"LRN", .read = read_lrn},
    {"LpNormalization", .read = read_lp_norm},       {"MeanVarianceNormalization", .read = read_mean_variance_norm},
    {"RMSNormalization", .read = read_rms_norm},     {0},
};
