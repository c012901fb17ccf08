/** zeros: 0 */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_ZEROS = 7 };
#define mst_zeros_initializer() MST_INITIALIZER_(ZEROS, .value = 0)
#endif
#include "layer/initializer/initializer.h"

static mst_value zeros_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    (void)r;
    return mst_initializer_filled(graph, dtype, shape, 0);
}

const mst_initializer_form mst_initializer_form_zeros = {.value = zeros_value};
