/* How each op is said in ONNX's operators. */
#include <math.h>
#include <string.h>

#include "graph/tf_form.h"
#include "model_file/onnx_write.h"
#include "muster/ops.h"

typedef struct written_op {
    const char *name; /* ours */
    mst_status (*write)(mst_onnx_writer *w, const mst_node *from, const struct written_op *op);
    const char *onnx; /* of those that are one operator */
} written_op;

/* ---- options and values ---- */

static const void *option_at(const mst_node *node, const char *name) {
    const mst_field *field = mst_op_field(node->op, name);
    return (const char *)mst_node_options(node) + field->offset;
}

static int32_t option_int(const mst_node *node, const char *name) {
    int32_t value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

static double option_double(const mst_node *node, const char *name) {
    double value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

static float option_float(const mst_node *node, const char *name) {
    float value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

static bool option_bool(const mst_node *node, const char *name) {
    return *(const bool *)option_at(node, name);
}

static mst_axes option_axes(const mst_node *node, const char *name) {
    mst_axes value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

static mst_shape option_shape(const mst_node *node, const char *name) {
    mst_shape value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

static int ndim_of_source(const mst_node *node, int i) {
    return mst_value_spec(node->src[i]).shape.ndim;
}

/* Whether a value is at hand with channels second, and not in the graph's order. */
static bool is_first(mst_onnx_writer *w, mst_value value) {
    const mst_onnx_out *out = mst_onnx_out_of(w, value);
    return out->first && !out->plain && !out->tensor;
}

static const char *output_name(mst_onnx_writer *w, const mst_node *node, bool first) {
    mst_onnx_out *out = &w->out[w->offset[node->id]];
    const char *name = mst_onnx_name(w, node->name);
    *(first ? &out->first : &out->plain) = name;
    return name;
}

/* The name of a value that is put between others. */
static const char *between(mst_onnx_writer *w, const mst_node *node, const char *what) {
    const char *name = mst_arena_print(&w->arena, "%s/%s", node->name, what);
    return mst_onnx_name(w, name ? name : what);
}

static const char *plain_source(mst_onnx_writer *w, const mst_node *node, int i) {
    return mst_onnx_plain_name(w, node->src[i]);
}

/* ---- each element by itself ---- */

/* Names of all sources in one order of channels, that of the one at hand; false: the graph's. */
static bool sources(mst_onnx_writer *w, const mst_node *node, const char **name) {
    bool first = false, can = node->dst[0].shape.ndim == 4;
    for (int i = 0; i < node->num_src; i++) {
        first |= is_first(w, node->src[i]);
        can &= ndim_of_source(node, i) == 4 || mst_onnx_out_of(w, node->src[i])->tensor;
    }
    first &= can;
    for (int i = 0; i < node->num_src; i++) {
        mst_tensor *tensor = mst_onnx_out_of(w, node->src[i])->tensor;
        mst_shape full = {.ndim = 4, .dim = {1, 1, 1, 1}};
        if (!first || (tensor && mst_tensor_shape(tensor).ndim == 0)) {
            name[i] = plain_source(w, node, i);
        } else if (!tensor) {
            name[i] = mst_onnx_first_name(w, node->src[i]);
        } else {
            const mst_shape shape = mst_tensor_shape(tensor);
            for (int k = 0; k < shape.ndim; k++) full.dim[4 - shape.ndim + k] = shape.dim[k];
            name[i] = mst_onnx_constant(w, mst_value_name(node->src[i]), tensor, full, MST_AXES(0, 3, 1, 2));
        }
    }
    return first;
}

enum { MOST_SOURCES = 64 };

static mst_status write_same(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    if (node->num_src > MOST_SOURCES) return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many sources", node->name);
    const bool first = sources(w, node, name);
    mst_onnx_node(w, op->onnx, output_name(w, node, first), (size_t)node->num_src, name);
    return MST_OK;
}

/* A value that is source 0. */
static mst_status write_nothing(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    (void)op;
    w->out[w->offset[node->id]] = *mst_onnx_out_of(w, node->src[0]);
    return MST_OK;
}

static mst_status write_alpha(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    const bool first = sources(w, node, name), leaky = strcmp(op->name, "leaky_relu") == 0;
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, output_name(w, node, first), 1, name);
    mst_onnx_set_float(w, made, "alpha", option_float(node, leaky ? "slope" : "alpha"));
    return MST_OK;
}

static mst_status write_not_equal(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    const bool first = sources(w, node, name);
    const char *equal = between(w, node, "equal");
    (void)op;
    mst_onnx_node(w, "Equal", equal, 2, name);
    mst_onnx_node(w, "Not", output_name(w, node, first), 1, &equal);
    return MST_OK;
}

static mst_status write_clip(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES] = {""};
    const bool first = sources(w, node, name), six = strcmp(op->name, "relu6") == 0;
    const mst_dtype dtype = node->dst[0].dtype;
    const double low = six ? 0 : option_double(node, "low"), high = six ? 6 : option_double(node, "high");
    name[1] = isinf(low) ? "" : mst_onnx_constant_number(w, "low", dtype, low);
    name[2] = isinf(high) ? "" : mst_onnx_constant_number(w, "high", dtype, high);
    mst_onnx_node(w, "Clip", output_name(w, node, first), 3, name);
    return MST_OK;
}

static mst_status write_scale(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    const bool first = sources(w, node, name);
    (void)op;
    name[1] = mst_onnx_constant_number(w, "factor", node->dst[0].dtype, option_double(node, "factor"));
    mst_onnx_node(w, "Mul", output_name(w, node, first), 2, name);
    return MST_OK;
}

static mst_status write_square(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    const bool first = sources(w, node, name);
    (void)op;
    name[1] = name[0];
    mst_onnx_node(w, "Mul", output_name(w, node, first), 2, name);
    return MST_OK;
}

static mst_status write_rsqrt(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES], *root = between(w, node, "sqrt");
    const bool first = sources(w, node, name);
    (void)op;
    mst_onnx_node(w, "Sqrt", root, 1, name);
    mst_onnx_node(w, "Reciprocal", output_name(w, node, first), 1, &root);
    return MST_OK;
}

static mst_status write_swish(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    const bool first = sources(w, node, name);
    (void)op;
    name[1] = between(w, node, "sigmoid");
    mst_onnx_node(w, "Sigmoid", name[1], 1, name);
    mst_onnx_node(w, "Mul", output_name(w, node, first), 2, name);
    return MST_OK;
}

/* x (1 + erf(x / sqrt(2))) / 2 */
static mst_status write_gelu(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES], *pair[2];
    const mst_dtype dtype = node->dst[0].dtype;
    (void)op;
    if (option_bool(node, "approximate"))
        return MST_FAIL(MST_UNIMPLEMENTED, "gelu '%s': the approximate one is not written as ONNX", node->name);
    const bool first = sources(w, node, name);
    pair[0] = name[0];
    pair[1] = mst_onnx_constant_number(w, "sqrt_half", dtype, 0.70710678118654752);
    const char *part = between(w, node, "scaled");
    mst_onnx_node(w, "Mul", part, 2, pair);
    pair[0] = between(w, node, "erf");
    mst_onnx_node(w, "Erf", pair[0], 1, &part);
    pair[1] = mst_onnx_constant_number(w, "one", dtype, 1);
    part = between(w, node, "sum");
    mst_onnx_node(w, "Add", part, 2, pair);
    pair[0] = name[0];
    pair[1] = part;
    part = between(w, node, "product");
    mst_onnx_node(w, "Mul", part, 2, pair);
    pair[0] = part;
    pair[1] = mst_onnx_constant_number(w, "half", dtype, 0.5);
    mst_onnx_node(w, "Mul", output_name(w, node, first), 2, pair);
    return MST_OK;
}

static mst_status write_cast(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[MOST_SOURCES];
    const bool first = sources(w, node, name);
    (void)op;
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", output_name(w, node, first), 1, name), "to",
                     mst_onnx_type(node->dst[0].dtype));
    return MST_OK;
}

/* ---- matrices ---- */

static const char *swapped(mst_onnx_writer *w, const mst_node *node, int i) {
    const char *name = plain_source(w, node, i), *turned = between(w, node, "turned");
    int64_t perm[MST_MAX_NDIM];
    const int ndim = ndim_of_source(node, i);
    for (int k = 0; k < ndim; k++) perm[k] = k < ndim - 2 ? k : 2 * ndim - 3 - k;
    mst_onnx_set_ints(w, mst_onnx_node(w, "Transpose", turned, 1, &name), "perm", perm, ndim);
    return turned;
}

static mst_status write_matmul(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const bool turn[] = {option_bool(node, "transpose_a"), option_bool(node, "transpose_b")};
    const bool gemm = (turn[0] || turn[1]) && ndim_of_source(node, 0) == 2 && ndim_of_source(node, 1) == 2;
    const char *name[2];
    (void)op;
    for (int i = 0; i < 2; i++) name[i] = turn[i] && !gemm ? swapped(w, node, i) : plain_source(w, node, i);
    Muster__OnnxNode *made = mst_onnx_node(w, gemm ? "Gemm" : "MatMul", output_name(w, node, false), 2, name);
    if (!gemm) return MST_OK;
    mst_onnx_set_int(w, made, "transA", turn[0]);
    mst_onnx_set_int(w, made, "transB", turn[1]);
    return MST_OK;
}

/* ---- windows ---- */

static void pair_of(mst_axes axes, int64_t otherwise, int64_t pair[2]) {
    pair[0] = axes.count ? axes.axis[0] : otherwise;
    pair[1] = axes.count > 1 ? axes.axis[1] : pair[0];
}

/* Pads as numbers, where the size is known; auto_pad else. */
static void set_pads(mst_onnx_writer *w, Muster__OnnxNode *made, const mst_node *node, const int64_t *size,
                     const int64_t *strides, const int64_t *dilations) {
    const mst_axes given = option_axes(node, "pads");
    const mst_shape src = mst_value_spec(node->src[0]).shape;
    int64_t pads[4] = {0};
    if (given.count) {
        for (int i = 0; i < 2; i++) pads[i] = given.axis[2 * i], pads[2 + i] = given.axis[2 * i + 1];
    } else if (option_int(node, "padding") == MST_PADDING_SAME) {
        for (int i = 0; i < 2; i++) {
            const int64_t in = src.dim[1 + i];
            if (in < 0) {
                mst_onnx_set_text(w, made, "auto_pad", "SAME_UPPER");
                return;
            }
            const int64_t last = (in + strides[i] - 1) / strides[i] - 1;
            const int64_t all = last * strides[i] + (size[i] - 1) * dilations[i] + 1 - in;
            pads[i] = all > 0 ? all / 2 : 0;
            pads[2 + i] = all > 0 ? all - all / 2 : 0;
        }
    }
    mst_onnx_set_ints(w, made, "pads", pads, 4);
}

static mst_status write_conv(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const mst_shape shape = mst_value_spec(node->src[1]).shape;
    mst_tensor *weights = mst_onnx_out_of(w, node->src[1])->tensor;
    const char *name[2];
    int64_t size[2], strides[2], dilations[2];
    (void)op;
    if (!weights) return MST_FAIL(MST_UNIMPLEMENTED, "conv2d '%s': its weights depend on an input", node->name);
    size[0] = shape.dim[0];
    size[1] = shape.dim[1];
    pair_of(option_axes(node, "strides"), 1, strides);
    pair_of(option_axes(node, "dilations"), 1, dilations);
    name[0] = mst_onnx_first_name(w, node->src[0]);
    name[1] = mst_onnx_constant(w, mst_value_name(node->src[1]), weights, shape, MST_AXES(3, 2, 0, 1));
    Muster__OnnxNode *made = mst_onnx_node(w, "Conv", output_name(w, node, true), 2, name);
    mst_onnx_set_ints(w, made, "kernel_shape", size, 2);
    mst_onnx_set_ints(w, made, "strides", strides, 2);
    mst_onnx_set_ints(w, made, "dilations", dilations, 2);
    const int32_t groups = option_int(node, "groups");
    mst_onnx_set_int(w, made, "group", groups ? groups : 1);
    set_pads(w, made, node, size, strides, dilations);
    return MST_OK;
}

static mst_status write_pool(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    static const int64_t dilations[] = {1, 1};
    const char *name = mst_onnx_first_name(w, node->src[0]);
    int64_t size[2], strides[2];
    pair_of(option_axes(node, "size"), 1, size);
    const mst_axes given = option_axes(node, "strides");
    pair_of(given, size[0], strides);
    if (!given.count) strides[1] = size[1];
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, output_name(w, node, true), 1, &name);
    mst_onnx_set_ints(w, made, "kernel_shape", size, 2);
    mst_onnx_set_ints(w, made, "strides", strides, 2);
    set_pads(w, made, node, size, strides, dilations);
    return MST_OK;
}

/* ---- reductions and rows ---- */

/* The mean over rows and columns of a picture is a pooling; other reductions are in the graph's order. */
static mst_status write_reduction(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    mst_axes axes = option_axes(node, "axes");
    const int ndim = ndim_of_source(node, 0);
    const bool keep = option_bool(node, "keep_dims"), sum = strcmp(op->name, "reduce_sum") == 0;
    const bool global = ndim == 4 && axes.count == 2 && axes.axis[0] == 1 && axes.axis[1] == 2;
    const bool mean = strcmp(op->name, "reduce_mean") == 0, max = strcmp(op->name, "reduce_max") == 0;
    int64_t list[MST_MAX_NDIM];
    const char *name[2];
    if (global && (mean || max)) {
        name[0] = mst_onnx_first_name(w, node->src[0]);
        const char *pooled = keep ? output_name(w, node, true) : between(w, node, "pool");
        mst_onnx_node(w, mean ? "GlobalAveragePool" : "GlobalMaxPool", pooled, 1, name);
        if (!keep) mst_onnx_node(w, "Flatten", output_name(w, node, false), 1, &pooled);
        return MST_OK;
    }
    for (int i = 0; i < axes.count; i++) list[i] = axes.axis[i];
    name[0] = plain_source(w, node, 0);
    if (sum && axes.count) name[1] = mst_onnx_constant_list(w, "axes", list, axes.count);
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, output_name(w, node, false), sum && axes.count ? 2 : 1, name);
    if (!sum && axes.count) mst_onnx_set_ints(w, made, "axes", list, axes.count);
    mst_onnx_set_int(w, made, "keepdims", keep);
    return MST_OK;
}

static mst_status write_softmax(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name = plain_source(w, node, 0);
    mst_onnx_set_int(w, mst_onnx_node(w, op->onnx, output_name(w, node, false), 1, &name), "axis", -1);
    return MST_OK;
}

static mst_status write_layer_norm(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[3];
    (void)op;
    for (int i = 0; i < 3; i++) name[i] = plain_source(w, node, i);
    Muster__OnnxNode *made = mst_onnx_node(w, "LayerNormalization", output_name(w, node, false), 3, name);
    mst_onnx_set_int(w, made, "axis", -ndim_of_source(node, 1));
    mst_onnx_set_float(w, made, "epsilon", (float)option_double(node, "epsilon"));
    return MST_OK;
}

/* ---- shapes ---- */

static mst_status write_reshape(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    mst_shape shape = option_shape(node, "shape");
    const mst_shape src = mst_value_spec(node->src[0]).shape;
    const char *name[2] = {plain_source(w, node, 0), NULL};
    (void)op;
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dim[i] == 0) return MST_FAIL(MST_UNIMPLEMENTED, "reshape '%s': to a dimension of 0", node->name);
    /* [n, ...] to [n, ...] with all but n known: what is left over is n */
    if (src.ndim && src.dim[0] < 0 && shape.ndim && node->dst[0].shape.dim[0] < 0) shape.dim[0] = -1;
    name[1] = mst_onnx_constant_list(w, "shape", shape.dim, shape.ndim);
    mst_onnx_node(w, "Reshape", output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_transpose(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const mst_axes given = option_axes(node, "perm");
    const int ndim = ndim_of_source(node, 0);
    const char *name = plain_source(w, node, 0);
    int64_t perm[MST_MAX_NDIM];
    (void)op;
    for (int i = 0; i < ndim; i++) {
        perm[i] = given.count ? given.axis[i] : ndim - 1 - i;
        if (perm[i] < 0) perm[i] += ndim;
    }
    mst_onnx_set_ints(w, mst_onnx_node(w, "Transpose", output_name(w, node, false), 1, &name), "perm", perm, ndim);
    return MST_OK;
}

static mst_status write_concat(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    static const int64_t to_first[] = {0, 2, 3, 1}; /* where each axis of ours is in ONNX's order */
    const char *name[MOST_SOURCES];
    int64_t axis = option_int(node, "axis");
    (void)op;
    if (node->num_src > MOST_SOURCES) return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many sources", node->name);
    if (axis < 0) axis += node->dst[0].shape.ndim;
    bool first = node->dst[0].shape.ndim == 4;
    for (int i = 0; i < node->num_src; i++) first &= is_first(w, node->src[i]);
    for (int i = 0; i < node->num_src; i++)
        name[i] = first ? mst_onnx_first_name(w, node->src[i]) : plain_source(w, node, i);
    Muster__OnnxNode *made = mst_onnx_node(w, "Concat", output_name(w, node, first), (size_t)node->num_src, name);
    mst_onnx_set_int(w, made, "axis", first ? to_first[axis] : axis);
    return MST_OK;
}

static mst_status write_gather(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const char *name[2] = {plain_source(w, node, 0), plain_source(w, node, 1)};
    (void)op;
    mst_onnx_set_int(w, mst_onnx_node(w, "Gather", output_name(w, node, false), 2, name), "axis",
                     option_int(node, "axis"));
    return MST_OK;
}

static mst_status write_pad(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    static const int from_first[] = {0, 3, 1, 2};
    const mst_shape before = option_shape(node, "before"), after = option_shape(node, "after");
    const bool first = is_first(w, node->src[0]);
    const int ndim = ndim_of_source(node, 0);
    int64_t pads[2 * MST_MAX_NDIM];
    const char *name[3];
    (void)op;
    for (int i = 0; i < ndim; i++) {
        const int at = first ? from_first[i] : i;
        pads[i] = before.ndim ? before.dim[at] : 0;
        pads[ndim + i] = after.ndim ? after.dim[at] : 0;
    }
    name[0] = first ? mst_onnx_first_name(w, node->src[0]) : plain_source(w, node, 0);
    name[1] = mst_onnx_constant_list(w, "pads", pads, 2 * ndim);
    name[2] = mst_onnx_constant_number(w, "value", node->dst[0].dtype, option_double(node, "value"));
    mst_onnx_node(w, "Pad", output_name(w, node, first), 3, name);
    return MST_OK;
}

static mst_status write_expand_dims(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const int64_t axis = option_int(node, "axis");
    const char *name[2] = {plain_source(w, node, 0), mst_onnx_constant_list(w, "axes", &axis, 1)};
    (void)op;
    mst_onnx_node(w, "Unsqueeze", output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_squeeze(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const mst_axes axes = option_axes(node, "axes");
    int64_t list[MST_MAX_NDIM];
    (void)op;
    for (int i = 0; i < axes.count; i++) list[i] = axes.axis[i];
    const char *name[2] = {plain_source(w, node, 0),
                           axes.count ? mst_onnx_constant_list(w, "axes", list, axes.count) : ""};
    mst_onnx_node(w, "Squeeze", output_name(w, node, false), axes.count ? 2 : 1, name);
    return MST_OK;
}

/* ONNX rounds IN times the scale down: the least scale, not below OUT / IN, that gives OUT. */
static float scale_for(float in, float out) {
    float scale = out / in;
    while (in * scale < out || (double)in * (double)scale < (double)out) scale = nextafterf(scale, INFINITY);
    return scale;
}

static mst_status write_resize(mst_onnx_writer *w, const mst_node *node, const written_op *op) {
    const mst_axes size = option_axes(node, "size");
    const mst_shape src = mst_value_spec(node->src[0]).shape;
    const int32_t interpolation = option_int(node, "interpolation");
    const bool nearest = interpolation == MST_INTERPOLATION_NEAREST;
    const bool corners = option_bool(node, "align_corners");
    (void)op;
    if (src.dim[3] < 0 || src.dim[1] < 1 || src.dim[2] < 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "resize2d '%s': of a size that is not known", node->name);
    if (interpolation == MST_INTERPOLATION_AREA)
        return MST_FAIL(MST_UNIMPLEMENTED, "resize2d '%s': means over areas are not written as ONNX", node->name);
    float scale[4] = {1, 1, 1, 1};
    for (int i = 0; i < 2; i++)
        scale[2 + i] = scale_for((float)src.dim[1 + i], (float)size.axis[size.count > 1 ? i : 0]);
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(MST_F32, MST_SHAPE(4), scale, &tensor));
    const char *name[3] = {mst_onnx_first_name(w, node->src[0]), "",
                           mst_onnx_constant(w, "scales", tensor, MST_SHAPE(4), MST_AXES(0))};
    mst_tensor_release(tensor);
    Muster__OnnxNode *made = mst_onnx_node(w, "Resize", output_name(w, node, true), 3, name);
    mst_onnx_set_text(w, made, "mode", nearest ? "nearest" : "linear");
    mst_onnx_set_text(w, made, "coordinate_transformation_mode", corners ? "align_corners" : "half_pixel");
    if (nearest) mst_onnx_set_text(w, made, "nearest_mode", "round_prefer_ceil");
    return MST_OK;
}

/* ---- all ---- */

static const written_op ops[] = {
    {"abs", write_same, "Abs"},
    {"add", write_same, "Add"},
    {"add_n", write_same, "Sum"},
    {"avg_pool2d", write_pool, "AveragePool"},
    {"cast", write_cast, NULL},
    {"ceil", write_same, "Ceil"},
    {"clip", write_clip, NULL},
    {"concat", write_concat, NULL},
    {"conv2d", write_conv, NULL},
    {"cos", write_same, "Cos"},
    {"div", write_same, "Div"},
    {"elu", write_alpha, "Elu"},
    {"equal", write_same, "Equal"},
    {"erf", write_same, "Erf"},
    {"exp", write_same, "Exp"},
    {"expand_dims", write_expand_dims, NULL},
    {"floor", write_same, "Floor"},
    {"gather", write_gather, NULL},
    {"gelu", write_gelu, NULL},
    {"greater", write_same, "Greater"},
    {"greater_equal", write_same, "GreaterOrEqual"},
    {"identity", write_nothing, NULL},
    {"layer_norm", write_layer_norm, NULL},
    {"leaky_relu", write_alpha, "LeakyRelu"},
    {"less", write_same, "Less"},
    {"less_equal", write_same, "LessOrEqual"},
    {"log", write_same, "Log"},
    {"log_softmax", write_softmax, "LogSoftmax"},
    {"logical_and", write_same, "And"},
    {"logical_not", write_same, "Not"},
    {"logical_or", write_same, "Or"},
    {"matmul", write_matmul, NULL},
    {"max_pool2d", write_pool, "MaxPool"},
    {"maximum", write_same, "Max"},
    {"minimum", write_same, "Min"},
    {"mul", write_same, "Mul"},
    {"neg", write_same, "Neg"},
    {"not_equal", write_not_equal, NULL},
    {"pad", write_pad, NULL},
    {"pow", write_same, "Pow"},
    {"reciprocal", write_same, "Reciprocal"},
    {"reduce_max", write_reduction, "ReduceMax"},
    {"reduce_mean", write_reduction, "ReduceMean"},
    {"reduce_min", write_reduction, "ReduceMin"},
    {"reduce_prod", write_reduction, "ReduceProd"},
    {"reduce_sum", write_reduction, "ReduceSum"},
    {"relu", write_same, "Relu"},
    {"relu6", write_clip, NULL},
    {"reshape", write_reshape, NULL},
    {"resize2d", write_resize, NULL},
    {"round", write_same, "Round"},
    {"rsqrt", write_rsqrt, NULL},
    {"scale", write_scale, NULL},
    {"select", write_same, "Where"},
    {"sigmoid", write_same, "Sigmoid"},
    {"sign", write_same, "Sign"},
    {"sin", write_same, "Sin"},
    {"softmax", write_softmax, "Softmax"},
    {"softplus", write_same, "Softplus"},
    {"sqrt", write_same, "Sqrt"},
    {"square", write_square, NULL},
    {"squeeze", write_squeeze, NULL},
    {"stop_gradient", write_nothing, NULL},
    {"sub", write_same, "Sub"},
    {"swish", write_swish, NULL},
    {"tanh", write_same, "Tanh"},
    {"transpose", write_transpose, NULL},
};

mst_status mst_onnx_write_node(mst_onnx_writer *w, const mst_node *from) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].name, from->op->name) == 0) return ops[i].write(w, from, &ops[i]);
    return MST_FAIL(MST_UNIMPLEMENTED, "op %s of '%s' cannot be written as ONNX", from->op->name, from->name);
}
