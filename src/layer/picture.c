/* Changes of pictures as graph. The formulas are those of TensorFlow's ImageProjectiveTransformV3, which Keras uses. */
#include "layer/picture.h"

#include "muster/ops.h"

const char *const mst_layer_picture_fill_names[] = {"reflect", "wrap", "constant", "nearest", NULL};
const char *const mst_layer_picture_sampling_names[] = {"bilinear", "nearest", NULL};

mst_value mst_layer_picture_source(const mst_layer_call *call) {
    if (mst_layer_want_ndim(call, 4, "[n, height, width, channels]")) return mst_layer_fail(call);
    const mst_value src = call->src[0];
    return mst_dtype_is_float(mst_value_spec(src).dtype) ? src : mst_cast(src, MST_F32);
}

mst_value mst_layer_picture_draw(mst_value src, double low, double high, uint64_t seed, int number) {
    const mst_value one = mst_strided_slice(src, .begin = MST_AXES(0, 0, 0, 0), .end = MST_AXES(1, 1, 1, 1),
                                            .begin_mask = 1, .end_mask = 1);
    const mst_value unit = mst_random_uniform_like(one, .seed = seed ? seed + (uint64_t)number : 0);
    const mst_value shift = mst_scalar(mst_value_graph(src), mst_value_spec(src).dtype, low);
    return mst_add(mst_scale(unit, high - low), shift);
}

mst_value mst_layer_picture_clip(mst_value src, double low, double high) {
    return mst_clip(src, low, low == 0 && high == 0 ? 255 : high);
}

mst_status mst_layer_picture_check_range(const char *type, const char *name, const char *member, double low,
                                         double high) {
    if (low <= high) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s '%s': %s is %g, more than the other end, %g", type, name, member, low, high);
}

/* X + C */
static mst_value plus(mst_value x, double c) {
    return mst_add(x, mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, c));
}

/* ---- places ---- */

/* The numbers 0, 1, ... along dimension DIM, as long as that of SRC. The other dimensions are 1. */
static mst_value counted(mst_value src, int dim) {
    mst_shape shape = {.ndim = 4, .dim = {1, 1, 1, 1}};
    const mst_spec spec = mst_value_spec(src);
    shape.dim[dim] = spec.shape.dim[dim];
    return mst_reshape(mst_range(mst_value_graph(src), spec.dtype, 0, (double)shape.dim[dim], 1), shape);
}

/* a x + b y + c, where MST_NONE is 0 */
static mst_value linear_place(const mst_value *m, mst_value x, mst_value y) {
    mst_value sum = m[2];
    if (!mst_value_is_none(m[0])) sum = mst_add(mst_mul(m[0], x), sum);
    if (!mst_value_is_none(m[1])) sum = mst_add(mst_mul(m[1], y), sum);
    return sum;
}

/* floor(X / N) for X >= 0 */
static mst_value times(mst_value x, double n) {
    return mst_floor(mst_scale(x, 1 / n));
}

/* Maps the place X along a dimension of SIZE pixels to a place inside the picture, by the fill mode FILL. For
 * MST_PICTURE_FILL_CONSTANT, X itself. */
static mst_value filled_place(mst_value x, int64_t size, mst_picture_fill fill) {
    const double n = (double)size, last = n - 1;
    mst_graph *g = mst_value_graph(x);
    const mst_dtype dtype = mst_value_spec(x).dtype;
    const mst_value zero = mst_scalar(g, dtype, 0), end = mst_scalar(g, dtype, last);
    if (fill == MST_PICTURE_FILL_CONSTANT) return x;
    if (fill == MST_PICTURE_FILL_REFLECT) { /* ... 2 1 0 | 0 1 2 ... last | last ... */
        const mst_value t = mst_mod(x, mst_scalar(g, dtype, 2 * n));
        x = mst_select(mst_less(t, mst_scalar(g, dtype, n)), t, plus(mst_neg(t), 2 * n - 1));
    } else if (fill == MST_PICTURE_FILL_WRAP && size > 1) {
        const mst_value below = mst_add(x, mst_scale(plus(times(mst_neg(mst_minimum(x, zero)), last), 1), n));
        const mst_value above = mst_sub(x, mst_scale(times(mst_maximum(x, zero), last), n));
        x = mst_select(mst_less(x, zero), below, mst_select(mst_greater(x, end), above, x));
    }
    return mst_clip(x, 0, last);
}

/* ---- pixels ---- */

typedef struct pixels {
    mst_value rows;  /* [n height width, channels] */
    mst_value first; /* [n, 1, 1, 1], i64: the number of the first pixel of each picture */
    mst_value like;  /* the pictures */
    const mst_layer_picture_sampler *sampler;
} pixels;

static mst_value is_inside(mst_value x, int64_t size) {
    const mst_value least = mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, 0);
    const mst_value most = mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, (double)(size - 1));
    return mst_logical_and(mst_greater_equal(x, least), mst_less_equal(x, most));
}

/* The pixels at the whole numbers X and Y, [n, height, width, 1]. Outside they are the sampler's fill_value. */
static mst_value pixels_at(const pixels *p, mst_value x, mst_value y) {
    const mst_shape shape = mst_value_spec(p->like).shape;
    const int64_t height = shape.dim[1], width = shape.dim[2];
    const mst_value row = mst_cast(mst_clip(y, 0, (double)(height - 1)), MST_I64);
    const mst_value column = mst_cast(mst_clip(x, 0, (double)(width - 1)), MST_I64);
    const mst_value wide = mst_scalar(mst_value_graph(x), MST_I64, (double)width);
    const mst_value number = mst_add(p->first, mst_add(mst_mul(row, wide), column));
    const mst_value found = mst_reshape_like(mst_gather(p->rows, mst_reshape(number, MST_SHAPE(-1)), 0), p->like);
    const mst_value outside = mst_scalar(mst_value_graph(x), mst_value_spec(p->like).dtype, p->sampler->fill_value);
    return mst_select(mst_logical_and(is_inside(x, width), is_inside(y, height)), found, outside);
}

/* left (1 - part) + right part */
static mst_value blend(mst_value left, mst_value right, mst_value part) {
    return mst_add(mst_mul(left, plus(mst_neg(part), 1)), mst_mul(right, part));
}

mst_value mst_layer_picture_move(const mst_layer_call *call, mst_value src, const mst_value m[6],
                                 const mst_layer_picture_sampler *sampler) {
    const mst_spec spec = mst_value_spec(src);
    const int64_t height = spec.shape.dim[1], width = spec.shape.dim[2], channels = spec.shape.dim[3];
    if (height < 1 || width < 1 || channels < 1)
        return mst_value_fail(call->graph, MST_INVALID, "%s '%s': height, width and channels must be known",
                              call->type->name, call->name);
    const mst_value x = counted(src, 2), y = counted(src, 1), zero = mst_scale(mst_mul(x, y), 0);
    const mst_value from_x = filled_place(mst_add(linear_place(m, x, y), zero), width, sampler->fill);
    const mst_value from_y = filled_place(mst_add(linear_place(m + 3, x, y), zero), height, sampler->fill);
    const mst_value ones = mst_cast(mst_ones_like(m[2]), MST_I64);
    const mst_value size = mst_scalar(call->graph, MST_I64, (double)(height * width));
    const pixels p = {.rows = mst_reshape(src, MST_SHAPE(-1, channels)),
                      .first = mst_mul(mst_cumsum(ones, .exclusive = true), size),
                      .like = src,
                      .sampler = sampler};
    if (sampler->sampling == MST_PICTURE_NEAREST)
        return pixels_at(&p, mst_floor(plus(from_x, 0.5)), mst_floor(plus(from_y, 0.5)));
    const mst_value left = mst_floor(from_x), top = mst_floor(from_y);
    const mst_value part = mst_sub(from_x, left);
    const mst_value upper = blend(pixels_at(&p, left, top), pixels_at(&p, plus(left, 1), top), part);
    const mst_value lower = blend(pixels_at(&p, left, plus(top, 1)), pixels_at(&p, plus(left, 1), plus(top, 1)), part);
    return blend(upper, lower, mst_sub(from_y, top));
}
