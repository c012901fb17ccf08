/* Recurrent operators of ONNX as layers of Keras: LSTM, GRU and SimpleRNN, or Bidirectional. The two biases of an LSTM
 * or RNN become one, their sum. */
#include <stdio.h>
#include <string.h>

#include "model_file/onnx/onnx_cells.h"
#include "model_file/onnx/onnx_layers.h"
#include "muster/layers.h"

/* A recurrent operator. Its layer is made when it is known whether all steps are used, or only the last one. */
typedef struct mst_onnx_layer_cell {
    const Muster__OnnxNode *node;
    mst_onnx_cell cell;
    mst_output source; /* [n, steps, features] */
    mst_output out;    /* of its layer */
    bool is_made, all_steps;
} mst_onnx_layer_cell;

int64_t mst_onnx_cell_features(const mst_onnx_layers *l, int64_t index) {
    return l->cell[index].cell.units * l->cell[index].cell.directions;
}

bool mst_onnx_cell_is_double(const mst_onnx_layers *l, int64_t index) {
    return l->cell[index].cell.directions > 1;
}

bool mst_onnx_cell_is_backwards(const mst_onnx_layers *l, int64_t index) {
    return l->cell[index].cell.backwards;
}

/* ---- weights ---- */

/* The kernel in input I of one direction, [gates * units, rows] in ONNX: [rows, gates * units]. */
static mst_status kernel_of(const mst_onnx_layer_call *c, const mst_onnx_cell *cell, size_t i, int direction,
                            mst_tensor **out) {
    const int64_t wide = cell->gates * cell->units;
    mst_tensor *from;
    MST_TRY(mst_onnx_layer_constant(c, i, &from));
    const mst_shape shape = mst_tensor_shape(from);
    if (shape.ndim != 3 || shape.dim[0] != cell->directions || shape.dim[1] != wide || shape.dim[2] < 1)
        return MST_FAIL(MST_INVALID,
                        "its input %zu has a shape that does not fit its direction, its hidden_size and its input", i);
    const int64_t rows = shape.dim[2];
    MST_TRY(mst_tensor_create(mst_tensor_dtype(from), MST_SHAPE(rows, wide), out));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < wide; k++) {
            const int64_t gate = mst_onnx_cell_gate(cell->gates, (int)(k / cell->units));
            const int64_t at = (direction * wide + gate * cell->units + k % cell->units) * rows + r;
            mst_tensor_set(*out, r * wide + k, mst_tensor_get(from, at));
        }
    return MST_OK;
}

/* The two biases of one direction: their sum, [gates * units]; for a GRU both, [2, gates * units]. */
static mst_status bias_of(const mst_onnx_layer_call *c, const mst_onnx_cell *cell, int direction, mst_tensor **out) {
    const int64_t wide = cell->gates * cell->units;
    const bool both = cell->gates == MST_ONNX_GRU_GATES;
    mst_tensor *from;
    MST_TRY(mst_onnx_layer_constant(c, MST_ONNX_BIAS, &from));
    if (!mst_shape_equal(mst_tensor_shape(from), MST_SHAPE(cell->directions, 2 * wide)))
        return MST_FAIL(MST_INVALID, "its biases have a shape that does not fit its direction and its hidden_size");
    MST_TRY(mst_tensor_create(mst_tensor_dtype(from), both ? MST_SHAPE(2, wide) : MST_SHAPE(wide), out));
    for (int64_t k = 0; k < wide; k++) {
        const int64_t gate = mst_onnx_cell_gate(cell->gates, (int)(k / cell->units));
        const int64_t at = direction * 2 * wide + gate * cell->units + k % cell->units;
        const double first = mst_tensor_get(from, at), second = mst_tensor_get(from, at + wide);
        mst_tensor_set(*out, k, both ? first : first + second);
        if (both) mst_tensor_set(*out, wide + k, second);
    }
    return MST_OK;
}

static mst_status weigh_direction(mst_onnx_layer_call *c, const mst_onnx_layer_cell *v, int direction) {
    const mst_onnx_cell *cell = &v->cell;
    const char *name = cell->gates == MST_ONNX_LSTM_GATES  ? "lstm"
                       : cell->gates == MST_ONNX_GRU_GATES ? "gru"
                                                           : "simple_rnn";
    char prefix[64] = "", full[128];
    mst_tensor *tensor;
    if (cell->directions > 1) snprintf(prefix, sizeof prefix, "%s_%s/", direction ? "backward" : "forward", name);
    snprintf(full, sizeof full, "%s%s_cell/kernel", prefix, name);
    MST_TRY(kernel_of(c, cell, MST_ONNX_KERNEL, direction, &tensor));
    MST_TRY(mst_onnx_layer_weigh(c, v->out, full, tensor));
    snprintf(full, sizeof full, "%s%s_cell/recurrent_kernel", prefix, name);
    MST_TRY(kernel_of(c, cell, MST_ONNX_RECURRENT, direction, &tensor));
    MST_TRY(mst_onnx_layer_weigh(c, v->out, full, tensor));
    if (!mst_onnx_layer_has(c, MST_ONNX_BIAS)) return MST_OK;
    snprintf(full, sizeof full, "%s%s_cell/bias", prefix, name);
    MST_TRY(bias_of(c, cell, direction, &tensor));
    return mst_onnx_layer_weigh(c, v->out, full, tensor);
}

/* ---- layers ---- */

static mst_output add_layer(const mst_onnx_layer_call *c, const mst_onnx_layer_cell *v, bool all_steps) {
    const mst_onnx_cell *cell = &v->cell;
    const bool no_bias = !mst_onnx_layer_has(c, MST_ONNX_BIAS);
    const mst_cell_activation gate = cell->activation[0], state = cell->activation[cell->gates > 1];
    char text[MST_ONNX_LAYER_NAME];
    const char *name = mst_onnx_layer_name(c, MST_ONNX_KERNEL, text);
    const mst_recurrent_cell kind = cell->gates == MST_ONNX_LSTM_GATES  ? MST_RECURRENT_LSTM
                                    : cell->gates == MST_ONNX_GRU_GATES ? MST_RECURRENT_GRU
                                                                        : MST_RECURRENT_SIMPLE_RNN;
    if (cell->directions > 1)
        return mst_bidirectional(v->source, cell->units, .cell = kind, .activation = state,
                                 .recurrent_activation = gate, .return_sequences = all_steps, .no_bias = no_bias,
                                 .name = name);
    if (kind == MST_RECURRENT_LSTM)
        return mst_lstm(v->source, cell->units, .activation = state, .recurrent_activation = gate,
                        .return_sequences = all_steps, .go_backwards = cell->backwards, .no_bias = no_bias,
                        .name = name);
    if (kind == MST_RECURRENT_GRU)
        return mst_gru(v->source, cell->units, .activation = state, .recurrent_activation = gate,
                       .return_sequences = all_steps, .go_backwards = cell->backwards, .no_bias = no_bias,
                       .name = name);
    return mst_simple_rnn(v->source, cell->units, .activation = state, .return_sequences = all_steps,
                          .go_backwards = cell->backwards, .no_bias = no_bias, .name = name);
}

static mst_status make_layer(mst_onnx_layers *l, mst_onnx_layer_cell *v, bool all_steps) {
    mst_onnx_layer_call c = {.layers = l, .onnx = {.node = v->node}};
    v->out = add_layer(&c, v, all_steps);
    v->is_made = true;
    v->all_steps = all_steps;
    MST_TRY(mst_model_check(l->model));
    for (size_t i = MST_ONNX_KERNEL; i <= MST_ONNX_BIAS; i++)
        if (mst_onnx_layer_has(&c, i)) MST_TRY(mst_onnx_layer_take(&c, i));
    for (int i = 0; i < v->cell.directions; i++) MST_TRY(weigh_direction(&c, v, i));
    return MST_OK;
}

mst_status mst_onnx_cell_output(mst_onnx_layers *l, int64_t index, bool all_steps, mst_output *out) {
    mst_onnx_layer_cell *v = &l->cell[index];
    if (!v->is_made && make_layer(l, v, all_steps))
        return mst_error_prefix("%.60s '%.100s'", v->node->op_type, v->node->name);
    if (v->all_steps != all_steps)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input is the end of a recurrent operator whose other steps are used too, or the reverse: "
                        "no layer of Keras gives both here");
    *out = v->out;
    return MST_OK;
}

/* ---- operators ---- */

static mst_status check_activations(const mst_onnx_cell *cell) {
    for (int i = 0; i < cell->functions && cell->directions > 1; i++)
        if (cell->activation[i] != cell->activation[cell->functions + i])
            return MST_FAIL(MST_UNIMPLEMENTED, "its directions have different activations: no layer of Keras has");
    return MST_OK;
}

/* Checks that the first state is zeros, as it always is in the layer. */
static mst_status check_first_state(const mst_onnx_layer_call *c) {
    for (size_t i = MST_ONNX_LENGTHS; i <= MST_ONNX_PEEPHOLES; i++) {
        mst_onnx_layer_value v;
        if (!mst_onnx_layer_has(c, i)) continue;
        MST_TRY(mst_onnx_layer_any(c, i, &v));
        bool zeros = i != MST_ONNX_LENGTHS && (v.zeros || v.tensor);
        for (int64_t k = 0; zeros && v.tensor && k < mst_tensor_count(v.tensor); k++)
            zeros = mst_tensor_get(v.tensor, k) == 0;
        if (!zeros) return mst_onnx_cell_refuse(i);
    }
    return MST_OK;
}

static mst_status find_units(const mst_onnx_layer_call *c, mst_onnx_cell *cell) {
    mst_tensor *recurrent;
    MST_TRY(mst_onnx_layer_constant(c, MST_ONNX_RECURRENT, &recurrent));
    const mst_shape shape = mst_tensor_shape(recurrent);
    return mst_onnx_cell_set_units(cell, shape.ndim == 3 ? shape.dim[2] : 0);
}

/* The source, [n, steps, features]. */
static mst_status source_of_cell(mst_onnx_layer_call *c, const mst_onnx_cell *cell, mst_output *out) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_raw(c, 0, &x));
    mst_onnx_sequence *s = &x.sequence;
    if (!cell->rows_first) {
        if (s->ndim != 3 || s->axis[0] != MST_ONNX_AXIS_STEPS || s->axis[1] != MST_ONNX_AXIS_EXAMPLES)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "its input must have the steps first, made by a Transpose from the examples first");
        s->axis[0] = MST_ONNX_AXIS_EXAMPLES;
        s->axis[1] = MST_ONNX_AXIS_STEPS;
    }
    MST_TRY(mst_onnx_sequence_settle(c->layers, &x));
    if (x.ndim != 3 || x.row || x.tensor)
        return MST_FAIL(MST_UNIMPLEMENTED, "its input 0 must be the output of a layer with three dimensions");
    MST_TRY(mst_onnx_layer_turn(&x));
    *out = x.out;
    return MST_OK;
}

static mst_status read_cell(mst_onnx_layer_call *c, int gates) {
    mst_onnx_layers *l = c->layers;
    mst_onnx_layer_cell v = {.node = c->onnx.node};
    MST_TRY(mst_onnx_cell_read(&c->onnx, gates, &v.cell));
    MST_TRY(check_activations(&v.cell));
    MST_TRY(find_units(c, &v.cell));
    MST_TRY(check_first_state(c));
    MST_TRY(source_of_cell(c, &v.cell, &v.source));
    MST_TRY(mst_grow(&l->cell, sizeof *l->cell, l->num_cells + 1, &l->cell_capacity));
    l->cell[l->num_cells] = v;
    const mst_onnx_sequence all = {
        .ndim = 4,
        .axis = {MST_ONNX_AXIS_STEPS, MST_ONNX_AXIS_DIRECTIONS, MST_ONNX_AXIS_EXAMPLES, MST_ONNX_AXIS_UNITS},
        .cell = l->num_cells,
        .direction = -1};
    mst_onnx_sequence end = {.ndim = 3,
                             .axis = {MST_ONNX_AXIS_DIRECTIONS, MST_ONNX_AXIS_EXAMPLES, MST_ONNX_AXIS_UNITS},
                             .cell = l->num_cells,
                             .steps = MST_ONNX_END,
                             .direction = -1};
    mst_onnx_sequence rows = all;
    if (v.cell.rows_first) { /* [n, steps, directions, units] and [n, directions, units] */
        const mst_onnx_sequence_axis order[] = {MST_ONNX_AXIS_EXAMPLES, MST_ONNX_AXIS_STEPS, MST_ONNX_AXIS_DIRECTIONS,
                                                MST_ONNX_AXIS_UNITS};
        memcpy(rows.axis, order, sizeof order);
        end.axis[0] = MST_ONNX_AXIS_EXAMPLES;
        end.axis[1] = MST_ONNX_AXIS_DIRECTIONS;
    }
    l->num_cells++;
    MST_TRY(mst_onnx_layer_put(c, (mst_onnx_layer_value){.ndim = 4, .sequence = rows}));
    if (c->onnx.node->n_output < 2) return MST_OK;
    return mst_onnx_layer_put_at(c, 1, (mst_onnx_layer_value){.ndim = 3, .sequence = end});
}

static mst_status read_lstm(mst_onnx_layer_call *c) {
    return read_cell(c, MST_ONNX_LSTM_GATES);
}

static mst_status read_gru(mst_onnx_layer_call *c) {
    return read_cell(c, MST_ONNX_GRU_GATES);
}

static mst_status read_rnn(mst_onnx_layer_call *c) {
    return read_cell(c, MST_ONNX_RNN_GATES);
}

/* ---- zeros ---- */

static mst_status put_zeros(mst_onnx_layer_call *c) {
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.zeros = true});
}

static mst_status read_constant_of_shape(mst_onnx_layer_call *c) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(&c->onnx, "value", MST_ONNX_TENSOR);
    mst_tensor *tensor = NULL;
    if (a && a->t) MST_TRY(mst_onnx_tensor(a->t, &tensor));
    const bool zero = !tensor || (mst_tensor_count(tensor) == 1 && mst_tensor_get(tensor, 0) == 0);
    mst_tensor_release(tensor);
    return zero ? put_zeros(c)
                : MST_FAIL(MST_UNIMPLEMENTED, "only zeros, the first state of a recurrent operator, are supported");
}

static mst_status read_expand(mst_onnx_layer_call *c) {
    mst_tensor *tensor;
    MST_TRY(mst_onnx_layer_constant(c, 0, &tensor));
    if (mst_tensor_count(tensor) == 1 && mst_tensor_get(tensor, 0) == 0) return put_zeros(c);
    return MST_FAIL(MST_UNIMPLEMENTED, "only zeros, the first state of a recurrent operator, are supported");
}

const mst_onnx_layer_op mst_onnx_layer_cell_ops[] = {
    {"ConstantOfShape", .make = read_constant_of_shape},
    {"Expand", .make = read_expand},
    {"GRU", .make = read_gru},
    {"LSTM", .make = read_lstm},
    {"RNN", .make = read_rnn},
    {0},
};
