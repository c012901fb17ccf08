/* Reads the operators of ONNX that move elements and change shapes.
 *
 * Nodes that compute sizes have been evaluated already (onnx_fold.c). */
#include <string.h>

#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

mst_status mst_onnx_read_axes(mst_onnx_call *c, size_t i, int ndim, int64_t *list, int *count) {
    MST_TRY(mst_onnx_ints(c, "axes", list, count));
    if (mst_onnx_has(c, i)) MST_TRY(mst_onnx_numbers(c, i, list, count));
    if (*count > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "it has %d axes, and at most %d are supported", *count, MST_MAX_NDIM);
    for (int k = 0, axis; k < *count; k++) {
        MST_TRY(mst_onnx_axis(list[k], ndim, &axis));
        list[k] = axis;
        for (int before = 0; before < k; before++)
            if (list[before] == axis)
                return MST_FAIL(MST_INVALID, "the axis %d is given twice: each may be given once", axis);
    }
    return MST_OK;
}

static mst_axes to_axes(const int64_t *list, int count) {
    mst_axes axes = {.count = count};
    for (int i = 0; i < count; i++) axes.axis[i] = (int32_t)list[i];
    return axes;
}

/* ---- constants and shapes ---- */

static mst_status read_constant(mst_onnx_call *c) {
    mst_tensor *tensor;
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, "value", MST_ONNX_TENSOR);
    if (a && a->t) {
        MST_TRY(mst_onnx_tensor(a->t, &tensor));
    } else if ((a = mst_onnx_attribute(c, "value_int", MST_ONNX_INT))) {
        MST_TRY(mst_tensor_copy(MST_I64, MST_SCALAR, &a->i, &tensor));
    } else if ((a = mst_onnx_attribute(c, "value_ints", MST_ONNX_INTS))) {
        MST_TRY(mst_tensor_copy(MST_I64, MST_SHAPE((int64_t)a->n_ints), a->ints, &tensor));
    } else if ((a = mst_onnx_attribute(c, "value_float", MST_ONNX_FLOAT))) {
        MST_TRY(mst_tensor_copy(MST_F32, MST_SCALAR, &a->f, &tensor));
    } else if ((a = mst_onnx_attribute(c, "value_floats", MST_ONNX_FLOATS))) {
        MST_TRY(mst_tensor_copy(MST_F32, MST_SHAPE((int64_t)a->n_floats), a->floats, &tensor));
    } else {
        return MST_FAIL(
            MST_UNIMPLEMENTED,
            "its value is a string or a sparse tensor: only numbers, lists of them and dense tensors are supported");
    }
    return mst_onnx_put_tensor(c, tensor);
}

/* The size of input 0 along AXIS. SHAPE is its shape as far as it is known. */
static mst_status size_of(mst_onnx_call *c, const mst_shape *shape, int axis, int64_t *out) {
    const mst_onnx_value *v = mst_onnx_value_of(c, 0);
    const bool last = mst_onnx_is_last(c, 0);
    *out = shape->dim[axis];
    if (*out >= 0) return MST_OK;
    /* where AXIS is in the order with channels last */
    const int at = !last || !axis ? axis : axis == 1 ? shape->ndim - 1 : axis - 1;
    return mst_onnx_add_open(c->reader, (mst_onnx_open){last ? v->last : v->plain, at, 1, v->rate}, out);
}

static mst_status read_shape(mst_onnx_call *c) {
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    const mst_shape shape = mst_onnx_shape(c, 0);
    int64_t list[MST_MAX_NDIM], start = mst_onnx_int(c, "start", 0), end = mst_onnx_int(c, "end", shape.ndim);
    int count = 0;
    if (start < 0) start += shape.ndim;
    if (end < 0) end += shape.ndim;
    for (int i = 0; i < shape.ndim; i++)
        if (i >= start && i < end) MST_TRY(size_of(c, &shape, i, &list[count++]));
    return mst_onnx_put_list(c, list, count);
}

static mst_status read_size(mst_onnx_call *c) {
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    const mst_shape shape = mst_onnx_shape(c, 0);
    int64_t all = 1, size;
    for (int i = 0; i < shape.ndim; i++) {
        MST_TRY(size_of(c, &shape, i, &size));
        MST_TRY(mst_onnx_multiply(c->reader, all, size, &all));
    }
    return mst_onnx_put_list(c, &all, -1);
}

/* The size that -1 stands for when input 0, with the sizes SRC, is reshaped. The other sizes are the open size OPEN,
 * and known sizes whose product is KNOWN. Returns -1 if the size cannot be found.
 *
 * Let HAVE be the rate of input 0, WANT the rate of open->of, and o their common origin. The size follows from the
 * number of elements, which a Reshape keeps: known(SRC) * HAVE * o = size * KNOWN * open->times * WANT * o. */
static int64_t rest_of(const mst_onnx_call *c, const mst_shape *src, int64_t known, const mst_onnx_open *open) {
    const mst_onnx_rate have = mst_onnx_value_of(c, 0)->rate, want = open->rate;
    int64_t all = mst_onnx_known(src), each = known;
    if (mst_onnx_num_open(src) != 1 || open->axis < 0 || have.times < 1 || want.times < 1 ||
        have.origin != want.origin || all < 0 || __builtin_mul_overflow(all, have.times, &all) ||
        __builtin_mul_overflow(all, want.parts, &all) || __builtin_mul_overflow(each, want.times, &each) ||
        __builtin_mul_overflow(each, have.parts, &each) || __builtin_mul_overflow(each, open->times, &each) || each < 1)
        return -1;
    return all % each ? -1 : all / each;
}

/* Rewrites the sizes WANT of a Reshape, so that at most one of them is -1, which follows from the number of elements.
 * An open size becomes -1; a -1 beside it becomes a number. SRC are the sizes of input 0. */
static mst_status settle(const mst_onnx_call *c, const mst_shape *src, mst_shape *want) {
    int64_t known = 1;
    int open = -1, rest = -1, num_open = 0;
    for (int i = 0; i < want->ndim; i++) {
        if (mst_onnx_is_open(want->dim[i]))
            open = i, num_open++;
        else if (want->dim[i] == -1)
            rest = i;
        else if (__builtin_mul_overflow(known, want->dim[i], &known))
            return MST_FAIL(
                MST_INVALID,
                "its shape has more elements than 64 bits can count: check the sizes that the node is given");
    }
    if (!num_open) return MST_OK;
    const int64_t left =
        rest < 0 || num_open > 1 ? 0 : rest_of(c, src, known, mst_onnx_open_of(c->reader, want->dim[open]));
    if (num_open > 1 || left < 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its shape has several dynamic dimensions, whose sizes are unknown until the model runs: "
                        "export the model with one "
                        "of them, that of the examples, and all others fixed");
    if (rest >= 0) want->dim[rest] = left;
    want->dim[open] = -1;
    return MST_OK;
}

static mst_status read_reshape(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    const bool zero = mst_onnx_int(c, "allowzero", 0) != 0;
    MST_TRY(mst_onnx_sizes(c, 1, true, list, &count));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const mst_shape src = mst_value_spec(x).shape;
    if (count > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "its shape has %d dimensions, and at most %d are supported", count, MST_MAX_NDIM);
    mst_shape shape = mst_shape_make(count, list);
    for (int i = 0; i < count; i++)
        if (list[i] < -1 && !mst_onnx_is_open(list[i]))
            return MST_FAIL(MST_INVALID,
                            "its shape (input 1) has the size %lld: a size is 0 or more, or -1 for what is left",
                            (long long)list[i]);
    for (int i = 0; i < count && !zero; i++)
        if (shape.dim[i] == 0 && i < src.ndim) MST_TRY(size_of(c, &src, i, &shape.dim[i]));
    MST_TRY(settle(c, &src, &shape));
    return mst_onnx_put(c, 0, mst_reshape(x, shape));
}

static mst_status read_flatten(mst_onnx_call *c) {
    mst_value x;
    int axis;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const mst_shape shape = mst_value_spec(x).shape;
    const int64_t given = mst_onnx_int(c, "axis", 1);
    if (given == shape.ndim)
        axis = shape.ndim;
    else
        MST_TRY(mst_onnx_axis(given, shape.ndim, &axis));
    int64_t part[2] = {1, 1};
    for (int i = 0; i < shape.ndim; i++) {
        int64_t *p = &part[i >= axis];
        if (shape.dim[i] < 0 || *p < 0)
            *p = -1;
        else if (__builtin_mul_overflow(*p, shape.dim[i], p))
            return MST_FAIL(
                MST_INVALID,
                "its shape has more elements than 64 bits can count: check the sizes that the node is given");
    }
    if (part[0] < 0 && part[1] < 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its shape has several dynamic dimensions, whose sizes are unknown until the model runs: "
                        "export the model with one "
                        "of them, that of the examples, and all others fixed");
    return mst_onnx_put(c, 0, mst_reshape(x, MST_SHAPE(part[0], part[1])));
}

static mst_status read_unsqueeze(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    if (!mst_onnx_has(c, 0) || !mst_onnx_has(c, 1))
        return MST_FAIL(MST_CORRUPT, "its input 0, or its axes (input 1), are missing: export the model again");
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    const int ndim = mst_onnx_ndim(c, 0) + count;
    MST_TRY(mst_onnx_read_axes(c, 1, ndim, list, &count));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    for (int axis = 0; axis < ndim; axis++)
        for (int k = 0; k < count; k++)
            if (list[k] == axis) x = mst_expand_dims(x, axis);
    return mst_onnx_put(c, 0, x);
}

static mst_status read_squeeze(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_read_axes(c, 1, mst_value_spec(x).shape.ndim, list, &count));
    return mst_onnx_put(c, 0, mst_squeeze(x, to_axes(list, count)));
}

/* ---- order ---- */

/* Reads a Transpose. If it moves channels to the last axis or back, no element moves: the value is only noted in the
 * other order. */
static mst_status read_transpose(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count, axis;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_ints(c, "perm", list, &count));
    if (count && count != ndim)
        return MST_FAIL(MST_INVALID,
                        "its attribute perm has %d axes, and its input has %d dimensions: there must be one for each",
                        count, ndim);
    for (int i = 0; i < ndim; i++) {
        if (!count) list[i] = ndim - 1 - i;
        MST_TRY(mst_onnx_axis(list[i], ndim, &axis));
    }
    bool to_last = ndim > 2 && list[0] == 0 && list[ndim - 1] == 1,
         to_plain = ndim > 2 && list[0] == 0 && list[1] == ndim - 1;
    for (int i = 1; i < ndim; i++) {
        if (i < ndim - 1) to_last &= list[i] == i + 1;
        if (i > 1) to_plain &= list[i] == i - 1;
    }
    if (to_last) {
        MST_TRY(mst_onnx_last(c, 0, &x));
        return mst_onnx_put(c, 0, x);
    }
    MST_TRY(mst_onnx_plain(c, 0, &x));
    return to_plain ? mst_onnx_put_last(c, 0, x) : mst_onnx_put(c, 0, mst_transpose(x, to_axes(list, ndim)));
}

static mst_status read_concat(mst_onnx_call *c) {
    enum { MOST = 64 };
    mst_value x[MOST];
    int axis;
    const size_t count = c->node->n_input;
    if (count < 1 || count > MOST || !mst_onnx_has(c, 0))
        return MST_FAIL(MST_UNIMPLEMENTED, "it has %zu inputs, and 1 to %d are supported", count, MOST);
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), ndim, &axis));
    bool last = ndim > 2;
    for (size_t i = 0; i < count; i++) {
        if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
        last &= mst_onnx_ndim(c, i) == ndim && mst_onnx_is_last(c, i);
    }
    for (size_t i = 0; i < count; i++) MST_TRY((last ? mst_onnx_last : mst_onnx_plain)(c, i, &x[i]));
    const int at = !last || !axis ? axis : axis == 1 ? ndim - 1 : axis - 1; /* where AXIS is among those of X */
    return mst_onnx_put_as(c, mst_concat(x, (int)count, at), last);
}

static mst_status read_split(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST], begin = 0;
    int axis, count = 0;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const mst_shape shape = mst_value_spec(x).shape;
    const int64_t parts = mst_onnx_int(c, "num_outputs", (int64_t)c->node->n_output);
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), shape.ndim, &axis));
    const int64_t size = shape.dim[axis];
    if (mst_onnx_has(c, 1)) {
        MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    } else {
        if (size < 0)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "it splits a dynamic dimension, whose size is unknown until the model runs: export the "
                            "model with a fixed size there");
        if (parts < 1 || parts > MST_ONNX_MOST_LIST)
            return MST_FAIL(MST_INVALID, "it splits into %lld parts, and 1 to %d are supported", (long long)parts,
                            MST_ONNX_MOST_LIST);
        const int64_t each = size / parts + (size % parts != 0);
        for (int64_t left = size; count < parts; left -= each) list[count++] = left < each ? left : each;
    }
    if ((size_t)count != c->node->n_output)
        return MST_FAIL(MST_INVALID, "it splits into %d parts and has %zu outputs: there must be one for each part",
                        count, c->node->n_output);
    for (int i = 0; i < count; i++) {
        mst_shape from = {.ndim = shape.ndim}, part = {.ndim = shape.ndim};
        for (int k = 0; k < shape.ndim; k++) part.dim[k] = -1;
        from.dim[axis] = begin;
        part.dim[axis] = list[i];
        if (list[i] < 0 || __builtin_add_overflow(begin, list[i], &begin))
            return MST_FAIL(MST_INVALID, "one of its parts has %lld elements: check its input split",
                            (long long)list[i]);
        MST_TRY(mst_onnx_put(c, (size_t)i, mst_slice(x, from, part)));
    }
    if (size >= 0 && begin != size)
        return MST_FAIL(
            MST_INVALID,
            "its parts have %lld elements together, and the dimension that it splits has %lld: they must be equal",
            (long long)begin, (long long)size);
    return MST_OK;
}

static int32_t within(int64_t number) {
    return (int32_t)(number > INT32_MAX ? INT32_MAX : number < -INT32_MAX ? -INT32_MAX : number);
}

mst_status mst_onnx_read_cuts(mst_onnx_call *c, int ndim, mst_onnx_cuts *out) {
    int ends, axes = 0, steps = 0;
    MST_TRY(mst_onnx_numbers(c, 1, out->start, &out->count));
    MST_TRY(mst_onnx_numbers(c, 2, out->end, &ends));
    if (mst_onnx_has(c, 3)) MST_TRY(mst_onnx_read_axes(c, 3, ndim, out->axis, &axes));
    if (mst_onnx_has(c, 4)) MST_TRY(mst_onnx_numbers(c, 4, out->step, &steps));
    if (ends != out->count || (axes && axes != out->count) || (steps && steps != out->count) || out->count > ndim)
        return MST_FAIL(MST_INVALID, "its starts, ends, axes and steps must have the same length");
    for (int i = 0; i < out->count; i++) {
        if (!axes) out->axis[i] = i;
        if (!steps) out->step[i] = 1;
        if (!out->step[i]) return MST_FAIL(MST_INVALID, "it has a step of 0: steps are positive or negative");
    }
    return MST_OK;
}

static int64_t clamped(int64_t number, int64_t least, int64_t most) {
    return number < least ? least : number > most ? most : number;
}

/* Start and end of cut I of K on an axis of SIZE >= 1 elements, by ONNX's rule. Negative numbers count from the end.
 * Then start and end are clipped to [0, size]; with a negative step, start to [0, size - 1] and end to [-1, size - 1].
 * So x[-9:-10:-1] is [x0]; in NumPy it is empty. */
void mst_onnx_settle_cut(const mst_onnx_cuts *k, int i, int64_t size, int64_t *start, int64_t *end) {
    const bool back = k->step[i] < 0;
    *start = clamped(k->start[i] < 0 ? k->start[i] + size : k->start[i], 0, back ? size - 1 : size);
    *end = clamped(k->end[i] < 0 ? k->end[i] + size : k->end[i], back ? -1 : 0, back ? size - 1 : size);
}

/* Sets cut I in the options O. If the size of the axis is known only in a run, a start below -1 may be before the first
 * element. */
static mst_status cut_axis(const mst_onnx_cuts *k, int i, int64_t size, mst_strided_slice_options *o) {
    const int64_t axis = k->axis[i];
    int64_t start = k->start[i], end = k->end[i];
    if (size < 0 && k->step[i] < 0 && start < -1)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it slices backwards from %lld on in a dynamic dimension, whose size is unknown until the "
                        "model runs: export the model with a fixed size there",
                        (long long)start);
    if (size > 0) mst_onnx_settle_cut(k, i, size, &start, &end);
    o->begin.axis[axis] = within(start);
    o->end.axis[axis] = within(end);
    o->strides.axis[axis] = within(k->step[i]);
    o->begin_mask &= ~(1 << axis);
    if (size <= 0 || end >= 0) o->end_mask &= ~(1 << axis);
    return MST_OK;
}

static mst_status read_slice(mst_onnx_call *c) {
    mst_value x;
    mst_onnx_cuts k;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_read_cuts(c, ndim, &k));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    mst_strided_slice_options o = {.src = x,
                                   .begin = {.count = ndim},
                                   .end = {.count = ndim},
                                   .strides = {.count = ndim},
                                   .begin_mask = (1 << ndim) - 1,
                                   .end_mask = (1 << ndim) - 1};
    for (int i = 0; i < ndim; i++) o.strides.axis[i] = 1;
    for (int i = 0; i < k.count; i++) MST_TRY(cut_axis(&k, i, mst_value_spec(x).shape.dim[k.axis[i]], &o));
    return mst_onnx_put(c, 0, mst_strided_slice_with(o));
}

/* ---- indices ---- */

/* Whether the node takes a single element along AXIS whose index is known, as a step of a loop does. *PART becomes the
 * index. */
static bool gathers_part(const mst_onnx_call *c, int axis, int64_t *part) {
    const mst_onnx_value *index = mst_onnx_value_of(c, 1);
    const int64_t size = mst_onnx_shape(c, 0).dim[axis];
    if (!index->tensor || index->open || mst_tensor_shape(index->tensor).ndim) return false;
    if (mst_tensor_dtype(index->tensor) != MST_I64 && mst_tensor_dtype(index->tensor) != MST_I32) return false;
    const double number = mst_tensor_get(index->tensor, 0);
    *part = (int64_t)(number < 0 ? number + (double)size : number);
    return size <= MST_ONNX_MOST_UNROLLED && *part >= 0 && *part < size;
}

/* Reads a Gather. Indices below 0 count from the end. */
static mst_status read_gather(mst_onnx_call *c) {
    mst_value x, index;
    int64_t part;
    int axis;
    if (!mst_onnx_has(c, 0) || !mst_onnx_has(c, 1))
        return MST_FAIL(MST_CORRUPT, "its data (input 0) or its indices (input 1) are missing: export the model again");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), ndim, &axis));
    if (c->reader->depth && gathers_part(c, axis, &part)) {
        MST_TRY(mst_onnx_part(c->reader, mst_onnx_number_of(c, 0), axis, part, &x));
        return mst_onnx_put(c, 0, x);
    }
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_plain(c, 1, &index));
    const mst_dtype dtype = mst_value_spec(index).dtype;
    const mst_value zero = mst_scalar(c->reader->graph, dtype, 0);
    const mst_value from_end = mst_add(index, mst_dim_size(x, axis, dtype));
    return mst_onnx_put(c, 0, mst_gather(x, mst_select(mst_less(index, zero), from_end, index), axis));
}

static mst_status read_arg(mst_onnx_call *c, mst_value (*function)(mst_arg_search_options)) {
    mst_value x;
    int axis;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), mst_value_spec(x).shape.ndim, &axis));
    mst_value y;
    if (mst_onnx_int(c, "select_last_index", 0)) { /* searches from the end */
        const int64_t size = mst_value_spec(x).shape.dim[axis];
        if (size < 0)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "select_last_index is not supported for a dynamic dimension, whose size is unknown until "
                            "the model runs: export the model with a fixed size there");
        mst_strided_slice_options o = {.src = x, .begin_mask = (2 << axis) - 1, .end_mask = (2 << axis) - 1};
        o.begin.count = o.end.count = o.strides.count = axis + 1;
        for (int i = 0; i <= axis; i++) o.strides.axis[i] = i == axis ? -1 : 1;
        y = function((mst_arg_search_options){.src = mst_strided_slice_with(o), .axis = axis});
        y = mst_sub(mst_scalar(c->reader->graph, MST_I64, (double)(size - 1)), y);
    } else {
        y = function((mst_arg_search_options){.src = x, .axis = axis});
    }
    return mst_onnx_put(c, 0, mst_onnx_int(c, "keepdims", 1) ? mst_expand_dims(y, axis) : y);
}

static mst_status read_argmax(mst_onnx_call *c) {
    return read_arg(c, mst_argmax_with);
}

static mst_status read_argmin(mst_onnx_call *c) {
    return read_arg(c, mst_argmin_with);
}

/* ---- more of the same elements ---- */

/* Broadcasts X with the COUNT sizes LIST, some of which are open. */
static mst_status expand(mst_onnx_call *c, mst_value x, const int64_t *list, int count) {
    const mst_shape src = mst_value_spec(x).shape;
    mst_shape shape = {.ndim = count > src.ndim ? count : src.ndim};
    int64_t size[MST_MAX_NDIM];
    bool open = false;
    if (count > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "its shape has %d dimensions, and at most %d are supported", count, MST_MAX_NDIM);
    for (int i = 0; i < shape.ndim; i++) {
        const int in = i - (shape.ndim - src.ndim), given = i - (shape.ndim - count);
        const int64_t own = in < 0 ? 1 : src.dim[in], wanted = given < 0 ? 1 : list[given];
        const bool keeps = wanted == 1 || (mst_onnx_is_open(wanted) && own >= 0 && own != 1);
        size[i] = shape.dim[i] = keeps ? own : wanted;
        if (keeps && own < 0)
            MST_TRY(mst_onnx_add_open(c->reader, (mst_onnx_open){x, in, 1, mst_onnx_value_of(c, 0)->rate}, &size[i]));
        open |= mst_onnx_is_open(shape.dim[i]);
    }
    if (!open) return mst_onnx_put(c, 0, mst_broadcast_to(x, shape));
    mst_value like;
    MST_TRY(mst_onnx_like(c->reader, size, shape.ndim, &like));
    return mst_onnx_put(c, 0, mst_broadcast_like(x, like));
}

static mst_status read_expand(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_sizes(c, 1, true, list, &count));
    return expand(c, x, list, count);
}

static mst_status read_constant_of_shape(mst_onnx_call *c) {
    mst_tensor *value;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, "value", MST_ONNX_TENSOR);
    MST_TRY(mst_onnx_sizes(c, 0, true, list, &count));
    MST_TRY(a && a->t ? mst_onnx_tensor(a->t, &value) : mst_tensor_copy(MST_F32, MST_SHAPE(1), &(float){0}, &value));
    const bool is_number = mst_tensor_count(value) == 1, zero = is_number && mst_tensor_get(value, 0) == 0;
    const mst_value x = is_number ? mst_reshape(mst_constant(c->reader->graph, value), MST_SCALAR) : MST_NONE;
    mst_tensor_release(value);
    if (!is_number) return MST_FAIL(MST_INVALID, "its attribute value must be a tensor of one number");
    MST_TRY(expand(c, x, list, count));
    if (mst_onnx_wants(c, 0)) c->reader->value[c->reader->num_values - 1].is_zero = zero;
    return MST_OK;
}

static mst_status read_tile(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    if (count != mst_value_spec(x).shape.ndim)
        return MST_FAIL(MST_INVALID, "it has %d repeats, and its input has %d dimensions: there must be one for each",
                        count, mst_value_spec(x).shape.ndim);
    return mst_onnx_put(c, 0, mst_tile(x, mst_shape_make(count, list)));
}

/* COUNT elements of X along AXIS, beginning at BEGIN with a step of STEP. An end before the first element cannot be
 * given as a number, since negative numbers count from the end. In this case end_mask leaves the end out. */
static mst_value cut_strip(mst_value x, int64_t axis, int64_t begin, int64_t count, int step) {
    const int ndim = mst_value_spec(x).shape.ndim;
    const int64_t end = begin + step * count;
    mst_strided_slice_options o = {.src = x,
                                   .begin = {.count = ndim},
                                   .end = {.count = ndim},
                                   .strides = {.count = ndim},
                                   .begin_mask = ((1 << ndim) - 1) & ~(1 << axis),
                                   .end_mask = ((1 << ndim) - 1) & ~(end < 0 ? 0 : 1 << axis)};
    for (int i = 0; i < ndim; i++) o.strides.axis[i] = i == axis ? step : 1;
    o.begin.axis[axis] = (int32_t)begin;
    o.end.axis[axis] = (int32_t)(end < 0 ? 0 : end);
    return mst_strided_slice_with(o);
}

enum { REFLECT, EDGE, WRAP };

/* Pads X along AXIS with its own elements: BEFORE elements at the start and BEHIND elements at the end. */
static mst_status pad_axis(mst_value *x, int mode, int64_t axis, int64_t before, int64_t behind) {
    const mst_shape shape = mst_value_spec(*x).shape;
    const int64_t size = shape.dim[axis], most = mode == REFLECT ? size - 1 : size;
    mst_value part[3], *end = part;
    mst_shape times = {.ndim = shape.ndim};
    if (before < 0 || behind < 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "negative pads are supported in the mode constant alone");
    if (!before && !behind) return MST_OK;
    if (size < 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "only the mode constant is supported for a dynamic dimension, whose size is unknown until the "
                        "model runs: export the model with a fixed size there");
    if (!size || size > INT32_MAX || (mode != EDGE && (before > most || behind > most)))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its pads of %lld and %lld are more than a dimension of %lld elements has to repeat: pad it in "
                        "several steps",
                        (long long)before, (long long)behind, (long long)size);
    for (int i = 0; i < shape.ndim; i++) times.dim[i] = 1;
    if (before) {
        times.dim[axis] = before;
        *end++ = mode == REFLECT ? cut_strip(*x, axis, before, before, -1)
                 : mode == WRAP  ? cut_strip(*x, axis, size - before, before, 1)
                                 : mst_tile(cut_strip(*x, axis, 0, 1, 1), times);
    }
    *end++ = *x;
    if (behind) {
        times.dim[axis] = behind;
        *end++ = mode == REFLECT ? cut_strip(*x, axis, size - 2, behind, -1)
                 : mode == WRAP  ? cut_strip(*x, axis, 0, behind, 1)
                                 : mst_tile(cut_strip(*x, axis, size - 1, 1, 1), times);
    }
    *x = mst_concat(part, (int)(end - part), (int)axis);
    return MST_OK;
}

static mst_status read_pad(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST], axes[MST_ONNX_MOST_LIST];
    int count, num_axes = 0;
    double value = 0;
    static const char *const modes[] = {[REFLECT] = "reflect", [EDGE] = "edge", [WRAP] = "wrap"};
    const bool constant = mst_onnx_is(c, "mode", "constant", "constant");
    int mode = 0;
    while (!constant && mode <= WRAP && !mst_onnx_is(c, "mode", modes[mode], "constant")) mode++;
    if (mode > WRAP) return MST_FAIL(MST_INVALID, "its mode is not supported: constant, reflect, edge and wrap are");
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    if (mst_onnx_has(c, 2)) MST_TRY(mst_onnx_number(c, 2, &value));
    if (mst_onnx_has(c, 3)) MST_TRY(mst_onnx_read_axes(c, 3, ndim, axes, &num_axes));
    for (; !mst_onnx_has(c, 3) && num_axes < ndim; num_axes++) axes[num_axes] = num_axes;
    if (count != 2 * num_axes)
        return MST_FAIL(MST_INVALID, "it has %d pads for %d axes: there must be two for each axis", count, num_axes);
    for (int i = 0; !constant && i < num_axes; i++) MST_TRY(pad_axis(&x, mode, axes[i], list[i], list[num_axes + i]));
    if (!constant) return mst_onnx_put(c, 0, x);
    mst_shape before = {.ndim = ndim}, after = before, begin = before, size = before;
    for (int i = 0; i < ndim; i++) size.dim[i] = -1;
    bool cuts = false;
    for (int i = 0; i < num_axes; i++) {
        const int64_t a = axes[i], first = list[i], behind = list[num_axes + i], have = mst_value_spec(x).shape.dim[a];
        if (within(first) != first || within(behind) != behind)
            return MST_FAIL(MST_INVALID,
                            "its pads of %lld and %lld do not fit into 32 bits: check the sizes that the node is given",
                            (long long)first, (long long)behind);
        before.dim[a] = first > 0 ? first : 0;
        after.dim[a] = behind > 0 ? behind : 0;
        if (first >= 0 && behind >= 0) continue;
        if (have < 0)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "negative pads are not supported for a dynamic dimension, whose size is unknown until the "
                            "model runs: export the model with a fixed size there");
        begin.dim[a] = first < 0 ? -first : 0;
        size.dim[a] = have - begin.dim[a] - (behind < 0 ? -behind : 0);
        if (size.dim[a] < 0) return MST_FAIL(MST_INVALID, "its negative pads cut off more elements than there are");
        cuts = true;
    }
    if (cuts) x = mst_slice(x, begin, size);
    return mst_onnx_put(c, 0, mst_pad(x, .before = before, .after = after, .value = value));
}

/* ---- reductions ---- */

typedef struct reduction {
    const char *name;
    mst_value (*function)(mst_reduce_options);
    mst_value (*before)(mst_value); /* applied to the source, and `after` to the result; NULL: not applied */
    mst_value (*after)(mst_value);
} reduction;

/* log(sum of exp(x)), whose exponentials do not overflow. If the largest is infinite, it is not taken off. */
static mst_value reduce_log_sum_exp(mst_reduce_options o) {
    mst_reduce_options keeping = o;
    keeping.keep_dims = true;
    const mst_value most = mst_reduce_max_with(keeping);
    const mst_value off = mst_stop_gradient(mst_select(mst_is_finite(most), most, mst_zeros_like(most)));
    o.src = mst_exp(mst_sub(o.src, off));
    const mst_value sum = mst_log(mst_reduce_sum_with(o));
    return mst_add(sum, o.keep_dims ? off : mst_reshape_like(off, sum));
}

static mst_status read_reduction(mst_onnx_call *c) {
    static const reduction reductions[] = {
        {"ReduceL1", mst_reduce_sum_with, mst_abs, NULL},
        {"ReduceL2", mst_reduce_sum_with, mst_square, mst_sqrt},
        {"ReduceLogSum", mst_reduce_sum_with, NULL, mst_log},
        {"ReduceLogSumExp", reduce_log_sum_exp, NULL, NULL},
        {"ReduceMax", mst_reduce_max_with, NULL, NULL},
        {"ReduceMean", mst_reduce_mean_with, NULL, NULL},
        {"ReduceMin", mst_reduce_min_with, NULL, NULL},
        {"ReduceProd", mst_reduce_prod_with, NULL, NULL},
        {"ReduceSum", mst_reduce_sum_with, NULL, NULL},
        {"ReduceSumSquare", mst_reduce_sum_with, mst_square, NULL},
    };
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count, k = 0;
    while (strcmp(reductions[k].name, c->op->name) != 0) k++;
    const reduction *r = &reductions[k];
    const bool keep = mst_onnx_int(c, "keepdims", 1) != 0, none = mst_onnx_int(c, "noop_with_empty_axes", 0) != 0;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_read_axes(c, 1, ndim, list, &count));
    const bool last = mst_onnx_is_last(c, 0) && keep;
    MST_TRY((last ? mst_onnx_last : mst_onnx_plain)(c, 0, &x));
    if (r->before) x = r->before(x);
    if (!count && none) return mst_onnx_put_as(c, r->after ? r->after(x) : x, last);
    for (int i = 0; last && i < count; i++) list[i] = !list[i] ? 0 : list[i] == 1 ? ndim - 1 : list[i] - 1;
    if (ndim) x = r->function((mst_reduce_options){.src = x, .axes = to_axes(list, count), .keep_dims = keep});
    return mst_onnx_put_as(c, r->after ? r->after(x) : x, last);
}

const mst_onnx_op mst_onnx_shape_ops[] = {
    {"ArgMax", .read = read_argmax},
    {"ArgMin", .read = read_argmin},
    {"Concat", .read = read_concat},
    {"Constant", .read = read_constant},
    {"ConstantOfShape", .read = read_constant_of_shape},
    {"Expand", .read = read_expand},
    {"Flatten", .read = read_flatten},
    {"Gather", .read = read_gather},
    {"Pad", .read = read_pad},
    {"ReduceL1", .read = read_reduction},
    {"ReduceL2", .read = read_reduction},
    {"ReduceLogSum", .read = read_reduction},
    {"ReduceLogSumExp", .read = read_reduction},
    {"ReduceMax", .read = read_reduction},
    {"ReduceMean", .read = read_reduction},
    {"ReduceMin", .read = read_reduction},
    {"ReduceProd", .read = read_reduction},
    {"ReduceSum", .read = read_reduction},
    {"ReduceSumSquare", .read = read_reduction},
    {"Reshape", .read = read_reshape},
    {"Shape", .read = read_shape},
    {"Size", .read = read_size},
    {"Slice", .read = read_slice},
    {"Split", .read = read_split},
    {"Squeeze", .read = read_squeeze},
    {"Tile", .read = read_tile},
    {"Transpose", .read = read_transpose},
    {"Unsqueeze", .read = read_unsqueeze},
    {0},
};
