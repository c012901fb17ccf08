/** placeholder: a value that the caller feeds
 *
 *  dtype  of the value
 *  shape  -1 for dimensions that each feed may choose (the batch)
 *  name   of the node, default "placeholder"
 *
 *  A run without a feed for the placeholder fails with MST_INVALID; the error names the placeholder.
 */
#ifdef MST_OP_HEADER
typedef struct mst_placeholder_options {
    int zero_;
    mst_graph *graph;
    mst_dtype dtype;
    mst_shape shape;
    const char *name;
} mst_placeholder_options;
MST_API mst_value mst_placeholder_with(mst_placeholder_options options);
#define mst_placeholder(...) \
    mst_placeholder_with(MST_NAMED_3(mst_placeholder_options, graph, dtype, shape, __VA_ARGS__))
#endif
#include "op/op.h"

static const mst_field placeholder_fields[] = {
    MST_FIELD_DTYPE(mst_placeholder_options, dtype, MST_F32, "element type"),
    MST_FIELD_SHAPE(mst_placeholder_options, shape, "-1 where a feed may choose"),
    MST_FIELD_END,
};

static mst_status placeholder_infer(mst_infer *c) {
    const mst_placeholder_options *o = c->options;
    for (int k = 0; k < o->shape.ndim; k++)
        if (o->shape.dim[k] < -1)
            return mst_infer_fail(c, "dimension %d is %lld, must be at least 0, or -1 where a feed may choose", k,
                                  (long long)o->shape.dim[k]);
    c->dst[0] = (mst_spec){.dtype = o->dtype, .shape = o->shape};
    return MST_OK;
}

static mst_status placeholder_reference(const mst_kernel_args *a) {
    return mst_kernel_fail(a, MST_INVALID, "was not fed");
}

const mst_op mst_op_placeholder = {
    .name = "placeholder",
    .tf_form = "Placeholder(; dtype=dtype shape=shape)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_PLACEHOLDER | MST_OP_STATEFUL,
    .fields = placeholder_fields,
    .options_size = sizeof(mst_placeholder_options),
    .infer = placeholder_infer,
    .reference = placeholder_reference,
};

mst_value mst_placeholder_with(mst_placeholder_options options) {
    return mst_call_named(options.graph, &mst_op_placeholder, options.name, 0, NULL, &options);
}
