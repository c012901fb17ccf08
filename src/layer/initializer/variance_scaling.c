/** variance_scaling: variance scale / fan, with the fan and the distribution that are given */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_VARIANCE_SCALING = 6 };
#define mst_variance_scaling_initializer(...) MST_INITIALIZER_(VARIANCE_SCALING, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value variance_scaling_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_scaled(graph, r, dtype, shape, mst_number_given(r->scale) ? r->scale : 1, r->fan,
                                  r->distribution);
}

const mst_initializer_form mst_initializer_form_variance_scaling = {.only_floats = true,
                                                                    .value = variance_scaling_value};
