/** hard_silu: x * min(max(x / 6 + 1/2, 0), 1), also called hard swish */
#ifdef MST_ACTIVATION_HEADER
enum { MST_HARD_SILU = 12 };
#endif
#include "layer/activation/activation.h"

static mst_value hard_silu_build(mst_value x) {
    return mst_mul(x, mst_activation_build(x, MST_HARD_SIGMOID));
}

const mst_activation_form mst_activation_form_hard_silu = {.build = hard_silu_build};
