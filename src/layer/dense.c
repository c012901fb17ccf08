#include "layer/dense.h"

#include "muster/ops.h"

mst_value mst_flat(mst_value x) {
    if (mst_value_is_none(x)) return x;
    mst_shape shape = mst_value_spec(x).shape;
    if (shape.ndim <= 2) return x;
    int64_t features = 1;
    for (int i = 1; i < shape.ndim; i++) {
        if (shape.dim[i] < 0)
            return mst_value_fail(mst_value_graph(x), MST_INVALID, "flatten '%s': only the first dimension may be open",
                                  mst_value_name(x));
        if (__builtin_mul_overflow(features, shape.dim[i], &features))
            return mst_value_fail(mst_value_graph(x), MST_INVALID, "flatten '%s': too many elements",
                                  mst_value_name(x));
    }
    return mst_reshape(x, MST_SHAPE(-1, features));
}

mst_value mst_dense_build(const mst_layer_dense_options *o, const char *kernel_name, const char *bias_name) {
    mst_graph *graph = mst_value_graph(o->src);
    if (!graph) return mst_value_fail(NULL, MST_INVALID, "dense '%s': src is no value", o->name ? o->name : "dense");
    mst_value x = mst_flat(o->src), y = MST_NONE;
    if (mst_value_is_none(x)) return x;
    mst_spec spec = mst_value_spec(x);
    if (spec.shape.ndim != 2 || spec.shape.dim[1] < 1 || o->units < 1)
        return mst_value_fail(graph, MST_INVALID,
                              "dense '%s': needs [n, features] and units > 0, got %d dimensions and %lld units",
                              o->name ? o->name : "dense", spec.shape.ndim, (long long)o->units);
    mst_initializer bias = o->bias_initializer;
    if (bias.kind == MST_INITIALIZER_GLOROT_UNIFORM) bias = mst_zeros_initializer(); /* none was given */
    mst_with_variables (graph, o->name ? o->name : "dense", MST_REUSE_INHERIT) {
        mst_value kernel = mst_get_variable(graph, kernel_name, MST_SHAPE(spec.shape.dim[1], o->units), spec.dtype,
                                            o->kernel_initializer, .l1 = o->l1, .l2 = o->l2);
        y = mst_matmul(x, kernel);
        if (!o->no_bias) y = mst_add(y, mst_get_variable(graph, bias_name, MST_SHAPE(o->units), spec.dtype, bias));
        y = mst_activate(y, o->activation);
    }
    return y;
}

mst_value mst_layer_dense_with(mst_layer_dense_options options) {
    return mst_dense_build(&options, "kernel", "bias");
}
