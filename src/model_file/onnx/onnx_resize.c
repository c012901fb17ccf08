/* Reads Resize. If mst_resize2d computes the same, it is used. Otherwise one axis is resized after the other: by a
 * gather for the mode nearest, and by a product with a matrix [in, out] of weights for the other modes. */
#include <math.h>

#include "model_file/onnx/onnx_limit.h"
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

typedef enum way { HALF_PIXEL, SYMMETRIC, PYTORCH, ASYMMETRIC, CORNERS, CROP } way;
typedef enum kernel { NEAREST, LINEAR, CUBIC } kernel;
typedef enum rounding { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL } rounding;

/* One axis, in ONNX's order. RESIZES: it is resized from IN to OUT elements, or cropped; else it stays as it is. */
typedef struct axis {
    bool resizes, by_scale;
    int64_t in, out;
    double scale;    /* OUT / IN; BY_SCALE: a given scale, for which IN * scale may be no whole number */
    double from, to; /* the region of a crop, in parts of IN */
} axis;

typedef struct resize {
    way way;
    kernel kernel;
    rounding rounding;
    bool antialias, excludes;
    double cubic, outside; /* the parameter of cubic kernels; the value outside of a crop */
    int ndim;
    axis axis[MST_MAX_NDIM];
} resize;

/* ---- attributes ---- */

/* The index in NAMES, ended by NULL, of the attribute NAME. */
static mst_status choose_name(mst_onnx_call *c, const char *name, const char *const *names, int *out) {
    for (*out = 0; names[*out]; ++*out)
        if (mst_onnx_is(c, name, names[*out], names[0])) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "its attribute %s has a value that is not known", name);
}

static mst_status read_attributes(mst_onnx_call *c, resize *r) {
    static const char *const ways[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                       "asymmetric", "align_corners",        "tf_crop_and_resize",
                                       NULL};
    static const char *const kernels[] = {"nearest", "linear", "cubic", NULL};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    int way, kernel, rounding;
    MST_TRY(choose_name(c, "coordinate_transformation_mode", ways, &way));
    MST_TRY(choose_name(c, "mode", kernels, &kernel));
    MST_TRY(choose_name(c, "nearest_mode", roundings, &rounding));
    r->way = (enum way)way;
    r->kernel = (enum kernel)kernel;
    r->rounding = (enum rounding)rounding;
    r->antialias = mst_onnx_int(c, "antialias", 0) != 0;
    r->excludes = mst_onnx_int(c, "exclude_outside", 0) != 0;
    r->cubic = (double)mst_onnx_float(c, "cubic_coeff_a", -0.75F);
    r->outside = (double)mst_onnx_float(c, "extrapolation_value", 0);
    if (r->kernel == NEAREST && r->antialias)
        return MST_FAIL(MST_INVALID, "its mode nearest has no antialias: use linear or cubic");
    return MST_OK;
}

/* ---- sizes ---- */

static mst_status read_axes(mst_onnx_call *c, const resize *r, int64_t *list, int *count) {
    int at;
    MST_TRY(mst_onnx_ints(c, "axes", list, count));
    for (int i = 0; i < *count; i++) {
        MST_TRY(mst_onnx_axis(list[i], r->ndim, &at));
        list[i] = at;
        for (int k = 0; k < i; k++)
            if (list[k] == at) return MST_FAIL(MST_INVALID, "the axis %d is given twice", at);
    }
    for (; !mst_onnx_attribute(c, "axes", MST_ONNX_INTS) && *count < r->ndim; ++*count) list[*count] = *count;
    return MST_OK;
}

static mst_status check_resized(const axis *a, double out) {
    if (a->in >= 1 && a->in <= INT32_MAX && out >= 1 && out <= INT32_MAX) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "it resizes a dynamic dimension, or to a size below 1 or above 32 bits: export the model with a "
                    "fixed size");
}

/* Reads the scales in input 2: COUNT numbers, one for each axis of LIST. */
static mst_status read_scales(const mst_onnx_call *c, resize *r, const int64_t *list, int count) {
    const mst_tensor *tensor = mst_onnx_value_of(c, 2)->tensor;
    if (!tensor || !mst_dtype_is_float(mst_tensor_dtype(tensor)) || mst_tensor_count(tensor) != count)
        return MST_FAIL(MST_UNIMPLEMENTED, "its scales (input 2) must be constant, and %d numbers: one for each axis",
                        count);
    for (int i = 0; i < count; i++) {
        axis *a = &r->axis[list[i]];
        a->scale = mst_tensor_get(tensor, i);
        if (a->scale == 1 && r->way != CROP) continue;
        const double out = floor((double)a->in * a->scale * (a->to - a->from));
        MST_TRY(check_resized(a, out));
        a->out = (int64_t)out;
        a->by_scale = a->resizes = true;
    }
    return MST_OK;
}

/* Reads the sizes in input 3: COUNT numbers, one for each axis of LIST. A dimension whose size is known only in a run
 * may keep its size. */
static mst_status read_sizes(mst_onnx_call *c, resize *r, const int64_t *list, int count) {
    int64_t size[MST_ONNX_MOST_LIST];
    int given;
    MST_TRY(mst_onnx_sizes(c, 3, true, size, &given));
    if (given != count)
        return MST_FAIL(MST_INVALID, "its sizes (input 3) are %d numbers, and must be %d: one for each axis", given,
                        count);
    const bool larger = mst_onnx_is(c, "keep_aspect_ratio_policy", "not_smaller", "stretch"),
               smaller = mst_onnx_is(c, "keep_aspect_ratio_policy", "not_larger", "stretch");
    double all = larger ? 0 : INFINITY;
    for (int i = 0; i < count; i++) {
        axis *a = &r->axis[list[i]];
        const mst_onnx_open *open = mst_onnx_open_of(c->reader, size[i]);
        if (a->in < 0 && open && open->times == 1 && !larger && !smaller) continue;
        if (a->in == size[i] && r->way != CROP && !larger && !smaller) continue;
        MST_TRY(check_resized(a, (double)size[i]));
        a->out = size[i];
        a->scale = (double)a->out / (double)a->in;
        a->resizes = true;
        all = larger ? fmax(all, a->scale) : fmin(all, a->scale);
    }
    for (int i = 0; i < count && (larger || smaller); i++) { /* one scale for all axes */
        axis *a = &r->axis[list[i]];
        const double out = floor(all * (double)a->in + 0.5);
        MST_TRY(check_resized(a, out));
        a->out = (int64_t)out;
        a->scale = all;
        a->by_scale = true;
    }
    return MST_OK;
}

/* The region of a crop, in input 1: its starts, then its ends. */
static mst_status read_region(const mst_onnx_call *c, resize *r, const int64_t *list, int count) {
    const mst_tensor *tensor = mst_onnx_has(c, 1) ? mst_onnx_value_of(c, 1)->tensor : NULL;
    if (r->way != CROP) return MST_OK;
    if (!tensor || !mst_dtype_is_float(mst_tensor_dtype(tensor)) || mst_tensor_count(tensor) != 2 * count)
        return MST_FAIL(MST_UNIMPLEMENTED, "its region (input 1) must be constant, and %d numbers", 2 * count);
    for (int i = 0; i < count; i++) {
        axis *a = &r->axis[list[i]];
        a->from = mst_tensor_get(tensor, i);
        a->to = mst_tensor_get(tensor, count + i);
        if (!isfinite(a->from) || !isfinite(a->to))
            return MST_FAIL(MST_INVALID, "its region (input 1) has numbers that are not finite");
    }
    return MST_OK;
}

static mst_status read_layout(mst_onnx_call *c, resize *r) {
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    const mst_shape shape = mst_onnx_shape(c, 0);
    r->ndim = shape.ndim;
    for (int i = 0; i < shape.ndim; i++)
        r->axis[i] = (axis){.in = shape.dim[i], .out = shape.dim[i], .scale = 1, .to = 1};
    MST_TRY(read_axes(c, r, list, &count));
    MST_TRY(read_region(c, r, list, count));
    if (!mst_onnx_is(c, "keep_aspect_ratio_policy", "stretch", "stretch") &&
        !mst_onnx_is(c, "keep_aspect_ratio_policy", "not_larger", "stretch") &&
        !mst_onnx_is(c, "keep_aspect_ratio_policy", "not_smaller", "stretch"))
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute keep_aspect_ratio_policy has a value that is not known");
    if (mst_onnx_has(c, 3)) return read_sizes(c, r, list, count);
    if (mst_onnx_has(c, 2)) return read_scales(c, r, list, count);
    return MST_FAIL(MST_INVALID, "it has neither scales (input 2) nor sizes (input 3): it must have one of them");
}

/* ---- places and weights ---- */

/* The position of element I of the result in the source. It may lie between two elements, or outside of the source. */
static double source_place(const resize *r, const axis *a, int64_t i) {
    const double in = (double)a->in, width = a->by_scale ? a->scale * in : (double)a->out, x = (double)i;
    const double half = a->by_scale ? (x + 0.5) / a->scale - 0.5 : (x + 0.5) * in / width - 0.5;
    switch (r->way) {
        case SYMMETRIC: return in / 2 * (1 - (double)a->out / width) + half;
        case PYTORCH: return a->out > 1 ? half : 0;
        case ASYMMETRIC: return a->by_scale ? x / a->scale : x * in / width;
        case CORNERS: return width == 1 ? 0 : x * (in - 1) / (width - 1);
        case CROP:
            return a->from * (in - 1) +
                   (a->out > 1 ? x * (a->to - a->from) * (in - 1) / (width - 1) : (a->to - a->from) * (in - 1) / 2);
        default: return half;
    }
}

static double within(double number, int64_t size) {
    return number > 0 ? fmin(number, (double)(size - 1)) : 0;
}

static int64_t nearest(const resize *r, const axis *a, double place) {
    const double number = r->rounding == PREFER_FLOOR  ? ceil(place - 0.5)
                          : r->rounding == PREFER_CEIL ? floor(place + 0.5)
                          : r->rounding == FLOOR       ? floor(place)
                                                       : ceil(place);
    return (int64_t)within(number, a->in);
}

/* The weight of an element at the distance X. https://ieeexplore.ieee.org/document/1163711 has the cubic one. */
static double weight_at(const resize *r, double x) {
    const double d = fabs(x), a = r->cubic;
    if (r->kernel == LINEAR) return d < 1 ? 1 - d : 0;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Adds the weights of element I of the result to its column in WEIGHTS, [in, out]. */
static void add_weights(const resize *r, const axis *a, int64_t i, double *weights) {
    const double squeeze = r->antialias && a->scale < 1 ? a->scale : 1, place = source_place(r, a, i);
    const double reach = (r->kernel == LINEAR ? 1 : 2) / squeeze;
    const int64_t first = (int64_t)ceil(place - reach), last = (int64_t)floor(place + reach);
    double sum = 0;
    for (int64_t k = first; k <= last; k++)
        if (!r->excludes || (k >= 0 && k < a->in)) sum += weight_at(r, ((double)k - place) * squeeze);
    for (int64_t k = first; k <= last && sum != 0; k++)
        if (!r->excludes || (k >= 0 && k < a->in))
            weights[(int64_t)within((double)k, a->in) * a->out + i] +=
                weight_at(r, ((double)k - place) * squeeze) / sum;
}

static bool is_outside(const resize *r, const axis *a, int64_t i) {
    const double place = source_place(r, a, i);
    return r->way == CROP && !(place >= 0 && place <= (double)(a->in - 1)); /* true for NaN */
}

/* ---- along one axis ---- */

/* For a crop: elements of *X whose positions are outside of the source become r->outside. AT is the axis in X. */
static mst_status fill_outside(const resize *r, const axis *a, int at, mst_value *x) {
    mst_graph *graph = mst_value_graph(*x);
    mst_shape shape = {.ndim = r->ndim};
    mst_tensor *tensor;
    bool any = false;
    for (int i = 0; i < r->ndim; i++) shape.dim[i] = i == at ? a->out : 1;
    MST_TRY(mst_tensor_create(MST_BOOL, shape, &tensor));
    for (int64_t i = 0; i < a->out; i++) {
        const bool outside = is_outside(r, a, i);
        ((uint8_t *)mst_tensor_data(tensor))[i] = outside;
        any |= outside;
    }
    const mst_value outside = mst_constant(graph, tensor);
    mst_tensor_release(tensor);
    if (any) *x = mst_select(outside, mst_scalar(graph, mst_value_spec(*x).dtype, r->outside), *x);
    return MST_OK;
}

static mst_status take_nearest(const resize *r, const axis *a, int at, mst_value *x) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(a->out), &tensor));
    for (int64_t i = 0; i < a->out; i++) ((int64_t *)mst_tensor_data(tensor))[i] = nearest(r, a, source_place(r, a, i));
    *x = mst_gather(*x, mst_constant(mst_value_graph(*x), tensor), at);
    mst_tensor_release(tensor);
    return MST_OK;
}

static mst_status multiply(const resize *r, const axis *a, int at, mst_value *x) {
    mst_tensor *weights;
    mst_axes swap = {.count = r->ndim}; /* its own inverse */
    const int end = r->ndim - 1;
    for (int i = 0; i < r->ndim; i++) swap.axis[i] = i == at ? end : i == end ? at : i;
    MST_TRY(mst_tensor_create(MST_F64, MST_SHAPE(a->in, a->out), &weights));
    for (int64_t i = 0; i < a->out; i++)
        if (!is_outside(r, a, i)) add_weights(r, a, i, mst_tensor_data(weights));
    const mst_value exact = mst_constant(mst_value_graph(*x), weights);
    mst_tensor_release(weights);
    const mst_dtype dtype = mst_value_spec(*x).dtype;
    const mst_value by = dtype == MST_F64 ? exact : mst_cast(exact, dtype);
    *x = at == end ? mst_matmul(*x, by) : mst_transpose(mst_matmul(mst_transpose(*x, swap), by), swap);
    return MST_OK;
}

static mst_status resize_axes(mst_onnx_call *c, const resize *r) {
    mst_value x;
    const bool last = mst_onnx_is_last(c, 0);
    MST_TRY((last ? mst_onnx_last : mst_onnx_plain)(c, 0, &x));
    if (r->kernel != NEAREST && !mst_dtype_is_float(mst_value_spec(x).dtype))
        return MST_FAIL(MST_UNIMPLEMENTED, "its modes linear and cubic are supported for floats");
    for (int i = 0; i < r->ndim; i++) {
        const axis *a = &r->axis[i];
        const int at = !last || !i ? i : i == 1 ? r->ndim - 1 : i - 1;
        int64_t bytes;
        if (!a->resizes) continue;
        if (__builtin_mul_overflow(a->out, r->kernel == NEAREST ? 1 : a->in, &bytes) ||
            __builtin_mul_overflow(bytes, (int64_t)sizeof(double), &bytes))
            bytes = INT64_MAX;
        MST_TRY(mst_onnx_limit_weights(c->reader, bytes));
        MST_TRY((r->kernel == NEAREST ? take_nearest : multiply)(r, a, at, &x));
        if (r->way == CROP) MST_TRY(fill_outside(r, a, at, &x));
        MST_TRY(mst_graph_check(c->reader->graph));
    }
    return mst_onnx_put_as(c, x, last);
}

/* ---- pictures ---- */

/* Whether mst_resize2d computes the same. It finds nearest pixels by half-pixel coordinates, and rounds halves up. If
 * all new sizes are multiples of the old ones, no point is halfway between two pixels. Then some other coordinates and
 * roundings give the same pixels. */
static bool is_of_pictures(const resize *r) {
    bool whole = true, one = false;
    if (r->ndim != 4 || r->axis[0].resizes || r->axis[1].resizes || r->antialias || r->excludes) return false;
    for (int i = 2; i < r->ndim; i++) {
        const axis *a = &r->axis[i];
        if (a->in < 1 || (double)a->out != a->scale * (double)a->in) return false;
        whole &= a->out % a->in == 0;
        one |= a->out == 1;
    }
    const bool half = r->way == HALF_PIXEL || r->way == SYMMETRIC || (r->way == PYTORCH && !one);
    if (r->kernel == LINEAR) return half || r->way == CORNERS;
    if (r->kernel != NEAREST) return false;
    if (r->way == CORNERS) return r->rounding == PREFER_CEIL;
    return (half && (r->rounding == PREFER_CEIL || (r->rounding == PREFER_FLOOR && whole))) ||
           (r->way == ASYMMETRIC && whole && r->rounding == FLOOR);
}

static mst_status read_resize(mst_onnx_call *c) {
    resize r = {0};
    mst_value x;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    MST_TRY(read_attributes(c, &r));
    MST_TRY(read_layout(c, &r));
    if (!is_of_pictures(&r)) return resize_axes(c, &r);
    MST_TRY(mst_onnx_last(c, 0, &x));
    return mst_onnx_put_last(
        c, 0,
        mst_resize2d(x, MST_AXES((int)r.axis[2].out, (int)r.axis[3].out),
                     .interpolation = r.kernel == NEAREST ? MST_INTERPOLATION_NEAREST : MST_INTERPOLATION_BILINEAR,
                     .align_corners = r.way == CORNERS));
}

const mst_onnx_op mst_onnx_resize_ops[] = {
    {"Resize", .read = read_resize},
    {0},
};
