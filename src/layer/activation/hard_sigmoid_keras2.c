/** hard_sigmoid_keras2: min(max(x / 5 + 1/2, 0), 1), which Keras 2 calls hard_sigmoid; Keras 3 has x / 6 */
#ifdef MST_ACTIVATION_HEADER
enum { MST_HARD_SIGMOID_KERAS2 = 18 };
#endif
#include "layer/activation/activation.h"

static mst_value hard_sigmoid_keras2_build(mst_value x) {
    return mst_clip(mst_add(mst_scale(x, 0.2), mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, 0.5)), 0, 1);
}

const mst_activation_form mst_activation_form_hard_sigmoid_keras2 = {.build = hard_sigmoid_keras2_build};
