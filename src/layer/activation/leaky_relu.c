/** leaky_relu: x > 0 ? x : 0.2 * x, with the slope of Keras 3 and tf.nn.leaky_relu instead of the op's default */
#ifdef MST_ACTIVATION_HEADER
enum { MST_LEAKY_RELU = 3 };
#endif
#include "layer/activation/activation.h"

static mst_value leaky_relu_build(mst_value x) {
    return mst_leaky_relu(x, .slope = 0.2f);
}

const mst_activation_form mst_activation_form_leaky_relu = {.build = leaky_relu_build};
