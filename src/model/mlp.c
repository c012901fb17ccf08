#include <stdio.h>

#include "base/argument.h"
#include "model/model.h"

void mst_model_mlp(mst_model *model, const int64_t *hidden, int num_hidden, int64_t classes, float l2) {
    if (MST_IS_NULL(model)) return;
    if (num_hidden > 0 && MST_IS_NULL(hidden)) {
        mst_model_stick(model);
        return;
    }
    mst_flatten(model);
    for (int i = 0; i <= num_hidden; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer%d", i + 1);
        mst_dense(model, i < num_hidden ? hidden[i] : classes, .name = name,
                  .activation = i < num_hidden ? MST_RELU : MST_LINEAR,
                  .kernel_initializer = mst_truncated_normal_initializer(.stddev = 0.1), .l2 = l2,
                  .kernel_name = "weights", .bias_name = "biases");
    }
}
