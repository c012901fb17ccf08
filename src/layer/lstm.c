/** lstm: long short-term memory over the steps of a sequence
 *
 *  src                   [n, steps, features], at least one step
 *  units                 length of the output of a step
 *  activation            of the candidate and of the output, default tanh
 *  recurrent_activation  of the gates, default sigmoid
 *  return_sequences      returns the outputs of all steps, [n, steps, units], in the order of processing; else only the
 *                        last, [n, units]
 *  go_backwards          processes the steps from the last to the first
 *  dropout, recurrent_dropout
 *                        rates of dropout in training, as in Keras: of the source, and of the state in its product
 *                        with the recurrent kernel; the same elements in all steps; default 0
 *  name                  default lstm, lstm_1, ...
 *  dst                   [n, units], or [n, steps, units]
 *
 *  Weights: lstm_cell/kernel [features, 4 units], lstm_cell/recurrent_kernel [units, 4 units] and lstm_cell/bias
 *  [4 units], with the gates in Keras' order i, f, c, o. The op on values is mst_lstm_with. Masked steps are skipped,
 *  as in Keras.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_lstm_options {
    int zero_;
    int64_t units;
    mst_cell_activation activation;
    mst_cell_activation recurrent_activation;
    bool return_sequences, go_backwards;
    bool no_bias;
    bool no_unit_forget_bias;              /**< false: the bias of the forget gate begins with 1 */
    mst_initializer kernel_initializer;    /**< default glorot_uniform */
    mst_initializer recurrent_initializer; /**< default orthogonal; glorot_uniform counts as not given */
    mst_initializer bias_initializer;      /**< default zeros; glorot_uniform counts as not given */
    float l1, l2; /**< penalty of the kernel: l1 * sum |kernel| + l2 / 2 * sum kernel^2; Keras' l2 has no 1/2 */
    const char *name;
    float dropout;           /**< of the features of the source in training, the same in all steps */
    float recurrent_dropout; /**< of the state in training, the same in all steps */
    mst_constraint kernel_constraint, recurrent_constraint, bias_constraint; /**< of the weights after each step */
} mst_layer_lstm_options;
#undef mst_lstm /* the op's macro of this name takes only values; the one below takes models too */
#define mst_lstm(source, ...) MST_LAYER(lstm, source, MST_NAMED_1(mst_layer_lstm_options, units, __VA_ARGS__))
#endif
#include "layer/affine.h"
#include "layer/initializer/initializer.h"
#include "layer/recurrent.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "op/recurrent/recurrent.h"

/* The bias has different initial values for the forget gate and the other gates, so it is a tensor in memory, even if a
 * model is only inspected. The number of units is therefore limited to MOST_UNITS. The limit is out of reach in
 * practice: with so many units, the recurrent kernel alone has 64 GiB. */
enum { GATES = 4, FORGET = 1, MOST_UNITS = 1 << 16 };

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_lstm_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, units, 0, 1, 1e9, "length of what it gives"),
    FIELD(ENUM, activation, MST_CELL_TANH, mst_cell_activation_names, "of the state"),
    FIELD(ENUM, recurrent_activation, MST_CELL_SIGMOID, mst_cell_activation_names, "of the gates"),
    MST_RECURRENT_FIELDS(FIELD),
    FIELD(BOOL, no_unit_forget_bias, "the forget gate's bias begins as the others"),
    MST_FIELD_END,
};

/* Whether BIAS gives the same number to all elements. Then the bias can begin with 1 for f and with that number for the
 * other gates. */
static bool has_one_number(const mst_initializer *bias) {
    return bias->kind == MST_INITIALIZER_GLOROT_UNIFORM || bias->kind == MST_INITIALIZER_ZEROS ||
           bias->kind == MST_INITIALIZER_ONES || bias->kind == MST_INITIALIZER_CONSTANT;
}

static mst_status lstm_check(const void *options, const char *name) {
    const mst_layer_lstm_options *o = options;
    if (o->no_bias || o->no_unit_forget_bias) return MST_OK;
    if (o->units > MOST_UNITS)
        return MST_FAIL(MST_INVALID,
                        "lstm '%s': %lld units, at most %d are possible where the forget gate's bias begins with 1: "
                        "give no_unit_forget_bias",
                        name, (long long)o->units, MOST_UNITS);
    if (has_one_number(&o->bias_initializer)) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "lstm '%s': a bias by %s whose forget gate begins with 1 is not there: give no_unit_forget_bias",
                    name, mst_initializer_name(o->bias_initializer.kind));
}

static void add_bias(mst_layer_call *call, mst_tensor *first, mst_initializer otherwise) {
    const mst_layer_lstm_options *o = call->options;
    mst_layer_weight(call, .name = "lstm_cell/bias", .shape = MST_SHAPE(GATES * o->units),
                     .dtype = mst_value_spec(call->src[0]).dtype,
                     .initializer = first ? mst_tensor_initializer(first) : otherwise,
                     .constraint = o->bias_constraint);
}

static mst_status lstm_weights(mst_layer_call *call) {
    static const char *const names[] = {"lstm_cell/kernel", "lstm_cell/recurrent_kernel"};
    const mst_layer_lstm_options *o = call->options;
    const mst_initializer bias = mst_initializer_or(o->bias_initializer, mst_zeros_initializer());
    const double otherwise = bias.kind == MST_INITIALIZER_ONES ? 1 : bias.value; /* 0 for zeros */
    mst_tensor *first = NULL;
    MST_TRY(mst_recurrent_weights(call, names, o->units, GATES * o->units, MST_RECURRENT_KERNELS(o)));
    if (o->no_bias) return MST_OK;
    if (!o->no_unit_forget_bias) {
        MST_TRY(mst_tensor_create(mst_value_spec(call->src[0]).dtype, MST_SHAPE(GATES * o->units), &first));
        for (int64_t i = 0; i < GATES * o->units; i++) mst_tensor_set(first, i, i / o->units == FORGET ? 1 : otherwise);
    }
    add_bias(call, first, bias);
    mst_tensor_release(first);
    return MST_OK;
}

static mst_value lstm_build(const mst_layer_call *call) {
    const mst_layer_lstm_options *o = call->options;
    if (call->training && o->recurrent_dropout > 0) {
        const mst_recurrent_dropping dropping = {.cell = MST_RECURRENT_LSTM,
                                                 .units = o->units,
                                                 .activation = o->activation,
                                                 .recurrent_activation = o->recurrent_activation,
                                                 .dropout = o->dropout,
                                                 .recurrent_dropout = o->recurrent_dropout,
                                                 .reverse = o->go_backwards,
                                                 .kernel = call->weight[0],
                                                 .recurrent = call->weight[1],
                                                 .bias = o->no_bias ? MST_NONE : call->weight[2],
                                                 .recurrent_bias = MST_NONE};
        return mst_recurrent_steps(mst_recurrent_dropped(call, &dropping), o->return_sequences, o->go_backwards);
    }
    const mst_value gates = mst_affine(mst_recurrent_source(call, o->dropout), call->weight[0],
                                       o->no_bias ? MST_NONE : call->weight[2], MST_PRECISION_DEFAULT);
    const mst_value h = mst_lstm_with((mst_lstm_options){.src = gates,
                                                         .recurrent = call->weight[1],
                                                         .activation = o->activation,
                                                         .recurrent_activation = o->recurrent_activation,
                                                         .reverse = o->go_backwards,
                                                         .mask = mst_recurrent_mask(call)});
    return mst_recurrent_steps(h, o->return_sequences, o->go_backwards);
}

static mst_value lstm_mask(const mst_layer_call *call) {
    return ((const mst_layer_lstm_options *)call->options)->return_sequences ? mst_layer_mask(call) : MST_NONE;
}

const mst_layer_type mst_layer_type_lstm = {
    .name = "lstm",
    .class_name = "LSTM",
    .options_size = sizeof(mst_layer_lstm_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = lstm_check,
    .weights = lstm_weights,
    .build = lstm_build,
    .mask = lstm_mask,
};
