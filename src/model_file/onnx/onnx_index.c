/* Reads the operators of ONNX that sort elements or move them by indices. */
#include <string.h>

#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

static mst_status read_cumsum(mst_onnx_call *c) {
    mst_value x;
    double number;
    int axis;
    const bool exclusive = mst_onnx_int(c, "exclusive", 0) != 0, reverse = mst_onnx_int(c, "reverse", 0) != 0;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_number(c, 1, &number));
    MST_TRY(mst_onnx_axis((int64_t)number, mst_value_spec(x).shape.ndim, &axis));
    return mst_onnx_put(c, 0, mst_cumsum(x, .axis = axis, .exclusive = exclusive, .reverse = reverse));
}

/* ---- blocks of pixels as channels ---- */

static mst_status read_block(mst_onnx_call *c, mst_value *x, int64_t *block) {
    *block = mst_onnx_int(c, "blocksize", 0);
    if (*block < 1 || *block > INT16_MAX)
        return MST_FAIL(MST_INVALID, "its blocksize is %lld: it must be at least 1, and fit into 16 bits",
                        (long long)*block);
    MST_TRY(mst_onnx_last(c, 0, x));
    const int ndim = mst_value_spec(*x).shape.ndim;
    return ndim == 4 ? MST_OK
                     : MST_FAIL(MST_INVALID,
                                "its input has %d dimensions, and must have four: [n, channels, height, width]", ndim);
}

/* Reorders the channels of X: [channels / EACH, EACH] becomes [EACH, channels / EACH]. */
static mst_status turn_channels(mst_value *x, int64_t each) {
    const int64_t all = mst_value_spec(*x).shape.dim[3];
    if (all < 0 || each < 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "the mode CRD needs a fixed number of channels: export the model with one");
    if (all % each)
        return MST_FAIL(MST_INVALID,
                        "its input has %lld channels, which is no multiple of the square of its blocksize, %lld",
                        (long long)all, (long long)each);
    const mst_value blocks = mst_reshape(*x, MST_SHAPE(-1, all / each, each));
    *x = mst_reshape_like(mst_transpose(blocks, MST_AXES(0, 2, 1)), *x);
    return MST_OK;
}

static mst_status read_depth_to_space(mst_onnx_call *c) {
    mst_value x;
    int64_t block;
    const bool channels_first = mst_onnx_is(c, "mode", "CRD", "DCR");
    if (!channels_first && !mst_onnx_is(c, "mode", "DCR", "DCR"))
        return MST_FAIL(MST_INVALID, "its attribute mode must be DCR or CRD");
    MST_TRY(read_block(c, &x, &block));
    if (block == 1) return mst_onnx_put_last(c, 0, x);
    if (channels_first) MST_TRY(turn_channels(&x, block * block));
    return mst_onnx_put_last(c, 0, mst_depth_to_space(x, (int32_t)block));
}

static mst_status read_space_to_depth(mst_onnx_call *c) {
    mst_value x;
    int64_t block;
    const bool channels_first = mst_onnx_is(c, "mode", "CRD", "DCR");
    if (!channels_first && !mst_onnx_is(c, "mode", "DCR", "DCR"))
        return MST_FAIL(MST_INVALID, "its attribute mode must be DCR or CRD");
    MST_TRY(read_block(c, &x, &block));
    if (block == 1) return mst_onnx_put_last(c, 0, x);
    const int64_t channels = mst_value_spec(x).shape.dim[3];
    x = mst_space_to_depth(x, (int32_t)block);
    MST_TRY(mst_graph_check(c->reader->graph));
    if (channels_first) MST_TRY(turn_channels(&x, channels));
    return mst_onnx_put_last(c, 0, x);
}

/* ---- indices ---- */

/* Reads a Range with more numbers than a list of sizes may have, or whose limit is known only in a run. */
static mst_status read_range(mst_onnx_call *c) {
    double start, limit, delta;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    mst_value like;
    if (!mst_onnx_has(c, 0) || !mst_onnx_has(c, 1))
        return MST_FAIL(MST_CORRUPT, "its start or its limit (inputs 0 and 1) are missing: export the model again");
    const mst_dtype dtype = mst_onnx_dtype_of(c, 0);
    MST_TRY(mst_onnx_number(c, 0, &start));
    MST_TRY(mst_onnx_number(c, 2, &delta));
    if (delta == 0) return MST_FAIL(MST_INVALID, "its delta is 0: it must be positive or negative");
    if (!mst_onnx_value_of(c, 1)->open) {
        MST_TRY(mst_onnx_number(c, 1, &limit));
        return mst_onnx_put(c, 0, mst_range(c->reader->graph, dtype, start, limit, delta));
    }
    MST_TRY(mst_onnx_sizes(c, 1, true, list, &count));
    if (count != 1 || start != 0 || delta != 1)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its limit is unknown until the model runs: then its start must be 0 and its delta 1");
    MST_TRY(mst_onnx_like(c->reader, list, count, &like));
    const mst_value ones = mst_cast(mst_ones_like(like), MST_I64);
    return mst_onnx_put(c, 0, mst_cast(mst_cumsum(ones, .exclusive = true), dtype));
}

/* Makes negative elements of INDEX count from the end of the first dimensions of SHAPE, which must be known. */
static mst_status from_end(mst_shape shape, mst_value *index) {
    const mst_spec spec = mst_value_spec(*index);
    const int64_t count = spec.shape.ndim ? spec.shape.dim[spec.shape.ndim - 1] : -1;
    mst_graph *graph = mst_value_graph(*index);
    mst_tensor *sizes;
    if (count < 1 || count > shape.ndim)
        return MST_FAIL(MST_INVALID,
                        "its indices have %lld numbers for each element, and its input has %d dimensions: 1 to as many "
                        "are supported",
                        (long long)count, shape.ndim);
    MST_TRY(mst_tensor_create(spec.dtype, MST_SHAPE(count), &sizes));
    for (int64_t i = 0; i < count; i++) mst_tensor_set(sizes, i, (double)shape.dim[i]);
    const mst_value turned = mst_add(*index, mst_constant(graph, sizes));
    *index = mst_select(mst_less(*index, mst_scalar(graph, spec.dtype, 0)), turned, *index);
    mst_tensor_release(sizes);
    return MST_OK;
}

static mst_status read_gather_nd(mst_onnx_call *c) {
    mst_value x, index;
    if (mst_onnx_int(c, "batch_dims", 0))
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute batch_dims must be 0: other numbers are not supported");
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_plain(c, 1, &index));
    MST_TRY(from_end(mst_value_spec(x).shape, &index));
    return mst_onnx_put(c, 0, mst_gather_nd(x, index));
}

static mst_status read_one_hot(mst_onnx_call *c) {
    enum { MOST_DEPTH = 1 << 24 };
    mst_value index;
    double depth;
    int axis;
    const int64_t wanted = mst_onnx_int(c, "axis", -1);
    const mst_tensor *values = mst_onnx_has(c, 2) ? mst_onnx_value_of(c, 2)->tensor : NULL;
    MST_TRY(mst_onnx_plain(c, 0, &index));
    MST_TRY(mst_onnx_number(c, 1, &depth));
    const mst_spec spec = mst_value_spec(index);
    MST_TRY(mst_onnx_axis(wanted, spec.shape.ndim + 1, &axis));
    if (!values || mst_onnx_value_of(c, 2)->open || mst_tensor_count(values) != 2)
        return MST_FAIL(MST_UNIMPLEMENTED, "its values (input 2) must be a constant of two numbers");
    if (!(depth >= 1 && depth <= MOST_DEPTH))
        return MST_FAIL(MST_INVALID, "its depth is %g: 1 to 16777216 are supported", depth);
    index = mst_cast(index, MST_I64);
    const mst_value end = mst_scalar(c->reader->graph, MST_I64, (double)(int64_t)depth);
    const mst_value zero = mst_scalar(c->reader->graph, MST_I64, 0);
    index = mst_select(mst_less(index, zero), mst_add(index, end), index);
    const mst_value is_there = mst_one_hot(index, .depth = (int64_t)depth, .dtype = MST_BOOL);
    const mst_dtype dtype = mst_tensor_dtype(values);
    const mst_value y = mst_select(is_there, mst_scalar(c->reader->graph, dtype, mst_tensor_get(values, 1)),
                                   mst_scalar(c->reader->graph, dtype, mst_tensor_get(values, 0)));
    mst_axes perm = {.count = spec.shape.ndim + 1}; /* moves the last axis to its place */
    for (int i = 0, from = 0; i < perm.count; i++) perm.axis[i] = i == axis ? spec.shape.ndim : from++;
    return mst_onnx_put(c, 0, mst_transpose(y, perm));
}

/* Swaps AXIS with the last axis of X. Doing it twice restores X. */
static mst_value with_last(mst_value x, int axis) {
    mst_axes perm = {.count = mst_value_spec(x).shape.ndim};
    for (int i = 0; i < perm.count; i++) perm.axis[i] = i;
    perm.axis[axis] = perm.count - 1;
    perm.axis[perm.count - 1] = axis;
    return axis == perm.count - 1 ? x : mst_transpose(x, perm);
}

static mst_value first_of_rows(mst_value x, int64_t k) {
    mst_shape begin = {.ndim = mst_value_spec(x).shape.ndim}, size = begin;
    for (int i = 0; i < size.ndim; i++) size.dim[i] = i == size.ndim - 1 ? k : -1;
    return mst_slice(x, begin, size);
}

static mst_status read_top_k(mst_onnx_call *c) {
    mst_value x, values, places;
    int64_t k[MST_ONNX_MOST_LIST];
    int axis, count;
    const bool largest = mst_onnx_int(c, "largest", 1) != 0;
    const int64_t wanted = mst_onnx_int(c, "axis", -1);
    (void)mst_onnx_int(c, "sorted", 1); /* 0 allows any order, so a sorted result is right too */
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_numbers(c, 1, k, &count));
    MST_TRY(mst_onnx_axis(wanted, mst_value_spec(x).shape.ndim, &axis));
    if (count != 1 || k[0] < 1 || k[0] > INT32_MAX)
        return MST_FAIL(MST_UNIMPLEMENTED, "its k (input 1) must be one number from 1 to %d", INT32_MAX);
    x = with_last(x, axis);
    if (largest) {
        values = mst_top_k(x, .k = (int)k[0]);
        places = mst_value_output(values, 1);
    } else {
        values = first_of_rows(mst_sort(x), k[0]);
        places = first_of_rows(mst_argsort(x), k[0]);
    }
    MST_TRY(mst_onnx_put(c, 0, with_last(values, axis)));
    return mst_onnx_put(c, 1, with_last(mst_cast(places, MST_I64), axis));
}

const mst_onnx_op mst_onnx_index_ops[] = {
    {"CumSum", .read = read_cumsum},      {"DepthToSpace", .read = read_depth_to_space},
    {"GatherND", .read = read_gather_nd}, {"OneHot", .read = read_one_hot},
    {"Range", .read = read_range},        {"SpaceToDepth", .read = read_space_to_depth},
    {"TopK", .read = read_top_k},         {0},
};
