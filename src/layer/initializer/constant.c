/** constant: value */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_CONSTANT = 9 };
#define mst_constant_initializer(v) MST_INITIALIZER_(CONSTANT, .value = (v))
#endif
#include "layer/initializer/initializer.h"

static mst_value constant_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    return mst_initializer_filled(graph, dtype, shape, r->value);
}

const mst_initializer_form mst_initializer_form_constant = {.value = constant_value};
