/** random_uniform: U(low, high) */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_RANDOM_UNIFORM = 10 };
#define mst_random_uniform_initializer(...) MST_INITIALIZER_(RANDOM_UNIFORM, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value random_uniform_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    const bool given = mst_number_given(r->low) || mst_number_given(r->high);
    return mst_random_uniform(.graph = graph, .shape = shape, .low = given ? r->low : -0.05,
                              .high = given ? r->high : 0.05, .dtype = dtype, .seed = r->seed);
}

const mst_initializer_form mst_initializer_form_random_uniform = {.only_floats = true, .value = random_uniform_value};
