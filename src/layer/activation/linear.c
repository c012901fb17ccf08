/** linear: x */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_LINEAR = 0 };
#endif

static mst_value build(mst_value x) {
    return x;
}

const mst_activation_form mst_activation_form_linear = {.build = build};
