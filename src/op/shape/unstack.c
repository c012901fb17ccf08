/** unstack: the slices of src along axis
 *
 *  src   any dtype, at least one dimension; dimension axis must be known while the graph is built
 *  dst   as many outputs as that dimension has elements (mst_value_output gives them); src's shape without it
 *  axis  negative ones count from the end
 */
#ifdef MST_OP_HEADER
/** Returns output 0; output i is mst_value_output(value, i). */
MST_API mst_value mst_unstack(mst_value src, int axis);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field unstack_fields[] = {
    MST_FIELD_I32(mst_parts_options, num, 0, 1, MST_MOST_PARTS, "size of the dimension"),
    MST_FIELD_I32(mst_parts_options, axis, 0, 0, 0, "dimension to take apart"),
    MST_FIELD_END,
};

static mst_status unstack_infer(mst_infer *c) {
    const mst_parts_options *o = c->options;
    const mst_shape *src = &c->src[0].shape;
    int axis;
    MST_TRY(mst_infer_axis(c, o->axis, src->ndim, &axis));
    if (src->dim[axis] >= 0 && src->dim[axis] != o->num)
        return mst_infer_fail(c, "dimension %d is %lld, must be %d", axis, (long long)src->dim[axis], o->num);
    mst_spec part = {.dtype = c->src[0].dtype};
    for (int k = 0; k < src->ndim; k++)
        if (k != axis) part.shape.dim[part.shape.ndim++] = src->dim[k];
    for (int i = 0; i < c->num_dst; i++) c->dst[i] = part;
    return MST_OK;
}

static mst_value unstack_grad(mst_grad *c, int i) {
    (void)i;
    return mst_join_gradients(c, mst_stack, ((const mst_parts_options *)c->options)->axis);
}

#include "op/shape/parts_examples.inc"

const mst_op mst_op_unstack = {
    .name = "unstack",
    .tf_form = "Unpack($0; num=num axis=axis)",
    .num_src = 1,
    .num_dst = MST_VARIADIC,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = unstack_fields,
    .options_size = sizeof(mst_parts_options),
    .count_dst = mst_parts_count,
    .infer = unstack_infer,
    .grad = unstack_grad,
    .reference = mst_parts_cut,
    .lower = mst_parts_lower,
    MST_EXAMPLES(parts_examples),
};

mst_value mst_unstack(mst_value src, int axis) {
    mst_shape shape = mst_value_spec(src).shape;
    int at = axis < 0 ? axis + shape.ndim : axis;
    int64_t num = at >= 0 && at < shape.ndim ? shape.dim[at] : 1; /* an axis out of range is an error of infer */
    if (num < 1 || num > MST_MOST_PARTS)
        return mst_value_fail(mst_value_graph(src), MST_INVALID,
                              "unstack: dimension %d of '%s' must be known while building, from 1 to %d (split takes "
                              "the number of parts)",
                              axis, mst_value_name(src), MST_MOST_PARTS);
    return mst_call(NULL, &mst_op_unstack, 1, &src, &(mst_parts_options){.num = (int)num, .axis = axis});
}
