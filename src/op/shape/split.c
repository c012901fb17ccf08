/** split: src cut along axis into n parts of equal size
 *
 *  src   any shape and dtype; dimension axis must be divisible by n
 *  dst   n outputs (mst_value_output gives them); dimension axis is 1/n of src's
 *  axis  negative ones count from the end
 */
#ifdef MST_OP_HEADER
/** Returns output 0; output i is mst_value_output(value, i). */
MST_API mst_value mst_split(mst_value src, int n, int axis);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field split_fields[] = {
    MST_FIELD_I32(mst_parts_options, num, 0, 1, MST_MOST_PARTS, "number of parts"),
    MST_FIELD_I32(mst_parts_options, axis, 0, 0, 0, "dimension to cut"),
    MST_FIELD_END,
};

static mst_status split_infer(mst_infer *c) {
    const mst_parts_options *o = c->options;
    int axis;
    MST_TRY(mst_infer_axis(c, o->axis, c->src[0].shape.ndim, &axis));
    mst_spec part = c->src[0];
    if (part.shape.dim[axis] >= 0) {
        if (part.shape.dim[axis] % o->num)
            return mst_infer_fail(c, "dimension %d, %lld, does not divide into %d parts", axis,
                                  (long long)part.shape.dim[axis], o->num);
        part.shape.dim[axis] /= o->num;
    }
    for (int i = 0; i < c->num_dst; i++) c->dst[i] = part;
    return MST_OK;
}

static mst_value split_grad(mst_grad *c, int i) {
    (void)i;
    return mst_join_gradients(c, mst_concat, ((const mst_parts_options *)c->options)->axis);
}

#include "op/shape/parts_examples.inc"

const mst_op mst_op_split = {
    .name = "split",
    .tf_form = "Split(axis, $0; T=t0 num_split=num)",
    .num_src = 1,
    .num_dst = MST_VARIADIC,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = split_fields,
    .options_size = sizeof(mst_parts_options),
    .count_dst = mst_parts_count,
    .infer = split_infer,
    .grad = split_grad,
    .reference = mst_parts_cut,
    .lower = mst_parts_lower,
    MST_EXAMPLES(parts_examples),
};

mst_value mst_split(mst_value src, int n, int axis) {
    return mst_call(NULL, &mst_op_split, 1, &src, &(mst_parts_options){.num = n, .axis = axis});
}
