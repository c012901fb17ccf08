/** gelu: x * (1 + erf(x / sqrt(2))) / 2 */
#ifdef MST_ACTIVATION_HEADER
enum { MST_GELU = 5 };
#endif
#include "layer/activation/activation.h"

static mst_value gelu_build(mst_value x) {
    return mst_gelu(x);
}

const mst_activation_form mst_activation_form_gelu = {.build = gelu_build};
