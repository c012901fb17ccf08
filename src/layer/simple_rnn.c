/** simple_rnn: a recurrent layer without gates; a step gives activation(x kernel + bias + h recurrent_kernel), where h
 *  is the output of the step before it
 *
 *  src               [n, steps, features], at least one step
 *  units             length of the output of a step
 *  activation        default tanh
 *  return_sequences  returns the outputs of all steps, [n, steps, units], in the order of processing; else only the
 *                    last, [n, units]
 *  go_backwards      processes the steps from the last to the first
 *  dropout, recurrent_dropout
 *                    rates of dropout in training, as in Keras: of the source, and of the state in its product with
 *                    the recurrent kernel; the same elements in all steps; default 0
 *  name              default simple_rnn, simple_rnn_1, ...
 *  dst               [n, units], or [n, steps, units]
 *
 *  Weights: simple_rnn_cell/kernel [features, units], simple_rnn_cell/recurrent_kernel [units, units] and
 *  simple_rnn_cell/bias [units]. The op on values is mst_simple_rnn_with. Masked steps are skipped, as in Keras.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_simple_rnn_options {
    int zero_;
    int64_t units;
    mst_cell_activation activation;
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
} mst_layer_simple_rnn_options;
#undef mst_simple_rnn /* the op's macro of this name takes only values; the one below takes models too */
#define mst_simple_rnn(source, ...) \
    MST_LAYER(simple_rnn, source, MST_NAMED_1(mst_layer_simple_rnn_options, units, __VA_ARGS__))
#endif
#include "layer/affine.h"
#include "layer/initializer/initializer.h"
#include "layer/recurrent.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "op/recurrent/recurrent.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_simple_rnn_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, units, 0, 1, 1e9, "length of what it gives"),
    FIELD(ENUM, activation, MST_CELL_TANH, mst_cell_activation_names, "of the state"),
    MST_RECURRENT_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_status simple_rnn_weights(mst_layer_call *call) {
    static const char *const names[] = {"simple_rnn_cell/kernel", "simple_rnn_cell/recurrent_kernel"};
    const mst_layer_simple_rnn_options *o = call->options;
    MST_TRY(mst_recurrent_weights(call, names, o->units, o->units, MST_RECURRENT_KERNELS(o)));
    if (!o->no_bias)
        mst_layer_weight(call, .name = "simple_rnn_cell/bias", .shape = MST_SHAPE(o->units),
                         .dtype = mst_value_spec(call->src[0]).dtype,
                         .initializer = mst_initializer_or(o->bias_initializer, mst_zeros_initializer()),
                         .constraint = o->bias_constraint);
    return MST_OK;
}

static mst_value simple_rnn_build(const mst_layer_call *call) {
    const mst_layer_simple_rnn_options *o = call->options;
    if (call->training && o->recurrent_dropout > 0) {
        const mst_recurrent_dropping dropping = {.cell = MST_RECURRENT_SIMPLE_RNN,
                                                 .units = o->units,
                                                 .activation = o->activation,
                                                 .dropout = o->dropout,
                                                 .recurrent_dropout = o->recurrent_dropout,
                                                 .reverse = o->go_backwards,
                                                 .kernel = call->weight[0],
                                                 .recurrent = call->weight[1],
                                                 .bias = o->no_bias ? MST_NONE : call->weight[2],
                                                 .recurrent_bias = MST_NONE};
        return mst_recurrent_steps(mst_recurrent_dropped(call, &dropping), o->return_sequences, o->go_backwards);
    }
    const mst_value inputs = mst_affine(mst_recurrent_source(call, o->dropout), call->weight[0],
                                        o->no_bias ? MST_NONE : call->weight[2], MST_PRECISION_DEFAULT);
    const mst_value h = mst_simple_rnn_with((mst_simple_rnn_options){.src = inputs,
                                                                     .recurrent = call->weight[1],
                                                                     .activation = o->activation,
                                                                     .reverse = o->go_backwards,
                                                                     .mask = mst_recurrent_mask(call)});
    return mst_recurrent_steps(h, o->return_sequences, o->go_backwards);
}

static mst_value simple_rnn_mask(const mst_layer_call *call) {
    return ((const mst_layer_simple_rnn_options *)call->options)->return_sequences ? mst_layer_mask(call) : MST_NONE;
}

const mst_layer_type mst_layer_type_simple_rnn = {
    .name = "simple_rnn",
    .class_name = "SimpleRNN",
    .options_size = sizeof(mst_layer_simple_rnn_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = simple_rnn_weights,
    .build = simple_rnn_build,
    .mask = simple_rnn_mask,
};
