/* LeNet-5: LeCun et al., "Gradient-Based Learning Applied to Document Recognition" (1998), figure 2, with ordinary
 * average pooling and dense layers instead of the paper's trainable pooling, sparse connections and RBF outputs. */
#include "model/application/application.h"

mst_output mst_lenet_with(mst_model *model, const mst_application_options *options) {
    mst_application_options o = {.input_shape = MST_SHAPE(28, 28, 1), .classes = 10};
    mst_output x;
    if (!mst_application_begin(model, "mst_lenet", options, &o, &x)) return x;
    x = mst_conv2d(x, 6, 5, .padding = MST_PADDING_SAME, .activation = MST_TANH);
    x = mst_average_pooling2d(x, .pool_size = 2);
    x = mst_conv2d(x, 16, 5, .activation = MST_TANH);
    x = mst_average_pooling2d(x, .pool_size = 2);
    if (o.no_top) return x;
    x = mst_dense(mst_flatten(x), 120, .activation = MST_TANH);
    x = mst_dense(x, 84, .activation = MST_TANH);
    return mst_dense(x, o.classes, .activation = o.classifier_activation, .name = "predictions");
}
