/* Rates: how many rows a value has for each example. If a Reshape has both an open size and -1, the rate tells the size
 * that -1 stands for (onnx_shape.c).
 *
 * Each open size comes from an open size of an input of the model, which is its origin. A node that makes a new open
 * size, such as a Concat of examples, makes a new origin. Only rates relative to that origin are known after it. */
#include <string.h>

#include "model_file/onnx/onnx_read.h"

static const mst_onnx_rate unknown = {0, 1, 0};

/* ---- rates ---- */

static mst_onnx_rate reduced(mst_onnx_rate rate) {
    int64_t a = rate.times, b = rate.parts; /* computes their greatest common divisor */
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (mst_onnx_rate){rate.times / (a ? a : 1), rate.parts / (a ? a : 1), rate.origin};
}

/* The rate after a node that changes the sizes SRC to DST, each with one open size. RATE is the rate before it. */
static mst_onnx_rate reshaped(mst_onnx_rate rate, const mst_shape *src, const mst_shape *dst) {
    const int64_t from = mst_onnx_known(src), to = mst_onnx_known(dst);
    if (from == to) return rate;
    if (from < 1 || to < 1 || __builtin_mul_overflow(rate.times, from, &rate.times) ||
        __builtin_mul_overflow(rate.parts, to, &rate.parts))
        return unknown;
    return reduced(rate);
}

/* The rate of the size ITEM. */
static mst_onnx_rate rate_of_size(const mst_onnx_reader *r, int64_t item) {
    const mst_onnx_open *open = mst_onnx_open_of(r, item);
    if (!open || open->axis < 0 || open->rate.times < 1) return unknown;
    mst_onnx_rate rate = open->rate;
    return __builtin_mul_overflow(rate.times, open->times, &rate.times) ? unknown : reduced(rate);
}

static int open_axis(const mst_shape *shape) {
    int axis = 0;
    while (axis < shape->ndim && shape->dim[axis] >= 0) axis++;
    return axis;
}

/* The rate of input I; not known unless it has exactly one open size. */
static mst_onnx_rate rate_of_input(const mst_onnx_call *c, size_t i) {
    if (!mst_onnx_has(c, i)) return unknown;
    const mst_shape shape = mst_onnx_shape(c, i);
    return mst_onnx_num_open(&shape) == 1 ? mst_onnx_value_of(c, i)->rate : unknown;
}

/* The rate that all inputs with an open size have in common. */
static mst_onnx_rate common_rate(const mst_onnx_call *c) {
    mst_onnx_rate rate = unknown;
    bool found = false;
    for (size_t i = 0; i < c->node->n_input; i++) {
        if (!mst_onnx_has(c, i)) continue;
        const mst_shape shape = mst_onnx_shape(c, i);
        if (!mst_onnx_num_open(&shape)) continue;
        const mst_onnx_rate own = rate_of_input(c, i);
        if (found && (own.times != rate.times || own.parts != rate.parts || own.origin != rate.origin)) return unknown;
        rate = own;
        found = true;
    }
    return rate;
}

/* ---- operators ---- */

/* Sets *OUT to the rate of an output with the sizes DST, whose only open size is that of axis AT. */

typedef mst_status (*rate_function)(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out);

static mst_status after_concat(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    int axis;
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), dst->ndim, &axis));
    *out = axis == at ? unknown : common_rate(c);
    return MST_OK;
}

static mst_status after_slice(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    mst_onnx_cuts k;
    *out = rate_of_input(c, 0);
    MST_TRY(mst_onnx_read_cuts(c, dst->ndim, &k));
    for (int i = 0; i < k.count; i++)
        if (k.axis[i] == at && (k.start[i] != 0 || k.end[i] < INT32_MAX || k.step[i] != 1)) *out = unknown;
    return MST_OK;
}

static mst_status after_pad(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    int64_t list[MST_ONNX_MOST_LIST], axes[MST_ONNX_MOST_LIST] = {0};
    int count, num_axes = 0;
    const bool has_axes = mst_onnx_has(c, 3);
    *out = rate_of_input(c, 0);
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    if (has_axes) MST_TRY(mst_onnx_read_axes(c, 3, dst->ndim, axes, &num_axes));
    for (int i = 0; i < count / 2 && (!has_axes || i < num_axes); i++)
        if ((has_axes ? axes[i] : i) == at && (list[i] || list[count / 2 + i])) *out = unknown;
    return MST_OK;
}

static mst_status after_tile(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    (void)dst;
    MST_TRY(mst_onnx_numbers(c, 1, list, &count));
    *out = at < count && list[at] == 1 ? rate_of_input(c, 0) : unknown;
    return MST_OK;
}

static mst_status after_gather(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    int axis;
    (void)dst;
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), mst_onnx_ndim(c, 0), &axis));
    *out = rate_of_input(c, at >= axis && at < axis + mst_onnx_ndim(c, 1) ? 1 : 0);
    return MST_OK;
}

static mst_status after_gather_nd(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    (void)dst;
    *out = rate_of_input(c, at < mst_onnx_ndim(c, 1) - 1 ? 1 : 0);
    return MST_OK;
}

/* For operators whose input I has the sizes of their output, aligned with the last dimensions. */
static mst_status given_rate(mst_onnx_call *c, size_t i, int from_end, mst_onnx_rate *out) {
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    *out = unknown;
    MST_TRY(mst_onnx_sizes(c, i, true, list, &count));
    if (from_end <= count) *out = rate_of_size(c->reader, list[count - from_end]);
    return MST_OK;
}

static mst_status after_expand(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    const mst_shape src = mst_onnx_shape(c, 0);
    const int in = at - (dst->ndim - src.ndim);
    MST_TRY(given_rate(c, 1, dst->ndim - at, out));
    if (!out->times && in >= 0 && src.dim[in] < 0) *out = rate_of_input(c, 0);
    return MST_OK;
}

static mst_status after_constant_of_shape(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    return given_rate(c, 0, dst->ndim - at, out);
}

static mst_status after_range(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    return given_rate(c, 1, dst->ndim - at, out);
}

static mst_status after_flatten(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    const mst_shape src = mst_onnx_shape(c, 0);
    (void)at;
    *out = reshaped(rate_of_input(c, 0), &src, dst);
    return MST_OK;
}

static mst_status after_reshape(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    MST_TRY(given_rate(c, 1, dst->ndim - at, out));
    return out->times ? MST_OK : after_flatten(c, dst, at, out);
}

/* For operators of pictures: the number of examples stays, and other open sizes become new ones. */
static mst_status after_window(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    const mst_shape src = mst_onnx_shape(c, 0);
    (void)dst;
    *out = at || src.dim[0] >= 0 ? unknown : rate_of_input(c, 0);
    return MST_OK;
}

static mst_status after_cell(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    (void)dst, (void)at;
    *out = rate_of_input(c, 0);
    return MST_OK;
}

/* For all other operators, which keep open sizes or lose them. */
static mst_status after_other(mst_onnx_call *c, const mst_shape *dst, int at, mst_onnx_rate *out) {
    (void)dst, (void)at;
    *out = common_rate(c);
    return MST_OK;
}

static rate_function find_rate(const char *name) {
    static const struct {
        const char *name;
        rate_function rate;
    } rates[] = {
        {"AveragePool", after_window},
        {"Concat", after_concat},
        {"ConstantOfShape", after_constant_of_shape},
        {"Conv", after_window},
        {"ConvTranspose", after_window},
        {"DepthToSpace", after_window},
        {"Expand", after_expand},
        {"Flatten", after_flatten},
        {"GRU", after_cell},
        {"Gather", after_gather},
        {"GatherND", after_gather_nd},
        {"LSTM", after_cell},
        {"MaxPool", after_window},
        {"Pad", after_pad},
        {"RNN", after_cell},
        {"Range", after_range},
        {"Reshape", after_reshape},
        {"Resize", after_window},
        {"Slice", after_slice},
        {"SpaceToDepth", after_window},
        {"Tile", after_tile},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(rates[i].name, name) == 0) return rates[i].rate;
    return after_other;
}

mst_status mst_onnx_output_rate(mst_onnx_call *c, const mst_shape *shape, mst_onnx_rate *out) {
    *out = unknown;
    if (mst_onnx_num_open(shape) != 1) return MST_OK;
    MST_TRY(find_rate(c->op->name)(c, shape, open_axis(shape), out));
    if (!out->times) *out = (mst_onnx_rate){1, 1, ++c->reader->num_origins};
    return MST_OK;
}

/* ---- inputs ---- */

/* The name of dimension AXIS of INPUT in the file; "": it has none. */
static const char *name_of_dim(const Muster__OnnxValue *input, int axis) {
    const Muster__OnnxDimension *dim = input->type->tensor_type->shape->dim[axis];
    return dim->value_case == MUSTER__ONNX_DIMENSION__VALUE_DIM_PARAM && dim->dim_param ? dim->dim_param : "";
}

/* Sizes with the same name are equal. The first sizes of all inputs are equal whatever their names, since all inputs
 * have the same examples when a model is trained or predicts. */
mst_status mst_onnx_input_rate(mst_onnx_reader *r, size_t i, const mst_shape *shape, mst_onnx_rate *out) {
    const int axis = open_axis(shape);
    *out = unknown;
    if (mst_onnx_num_open(shape) != 1) return MST_OK;
    const char *name = r->has_variables && !axis ? "" : name_of_dim(mst_onnx_input(r->file, i), axis);
    int64_t origin = r->has_variables && !axis ? 0 : *name ? mst_names_get(&r->dims, name) : -1;
    if (origin < 0) {
        origin = ++r->num_origins;
        if (*name) MST_TRY(mst_names_set(&r->dims, name, origin));
    }
    *out = (mst_onnx_rate){1, 1, origin};
    return MST_OK;
}
