/** he_uniform: U(-l, l), l = sqrt(6 / fan_in) */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_HE_UNIFORM = 2 };
#define mst_he_uniform_initializer(...) MST_INITIALIZER_(HE_UNIFORM, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value he_uniform_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, 2, MST_FAN_IN, MST_UNIFORM);
}

const mst_initializer_form mst_initializer_form_he_uniform = {.only_floats = true, .value = he_uniform_value};
