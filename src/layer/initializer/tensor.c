/** tensor: a copy of a tensor */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_TENSOR = 13 };
#define mst_tensor_initializer(t) MST_INITIALIZER_(TENSOR, .tensor = (t))
#endif
#include "graph/spec.h"
#include "layer/initializer/initializer.h"

static mst_status tensor_check(const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    if (!r->tensor) return MST_FAIL(MST_INVALID, "tensor initializer: no tensor given");
    const mst_spec given = mst_spec_of(r->tensor), wanted = {dtype, shape};
    if (mst_spec_equal(&given, &wanted)) return MST_OK;
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    return MST_FAIL(MST_INVALID, "tensor initializer: the tensor is %s, the variable %s",
                    mst_spec_print(&given, have, sizeof have), mst_spec_print(&wanted, want, sizeof want));
}

static mst_value tensor_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    (void)dtype, (void)shape;
    return mst_constant(graph, r->tensor);
}

const mst_initializer_form mst_initializer_form_tensor = {
    .makes_bf16 = true, .check = tensor_check, .value = tensor_value};
