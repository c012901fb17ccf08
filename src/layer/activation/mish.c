/** mish: x * tanh(log(1 + exp(x))) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_MISH = 15 };
#endif
#include "layer/activation/activation.h"

static mst_value mish_build(mst_value x) {
    return mst_mul(x, mst_tanh(mst_softplus(x)));
}

const mst_activation_form mst_activation_form_mish = {.build = mish_build};
