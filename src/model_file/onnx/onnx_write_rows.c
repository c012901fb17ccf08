/* Writes reductions, normalizations and the like as ONNX's operators. */
#include <math.h>
#include <string.h>

#include "model_file/onnx/onnx_write_op.h"
#include "muster/ops.h"

/* ---- reductions and rows ---- */

/* Writes OUTPUT, the reduction OP_TYPE of FROM over NODE's axes. */
static void write_reduced(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *from,
                          const char *output) {
    const mst_axes axes = mst_onnx_option_axes(node, "axes");
    const bool sum = strcmp(op_type, "ReduceSum") == 0;
    int64_t list[MST_MAX_NDIM];
    const char *name[] = {from, NULL};
    for (int i = 0; i < axes.count; i++) list[i] = axes.axis[i];
    if (sum && axes.count) name[1] = mst_onnx_constant_list(w, "axes", list, axes.count);
    Muster__OnnxNode *made = mst_onnx_node(w, op_type, output, name[1] ? 2 : 1, name);
    if (!sum && axes.count) mst_onnx_set_ints(w, made, "axes", list, axes.count);
    mst_onnx_set_int(w, made, "keepdims", mst_onnx_option_bool(node, "keep_dims"));
}

/* Whether AXES are all spatial axes of a picture or volume. */
static bool is_global(mst_axes axes, int ndim) {
    bool global = mst_onnx_is_picture(ndim) && axes.count == ndim - 2;
    for (int i = 0; i < axes.count; i++) global &= axes.axis[i] == 1 + i;
    return global;
}

/* Writes a reduction. The mean over the rows and columns of a picture is a pooling. Others are in the graph's order. */
static mst_status write_reduction(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const bool keep = mst_onnx_option_bool(node, "keep_dims");
    const bool global = is_global(mst_onnx_option_axes(node, "axes"), mst_onnx_source_ndim(node, 0));
    const bool mean = strcmp(op->name, "reduce_mean") == 0, max = strcmp(op->name, "reduce_max") == 0;
    const char *name[1];
    if (global && (mean || max)) {
        name[0] = mst_onnx_first_name(w, node->src[0]);
        const char *pooled = keep ? mst_onnx_output_name(w, node, true) : mst_onnx_between(w, node, "pool");
        mst_onnx_node(w, mean ? "GlobalAveragePool" : "GlobalMaxPool", pooled, 1, name);
        if (!keep) mst_onnx_node(w, "Flatten", mst_onnx_output_name(w, node, false), 1, &pooled);
        return MST_OK;
    }
    write_reduced(w, node, op->onnx, mst_onnx_plain_source(w, node, 0), mst_onnx_output_name(w, node, false));
    return MST_OK;
}

/* Writes a reduction of bools, which are cast to numbers first. */
static mst_status write_whether(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *number = mst_onnx_cast(w, node, mst_onnx_plain_source(w, node, 0), MST_I32);
    const char *reduced = mst_onnx_between(w, node, op->onnx);
    write_reduced(w, node, op->onnx, number, reduced);
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", mst_onnx_output_name(w, node, false), 1, &reduced), "to",
                     mst_onnx_type(MST_BOOL));
    return MST_OK;
}

static mst_status write_cumsum(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[2] = {mst_onnx_plain_source(w, node, 0),
                           mst_onnx_constant_number(w, "axis", MST_I64, mst_onnx_option_int(node, "axis"))};
    (void)op;
    Muster__OnnxNode *made = mst_onnx_node(w, "CumSum", mst_onnx_output_name(w, node, false), 2, name);
    mst_onnx_set_int(w, made, "exclusive", mst_onnx_option_bool(node, "exclusive"));
    mst_onnx_set_int(w, made, "reverse", mst_onnx_option_bool(node, "reverse"));
    return MST_OK;
}

static mst_status write_softmax(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name = mst_onnx_plain_source(w, node, 0);
    mst_onnx_set_int(w, mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, false), 1, &name), "axis", -1);
    return MST_OK;
}

static mst_status write_layer_norm(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[3];
    (void)op;
    for (int i = 0; i < 3; i++) name[i] = mst_onnx_plain_source(w, node, i);
    Muster__OnnxNode *made = mst_onnx_node(w, "LayerNormalization", mst_onnx_output_name(w, node, false), 3, name);
    mst_onnx_set_int(w, made, "axis", -mst_onnx_source_ndim(node, 1));
    mst_onnx_set_float(w, made, "epsilon", (float)mst_onnx_option_double(node, "epsilon"));
    return MST_OK;
}

/* Writes a constant with one number per channel, followed by DIMS dimensions of 1. */
static const char *channel_numbers(mst_onnx_writer *w, mst_value value, int dims) {
    mst_tensor *tensor = mst_onnx_out_of(w, value)->tensor;
    mst_shape shape = {.ndim = 1 + dims};
    mst_axes perm = {.count = 1 + dims};
    shape.dim[0] = mst_tensor_count(tensor);
    for (int i = 1; i <= dims; i++) shape.dim[i] = 1, perm.axis[i] = i;
    return mst_onnx_constant(w, mst_value_name(value), tensor, shape, perm);
}

/* Writes a constant of COUNT elements, all of which are NUMBER. */
static const char *same_numbers(mst_onnx_writer *w, const char *name, mst_dtype dtype, int64_t count, double number) {
    mst_tensor *tensor;
    if (mst_tensor_create(dtype, MST_SHAPE(count), &tensor)) {
        w->no_memory = true;
        return "";
    }
    for (int64_t i = 0; i < count; i++) mst_tensor_set(tensor, i, number);
    const char *made = mst_onnx_constant(w, name, tensor, MST_SHAPE(count), MST_AXES(0));
    mst_tensor_release(tensor);
    return made;
}

/* Writes a group normalization as an InstanceNormalization whose channels are the groups. GroupNormalization is in a
 * later opset than ours, and only the opset after that has a gamma for each channel. */
static mst_status write_group_norm(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const int ndim = mst_onnx_source_ndim(node, 0), groups = mst_onnx_option_int(node, "groups");
    const mst_dtype dtype = node->dst[0].dtype;
    const int64_t list[] = {0, groups, -1};
    (void)op;
    for (int i = 1; i < 3; i++)
        if (!mst_onnx_out_of(w, node->src[i])->tensor)
            return MST_FAIL(MST_UNIMPLEMENTED, "group_norm '%s': its gamma or beta depends on an input", node->name);
    const char *src =
        mst_onnx_is_picture(ndim) ? mst_onnx_first_name(w, node->src[0]) : mst_onnx_plain_source(w, node, 0);
    const bool turn = ndim > 2 && !mst_onnx_is_picture(ndim);
    if (turn) src = mst_onnx_transposed(w, node, src, mst_onnx_first_perm(ndim));
    const char *name[3] = {mst_onnx_binary(w, node, "Reshape", src, mst_onnx_constant_list(w, "groups", list, 3)),
                           same_numbers(w, "ones", dtype, groups, 1), same_numbers(w, "zeros", dtype, groups, 0)};
    const char *normal = mst_onnx_between(w, node, "normal");
    mst_onnx_set_float(w, mst_onnx_node(w, "InstanceNormalization", normal, 3, name), "epsilon",
                       (float)mst_onnx_option_double(node, "epsilon"));
    normal = mst_onnx_binary(w, node, "Reshape", normal, mst_onnx_unary(w, node, "Shape", src));
    name[0] = mst_onnx_binary(w, node, "Mul", normal, channel_numbers(w, node->src[1], ndim - 2));
    name[1] = channel_numbers(w, node->src[2], ndim - 2);
    if (!turn) {
        mst_onnx_node(w, "Add", mst_onnx_output_name(w, node, mst_onnx_is_picture(ndim)), 2, name);
        return MST_OK;
    }
    const char *sum = mst_onnx_binary(w, node, "Add", name[0], name[1]);
    mst_onnx_same(w, mst_onnx_output_name(w, node, false), mst_onnx_transposed(w, node, sum, mst_onnx_last_perm(ndim)));
    return MST_OK;
}

/* ---- attention ---- */

/* Writes the constant [queries, keys] that hides the keys after a query. */
static const char *causal_bias(mst_onnx_writer *w, mst_dtype dtype, int64_t queries, int64_t keys) {
    mst_tensor *tensor;
    if (mst_tensor_create(dtype, MST_SHAPE(queries, keys), &tensor)) {
        w->no_memory = true;
        return "";
    }
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++) mst_tensor_set(tensor, i * keys + j, j > i ? -INFINITY : 0);
    const char *made = mst_onnx_constant(w, "causal", tensor, MST_SHAPE(queries, keys), MST_AXES(0, 1));
    mst_tensor_release(tensor);
    return made;
}

/* Writes attention as products and a softmax. Queries of heads that share a head of keys are rows of one matrix. */
static mst_status write_attention(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_shape query = mst_value_spec(node->src[0]).shape, key = mst_value_spec(node->src[1]).shape;
    const mst_shape dst = node->dst[0].shape;
    const bool causal = mst_onnx_option_bool(node, "causal"), grouped = query.dim[1] != key.dim[1];
    double scale = mst_onnx_option_double(node, "scale");
    (void)op;
    if (node->num_src > 3)
        return MST_FAIL(MST_UNIMPLEMENTED, "scaled_dot_product_attention '%s': a mask is not written", node->name);
    for (int i = 1; i < 4; i++)
        if (query.dim[i] < 1 || key.dim[i] < 1 || dst.dim[i] < 1)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "scaled_dot_product_attention '%s': heads, queries, keys and depth must be known",
                            node->name);
    if (scale == 0) scale = 1 / sqrt((double)query.dim[3]);
    const int64_t rows = query.dim[1] / key.dim[1] * query.dim[2];
    const int64_t matrix[] = {-1, key.dim[1], rows, query.dim[3]},
                  whole[] = {-1, query.dim[1], query.dim[2], key.dim[2]};
    const int64_t weights_of[] = {-1, key.dim[1], rows, key.dim[2]},
                  result[] = {-1, dst.dim[1], dst.dim[2], dst.dim[3]};
    const char *q = mst_onnx_with_number(w, node, "Mul", mst_onnx_plain_source(w, node, 0), scale);
    if (grouped) q = mst_onnx_binary(w, node, "Reshape", q, mst_onnx_constant_list(w, "rows", matrix, 4));
    const char *k = mst_onnx_transposed(w, node, mst_onnx_plain_source(w, node, 1), MST_AXES(0, 1, 3, 2));
    const char *weights = mst_onnx_binary(w, node, "MatMul", q, k);
    if (grouped) weights = mst_onnx_binary(w, node, "Reshape", weights, mst_onnx_constant_list(w, "heads", whole, 4));
    if (causal)
        weights =
            mst_onnx_binary(w, node, "Add", weights, causal_bias(w, node->dst[0].dtype, query.dim[2], key.dim[2]));
    const char *softmax = mst_onnx_between(w, node, "softmax");
    mst_onnx_set_int(w, mst_onnx_node(w, "Softmax", softmax, 1, &weights), "axis", -1);
    if (grouped)
        softmax = mst_onnx_binary(w, node, "Reshape", softmax, mst_onnx_constant_list(w, "rows", weights_of, 4));
    const char *mean = mst_onnx_binary(w, node, "MatMul", softmax, mst_onnx_plain_source(w, node, 2));
    if (grouped) mean = mst_onnx_binary(w, node, "Reshape", mean, mst_onnx_constant_list(w, "heads", result, 4));
    mst_onnx_same(w, mst_onnx_output_name(w, node, false), mean);
    return MST_OK;
}

/* ---- all ---- */

const mst_onnx_written mst_onnx_written_rows[] = {
    {"cumsum", write_cumsum, NULL},
    {"group_norm", write_group_norm, NULL},
    {"layer_norm", write_layer_norm, NULL},
    {"log_softmax", write_softmax, "LogSoftmax"},
    {"reduce_all", write_whether, "ReduceMin"},
    {"reduce_any", write_whether, "ReduceMax"},
    {"reduce_max", write_reduction, "ReduceMax"},
    {"reduce_mean", write_reduction, "ReduceMean"},
    {"reduce_min", write_reduction, "ReduceMin"},
    {"reduce_prod", write_reduction, "ReduceProd"},
    {"reduce_sum", write_reduction, "ReduceSum"},
    {"scaled_dot_product_attention", write_attention, NULL},
    {"softmax", write_softmax, "Softmax"},
    {NULL, NULL, NULL},
};
