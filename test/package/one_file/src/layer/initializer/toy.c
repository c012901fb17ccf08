/** toy: 7 */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_TOY = NEXT };
#define mst_toy_initializer(...) MST_INITIALIZER_(TOY, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_value value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    (void)r;
    return mst_fill(graph, dtype, shape, 7);
}

const mst_initializer_form mst_initializer_form_toy = {.value = value};
