/* Operations that move elements. */
#include <string.h>

#include "hlo/hlo_writer.h"

static mst_hlo move(mst_lower *l, const char *operation, mst_hlo_attributes *a, int count, const mst_hlo *src,
                    mst_dtype dtype, mst_shape shape) {
    mst_hlo result;
    mst_hlo_call(l, operation, mst_hlo_attributes_end(a), count, src, 1, &(mst_spec){.dtype = dtype, .shape = shape},
                 &result);
    return result;
}

mst_hlo mst_hlo_broadcast_axes(mst_lower *l, mst_hlo x, mst_shape shape, mst_axes axes) {
    const mst_shape from = mst_hlo_spec(l, x).shape;
    if (mst_hlo_lacks(l, x) || !mst_hlo_are_axes(l, shape.ndim, &axes)) return MST_NO_HLO;
    if (axes.count != from.ndim) return mst_hlo_fail(l, "%d axes for %d dimensions", axes.count, from.ndim);
    for (int i = 0; i < from.ndim; i++)
        if (from.dim[i] != 1 && from.dim[i] != shape.dim[axes.axis[i]])
            return mst_hlo_fail(l, "dimension %lld does not broadcast to %lld", (long long)from.dim[i],
                                (long long)shape.dim[axes.axis[i]]);
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_axes(&a, "broadcast_dimensions", &axes);
    return move(l, "broadcast_in_dim", &a, 1, &x, mst_hlo_spec(l, x).dtype, shape);
}

mst_hlo mst_hlo_broadcast(mst_lower *l, mst_hlo x, mst_shape shape) {
    const mst_shape from = mst_hlo_spec(l, x).shape;
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_shape(l, &shape)) return MST_NO_HLO;
    if (mst_shape_equal(from, shape)) return x;
    if (from.ndim > shape.ndim) return mst_hlo_fail(l, "cannot broadcast to fewer dimensions");
    mst_axes axes = {.count = from.ndim};
    for (int i = 0; i < from.ndim; i++) axes.axis[i] = shape.ndim - from.ndim + i;
    return mst_hlo_broadcast_axes(l, x, shape, axes);
}

mst_hlo mst_hlo_reshape(mst_lower *l, mst_hlo x, mst_shape shape) {
    const mst_spec spec = mst_hlo_spec(l, x);
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_shape(l, &shape)) return MST_NO_HLO;
    if (mst_shape_equal(spec.shape, shape)) return x;
    if (mst_shape_count(spec.shape) != mst_shape_count(shape)) return mst_hlo_fail(l, "reshape to another size");
    mst_hlo_attributes a = {.size = 0};
    return move(l, "reshape", &a, 1, &x, spec.dtype, shape);
}

mst_hlo mst_hlo_transpose(mst_lower *l, mst_hlo x, mst_axes axes) {
    const mst_spec spec = mst_hlo_spec(l, x);
    if (mst_hlo_lacks(l, x)) return MST_NO_HLO;
    if (!mst_hlo_are_axes(l, spec.shape.ndim, &axes)) return MST_NO_HLO;
    if (axes.count != spec.shape.ndim) return mst_hlo_fail(l, "transpose by another number of axes");
    mst_shape shape = spec.shape;
    for (int i = 0; i < axes.count; i++) shape.dim[i] = spec.shape.dim[axes.axis[i]];
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_axes(&a, "permutation", &axes);
    return move(l, "transpose", &a, 1, &x, spec.dtype, shape);
}

mst_hlo mst_hlo_slice(mst_lower *l, mst_hlo x, const int64_t *begin, const int64_t *end, const int64_t *stride) {
    static const int64_t one[MST_MAX_NDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!stride) stride = one;
    const mst_spec spec = mst_hlo_spec(l, x);
    mst_shape shape = spec.shape;
    if (mst_hlo_lacks(l, x)) return MST_NO_HLO;
    if (!begin || !end) return mst_hlo_fail(l, "a slice without begin or end");
    for (int i = 0; i < shape.ndim; i++)
        if (begin[i] < 0 || begin[i] > end[i] || end[i] > shape.dim[i] || stride[i] < 1)
            return mst_hlo_fail(l, "slice %lld to %lld by %lld of %lld elements", (long long)begin[i],
                                (long long)end[i], (long long)stride[i], (long long)shape.dim[i]);
    for (int i = 0; i < shape.ndim; i++) shape.dim[i] = (end[i] - begin[i] + stride[i] - 1) / stride[i];
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_array(&a, "start_indices", shape.ndim, begin);
    mst_hlo_attribute_array(&a, "limit_indices", shape.ndim, end);
    mst_hlo_attribute_array(&a, "strides", shape.ndim, stride);
    return move(l, "slice", &a, 1, &x, spec.dtype, shape);
}

mst_hlo mst_hlo_slice_axis(mst_lower *l, mst_hlo x, int axis, int64_t begin, int64_t end) {
    const mst_shape shape = mst_hlo_spec(l, x).shape;
    int64_t from[MST_MAX_NDIM] = {0}, to[MST_MAX_NDIM];
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_axis(l, shape.ndim, &axis)) return MST_NO_HLO;
    memcpy(to, shape.dim, sizeof to);
    from[axis] = begin;
    to[axis] = end;
    return mst_hlo_slice(l, x, from, to, NULL);
}

mst_hlo mst_hlo_pad(mst_lower *l, mst_hlo x, mst_hlo value, const int64_t *low, const int64_t *high,
                    const int64_t *interior) {
    static const int64_t none[MST_MAX_NDIM] = {0};
    if (!low) low = none;
    if (!high) high = none;
    if (!interior) interior = none;
    const mst_spec spec = mst_hlo_spec(l, x);
    mst_shape shape = spec.shape;
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_scalar(l, value, spec.dtype)) return MST_NO_HLO;
    for (int i = 0; i < shape.ndim; i++) {
        if (interior[i] < 0) return mst_hlo_fail(l, "%lld elements between two", (long long)interior[i]);
        const int64_t between = shape.dim[i] > 0 ? (shape.dim[i] - 1) * interior[i] : 0;
        shape.dim[i] += low[i] + high[i] + between;
        if (shape.dim[i] < 0) return mst_hlo_fail(l, "pad removes more than there is");
    }
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_array(&a, "edge_padding_low", shape.ndim, low);
    mst_hlo_attribute_array(&a, "edge_padding_high", shape.ndim, high);
    mst_hlo_attribute_array(&a, "interior_padding", shape.ndim, interior);
    return move(l, "pad", &a, 2, (const mst_hlo[]){x, value}, spec.dtype, shape);
}

mst_hlo mst_hlo_concat(mst_lower *l, int count, const mst_hlo *x, int axis) {
    if (count < 1 || !x) return mst_hlo_fail(l, "concat of %d values", count);
    if (count == 1) return x[0];
    mst_spec spec = mst_hlo_spec(l, x[0]);
    if (!mst_hlo_is_axis(l, spec.shape.ndim, &axis)) return MST_NO_HLO;
    for (int i = 1; i < count; i++) {
        const mst_spec other = mst_hlo_spec(l, x[i]);
        bool fits = other.dtype == spec.dtype && other.shape.ndim == spec.shape.ndim;
        for (int k = 0; fits && k < spec.shape.ndim; k++) fits = k == axis || other.shape.dim[k] == spec.shape.dim[k];
        if (mst_hlo_lacks(l, x[i])) return MST_NO_HLO;
        if (!fits) return mst_hlo_fail(l, "concat of values of other dtypes or shapes");
    }
    for (int i = 1; i < count; i++) spec.shape.dim[axis] += mst_hlo_spec(l, x[i]).shape.dim[axis];
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute(&a, "dimension = %d : i64", axis);
    return move(l, "concatenate", &a, count, x, spec.dtype, spec.shape);
}

mst_hlo mst_hlo_reverse(mst_lower *l, mst_hlo x, mst_axes axes) {
    const mst_spec spec = mst_hlo_spec(l, x);
    if (mst_hlo_lacks(l, x) || !mst_hlo_are_axes(l, spec.shape.ndim, &axes)) return MST_NO_HLO;
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_axes(&a, "dimensions", &axes);
    return move(l, "reverse", &a, 1, &x, spec.dtype, spec.shape);
}

/* Whether a part of shape SIZE fits into X, and START has integers of one dtype, one for each dimension; if not, the
 * program gets an error. */
static bool are_starts(mst_lower *l, mst_hlo x, const mst_hlo *start, mst_shape size) {
    const mst_shape shape = mst_hlo_spec(l, x).shape;
    if (mst_hlo_lacks(l, x)) return false;
    bool fits = size.ndim == shape.ndim && (start || !shape.ndim);
    for (int i = 0; fits && i < shape.ndim; i++) fits = size.dim[i] >= 0 && size.dim[i] <= shape.dim[i];
    if (!fits) mst_hlo_fail(l, "a part that is no part of its value");
    for (int i = 0; fits && i < shape.ndim; i++) {
        const mst_dtype dtype = mst_hlo_spec(l, start[i]).dtype;
        fits = mst_hlo_is_scalar(l, start[i], mst_hlo_spec(l, start[0]).dtype);
        if (fits && (mst_dtype_is_float(dtype) || dtype == MST_BOOL)) {
            mst_hlo_fail(l, "a part begins at no integer");
            fits = false;
        }
    }
    return fits;
}

mst_hlo mst_hlo_dynamic_slice(mst_lower *l, mst_hlo x, const mst_hlo *start, mst_shape size) {
    mst_hlo src[1 + MST_MAX_NDIM] = {x};
    if (!are_starts(l, x, start, size)) return MST_NO_HLO;
    for (int i = 0; i < size.ndim; i++) src[1 + i] = start[i];
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_array(&a, "slice_sizes", size.ndim, size.dim);
    return move(l, "dynamic_slice", &a, 1 + size.ndim, src, mst_hlo_spec(l, x).dtype, size);
}

mst_hlo mst_hlo_dynamic_update(mst_lower *l, mst_hlo x, mst_hlo update, const mst_hlo *start) {
    const mst_spec spec = mst_hlo_spec(l, x);
    mst_hlo src[2 + MST_MAX_NDIM] = {x, update};
    if (!are_starts(l, x, start, mst_hlo_spec(l, update).shape)) return MST_NO_HLO;
    for (int i = 0; i < spec.shape.ndim; i++) src[2 + i] = start[i];
    mst_hlo_attributes a = {.size = 0};
    return move(l, "dynamic_update_slice", &a, 2 + spec.shape.ndim, src, spec.dtype, spec.shape);
}

/* Sets START [ndim] to the place where the elements at INDEX along AXIS begin. */
static void start_at(mst_lower *l, mst_hlo *start, int ndim, int axis, mst_hlo index) {
    const mst_hlo zero = mst_hlo_number_like(l, index, 0);
    for (int i = 0; i < ndim; i++) start[i] = i == axis ? index : zero;
}

mst_hlo mst_hlo_slice_at(mst_lower *l, mst_hlo x, int axis, mst_hlo index) {
    mst_shape size = mst_hlo_spec(l, x).shape, rest = MST_SCALAR;
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_axis(l, size.ndim, &axis)) return MST_NO_HLO;
    for (int i = 0; i < size.ndim; i++)
        if (i != axis) rest.dim[rest.ndim++] = size.dim[i];
    mst_hlo start[MST_MAX_NDIM] = {MST_NO_HLO};
    start_at(l, start, size.ndim, axis, index);
    size.dim[axis] = 1;
    return mst_hlo_reshape(l, mst_hlo_dynamic_slice(l, x, start, size), rest);
}

mst_hlo mst_hlo_update_at(mst_lower *l, mst_hlo x, mst_hlo part, int axis, mst_hlo index) {
    mst_shape size = mst_hlo_spec(l, x).shape;
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_axis(l, size.ndim, &axis)) return MST_NO_HLO;
    mst_hlo start[MST_MAX_NDIM] = {MST_NO_HLO};
    start_at(l, start, size.ndim, axis, index);
    size.dim[axis] = 1;
    return mst_hlo_dynamic_update(l, x, mst_hlo_reshape(l, part, size), start);
}
