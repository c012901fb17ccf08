/** constant: a value known while building
 *
 *  tensor  any shape and dtype; retained by the graph, and not to be changed after
 *  dst     the tensor
 *
 *  mst_scalar, mst_fill and mst_values make the tensor: one number, a shape full of one number, or a shape with
 *  the numbers given in row-major order (converted to the dtype).
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_constant(mst_graph *graph, mst_tensor *tensor);
MST_API mst_value mst_scalar(mst_graph *graph, mst_dtype dtype, double value);
MST_API mst_value mst_fill(mst_graph *graph, mst_dtype dtype, mst_shape shape, double value);
MST_API mst_value mst_values(mst_graph *graph, mst_dtype dtype, mst_shape shape, const double *value);
#endif
#include <string.h>

#include "graph/graph.h"
#include "op/op.h"
#include "op/state/constant.h"

static const mst_field fields[] = {
    MST_FIELD_TENSOR(mst_constant_options, value, "the value"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    const mst_constant_options *o = c->options;
    if (!o->value) return mst_infer_fail(c, "the tensor is NULL");
    c->dst[0] = (mst_spec){.dtype = mst_tensor_dtype(o->value), .shape = mst_tensor_shape(o->value)};
    return MST_OK;
}

static mst_status reference(const mst_kernel_args *a) {
    const mst_constant_options *o = a->options;
    if (mst_tensor_bytes(o->value)) memcpy(a->dst[0].data, mst_tensor_data(o->value), mst_tensor_bytes(o->value));
    return MST_OK;
}

/* the tensor is made at run time: constants are tested in test/plan/simplify_test.c and test/graph/graphdef_test.c */
static const mst_example examples[] = {{.fails = MST_INVALID}};

const mst_op mst_op_constant = {
    .name = "constant",
    .tf_name = "Const",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_CONSTANT,
    .fields = fields,
    .options_size = sizeof(mst_constant_options),
    .infer = infer,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_constant(mst_graph *graph, mst_tensor *tensor) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, tensor)) return MST_NONE;
    return mst_call(graph, &mst_op_constant, 0, NULL, &(mst_constant_options){.value = tensor});
}

mst_value mst_values(mst_graph *graph, mst_dtype dtype, mst_shape shape, const double *value) {
    mst_tensor *tensor;
    if (MST_IS_NULL(graph) || (mst_shape_count(shape) != 0 && MST_IS_NULL_IN(graph, value))) return MST_NONE;
    if (mst_tensor_create(dtype, shape, &tensor))
        return mst_value_fail(graph, mst_error()->code, "constant: %s", mst_error()->message);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value[i]);
    mst_value constant = mst_constant(graph, tensor);
    mst_tensor_release(tensor);
    return constant;
}

mst_value mst_fill(mst_graph *graph, mst_dtype dtype, mst_shape shape, double value) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    mst_tensor *tensor;
    if (mst_tensor_create(dtype, shape, &tensor))
        return mst_value_fail(graph, mst_error()->code, "constant: %s", mst_error()->message);
    if (value != 0)
        for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value);
    mst_value constant = mst_constant(graph, tensor);
    mst_tensor_release(tensor);
    return constant;
}

mst_value mst_scalar(mst_graph *graph, mst_dtype dtype, double value) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    return mst_fill(graph, dtype, MST_SCALAR, value);
}
