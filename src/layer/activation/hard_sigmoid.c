/** hard_sigmoid: min(max(x / 6 + 1/2, 0), 1), as in Keras 3; the one of Keras 2 is hard_sigmoid_keras2 */
#ifdef MST_ACTIVATION_HEADER
enum { MST_HARD_SIGMOID = 13 };
#endif
#include "layer/activation/activation.h"

static mst_value hard_sigmoid_build(mst_value x) {
    return mst_scale(mst_relu6(mst_add(x, mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, 3))), 1.0 / 6);
}

const mst_activation_form mst_activation_form_hard_sigmoid = {.build = hard_sigmoid_build};
