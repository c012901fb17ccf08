/** bidirectional: two recurrent layers over the steps of a sequence, one forwards and one backwards
 *
 *  src                   [n, steps, features], at least one step
 *  units                 length of the output of each layer
 *  cell                  MST_RECURRENT_LSTM (default), MST_RECURRENT_GRU, MST_RECURRENT_SIMPLE_RNN; the members
 *                        from activation to l2 are those of lstm, gru and simple_rnn, for both layers
 *  merge_mode            how both outputs are merged: MST_MERGE_MODE_CONCAT (default) concatenates them;
 *                        MST_MERGE_MODE_SUM, MST_MERGE_MODE_MUL or MST_MERGE_MODE_AVE: sum, product or mean
 *  return_sequences      returns all steps in their order; else only the last output of each layer
 *  name                  default bidirectional, bidirectional_1, ...
 *  dst                   [n, wide], or [n, steps, wide], where wide is 2 units for MST_MERGE_MODE_CONCAT, else units
 *
 *  Weights: those of lstm under forward_lstm/, then under backward_lstm/; likewise for the other cells. As in Keras,
 *  masked steps are skipped, and with return_sequences they are 0.
 */
#ifdef MST_LAYER_HEADER
typedef enum mst_recurrent_cell {
    MST_RECURRENT_LSTM = 0,
    MST_RECURRENT_GRU,
    MST_RECURRENT_SIMPLE_RNN
} mst_recurrent_cell;
typedef enum mst_merge_mode {
    MST_MERGE_MODE_CONCAT = 0,
    MST_MERGE_MODE_SUM,
    MST_MERGE_MODE_MUL,
    MST_MERGE_MODE_AVE
} mst_merge_mode;
typedef struct mst_layer_bidirectional_options {
    int zero_;
    int64_t units;
    mst_recurrent_cell cell;
    mst_merge_mode merge_mode;
    mst_cell_activation activation;
    mst_cell_activation recurrent_activation; /**< not used by simple_rnn */
    bool return_sequences;
    bool no_bias;
    bool no_unit_forget_bias;              /**< only used by lstm */
    mst_initializer kernel_initializer;    /**< default glorot_uniform */
    mst_initializer recurrent_initializer; /**< default orthogonal; glorot_uniform counts as not given */
    mst_initializer bias_initializer;      /**< default zeros; glorot_uniform counts as not given */
    float l1, l2; /**< penalty of the kernels: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2 */
    const char *name;
    float dropout;           /**< of the features of the source in training, for each layer on its own */
    float recurrent_dropout; /**< of the state in training */
    mst_constraint kernel_constraint, recurrent_constraint, bias_constraint; /**< of the weights after each step */
} mst_layer_bidirectional_options;
#define mst_bidirectional(source, ...) \
    MST_LAYER(bidirectional, source, MST_NAMED_1(mst_layer_bidirectional_options, units, __VA_ARGS__))
#endif
#include "layer/initializer/initializer.h"
#include "layer/list.h"
#include "layer/recurrent.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "op/recurrent/recurrent.h"
#include "rule/constraint.h"

static const char *const cells[] = {"lstm", "gru", "simple_rnn", NULL};
static const char *const merge_modes[] = {"concat", "sum", "mul", "ave", NULL};

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_bidirectional_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, units, 0, 1, 1e9, "length of what each layer gives"),
    FIELD(ENUM, cell, 0, cells, "of both layers"),
    FIELD(ENUM, merge_mode, 0, merge_modes, "how both outputs are joined"),
    FIELD(ENUM, activation, MST_CELL_TANH, mst_cell_activation_names, "of the state"),
    FIELD(ENUM, recurrent_activation, MST_CELL_SIGMOID, mst_cell_activation_names, "of the gates"),
    FIELD(BOOL, return_sequences, "gives all steps"),
    FIELD(BOOL, no_bias, "leaves the biases out"),
    FIELD(BOOL, no_unit_forget_bias, "the forget gate's bias begins as the others"),
    FIELD(NESTED, kernel_initializer, mst_initializer_fields, "of the kernels"),
    FIELD(NESTED, recurrent_initializer, mst_initializer_fields, "of the recurrent kernels"),
    FIELD(NESTED, bias_initializer, mst_initializer_fields, "of the biases"),
    FIELD(F32, l1, 0, 0, 1e30, "penalty of the kernels' magnitudes"),
    FIELD(F32, l2, 0, 0, 1e30, "penalty of the kernels' squares"),
    FIELD(STRING, name, "of the layer"),
    FIELD(F32, dropout, 0, 0, 0x1.fffffep-1, "part of the features that is dropped, below 1"),
    FIELD(F32, recurrent_dropout, 0, 0, 0x1.fffffep-1, "part of the state that is dropped, below 1"),
    FIELD(NESTED, kernel_constraint, mst_constraint_fields, "of the kernels"),
    FIELD(NESTED, recurrent_constraint, mst_constraint_fields, "of the recurrent kernels"),
    FIELD(NESTED, bias_constraint, mst_constraint_fields, "of the biases"),
    MST_FIELD_END,
};

/* ---- the layers inside ---- */

typedef union cell_options {
    mst_layer_lstm_options lstm;
    mst_layer_gru_options gru;
    mst_layer_simple_rnn_options simple_rnn;
} cell_options;

#define STATE .units = o->units, .activation = o->activation
#define REST                                                                                        \
    .return_sequences = o->return_sequences, .go_backwards = backwards, .no_bias = o->no_bias,      \
    .kernel_initializer = o->kernel_initializer, .recurrent_initializer = o->recurrent_initializer, \
    .bias_initializer = o->bias_initializer, .l1 = o->l1, .l2 = o->l2, .dropout = o->dropout,       \
    .recurrent_dropout = o->recurrent_dropout, .kernel_constraint = o->kernel_constraint,           \
    .recurrent_constraint = o->recurrent_constraint, .bias_constraint = o->bias_constraint

static const mst_layer_type *inside(const mst_layer_bidirectional_options *o, bool backwards, cell_options *out) {
    if (o->cell == MST_RECURRENT_GRU) {
        out->gru = (mst_layer_gru_options){STATE, .recurrent_activation = o->recurrent_activation, REST};
        return &mst_layer_type_gru;
    }
    if (o->cell == MST_RECURRENT_SIMPLE_RNN) {
        out->simple_rnn = (mst_layer_simple_rnn_options){STATE, REST};
        return &mst_layer_type_simple_rnn;
    }
    out->lstm = (mst_layer_lstm_options){STATE, .recurrent_activation = o->recurrent_activation, REST};
    out->lstm.no_unit_forget_bias = o->no_unit_forget_bias;
    return &mst_layer_type_lstm;
}

/* Makes a call of the forward or backward layer from CALL. It has no weights yet. */
static mst_layer_call call_inside(const mst_layer_call *call, bool backwards, cell_options *options) {
    static const char *const names[][2] = {{"forward_lstm", "backward_lstm"},
                                           {"forward_gru", "backward_gru"},
                                           {"forward_simple_rnn", "backward_simple_rnn"}};
    const mst_layer_bidirectional_options *o = call->options;
    mst_layer_call made = *call;
    made.type = inside(o, backwards, options);
    made.options = options;
    made.name = names[o->cell][backwards];
    made.num_weights = 0;
    return made;
}

static mst_status bidirectional_check(const void *options, const char *name) {
    cell_options cell;
    const mst_layer_type *type = inside(options, false, &cell);
    return type->check ? type->check(&cell, name) : MST_OK;
}

static mst_status bidirectional_weights(mst_layer_call *call) {
    for (int i = 0; i < 2; i++) {
        cell_options options;
        mst_layer_call one = call_inside(call, i == 1, &options);
        mst_status status = MST_OK;
        mst_with_variables (call->graph, one.name, MST_REUSE_INHERIT) status = one.type->weights(&one);
        MST_TRY(status);
        for (int k = 0; k < one.num_weights; k++) call->weight[call->num_weights++] = one.weight[k];
    }
    return MST_OK;
}

/* The output of one of the layers, with its steps in the order of the source. Masked steps are 0. */
static mst_value bidirectional_one(const mst_layer_call *call, bool backwards) {
    const mst_layer_bidirectional_options *o = call->options;
    const int each = call->num_weights / 2;
    cell_options options;
    mst_layer_call one = call_inside(call, backwards, &options);
    for (int k = 0; k < each; k++) one.weight[one.num_weights++] = call->weight[(backwards ? each : 0) + k];
    mst_value y = one.type->build(&one);
    if (!o->return_sequences) return y;
    if (backwards) y = mst_strided_slice(y, .strides = MST_AXES(1, -1));
    const mst_value mask = mst_recurrent_mask(call);
    return mst_value_is_none(mask) ? y : mst_mul(y, mst_expand_dims(mask, 2));
}

static mst_value bidirectional_build(const mst_layer_call *call) {
    const mst_layer_bidirectional_options *o = call->options;
    const mst_value y[] = {bidirectional_one(call, false), bidirectional_one(call, true)};
    if (o->merge_mode == MST_MERGE_MODE_SUM) return mst_add(y[0], y[1]);
    if (o->merge_mode == MST_MERGE_MODE_MUL) return mst_mul(y[0], y[1]);
    if (o->merge_mode == MST_MERGE_MODE_AVE) return mst_scale(mst_add(y[0], y[1]), 0.5);
    return mst_concat(y, 2, -1);
}

static mst_value bidirectional_mask(const mst_layer_call *call) {
    return ((const mst_layer_bidirectional_options *)call->options)->return_sequences ? mst_layer_mask(call) : MST_NONE;
}

const mst_layer_type mst_layer_type_bidirectional = {
    .name = "bidirectional",
    .class_name = "Bidirectional",
    .options_size = sizeof(mst_layer_bidirectional_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = bidirectional_check,
    .weights = bidirectional_weights,
    .build = bidirectional_build,
    .mask = bidirectional_mask,
};
