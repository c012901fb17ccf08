/* Writes ops that search, sort and count as ONNX's operators. */
#include <string.h>

#include "model_file/onnx/onnx_write_op.h"
#include "muster/ops.h"

static mst_status write_arg_search(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *src = mst_onnx_plain_source(w, node, 0), *found = mst_onnx_between(w, node, "found");
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, found, 1, &src);
    mst_onnx_set_int(w, made, "axis", mst_onnx_option_int(node, "axis"));
    mst_onnx_set_int(w, made, "keepdims", 0);
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", mst_onnx_output_name(w, node, false), 1, &found), "to",
                     mst_onnx_type(node->dst[0].dtype));
    return MST_OK;
}

/* Writes top_k, and sort, which is top_k with all elements of a row. */
static mst_status write_top_k(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const bool sorts = strcmp(op->name, "sort") == 0;
    const mst_shape shape = node->dst[0].shape;
    const int64_t k = shape.dim[shape.ndim - 1];
    if (k < 0) return MST_FAIL(MST_UNIMPLEMENTED, "sort '%s': of rows whose length is not known", node->name);
    const char *name[2] = {mst_onnx_plain_source(w, node, 0), mst_onnx_constant_list(w, "k", &k, 1)};
    const char *output[2] = {mst_onnx_output_name_of(w, node, 0), mst_onnx_between(w, node, "places")};
    Muster__OnnxNode *made = mst_onnx_node(w, "TopK", output[0], 2, name);
    mst_onnx_set_outputs(w, made, output, 2);
    mst_onnx_set_int(w, made, "largest", !sorts || mst_onnx_option_bool(node, "descending"));
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", mst_onnx_output_name_of(w, node, 1), 1, output + 1), "to",
                     mst_onnx_type(node->dst[1].dtype));
    return MST_OK;
}

/* Writes one_hot as a comparison with all numbers. ONNX's OneHot differs: it counts negative indices from the end. */
static mst_status write_one_hot(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_shape shape = node->dst[0].shape;
    const mst_dtype dtype = node->dst[0].dtype;
    const int64_t depth = shape.dim[shape.ndim - 1], last = -1;
    mst_tensor *numbers;
    (void)op;
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(depth), &numbers));
    for (int64_t i = 0; i < depth; i++) mst_tensor_set(numbers, i, (double)i);
    const char *all = mst_onnx_constant(w, "numbers", numbers, MST_SHAPE(depth), MST_AXES(0));
    mst_tensor_release(numbers);
    const char *index = mst_onnx_cast(w, node, mst_onnx_plain_source(w, node, 0), MST_I64);
    index = mst_onnx_binary(w, node, "Unsqueeze", index, mst_onnx_constant_list(w, "last", &last, 1));
    const char *name[3] = {mst_onnx_binary(w, node, "Equal", index, all),
                           mst_onnx_constant_number(w, "on", dtype, mst_onnx_option_double(node, "on_value")),
                           mst_onnx_constant_number(w, "off", dtype, mst_onnx_option_double(node, "off_value"))};
    mst_onnx_node(w, "Where", mst_onnx_output_name(w, node, false), 3, name);
    return MST_OK;
}

const mst_onnx_written mst_onnx_written_indices[] = {
    {"argmax", write_arg_search, "ArgMax"}, {"argmin", write_arg_search, "ArgMin"},
    {"one_hot", write_one_hot, NULL},       {"sort", write_top_k, NULL},
    {"top_k", write_top_k, NULL},           {NULL, NULL, NULL},
};
