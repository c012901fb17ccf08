/** linear: x */
#ifdef MST_ACTIVATION_HEADER
enum { MST_LINEAR = 0 };
#endif
#include "layer/activation/activation.h"

static mst_value linear_build(mst_value x) {
    return x;
}

const mst_activation_form mst_activation_form_linear = {.build = linear_build};
