/** elu: x > 0 ? x : exp(x) - 1 */
#ifdef MST_ACTIVATION_HEADER
enum { MST_ELU = 4 };
#endif
#include "layer/activation/activation.h"

static mst_value elu_build(mst_value x) {
    return mst_elu(x);
}

const mst_activation_form mst_activation_form_elu = {.build = elu_build};
