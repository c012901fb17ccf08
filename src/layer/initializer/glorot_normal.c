/** glorot_normal: truncated normal, variance 2 / (fan_in + fan_out) */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_GLOROT_NORMAL = 1 };
#define mst_glorot_normal_initializer(...) MST_INITIALIZER_(GLOROT_NORMAL, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value glorot_normal_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, 1, MST_FAN_AVERAGE, MST_TRUNCATED_NORMAL);
}

const mst_initializer_form mst_initializer_form_glorot_normal = {.only_floats = true, .value = glorot_normal_value};
