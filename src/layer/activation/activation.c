#include "layer/activation/activation.h"

mst_value mst_activation_build(mst_value x, mst_activation activation) {
    if ((unsigned)activation >= MST_NUM_ACTIVATIONS)
        return mst_value_fail(mst_value_graph(x), MST_INVALID, "activation: %d is none", (int)activation);
    return mst_activation_table[activation]->build(x);
}

const char *mst_activation_name(mst_activation activation) {
    return (unsigned)activation < MST_NUM_ACTIVATIONS ? mst_activation_names[activation] : "unknown";
}
