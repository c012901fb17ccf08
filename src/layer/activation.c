#include "muster/layer.h"
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

static const struct {
    const char *name;
    mst_value (*build)(mst_value x);
} activations[MST_NUM_ACTIVATIONS] = {
    [MST_LINEAR] = {"linear", NULL},
    [MST_RELU] = {"relu", mst_relu},
    [MST_RELU6] = {"relu6", mst_relu6},
    [MST_LEAKY_RELU] = {"leaky_relu", leaky_relu},
    [MST_ELU] = {"elu", elu},
    [MST_GELU] = {"gelu", gelu},
    [MST_SOFTPLUS] = {"softplus", mst_softplus},
    [MST_SWISH] = {"swish", mst_swish},
    [MST_TANH] = {"tanh", mst_tanh},
    [MST_SIGMOID] = {"sigmoid", mst_sigmoid},
    [MST_SOFTMAX] = {"softmax", mst_softmax},
};

mst_value mst_activate(mst_value x, mst_activation activation) {
    if ((unsigned)activation >= MST_NUM_ACTIVATIONS)
        return mst_value_fail(mst_value_graph(x), MST_INVALID, "activation: %d is none", (int)activation);
    return activation == MST_LINEAR ? x : activations[activation].build(x);
}

const char *mst_activation_name(mst_activation activation) {
    return (unsigned)activation < MST_NUM_ACTIVATIONS ? activations[activation].name : "unknown";
}
