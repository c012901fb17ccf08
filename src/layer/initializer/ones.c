/** ones: 1 */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_ONES = 8 };
#define mst_ones_initializer() MST_INITIALIZER_(ONES, .value = 1)
#endif
#include "layer/initializer/initializer.h"

static mst_value ones_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    (void)r;
    return mst_initializer_filled(graph, dtype, shape, 1);
}

const mst_initializer_form mst_initializer_form_ones = {.value = ones_value};
