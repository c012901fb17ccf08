/** random_normal: N(mean, stddev^2) */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_RANDOM_NORMAL = 11 };
#define mst_random_normal_initializer(...) MST_INITIALIZER_(RANDOM_NORMAL, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value random_normal_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_random_normal(.graph = graph, .shape = shape, .mean = r->mean,
                             .stddev = mst_number_given(r->stddev) ? r->stddev : 0.05, .dtype = dtype, .seed = r->seed);
}

const mst_initializer_form mst_initializer_form_random_normal = {.only_floats = true, .value = random_normal_value};
