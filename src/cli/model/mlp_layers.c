#include "cli/model/mlp_layers.h"

#include <stdio.h>

const char *mlp_activation(int i) {
    return i < MST_NUM_ACTIVATIONS ? mst_activation_name((mst_activation)i) : NULL;
}

void mlp_layers(mst_model *model, const mlp_form *form) {
    mst_flatten(model);
    for (int i = 0; i <= form->num_hidden; i++) {
        char name[32];
        const bool hidden = i < form->num_hidden;
        snprintf(name, sizeof name, "layer%d", i + 1);
        mst_dense(model, hidden ? form->hidden[i] : form->outputs, .name = name,
                  .activation = hidden ? form->activation : MST_LINEAR, .l1 = (float)form->l1, .l2 = (float)form->l2,
                  .kernel_initializer = mst_truncated_normal_initializer(.stddev = 0.1), .kernel_name = "weights",
                  .bias_name = "biases");
        if (hidden && form->dropout > 0) mst_dropout(model, .rate = (float)form->dropout);
    }
}
