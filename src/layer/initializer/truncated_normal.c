/** truncated_normal: N(mean, stddev^2), drawn again if outside mean +- 2 stddev; stddev is that before truncation */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_TRUNCATED_NORMAL = 12 };
#define mst_truncated_normal_initializer(...) MST_INITIALIZER_(TRUNCATED_NORMAL, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value truncated_normal_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_random_truncated_normal(.graph = graph, .shape = shape, .mean = r->mean,
                                       .stddev = mst_number_given(r->stddev) ? r->stddev : 0.05, .dtype = dtype,
                                       .seed = r->seed);
}

const mst_initializer_form mst_initializer_form_truncated_normal = {.only_floats = true,
                                                                    .value = truncated_normal_value};
