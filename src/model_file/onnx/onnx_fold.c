/* Nodes of ONNX that compute with sizes are evaluated while the graph is built. A typical chain is Shape, then Gather,
 * Mul, Concat and the like, then Reshape. A size that is known only in a run is represented as an open size
 * (mst_onnx_open): a multiple of a dimension of a value, or a number that nodes of the graph compute. */
#include "model_file/onnx/onnx_fold.h"

#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/ops.h"

/* A short tensor of i64, i32 or bool. */
typedef struct list {
    mst_dtype dtype;
    mst_shape shape;
    int count;
    int64_t item[MST_ONNX_MOST_LIST];
} list;

/* ---- open sizes ---- */

int mst_onnx_num_open(const mst_shape *shape) {
    int count = 0;
    for (int i = 0; i < shape->ndim; i++) count += shape->dim[i] < 0;
    return count;
}

int64_t mst_onnx_known(const mst_shape *shape) {
    int64_t all = 1;
    for (int i = 0; i < shape->ndim; i++)
        if (shape->dim[i] >= 0 && __builtin_mul_overflow(all, shape->dim[i], &all)) return -1;
    return all;
}

const mst_onnx_open *mst_onnx_open_of(const mst_onnx_reader *r, int64_t item) {
    const int64_t i = mst_onnx_is_open(item) ? item - MST_ONNX_OPEN : -1;
    return i >= 0 && i < r->num_open ? &r->open[i] : NULL;
}

mst_status mst_onnx_add_open(mst_onnx_reader *r, mst_onnx_open open, int64_t *item) {
    MST_TRY(mst_grow(&r->open, sizeof *r->open, r->num_open + 1, &r->open_capacity));
    *item = MST_ONNX_OPEN + r->num_open;
    r->open[r->num_open++] = open;
    return MST_OK;
}

static bool is_same_size(const mst_onnx_reader *r, int64_t a, int64_t b) {
    const mst_onnx_open *x = mst_onnx_open_of(r, a), *y = mst_onnx_open_of(r, b);
    if (!x || !y) return a == b;
    return mst_value_equal(x->of, y->of) && x->axis == y->axis && x->times == y->times;
}

mst_value mst_onnx_size_value(const mst_onnx_reader *r, int64_t item, mst_dtype dtype) {
    const mst_onnx_open *open = mst_onnx_open_of(r, item);
    mst_tensor *tensor;
    if (!open) {
        if (mst_tensor_copy(MST_I64, MST_SCALAR, &item, &tensor)) return mst_value_of_last_error(r->graph);
        const mst_value constant = mst_constant(r->graph, tensor);
        mst_tensor_release(tensor);
        return dtype == MST_I64 ? constant : mst_cast(constant, dtype);
    }
    if (open->axis < 0) return dtype == MST_I64 ? open->of : mst_cast(open->of, dtype);
    const mst_value size = mst_dim_size(open->of, open->axis, dtype);
    return open->times == 1 ? size : mst_mul(size, mst_scalar(r->graph, dtype, (double)open->times));
}

/* A value of NDIM dimensions whose length along AXIS is the size OPEN, and 1 along the others. */
static mst_status along_axis(const mst_onnx_open *open, int ndim, int axis, mst_value *out) {
    const int from = mst_value_spec(open->of).shape.ndim;
    mst_strided_slice_options o = {.src = open->of, .begin = {.count = from}, .end = {.count = from}};
    mst_shape shape = {.ndim = ndim};
    if (open->axis < 0 || open->times < 1)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its shape is computed from a dynamic dimension in a way that is not supported: export the "
                        "model with a fixed size there");
    for (int i = 0; i < from; i++) {
        o.end.axis[i] = 1;
        if (i != open->axis) o.shrink_mask |= 1 << i;
    }
    o.begin_mask = o.end_mask = 1 << open->axis;
    mst_value rows = mst_cast(mst_ones_like(mst_strided_slice_with(o)), MST_F32);
    if (open->times > 1) rows = mst_tile(rows, MST_SHAPE(open->times));
    for (int i = 0; i < ndim; i++) shape.dim[i] = i == axis ? -1 : 1;
    *out = mst_reshape(rows, shape);
    return MST_OK;
}

/* Whether the COUNT SIZES are the shape of VALUE. */
static bool is_shape_of(const mst_onnx_reader *r, const int64_t *sizes, int count, mst_value value) {
    const mst_shape shape = mst_value_spec(value).shape;
    bool is = shape.ndim == count;
    for (int i = 0; is && i < count; i++) {
        const mst_onnx_open *open = mst_onnx_open_of(r, sizes[i]);
        is = open ? mst_value_equal(open->of, value) && open->axis == i && open->times == 1 : sizes[i] == shape.dim[i];
    }
    return is;
}

mst_status mst_onnx_like(mst_onnx_reader *r, const int64_t *sizes, int count, mst_value *out) {
    mst_shape shape = {.ndim = count};
    *out = MST_NONE;
    for (int i = 0; i < count; i++) {
        const mst_onnx_open *open = mst_onnx_open_of(r, sizes[i]);
        mst_value rows;
        shape.dim[i] = open ? -1 : sizes[i];
        if (!open) continue;
        if (is_shape_of(r, sizes, count, open->of)) {
            *out = open->of;
            return MST_OK;
        }
        MST_TRY(along_axis(open, count, i, &rows));
        *out = mst_value_is_none(*out) ? rows : mst_add(*out, rows);
    }
    if (mst_value_is_none(*out)) *out = mst_scalar(r->graph, MST_F32, 1);
    *out = mst_broadcast_to(*out, shape);
    return mst_graph_check(r->graph);
}

/* ---- lists ---- */

static bool is_short(const mst_onnx_call *c, size_t i) {
    const mst_onnx_value *v = mst_onnx_value_of(c, i);
    if (!v->tensor) return false;
    const mst_dtype dtype = mst_tensor_dtype(v->tensor);
    const int64_t count = mst_tensor_count(v->tensor);
    return (dtype == MST_I64 || dtype == MST_I32 || dtype == MST_BOOL) && count <= MST_ONNX_MOST_LIST &&
           (count || mst_tensor_shape(v->tensor).ndim == 1); /* beside a dimension of 0, others could be large */
}

static mst_status read_list(const mst_onnx_call *c, size_t i, list *out) {
    MST_TRY(mst_onnx_sizes(c, i, true, out->item, &out->count));
    out->dtype = mst_onnx_dtype_of(c, i);
    out->shape = mst_onnx_shape(c, i);
    return MST_OK;
}

/* Sets the shape of X; false if it is too long. */
static bool set_shape(list *x, mst_shape shape) {
    const int64_t count = mst_shape_count(shape);
    x->shape = shape;
    x->count = (int)(count < 0 || count > MST_ONNX_MOST_LIST ? 0 : count);
    return count >= 0 && count <= MST_ONNX_MOST_LIST;
}

/* Fills *OUT, whose shape is set, with elements of X: element [i, j, ...] of OUT becomes element
 * START + i * STEP[0] + j * STEP[1] + ... of X. */
static void pick(const list *x, int64_t start, const int64_t *step, list *out) {
    int64_t at[MST_MAX_NDIM] = {0};
    out->dtype = x->dtype;
    for (int i = 0; i < out->count; i++) {
        int64_t from = start;
        for (int k = 0; k < out->shape.ndim; k++) from += at[k] * step[k];
        out->item[i] = x->item[from];
        for (int k = out->shape.ndim - 1; k >= 0 && ++at[k] == out->shape.dim[k]; k--) at[k] = 0;
    }
}

static void steps_of(mst_shape shape, int64_t *step) {
    int64_t each = 1;
    for (int k = shape.ndim - 1; k >= 0; k--) {
        step[k] = each;
        each *= shape.dim[k];
    }
}

/* Broadcasts X to SHAPE; false if this is not possible. */
static bool spread(const list *x, mst_shape shape, list *out) {
    int64_t own[MST_MAX_NDIM] = {0}, step[MST_MAX_NDIM] = {0};
    const int lead = shape.ndim - x->shape.ndim;
    if (lead < 0 || !set_shape(out, shape)) return false;
    steps_of(x->shape, own);
    for (int k = lead; k < shape.ndim; k++) {
        const int64_t size = x->shape.dim[k - lead];
        if (size != 1 && size != shape.dim[k]) return false;
        step[k] = size == 1 ? 0 : own[k - lead];
    }
    pick(x, 0, step, out);
    return true;
}

static bool join_shapes(const mst_shape *more, mst_shape *shape) {
    mst_shape both = {.ndim = more->ndim > shape->ndim ? more->ndim : shape->ndim};
    for (int k = 0; k < both.ndim; k++) {
        const int a = k - both.ndim + more->ndim, b = k - both.ndim + shape->ndim;
        const int64_t x = a < 0 ? 1 : more->dim[a], y = b < 0 ? 1 : shape->dim[b];
        if (x != y && x != 1 && y != 1) return false;
        both.dim[k] = x == 1 ? y : x;
    }
    *shape = both;
    return true;
}

/* ---- each element by itself ---- */

/* Computes the operator NAME for two numbers; false if there is no result, or it does not fit in 64 bits. */
static bool compute(const char *name, int64_t a, int64_t b, int64_t *out) {
    if (strcmp(name, "Add") == 0) return !__builtin_add_overflow(a, b, out);
    if (strcmp(name, "Sub") == 0) return !__builtin_sub_overflow(a, b, out);
    if (strcmp(name, "Mul") == 0) return !__builtin_mul_overflow(a, b, out);
    if (strcmp(name, "Div") == 0 || strcmp(name, "Mod") == 0) {
        if (b == 0 || b == -1) return false; /* -1: INT64_MIN / -1 does not fit */
        *out = strcmp(name, "Div") == 0 ? a / b : a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
        return true;
    }
    if (strcmp(name, "Max") == 0) *out = a > b ? a : b;
    if (strcmp(name, "Min") == 0) *out = a < b ? a : b;
    if (strcmp(name, "Equal") == 0) *out = a == b;
    if (strcmp(name, "Less") == 0) *out = a < b;
    if (strcmp(name, "LessOrEqual") == 0) *out = a <= b;
    if (strcmp(name, "Greater") == 0) *out = a > b;
    if (strcmp(name, "GreaterOrEqual") == 0) *out = a >= b;
    if (strcmp(name, "And") == 0) *out = a && b;
    if (strcmp(name, "Or") == 0) *out = a || b;
    return true;
}

static bool compares(const char *name) {
    static const char *const names[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* Computes the operator NAME for A and B, of which at least one is an open size. True if the result can be written: it
 * is a multiple of a dimension, or the same for all possible sizes, which are at least 0. */
static bool compute_open(mst_onnx_reader *r, const char *name, int64_t a, int64_t b, int64_t *out) {
    const mst_onnx_open *x = mst_onnx_open_of(r, a), *y = mst_onnx_open_of(r, b);
    const bool commutes = strcmp(name, "Add") == 0 || strcmp(name, "Mul") == 0;
    if (x && y) {
        *out = strcmp(name, "Equal") == 0;
        return *out && is_same_size(r, a, b);
    }
    if (!x && commutes) return compute_open(r, name, b, a, out);
    const int64_t number = x ? b : a;
    mst_onnx_open open = x ? *x : *y;
    if (compares(name)) { /* a number below 0 is less than every size */
        *out = strcmp(name, "Equal") == 0 ? 0 : (strncmp(name, "Greater", 7) == 0) == (x != NULL);
        return number < 0 && open.axis >= 0 && strcmp(name, "And") != 0 && strcmp(name, "Or") != 0;
    }
    *out = a;
    if (!x) return false;
    if ((strcmp(name, "Add") == 0 || strcmp(name, "Sub") == 0) && number == 0) return true;
    if ((strcmp(name, "Mul") == 0 || strcmp(name, "Div") == 0) && number == 1) return true;
    if (open.axis < 0 || number < 1) return false;
    if (strcmp(name, "Mul") == 0) {
        if (__builtin_mul_overflow(open.times, number, &open.times)) return false;
    } else if (strcmp(name, "Div") == 0 && open.times % number == 0) {
        open.times /= number;
    } else {
        return false;
    }
    return mst_onnx_add_open(r, open, out) == MST_OK;
}

mst_status mst_onnx_multiply(mst_onnx_reader *r, int64_t a, int64_t b, int64_t *out) {
    if (!mst_onnx_is_open(a) && !mst_onnx_is_open(b))
        return compute("Mul", a, b, out)
                   ? MST_OK
                   : MST_FAIL(
                         MST_INVALID,
                         "its input has more elements than 64 bits can count: check the sizes that the node is given");
    if (compute_open(r, "Mul", a, b, out)) return MST_OK;
    const mst_value value = mst_mul(mst_onnx_size_value(r, a, MST_I64), mst_onnx_size_value(r, b, MST_I64));
    return mst_onnx_add_open(r, (mst_onnx_open){.of = value, .axis = -1, .times = 1}, out);
}

static mst_status fold_binary(mst_onnx_call *c, const list *x, list *out, bool *done) {
    list a, b;
    mst_shape shape = x[0].shape;
    if (c->node->n_input != 2 || !join_shapes(&x[1].shape, &shape) || !spread(&x[0], shape, &a) ||
        !spread(&x[1], shape, &b) || mst_onnx_int(c, "fmod", 0))
        return MST_OK;
    const char *name = c->op->name;
    *out = a;
    out->dtype = compares(name) ? MST_BOOL : a.dtype;
    for (int i = 0; i < a.count; i++) {
        if (!mst_onnx_is_open(a.item[i]) && !mst_onnx_is_open(b.item[i])) {
            if (!compute(name, a.item[i], b.item[i], &out->item[i]) || mst_onnx_is_open(out->item[i])) return MST_OK;
            if (out->dtype == MST_I32 && out->item[i] != (int32_t)out->item[i]) return MST_OK;
        } else if (!compute_open(c->reader, name, a.item[i], b.item[i], &out->item[i])) {
            if (compares(name) || !c->op->binary) return MST_OK;
            const mst_value value = c->op->binary(mst_onnx_size_value(c->reader, a.item[i], MST_I64),
                                                  mst_onnx_size_value(c->reader, b.item[i], MST_I64));
            MST_TRY(mst_onnx_add_open(c->reader, (mst_onnx_open){.of = value, .axis = -1, .times = 1}, &out->item[i]));
        }
    }
    *done = true;
    return MST_OK;
}

static mst_status fold_where(mst_onnx_call *c, const list *x, list *out, bool *done) {
    list part[3];
    mst_shape shape = x[0].shape;
    if (c->node->n_input != 3 || !join_shapes(&x[1].shape, &shape) || !join_shapes(&x[2].shape, &shape)) return MST_OK;
    for (int i = 0; i < 3; i++)
        if (!spread(&x[i], shape, &part[i])) return MST_OK;
    *out = part[1];
    for (int i = 0; i < out->count; i++) out->item[i] = part[part[0].item[i] ? 1 : 2].item[i];
    *done = true;
    return MST_OK;
}

enum { EXACT = 1 << 24 }; /* f32 has all integers up to here */

static mst_status fold_cast(mst_onnx_call *c, const list *x, list *out, bool *done) {
    const int64_t to = mst_onnx_int(c, "to", 0);
    const mst_dtype dtype = to > 0 && to < 100 ? mst_onnx_dtype((int32_t)to) : MST_NO_DTYPE;
    *out = x[0];
    out->dtype = dtype;
    const bool to_float = dtype == MST_F32 || dtype == MST_F64;
    *done = dtype == MST_I64 || dtype == MST_I32 || dtype == MST_BOOL || to_float;
    for (int i = 0; i < out->count; i++) {
        const bool open = mst_onnx_is_open(out->item[i]);
        if (to_float) *done &= !open && out->item[i] >= -EXACT && out->item[i] <= EXACT;
        if (dtype == MST_BOOL) {
            *done &= !open;
            out->item[i] = out->item[i] != 0;
        }
        if (dtype == MST_I32 && !open) *done &= out->item[i] == (int32_t)out->item[i];
    }
    return MST_OK;
}

static mst_status fold_identity(mst_onnx_call *c, const list *x, list *out, bool *done) {
    (void)c;
    *out = x[0];
    *done = true;
    return MST_OK;
}

static mst_status fold_not(mst_onnx_call *c, const list *x, list *out, bool *done) {
    *out = x[0];
    *done = c->node->n_input == 1 && x[0].dtype == MST_BOOL;
    for (int i = 0; *done && i < out->count; i++) out->item[i] = !out->item[i];
    return MST_OK;
}

/* The single float that input I is; false if it is anything else. */
static bool is_float(const mst_onnx_call *c, size_t i, double *out) {
    const mst_tensor *tensor = mst_onnx_has(c, i) ? mst_onnx_value_of(c, i)->tensor : NULL;
    if (!tensor || mst_tensor_count(tensor) != 1) return false;
    *out = mst_tensor_get(tensor, 0);
    return mst_tensor_dtype(tensor) == MST_F32 || mst_tensor_dtype(tensor) == MST_F64;
}

/* Compares two single floats, as the conditions of loops do with the number of the step. */
static bool compare_floats(const mst_onnx_call *c, list *out) {
    const char *name = c->op->name;
    double a, b;
    if (!compares(name) || c->node->n_input != 2 || !is_float(c, 0, &a) || !is_float(c, 1, &b)) return false;
    mst_shape shape = mst_onnx_shape(c, 0);
    const mst_shape other = mst_onnx_shape(c, 1);
    if (mst_onnx_dtype_of(c, 0) != mst_onnx_dtype_of(c, 1) || !join_shapes(&other, &shape)) return false;
    out->dtype = MST_BOOL;
    out->item[0] = strcmp(name, "Equal") == 0            ? a == b
                   : strcmp(name, "Less") == 0           ? a < b
                   : strcmp(name, "LessOrEqual") == 0    ? a <= b
                   : strcmp(name, "Greater") == 0        ? a > b
                   : strcmp(name, "GreaterOrEqual") == 0 ? a >= b
                                                         : -1; /* And and Or are not for floats */
    return set_shape(out, shape) && out->item[0] >= 0;
}

/* ---- order and shape ---- */

static mst_status fold_concat(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int axis;
    *out = x[0];
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), x[0].shape.ndim, &axis));
    if (axis) return MST_OK;
    for (size_t i = 1; i < c->node->n_input; i++) {
        bool fits = x[i].shape.ndim == x[0].shape.ndim && x[i].dtype == x[0].dtype;
        for (int k = 1; fits && k < x[0].shape.ndim; k++) fits = x[i].shape.dim[k] == x[0].shape.dim[k];
        if (!fits || out->count + x[i].count > MST_ONNX_MOST_LIST) return MST_OK;
        memcpy(out->item + out->count, x[i].item, (size_t)x[i].count * sizeof *out->item);
        out->count += x[i].count;
        out->shape.dim[0] += x[i].shape.dim[0];
    }
    *done = true;
    return MST_OK;
}

static mst_status fold_gather(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int axis;
    MST_TRY(mst_onnx_axis(mst_onnx_int(c, "axis", 0), x[0].shape.ndim, &axis));
    if (c->node->n_input != 2 || x[0].shape.ndim != 1) return MST_OK;
    *out = x[1];
    out->dtype = x[0].dtype;
    for (int i = 0, at; i < out->count; i++) {
        if (mst_onnx_is_open(x[1].item[i])) return MST_OK;
        MST_TRY(mst_onnx_axis(x[1].item[i], x[0].count, &at));
        out->item[i] = x[0].item[at];
    }
    *done = true;
    return MST_OK;
}

static mst_status fold_slice(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int64_t own[MST_MAX_NDIM], start = 0, from, to;
    mst_shape shape = x[0].shape;
    mst_onnx_cuts k;
    MST_TRY(mst_onnx_read_cuts(c, shape.ndim, &k));
    steps_of(shape, own);
    for (int i = 0; i < k.count; i++) {
        const int64_t axis = k.axis[i], size = shape.dim[axis];
        if (size < 1) return MST_OK;
        mst_onnx_settle_cut(&k, i, size, &from, &to);
        /* no list is longer than MOST, so a step of MOST takes one element, as each larger step does */
        const int64_t most = MST_ONNX_MOST_LIST, step = k.step[i];
        const int64_t each = step > most ? most : step < -most ? -most : step, way = each > 0 ? to - from : from - to;
        shape.dim[axis] = way > 0 ? (way - 1) / (each > 0 ? each : -each) + 1 : 0;
        start += from * own[axis];
        own[axis] *= each;
    }
    *done = set_shape(out, shape);
    pick(&x[0], start, own, out);
    return MST_OK;
}

static mst_status fold_transpose(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int64_t perm[MST_ONNX_MOST_LIST], own[MST_MAX_NDIM], step[MST_MAX_NDIM];
    int count, axis, seen = 0;
    mst_shape shape = x[0].shape;
    MST_TRY(mst_onnx_ints(c, "perm", perm, &count));
    if (count && count != shape.ndim) return MST_OK;
    steps_of(x[0].shape, own);
    for (int i = 0; i < shape.ndim; i++) {
        MST_TRY(mst_onnx_axis(count ? perm[i] : shape.ndim - 1 - i, shape.ndim, &axis));
        seen |= 1 << axis;
        shape.dim[i] = x[0].shape.dim[axis];
        step[i] = own[axis];
    }
    *done = seen == (1 << shape.ndim) - 1 && set_shape(out, shape);
    if (*done) pick(&x[0], 0, step, out);
    return MST_OK;
}

static mst_status fold_reshape(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int64_t known = 1;
    int rest = -1;
    const bool zero = mst_onnx_int(c, "allowzero", 0) != 0;
    if (c->node->n_input != 2 || x[1].count > MST_MAX_NDIM) return MST_OK;
    mst_shape shape = mst_shape_make(x[1].count, x[1].item);
    for (int i = 0; i < shape.ndim; i++) {
        if (shape.dim[i] == 0 && !zero && i < x[0].shape.ndim) shape.dim[i] = x[0].shape.dim[i];
        if (shape.dim[i] == -1 && rest < 0) {
            rest = i;
        } else if (shape.dim[i] < 0 || __builtin_mul_overflow(known, shape.dim[i], &known)) {
            return MST_OK;
        }
    }
    if (rest >= 0 && (known < 1 || x[0].count % known)) return MST_OK;
    if (rest >= 0) shape.dim[rest] = x[0].count / known;
    if (mst_shape_count(shape) != x[0].count) return MST_OK;
    *out = x[0];
    out->shape = shape;
    *done = true;
    return MST_OK;
}

static mst_status fold_unsqueeze(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int64_t axes[MST_ONNX_MOST_LIST];
    int count;
    *out = x[0];
    if (c->node->n_input != 2 || x[0].shape.ndim + x[1].count > MST_MAX_NDIM) return MST_OK;
    mst_shape shape = {.ndim = x[0].shape.ndim + x[1].count};
    MST_TRY(mst_onnx_read_axes(c, 1, shape.ndim, axes, &count));
    for (int i = 0, from = 0; i < shape.ndim; i++) {
        bool is_new = false;
        for (int k = 0; k < count; k++) is_new |= axes[k] == i;
        shape.dim[i] = is_new ? 1 : x[0].shape.dim[from++];
    }
    out->shape = shape;
    *done = true;
    return MST_OK;
}

static mst_status fold_squeeze(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int64_t axes[MST_ONNX_MOST_LIST];
    int count;
    *out = x[0];
    out->shape.ndim = 0;
    MST_TRY(mst_onnx_read_axes(c, 1, x[0].shape.ndim, axes, &count));
    for (int i = 0; i < x[0].shape.ndim; i++) {
        bool is_gone = !count && x[0].shape.dim[i] == 1;
        for (int k = 0; k < count; k++) is_gone |= axes[k] == i;
        if (is_gone && x[0].shape.dim[i] != 1) return MST_OK; /* the op reports the error */
        if (!is_gone) out->shape.dim[out->shape.ndim++] = x[0].shape.dim[i];
    }
    *done = true;
    return MST_OK;
}

/* ---- from numbers ---- */

static mst_status fold_range(mst_onnx_call *c, const list *x, list *out, bool *done) {
    if (c->node->n_input != 3) return MST_OK;
    for (int i = 0; i < 3; i++)
        if (x[i].count != 1 || mst_onnx_is_open(x[i].item[0]) || x[i].item[0] != (int32_t)x[i].item[0]) return MST_OK;
    const int64_t start = x[0].item[0], step = x[2].item[0],
                  way = step > 0 ? x[1].item[0] - start : start - x[1].item[0];
    if (!step) return MST_OK;
    *done = set_shape(out, MST_SHAPE(way > 0 ? (way - 1) / (step > 0 ? step : -step) + 1 : 0));
    out->dtype = x[0].dtype;
    for (int i = 0; i < out->count; i++) out->item[i] = start + i * step;
    return MST_OK;
}

static mst_status fold_constant_of_shape(mst_onnx_call *c, const list *x, list *out, bool *done) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, "value", MST_ONNX_TENSOR);
    mst_tensor *value;
    if (!a || !a->t || c->node->n_input != 1 || x[0].count > MST_MAX_NDIM) return MST_OK;
    for (int i = 0; i < x[0].count; i++)
        if (x[0].item[i] < 0) return MST_OK;
    MST_TRY(mst_onnx_tensor(a->t, &value));
    out->dtype = mst_tensor_dtype(value);
    *done = mst_tensor_count(value) == 1 &&
            (out->dtype == MST_I64 || out->dtype == MST_I32 || out->dtype == MST_BOOL) &&
            set_shape(out, mst_shape_make(x[0].count, x[0].item));
    for (int i = 0; *done && i < out->count; i++)
        out->item[i] =
            out->dtype == MST_I64 ? *(const int64_t *)mst_tensor_data(value) : (int64_t)mst_tensor_get(value, 0);
    *done = *done && !(out->count && mst_onnx_is_open(out->item[0]));
    mst_tensor_release(value);
    return MST_OK;
}

/* Reduces all elements of X, which has one dimension. The node is a ReduceProd, which begins with 1, or a ReduceSum. */
static mst_status fold_reduction(mst_onnx_call *c, const list *x, list *out, bool *done) {
    int64_t axes[MST_ONNX_MOST_LIST], all = c->op->name[6] == 'P', number;
    int count;
    const bool keep = mst_onnx_int(c, "keepdims", 1) != 0, none = mst_onnx_int(c, "noop_with_empty_axes", 0) != 0;
    if (x[0].shape.ndim != 1) return MST_OK;
    MST_TRY(mst_onnx_read_axes(c, 1, 1, axes, &count));
    if (!count && none) return MST_OK;
    for (int i = 0; i < x[0].count; i++, all = number) {
        const char *name = c->op->name[6] == 'P' ? "Mul" : "Add";
        const bool open = mst_onnx_is_open(all) || mst_onnx_is_open(x[0].item[i]);
        if (open ? !compute_open(c->reader, name, all, x[0].item[i], &number)
                 : !compute(name, all, x[0].item[i], &number) || mst_onnx_is_open(number))
            return MST_OK;
    }
    out->dtype = x[0].dtype;
    out->item[0] = all;
    *done = set_shape(out, keep ? MST_SHAPE(1) : MST_SCALAR) &&
            (mst_onnx_is_open(all) || all == (int32_t)all || out->dtype == MST_I64);
    return MST_OK;
}

/* ---- nodes ---- */

typedef mst_status (*fold_function)(mst_onnx_call *c, const list *x, list *out, bool *done);

static fold_function find_fold(const char *name) {
    static const struct {
        const char *name;
        fold_function fold;
    } folds[] = {
        {"Add", fold_binary},
        {"And", fold_binary},
        {"Cast", fold_cast},
        {"Concat", fold_concat},
        {"ConstantOfShape", fold_constant_of_shape},
        {"Div", fold_binary},
        {"Equal", fold_binary},
        {"Gather", fold_gather},
        {"Greater", fold_binary},
        {"GreaterOrEqual", fold_binary},
        {"Identity", fold_identity},
        {"Less", fold_binary},
        {"LessOrEqual", fold_binary},
        {"Max", fold_binary},
        {"Min", fold_binary},
        {"Mod", fold_binary},
        {"Mul", fold_binary},
        {"Not", fold_not},
        {"Or", fold_binary},
        {"Range", fold_range},
        {"ReduceProd", fold_reduction},
        {"ReduceSum", fold_reduction},
        {"Reshape", fold_reshape},
        {"Slice", fold_slice},
        {"Squeeze", fold_squeeze},
        {"Sub", fold_binary},
        {"Transpose", fold_transpose},
        {"Unsqueeze", fold_unsqueeze},
        {"Where", fold_where},
    };
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (strcmp(folds[i].name, name) == 0) return folds[i].fold;
    return NULL;
}

static mst_status put_folded(mst_onnx_call *c, const list *x) {
    bool open = false;
    mst_tensor *tensor;
    for (int i = 0; i < x->count; i++) open |= mst_onnx_is_open(x->item[i]);
    if (open) return mst_onnx_put_open(c, x->dtype, x->shape, x->item);
    MST_TRY(mst_tensor_create(x->dtype, x->shape, &tensor));
    for (int i = 0; i < x->count; i++) {
        if (x->dtype == MST_I64)
            ((int64_t *)mst_tensor_data(tensor))[i] = x->item[i];
        else
            mst_tensor_set(tensor, i, (double)x->item[i]);
    }
    return mst_onnx_put_tensor(c, tensor);
}

mst_status mst_onnx_fold(mst_onnx_call *c, bool *done) {
    enum { MOST = 16 };
    list x[MOST], out = {0};
    const size_t count = c->node->n_input;
    const fold_function fold = find_fold(c->op->name);
    *done = false;
    if (!fold || count < 1 || count > MOST || c->node->n_output != 1) return MST_OK;
    if (compare_floats(c, &out)) {
        *done = true;
        return put_folded(c, &out);
    }
    for (size_t i = 0; i < count; i++)
        if (mst_onnx_has(c, i) ? !is_short(c, i) : i < 2) return MST_OK;
    for (size_t i = 0; i < count; i++)
        if (mst_onnx_has(c, i)) MST_TRY(read_list(c, i, &x[i]));
    MST_TRY(fold(c, x, &out, done));
    return *done ? put_folded(c, &out) : MST_OK;
}
