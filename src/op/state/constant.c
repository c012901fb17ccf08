/** constant: a value that is known while the graph is built
 *
 *  tensor  any shape and dtype; the graph retains it, and it must not be changed afterwards
 *  dst     the tensor
 *
 *  mst_scalar, mst_fill and mst_values also make the tensor: of one number, of a shape filled with one number, or of a
 *  shape with numbers in row-major order (converted to the dtype). mst_string_scalar and mst_string_values make a
 *  tensor of strings, with copies of their bytes.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_constant(mst_graph *graph, mst_tensor *tensor);
MST_API mst_value mst_scalar(mst_graph *graph, mst_dtype dtype, double value);
MST_API mst_value mst_fill(mst_graph *graph, mst_dtype dtype, mst_shape shape, double value);
MST_API mst_value mst_values(mst_graph *graph, mst_dtype dtype, mst_shape shape, const double *value);
MST_API mst_value mst_string_scalar(mst_graph *graph, const char *text);
MST_API mst_value mst_string_values(mst_graph *graph, mst_shape shape, const mst_string *value);
#endif
#include <string.h>

#include "graph/graph.h"
#include "op/list.h"
#include "op/op.h"
#include "op/state/constant.h"
#include "tensor/string.h"

static const mst_field constant_fields[] = {
    MST_FIELD_TENSOR(mst_constant_options, value, "the value"),
    MST_FIELD_END,
};

static mst_status constant_infer(mst_infer *c) {
    const mst_constant_options *o = c->options;
    if (!o->value) return mst_infer_fail(c, "the tensor is NULL");
    MST_TRY(mst_tensor_check_strings(o->value));
    c->dst[0] = (mst_spec){.dtype = mst_tensor_dtype(o->value), .shape = mst_tensor_shape(o->value)};
    return MST_OK;
}

static void constant_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_tensor(l, ((const mst_constant_options *)l->options)->value);
}

static mst_status constant_reference(const mst_kernel_args *a) {
    const mst_constant_options *o = a->options;
    if (mst_tensor_bytes(o->value)) memcpy(a->dst[0].data, mst_tensor_data(o->value), mst_tensor_bytes(o->value));
    return MST_OK;
}

/* an example cannot give a tensor: test/plan/simplify_test.c and test/graph/graphdef_test.c test constants */
static const mst_example constant_examples[] = {{.fails = MST_INVALID}};

const mst_op mst_op_constant = {
    .name = "constant",
    .tf_form = "Const(; value=value dtype=d0)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_CONSTANT,
    .fields = constant_fields,
    .options_size = sizeof(mst_constant_options),
    .infer = constant_infer,
    .reference = constant_reference,
    .lower = constant_lower,
    MST_EXAMPLES(constant_examples),
};

mst_value mst_constant(mst_graph *graph, mst_tensor *tensor) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, tensor)) return MST_NONE;
    return mst_call(graph, &mst_op_constant, 0, NULL, &(mst_constant_options){.value = tensor});
}

/* Makes a constant of TENSOR, and drops the caller's reference: the graph has its own. */
static mst_value adopt(mst_graph *graph, mst_tensor *tensor) {
    mst_value constant = mst_constant(graph, tensor);
    mst_tensor_release(tensor);
    return constant;
}

/* Returns a new tensor for numbers; NULL on failure, with the error on the graph. */
static mst_tensor *numbers(mst_graph *graph, mst_dtype dtype, mst_shape shape) {
    mst_tensor *tensor = NULL;
    if (dtype == MST_STRING) {
        mst_value_fail(graph, MST_INVALID, "constant: its numbers cannot be string: use mst_string_values");
    } else if (mst_tensor_create(dtype, shape, &tensor)) {
        mst_error_prefix("constant");
        mst_graph_keep_error(graph);
    }
    return tensor;
}

mst_value mst_values(mst_graph *graph, mst_dtype dtype, mst_shape shape, const double *value) {
    if (MST_IS_NULL(graph) || (mst_shape_count(shape) != 0 && MST_IS_NULL_IN(graph, value))) return MST_NONE;
    mst_tensor *tensor = numbers(graph, dtype, shape);
    if (!tensor) return mst_graph_error_value(graph);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value[i]);
    return adopt(graph, tensor);
}

mst_value mst_fill(mst_graph *graph, mst_dtype dtype, mst_shape shape, double value) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    mst_tensor *tensor = numbers(graph, dtype, shape);
    if (!tensor) return mst_graph_error_value(graph);
    if (value != 0)
        for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value);
    return adopt(graph, tensor);
}

mst_value mst_string_values(mst_graph *graph, mst_shape shape, const mst_string *value) {
    if (MST_IS_NULL(graph) || (mst_shape_count(shape) != 0 && MST_IS_NULL_IN(graph, value))) return MST_NONE;
    mst_tensor *tensor;
    if (mst_tensor_copy(MST_STRING, shape, value, &tensor)) {
        mst_error_prefix("constant");
        return mst_value_of_last_error(graph);
    }
    return adopt(graph, tensor);
}

mst_value mst_string_scalar(mst_graph *graph, const char *text) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, text)) return MST_NONE;
    const mst_string string = mst_string_of(text);
    return mst_string_values(graph, MST_SCALAR, &string);
}

mst_value mst_scalar(mst_graph *graph, mst_dtype dtype, double value) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    return mst_fill(graph, dtype, MST_SCALAR, value);
}
