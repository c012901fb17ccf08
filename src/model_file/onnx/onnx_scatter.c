/* Reads the operators of ONNX that gather or scatter single elements, and those that cut off triangles. */
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"
#include "op/index/row_index.h"

/* Swaps AXIS with the last axis of X. Doing it twice restores X. An error value, which has no dimensions, stays. */
static mst_value with_last(mst_value x, int axis) {
    mst_axes perm = {.count = mst_value_spec(x).shape.ndim};
    if (perm.count < 2) return x;
    for (int i = 0; i < perm.count; i++) perm.axis[i] = i;
    perm.axis[axis] = perm.count - 1;
    perm.axis[perm.count - 1] = axis;
    return axis == perm.count - 1 ? x : mst_transpose(x, perm);
}

/* Makes negative elements of INDEX count from the end of axis AXIS of X. */
static mst_value from_end(mst_value index, mst_value x, int axis) {
    const mst_dtype dtype = mst_value_spec(index).dtype;
    const mst_value zero = mst_scalar(mst_value_graph(index), dtype, 0);
    return mst_select(mst_less(index, zero), mst_add(index, mst_dim_size(x, axis, dtype)), index);
}

/* ---- along an axis ---- */

/* Reads data and indices, with the axis in question as the last one. */
static mst_status read_along(mst_onnx_call *c, int *axis, mst_value *x, mst_value *index) {
    MST_TRY(mst_onnx_plain(c, 0, x));
    MST_TRY(mst_onnx_plain(c, 1, index));
    const int ndim = mst_value_spec(*x).shape.ndim;
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), ndim, axis));
    if (mst_value_spec(*index).shape.ndim != ndim)
        return MST_FAIL(MST_INVALID, "its indices have %d dimensions, and its data %d: they must have the same number",
                        mst_value_spec(*index).shape.ndim, ndim);
    *index = with_last(from_end(*index, *x, *axis), *axis);
    *x = with_last(*x, *axis);
    return mst_graph_check(c->reader->graph);
}

/* Indices may cover less than X. *OUT becomes the part of X that has as many elements as INDEX along all axes but the
 * last, and *REST the number of elements beyond that part, for each axis. */
static mst_status covered(mst_value x, mst_value index, mst_value *out, mst_shape *rest) {
    const mst_shape all = mst_value_spec(x).shape, some = mst_value_spec(index).shape;
    mst_shape begin = {.ndim = all.ndim}, size = begin;
    bool cuts = false;
    *rest = begin;
    for (int i = 0; i < all.ndim; i++) {
        const bool less = i < all.ndim - 1 && some.dim[i] >= 0 && all.dim[i] >= 0 && some.dim[i] != all.dim[i];
        if (less && some.dim[i] > all.dim[i])
            return MST_FAIL(MST_INVALID, "its indices have %lld elements along a dimension of %lld elements",
                            (long long)some.dim[i], (long long)all.dim[i]);
        size.dim[i] = less ? some.dim[i] : -1;
        rest->dim[i] = less ? all.dim[i] - some.dim[i] : 0;
        cuts |= less;
    }
    *out = cuts ? mst_slice(x, begin, size) : x;
    return MST_OK;
}

static mst_status read_gather_elements(mst_onnx_call *c) {
    mst_value x, index;
    mst_shape rest;
    int axis;
    MST_TRY(read_along(c, &axis, &x, &index));
    MST_TRY(covered(x, index, &x, &rest));
    return mst_onnx_put(c, 0, with_last(mst_gather_last(x, index), axis));
}

/* *ADDS: whether the node adds its updates to the data; else they replace elements. */
static mst_status read_reduction_of(mst_onnx_call *c, bool *adds) {
    *adds = mst_onnx_is(c, "reduction", "add", "none");
    if (*adds || mst_onnx_is(c, "reduction", "none", "none")) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "its attribute reduction is not supported: none and add are");
}

/* dst[..., index[.., j], ...] = updates[..., j, ...]. Without a reduction, ONNX does not define the result for equal
 * indices. */
static mst_status read_scatter_elements(mst_onnx_call *c) {
    mst_value x, index, updates, part;
    mst_shape rest;
    bool adds;
    int axis;
    MST_TRY(read_reduction_of(c, &adds));
    MST_TRY(read_along(c, &axis, &x, &index));
    MST_TRY(mst_onnx_plain(c, 2, &updates));
    if (mst_value_spec(updates).shape.ndim != mst_value_spec(x).shape.ndim)
        return MST_FAIL(MST_INVALID, "its updates must have the shape of its indices");
    updates = with_last(updates, axis);
    MST_TRY(covered(x, index, &part, &rest));
    const mst_shape none = {.ndim = rest.ndim};
    mst_value sum = mst_pad(mst_scatter_last(updates, index, part), .before = none, .after = rest);
    if (adds) return mst_onnx_put(c, 0, with_last(mst_add(x, sum), axis));
    const mst_value ones = mst_cast(mst_ones_like(index), MST_I32);
    const mst_value number = mst_pad(mst_scatter_last(ones, index, part), .before = none, .after = rest);
    const mst_value is_set = mst_greater(number, mst_scalar(c->reader->graph, MST_I32, 0));
    return mst_onnx_put(c, 0, with_last(mst_select(is_set, sum, x), axis));
}

/* ---- by several indices ---- */

static mst_status read_scatter_nd(mst_onnx_call *c) {
    mst_value x, index, updates;
    bool adds;
    MST_TRY(read_reduction_of(c, &adds));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_plain(c, 1, &index));
    MST_TRY(mst_onnx_plain(c, 2, &updates));
    const mst_spec spec = mst_value_spec(x), by = mst_value_spec(index);
    const int64_t count = by.shape.ndim ? by.shape.dim[by.shape.ndim - 1] : -1;
    if (count < 1 || count > spec.shape.ndim)
        return MST_FAIL(MST_INVALID,
                        "its indices have %lld numbers for each element, and its data have %d dimensions: 1 to as many "
                        "are supported",
                        (long long)count, spec.shape.ndim);
    if (mst_onnx_num_open(&spec.shape))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it scatters into a dynamic dimension, whose size is unknown until the model runs: export the "
                        "model with a fixed size there");
    mst_value size[MST_MAX_NDIM];
    for (int i = 0; i < count; i++) size[i] = mst_dim_size(x, i, by.dtype);
    const mst_value zero = mst_scalar(c->reader->graph, by.dtype, 0);
    index = mst_select(mst_less(index, zero), mst_add(index, mst_stack(size, (int)count, 0)), index);
    const mst_value sum = mst_scatter_nd(index, updates, spec.shape);
    if (adds) return mst_onnx_put(c, 0, mst_add(x, sum));
    const mst_value number = mst_scatter_nd(index, mst_cast(mst_ones_like(updates), MST_I32), spec.shape);
    const mst_value is_set = mst_greater(number, mst_scalar(c->reader->graph, MST_I32, 0));
    return mst_onnx_put(c, 0, mst_select(is_set, sum, x));
}

/* ---- triangles ---- */

mst_value mst_onnx_numbers_along(mst_value x, int axis) {
    const int ndim = mst_value_spec(x).shape.ndim;
    mst_strided_slice_options o = {.src = x, .begin = {.count = ndim}, .end = {.count = ndim}};
    for (int i = 0; i < ndim; i++) {
        o.end.axis[i] = 1;
        if (i != axis) o.shrink_mask |= 1 << i;
    }
    o.begin_mask = o.end_mask = 1 << axis;
    const int64_t size = mst_value_spec(x).shape.dim[axis];
    const mst_value numbers =
        size >= 0 ? mst_range(mst_value_graph(x), MST_I64, 0, (double)size, 1)
                  : mst_cumsum(mst_cast(mst_ones_like(mst_strided_slice_with(o)), MST_I64), .exclusive = true);
    return mst_expand_dims(numbers, axis == ndim - 1 ? 0 : 1);
}

static mst_status read_trilu(mst_onnx_call *c) {
    mst_value x, k;
    const bool upper = mst_onnx_int(c, "upper", 1) != 0;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    if (ndim < 2) return MST_FAIL(MST_INVALID, "its input has %d dimensions, and must have two or more", ndim);
    const mst_value off =
        mst_sub(mst_onnx_numbers_along(x, ndim - 1), mst_onnx_numbers_along(x, ndim - 2)); /* [rows, columns] */
    k = mst_scalar(c->reader->graph, MST_I64, 0);
    if (mst_onnx_has(c, 1)) MST_TRY(mst_onnx_plain(c, 1, &k));
    k = mst_reshape(mst_cast(k, MST_I64), MST_SCALAR);
    const mst_value stays = upper ? mst_greater_equal(off, k) : mst_less_equal(off, k);
    return mst_onnx_put(c, 0, mst_select(stays, x, mst_zeros_like(x)));
}

static mst_status read_eye_like(mst_onnx_call *c) {
    mst_value x;
    const int64_t k = mst_onnx_int(c, "k", 0), to = mst_onnx_int(c, "dtype", 0);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const mst_spec spec = mst_value_spec(x);
    const mst_dtype dtype = !to ? spec.dtype : to > 0 && to < 100 ? mst_onnx_dtype((int32_t)to) : MST_NO_DTYPE;
    if (!dtype)
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute dtype is the type %lld of ONNX, which is not supported",
                        (long long)to);
    if (spec.shape.ndim != 2)
        return MST_FAIL(MST_INVALID, "its input has %d dimensions, and must have two", spec.shape.ndim);
    const mst_value off = mst_sub(mst_onnx_numbers_along(x, 1), mst_onnx_numbers_along(x, 0));
    return mst_onnx_put(c, 0, mst_cast(mst_equal(off, mst_scalar(c->reader->graph, MST_I64, (double)k)), dtype));
}

/* Reverses the first LENGTH elements of each sequence, where LENGTH is the sequence's number in input 1. One of the
 * first two axes is the axis of the sequences, the other the axis of their elements. */
static mst_status read_reverse_sequence(mst_onnx_call *c) {
    mst_value x, length;
    const int64_t batch = mst_onnx_int(c, "batch_axis", 1), time = mst_onnx_int(c, "time_axis", 0);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_plain(c, 1, &length));
    const int ndim = mst_value_spec(x).shape.ndim;
    if (ndim < 2 || batch + time != 1 || batch < 0 || batch > 1 || mst_value_spec(length).shape.ndim != 1)
        return MST_FAIL(MST_INVALID,
                        "its input has %d dimensions and its lengths have %d: two or more and one are supported, and "
                        "batch_axis and time_axis must be 0 and 1",
                        ndim, mst_value_spec(length).shape.ndim);
    mst_axes swap = {.count = ndim}; /* of the first two axes: its own inverse */
    for (int i = 0; i < ndim; i++) swap.axis[i] = i < 2 ? 1 - i : i;
    if (batch == 1) x = mst_transpose(x, swap);
    x = with_last(x, 1);
    const mst_value at = mst_onnx_numbers_along(x, ndim - 1), one = mst_scalar(c->reader->graph, MST_I64, 1);
    length = mst_cast(length, MST_I64);
    for (int i = 1; i < ndim; i++) length = mst_expand_dims(length, -1);
    const mst_value from = mst_select(mst_less(at, length), mst_sub(mst_sub(length, at), one), at);
    x = with_last(mst_gather_last(x, mst_broadcast_like(from, x)), 1);
    return mst_onnx_put(c, 0, batch == 1 ? mst_transpose(x, swap) : x);
}

const mst_onnx_op mst_onnx_scatter_ops[] = {
    {"EyeLike", .read = read_eye_like},
    {"GatherElements", .read = read_gather_elements},
    {"ReverseSequence", .read = read_reverse_sequence},
    {"ScatterElements", .read = read_scatter_elements},
    {"ScatterND", .read = read_scatter_nd},
    {"Trilu", .read = read_trilu},
    {0},
};
