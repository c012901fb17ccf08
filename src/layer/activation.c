#include "layer/activation.h"

#include "muster/ops.h"

/* the slope of Keras 3 and tf.nn.leaky_relu, not the op's default */
static mst_value leaky_relu(mst_value x) {
    return mst_leaky_relu(x, .slope = 0.2f);
}

static mst_value elu(mst_value x) {
    return mst_elu(x);
}

static mst_value gelu(mst_value x) {
    return mst_gelu(x);
}

static mst_value (*const builds[MST_NUM_ACTIVATIONS])(mst_value x) = {
    [MST_RELU] = mst_relu,       [MST_RELU6] = mst_relu6,       [MST_LEAKY_RELU] = leaky_relu, [MST_ELU] = elu,
    [MST_GELU] = gelu,           [MST_SOFTPLUS] = mst_softplus, [MST_SWISH] = mst_swish,       [MST_TANH] = mst_tanh,
    [MST_SIGMOID] = mst_sigmoid, [MST_SOFTMAX] = mst_softmax,
};

const char *const mst_activation_names[MST_NUM_ACTIVATIONS + 1] = {
    [MST_LINEAR] = "linear", [MST_RELU] = "relu",       [MST_RELU6] = "relu6",       [MST_LEAKY_RELU] = "leaky_relu",
    [MST_ELU] = "elu",       [MST_GELU] = "gelu",       [MST_SOFTPLUS] = "softplus", [MST_SWISH] = "swish",
    [MST_TANH] = "tanh",     [MST_SIGMOID] = "sigmoid", [MST_SOFTMAX] = "softmax",
};

mst_value mst_activation_build(mst_value x, mst_activation activation) {
    if ((unsigned)activation >= MST_NUM_ACTIVATIONS)
        return mst_value_fail(mst_value_graph(x), MST_INVALID, "activation: %d is none", (int)activation);
    return activation == MST_LINEAR ? x : builds[activation](x);
}

const char *mst_activation_name(mst_activation activation) {
    return (unsigned)activation < MST_NUM_ACTIVATIONS ? mst_activation_names[activation] : "unknown";
}
