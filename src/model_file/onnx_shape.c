/* Operators of ONNX that move elements, and change shapes.
 *
 * Programs that write ONNX compute shapes by nodes: Shape, then Gather, Concat and the like, then Reshape. Such lists
 * of sizes are followed here while the graph is built, with MST_ONNX_OPEN for a size that is not known then. */
#include <string.h>

#include "model_file/onnx_read.h"
#include "muster/ops.h"

/* Axes of input I, or of the attribute axes before it was an input; *COUNT is 0 where there are none. */
static mst_status read_axes(mst_onnx_call *c, size_t i, int ndim, int64_t *list, int *count) {
    MST_TRY(mst_onnx_ints(c, "axes", list, count));
    if (mst_onnx_has(c, i)) MST_TRY(mst_onnx_numbers(c, i, list, count));
    if (*count > MST_MAX_NDIM) return MST_FAIL(MST_INVALID, "%d axes", *count);
    for (int k = 0, axis; k < *count; k++) {
        MST_TRY(mst_onnx_axis(list[k], ndim, &axis));
        list[k] = axis;
        for (int before = 0; before < k; before++)
            if (list[before] == axis) return MST_FAIL(MST_INVALID, "axis %d is given twice", axis);
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
        return MST_FAIL(MST_UNIMPLEMENTED, "its value is of a kind that is not known here");
    }
    return mst_onnx_put_tensor(c, tensor);
}

static mst_status read_shape(mst_onnx_call *c) {
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "has no input 0");
    const mst_shape shape = mst_onnx_shape(c, 0);
    int64_t list[MST_MAX_NDIM], start = mst_onnx_int(c, "start", 0), end = mst_onnx_int(c, "end", shape.ndim);
    int count = 0;
    if (start < 0) start += shape.ndim;
    if (end < 0) end += shape.ndim;
    for (int64_t i = 0; i < shape.ndim; i++)
        if (i >= start && i < end) list[count++] = shape.dim[i] < 0 ? MST_ONNX_OPEN : shape.dim[i];
    return count == shape.ndim ? mst_onnx_put_sizes(c, list, count) : mst_onnx_put_list(c, list, count);
}

static mst_status read_size(mst_onnx_call *c) {
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "has no input 0");
    const int64_t count = mst_shape_count(mst_onnx_shape(c, 0)), open = MST_ONNX_OPEN;
    return mst_onnx_put_list(c, count < 0 ? &open : &count, -1);
}

/* WANT with -1 for what is left over, for SRC. A size that only a run knows becomes -1 where what is left over can be
 * told from SRC, of which all but that one are known then. */
static mst_status settle(const mst_shape *src, mst_shape *want) {
    int64_t known = 1, have = 1;
    int open = -1, rest = -1, num_open = 0, src_open = 0;
    for (int i = 0; i < want->ndim; i++) {
        if (want->dim[i] == MST_ONNX_OPEN)
            open = i, num_open++;
        else if (want->dim[i] == -1)
            rest = i;
        else if (__builtin_mul_overflow(known, want->dim[i], &known))
            return MST_FAIL(MST_INVALID, "too many elements");
    }
    if (!num_open) return MST_OK;
    for (int i = 0; i < src->ndim; i++) {
        if (src->dim[i] < 0)
            src_open++;
        else if (__builtin_mul_overflow(have, src->dim[i], &have))
            return MST_FAIL(MST_INVALID, "too many elements");
    }
    if (num_open > 1 || (rest >= 0 && (src_open != 1 || known < 1 || have % known)))
        return MST_FAIL(MST_UNIMPLEMENTED, "its shape depends on more than one size that only a run knows");
    if (rest >= 0) want->dim[rest] = have / known;
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
        return MST_FAIL(MST_INVALID, "%d dimensions, at most %d are possible", count, MST_MAX_NDIM);
    mst_shape shape = mst_shape_make(count, list);
    for (int i = 0; i < count && !zero; i++)
        if (shape.dim[i] == 0 && i < src.ndim) shape.dim[i] = src.dim[i] < 0 ? MST_ONNX_OPEN : src.dim[i];
    MST_TRY(settle(&src, &shape));
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
            return MST_FAIL(MST_INVALID, "too many elements");
    }
    if (part[0] < 0 && part[1] < 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "its shape depends on more than one size that only a run knows");
    return mst_onnx_put(c, 0, mst_reshape(x, MST_SHAPE(part[0], part[1])));
}

static mst_status read_unsqueeze(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST], numbers[MST_ONNX_MOST_LIST];
    int count, num;
    if (!mst_onnx_has(c, 0) || !mst_onnx_has(c, 1)) return MST_FAIL(MST_CORRUPT, "has no axes");
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    const int ndim = mst_onnx_ndim(c, 0) + count;
    MST_TRY(read_axes(c, 1, ndim, list, &count));
    if (mst_onnx_is_list(c, 0) && ndim == 1 && count == 1) {
        MST_TRY(mst_onnx_sizes(c, 0, true, numbers, &num));
        return mst_onnx_put_list(c, numbers, num);
    }
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
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "has no input 0");
    if (mst_onnx_is_list(c, 0) && mst_onnx_shape(c, 0).ndim == 1 && mst_onnx_shape(c, 0).dim[0] == 1) {
        MST_TRY(read_axes(c, 1, 1, list, &count));
        MST_TRY(mst_onnx_sizes(c, 0, true, list, &count));
        return mst_onnx_put_list(c, list, -1);
    }
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(read_axes(c, 1, mst_value_spec(x).shape.ndim, list, &count));
    return mst_onnx_put(c, 0, mst_squeeze(x, to_axes(list, count)));
}

/* ---- order ---- */

/* [n, c, ...] to channels last, or back: then nothing moves, and the value is known in the other order. */
static mst_status read_transpose(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count, axis;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "has no input 0");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_ints(c, "perm", list, &count));
    if (count && count != ndim) return MST_FAIL(MST_INVALID, "perm has %d axes of %d", count, ndim);
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

static mst_status concat_lists(mst_onnx_call *c) {
    int64_t list[2 * MST_ONNX_MOST_LIST];
    int all = 0, count;
    for (size_t i = 0; i < c->node->n_input; i++) {
        MST_TRY(mst_onnx_sizes(c, i, true, list + all, &count));
        if ((all += count) > MST_ONNX_MOST_LIST) return MST_FAIL(MST_UNIMPLEMENTED, "a list of sizes is too long");
    }
    return mst_onnx_put_list(c, list, all);
}

static mst_status read_concat(mst_onnx_call *c) {
    enum { MOST = 64 };
    mst_value x[MOST];
    int axis;
    const size_t count = c->node->n_input;
    if (count < 1 || count > MOST || !mst_onnx_has(c, 0))
        return MST_FAIL(MST_UNIMPLEMENTED, "%zu inputs, 1 to %d are possible", count, MOST);
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), ndim, &axis));
    bool lists = ndim == 1, last = ndim > 2;
    for (size_t i = 0; i < count; i++) {
        if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "has no input %zu", i);
        lists &= mst_onnx_is_list(c, i);
        last &= mst_onnx_ndim(c, i) == ndim && mst_onnx_is_last(c, i);
    }
    if (lists) return concat_lists(c);
    for (size_t i = 0; i < count; i++) MST_TRY((last ? mst_onnx_last : mst_onnx_plain)(c, i, &x[i]));
    const int at = !last || !axis ? axis : axis == 1 ? ndim - 1 : axis - 1;
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
        if (size < 0) return MST_FAIL(MST_UNIMPLEMENTED, "it cuts a dimension whose size only a run knows");
        if (parts < 1 || parts > MST_ONNX_MOST_LIST) return MST_FAIL(MST_INVALID, "%lld parts", (long long)parts);
        const int64_t each = size / parts + (size % parts != 0);
        for (int64_t left = size; count < parts; left -= each) list[count++] = left < each ? left : each;
    }
    if ((size_t)count != c->node->n_output)
        return MST_FAIL(MST_INVALID, "%d parts, %zu outputs", count, c->node->n_output);
    for (int i = 0; i < count; i++) {
        mst_shape from = {.ndim = shape.ndim}, part = {.ndim = shape.ndim};
        for (int k = 0; k < shape.ndim; k++) part.dim[k] = -1;
        from.dim[axis] = begin;
        part.dim[axis] = list[i];
        if (list[i] < 0 || __builtin_add_overflow(begin, list[i], &begin))
            return MST_FAIL(MST_INVALID, "a part of %lld", (long long)list[i]);
        MST_TRY(mst_onnx_put(c, (size_t)i, mst_slice(x, from, part)));
    }
    if (size >= 0 && begin != size)
        return MST_FAIL(MST_INVALID, "the parts have %lld together, must have %lld", (long long)begin, (long long)size);
    return MST_OK;
}

static int32_t within(int64_t number) {
    return (int32_t)(number > INT32_MAX ? INT32_MAX : number < -INT32_MAX ? -INT32_MAX : number);
}

typedef struct cuts {
    int count;
    int64_t start[MST_ONNX_MOST_LIST], end[MST_ONNX_MOST_LIST], axis[MST_ONNX_MOST_LIST], step[MST_ONNX_MOST_LIST];
} cuts;

static mst_status read_cuts(mst_onnx_call *c, int ndim, cuts *out) {
    int ends, axes = 0, steps = 0;
    MST_TRY(mst_onnx_numbers(c, 1, out->start, &out->count));
    MST_TRY(mst_onnx_numbers(c, 2, out->end, &ends));
    if (mst_onnx_has(c, 3)) MST_TRY(read_axes(c, 3, ndim, out->axis, &axes));
    if (mst_onnx_has(c, 4)) MST_TRY(mst_onnx_numbers(c, 4, out->step, &steps));
    if (ends != out->count || (axes && axes != out->count) || (steps && steps != out->count) || out->count > ndim)
        return MST_FAIL(MST_INVALID, "starts, ends, axes and steps are not equally many");
    for (int i = 0; i < out->count; i++) {
        if (!axes) out->axis[i] = i;
        if (!steps) out->step[i] = 1;
        if (!out->step[i]) return MST_FAIL(MST_INVALID, "a step of 0");
    }
    return MST_OK;
}

static int64_t clamped(int64_t number, int64_t least, int64_t most) {
    return number < least ? least : number > most ? most : number;
}

/* Start and end of cut I of K on an axis of SIZE >= 1 elements, by ONNX's rule. Negative numbers count from the end.
 * Then start and end are clipped to [0, size]; with a negative step, start to [0, size - 1] and end to [-1, size - 1].
 * So x[-9:-10:-1] is [x0], where NumPy gives nothing. */
static void settle_cut(const cuts *k, int i, int64_t size, int64_t *start, int64_t *end) {
    const bool back = k->step[i] < 0;
    *start = clamped(k->start[i] < 0 ? k->start[i] + size : k->start[i], 0, back ? size - 1 : size);
    *end = clamped(k->end[i] < 0 ? k->end[i] + size : k->end[i], back ? -1 : 0, back ? size - 1 : size);
}

static mst_status slice_list(mst_onnx_call *c, const cuts *k) {
    int64_t list[MST_ONNX_MOST_LIST], part[MST_ONNX_MOST_LIST], start, end;
    int count, num = 0;
    MST_TRY(mst_onnx_sizes(c, 0, true, list, &count));
    if (!count) return mst_onnx_put_list(c, part, 0);
    settle_cut(k, 0, count, &start, &end);
    const int64_t step = clamped(k->step[0], -MST_ONNX_MOST_LIST, MST_ONNX_MOST_LIST);
    for (int64_t i = start; step > 0 ? i < end : i > end; i += step) part[num++] = list[i];
    return mst_onnx_put_list(c, part, num);
}

/* If only a run knows the size of the axis, it is not known whether a start below -1 is before the first element. */
static mst_status cut_axis(const cuts *k, int i, int64_t size, mst_strided_slice_options *o) {
    const int64_t axis = k->axis[i];
    int64_t start = k->start[i], end = k->end[i];
    if (size < 0 && k->step[i] < 0 && start < -1)
        return MST_FAIL(MST_UNIMPLEMENTED, "a negative step from %lld on, of a size that only a run knows",
                        (long long)start);
    if (size > 0) settle_cut(k, i, size, &start, &end);
    o->begin.axis[axis] = within(start);
    o->end.axis[axis] = within(end);
    o->strides.axis[axis] = within(k->step[i]);
    o->begin_mask &= ~(1 << axis);
    if (size <= 0 || end >= 0) o->end_mask &= ~(1 << axis);
    return MST_OK;
}

static mst_status read_slice(mst_onnx_call *c) {
    mst_value x;
    cuts k;
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "has no input 0");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(read_cuts(c, ndim, &k));
    if (mst_onnx_is_list(c, 0) && ndim == 1 && k.count == 1) return slice_list(c, &k);
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

static mst_status gather_list(mst_onnx_call *c) {
    int64_t list[MST_ONNX_MOST_LIST], index[MST_ONNX_MOST_LIST], part[MST_ONNX_MOST_LIST];
    int count, num;
    MST_TRY(mst_onnx_sizes(c, 0, true, list, &count));
    MST_TRY(mst_onnx_numbers(c, 1, index, &num));
    for (int i = 0, at; i < num; i++) {
        MST_TRY(mst_onnx_axis(index[i], count, &at));
        part[i] = list[at];
    }
    return mst_onnx_put_list(c, part, mst_onnx_ndim(c, 1) == 0 ? -1 : num);
}

/* Indices below 0 count from the end. */
static mst_status read_gather(mst_onnx_call *c) {
    mst_value x, index;
    int axis;
    if (!mst_onnx_has(c, 0) || !mst_onnx_has(c, 1)) return MST_FAIL(MST_CORRUPT, "has not two inputs");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), ndim, &axis));
    if (mst_onnx_is_list(c, 0) && mst_onnx_is_list(c, 1) && ndim == 1) return gather_list(c);
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
    if (mst_onnx_int(c, "select_last_index", 0)) { /* the first one from the end */
        const int64_t size = mst_value_spec(x).shape.dim[axis];
        if (size < 0) return MST_FAIL(MST_UNIMPLEMENTED, "select_last_index of a size that is not known");
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

static mst_status read_expand(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const bool zero = mst_onnx_value_of(c, 0)->tensor && mst_onnx_is_zero(c, 0); /* first states of recurrent cells */
    if (zero && mst_onnx_has(c, 1) && mst_onnx_value_of(c, 1)->is_open &&
        mst_value_is_none(mst_onnx_value_of(c, 1)->like))
        return mst_onnx_put_zeros(c, MST_NONE);
    if (mst_onnx_has(c, 1) && !mst_value_is_none(mst_onnx_value_of(c, 1)->like))
        return mst_onnx_put(c, 0, mst_broadcast_like(x, mst_onnx_value_of(c, 1)->like));
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    const mst_shape src = mst_value_spec(x).shape;
    if (count > MST_MAX_NDIM) return MST_FAIL(MST_INVALID, "%d dimensions", count);
    mst_shape shape = {.ndim = count > src.ndim ? count : src.ndim};
    for (int i = 0; i < shape.ndim; i++) {
        const int in = i - (shape.ndim - src.ndim), given = i - (shape.ndim - count);
        shape.dim[i] = in < 0 ? 1 : src.dim[in];
        if (given < 0 || list[given] == 1) continue;
        if (shape.dim[i] < 0) return MST_FAIL(MST_UNIMPLEMENTED, "it depends on a size that only a run knows");
        shape.dim[i] = list[given];
    }
    x = mst_broadcast_to(x, shape);
    return zero ? mst_onnx_put_zeros(c, x) : mst_onnx_put(c, 0, x);
}

static mst_status read_tile(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    if (count != mst_value_spec(x).shape.ndim) return MST_FAIL(MST_INVALID, "%d repeats", count);
    return mst_onnx_put(c, 0, mst_tile(x, mst_shape_make(count, list)));
}

static mst_status read_pad(mst_onnx_call *c) {
    mst_value x;
    int64_t list[MST_ONNX_MOST_LIST], axes[MST_ONNX_MOST_LIST];
    int count, num_axes = 0;
    double value = 0;
    if (!mst_onnx_is(c, "mode", "constant", "constant"))
        return MST_FAIL(MST_UNIMPLEMENTED, "a mode other than constant");
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const int ndim = mst_value_spec(x).shape.ndim;
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    if (mst_onnx_has(c, 2)) MST_TRY(mst_onnx_number(c, 2, &value));
    if (mst_onnx_has(c, 3)) MST_TRY(read_axes(c, 3, ndim, axes, &num_axes));
    for (; !mst_onnx_has(c, 3) && num_axes < ndim; num_axes++) axes[num_axes] = num_axes;
    if (count != 2 * num_axes) return MST_FAIL(MST_INVALID, "%d pads for %d axes", count, num_axes);
    mst_shape before = {.ndim = ndim}, after = before, begin = before, size = before;
    for (int i = 0; i < ndim; i++) size.dim[i] = -1;
    bool cuts = false;
    for (int i = 0; i < num_axes; i++) {
        const int64_t a = axes[i], first = list[i], behind = list[num_axes + i], have = mst_value_spec(x).shape.dim[a];
        if (within(first) != first || within(behind) != behind)
            return MST_FAIL(MST_INVALID, "pads of %lld and %lld", (long long)first, (long long)behind);
        before.dim[a] = first > 0 ? first : 0;
        after.dim[a] = behind > 0 ? behind : 0;
        if (first >= 0 && behind >= 0) continue;
        if (have < 0) return MST_FAIL(MST_UNIMPLEMENTED, "negative pads of a size that only a run knows");
        begin.dim[a] = first < 0 ? -first : 0;
        size.dim[a] = have - begin.dim[a] - (behind < 0 ? -behind : 0);
        if (size.dim[a] < 0) return MST_FAIL(MST_INVALID, "it cuts more than there is");
        cuts = true;
    }
    if (cuts) x = mst_slice(x, begin, size);
    return mst_onnx_put(c, 0, mst_pad(x, .before = before, .after = after, .value = value));
}

/* ---- reductions ---- */

typedef struct reduction {
    const char *name;
    mst_value (*function)(mst_reduce_options);
    mst_value (*before)(mst_value); /* NULL: nothing */
    mst_value (*after)(mst_value);
} reduction;

static mst_status read_reduction(mst_onnx_call *c) {
    static const reduction reductions[] = {
        {"ReduceL1", mst_reduce_sum_with, mst_abs, NULL},
        {"ReduceL2", mst_reduce_sum_with, mst_square, mst_sqrt},
        {"ReduceLogSum", mst_reduce_sum_with, NULL, mst_log},
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
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "has no input 0");
    const int ndim = mst_onnx_ndim(c, 0);
    MST_TRY(read_axes(c, 1, ndim, list, &count));
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
    {"Expand", .read = read_expand},
    {"Flatten", .read = read_flatten},
    {"Gather", .read = read_gather},
    {"Pad", .read = read_pad},
    {"ReduceL1", .read = read_reduction},
    {"ReduceL2", .read = read_reduction},
    {"ReduceLogSum", .read = read_reduction},
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
