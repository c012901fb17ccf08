/** gru: gated recurrent units over the steps of a sequence, as in Keras with reset_after
 *
 *  src                   [n, steps, features], at least one step
 *  units                 length of the output of a step
 *  activation            of the candidate, default tanh
 *  recurrent_activation  of the gates, default sigmoid
 *  return_sequences      returns the outputs of all steps, [n, steps, units], in the order of processing; else only the
 *                        last, [n, units]
 *  go_backwards          processes the steps from the last to the first
 *  dropout, recurrent_dropout
 *                        rates of dropout in training, as in Keras: of the source, and of the state in its product
 *                        with the recurrent kernel; the same elements in all steps; default 0
 *  name                  default gru, gru_1, ...
 *  dst                   [n, units], or [n, steps, units]
 *
 *  Weights: gru_cell/kernel [features, 3 units], gru_cell/recurrent_kernel [units, 3 units] and gru_cell/bias
 *  [2, 3 units]. The first row of the bias is added to the product with the kernel, the second to the product with the
 *  recurrent kernel. The parts are in Keras' order z, r, h. The op on values is mst_gru_with. Masked steps are skipped,
 *  as in Keras.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_gru_options {
    int zero_;
    int64_t units;
    mst_cell_activation activation;
    mst_cell_activation recurrent_activation;
    bool return_sequences, go_backwards;
    bool no_bias;
    mst_initializer kernel_initializer;    /**< default glorot_uniform */
    mst_initializer recurrent_initializer; /**< default orthogonal; glorot_uniform counts as not given */
    mst_initializer bias_initializer;      /**< default zeros; glorot_uniform counts as not given */
    float l1, l2; /**< penalty of the kernel: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2 */
    const char *name;
    float dropout;           /**< of the features of the source in training, the same in all steps */
    float recurrent_dropout; /**< of the state in training, the same in all steps */
    mst_constraint kernel_constraint, recurrent_constraint, bias_constraint; /**< of the weights after each step */
} mst_layer_gru_options;
#undef mst_gru /* the op's macro of this name takes only values; the one below takes models too */
#define mst_gru(source, ...) MST_LAYER(gru, source, MST_NAMED_1(mst_layer_gru_options, units, __VA_ARGS__))
#endif
#include "layer/affine.h"
#include "layer/initializer/initializer.h"
#include "layer/recurrent.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "op/recurrent/recurrent.h"

enum { PARTS = 3 };

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_gru_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, units, 0, 1, 1e9, "length of what it gives"),
    FIELD(ENUM, activation, MST_CELL_TANH, mst_cell_activation_names, "of the candidate"),
    FIELD(ENUM, recurrent_activation, MST_CELL_SIGMOID, mst_cell_activation_names, "of the gates"),
    MST_RECURRENT_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_status gru_weights(mst_layer_call *call) {
    static const char *const names[] = {"gru_cell/kernel", "gru_cell/recurrent_kernel"};
    const mst_layer_gru_options *o = call->options;
    MST_TRY(mst_recurrent_weights(call, names, o->units, PARTS * o->units, MST_RECURRENT_KERNELS(o)));
    if (!o->no_bias)
        mst_layer_weight(call, .name = "gru_cell/bias", .shape = MST_SHAPE(2, PARTS * o->units),
                         .dtype = mst_value_spec(call->src[0]).dtype,
                         .initializer = mst_initializer_or(o->bias_initializer, mst_zeros_initializer()),
                         .constraint = o->bias_constraint);
    return MST_OK;
}

static mst_value bias_row(const mst_value *bias, int64_t row, int64_t wide) {
    return mst_reshape(mst_slice(*bias, MST_SHAPE(row, 0), MST_SHAPE(1, wide)), MST_SHAPE(wide));
}

static mst_value gru_build(const mst_layer_call *call) {
    const mst_layer_gru_options *o = call->options;
    const int64_t wide = PARTS * o->units;
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    const mst_value *bias = o->no_bias ? NULL : &call->weight[2];
    const mst_value first = bias ? bias_row(bias, 0, wide) : MST_NONE;
    const mst_value recurrent =
        bias ? bias_row(bias, 1, wide) : mst_initializer_filled(call->graph, dtype, MST_SHAPE(wide), 0);
    if (call->training && o->recurrent_dropout > 0) {
        const mst_recurrent_dropping dropping = {.cell = MST_RECURRENT_GRU,
                                                 .units = o->units,
                                                 .activation = o->activation,
                                                 .recurrent_activation = o->recurrent_activation,
                                                 .dropout = o->dropout,
                                                 .recurrent_dropout = o->recurrent_dropout,
                                                 .reverse = o->go_backwards,
                                                 .kernel = call->weight[0],
                                                 .recurrent = call->weight[1],
                                                 .bias = first,
                                                 .recurrent_bias = recurrent};
        return mst_recurrent_steps(mst_recurrent_dropped(call, &dropping), o->return_sequences, o->go_backwards);
    }
    const mst_value inputs =
        mst_affine(mst_recurrent_source(call, o->dropout), call->weight[0], first, MST_PRECISION_DEFAULT);
    const mst_value h = mst_gru_with((mst_gru_options){.src = inputs,
                                                       .recurrent = call->weight[1],
                                                       .bias = recurrent,
                                                       .activation = o->activation,
                                                       .recurrent_activation = o->recurrent_activation,
                                                       .reverse = o->go_backwards,
                                                       .mask = mst_recurrent_mask(call)});
    return mst_recurrent_steps(h, o->return_sequences, o->go_backwards);
}

static mst_value gru_mask(const mst_layer_call *call) {
    return ((const mst_layer_gru_options *)call->options)->return_sequences ? mst_layer_mask(call) : MST_NONE;
}

const mst_layer_type mst_layer_type_gru = {
    .name = "gru",
    .class_name = "GRU",
    .options_size = sizeof(mst_layer_gru_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = gru_weights,
    .build = gru_build,
    .mask = gru_mask,
};
