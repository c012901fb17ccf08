/* Reads the recurrent operators of ONNX. */
#include <string.h>

#include "layer/initializer/initializer.h"
#include "model_file/onnx/onnx_cells.h"

/* ---- attributes ---- */

static const char *const activations[] = {
    [MST_CELL_TANH] = "Tanh", [MST_CELL_SIGMOID] = "Sigmoid", [MST_CELL_RELU] = "Relu", [MST_CELL_LINEAR] = "Affine"};

static mst_status activation_of(const ProtobufCBinaryData *text, mst_cell_activation *out) {
    for (int i = MST_CELL_TANH; i <= MST_CELL_LINEAR; i++)
        if (text->len == strlen(activations[i]) && memcmp(text->data, activations[i], text->len) == 0) {
            *out = (mst_cell_activation)i;
            return MST_OK;
        }
    return MST_FAIL(MST_UNIMPLEMENTED, "its activation '%.*s' is not supported", text->len < 20 ? (int)text->len : 20,
                    (const char *)text->data);
}

/* Checks that all numbers of the attribute NAME are WANT. They are parameters of activations: Affine is supported only
 * as the identity. */
static mst_status check_numbers(mst_onnx_call *c, const char *name, float want) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_FLOATS);
    for (size_t i = 0; a && i < a->n_floats; i++)
        if (a->floats[i] != want)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "its attribute %s must be %g everywhere: other numbers are not supported", name,
                            (double)want);
    return MST_OK;
}

static mst_status read_activations(mst_onnx_call *c, mst_onnx_cell *out) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, "activations", MST_ONNX_STRINGS);
    const size_t count = (size_t)(out->functions * out->directions);
    for (int i = 0; i < out->functions * out->directions; i++)
        out->activation[i] = out->functions > 1 && i % out->functions == 0 ? MST_CELL_SIGMOID : MST_CELL_TANH;
    if (a && a->n_strings && a->n_strings != count)
        return MST_FAIL(MST_INVALID, "its attribute activations has %zu names, and must have %zu", a->n_strings, count);
    for (size_t i = 0; a && i < a->n_strings; i++) MST_TRY(activation_of(&a->strings[i], &out->activation[i]));
    MST_TRY(check_numbers(c, "activation_alpha", 1));
    MST_TRY(check_numbers(c, "activation_beta", 0));
    for (int i = 0; i < out->directions && out->functions == 3; i++)
        if (out->activation[3 * i + 1] != out->activation[3 * i + 2])
            return MST_FAIL(MST_UNIMPLEMENTED, "its activations g and h differ, which is not supported");
    return MST_OK;
}

static mst_status read_direction(mst_onnx_call *c, mst_onnx_cell *out) {
    const bool both = mst_onnx_is(c, "direction", "bidirectional", "forward");
    out->directions = both ? MST_ONNX_MOST_DIRECTIONS : 1;
    out->backwards = mst_onnx_is(c, "direction", "reverse", "forward");
    if (both || out->backwards || mst_onnx_is(c, "direction", "forward", "forward")) return MST_OK;
    return MST_FAIL(MST_INVALID, "its direction is not supported: forward, reverse and bidirectional are");
}

mst_status mst_onnx_cell_read(mst_onnx_call *c, int gates, mst_onnx_cell *out) {
    *out = (mst_onnx_cell){.gates = gates,
                           .functions = gates == MST_ONNX_LSTM_GATES  ? 3
                                        : gates == MST_ONNX_GRU_GATES ? 2
                                                                      : 1};
    MST_TRY(read_direction(c, out));
    MST_TRY(read_activations(c, out));
    out->rows_first = mst_onnx_int(c, "layout", 0) != 0;
    out->units = mst_onnx_int(c, "hidden_size", -1);
    if (gates == MST_ONNX_GRU_GATES && mst_onnx_int(c, "linear_before_reset", 0) == 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "linear_before_reset = 0 is not supported: 1, as PyTorch exports it, is");
    if (gates == MST_ONNX_LSTM_GATES && mst_onnx_int(c, "input_forget", 0))
        return MST_FAIL(MST_UNIMPLEMENTED, "input_forget, which couples two gates, is not supported");
    return MST_OK;
}

mst_status mst_onnx_cell_set_units(mst_onnx_cell *cell, int64_t units) {
    const int64_t given = cell->units == -1 ? units : cell->units;
    if (units < 1 || units > INT32_MAX || given != units)
        return MST_FAIL(MST_INVALID, "its hidden_size is %lld, and its weights have %lld units: they must be equal",
                        (long long)given, (long long)units);
    cell->units = units;
    return MST_OK;
}

mst_status mst_onnx_cell_refuse(size_t i) {
    static const char *const names[] = {"lengths of sequences", "a first state", "a first memory", "peepholes"};
    return MST_FAIL(MST_UNIMPLEMENTED, "it has %s, which is not supported", names[i - MST_ONNX_LENGTHS]);
}

int mst_onnx_cell_gate(int gates, int i) {
    static const int lstm[] = {0, 2, 3, 1};
    return gates == MST_ONNX_LSTM_GATES ? lstm[i] : i;
}

/* ---- inputs ---- */

static mst_status check_shape(const mst_onnx_call *c, size_t i, const char *what, mst_shape want) {
    const mst_shape shape = mst_onnx_shape(c, i);
    bool good = shape.ndim == want.ndim;
    for (int k = 0; good && k < want.ndim; k++) good = want.dim[k] < 0 || shape.dim[k] == want.dim[k];
    return good ? MST_OK
                : MST_FAIL(MST_INVALID,
                           "its %s have a shape that does not fit its direction, its hidden_size and its input", what);
}

static mst_status check_inputs(mst_onnx_call *c, mst_onnx_cell *out) {
    for (size_t i = 0; i <= MST_ONNX_RECURRENT; i++)
        if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    for (size_t i = MST_ONNX_LENGTHS; i <= MST_ONNX_PEEPHOLES; i++)
        if (mst_onnx_has(c, i) && (i == MST_ONNX_LENGTHS || !mst_onnx_is_zero(c, i))) return mst_onnx_cell_refuse(i);
    for (size_t i = 0; i <= MST_ONNX_RECURRENT; i++)
        if (mst_onnx_ndim(c, i) != 3)
            return MST_FAIL(MST_INVALID, "its input %zu has %d dimensions, and must have three", i,
                            mst_onnx_ndim(c, i));
    MST_TRY(mst_onnx_cell_set_units(out, mst_onnx_shape(c, MST_ONNX_RECURRENT).dim[2]));
    const int64_t units = out->units, wide = out->gates * units, features = mst_onnx_shape(c, 0).dim[2];
    MST_TRY(check_shape(c, MST_ONNX_KERNEL, "weights", MST_SHAPE(out->directions, wide, features)));
    MST_TRY(check_shape(c, MST_ONNX_RECURRENT, "recurrent weights", MST_SHAPE(out->directions, wide, units)));
    return mst_onnx_has(c, MST_ONNX_BIAS)
               ? check_shape(c, MST_ONNX_BIAS, "biases", MST_SHAPE(out->directions, 2 * wide))
               : MST_OK;
}

/* The elements BEGIN to BEGIN + COUNT - 1 along AXIS. */
static mst_value cut_axis(mst_value x, int axis, int64_t begin, int64_t count) {
    mst_shape from = {.ndim = mst_value_spec(x).shape.ndim}, size = from;
    for (int i = 0; i < from.ndim; i++) size.dim[i] = -1;
    from.dim[axis] = begin;
    size.dim[axis] = count;
    return mst_slice(x, from, size);
}

/* Reorders the gates along AXIS from ONNX's order i, o, f, c to Muster's order i, f, c, o. */
static mst_value in_order_of_gates(const mst_onnx_cell *v, mst_value x, int axis) {
    mst_value part[MST_ONNX_LSTM_GATES];
    if (v->gates != MST_ONNX_LSTM_GATES) return x;
    for (int i = 0; i < MST_ONNX_LSTM_GATES; i++)
        part[i] = cut_axis(x, axis, mst_onnx_cell_gate(v->gates, i) * v->units, v->units);
    return mst_concat(part, MST_ONNX_LSTM_GATES, axis);
}

/* The kernel in input I, of one direction: [rows, gates * units]. */
static mst_status kernel_of(mst_onnx_call *c, const mst_onnx_cell *v, size_t i, int direction, mst_value *out) {
    mst_value turned;
    MST_TRY(mst_onnx_turned(c, i, MST_AXES(0, 2, 1), &turned));
    *out = in_order_of_gates(v, mst_squeeze(cut_axis(turned, 0, direction, 1), MST_AXES(0)), 1);
    return MST_OK;
}

/* The bias of one direction. BEHIND: the bias of the recurrent product, which is the second half of the input. MST_NONE
 * if there is no bias. */
static mst_status bias_of(mst_onnx_call *c, const mst_onnx_cell *v, int direction, bool behind, mst_value *out) {
    const int64_t wide = v->gates * v->units;
    mst_value all;
    *out = MST_NONE;
    if (!mst_onnx_has(c, MST_ONNX_BIAS)) return MST_OK;
    MST_TRY(mst_onnx_plain(c, MST_ONNX_BIAS, &all));
    const mst_value one = mst_squeeze(cut_axis(all, 0, direction, 1), MST_AXES(0));
    *out = in_order_of_gates(v, cut_axis(one, 0, behind ? wide : 0, wide), 0);
    return MST_OK;
}

/* ---- cells ---- */

/* Makes the cell of one direction. X is [n, steps, features]; *OUT is [n, steps, units]. The biases can be added up
 * before the steps, except in a GRU, whose reset gate multiplies the recurrent one. */
static mst_status one_direction(mst_onnx_call *c, const mst_onnx_cell *v, mst_value x, int direction, mst_value *out) {
    mst_value kernel, recurrent, bias, behind;
    const bool reverse = direction == 1 || v->backwards;
    const mst_cell_activation *f = v->activation + direction * v->functions;
    MST_TRY(kernel_of(c, v, MST_ONNX_KERNEL, direction, &kernel));
    MST_TRY(kernel_of(c, v, MST_ONNX_RECURRENT, direction, &recurrent));
    MST_TRY(bias_of(c, v, direction, false, &bias));
    MST_TRY(bias_of(c, v, direction, true, &behind));
    mst_value gates = mst_matmul(x, kernel);
    const bool has_bias = !mst_value_is_none(bias);
    if (has_bias) gates = mst_add(gates, v->gates == MST_ONNX_GRU_GATES ? bias : mst_add(bias, behind));
    if (v->gates == MST_ONNX_LSTM_GATES) {
        *out = mst_lstm_with((mst_lstm_options){.src = gates,
                                                .recurrent = recurrent,
                                                .activation = f[1],
                                                .recurrent_activation = f[0],
                                                .reverse = reverse});
    } else if (v->gates == MST_ONNX_GRU_GATES) {
        const mst_dtype dtype = mst_value_spec(x).dtype;
        const mst_value none =
            mst_initializer_filled(mst_value_graph(x), dtype, MST_SHAPE(MST_ONNX_GRU_GATES * v->units), 0);
        *out = mst_gru_with((mst_gru_options){.src = gates,
                                              .recurrent = recurrent,
                                              .bias = has_bias ? behind : none,
                                              .activation = f[1],
                                              .recurrent_activation = f[0],
                                              .reverse = reverse});
    } else {
        *out = mst_simple_rnn_with(
            (mst_simple_rnn_options){.src = gates, .recurrent = recurrent, .activation = f[0], .reverse = reverse});
    }
    return mst_graph_check(c->reader->graph);
}

/* The steps that were computed last: [directions, n, units], or [n, directions, units] if rows_first. */
static mst_value last_steps(const mst_onnx_cell *v, const mst_value *h) {
    mst_value last[MST_ONNX_MOST_DIRECTIONS];
    for (int i = 0; i < v->directions; i++)
        last[i] = mst_strided_slice(h[i], .begin = MST_AXES(0, i == 1 || v->backwards ? 0 : -1), .end = MST_AXES(0, 0),
                                    .begin_mask = 1, .end_mask = 1, .shrink_mask = 2);
    return mst_stack(last, v->directions, v->rows_first ? 1 : 0);
}

static mst_status read_cell(mst_onnx_call *c, int gates) {
    mst_onnx_cell v;
    mst_value x, h[MST_ONNX_MOST_DIRECTIONS];
    MST_TRY(mst_onnx_cell_read(c, gates, &v));
    MST_TRY(check_inputs(c, &v));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    if (!v.rows_first) x = mst_transpose(x, MST_AXES(1, 0, 2));
    for (int i = 0; i < v.directions; i++) MST_TRY(one_direction(c, &v, x, i, &h[i]));
    if (mst_onnx_wants(c, 0)) {
        const mst_value all = mst_stack(h, v.directions, 2); /* [n, steps, directions, units] */
        MST_TRY(mst_onnx_put(c, 0, v.rows_first ? all : mst_transpose(all, MST_AXES(1, 2, 0, 3))));
    }
    if (mst_onnx_wants(c, 1)) MST_TRY(mst_onnx_put(c, 1, last_steps(&v, h)));
    if (gates != MST_ONNX_LSTM_GATES || !mst_onnx_wants(c, 2)) return MST_OK;
    for (int i = 0; i < v.directions; i++) /* output 1 of lstm has the gates, then the memory */
        h[i] = cut_axis(mst_value_output(h[i], 1), 2, MST_ONNX_LSTM_GATES * v.units, v.units);
    return mst_onnx_put(c, 2, last_steps(&v, h));
}

static mst_status read_lstm(mst_onnx_call *c) {
    return read_cell(c, MST_ONNX_LSTM_GATES);
}

static mst_status read_gru(mst_onnx_call *c) {
    return read_cell(c, MST_ONNX_GRU_GATES);
}

static mst_status read_rnn(mst_onnx_call *c) {
    return read_cell(c, 1);
}

const mst_onnx_op mst_onnx_cell_ops[] = {
    {"GRU", .read = read_gru},
    {"LSTM", .read = read_lstm},
    {"RNN", .read = read_rnn},
    {0},
};
