/** glorot_uniform: U(-l, l), l = sqrt(6 / (fan_in + fan_out)) */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_GLOROT_UNIFORM = 0 };
#define mst_glorot_uniform_initializer(...) MST_INITIALIZER_(GLOROT_UNIFORM, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value glorot_uniform_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, 1, MST_FAN_AVERAGE, MST_UNIFORM);
}

const mst_initializer_form mst_initializer_form_glorot_uniform = {.only_floats = true, .value = glorot_uniform_value};
