/* Writes ops of shapes and indices as ONNX's operators. */
#include "model_file/onnx/onnx_write_op.h"
#include "muster/ops.h"

/* ---- shapes ---- */

static mst_status write_reshape(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    mst_shape shape = mst_onnx_option_shape(node, "shape");
    const mst_shape src = mst_value_spec(node->src[0]).shape;
    const char *name[2] = {mst_onnx_plain_source(w, node, 0), NULL};
    (void)op;
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dim[i] == 0) return MST_FAIL(MST_UNIMPLEMENTED, "reshape '%s': to a dimension of 0", node->name);
    /* [n, ...] to [n, ...], where all sizes except n are known: -1 stands for n */
    if (src.ndim && src.dim[0] < 0 && shape.ndim && node->dst[0].shape.dim[0] < 0) shape.dim[0] = -1;
    name[1] = mst_onnx_constant_list(w, "shape", shape.dim, shape.ndim);
    mst_onnx_node(w, "Reshape", mst_onnx_output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_transpose(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_axes given = mst_onnx_option_axes(node, "perm");
    const int ndim = mst_onnx_source_ndim(node, 0);
    const char *name = mst_onnx_plain_source(w, node, 0);
    int64_t perm[MST_MAX_NDIM];
    (void)op;
    for (int i = 0; i < ndim; i++) {
        perm[i] = given.count ? given.axis[i] : ndim - 1 - i;
        if (perm[i] < 0) perm[i] += ndim;
    }
    mst_onnx_set_ints(w, mst_onnx_node(w, "Transpose", mst_onnx_output_name(w, node, false), 1, &name), "perm", perm,
                      ndim);
    return MST_OK;
}

static mst_status write_concat(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    int64_t axis = mst_onnx_option_int(node, "axis");
    (void)op;
    if (node->num_src > MST_ONNX_MOST_SOURCES)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many sources", node->name);
    const int ndim = node->dst[0].shape.ndim;
    bool first = mst_onnx_is_picture(ndim);
    axis = mst_onnx_from_front(axis, ndim);
    for (int i = 0; i < node->num_src; i++) first &= mst_onnx_is_first(w, node->src[i]);
    for (int i = 0; i < node->num_src; i++)
        name[i] = first ? mst_onnx_first_name(w, node->src[i]) : mst_onnx_plain_source(w, node, i);
    Muster__OnnxNode *made =
        mst_onnx_node(w, "Concat", mst_onnx_output_name(w, node, first), (size_t)node->num_src, name);
    mst_onnx_set_int(w, made, "axis", first ? mst_onnx_last_perm(ndim).axis[axis] : axis);
    return MST_OK;
}

static mst_status write_gather(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[2] = {mst_onnx_plain_source(w, node, 0), mst_onnx_plain_source(w, node, 1)};
    (void)op;
    mst_onnx_set_int(w, mst_onnx_node(w, "Gather", mst_onnx_output_name(w, node, false), 2, name), "axis",
                     mst_onnx_option_int(node, "axis"));
    return MST_OK;
}

static mst_status write_pad(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_shape before = mst_onnx_option_shape(node, "before"), after = mst_onnx_option_shape(node, "after");
    const bool first = mst_onnx_is_first(w, node->src[0]);
    const int ndim = mst_onnx_source_ndim(node, 0);
    int64_t pads[2 * MST_MAX_NDIM];
    const char *name[3];
    (void)op;
    for (int i = 0; i < ndim; i++) {
        const int at = first ? mst_onnx_first_perm(ndim).axis[i] : i;
        pads[i] = before.ndim ? before.dim[at] : 0;
        pads[ndim + i] = after.ndim ? after.dim[at] : 0;
    }
    name[0] = first ? mst_onnx_first_name(w, node->src[0]) : mst_onnx_plain_source(w, node, 0);
    name[1] = mst_onnx_constant_list(w, "pads", pads, 2 * ndim);
    name[2] = mst_onnx_constant_number(w, "value", node->dst[0].dtype, mst_onnx_option_double(node, "value"));
    mst_onnx_node(w, "Pad", mst_onnx_output_name(w, node, first), 3, name);
    return MST_OK;
}

static mst_status write_expand_dims(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const int64_t axis = mst_onnx_option_int(node, "axis");
    const char *name[2] = {mst_onnx_plain_source(w, node, 0), mst_onnx_constant_list(w, "axes", &axis, 1)};
    (void)op;
    mst_onnx_node(w, "Unsqueeze", mst_onnx_output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_squeeze(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_axes axes = mst_onnx_option_axes(node, "axes");
    int64_t list[MST_MAX_NDIM];
    (void)op;
    for (int i = 0; i < axes.count; i++) list[i] = axes.axis[i];
    const char *name[2] = {mst_onnx_plain_source(w, node, 0),
                           axes.count ? mst_onnx_constant_list(w, "axes", list, axes.count) : ""};
    mst_onnx_node(w, "Squeeze", mst_onnx_output_name(w, node, false), axes.count ? 2 : 1, name);
    return MST_OK;
}

/* ---- parts ---- */

static mst_status write_slice(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_shape begin = mst_onnx_option_shape(node, "begin"), size = mst_onnx_option_shape(node, "size");
    int64_t end[MST_MAX_NDIM];
    (void)op;
    for (int i = 0; i < size.ndim; i++) end[i] = size.dim[i] < 0 ? INT64_MAX : begin.dim[i] + size.dim[i];
    const char *name[3] = {mst_onnx_plain_source(w, node, 0), mst_onnx_constant_list(w, "begin", begin.dim, begin.ndim),
                           mst_onnx_constant_list(w, "end", end, size.ndim)};
    mst_onnx_node(w, "Slice", mst_onnx_output_name(w, node, false), 3, name);
    return MST_OK;
}

/* Writes a Slice along all dimensions. LIST has its begins, ends, axes and steps. Without a begin, the slice begins at
 * the first element, or with a negative stride at the last; without an end, it ends at the other one. Dimensions that
 * are indexed are removed by a Squeeze. */
static mst_status write_strided_slice(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_axes begin = mst_onnx_option_axes(node, "begin"), end = mst_onnx_option_axes(node, "end");
    const mst_axes strides = mst_onnx_option_axes(node, "strides");
    const int begins = mst_onnx_option_int(node, "begin_mask"), ends = mst_onnx_option_int(node, "end_mask");
    const int shrinks = mst_onnx_option_int(node, "shrink_mask"), ndim = mst_onnx_source_ndim(node, 0);
    int64_t list[4][MST_MAX_NDIM], gone[MST_MAX_NDIM];
    int num_gone = 0;
    (void)op;
    for (int i = 0; i < ndim; i++) {
        const int64_t stride = i < strides.count ? strides.axis[i] : 1;
        const bool from_end = i >= begin.count || begins >> i & 1, to_end = i >= end.count || ends >> i & 1;
        list[0][i] = !from_end ? begin.axis[i] : stride > 0 ? 0 : INT64_MAX;
        list[1][i] = !to_end ? end.axis[i] : stride > 0 ? INT64_MAX : INT64_MIN;
        list[2][i] = i;
        list[3][i] = stride;
        if (!(shrinks >> i & 1)) continue;
        list[1][i] = list[0][i] == -1 ? INT64_MAX : list[0][i] + 1;
        list[3][i] = 1;
        gone[num_gone++] = i;
    }
    const char *name[5] = {mst_onnx_plain_source(w, node, 0)};
    for (int i = 0; i < 4; i++) name[1 + i] = mst_onnx_constant_list(w, "part", list[i], ndim);
    const char *output = mst_onnx_output_name(w, node, false),
               *part = num_gone ? mst_onnx_between(w, node, "part") : output;
    mst_onnx_node(w, "Slice", part, 5, name);
    if (num_gone)
        mst_onnx_node(w, "Squeeze", output, 2,
                      (const char *[]){part, mst_onnx_constant_list(w, "axes", gone, num_gone)});
    return MST_OK;
}

/* Splits source 0 into equal parts. PART has their names, those of NODE's outputs or of intermediate values. */
static void write_parts(mst_onnx_writer *w, const mst_node *node, int64_t axis, const char **part) {
    const char *src = mst_onnx_plain_source(w, node, 0);
    Muster__OnnxNode *made = mst_onnx_node(w, "Split", part[0], 1, &src);
    mst_onnx_set_outputs(w, made, part, node->num_dst);
    mst_onnx_set_int(w, made, "axis", axis);
}

static mst_status write_split(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *part[MST_ONNX_MOST_SOURCES] = {NULL};
    (void)op;
    if (node->num_dst > MST_ONNX_MOST_SOURCES)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many parts", node->name);
    for (int i = 0; i < node->num_dst; i++) part[i] = mst_onnx_output_name_of(w, node, i);
    write_parts(w, node, mst_onnx_option_int(node, "axis"), part);
    return MST_OK;
}

static mst_status write_unstack(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *part[MST_ONNX_MOST_SOURCES] = {NULL};
    const int64_t axis = mst_onnx_option_int(node, "axis");
    (void)op;
    if (node->num_dst > MST_ONNX_MOST_SOURCES)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many parts", node->name);
    for (int i = 0; i < node->num_dst; i++) part[i] = mst_onnx_between(w, node, "part");
    write_parts(w, node, axis, part);
    const char *axes = mst_onnx_constant_list(w, "axes", &axis, 1);
    for (int i = 0; i < node->num_dst; i++)
        mst_onnx_node(w, "Squeeze", mst_onnx_output_name_of(w, node, i), 2, (const char *[]){part[i], axes});
    return MST_OK;
}

static mst_status write_stack(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *part[MST_ONNX_MOST_SOURCES] = {NULL};
    const int64_t axis = mst_onnx_option_int(node, "axis");
    (void)op;
    if (node->num_src > MST_ONNX_MOST_SOURCES)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many sources", node->name);
    const char *axes = mst_onnx_constant_list(w, "axes", &axis, 1);
    for (int i = 0; i < node->num_src; i++)
        part[i] = mst_onnx_binary(w, node, "Unsqueeze", mst_onnx_plain_source(w, node, i), axes);
    mst_onnx_set_int(w, mst_onnx_node(w, "Concat", mst_onnx_output_name(w, node, false), (size_t)node->num_src, part),
                     "axis", axis);
    return MST_OK;
}

/* ---- sizes ---- */

static mst_status write_tile(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_shape times = mst_onnx_option_shape(node, "multiples");
    const char *name[2] = {mst_onnx_plain_source(w, node, 0),
                           mst_onnx_constant_list(w, "times", times.dim, times.ndim)};
    (void)op;
    mst_onnx_node(w, "Tile", mst_onnx_output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_broadcast_to(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    mst_shape shape = mst_onnx_option_shape(node, "shape");
    (void)op;
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dim[i] < 0) shape.dim[i] = 1; /* Expand keeps a larger size */
    const char *name[2] = {mst_onnx_plain_source(w, node, 0),
                           mst_onnx_constant_list(w, "shape", shape.dim, shape.ndim)};
    mst_onnx_node(w, "Expand", mst_onnx_output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_like(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[2] = {mst_onnx_plain_source(w, node, 0),
                           mst_onnx_unary(w, node, "Shape", mst_onnx_plain_source(w, node, 1))};
    mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, false), 2, name);
    return MST_OK;
}

static mst_status write_dim_size(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const int64_t axis = mst_onnx_from_front(mst_onnx_option_int(node, "axis"), mst_onnx_source_ndim(node, 0));
    const char *sizes = mst_onnx_unary(w, node, "Shape", mst_onnx_plain_source(w, node, 0));
    (void)op;
    const char *size =
        mst_onnx_binary(w, node, "Gather", sizes, mst_onnx_constant_number(w, "axis", MST_I64, (double)axis));
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", mst_onnx_output_name(w, node, false), 1, &size), "to",
                     mst_onnx_type(node->dst[0].dtype));
    return MST_OK;
}

/* ---- all ---- */

const mst_onnx_written mst_onnx_written_shapes[] = {
    {"broadcast_like", write_like, "Expand"},
    {"broadcast_to", write_broadcast_to, NULL},
    {"concat", write_concat, NULL},
    {"dim_size", write_dim_size, NULL},
    {"expand_dims", write_expand_dims, NULL},
    {"gather", write_gather, NULL},
    {"pad", write_pad, NULL},
    {"reshape", write_reshape, NULL},
    {"reshape_like", write_like, "Reshape"},
    {"slice", write_slice, NULL},
    {"split", write_split, NULL},
    {"squeeze", write_squeeze, NULL},
    {"stack", write_stack, NULL},
    {"strided_slice", write_strided_slice, NULL},
    {"tile", write_tile, NULL},
    {"transpose", write_transpose, NULL},
    {"unstack", write_unstack, NULL},
    {NULL, NULL, NULL},
};
