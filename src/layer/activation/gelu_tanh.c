/** gelu_tanh: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, the gelu of GPT-2 */
#ifdef MST_ACTIVATION_HEADER
enum { MST_GELU_TANH = 19 };
#endif
#include "layer/activation/activation.h"

static mst_value gelu_tanh_build(mst_value x) {
    return mst_gelu(x, .approximate = true);
}

const mst_activation_form mst_activation_form_gelu_tanh = {.build = gelu_tanh_build};
