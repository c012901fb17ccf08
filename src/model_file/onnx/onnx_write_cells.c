/* Writes recurrent cells as ONNX's operators. ONNX's cells contain the product of the inputs with the kernel, which is
 * a separate node here. So the written cell uses the sources of that node. */
#include <string.h>

#include "model_file/onnx/onnx_write_op.h"
#include "muster/ops.h"

/* ---- what a cell reads ---- */

static bool is_op(mst_value value, const char *name) {
    return strcmp(value.node->op->name, name) == 0;
}

static mst_value through_reshape(mst_value value) {
    return is_op(value, "reshape") ? value.node->src[0] : value;
}

static bool is_cell(const mst_node *node) {
    for (const mst_onnx_written *op = mst_onnx_written_cells; op->name; op++)
        if (strcmp(op->name, node->op->name) == 0) return true;
    return false;
}

/* Recognizes reshape(reshape(x) kernel + bias), where the reshapes and the bias are optional. */
bool mst_onnx_gates_of(const mst_node *node, mst_onnx_gates *out) {
    if (!is_cell(node)) return false;
    mst_value value = through_reshape(node->src[0]);
    *out = (mst_onnx_gates){.bias = MST_NONE};
    if (is_op(value, "add")) {
        out->bias = value.node->src[1];
        value = value.node->src[0];
    }
    if (!is_op(value, "matmul") || mst_onnx_option_bool(value.node, "transpose_a") ||
        mst_onnx_option_bool(value.node, "transpose_b"))
        return false;
    out->x = value.node->src[0];
    if (mst_value_spec(out->x).shape.ndim == 2) out->x = through_reshape(out->x);
    out->kernel = value.node->src[1];
    return mst_value_spec(out->x).shape.ndim == 3 && mst_value_spec(out->kernel).shape.ndim == 2 &&
           (mst_value_is_none(out->bias) || mst_value_spec(out->bias).shape.ndim == 1);
}

/* ---- weights ---- */

enum { MOST_GATES = 4 };

/* ORDER[i] is the gate of Muster that is gate I of ONNX. For LSTM Muster has i, f, c, o and ONNX i, o, f, c. For GRU
 * both have z, r, h. */
static void order_of_gates(int gates, int *order) {
    static const int lstm[] = {0, 3, 1, 2};
    for (int i = 0; i < gates; i++) order[i] = gates == MOST_GATES ? lstm[i] : i;
}

/* Writes a kernel [rows, gates * units] as [1, gates * units, rows]. */
static const char *kernel_of(mst_onnx_writer *w, mst_value value, int gates) {
    mst_tensor *from = mst_onnx_out_of(w, value)->tensor, *to;
    const mst_shape shape = mst_tensor_shape(from);
    const int64_t rows = shape.dim[0], wide = shape.dim[1], units = wide / gates;
    int order[MOST_GATES];
    order_of_gates(gates, order);
    if (mst_tensor_create(mst_tensor_dtype(from), shape, &to)) {
        w->no_memory = true;
        return "";
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < wide; i++)
            mst_tensor_set(to, i * rows + r, mst_tensor_get(from, r * wide + order[i / units] * units + i % units));
    const char *name = mst_onnx_constant(w, mst_value_name(value), to, MST_SHAPE(1, wide, rows), MST_AXES(0, 1, 2));
    mst_tensor_release(to);
    return name;
}

/* Writes the two biases BIAS, side by side, as [1, 2 * gates * units]. A bias that is MST_NONE is 0. */
static const char *biases_of(mst_onnx_writer *w, const mst_value bias[2], mst_dtype dtype, int gates, int64_t units) {
    const int64_t wide = gates * units;
    mst_tensor *to;
    int order[MOST_GATES];
    order_of_gates(gates, order);
    if (mst_tensor_create(dtype, MST_SHAPE(2 * wide), &to)) {
        w->no_memory = true;
        return "";
    }
    for (int k = 0; k < 2; k++) {
        const mst_tensor *from = mst_value_is_none(bias[k]) ? NULL : mst_onnx_out_of(w, bias[k])->tensor;
        for (int64_t i = 0; from && i < wide; i++)
            mst_tensor_set(to, k * wide + i, mst_tensor_get(from, order[i / units] * units + i % units));
    }
    const char *name = mst_onnx_constant(w, "biases", to, MST_SHAPE(1, 2 * wide), MST_AXES(0, 1));
    mst_tensor_release(to);
    return name;
}

/* ---- nodes ---- */

/* Sets the activations: the recurrent one for the gates, and the other one for the state, which an LSTM uses twice. */
static void set_activations(mst_onnx_writer *w, Muster__OnnxNode *made, const mst_node *node, int gates) {
    static const char *const names[] = {[MST_CELL_TANH] = "Tanh",
                                        [MST_CELL_SIGMOID] = "Sigmoid",
                                        [MST_CELL_RELU] = "Relu",
                                        [MST_CELL_LINEAR] = "Affine"};
    const int32_t state = mst_onnx_option_int(node, "activation");
    const int32_t gate = gates > 1 ? mst_onnx_option_int(node, "recurrent_activation") : state;
    const int32_t all[] = {gate, state, state};
    const int count = gates == MOST_GATES ? 3 : gates > 1 ? 2 : 1;
    const char *list[3];
    float ones[3] = {1, 1, 1}, zeros[3] = {0};
    int linear = 0;
    for (int i = 0; i < count; i++) {
        list[i] = names[all[i]];
        linear += all[i] == MST_CELL_LINEAR;
    }
    mst_onnx_set_texts(w, made, "activations", list, count);
    if (!linear) return;
    mst_onnx_set_floats(w, made, "activation_alpha", ones, linear);
    mst_onnx_set_floats(w, made, "activation_beta", zeros, linear);
}

static mst_status check_cell(mst_onnx_writer *w, const mst_node *node, bool has_gates, const mst_onnx_gates *g,
                             int num_src) {
    if (node->num_src > num_src)
        return MST_FAIL(MST_UNIMPLEMENTED, "%s '%s': a mask of its steps is not written as ONNX", node->op->name,
                        node->name);
    if (!has_gates)
        return MST_FAIL(MST_UNIMPLEMENTED, "%s '%s': its source is no product with a kernel", node->op->name,
                        node->name);
    bool constant =
        mst_onnx_out_of(w, g->kernel)->tensor && (mst_value_is_none(g->bias) || mst_onnx_out_of(w, g->bias)->tensor);
    for (int i = 1; i < num_src; i++) constant = constant && mst_onnx_out_of(w, node->src[i])->tensor;
    if (constant) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "%s '%s': its weights depend on an input", node->op->name, node->name);
}

/* Writes a cell. In ONNX its source is [steps, n, features], and its result is [steps, directions, n, units]: a Squeeze
 * removes the axis of the directions, which is 1. */
static mst_status write_cell(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const int gates = strcmp(op->name, "lstm") == 0 ? MOST_GATES : strcmp(op->name, "gru") == 0 ? 3 : 1;
    const bool has_bias = gates == 3;
    const int64_t units = mst_value_spec(node->src[1]).shape.dim[0], direction = 1;
    mst_onnx_gates g = {.bias = MST_NONE};
    const bool has_gates = mst_onnx_gates_of(node, &g);
    MST_TRY(check_cell(w, node, has_gates, &g, has_bias ? 3 : 2));
    const mst_value bias[2] = {g.bias, has_bias ? node->src[2] : MST_NONE};
    const char *name[4] = {mst_onnx_transposed(w, node, mst_onnx_plain_name(w, g.x), MST_AXES(1, 0, 2)),
                           kernel_of(w, g.kernel, gates), kernel_of(w, node->src[1], gates),
                           biases_of(w, bias, node->dst[0].dtype, gates, units)};
    const char *steps = mst_onnx_between(w, node, "steps");
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, steps, 4, name);
    mst_onnx_set_int(w, made, "hidden_size", units);
    mst_onnx_set_text(w, made, "direction", mst_onnx_option_bool(node, "reverse") ? "reverse" : "forward");
    set_activations(w, made, node, gates);
    if (gates == 3) mst_onnx_set_int(w, made, "linear_before_reset", 1);
    steps = mst_onnx_binary(w, node, "Squeeze", steps, mst_onnx_constant_list(w, "direction", &direction, 1));
    mst_onnx_same(w, mst_onnx_output_name(w, node, false), mst_onnx_transposed(w, node, steps, MST_AXES(1, 0, 2)));
    return MST_OK;
}

const mst_onnx_written mst_onnx_written_cells[] = {
    {"gru", write_cell, "GRU"},
    {"lstm", write_cell, "LSTM"},
    {"simple_rnn", write_cell, "RNN"},
    {NULL, NULL, NULL},
};
