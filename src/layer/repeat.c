#include "layer/repeat.h"

#include "muster/ops.h"

/* Reshapes [n, d, h, c] to [n, d, 1, h, 1, c], repeats that to [n, d, size[0], h, size[1], c], and joins the axes. */
mst_value mst_repeat_axes(const mst_layer_call *call, const char *form, const int32_t *size, int num_axes) {
    const mst_shape src = mst_value_spec(call->src[0]).shape;
    mst_shape apart = {.ndim = 1, .dim = {-1}}, repeated = apart, dst = apart;
    bool known = src.ndim == num_axes + 2;
    for (int k = 1; known && k < src.ndim; k++) {
        const bool is_repeated = k <= num_axes;
        const int64_t times = is_repeated ? size[k - 1] : 1;
        apart.dim[apart.ndim++] = repeated.dim[repeated.ndim++] = src.dim[k];
        if (is_repeated) apart.dim[apart.ndim++] = 1, repeated.dim[repeated.ndim++] = times;
        known = src.dim[k] >= 1 && !__builtin_mul_overflow(src.dim[k], times, &dst.dim[dst.ndim++]);
    }
    if (!known) {
        char text[MST_SHAPE_TEXT];
        MST_FAIL(MST_INVALID, "%s '%s': needs %s, all known but n, got %s", call->type->name, call->name, form,
                 mst_shape_print(src, text, sizeof text));
        return mst_layer_fail(call);
    }
    return mst_reshape(mst_broadcast_to(mst_reshape(call->src[0], apart), repeated), dst);
}
