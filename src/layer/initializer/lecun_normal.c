/** lecun_normal: truncated normal, variance 1 / fan_in */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_LECUN_NORMAL = 5 };
#define mst_lecun_normal_initializer(...) MST_INITIALIZER_(LECUN_NORMAL, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value lecun_normal_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, 1, MST_FAN_IN, MST_TRUNCATED_NORMAL);
}

const mst_initializer_form mst_initializer_form_lecun_normal = {.only_floats = true, .value = lecun_normal_value};
