/** lecun_uniform: U(-l, l), l = sqrt(3 / fan_in) */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_LECUN_UNIFORM = 4 };
#define mst_lecun_uniform_initializer(...) MST_INITIALIZER_(LECUN_UNIFORM, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value lecun_uniform_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, 1, MST_FAN_IN, MST_UNIFORM);
}

const mst_initializer_form mst_initializer_form_lecun_uniform = {.only_floats = true, .value = lecun_uniform_value};
