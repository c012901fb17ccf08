/** he_normal: truncated normal, variance 2 / fan_in */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_HE_NORMAL = 3 };
#define mst_he_normal_initializer(...) MST_INITIALIZER_(HE_NORMAL, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value he_normal_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, 2, MST_FAN_IN, MST_TRUNCATED_NORMAL);
}

const mst_initializer_form mst_initializer_form_he_normal = {.only_floats = true, .value = he_normal_value};
