/* Operators of ONNX that change shapes and orders of layers' outputs, of constants, and of lists of sizes. */
#include <string.h>

#include "model_file/onnx/onnx_layers.h"
#include "muster/layers.h"

/* Reads operators that change neither values nor shapes: output 0 is input 0. */
static mst_status read_identity(mst_onnx_layer_call *c) {
    mst_onnx_layer_value v;
    MST_TRY(mst_onnx_layer_raw(c, 0, &v));
    return mst_onnx_layer_put(c, v);
}

/* A Cast of sizes, or of the indices of an embedding's rows, changes nothing here. Layers compute in float32, so a Cast
 * of their outputs to f32 also changes nothing. Other casts are refused. */
static mst_status read_cast(mst_onnx_layer_call *c) {
    mst_onnx_layer_value v;
    const int64_t to = mst_onnx_int(&c->onnx, "to", 0);
    const mst_dtype dtype = to > 0 && to < 100 ? mst_onnx_dtype((int32_t)to) : MST_NO_DTYPE;
    (void)mst_onnx_int(&c->onnx, "saturate", 1);
    MST_TRY(mst_onnx_layer_raw(c, 0, &v));
    if (v.row) return mst_onnx_layer_put(c, v);
    const bool is_same = v.tensor ? dtype == mst_tensor_dtype(v.tensor) || dtype == MST_I64 : dtype != MST_BOOL;
    if (v.num_sizes ? dtype != MST_I64 && dtype != MST_I32 : !(is_same && (v.tensor || dtype == MST_F32)))
        return MST_FAIL(MST_UNIMPLEMENTED, "no layer changes the dtype");
    return mst_onnx_layer_put(c, v);
}

static mst_status read_constant(mst_onnx_layer_call *c) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(&c->onnx, "value", MST_ONNX_TENSOR);
    const Muster__OnnxAttribute *ints = mst_onnx_attribute(&c->onnx, "value_ints", MST_ONNX_INTS);
    const Muster__OnnxAttribute *one = mst_onnx_attribute(&c->onnx, "value_int", MST_ONNX_INT);
    const Muster__OnnxAttribute *number = mst_onnx_attribute(&c->onnx, "value_float", MST_ONNX_FLOAT);
    mst_tensor *tensor;
    const char *name = c->onnx.node->n_output ? c->onnx.node->output[0] : NULL;
    if (a && a->t)
        MST_TRY(mst_onnx_tensor(a->t, &tensor));
    else if (ints)
        MST_TRY(mst_tensor_copy(MST_I64, MST_SHAPE((int64_t)ints->n_ints), ints->ints, &tensor));
    else if (one)
        MST_TRY(mst_tensor_copy(MST_I64, MST_SCALAR, &one->i, &tensor));
    else if (number)
        MST_TRY(mst_tensor_copy(MST_F32, MST_SCALAR, &number->f, &tensor));
    else
        return MST_FAIL(MST_UNIMPLEMENTED, "only value, value_ints, value_int and value_float are supported");
    return mst_onnx_layer_put_tensor(c, tensor, name);
}

/* ---- sizes ---- */

/* A number for the value X, which is input 0: the same for all values that are one output of a layer in another order.
 * Sequences have numbers of their own. */
static int64_t source_number(const mst_onnx_layer_call *c, const mst_onnx_layer_value *x) {
    return x->sequence.ndim ? 2 * mst_names_get(&c->layers->names, c->onnx.node->input[0]) + 1 : 2 * x->out.node;
}

/* The item of a list of sizes for the size of axis K of the value NUMBER. */
static int64_t open_size(int64_t number, int k) {
    return MST_ONNX_UNKNOWN - (number * MST_MAX_NDIM + k);
}

/* The axis of the output of the layer that is axis K of X. */
static int axis_of_layer(const mst_onnx_layer_value *x, int k) {
    if (x->sequence.ndim || !x->last || x->ndim < 3 || !k) return k;
    return k == 1 ? x->ndim - 1 : k - 1;
}

static mst_status read_sizes_of(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_raw(c, 0, &x));
    if (!x.sequence.ndim) MST_TRY(mst_onnx_layer_input(c, 0, &x));
    if (mst_onnx_int(&c->onnx, "start", 0) || mst_onnx_attribute(&c->onnx, "end", MST_ONNX_INT))
        return MST_FAIL(MST_UNIMPLEMENTED, "its attributes start and end are not supported");
    mst_onnx_layer_value sizes = {.num_sizes = x.ndim, .size = {MST_ONNX_EXAMPLES}};
    for (int i = 0; i < x.ndim; i++) {
        const bool examples = x.sequence.ndim ? x.sequence.axis[i] == MST_ONNX_AXIS_EXAMPLES : i == 0;
        sizes.size[i] = examples ? MST_ONNX_EXAMPLES : open_size(source_number(c, &x), axis_of_layer(&x, i));
    }
    return mst_onnx_layer_put(c, sizes);
}

/* The product of a list of sizes is not known if one of them is not, and is what a Reshape leaves open then. */
static mst_status read_product(mst_onnx_layer_call *c) {
    mst_onnx_layer_value v;
    int64_t product = 1;
    (void)mst_onnx_int(&c->onnx, "keepdims", 1);
    (void)mst_onnx_attribute(&c->onnx, "axes", MST_ONNX_INTS);
    (void)mst_onnx_int(&c->onnx, "noop_with_empty_axes", 0);
    MST_TRY(mst_onnx_layer_raw(c, 0, &v));
    if (!v.num_sizes) return MST_FAIL(MST_UNIMPLEMENTED, "the operator is no layer of Keras, nor a part of one");
    if (v.num_sizes == 1) return mst_onnx_layer_put(c, v);
    for (int i = 0; i < v.num_sizes && product >= 0; i++)
        if (v.size[i] < 0 || __builtin_mul_overflow(product, v.size[i], &product)) product = -1;
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.num_sizes = 1, .size = {product}});
}

static mst_status read_slice(mst_onnx_layer_call *c) {
    mst_onnx_layer_value v;
    int64_t begin, end, step = 1;
    int64_t list[MST_ONNX_MOST_SIZES];
    int count;
    MST_TRY(mst_onnx_layer_raw(c, 0, &v));
    if (v.sequence.ndim) return mst_onnx_sequence_slice(c, v);
    if (v.zeros) return mst_onnx_layer_put(c, v);
    if (!v.num_sizes) return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras takes a part of its input");
    MST_TRY(mst_onnx_layer_list(c, 1, list, &count));
    begin = count == 1 ? list[0] : -1;
    MST_TRY(mst_onnx_layer_list(c, 2, list, &count));
    end = count == 1 ? list[0] : -1;
    if (mst_onnx_layer_has(c, 4)) {
        MST_TRY(mst_onnx_layer_list(c, 4, list, &count));
        step = count == 1 ? list[0] : 0;
    }
    if (end < 0) end += v.num_sizes;
    if (end > v.num_sizes) end = v.num_sizes;
    if (begin < 0 || step != 1 || end <= begin)
        return MST_FAIL(MST_UNIMPLEMENTED, "only a Slice of a list of sizes from a place to a later one is supported");
    mst_onnx_layer_value part = {.num_sizes = (int)(end - begin)};
    memcpy(part.size, v.size + begin, (size_t)part.num_sizes * sizeof *part.size);
    return mst_onnx_layer_put(c, part);
}

/* ---- rows ---- */

static mst_status put_row(mst_onnx_layer_call *c, mst_onnx_layer_value x, mst_onnx_row row) {
    x.row = row;
    return mst_onnx_layer_put(c, x);
}

static mst_status refuse_rows(void) {
    return MST_FAIL(MST_UNIMPLEMENTED, "its input is of whole numbers: only an embedding takes these as a layer");
}

mst_status mst_onnx_layer_merge_rows(mst_onnx_layer_call *c, mst_onnx_layer_value a, mst_onnx_layer_value b,
                                     mst_merge_kind kind) {
    const mst_onnx_row low = a.row < b.row ? a.row : b.row, high = a.row < b.row ? b.row : a.row;
    const mst_tensor *number = a.row ? b.tensor : a.tensor;
    if (kind == MST_MERGE_ADD && low == MST_ONNX_NO_ROW && high == MST_ONNX_ROW && number &&
        mst_tensor_count(number) == 1)
        return put_row(c, a.row ? a : b, MST_ONNX_ROW_END);
    if (kind == MST_MERGE_ADD && low == MST_ONNX_ROW_IF_ABOVE && high == MST_ONNX_ROW_IF_BELOW)
        return put_row(c, a, MST_ONNX_ROW);
    if (kind == MST_MERGE_MULTIPLY && low == MST_ONNX_ROW && high == MST_ONNX_ROW_ABOVE)
        return put_row(c, a, MST_ONNX_ROW_IF_ABOVE);
    if (kind == MST_MERGE_MULTIPLY && low == MST_ONNX_ROW_END && high == MST_ONNX_ROW_BELOW)
        return put_row(c, a, MST_ONNX_ROW_IF_BELOW);
    return refuse_rows();
}

static mst_status read_less(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x, zero;
    MST_TRY(mst_onnx_layer_any(c, 0, &x));
    MST_TRY(mst_onnx_layer_any(c, 1, &zero));
    if (x.row != MST_ONNX_ROW || !zero.tensor || mst_tensor_count(zero.tensor) != 1 ||
        mst_tensor_get(zero.tensor, 0) != 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "the operator is no layer of Keras, nor a part of one");
    return put_row(c, x, MST_ONNX_ROW_BELOW);
}

static mst_status read_not(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_any(c, 0, &x));
    if (x.row != MST_ONNX_ROW_BELOW) return refuse_rows();
    return put_row(c, x, MST_ONNX_ROW_ABOVE);
}

static mst_status read_where(mst_onnx_layer_call *c) {
    mst_onnx_layer_value below, end, x;
    MST_TRY(mst_onnx_layer_any(c, 0, &below));
    MST_TRY(mst_onnx_layer_any(c, 1, &end));
    MST_TRY(mst_onnx_layer_any(c, 2, &x));
    if (below.row != MST_ONNX_ROW_BELOW || end.row != MST_ONNX_ROW_END || x.row != MST_ONNX_ROW)
        return MST_FAIL(MST_UNIMPLEMENTED, "the operator is no layer of Keras, nor a part of one");
    return put_row(c, x, MST_ONNX_ROW);
}

/* ---- shapes ---- */

/* Sets output 0 to X as [n, features]. In ONNX the channels come before the pixels; the layer may have them last. The
 * value then keeps both orders (mst_onnx_layer_value.flat). */
static mst_status put_flat(mst_onnx_layer_call *c, mst_onnx_layer_value x) {
    if (x.ndim == 2) return mst_onnx_layer_put(c, x);
    mst_onnx_layer_value y = {.out = mst_flatten(x.out), .ndim = 2, .not_negative = x.not_negative};
    if (x.is_pooled) y.channels = x.channels;
    if (x.last && x.ndim > 2 && !x.is_pooled) {
        y.pixels = x.out;
        y.flat = x.ndim;
        y.flat_channels = x.channels;
    }
    return mst_onnx_layer_put(c, y);
}

static mst_status read_flatten(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_input(c, 0, &x));
    if (mst_onnx_int(&c->onnx, "axis", 1) != 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute axis must be 1 to become a layer");
    return put_flat(c, x);
}

/* The shape of the constant V reshaped to the COUNT sizes LIST. */
static mst_status reshape_constant(mst_onnx_layer_call *c, const mst_onnx_layer_value *v, const int64_t *list,
                                   int count) {
    mst_shape shape = {.ndim = count};
    mst_tensor *tensor;
    int64_t known = 1;
    int open = -1;
    for (int i = 0; i < count; i++) {
        shape.dim[i] = list[i];
        if (list[i] == -1 && open < 0)
            open = i;
        else if (list[i] < 1 || list[i] > mst_tensor_count(v->tensor))
            return MST_FAIL(MST_INVALID, "its shape does not fit its constant");
        else
            known *= list[i] <= INT32_MAX && known <= INT32_MAX ? list[i] : 0;
    }
    if (open >= 0) shape.dim[open] = known > 0 ? mst_tensor_count(v->tensor) / known : 0;
    if (known < 1 || known * (open >= 0 ? shape.dim[open] : 1) != mst_tensor_count(v->tensor))
        return MST_FAIL(MST_INVALID, "its shape does not fit its constant");
    MST_TRY(mst_tensor_copy(mst_tensor_dtype(v->tensor), shape, mst_tensor_data(v->tensor), &tensor));
    return mst_onnx_layer_put_tensor(c, tensor, v->weight);
}

/* Whether a Reshape to the COUNT sizes LIST separates the axes of X again, which are merged. */
static bool has_sizes_of(const int64_t *list, int count, const mst_onnx_layer_value *x) {
    const int last = x->ndim - 1;
    if (count != x->ndim || (list[0] != MST_ONNX_EXAMPLES && list[0] != -1) || list[last] != x->channels) return false;
    if (last == 2 && list[1] > 0) return true; /* the number of all elements leaves no other size */
    for (int k = 1; k < last; k++)
        if (list[k] != open_size(x->merged - 1, k)) return false;
    return true;
}

static mst_status read_reshape(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x, sizes;
    int64_t list[MST_ONNX_MOST_SIZES];
    int count;
    (void)mst_onnx_int(&c->onnx, "allowzero", 0);
    MST_TRY(mst_onnx_layer_raw(c, 0, &x));
    MST_TRY(mst_onnx_layer_any(c, 1, &sizes));
    if (sizes.num_sizes) {
        count = sizes.num_sizes;
        memcpy(list, sizes.size, sizeof list);
    } else {
        MST_TRY(mst_onnx_layer_list(c, 1, list, &count));
    }
    if (x.tensor) return reshape_constant(c, &x, list, count);
    if (x.num_sizes || x.zeros) return mst_onnx_layer_put(c, x);
    if (mst_onnx_sequence_has_directions(&x)) return mst_onnx_sequence_reshape(c, x, list, count);
    if (x.merged) {
        const bool is_whole = has_sizes_of(list, count, &x);
        if (list[0] == 0) return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras moves steps or pixels to the examples");
        x.merged = 0;
        if (is_whole) return mst_onnx_layer_put(c, x);
    }
    const int64_t source = source_number(c, &x);
    MST_TRY(mst_onnx_sequence_settle(c->layers, &x));
    const bool keeps_last = count == 2 && (list[1] == x.channels || list[1] == open_size(source, x.ndim - 1));
    if (keeps_last && x.ndim > 2 && list[0] == -1 && !x.last && !x.is_pooled) {
        x.merged = 1 + source;
        return mst_onnx_layer_put(c, x);
    }
    if (count < 2 || count > MST_MAX_NDIM)
        return MST_FAIL(MST_UNIMPLEMENTED, "its shape has %d dimensions: 2 to %d become a layer", count, MST_MAX_NDIM);
    int open = 0;
    for (int i = 1; i < count; i++) {
        open += list[i] == -1;
        if (list[i] != -1 && list[i] < 1)
            return MST_FAIL(MST_UNIMPLEMENTED, "its shape must be known but for the examples");
    }
    const bool keeps = list[0] == MST_ONNX_EXAMPLES || list[0] == 0 || list[0] == 1 || (list[0] == -1 && !open);
    if (!keeps || open > 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "its shape must have the examples first, and then at most one -1");
    if (count == 2) return put_flat(c, x);
    MST_TRY(mst_onnx_layer_turn(&x));
    mst_shape target = {.ndim = count - 1};
    for (int i = 1; i < count; i++) target.dim[i - 1] = list[i];
    const mst_output out = mst_reshape_to(x.out, target);
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.out = out,
                                                        .ndim = count,
                                                        .channels = list[count - 1] > 0 ? list[count - 1] : 0,
                                                        .not_negative = x.not_negative});
}

/* Reads a Squeeze. From a layer's output it can remove only the axes of 1 that global pooling has left, all at once. */
static mst_status read_squeeze(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    unsigned axes = 0;
    MST_TRY(mst_onnx_layer_raw(c, 0, &x));
    MST_TRY(mst_onnx_ints(&c->onnx, "axes", list, &count));
    if (x.num_sizes) return mst_onnx_layer_put(c, x);
    if (mst_onnx_layer_has(c, 1)) MST_TRY(mst_onnx_layer_list(c, 1, list, &count));
    for (int i = 0; i < count; i++) {
        int axis;
        MST_TRY(mst_onnx_axis(list[i], x.ndim, &axis));
        axes |= 1U << axis;
    }
    if (x.sequence.ndim) return mst_onnx_sequence_squeeze(c, x, axes);
    const unsigned inner = x.ndim > 2 ? (1U << (x.ndim - 2)) - 1 : 0;
    if (!x.is_pooled || !inner || axes != (x.last ? inner << 2 : inner << 1))
        return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer only after pooling over all pixels, without these axes");
    return put_flat(c, x);
}

static mst_status read_unsqueeze(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_any(c, 0, &x));
    if (!x.num_sizes && !x.zeros && !(x.tensor && mst_tensor_count(x.tensor) == 1))
        return MST_FAIL(MST_UNIMPLEMENTED, "only an Unsqueeze of sizes is supported here");
    return mst_onnx_layer_put(c, x);
}

static mst_status transpose_constant(mst_onnx_layer_call *c, const mst_onnx_layer_value *v, mst_axes perm) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_turn(v->tensor, mst_tensor_shape(v->tensor), perm, &tensor));
    return mst_onnx_layer_put_tensor(c, tensor, v->weight);
}

/* Reads a Transpose. If it moves the channels to the end or to the second place, only the noted order of the value
 * changes, and no layer is made. */
static mst_status read_transpose(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    int64_t list[MST_ONNX_MOST_LIST];
    int count;
    unsigned seen = 0;
    MST_TRY(mst_onnx_layer_raw(c, 0, &x));
    MST_TRY(mst_onnx_ints(&c->onnx, "perm", list, &count));
    const int ndim = x.tensor ? mst_tensor_shape(x.tensor).ndim : x.ndim;
    if (x.merged) return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras moves the examples to another axis");
    if (!ndim || (count && count != ndim))
        return MST_FAIL(MST_INVALID, "its attribute perm has %d axes, and its input has %d dimensions", count, ndim);
    mst_axes perm = {.count = ndim};
    for (int i = 0; i < ndim; i++) {
        if (!count) list[i] = ndim - 1 - i;
        MST_TRY(mst_onnx_axis(list[i], ndim, &perm.axis[i]));
        seen |= 1U << perm.axis[i];
    }
    if (seen != (1U << ndim) - 1) return MST_FAIL(MST_INVALID, "its attribute perm has an axis twice");
    if (x.tensor) return transpose_constant(c, &x, perm);
    const bool moves_rows = ndim == 3 && perm.axis[0] != 0 && !x.row && !x.flat;
    if (x.sequence.ndim || moves_rows) return mst_onnx_sequence_transpose(c, x, perm);
    const mst_axes to_last = mst_onnx_last_perm(ndim), to_first = mst_onnx_first_perm(ndim);
    const size_t bytes = (size_t)ndim * sizeof *perm.axis;
    if (x.last && ndim > 2 && memcmp(perm.axis, to_last.axis, bytes) == 0) {
        x.last = false;
        return mst_onnx_layer_put(c, x);
    }
    if (!x.last && ndim > 2 && memcmp(perm.axis, to_first.axis, bytes) == 0) {
        x.last = true;
        return mst_onnx_layer_put(c, x);
    }
    if (perm.axis[0] != 0) return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras moves the examples to another axis");
    MST_TRY(mst_onnx_layer_turn(&x));
    mst_axes dims = {.count = ndim - 1};
    for (int i = 1; i < ndim; i++) dims.axis[i - 1] = perm.axis[i];
    x.out = mst_permute(x.out, dims);
    x.channels = 0;
    return mst_onnx_layer_put(c, x);
}

/* Reads a Pad that adds zeros around pixels. */
static mst_status read_pad(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    int64_t pads[MST_ONNX_MOST_SIZES + 2] = {0}, list[MST_ONNX_MOST_SIZES];
    int count;
    MST_TRY(mst_onnx_layer_input(c, 0, &x));
    MST_TRY(mst_onnx_layer_list(c, 1, list, &count));
    if (!mst_onnx_is(&c->onnx, "mode", "constant", "constant") || mst_onnx_layer_has(c, 3) || count != 2 * x.ndim ||
        x.ndim < 3 || x.ndim > 4)
        return MST_FAIL(MST_UNIMPLEMENTED, "only zeros around pictures and sequences become a layer");
    if (mst_onnx_layer_has(c, 2)) {
        mst_tensor *value;
        MST_TRY(mst_onnx_layer_constant(c, 2, &value));
        if (mst_tensor_count(value) != 1 || mst_tensor_get(value, 0) != 0)
            return MST_FAIL(MST_UNIMPLEMENTED, "only a value of 0 becomes a layer");
    }
    const int first = x.last ? 2 : 1, channels = x.last ? 1 : x.ndim - 1, inner = x.ndim - 2;
    bool good = !list[0] && !list[x.ndim] && !list[channels] && !list[x.ndim + channels];
    mst_axes sides = {.count = 2 * inner};
    for (int i = 0; i < inner; i++) {
        pads[2 * i] = list[first + i];
        pads[2 * i + 1] = list[x.ndim + first + i];
        good &= pads[2 * i] >= 0 && pads[2 * i] <= INT16_MAX && pads[2 * i + 1] >= 0 && pads[2 * i + 1] <= INT16_MAX;
        sides.axis[2 * i] = good ? (int32_t)pads[2 * i] : 0;
        sides.axis[2 * i + 1] = good ? (int32_t)pads[2 * i + 1] : 0;
    }
    if (!good) return MST_FAIL(MST_UNIMPLEMENTED, "only zeros beside pixels become a layer, no cuts and no channels");
    x.out = inner == 1 ? mst_zero_padding1d(x.out, .sides = sides) : mst_zero_padding2d(x.out, .sides = sides);
    x.is_pooled = false;
    return mst_onnx_layer_put(c, x);
}

const mst_onnx_layer_op mst_onnx_layer_shape_ops[] = {
    {"Cast", .make = read_cast},
    {"Constant", .make = read_constant},
    {"Flatten", .make = read_flatten},
    {"Less", .make = read_less},
    {"Not", .make = read_not},
    {"Where", .make = read_where},
    {"Identity", .make = read_identity},
    {"Pad", .make = read_pad},
    {"ReduceProd", .make = read_product},
    {"Reshape", .make = read_reshape},
    {"Shape", .make = read_sizes_of},
    {"Slice", .make = read_slice},
    {"Squeeze", .make = read_squeeze},
    {"Transpose", .make = read_transpose},
    {"Unsqueeze", .make = read_unsqueeze},
    {0},
};
